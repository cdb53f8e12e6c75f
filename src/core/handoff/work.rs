//! The work of a session as its repository shows it: commits and changed files. Runs no git.

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Work {
    /// The top of the checkout.
    pub top: String,
    /// The commits since the session began, newest first, each as its short id and its subject.
    pub commits: Vec<String>,
    /// The files that differ from before the session, those that are not committed first.
    pub files: Vec<ChangedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the top.
    pub path: String,
    pub lines: ChangedLines,
    pub is_committed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangedLines {
    Counted {
        added: u64,
        removed: u64,
    },
    /// A file that git does not count: a binary one.
    Uncounted,
    /// A file that git does not follow yet.
    New,
}
