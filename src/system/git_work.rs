//! What a session did to its repository, by asking `git`: commits since it began, and files that differ from before.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Instant, UNIX_EPOCH};

use crate::core::handoff::work::{ChangedFile, ChangedLines, Work};
use crate::core::time::Timestamp;
use crate::system::git_program::{GitError, GitProgram, texts};

/// More files or commits are not looked at.
const MAX_ENTRIES: usize = 1_000;
/// How files are compared: none of the programs that a repository may name for that is run.
const COMPARE: [&str; 5] =
    ["-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules"];

/// The work since a time in the checkout at `top`; `None` without git, without a repository, or if git does not answer
/// in time.
pub fn since(top: &Path, began: Timestamp, until: Instant) -> Option<Work> {
    let git = GitProgram::find(top.to_path_buf(), Some(until)).ok()??;
    work(&git, began).ok()
}

fn work(git: &GitProgram, began: Timestamp) -> Result<Work, GitError> {
    let seconds = began.seconds();
    let (after, before) = (format!("--since=@{seconds}"), format!("--until=@{}", seconds - 1));
    let most = format!("--max-count={MAX_ENTRIES}");
    let head = git.query(&["rev-parse", "--verify", "--quiet", "HEAD"])?;
    let commits = match head {
        Some(_) => git.output(&["log", "-z", "--format=%h %s", &most, &after, "HEAD", "--"])?,
        None => Vec::new(),
    };
    let commits: Vec<String> = texts(&commits).map(str::to_owned).collect();
    let earlier = match &head {
        Some(head) if commits.is_empty() => Some(head.clone()),
        Some(_) => git.query(&["rev-list", "--max-count=1", &before, "HEAD", "--"])?,
        None => None,
    };
    let base = match earlier.filter(|commit| !commit.is_empty()) {
        Some(commit) => commit,
        None => empty_tree(git)?,
    };
    let uncommitted = match &head {
        Some(head) => compared(git, "--name-only", head)?,
        None => Vec::new(),
    };
    let uncommitted: HashSet<&str> = texts(&uncommitted).collect();
    let counted = compared(git, "--numstat", &base)?;
    let mut files: Vec<ChangedFile> =
        texts(&counted).filter_map(changed).take(MAX_ENTRIES).collect();
    for file in &mut files {
        file.is_committed = head.is_some() && !uncommitted.contains(file.path.as_str());
    }
    // What was there before the session is not its work. Nobody knows when a file was removed.
    let is_older = |file: &ChangedFile| {
        written(git, &file.path).is_some_and(|seconds| seconds < began.seconds())
    };
    files.retain(|file| file.is_committed || !is_older(file));
    files.extend(new_files(git, began)?);
    files.sort_by_key(|file| (file.is_committed, std::cmp::Reverse(size(file.lines))));
    Ok(Work { top: git.folder.to_string_lossy().into_owned(), commits, files })
}

fn compared(git: &GitProgram, what: &str, with: &str) -> Result<Vec<u8>, GitError> {
    git.output(&[&["diff", what], &COMPARE[..], &[with, "--"]].concat())
}

/// The name of a tree without files, which depends on the repository's hash function.
fn empty_tree(git: &GitProgram) -> Result<String, GitError> {
    let name = git.query(&["hash-object", "-t", "tree", "/dev/null"])?;
    name.ok_or_else(|| GitError::new(&["hash-object"], ""))
}

/// A line of `--numstat`: lines added, lines removed, path.
fn changed(line: &str) -> Option<ChangedFile> {
    let mut fields = line.splitn(3, '\t');
    let (added, removed, path) = (fields.next()?, fields.next()?, fields.next()?);
    let lines = match (added.parse(), removed.parse()) {
        (Ok(added), Ok(removed)) => ChangedLines::Counted { added, removed },
        _ => ChangedLines::Uncounted,
    };
    Some(ChangedFile { path: path.to_owned(), lines, is_committed: true })
}

