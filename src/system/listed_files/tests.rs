//! Tests which listed files are read.

use proptest::prelude::*;

use super::*;

const LIMITS: Limits = Limits { per_file: 32 << 10, in_all: 256 << 10 };

struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        let project = Project(tempfile::tempdir().unwrap());
        fs::create_dir(project.root()).unwrap();
        project.write("../outside/file.md", "outside");
        project
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("root")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn read(&self, specs: &[&str], files: &[&str], limits: Limits) -> Vec<ListedFile> {
        let texts = |paths: &[&str]| paths.iter().map(|&path| path.to_owned()).collect::<Vec<_>>();
        read_listed(&self.root(), &[], &texts(specs), &texts(files), limits)
    }

    fn one(&self, path: &str) -> FoundFile {
        self.read(&[], &[path], LIMITS).remove(0).found
    }
}

fn text(text: &str) -> FoundFile {
    FoundFile::Text { text: text.to_owned(), total: text.len() as u64 }
}

fn unreadable(why: &str) -> FoundFile {
    FoundFile::Unreadable { why: why.to_owned() }
}

const OUTSIDE: &str = "it is outside the project";

#[test]
fn p_3_8_specs_come_first_and_each_path_once() {
    // P-3.8, P-3.9: a missing file does not affect the others. P-3.14: no other file is read.
    let project = Project::new();
    for name in ["a", "b", "c/d", "unlisted"] {
        project.write(name, name);
    }
    let listed = project.read(&["c/d", "a"], &["gone", "b", "./a", "a", "c/./d", "gone/x"], LIMITS);
    let found: Vec<_> = listed.into_iter().map(|file| (file.path, file.found)).collect();
    let expect = [
        ("c/d", text("c/d")),
        ("a", text("a")),
        ("gone", FoundFile::Missing),
        ("b", text("b")),
        ("gone/x", FoundFile::Missing),
    ];
    assert_eq!(found, expect.map(|(path, found)| (path.to_owned(), found)));
}

#[test]
fn p_3_13_files_are_read_anew_each_time() {
    // P-3.13
    let project = Project::new();
    for now in ["one", "two"] {
        project.write("a", now);
        assert_eq!(project.one("a"), text(now));
    }
}

#[test]
fn p_3_10_what_cannot_be_shown_is_named() {
    // P-3.10
    let project = Project::new();
    project.write("folder/file", "x");
    project.write("binary", b"a\0b");
    project.write("latin", b"Gr\xf6\xdfe");
    project.write("cut short", b"a\xc3");
    project.write("empty", "");
    assert_eq!(project.one("folder"), unreadable("it is a directory"));
    assert_eq!(project.one("."), unreadable("it is a directory"));
    assert_eq!(project.one("binary"), unreadable("it is binary"));
    assert_eq!(project.one("latin"), unreadable("it is not UTF-8 text"));
    assert_eq!(project.one("cut short"), unreadable("it is not UTF-8 text"));
    assert_eq!(project.one("empty"), text(""));
    assert_eq!(project.one("folder/file/below"), FoundFile::Missing);
}

