//! Which sessions are checked, and what they are given.

use super::{DAY, Lab, findings, names, remarks};

#[test]
fn without_settings_there_is_one_session_per_host() {
    let lab = Lab::with_notes();
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["project"], "atlas");
    assert_eq!(report["now"], "2026-05-30T20:26:40Z");
    assert_eq!(report["notes"], 3);
    let sessions = report["sessions"].as_array().unwrap();
    let hosts: Vec<_> = sessions.iter().map(|session| session["name"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["plain", "opencode", "claude-code", "codex"]);
    assert_eq!(sessions[2]["budget"]["chars"], 9_500);
    assert_eq!(sessions[3]["budget"]["tokens"], 2_400);
    for session in sessions {
        assert_eq!(session["used"]["tokens"], session["wanted"], "everything has room");
    }
    assert!(
        names(&sessions[0]["shown"], "notes").contains(&"memory://project/renderer".to_owned())
    );
}

#[test]
fn a_note_is_as_old_as_its_last_commit() {
    let lab = Lab::by_frequency();
    let recent = |arguments: &[&str]| {
        let (_, report) = lab.check(arguments);
        names(&report["sessions"][0]["shown"], "recent")
    };
    assert_eq!(recent(&[]), ["memory://project/tile-cache"]);
    assert_eq!(recent(&["--now", "2026-06-30"]), [""; 0]);
    lab.note("renderer", "The [[renderer]] of atlas is new.");
    lab.note("fresh", "Not committed, and about [[atlas]].");
    let all =
        ["memory://project/tile-cache", "memory://project/renderer", "memory://project/fresh"];
    let mut found = recent(&[]);
    found.sort();
    let mut all = all.map(str::to_owned);
    all.sort();
    assert_eq!(found, all, "what is changed since counts as changed by the newest commit");
}

#[test]
fn notes_are_read_in_the_style_of_their_program() {
    let lab = Lab::by_frequency();
    lab.note("roads", "Of atlas: [[All the tiles|tiles]] and the [[renderer]].");
    let concepts = || names(&lab.check(&[]).1["sessions"][0]["shown"], "concepts");
    assert!(concepts().contains(&"all-the-tiles".to_owned()), "{:?}", concepts());
    lab.write("dendron.yml", "version: 5\n");
    assert!(concepts().contains(&"tiles".to_owned()), "{:?}", concepts());
}

#[test]
fn what_git_ignores_is_not_there() {
    let lab = Lab::with_notes();
    lab.write(".gitignore", "private.md\n");
    lab.note("private", "Nobody but me knows of [[atlas]].");
    // What only this clone ignores is never committed, either.
    lab.write(".git/info/exclude", "mine.md\n");
    lab.note("mine", "Only here is [[atlas]] mine.");
    lab.note("public", "Everybody knows of [[atlas]].");
    let (_, report) = lab.check(&[]);
    assert_eq!(report["notes"], 4);
    let shown = report.to_string();
    for ignored in ["project/private", "project/mine"] {
        assert!(!shown.contains(ignored), "{ignored}: {report:#}");
    }
    assert!(shown.contains("project/public"), "{report:#}");
}

