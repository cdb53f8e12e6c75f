//! Amplifier's folders on a real file system.

use proptest::prelude::*;

use super::*;
use crate::core::time::Timestamp;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir_all(place.root()).unwrap();
        place
    }

    fn path(&self) -> PathBuf {
        dunce::canonicalize(self.0.path()).unwrap()
    }

    fn root(&self) -> PathBuf {
        self.path().join("work/atlas")
    }

    fn projects(&self) -> PathBuf {
        self.path().join("projects")
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.projects().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn look(&self) -> HandoffStore {
        look(&[self.projects()], &[self.root()])
    }

    fn find(&self) -> (Vec<(String, Vec<u8>)>, Vec<String>) {
        let HandoffStore { waiting, failed, .. } = self.look();
        let mut found: Vec<_> =
            waiting.into_iter().map(|handoff| (handoff.name.unwrap(), handoff.bytes)).collect();
        found.sort();
        (found, failed)
    }

    fn left_out(&self) -> Vec<String> {
        let left_out = self.look().left_out.into_iter();
        left_out
            .map(|LeftOut { source_id, why }| {
                assert_eq!(why, WhyLeftOut::OtherProject);
                source_id
            })
            .collect()
    }
}

#[test]
fn h_0_12_the_folder_of_projects_can_be_named() {
    // H-0.12
    #[track_caller]
    fn check(variables: &[(&str, &str)], expect: Option<&str>) {
        let environment =
            variables.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        assert_eq!(projects_folder(&environment).as_deref(), expect.map(Path::new));
    }
    let all = [("AMPLIFIER_PROJECTS_DIR", "/p"), ("AMPLIFIER_HOME", "/a"), ("HOME", "/home/ada")];
    check(&all, Some("/p"));
    check(&all[1..], Some("/a/projects"));
    check(&all[2..], Some("/home/ada/.amplifier/projects"));
    check(
        &[("AMPLIFIER_PROJECTS_DIR", ""), ("HOME", "/home/ada")],
        Some("/home/ada/.amplifier/projects"),
    );
    check(&[], None);
}

#[test]
fn h_0_13_a_project_is_called_by_its_folder() {
    // H-0.13
    let place = Place::new();
    assert_eq!(slug(&place.root()), "atlas");
    assert_eq!(slug(&place.root().join("")), "atlas");
    assert_eq!(slug(&place.root().join("..")), "work");
    assert_eq!(slug(Path::new("/not/there/")), "there");
    assert_eq!(slug(Path::new("")), "unknown");
    assert_eq!(slug(Path::new("/")), "unknown");
    let link = place.path().join("link");
    std::os::unix::fs::symlink(place.root(), &link).unwrap();
    assert_eq!(slug(&link), "atlas");
    assert_eq!(path_slug(Path::new("/srv/not there/a")), "-srv-not there-a");
    assert_eq!(path_slug(Path::new("C:\\projects\\web-app")), "-C-projects-web-app");
}

#[test]
fn h_0_14_both_layouts_are_read() {
    // H-0.14
    let place = Place::new();
    let whole = path_slug(&place.root());
    place.write("atlas/sessions/s1/handoff.md", "one");
    place.write("atlas/sessions/s3/transcript.jsonl", "{}");
    place.write(&format!("{whole}/sessions/s2/handoff.md"), "two");
    place.write("other/sessions/s4/handoff.md", "four");
    place.write("atlas/sessions/file", "");
    let expect =
        [("s1", "one"), ("s2", "two")].map(|(session, text)| (session.to_owned(), text.into()));
    assert_eq!(place.find(), (expect.to_vec(), Vec::new()));
    let found = place.look().waiting;
    assert_eq!(found[1].path, place.projects().join("atlas/sessions/s1/handoff.md"));
    assert!(found[1].modified > Timestamp::parse("2020-01-01").unwrap());
}

#[test]
fn what_names_no_project_is_of_the_one_that_knows_its_session() {
    let place = Place::new();
    let ours = path_slug(&place.root());
    place.write("unknown/sessions/s1/handoff.md", "one");
    place.write("unknown/sessions/s2/handoff.md", "two");
    place.write("unknown/sessions/s3/handoff.md/folder", "");
    place.write(&format!("{ours}/sessions/s1/transcript.jsonl"), "{}");
    place.write("-work-another/sessions/s2/transcript.jsonl", "{}");
    assert_eq!(place.find(), (vec![("s1".to_owned(), b"one".to_vec())], Vec::new()));
    assert_eq!(place.left_out(), ["s2"]);
    // The command line keeps its sessions at home, wherever variables lead.
    let other = place.path().join("other");
    fs::rename(place.projects(), &other).unwrap();
    place.write(&format!("{ours}/sessions/s1/transcript.jsonl"), "{}");
    fs::remove_dir_all(other.join(&ours)).unwrap();
    let store = look(&[other.clone(), place.projects()], &[place.root()]);
    let names: Vec<_> = store.waiting.iter().map(|one| one.name.as_deref().unwrap()).collect();
    assert_eq!((names, store.folders), (vec!["s1"], vec![other, place.projects()]));
}