#[test]
fn p_3_10_nobody_waits_for_a_pipe_and_no_socket_is_opened() {
    // P-3.10
    let project = Project::new();
    let made = std::process::Command::new("mkfifo").arg(project.root().join("pipe")).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(project.root().join("socket")).unwrap();
    std::os::unix::fs::symlink("loop", project.root().join("loop")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", project.root().join("zero")).unwrap();
    let started = std::time::Instant::now();
    assert_eq!(project.one("pipe"), unreadable("it is not a regular file"));
    assert_eq!(project.one("socket"), unreadable("it is not a regular file"));
    assert_eq!(project.one("zero"), unreadable(OUTSIDE));
    assert!(matches!(project.one("loop"), FoundFile::Unreadable { .. }));
    assert!(started.elapsed().as_secs() < 2);
}

#[test]
fn p_3_10_a_file_without_permission_is_named() {
    // P-3.10
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new();
    project.write("closed", "x");
    let path = project.root().join("closed");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // A user who can read everything can read this.
    let expect = if fs::read(&path).is_ok() { text("x") } else { unreadable("permission denied") };
    assert_eq!(project.one("closed"), expect);
}

#[test]
fn p_3_15_nothing_outside_of_the_project_is_read() {
    // P-3.15
    let project = Project::new();
    project.write("a/b", "inside");
    let absolute = |path: &str| project.0.path().join(path).to_str().unwrap().to_owned();
    for path in [
        "../outside/file.md",
        "a/../../outside/file.md",
        "..",
        "../gone",
        "/",
        "/etc/hostname",
        "/gone",
    ] {
        assert_eq!(project.one(path), unreadable(OUTSIDE), "{path}");
    }
    assert_eq!(project.one(&absolute("outside/file.md")), unreadable(OUTSIDE));
    assert_eq!(project.one(&absolute("rooted")), unreadable(OUTSIDE));
    assert_eq!(project.one(&absolute("root/a/b")), text("inside"));
    assert_eq!(project.one("a/../a/b"), text("inside"));
    assert_eq!(project.one("../root/a/b"), text("inside"));
    assert_eq!(project.one(""), unreadable("it has no name"));
    assert_eq!(project.one("a\0b"), unreadable("its name contains a NUL character"));
    assert_eq!(project.one(&"a/".repeat(2_048)), unreadable("its name is too long"));
    assert!(matches!(project.one(&"a".repeat(4_000)), FoundFile::Unreadable { .. }));
}

#[test]
fn p_3_15_what_is_allowed_is_read() {
    // P-3.15
    let project = Project::new();
    project.write("../outside/.env", "SECRET=1");
    let outside = project.0.path().join("outside");
    let file = outside.join("file.md").to_str().unwrap().to_owned();
    let secret = outside.join(".env").to_str().unwrap().to_owned();
    for allowed in [outside.clone(), PathBuf::from("../outside"), outside.join("file.md")] {
        let listed =
            [file.clone(), "../outside/file.md".to_owned(), secret.clone(), "../root2".to_owned()];
        let found =
            read_listed(&project.root(), std::slice::from_ref(&allowed), &[], &listed, LIMITS);
        assert_eq!(found[0].found, text("outside"), "{allowed:?}");
        assert_eq!(found[1].found, text("outside"), "{allowed:?}");
        assert!(matches!(found[2].found, FoundFile::Unreadable { .. }), "{allowed:?}");
        assert_eq!(found[3].found, unreadable(OUTSIDE), "{allowed:?}");
    }
}

#[test]
fn p_3_15_links_are_followed_inside_and_not_outside() {
    // P-3.15
    let project = Project::new();
    project.write("a/b", "inside");
    project.write(".env", "SECRET=1");
    let link =
        |to: &str, from: &str| std::os::unix::fs::symlink(to, project.root().join(from)).unwrap();
    link("a/b", "inside");
    link("a", "folder");
    link("../outside/file.md", "outside");
    link("../outside", "away");
    link(".env", "harmless.txt");
    link("../gone", "gone");
    assert_eq!(project.one("inside"), text("inside"));
    assert_eq!(project.one("folder/b"), text("inside"));
    assert_eq!(project.one("outside"), unreadable(OUTSIDE));
    assert_eq!(project.one("away/file.md"), unreadable(OUTSIDE));
    assert_eq!(project.one("away/../outside/file.md"), unreadable(OUTSIDE));
    assert_eq!(project.one("harmless.txt"), unreadable("its name marks it as secret"));
    assert_eq!(project.one(".env"), unreadable("its name marks it as secret"));
    assert_eq!(project.one("gone"), FoundFile::Missing);
    // The project itself can be reached through a link.
    let elsewhere = project.0.path().join("elsewhere");
    std::os::unix::fs::symlink(project.root(), &elsewhere).unwrap();
    let listed = [elsewhere.join("a/b").to_str().unwrap().to_owned(), "inside".to_owned()];
    for file in read_listed(&elsewhere, &[], &[], &listed, LIMITS) {
        assert_eq!(file.found, text("inside"));
    }
}

#[test]
fn p_3_15_a_folder_that_is_swapped_for_a_link_again_and_again_leads_nowhere() {
    // P-3.15
    use std::sync::atomic::{AtomicBool, Ordering};
    let project = Project::new();
    project.write("swapped/file.md", "inside");
    let at = |name: &str| project.root().join(name);
    std::os::unix::fs::symlink("../outside", at("link")).unwrap();
    let is_done = AtomicBool::new(false);
    let found = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                for (from, to) in [
                    ("swapped", "aside"),
                    ("link", "swapped"),
                    ("swapped", "link"),
                    ("aside", "swapped"),
                ] {
                    fs::rename(at(from), at(to)).unwrap();
                }
            }
        });
        let found: Vec<_> = (0..3_000).map(|_| project.one("swapped/file.md")).collect();
        is_done.store(true, Ordering::Relaxed);
        found
    });
    assert!(!found.contains(&text("outside")));
    assert!(found.contains(&text("inside")));
}