/// The files that git does not follow, and that were written since.
fn new_files(git: &GitProgram, began: Timestamp) -> Result<Vec<ChangedFile>, GitError> {
    let (mut files, mut n_seen) = (Vec::new(), 0);
    let list = ["ls-files", "-z", "--others", "--exclude-standard", "--"];
    git.each_part(&list, |path| {
        let path = std::str::from_utf8(path).ok().filter(|path| !path.is_empty());
        let is_new = |path: &&str| written(git, path).is_some_and(|at| at >= began.seconds());
        if let Some(path) = path.filter(is_new) {
            let (path, lines) = (path.to_owned(), ChangedLines::New);
            files.push(ChangedFile { path, lines, is_committed: false });
        }
        n_seen += 1;
        n_seen < MAX_ENTRIES
    })?;
    Ok(files)
}

/// When a file was last written, in seconds since 1970.
fn written(git: &GitProgram, path: &str) -> Option<i64> {
    let modified = git.folder.join(path).symlink_metadata().ok()?.modified().ok()?;
    i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

fn size(lines: ChangedLines) -> u64 {
    match lines {
        ChangedLines::Counted { added, removed } => added + removed,
        ChangedLines::Uncounted => 0,
        ChangedLines::New => u64::MAX,
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;
    use std::time::Duration;

    use super::*;

    fn git(folder: &Path, arguments: &[&str], at: &str) {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["-c", "user.name=Ada", "-c", "user.email=a@b.c"]);
        command.args(arguments).env("GIT_COMMITTER_DATE", at).env("GIT_AUTHOR_DATE", at);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn line(file: &ChangedFile) -> String {
        let ChangedFile { path, lines, is_committed } = file;
        format!("{path} {lines:?} {is_committed}")
    }

    #[test]
    fn commits_and_differences_since_a_time_are_told_and_no_program_is_run() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let write = |name: &str, text: &str| fs::write(top.join(name), text).unwrap();
        git(top, &["init", "--quiet"], "");
        let began = Timestamp::parse("2026-11-16T10:00:00Z").unwrap();
        // Before the first commit.
        write("old.txt", "1\n2\n");
        let before = since(top, began, soon()).unwrap();
        assert_eq!((before.commits.len(), before.files.len()), (0, 1), "{before:?}");
        git(top, &["add", "-A"], "");
        assert_eq!(since(top, began, soon()).unwrap().files.len(), 1);
        git(top, &["commit", "--quiet", "-m", "old"], "2026-11-01T00:00:00Z");
        assert_eq!(since(top, began, soon()).unwrap().files, []);
        write("old.txt", "1\n3\n");
        write("committed.txt", "a\nb\nc\n");
        git(top, &["add", "-A"], "");
        git(top, &["commit", "--quiet", "-m", "feat: new\n\nbody"], "2026-11-16T11:00:00Z");
        write("old.txt", "1\n3\n4\n");
        write("fresh é.txt", "x\n");
        write("binary", "\0\0");
        git(top, &["add", "binary"], "");
        // What was changed before the session is not its work.
        write("dirty.txt", "1\n");
        git(top, &["add", "dirty.txt"], "");
        let dirty = fs::File::options().write(true).open(top.join("dirty.txt")).unwrap();
        dirty.set_modified(UNIX_EPOCH + Duration::from_secs(began.seconds() as u64 - 9)).unwrap();
        // What a repository may name is not run.
        write(".git/info/attributes", "*.txt diff=evil filter=evil\n");
        let evil = format!("touch {}", top.join("ran").display());
        for key in
            ["diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "core.fsmonitor"]
        {
            git(top, &["config", key, &evil], "");
        }
        let work = since(top, began, soon()).unwrap();
        assert!(!top.join("ran").exists());
        assert_eq!(work.commits.len(), 1);
        assert!(work.commits[0].ends_with(" feat: new"), "{:?}", work.commits);
        let files: Vec<String> = work.files.iter().map(line).collect();
        assert_eq!(
            files,
            [
                "fresh é.txt New false",
                "old.txt Counted { added: 2, removed: 1 } false",
                "binary Uncounted false",
                "committed.txt Counted { added: 3, removed: 0 } true",
            ]
        );
        assert_eq!(since(&top.join("none"), began, soon()), None);
        assert_eq!(since(top, began, Instant::now()), None, "git had no time");
    }
}
