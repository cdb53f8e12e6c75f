//! Who shares handoffs: worktrees of one repository, and whoever is in the same channel.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kgctx::core::project::FolderFacts;
use kgctx::core::project::identify;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::handoff_lab::{Lab, context, documents, given};
use crate::support::{git, stderr};

#[test]
fn a_1_25_channels_with_odd_names_are_kept_apart_below_the_store() {
    //
    let lab = Lab::new();
    let long = "x".repeat(300);
    let odd =
        ["../../../escaped", "..", ".", "a/b", "a-b", "a b", "/", "\\", "😀", &long, "A", "a"];
    for channel in odd {
        lab.create(&["--channel", channel, "--body", &format!("For {channel:?}.")]);
    }
    let mut scopes = BTreeSet::new();
    for channel in odd {
        let shown = lab.handoff(&["show", "--channel", channel]);
        assert_eq!(shown["body"], format!("For {channel:?}."), "{channel}");
        scopes.insert(shown["channel"].as_str().unwrap().to_owned());
    }
    assert_eq!(scopes.len(), odd.len(), "{scopes:?}");
    assert_eq!(documents(&lab.scratch).len(), odd.len());
    // Nothing else was made anywhere.
    let made: BTreeSet<String> = fs::read_dir(lab.scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(made, ["home", "kgctx-home", "zephyr"].map(str::to_owned).into());
}

/// The channel that a folder is in.
fn channel_of(lab: &Lab, folder: &Path) -> String {
    let output = lab.kgctx(["handoff", "list", "--json"]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list["channel"].as_str().unwrap().to_owned()
}

#[test]
fn a_1_22_the_longest_path_at_or_above_a_folder_names_its_channel() {
    //
    let lab = Lab::new();
    let place = |name: &str| {
        let folder = lab.scratch.path().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    let (outer, inner, deep) = (place("srv/proj"), place("srv/proj/in"), place("srv/proj/in/a/b"));
    let neighbour = place("srv/project2");
    let registry =
        json!({ "registry": { inner.to_str().unwrap(): "in", outer.to_str().unwrap(): "out" } });
    lab.scratch.write("kgctx-home/channels.json", registry.to_string());
    assert_eq!(channel_of(&lab, &outer), "out");
    assert_eq!(channel_of(&lab, &place("srv/proj/other")), "out");
    assert_eq!(channel_of(&lab, &inner), "in");
    assert_eq!(channel_of(&lab, &deep), "in");
    assert_eq!(channel_of(&lab, &neighbour), "project2");
}

#[test]
fn a_1_23_without_a_rule_the_project_counts_and_without_that_all_is_global() {
    //
    let lab = Lab::new();
    assert_eq!(channel_of(&lab, lab.folder()), "zephyr");
    assert_eq!(channel_of(&lab, &lab.scratch.home()), "global");
    let id = lab.leave("Ship it.");
    // A registry that is broken is told to people, and costs a session nothing.
    lab.scratch.write("kgctx-home/channels.json", "{ \"/srv\": ");
    let (_, said) = lab.refused(&["list"]);
    assert!(said.contains("channels.json"), "{said}");
    assert!(lab.start("s").unwrap().contains(&id));
    let told =
        lab.state().query_row("SELECT receipt FROM injections WHERE session = 's'", [], |row| {
            row.get::<_, String>(0)
        });
    assert!(told.unwrap().contains("channels.json"));
}

#[test]
fn a_1_24_where_a_session_was_started_counts_and_what_is_named_counts_more() {
    //
    let lab = Lab::new();
    let elsewhere = lab.scratch.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    git(&elsewhere, &["init", "--quiet"]);
    let left = lab.leave("Ship it.");
    assert!(lab.start("wanderer").unwrap().contains(&left));
    let create = |arguments: &[&str], session: Option<&str>| {
        let mut command = lab.kgctx(["handoff", "create", "--json", "--body", "Text."]);
        command.args(arguments).current_dir(&elsewhere);
        command.envs(session.map(|session| ("KGCTX_SESSION_ID", session)));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let created: Value = serde_json::from_slice(&output.stdout).unwrap();
        created["channel"].as_str().unwrap().to_owned()
    };
    assert_eq!(create(&[], None), "elsewhere");
    assert_eq!(create(&[], Some("wanderer")), "zephyr");
    assert_eq!(create(&["--session", "wanderer"], None), "zephyr");
    assert_eq!(create(&["--session", "unknown"], Some("wanderer")), "elsewhere");
    assert_eq!(create(&["--channel", "named"], Some("wanderer")), "named");
    assert_eq!(create(&["--dir", lab.folder().to_str().unwrap()], None), "zephyr");
    // The host, too, may tell of the folder that the session has gone to.
    let mut event = lab.event("start-compact", "wanderer");
    event["cwd"] = json!(elsewhere);
    let again = context(&given(lab.hook(), &event)).unwrap();
    assert!(again.contains(&left) && again.contains("Channel: zephyr"), "{again}");
}

#[test]
fn p_3_29_worktrees_share_what_equal_names_do_not() {
    // P-3.29, H-0.8
    let lab = Lab::new();
    git(lab.folder(), &["commit", "--quiet", "--allow-empty", "-m", "first"]);
    let worktree = lab.scratch.path().join("elsewhere/tree");
    git(lab.folder(), &["worktree", "add", "--quiet", worktree.to_str().unwrap()]);
    let namesake = lab.scratch.path().join("clones/zephyr");
    fs::create_dir_all(&namesake).unwrap();
    git(&namesake, &["clone", "--quiet", lab.folder().to_str().unwrap(), "."]);
    let start_in = |folder: &Path, session: &str| {
        let mut event = lab.event("start-startup", session);
        event["cwd"] = json!(folder);
        context(&given(lab.hook(), &event))
    };
    let id = lab.leave("Ship it.");
    assert_eq!(start_in(&namesake, "s1"), None, "it is another project");
    assert!(start_in(&worktree, "s2").unwrap().contains(&id));
    assert_eq!(lab.start("s3"), None, "it was given in the worktree");
    // From a folder inside, and the other way round.
    fs::create_dir(worktree.join("src")).unwrap();
    let mut create = lab.kgctx(["handoff", "create", "--body", "From the worktree."]);
    assert!(create.current_dir(worktree.join("src")).output().unwrap().status.success());
    assert!(lab.start("s4").unwrap().contains("From the worktree."));
    // A rule for both clones makes them one.
    let rules = format!("[channels]\n{:?} = \"both\"\n{:?} = \"both\"\n", lab.folder(), namesake);
    lab.scratch.write("kgctx-home/config.toml", rules);
    let id = lab.leave("For both.");
    assert!(start_in(&namesake, "s5").unwrap().contains(&id));
    // Outside of git the folder itself counts, and people are told so.
    let plain = lab.scratch.path().join("plain");
    fs::create_dir(&plain).unwrap();
    let mut create = lab.kgctx(["handoff", "create", "--body", "Here."]);
    let output = create.current_dir(&plain).output().unwrap();
    assert!(stderr(&output).contains(" itself, without a git repository"), "{output:?}");
    assert!(start_in(&plain, "s6").unwrap().contains("Here."));
}

proptest! {
    #[test]
    fn a_1_25_no_channel_leaves_the_store(name in any::<String>()) {
        //
        let facts = FolderFacts {
            folder: "/srv/zephyr".into(),
            home: None,
            repository: None,
            marked: None,
        };
        let project = identify::project(&facts, Some(&name), &[]);
        for name in [&project.channel, project.scope.strip_prefix('@').unwrap()] {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
            prop_assert!(name.chars().all(plain) && (1..=64).contains(&name.len()), "{}", name);
            prop_assert!(!name.starts_with('.'), "{}", name);
        }
    }
}