#[test]
fn declared_sessions_stand_instead() {
    let lab = Lab::with_notes();
    lab.write("packages/web/index.ts", "");
    lab.write(
        "kgctx.toml",
        "rank = \"frequency\"\n[check]\nproject = \"mercury\"\n\n[[check.session]]\nname = \"web\"\ndir = \"packages/web\"\nhost = \"codex\"\n\
         budget = 300\nnow = \"2026-05-29\"\nbranch = \"feature\"\n",
    );
    lab.commit("a package", 3 * DAY);
    let (code, report) = lab.check(&[]);
    assert_eq!((code, &report["project"]), (0, &"mercury".into()), "{report:#}");
    let [web] = &report["sessions"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((&web["name"], &web["host"]), (&"web".into(), &"codex".into()));
    assert_eq!(web["budget"]["tokens"], 300);
    assert!(web["used"]["tokens"].as_u64().unwrap() <= 300);
    // On that day the notes of the first commit are recent, and later ones are not there yet.
    assert_eq!(names(&web["shown"], "recent").len() + names(&web["omitted"], "recent").len(), 2);

    lab.write("kgctx.toml", "[[check.session]]\nname = \"api\"\ndir = \"packages/api\"\n");
    let (code, said) = lab.refused(&[]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r#"kgctx: kgctx.toml:3: the session "api" starts in "packages/api", where the repository has no file"#);
}

#[test]
fn where_there_is_no_repository_packages_are_projects_of_their_own() {
    let lab = Lab::with_notes();
    std::fs::remove_dir_all(lab.top().join(".git")).unwrap();
    lab.write("kgctx.toml", "rank = \"frequency\"\n[[check.session]]\nname = \"top\"\n\n[[check.session]]\nname = \"web\"\ndir = \"packages/web\"\n");
    lab.write("packages/web/kgctx.toml", "rank = \"frequency\"\n[[vault]]\npath = \"notes\"\n");
    lab.write("packages/web/notes/web.md", "# Web\n\nThe [[page]] of [[web]].\n");
    let (_, report) = lab.check(&[]);
    assert_eq!(report["notes"], 4, "{report:#}");
    let [top, web] = &report["sessions"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert!(names(&top["shown"], "concepts").contains(&"renderer".to_owned()), "{report:#}");
    let mut of_web = names(&web["shown"], "concepts");
    of_web.sort();
    assert_eq!(of_web, ["page", "web"]);
}

#[test]
fn the_newest_committed_handoff_that_is_not_too_old_is_given() {
    let lab = Lab::with_notes();
    let handoff = |name: &str, created: &str, more: &str| {
        lab.write(
            &format!(".kgctx/handoffs/{name}.md"),
            &format!(
                "---\nid: {name}\ntype: manual\ncreated_at: {created}\n{more}---\n\n## Goal\n\nMend the renderer.\n"
            ),
        );
    };
    handoff("HO-20260501-120000-aaaa", "2026-05-01T12:00:00Z", "");
    handoff("HO-20260502-120000-bbbb", "2026-05-02T12:00:00Z", "files: [src/main.rs, gone.rs]\n");
    handoff("HO-20260503-120000-cccc", "2026-05-03T12:00:00Z", "kind: task\n");
    handoff(
        "HO-20260504-120000-dddd",
        "2026-05-04T12:00:00Z",
        "expires_at: 2026-05-05T12:00:00Z\n",
    );
    lab.write("src/main.rs", "fn main() {}\n");
    lab.commit("handoffs", 3 * DAY);
    let (_, report) = lab.check(&[]);
    let plain = &report["sessions"][0];
    assert_eq!(names(&plain["shown"], "handoff"), ["HO-20260502-120000-bbbb"], "{report:#}");
    assert_eq!(names(&plain["shown"], "files"), ["src/main.rs", "gone.rs"]);
    let (_, earlier) = lab.check(&["--now", "2026-05-04T13:00:00Z"]);
    assert_eq!(names(&earlier["sessions"][0]["shown"], "handoff"), ["HO-20260504-120000-dddd"]);
    lab.write("kgctx.toml", "[handoff]\nenabled = false\n");
    let (_, report) = lab.check(&[]);
    assert_eq!(names(&report["sessions"][0]["shown"], "handoff"), [""; 0]);
}

#[test]
fn a_handoff_that_is_newer_than_the_newest_commit_is_given() {
    let lab = Lab::with_notes();
    let path = ".kgctx/handoffs/HO-20260605-120000-aaaa.md";
    let text = "---\nid: HO-20260605-120000-aaaa\ntype: manual\ncreated_at: 2026-06-05T12:00:00Z\n---\n\n## Goal\n\nMend it.\n";
    lab.write(path, text);
    let given = || {
        let (_, report) = lab.check(&[]);
        assert!(!report.to_string().contains("handoff-expired"), "{report:#}");
        names(&report["sessions"][0]["shown"], "handoff")
    };
    assert_eq!(given(), ["HO-20260605-120000-aaaa"]);
    // Without a history now is 1970, and everything is newer.
    std::fs::remove_dir_all(lab.top().join(".git")).unwrap();
    assert_eq!(given(), ["HO-20260605-120000-aaaa"]);
    lab.write(path, &text.replace("created_at: 2026-06-05T12:00:00Z\n", ""));
    assert_eq!(given(), ["HO-20260605-120000-aaaa"], "nor is it old without a time");
}

#[test]
fn what_is_not_committed_counts_as_of_now() {
    let lab = Lab::by_frequency();
    lab.note("fresh", "Not committed, and about [[atlas]].");
    lab.note("renderer", "The [[renderer]] of [[atlas]], written anew.");
    let (_, report) = lab.check(&["--now", "2026-09-01"]);
    let mut recent = names(&report["sessions"][0]["shown"], "recent");
    recent.sort();
    assert_eq!(recent, ["memory://project/fresh", "memory://project/renderer"]);
}

#[test]
fn two_sessions_of_one_name_are_refused() {
    let lab = Lab::with_notes();
    let session = "[[check.session]]\nname = \"web\"\n";
    lab.write("kgctx.toml", &format!("{session}\n{session}"));
    let (code, said) = lab.refused(&[]);
    assert_eq!(code, 2);
    insta::assert_snapshot!(said, @r#"kgctx: kgctx.toml:5:8: there is already a session "web"; give this one another name"#);
    lab.write("kgctx.toml", "[[check.session]]\nname = \"session 2\"\n\n[[check.session]]\n");
    let (code, said) = lab.refused(&[]);
    assert_eq!(code, 2);
    assert!(said.contains("there is already a session \"session 2\""), "{said}");
}

#[test]
fn handoffs_are_chosen_by_channel_and_named_so_that_people_find_them() {
    let lab = Lab::with_notes();
    let handoff = |name: &str, head: &str| {
        let text = format!("---\ntype: manual\n{head}---\n\n## Goal\n\nMend the renderer.\n");
        lab.write(&format!(".kgctx/handoffs/{name}.md"), &text);
    };
    handoff("tiles", "created_at: 2026-05-01T12:00:00Z\n");
    handoff("other", "created_at: 2026-05-02T12:00:00Z\nchannel: elsewhere\n");
    handoff("README", "created_at: 2026-05-03T12:00:00Z\n");
    lab.commit("handoffs", 3 * DAY);
    let (_, report) = lab.check(&[]);
    let shown = names(&report["sessions"][0]["shown"], "handoff");
    assert_eq!(shown, [".kgctx/handoffs/tiles.md"], "{report:#}");
    let said = remarks(&report).join("\n");
    assert!(
        said.contains("tiles.md is shown as if `kgctx handoff import` had loaded it"),
        "{said}"
    );
}

#[test]
fn budgets_are_kept_or_reported_at_their_line() {
    let lab = Lab::with_notes();
    lab.write(
        "kgctx.toml",
        "[check.budget]\ntotal = 60\nnotes = 5\n\n[check.budget.codex]\ntotal = 9999\nnotes = 9999\n\n\
         [[check.session]]\nname = \"a\"\n\n[[check.session]]\nname = \"b\"\nhost = \"codex\"\n\n\
         [[check.session]]\nname = \"c\"\nhost = \"codex\"\nbudget = 10\n",
    );
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(findings(&report).join("\n"), @r#"
    kgctx.toml:2:1 budget-total: in the session a, the context has 120 tokens, 60 more than the limit of 60
    kgctx.toml:3:1 budget-part: in the session a, the part notes has 55 tokens, 50 more than the limit of 5
    kgctx.toml:19:1 budget-total: in the session c, a budget of 10 tokens has no room for any of the 120 wanted tokens
    "#);
    lab.write(
        "kgctx.toml",
        "[check.budget]\ntotal = 60\n\n[check.rules]\nbudget-total = \"warn\"\n",
    );
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 0, "a warning fails nothing");
    insta::assert_snapshot!(findings(&report).join("\n"), @"kgctx.toml:2:1 budget-total: in the sessions plain, opencode, claude-code and codex, the context has 120 tokens, 60 more than the limit of 60");
    lab.write(
        "kgctx.toml",
        "[check.budget]\ntotal = 60\n\n[check.rules]\nbudget-total = \"off\"\n",
    );
    assert_eq!(findings(&lab.check(&[]).1), [""; 0]);
}

#[test]
fn a_handoff_without_room_breaks_the_budget() {
    let lab = Lab::with_notes();
    lab.write(
        ".kgctx/handoffs/HO-20260501-120000-aaaa.md",
        "---\nid: HO-20260501-120000-aaaa\ntype: manual\ncreated_at: 2026-05-01T12:00:00Z\n---\n\n## Goal\n\nMend it.\n",
    );
    lab.write("kgctx.toml", "token_limit = 90\n\n[[check.session]]\nname = \"a\"\n");
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1, "{report:#}");
    insta::assert_snapshot!(findings(&report).join("\n"), @r#"kgctx.toml:1:1 budget-total: in the session a, a budget of 90 tokens has no room for the handoff HO-20260501-120000-aaaa"#);
}

#[test]
fn a_handoff_that_is_cut_breaks_the_budget() {
    let lab = Lab::with_notes();
    lab.write(
        ".kgctx/handoffs/HO-20260501-120000-aaaa.md",
        &format!(
            "---\nid: HO-20260501-120000-aaaa\ntype: manual\ncreated_at: 2026-05-01T12:00:00Z\n---\n\n## Goal\n\nMend it.\n\n## All that was said\n\n{}\n",
            "word ".repeat(900)
        ),
    );
    lab.write("kgctx.toml", "[[check.session]]\nname = \"a\"\nbudget = 500\n");
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1, "{report:#}");
    insta::assert_snapshot!(findings(&report).join("\n"), @"kgctx.toml:3:1 budget-total: in the session a, a budget of 500 tokens has room for 107 of the 980 tokens of the handoff HO-20260501-120000-aaaa");
    let in_claude_code = "[[check.session]]\nname = \"a\"\nhost = \"claude-code\"\nbudget = 500\n";
    lab.write("kgctx.toml", in_claude_code);
    let found = findings(&lab.check(&[]).1);
    let room =
        "a budget of 500 tokens, 50 of them for the first prompt, and 9,500 characters has room";
    assert!(found[0].contains(room), "{found:?}");
    lab.write("kgctx.toml", "[[check.session]]\nname = \"a\"\nbudget = 4000\n");
    assert_eq!(lab.check(&[]).0, 0);
}

#[test]
fn of_handoffs_of_one_moment_the_one_that_is_given_is_named() {
    let lab = Lab::with_notes();
    for (name, channel) in [("mine", "atlas"), ("theirs", "zenith")] {
        let text =
            format!("---\ntype: manual\nchannel: {channel}\n---\n\n## Goal\n\nMend {name}.\n");
        lab.write(&format!(".kgctx/handoffs/{name}.md"), &text);
    }
    lab.commit("handoffs", 3 * DAY);
    let (_, report) = lab.check(&[]);
    let shown = names(&report["sessions"][0]["shown"], "handoff");
    assert_eq!(shown, [".kgctx/handoffs/mine.md"], "{report:#}");
}

#[test]
fn keys_that_nobody_knows_are_found_and_the_others_hold() {
    let lab = Lab::with_notes();
    lab.write("kgctx.toml", "token_limt = 10\ntoken_limit = 1234\n\n[handoff]\nmax_age = 3\n\n[check]\ngrowth_token = 1\n");
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 1);
    insta::assert_snapshot!(findings(&report).join("\n"), @r#"
    kgctx.toml:1:1 config-unknown-key: unknown key `token_limt`
    kgctx.toml:5:1 config-unknown-key: unknown key `max_age`
    kgctx.toml:8:1 config-unknown-key: unknown key `growth_token`
    "#);
    let all = report["findings"].as_array().unwrap();
    let first = all.iter().find(|finding| finding["rule"] == "config-unknown-key").unwrap();
    assert_eq!(first["hint"], "did you mean `token_limit`?");
    assert_eq!(first["excerpt"], "token_limt = 10");
    assert_eq!(first["spot"]["length"], 10);
    assert_eq!(report["sessions"][0]["budget"]["tokens"], 1234);
    lab.write("kgctx.toml", "token_limt = 10\n\n[check.rules]\nconfig-unknown-key = \"off\"\n");
    assert_eq!(findings(&lab.check(&[]).1), [""; 0]);
}

#[test]
fn a_context_that_is_switched_off_is_remarked_upon() {
    let lab = Lab::with_notes();
    lab.write("kgctx.toml", "enabled = false\n");
    let (code, report) = lab.check(&[]);
    assert_eq!(code, 0);
    assert_eq!(remarks(&report), ["settings: context is switched off by kgctx.toml"]);
}

#[test]
fn other_commands_take_no_notice_of_the_section() {
    let lab = Lab::with_notes();
    lab.write("kgctx.toml", "[check]\nwhatever = 1\n");
    let output = lab.scratch.kgctx(["config", "--json"]).current_dir(lab.top()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
