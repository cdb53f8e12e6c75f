//! The rules, and a finding: a place where one of them is broken.

use serde::{Deserialize, Serialize};

use crate::core::named::named;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Off,
    Warn,
    Error,
}

named!(Severity { Off = "off", Warn = "warn", Error = "error" });

macro_rules! rules {
    ($($name:ident = $id:literal, $severity:ident, $summary:literal;)+) => {
        /// A rule. Its section in `docs/check-rules.md` has the same name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Rule {
            $($name,)+
        }

        impl Rule {
            /// All rules, in the order of the guide.
            pub const ALL: [Rule; [$($id),+].len()] = [$(Rule::$name),+];

            /// The name in settings and reports.
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            pub fn default_severity(self) -> Severity {
                match self { $(Rule::$name => Severity::$severity,)+ }
            }

            /// What the rule requires, in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Rule::$name => $summary,)+ }
            }
        }
    };
}

rules! {
    BudgetTotal = "budget-total", Error, "A session's context stays within its budget, and everything wanted fits.";
    BudgetPart = "budget-part", Error, "Each part of a session's context stays within its own limit.";
    BudgetGrowth = "budget-growth", Error, "A change adds no more tokens to a session's context than the limit allows.";
    StaticContext = "static-context", Error, "Files that hosts read at every start stay within their own limits.";
    DanglingLink = "dangling-link", Error, "Every link leads to an existing file or note.";
    AmbiguousLink = "ambiguous-link", Warn, "Every link leads to exactly one note.";
    OrphanNote = "orphan-note", Warn, "A note links to something, or something links to it.";
    GiantNote = "giant-note", Warn, "No note takes more than its share.";
    DuplicateNote = "duplicate-note", Warn, "No two notes have the same content.";
    StaleNote = "stale-note", Warn, "No note names a missing file, or is done or superseded.";
    HandoffInvalid = "handoff-invalid", Error, "A handoff's front matter follows its schema.";
    HandoffMissingFile = "handoff-missing-file", Error, "The files that a handoff lists exist.";
    HandoffExpired = "handoff-expired", Warn, "A handoff has not expired.";
    Secret = "secret", Error, "No file that reaches a prompt contains a secret.";
    UnsafeText = "unsafe-text", Error, "No file that reaches a prompt contains hidden or misleading text.";
    UnstableOutput = "unstable-output", Error, "The same checkout gives the same context, byte for byte.";
    ConfigUnknownKey = "config-unknown-key", Error, "kgctx knows every key in kgctx.toml.";
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Spot {
    /// The path from the top of the repository, with `/` as separator.
    pub path: String,
    /// Starts at 1.
    pub line: usize,
    /// Starts at 1; counts characters.
    pub column: usize,
    /// The number of characters within the line; 0 for the whole line or file.
    pub length: usize,
}

impl Spot {
    /// The start of a file.
    pub(crate) fn top_of(path: &str) -> Spot {
        Spot { path: path.to_owned(), line: 1, column: 1, length: 0 }
    }
}

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub rule: Rule,
    pub severity: Severity,
    pub spot: Spot,
    /// The text of the line, safe to show: one line, no control characters, secrets masked.
    pub excerpt: Option<String>,
    /// The problem, in one line without a full stop.
    pub message: String,
    /// How to fix it, in one line without a full stop.
    pub hint: String,
    /// The affected session, if the finding is about one.
    pub session: Option<String>,
}

impl Finding {
    /// A finding without an excerpt; `check` sets its severity.
    pub(crate) fn new(rule: Rule, spot: Spot, message: String, hint: impl Into<String>) -> Finding {
        let (severity, hint) = (rule.default_severity(), hint.into());
        Finding { rule, severity, spot, excerpt: None, message, hint, session: None }
    }
}
