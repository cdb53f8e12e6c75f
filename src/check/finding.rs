//! A check: the rules that a repository's context is held to, what breaks them, and what its sessions would be given.
//! Reads no files.

use serde::{Deserialize, Serialize};

use crate::check::settings::Limits;
use crate::core::context::budget::{Budget, Host, Size};
use crate::core::context::candidate::Part;
use crate::core::context::receipt::PartUse;
use crate::core::time::Timestamp;

/// How much a broken rule matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It is not looked at.
    Off,
    /// It is told, and nothing fails.
    Warn,
    /// The check fails.
    Error,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, $severity:ident, $summary:literal;)+) => {
        /// A rule. Its section in `docs/check.md` has the same name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// All rules, in the order of the guide.
            pub const ALL: [Rule; [$($id),+].len()] = [$(Rule::$name),+];

            /// Its name in settings and reports.
            pub const fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// How much it matters where nobody says otherwise.
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
    /// The whole context of a session.
    BudgetTotal = "budget-total", Error, "A session's context keeps to its budget, with everything in it that is wanted.";
    /// One part of it.
    BudgetPart = "budget-part", Error, "Each part of a session's context keeps to its own limit.";
    /// What a change adds.
    BudgetGrowth = "budget-growth", Error, "A change adds no more tokens to a session's context than agreed.";
    /// What hosts read by themselves.
    StaticContext = "static-context", Error, "Files that hosts read at every start keep to their own limits.";
    /// A link to nothing.
    DanglingLink = "dangling-link", Error, "A link leads to something that is there.";
    /// A link to two things.
    AmbiguousLink = "ambiguous-link", Warn, "A link leads to one note, not to two of the same name.";
    /// A note that nobody reaches.
    OrphanNote = "orphan-note", Warn, "A note links to something, or something links to it.";
    /// A note that takes all.
    GiantNote = "giant-note", Warn, "No note takes more than its share.";
    /// A note that is there twice.
    DuplicateNote = "duplicate-note", Warn, "No two notes say the same.";
    /// A note of yesterday.
    StaleNote = "stale-note", Warn, "A note names no file that is gone, and is neither done nor superseded.";
    /// A handoff that nobody could load.
    HandoffInvalid = "handoff-invalid", Error, "A handoff's front matter is what its schema says.";
    /// A handoff with files that are not there.
    HandoffMissingFile = "handoff-missing-file", Error, "The files that a handoff lists are there.";
    /// A handoff that is too old.
    HandoffExpired = "handoff-expired", Warn, "A handoff is not too old to be given to a session.";
    /// A password.
    Secret = "secret", Error, "No file that reaches a prompt holds a secret.";
    /// Text that is not what it looks like.
    UnsafeText = "unsafe-text", Error, "No file that reaches a prompt holds characters that deceive or break out.";
    /// A context that changes by itself.
    UnstableOutput = "unstable-output", Error, "The same checkout gives the same context, byte for byte.";
    /// A setting that does nothing.
    ConfigUnknownKey = "config-unknown-key", Error, "Every key in kgctx.toml is one that kgctx knows.";
}

impl Rule {
    /// The rule of that name.
    pub fn parse(id: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.id() == id)
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
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

/// A file of the repository as it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// Its path from the top of the repository, `/` between parts.
    pub path: String,
    /// What it holds, if it was read: notes, handoffs, static context and settings are.
    pub text: Option<String>,
    /// When it was last changed: the time of its last commit, or now if it is changed since.
    pub modified: Timestamp,
}

/// What is in the repository, and cannot be read as a file of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unread {
    /// A file that is not checked out.
    File(String),
    /// A folder that is another repository: whatever is said to be in there may be.
    Repository(String),
    /// A symbolic link, and what it says, if that is known.
    Link {
        /// Its path from the top.
        path: String,
        /// Where it leads, from its folder.
        target: Option<String>,
    },
}

impl Unread {
    /// Its path from the top.
    pub fn path(&self) -> &str {
        match self {
            Unread::File(path) | Unread::Repository(path) | Unread::Link { path, .. } => path,
        }
    }
}

/// A session to be checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSpec {
    /// What it is called in reports.
    pub name: String,
    /// Where it starts, from the top of the repository; empty for the top.
    pub dir: String,
    /// In which host.
    pub host: Host,
    /// How many tokens it may have, if not as many as `token_limit` says.
    pub budget: Option<usize>,
    /// The moment at which it starts, if not that of the check.
    pub now: Option<Timestamp>,
    /// The branch that is checked out.
    pub branch: Option<String>,
}

/// What a session would be given.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionReport {
    /// What it is called.
    pub name: String,
    /// In which host.
    pub host: Host,
    /// How much room there is.
    pub budget: Budget,
    /// How much is used.
    pub used: Size,
    /// How many tokens all of it would take if there were room without end.
    pub wanted: usize,
    /// What each part takes up.
    pub parts: Vec<PartUse>,
    /// How much was agreed on for all of it, and for single parts.
    pub limits: Limits,
    /// The entries that are shown, by part and name, in order.
    pub shown: Vec<EntryName>,
    /// The entries for which there is no room.
    pub omitted: Vec<EntryName>,
    /// What is different from before, if there is a before.
    pub growth: Option<Growth>,
}

/// An entry of a context, known by its part and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntryName {
    /// Its part.
    pub part: Part,
    /// What it is called there: a concept, a note's address, a file.
    pub name: String,
}

/// How a session's context differs from that of the base.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// Tokens of the base.
    pub tokens_before: usize,
    /// Tokens of each part of the base.
    pub parts_before: Vec<PartUse>,
    /// Entries that are new.
    pub added: Vec<EntryName>,
    /// Entries that are gone because nothing speaks for them any more.
    pub removed: Vec<EntryName>,
    /// Entries that are gone because others took their room.
    pub pushed_out: Vec<EntryName>,
}

/// A file that hosts read by themselves at every start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StaticFile {
    /// Its path from the top of the repository.
    pub path: String,
    /// How many tokens it has, with the files that it imports.
    pub tokens: usize,
    /// How many it may have; `None` where nobody says.
    pub limit: Option<usize>,
    /// How many it had, if there is a base.
    pub tokens_before: Option<usize>,
}

/// All that a check found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckReport {
    /// The project's name.
    pub project: String,
    /// The moment that counts as now.
    pub now: Timestamp,
    /// What it is compared with: a revision as it was given, or the baseline's file.
    pub base: Option<String>,
    /// How many notes were looked at.
    pub notes: usize,
    /// The sessions.
    pub sessions: Vec<SessionReport>,
    /// What hosts read by themselves.
    pub static_files: Vec<StaticFile>,
    /// What breaks a rule, in the order of path, line, column and rule.
    pub findings: Vec<Finding>,
    /// What a reader should know about the check itself, and the way out: no notes, no git, a shallow clone.
    pub remarks: Vec<String>,
}

impl CheckReport {
    /// How many findings there are of a severity.
    pub fn n(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }

    /// Whether the check fails.
    pub fn fails(&self) -> bool {
        self.n(Severity::Error) > 0
    }
}