#[test]
fn p_3_16_long_files_are_cut_and_later_ones_named() {
    // P-3.16
    let project = Project::new();
    project.write("long", "äöü€".repeat(100));
    project.write("short", "short");
    project.write("empty", "");
    let found = |limits| {
        let listed = project.read(&["long"], &["short", "empty", "gone"], limits);
        listed.into_iter().map(|file| file.found).collect::<Vec<_>>()
    };
    let (shown, total) = ("äöü", 900);
    for per_file in 6..9 {
        let cut = FoundFile::Text { text: shown.to_owned(), total };
        let expect = [cut, text("short"), text(""), FoundFile::Missing];
        assert_eq!(found(Limits { per_file, in_all: 100 }), expect);
    }
    let cut = FoundFile::Text { text: shown.to_owned(), total };
    let no_room = FoundFile::NoRoom { total: 5 };
    let expect = [cut, no_room.clone(), text(""), FoundFile::Missing];
    assert_eq!(found(Limits { per_file: 100, in_all: 8 }), expect);
    let expect = [FoundFile::NoRoom { total }, no_room, text(""), FoundFile::Missing];
    assert_eq!(found(Limits { per_file: 100, in_all: 0 }), expect);
    project.write("exact", "x".repeat(32 << 10));
    project.write("more", "x".repeat((32 << 10) + 1));
    assert!(
        matches!(project.one("exact"), FoundFile::Text { text, total } if text.len() as u64 == total)
    );
    assert!(
        matches!(project.one("more"), FoundFile::Text { text, total: 32_769 } if text.len() == 32_768)
    );
}

#[test]
fn p_3_27_a_directory_is_known_as_one() {
    // P-3.27
    let project = Project::new();
    project.write("folder/file", "");
    assert!(is_listed_directory(&project.root(), "folder"));
    assert!(is_listed_directory(&project.root(), "folder/"));
    for path in ["folder/file", "later.md", "a\0b"] {
        assert!(!is_listed_directory(&project.root(), path), "{path:?}");
    }
}

#[test]
fn p_3_32_a_listed_file_is_confirmed_or_not() {
    // P-3.32
    let project = Project::new();
    project.write("folder/file", "");
    let check = |path| check(&project.root(), &[], path);
    assert_eq!(check("folder/file"), Ok(()));
    assert_eq!(check("gone"), Err(Obstacle::Missing));
    assert_eq!(check("../outside/file.md"), Err(Obstacle::Refused(OUTSIDE)));
    assert_eq!(check("folder"), Err(Obstacle::Unreadable("it is a directory".to_owned())));
}

proptest! {
    #[test]
    fn p_3_15_no_path_leads_outside(
        parts in prop::collection::vec(prop::sample::select(vec![
            "..", ".", "", "a", "b", "outside", "file.md", "root", "away", "out", "/", "~", "\u{0}", "😀",
        ]), 0..7),
        odd: String,
    ) {
        // P-3.15
        let project = Project::new();
        project.write("a/b", "inside");
        project.write("file.md", "inside");
        {
            std::os::unix::fs::symlink("../outside", project.root().join("away")).unwrap();
            std::os::unix::fs::symlink("../../outside/file.md", project.root().join("a/out")).unwrap();
        }
        for path in [parts.join("/"), odd] {
            if let FoundFile::Text { text, .. } = project.one(&path) {
                prop_assert_eq!(text, "inside", "{}", path);
            }
        }
    }
}
