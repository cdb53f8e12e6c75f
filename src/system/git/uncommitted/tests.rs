//! Real repositories of every kind, changed in every way.

use super::*;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A day on which everything was committed, in seconds.
const COMMITTED: u64 = 1_700_000_000;

/// A repository that the real git made.
struct Repository {
    folder: tempfile::TempDir,
    /// The working tree below the folder.
    checkout: PathBuf,
}

impl Repository {
    /// Some committed files, none of which was written after the commit.
    fn new(init: &[&str]) -> Repository {
        let folder = tempfile::tempdir().unwrap();
        let checkout = folder.path().join("ship");
        fs::create_dir(&checkout).unwrap();
        let repository = Repository { folder, checkout };
        repository.git(&[&["init", "-q"], init].concat());
        repository.write_all();
        repository.git(&["add", "."]);
        repository.commit();
        repository
    }

    fn write_all(&self) {
        let long = format!("long/{}.rs", "n".repeat(250));
        let files = ["hull.rs", "src/keel.rs", "src/mast.rs", "src/mast/top.rs", "web/ü.ts", &long];
        files.iter().for_each(|path| self.write(path, "as committed\n", COMMITTED - 100));
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(&self.checkout).args(arguments);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "Anna").env(format!("GIT_{role}_EMAIL"), "a@b");
            command.env(format!("GIT_{role}_DATE"), format!("{COMMITTED} +0200"));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {output:?}");
    }

    fn commit(&self) {
        self.git(&["commit", "-q", "-m", "all"]);
    }

    fn write(&self, path: &str, text: &str, seconds: u64) {
        let file = self.checkout.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::new(seconds, 123_456_789);
        fs::File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
    }

    fn uncommitted(&self) -> Option<Vec<String>> {
        uncommitted(&self.checkout, |path| !path.ends_with(".md"))
    }

    /// Edits, deletes, adds and stages files, and expects them all to be found.
    fn change_and_expect(&self, kind: &str) {
        assert_eq!(self.uncommitted(), Some(Vec::new()), "{kind}: nothing is changed");
        self.write("src/keel.rs", "another text of another size\n", COMMITTED + 100);
        fs::remove_file(self.checkout.join("hull.rs")).unwrap();
        self.write("src/mast/top.rs", "as committeD\n", COMMITTED - 100);
        self.write("src/new.rs", "new\n", COMMITTED + 100);
        self.write("note.md", "new\n", COMMITTED + 100);
        self.git(&["add", "src/new.rs", "note.md"]);
        self.write("web/ü.ts", "as committed, and more\n", COMMITTED - 100);
        self.write("not-tracked.rs", "new\n", COMMITTED + 100);
        let expect = ["hull.rs", "src/keel.rs", "src/new.rs", "web/ü.ts"].map(str::to_owned);
        assert_eq!(self.uncommitted(), Some(expect.to_vec()), "{kind}");
        // The same size and the same time to the nanosecond: git itself would take the file for unchanged.
        self.write("src/mast/top.rs", "as committeD\n", COMMITTED - 99);
        assert!(self.uncommitted().unwrap().contains(&"src/mast/top.rs".to_owned()), "{kind}");
    }
}

#[test]
fn changed_files_are_found_in_every_kind_of_repository() {
    type Prepare = fn(&mut Repository);
    let kinds: [(&str, &[&str], Prepare); 9] = [
        ("as git makes it", &[], |_| {}),
        ("version 2", &[], |of| of.git(&["update-index", "--index-version", "2"])),
        // Flags of one entry ask for version 3.
        ("version 3", &[], |of| {
            of.write("skipped.rs", "skipped\n", COMMITTED - 100);
            of.git(&["add", "skipped.rs"]);
            of.commit();
            of.git(&["update-index", "--skip-worktree", "skipped.rs"]);
            fs::remove_file(of.checkout.join("skipped.rs")).unwrap();
        }),
        ("version 4", &[], |of| of.git(&["update-index", "--index-version", "4"])),
        ("split", &[], |of| of.git(&["update-index", "--split-index"])),
        ("split version 4", &[], |of| {
            of.git(&["update-index", "--index-version", "4"]);
            of.git(&["update-index", "--split-index"]);
        }),
        ("SHA-256", &["--object-format=sha256"], |_| {}),
        ("packed refs", &[], |of| of.git(&["pack-refs", "--all"])),
        ("a worktree", &[], |of| {
            of.git(&["worktree", "add", "-q", "../tree"]);
            of.checkout = of.folder.path().join("tree");
            // A checkout writes files with the time of today.
            of.write_all();
            of.git(&["update-index", "--refresh"]);
        }),
    ];
    for (kind, init, prepare) in kinds {
        let mut repository = Repository::new(init);
        prepare(&mut repository);
        repository.change_and_expect(kind);
    }
}

#[test]
fn a_split_index_with_replaced_and_deleted_entries_is_merged() {
    let repository = Repository::new(&[]);
    repository.git(&["update-index", "--split-index"]);
    repository.write("src/mast.rs", "staged\n", COMMITTED + 100);
    repository.write("aft.rs", "added\n", COMMITTED + 100);
    repository.git(&["add", "src/mast.rs", "aft.rs"]);
    repository.git(&["rm", "-q", "hull.rs"]);
    let expect = vec!["aft.rs".to_owned(), "src/mast.rs".to_owned()];
    assert_eq!(repository.uncommitted(), Some(expect));
    let shared = fs::read_dir(repository.checkout.join(".git")).unwrap().flatten();
    let mut shared = shared
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("sharedindex."))
        .map(|entry| entry.path());
    fs::remove_file(shared.next().unwrap()).unwrap();
    assert_eq!(repository.uncommitted(), None, "the shared index is gone");
}