#[test]
fn a_project_of_the_same_name_keeps_its_own() {
    let place = Place::new();
    place.write("atlas/sessions/s1/handoff.md", "one");
    place.write("atlas/sessions/s2/handoff.md", "two");
    place.write("-elsewhere-atlas/sessions/s2/transcript.jsonl", "{}");
    assert_eq!(place.find().0, [("s1".to_owned(), b"one".to_vec())]);
    assert_eq!(place.left_out(), ["s2"]);
    let whole = path_slug(&place.root());
    place.write(&format!("{whole}/sessions/s2/transcript.jsonl"), "{}");
    assert_eq!((place.find().0.len(), place.left_out().len()), (2, 0));
}

#[test]
fn h_0_4_where_there_is_no_folder_none_is_made() {
    // H-0.4
    let place = Place::new();
    assert_eq!(place.find(), (Vec::new(), Vec::new()));
    assert!(!place.projects().exists());
    fs::create_dir_all(place.projects().join("atlas")).unwrap();
    assert_eq!(place.find(), (Vec::new(), Vec::new()));
    assert!(!place.projects().join("atlas/sessions").exists());
    place.write("unknown/sessions/s/handoff.md", "of some other project");
    let store = look(&[place.projects()], &[PathBuf::from("/")]);
    assert!(store.waiting.is_empty() && store.failed.is_empty());
}

#[test]
fn h_0_7_what_cannot_be_read_is_named_and_the_others_are_found() {
    // H-0.7
    let place = Place::new();
    place.write("atlas/sessions/a/handoff.md/folder", "");
    place.write("atlas/sessions/b/handoff.md", vec![b'x'; 5 << 20]);
    place.write("atlas/sessions/d/handoff.md", b"\xff");
    fs::create_dir_all(place.projects().join("atlas/sessions/c")).unwrap();
    let pipe = place.projects().join("atlas/sessions/c/handoff.md");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let (found, warnings) = place.find();
    assert_eq!(found, [("d".to_owned(), vec![0xff])]);
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    for (warning, session) in warnings.iter().zip(["a", "b", "c"]) {
        let named = format!("atlas/sessions/{session}/handoff.md cannot be read");
        assert!(warning.contains(&named), "{warning}");
    }
}

#[test]
fn what_is_exported_is_found() {
    let place = Place::new();
    let export = |text| export(&place.projects(), "atlas", "s1", text);
    let path = place.projects().join("atlas/sessions/s1/handoff.md");
    assert_eq!(export("one").unwrap(), path);
    assert_eq!(export("one").unwrap(), path);
    let error = export("two").unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{error}");
    assert_eq!(place.find().0, [("s1".to_owned(), b"one".to_vec())]);
}

#[test]
fn nothing_is_exported_through_a_link() {
    let place = Place::new();
    let outside = place.path().join("outside");
    fs::write(&outside, "mine").unwrap();
    fs::create_dir_all(place.projects().join("atlas/sessions/s1")).unwrap();
    let link = place.projects().join("atlas/sessions/s1/handoff.md");
    std::os::unix::fs::symlink(&outside, link).unwrap();
    assert!(export(&place.projects(), "atlas", "s1", "x").is_err());
    assert_eq!(fs::read_to_string(outside).unwrap(), "mine");
}

#[test]
fn no_name_leads_out_of_the_projects() {
    let place = Place::new();
    for wrong in
        ["", ".", "..", "../x", "a/b", "/a", "a\\b", "a\0b", "a/", "./a", "c:", &"a".repeat(256)]
    {
        for (slug, session) in [(wrong, "s"), ("atlas", wrong)] {
            let error = export(&place.projects(), slug, session, "x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{wrong:?}: {error}");
        }
    }
    assert!(!place.projects().exists());
}

proptest! {
    #[test]
    fn any_session_is_exported_to_its_folder_or_refused(session in "\\PC{0,8}|[./\\\\a:]{0,6}") {
        let place = Place::new();
        match export(&place.projects(), "atlas", &session, "x") {
            Ok(path) => {
                let path = dunce::canonicalize(path).unwrap();
                prop_assert_eq!(path, place.projects().join("atlas/sessions").join(session).join("handoff.md"));
            }
            Err(_) => prop_assert!(!place.projects().exists()),
        }
    }
}
