//! What the name of a branch says about a session: `fix/index-locking` is about the index and its locks.

use crate::core::relevance::prompt::Prompt;

/// How much a note gains at most.
pub const BRANCH: f64 = 2.0;
/// Words of branch names that say nothing about a subject.
const GENERIC: [&str; 32] = [
    "branch",
    "bug",
    "bugfix",
    "chore",
    "ci",
    "claude",
    "codex",
    "copilot",
    "dependabot",
    "dev",
    "develop",
    "docs",
    "feat",
    "feature",
    "fix",
    "head",
    "hotfix",
    "issue",
    "main",
    "master",
    "merge",
    "patch",
    "pr",
    "refactor",
    "release",
    "stable",
    "staging",
    "task",
    "test",
    "tmp",
    "trunk",
    "wip",
];

/// The words of a branch that name a subject; `None` if there are none.
pub fn subject(branch: &str) -> Option<Vec<String>> {
    let words = Prompt::parse(branch)?.terms().into_iter();
    let tells = |word: &String| {
        GENERIC.binary_search(&word.as_str()).is_err() && word.contains(char::is_alphabetic)
    };
    let words: Vec<String> = words.filter(tells).collect();
    (!words.is_empty()).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_tells_its_subject_and_not_its_kind() {
        assert!(GENERIC.is_sorted());
        for (branch, expect) in [
            ("main", ""),
            ("feature/1234", ""),
            ("fix/index-locking", "index locking"),
            ("anna/ABC-12_new_parser", "anna abc new parser"),
        ] {
            assert_eq!(subject(branch).unwrap_or_default().join(" "), expect, "{branch}");
        }
    }
}
