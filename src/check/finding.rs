//! The rules that a repository is held to, and a place where one of them is broken.

use serde::{Deserialize, Serialize};

/// How much a broken rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Off,
    Warn,
    /// The check fails.
    Error,
}

macro_rules! rules {
    ($($name:ident = $id:literal, $severity:ident, $summary:literal;)+) => {
        /// A rule. Its section in `docs/check.md` has the same name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule {
            $($name,)+
        }

        impl Rule {
            /// All rules, in the order of the guide.
            pub const ALL: [Rule; [$($id),+].len()] = [$(Rule::$name),+];

            /// Its name in settings and reports.
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// How much it matters by default.
            pub fn default_severity(self) -> Severity {
                match self { $(Rule::$name => Severity::$severity,)+ }
            }

            /// What it asks for, in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Rule::$name => $summary,)+ }
            }
        }
    };
}

rules! {
    BudgetTotal = "budget-total", Error, "A session's context keeps to its budget, with everything in it that is wanted.";
    BudgetPart = "budget-part", Error, "Each part of a session's context keeps to its own limit.";
    BudgetGrowth = "budget-growth", Error, "A change adds no more tokens to a session's context than agreed.";
    StaticContext = "static-context", Error, "Files that hosts read at every start keep to their own limits.";
    DanglingLink = "dangling-link", Error, "A link leads to something that is there.";
    AmbiguousLink = "ambiguous-link", Warn, "A link leads to one note, not to two of the same name.";
    OrphanNote = "orphan-note", Warn, "A note links to something, or something links to it.";
    GiantNote = "giant-note", Warn, "No note takes more than its share.";
    DuplicateNote = "duplicate-note", Warn, "No two notes say the same.";
    StaleNote = "stale-note", Warn, "A note names no file that is gone, and is neither done nor superseded.";
    HandoffInvalid = "handoff-invalid", Error, "A handoff's front matter is what its schema says.";
    HandoffMissingFile = "handoff-missing-file", Error, "The files that a handoff lists are there.";
    HandoffExpired = "handoff-expired", Warn, "A handoff is not too old to be given to a session.";
    Secret = "secret", Error, "No file that reaches a prompt holds a secret.";
    UnsafeText = "unsafe-text", Error, "No file that reaches a prompt holds characters that deceive or break out.";
    UnstableOutput = "unstable-output", Error, "The same checkout gives the same context, byte for byte.";
    ConfigUnknownKey = "config-unknown-key", Error, "Every key in kgctx.toml is one that kgctx knows.";
}

/// A place in a file of the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Spot {
    /// The file's path from the top of the repository, `/` between parts.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// How many characters it is long, within the line; 0 where the whole line or file is meant.
    pub length: usize,
}

impl Spot {
    /// The first line of a file.
    pub(crate) fn top_of(path: &str) -> Spot {
        Spot { path: path.to_owned(), line: 1, column: 1, length: 0 }
    }
}

/// A rule that is broken somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How much that matters here.
    pub severity: Severity,
    /// Where.
    pub spot: Spot,
    /// The line of that place, as it may be shown anywhere: one line, harmless, secrets masked.
    pub excerpt: Option<String>,
    /// What is wrong, in one line without a final stop.
    pub message: String,
    /// The way out, in one line without a final stop.
    pub hint: String,
    /// The session in which it shows, if it is about one.
    pub session: Option<String>,
}