#[test]
fn what_git_does_not_compare_is_not_changed() {
    let repository = Repository::new(&[]);
    repository.write("src/keel.rs", "changed\n", COMMITTED + 100);
    repository.git(&["update-index", "--assume-unchanged", "src/keel.rs"]);
    assert_eq!(repository.uncommitted(), Some(Vec::new()));
}

#[test]
fn a_file_to_be_added_and_a_conflict_are_uncommitted() {
    let repository = Repository::new(&[]);
    repository.write("soon.rs", "soon\n", COMMITTED - 100);
    repository.git(&["add", "-N", "soon.rs"]);
    assert_eq!(repository.uncommitted(), Some(vec!["soon.rs".to_owned()]));
    let stages = "0 0000000000000000000000000000000000000000\tsrc/keel.rs\n\
                  100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 2\tsrc/keel.rs\n\
                  100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 3\tsrc/keel.rs\n";
    fs::write(repository.folder.path().join("stages"), stages).unwrap();
    let shell = "git update-index --index-info < ../stages";
    let output = Command::new("sh").current_dir(&repository.checkout).args(["-c", shell]).output();
    assert!(output.unwrap().status.success());
    let expect = vec!["soon.rs".to_owned(), "src/keel.rs".to_owned()];
    assert_eq!(repository.uncommitted(), Some(expect));
}

/// A clone, a checkout and a reset write files now, and long after the commit.
#[test]
fn files_that_git_itself_wrote_are_not_changed() {
    let repository = Repository::new(&[]);
    repository.git(&["clone", "-q", ".", "../clone"]);
    let clone = repository.folder.path().join("clone");
    assert_eq!(uncommitted(&clone, |_| true), Some(Vec::new()), "a clone");
    let clone = Repository { checkout: clone, ..repository };
    clone.write("hull.rs", "staged\n", COMMITTED + 100);
    clone.git(&["add", "hull.rs"]);
    assert_eq!(clone.uncommitted(), Some(Vec::new()), "a clone's reflog is older than its files");
    clone.write("hull.rs", "changed\n", COMMITTED + 100);
    assert_eq!(clone.uncommitted(), Some(vec!["hull.rs".to_owned()]));
    clone.git(&["reset", "-q", "--hard"]);
    assert_eq!(clone.uncommitted(), Some(Vec::new()), "a reset");
}

#[test]
fn times_to_the_microsecond_are_compared_to_the_second() {
    let seen = |nanoseconds| Seen::for_tests(COMMITTED as u32, nanoseconds, 13);
    let repository = Repository::new(&[]);
    repository.write("a.rs", "as committed\n", COMMITTED);
    let look = || Checkout::open(&repository.checkout).unwrap().look("a.rs");
    for (nanoseconds, expect) in
        [(0, false), (123_000_000, false), (999_999_000, false), (123_456_789, false), (7, true)]
    {
        assert_eq!(differs(look(), &seen(nanoseconds), None), expect, "{nanoseconds}");
    }
}

#[test]
fn a_missing_or_damaged_index_says_nothing() {
    let repository = Repository::new(&[]);
    let file = repository.checkout.join(".git/index");
    let whole = fs::read(&file).unwrap();
    for end in 0..whole.len() {
        fs::write(&file, &whole[..end]).unwrap();
        // One that is cut behind its last entry still has them all.
        let is_cut_behind_entries = end > whole.len() - 150;
        let found = repository.uncommitted();
        let is_right = found.as_ref().is_none_or(|found| is_cut_behind_entries && found.is_empty());
        assert!(is_right, "{end} of {} bytes: {found:?}", whole.len());
    }
    let mut huge = whole.clone();
    huge[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    fs::write(&file, huge).unwrap();
    assert_eq!(repository.uncommitted(), None, "too few entries");
    // Any byte may be wrong: the answer may be, too, but nothing breaks.
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x5a;
        fs::write(&file, damaged).unwrap();
        repository.uncommitted();
    }
    fs::write(&file, vec![b'x'; MOST_INDEX_BYTES as usize + 1]).unwrap();
    assert_eq!(repository.uncommitted(), None, "too large");
    fs::remove_file(&file).unwrap();
    assert_eq!(repository.uncommitted(), None, "missing");
    assert_eq!(uncommitted(repository.folder.path(), |_| true), None, "no repository");
}

#[test]
fn a_path_out_of_the_working_tree_is_not_looked_at() {
    for (path, expect) in
        [("src/a.rs", true), ("../a.rs", false), ("/etc/passwd", false), ("src/../../a.rs", false)]
    {
        assert_eq!(is_below(path), expect, "{path}");
    }
}

#[test]
fn the_files_that_were_written_last_are_looked_at_first() {
    let repository = Repository::new(&[]);
    for n in 0..=MOST_LOOKS as u64 {
        repository.write(&format!("many/{n}.rs"), "many\n", COMMITTED - 200 - n);
    }
    repository.git(&["add", "."]);
    repository.commit();
    repository.write("many/0.rs", "changed\n", COMMITTED + 100);
    repository.write(&format!("many/{MOST_LOOKS}.rs"), "changed\n", COMMITTED + 100);
    assert_eq!(repository.uncommitted(), Some(vec!["many/0.rs".to_owned()]));
}
