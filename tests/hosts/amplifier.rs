//! The real kernel of Amplifier, with the bundle that `kgctx install amplifier` has written, and no model: what reaches the model's
//! provider, and what becomes of handoffs. What its command line does around the kernel is played by `amplifier/drive.py`.

mod lab;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use serde_json::{Value, json};

use lab::{Lab, content};

/// What every context has once.
const CONTEXT: &str = "## Knowledge Graph Context";
const SIGTERM: i32 = 15;

fn prompt(id: &str, text: &str) -> Value {
    json!({"do": "prompt", "id": id, "text": text})
}

#[test]
fn three_prompts_have_one_context_and_sub_sessions_have_none() {
    let Some(lab) = Lab::new() else { return };
    let id = lab.leave("MARK-ONE");
    let seen = lab.drive(&json!([
        {"do": "start", "id": "p_helper", "parent": "p"},
        prompt("p_helper", "help"),
        {"do": "start", "id": "p"},
        prompt("p", "one"),
        prompt("p", "two"),
        prompt("p", "three"),
    ]));
    assert_eq!(seen.count(0, CONTEXT) + seen.count(0, "MARK-ONE"), 0, "a helper gets nothing");
    for request in 1..4 {
        assert_eq!(seen.count(request, CONTEXT), 1);
        assert_eq!(seen.places(request, "MARK-ONE"), [(0, "system".to_owned())]);
        assert!(content(&seen.requests[request][0]).contains("[[tile-cache]]"));
    }
    let metadata = &seen.requests[1][0]["metadata"];
    assert_eq!((&metadata["source"], &metadata["hook_name"]), (&json!("hook"), &json!("kgctx")));
    assert_eq!(metadata["event"], "session:start");
    assert_eq!(lab.status(&id), "consumed");
    assert_eq!(seen.shown, Vec::<Value>::new(), "nothing is printed into a session");
    assert!(seen.longest_gap < Duration::from_millis(500), "{:?}", seen.longest_gap);
}

/// Earlier kernels tell a start at every prompt.
#[test]
fn earlier_kernels_give_each_session_its_context_once() {
    for version in ["1.6.1", "1.5.0", "1.0.7"] {
        let Some(lab) = Lab::of_version(version) else { continue };
        let id = lab.leave("MARK-ONE");
        let steps = json!([{"do": "start", "id": "s"}, prompt("s", "one"), prompt("s", "two")]);
        let seen = lab.drive(&steps);
        for request in 0..2 {
            assert_eq!(seen.count(request, CONTEXT), 1, "{version}");
            let places = seen.places(request, "MARK-ONE");
            assert_eq!(places, [(0, "system".to_owned())], "{version}");
        }
        assert_eq!(lab.status(&id), "consumed", "{version}");
    }
}

#[test]
fn the_kernel_finds_the_module_valid() {
    let Some(lab) = Lab::new() else { return };
    let seen = lab.drive(&json!([{"do": "validate"}]));
    let [report] = seen.results[0].as_array().unwrap().as_slice() else { panic!() };
    assert_eq!(report["passed"], true, "{report}");
}

#[test]
fn texts_of_other_hooks_stay_apart() {
    let Some(lab) = Lab::new() else { return };
    for (n, priority) in [10, 90].into_iter().enumerate() {
        lab.leave(&format!("MARK-{n}"));
        let other =
            json!({"text": "OTHER", "role": "user", "ephemeral": true, "priority": priority});
        let seen = lab.drive(&json!([
            {"do": "start", "id": format!("s-{n}"), "probe": {"session:start": other, "prompt:submit": other}},
            prompt(&format!("s-{n}"), "one"),
            prompt(&format!("s-{n}"), "two"),
        ]));
        for request in 0..2 {
            assert_eq!(seen.places(request, &format!("MARK-{n}")), [(0, "system".to_owned())]);
            let messages = &seen.requests[request];
            assert_eq!(content(&messages[messages.len() - 1]), "OTHER");
            assert_eq!(seen.places(request, "OTHER"), [(messages.len() - 1, "user".to_owned())]);
        }
    }
}

#[test]
fn a_denied_prompt_does_not_lose_the_context() {
    let Some(lab) = Lab::new() else { return };
    for (n, priority) in [10, 90].into_iter().enumerate() {
        let (id, session) = (lab.leave("MARK"), format!("s-{n}"));
        let seen = lab.drive(&json!([
            {"do": "start", "id": session, "probe": {"prompt:submit": {"deny": true, "priority": priority}}},
            prompt(&session, "one"),
            {"do": "messages", "id": session},
        ]));
        assert!(seen.results[1]["said"].as_str().unwrap().contains("denied"));
        let messages = seen.results[2].as_array().unwrap();
        assert_eq!(messages.iter().filter(|message| content(message).contains("MARK")).count(), 1);
        assert_eq!(lab.status(&id), "consumed");
    }
}

#[test]
fn a_context_fits_into_the_hosts_limit_or_its_handoff_waits() {
    let Some(lab) = Lab::new() else { return };
    for limit in [1, 100, 700, 100_000] {
        let (id, session) = (lab.leave("MARK"), format!("s-{limit}"));
        let seen = lab.drive(&json!([
            {"do": "start", "id": session, "session": {"injection_size_limit": limit}},
            prompt(&session, "one"),
            prompt(&session, "two"),
        ]));
        assert_eq!(seen.results[1]["said"], "ok", "{limit}");
        let n_given = seen.count(1, "MARK");
        assert_eq!(seen.count(0, "MARK"), n_given, "{limit}");
        let status = if n_given == 0 { "active" } else { "consumed" };
        assert_eq!(lab.status(&id), status, "{limit}");
        assert_eq!(n_given, usize::from(limit >= 700), "{limit}");
    }
}

#[test]
fn what_is_wrong_with_kgctx_costs_a_session_its_context_alone() {
    let Some(lab) = Lab::new() else { return };
    let id = lab.leave("MARK");
    let shell = |script: &str| json!(["sh", "-c", format!("cat > /dev/null; {script}")]);
    let answer = |text: &str| shell(&format!("echo '{text}'"));
    let commands = [
        json!(["/nowhere/kgctx"]),
        json!([7]),
        json!(["sleep", "10"]),
        shell("sleep 10 & sleep 10"),
        json!(["false"]),
        shell("true"),
        shell("yes"),
        shell("head -c 3000000 /dev/urandom"),
        answer("nonsense"),
        answer("[]"),
        answer(r#"{"action":"inject_context","context_injection":7,"receipt":"x"}"#),
        answer(r#"{"action":"inject_context","context_injection":"","receipt":1}"#),
        answer(r#"{"action":"deny","reason":"no"}"#),
    ];
    let start = |(n, command): (usize, &Value)| {
        let config = json!({"command": command, "timeout": "long"});
        json!({"do": "start", "id": format!("s-{n}"), "config": config})
    };
    let mut steps: Vec<Value> = commands.iter().enumerate().map(start).collect();
    steps.extend([json!({"do": "prompt_all", "text": "one"}), json!({"do": "end_all"})]);
    let seen = lab.drive(&Value::from(steps));
    let [.., prompted, ended] = seen.results.as_slice() else { panic!() };
    for (n, command) in commands.iter().enumerate() {
        assert_eq!(prompted[n]["said"], "ok", "{command}");
        for took in [&prompted[n]["took"], &ended[n]["took"]] {
            assert!(took.as_f64().unwrap() < 3.0, "{command}: {took}");
        }
        assert_eq!(seen.count(n, CONTEXT), 0);
    }
    assert!(seen.longest_gap < Duration::from_millis(500), "{:?}", seen.longest_gap);
    assert_eq!(lab.status(&id), "active");
    // A command that is none is that of the PATH.
    for (n, command) in [json!([]), json!(7), json!("kgctx")].into_iter().enumerate() {
        let session = format!("t-{n}");
        let config = json!({"command": command});
        let seen = lab.drive(&json!([
            {"do": "start", "id": session, "config": config},
            prompt(&session, "one"),
        ]));
        assert_eq!(seen.count(0, CONTEXT), 1, "{command}");
    }
    assert_eq!(lab.status(&id), "consumed");
}

#[test]
fn a_context_that_was_not_stored_is_given_back() {
    let Some(lab) = Lab::new() else { return };
    let id = lab.leave("MARK");
    // The host's limit is not told: so the kernel refuses the text.
    let script = r#"sed 's/"max_chars": 100/"max_chars": null/' | kgctx hook amplifier"#;
    let (seen, said) = lab.drive_and_hear(&json!([
        {"do": "start", "id": "s", "session": {"injection_size_limit": 100},
         "config": {"command": ["sh", "-c", script]}},
        prompt("s", "one"),
    ]));
    assert!(said.starts_with("Hook injection too large: kgctx"), "the kernel's own words: {said}");
    assert_eq!((seen.results[1]["said"].as_str(), seen.count(0, "MARK")), (Some("ok"), 0));
    assert_eq!(lab.status(&id), "active");
    let steps = lab.kgctx(&["handoff", "log", &id]);
    assert!(steps.contains("its context was not delivered"), "{steps}");
    assert_eq!(lab.session("t", &["one"]).count(0, "MARK"), 1);
}

#[test]
fn a_resumed_session_has_its_context_again_and_what_was_left_meanwhile() {
    let Some(lab) = Lab::new() else { return };
    let first = lab.leave("MARK-ONE");
    let begun = lab.session("s", &["one", "two"]);
    let given = content(&begun.requests[0][0]);
    let resume = json!([
        {"do": "start", "id": "s", "resumed": true},
        prompt("s", "three"),
        prompt("s", "four"),
        {"do": "end", "id": "s"},
    ]);
    lab.ends(1);
    let seen = lab.drive(&resume);
    for request in 0..2 {
        assert_eq!(seen.count(request, CONTEXT), 1);
        // Behind the turns that were, and before the new prompt.
        assert_eq!(seen.places(request, "MARK-ONE"), [(4, "system".to_owned())]);
        assert_eq!(content(&seen.requests[request][4]), given, "the same text again");
    }
    assert_eq!(lab.status(&first), "consumed");
    lab.ends(2);
    let second = lab.leave("MARK-TWO");
    let seen = lab.drive(&resume);
    assert_eq!((seen.count(0, CONTEXT), seen.count(0, "MARK-TWO")), (1, 1));
    assert_eq!(seen.count(0, "MARK-ONE"), 0, "the newer takes the place of the earlier");
    assert_eq!(lab.status(&second), "consumed");
}

#[test]
fn a_cleared_session_has_its_notes_again() {
    let Some(lab) = Lab::new() else { return };
    lab.leave("MARK-ONE");
    let steps = json!([
        {"do": "start", "id": "s"},
        prompt("s", "one"),
        {"do": "clear", "id": "s"},
        prompt("s", "two"),
        prompt("s", "three"),
    ]);
    let seen = lab.drive(&steps);
    assert_eq!(seen.count(0, "MARK-ONE"), 1);
    for request in 1..3 {
        assert_eq!((seen.count(request, CONTEXT), seen.count(request, "MARK-ONE")), (1, 0));
        assert_eq!(seen.places(request, CONTEXT), [(0, "system".to_owned())]);
    }
    lab.scratch.write("kgctx-home/config.toml", "[handoff]\ninject_on_clear = true\n");
    let waiting = lab.leave("MARK-TWO");
    let again = json!([
        {"do": "start", "id": "s", "config": {"command": ["true"]}},
        prompt("s", "one"),
        {"do": "start", "id": "t"},
        prompt("t", "one"),
        {"do": "clear", "id": "t"},
        prompt("t", "two"),
    ]);
    let seen = lab.drive(&again);
    assert_eq!((seen.count(1, "MARK-TWO"), seen.count(2, "MARK-TWO")), (1, 0), "it had that one");
    assert_eq!(seen.count(2, CONTEXT), 1);
    assert_eq!(lab.status(&waiting), "consumed");
}

/// As a host may that keeps messages of the system.
#[test]
fn a_session_that_is_resumed_with_its_context_has_it_again_after_a_clear() {
    let Some(lab) = Lab::new() else { return };
    let project = fs::canonicalize(lab.project()).unwrap();
    let slug = project.display().to_string().replace('/', "-");
    let message = json!({"role": "system", "content": CONTEXT, "metadata": {"source": "hook", "hook_name": "kgctx"}});
    let transcript = format!("home/.amplifier/projects/{slug}/sessions/s/transcript.jsonl");
    lab.scratch.write(&transcript, format!("{message}\n"));
    let seen = lab.drive(&json!([
        {"do": "start", "id": "s", "resumed": true},
        prompt("s", "one"),
        {"do": "clear", "id": "s"},
        prompt("s", "two"),
    ]));
    assert_eq!((seen.count(0, CONTEXT), seen.count(1, CONTEXT)), (1, 1));
    assert!(!content(&seen.requests[0][0]).contains("[[tile-cache]]"), "it had its context");
    assert!(content(&seen.requests[1][0]).contains("[[tile-cache]]"));
}

#[test]
fn of_four_sessions_at_once_one_has_the_handoff_and_all_have_the_notes() {
    let Some(lab) = Lab::new() else { return };
    lab.leave("MARK-ONE");
    let mut steps: Vec<Value> =
        (0..4).map(|n| json!({"do": "start", "id": format!("s-{n}")})).collect();
    steps.push(json!({"do": "prompt_all", "text": "one"}));
    let seen = lab.drive(&Value::from(steps));
    assert_eq!(seen.sessions.len(), 4);
    let with = |text: &str| (0..4).filter(|request| seen.count(*request, text) == 1).count();
    assert_eq!((with("MARK-ONE"), with(CONTEXT)), (1, 4));
}

#[test]
fn a_session_that_ends_leaves_a_handoff_once() {
    let Some(lab) = Lab::new() else { return };
    let seen = lab.drive(&json!([
        {"do": "start", "id": "s"},
        prompt("s", "Serve old tiles"),
        prompt("s", "Measure the cache"),
        {"do": "end", "id": "s"},
        {"do": "end", "id": "s"},
        {"do": "start", "id": "unused"},
        {"do": "end", "id": "unused"},
        {"do": "start", "id": "p_helper", "parent": "p"},
        prompt("p_helper", "one"),
        prompt("p_helper", "two"),
        {"do": "end", "id": "p_helper"},
    ]));
    assert!(seen.results[3]["took"].as_f64().unwrap() < 2.0, "the host does not wait for it");
    let [end] = lab.ends(1).try_into().unwrap();
    assert_eq!(end["session_id"], "s");
    std::thread::sleep(Duration::from_secs(1));
    lab.ends(1);
    let next = lab.session("t", &["one"]);
    assert!(content(&next.requests[0][0]).contains("Measure the cache"));
}

#[test]
fn a_session_that_was_killed_is_finished_at_the_next_start() {
    let Some(lab) = Lab::new() else { return };
    let output = lab.drive_to_its_end(&json!([
        {"do": "start", "id": "s"},
        prompt("s", "Serve old tiles"),
        prompt("s", "Measure the cache"),
        {"do": "save", "id": "s"},
        {"do": "terminate"},
    ]));
    assert_eq!(output.status.signal(), Some(SIGTERM), "{output:?}");
    std::thread::sleep(Duration::from_secs(1));
    lab.ends(0);
    lab.session("t", &["one"]);
    let [end] = lab.ends(1).try_into().unwrap();
    assert_eq!(end["session_id"], "s");
    assert_eq!(lab.session("u", &["one"]).count(0, "Measure the cache"), 1);
    lab.ends(1);
}

#[test]
fn settings_that_the_host_has_rewritten_are_as_without_us() {
    for settings in [
        None,
        Some(""),
        Some("# mine\nconfig:\n  a: 1  # one\n"),
        Some("bundle:\n  active: anchors\n"),
        Some("bundle:\n"),
        Some("bundle:\n  app: []\n"),
        Some("bundle:\n  added: {x: 'file:///x'}\n  app:\n    - file:///x\n"),
    ] {
        let Some(lab) = Lab::with_settings(settings) else { return };
        let after = |settings: &Lab| {
            let seen = settings.drive(&json!([{"do": "rewrite"}, {"do": "tree"}]));
            seen.results[1].clone()
        };
        let with_us = after(&lab);
        assert!(with_us["bundle"]["app"].to_string().contains("kgctx"), "{with_us}");
        lab.kgctx(&["uninstall", "amplifier"]);
        let left = lab.drive(&json!([{"do": "tree"}])).results[0].clone();
        // The same without us.
        if let Some(settings) = settings {
            lab.scratch.write("home/.amplifier/settings.yaml", settings);
        } else {
            fs::remove_file(lab.scratch.home().join(".amplifier/settings.yaml")).unwrap();
        }
        assert_eq!(left, after(&lab), "{settings:?}");
    }
}

#[test]
fn without_its_module_no_session_starts_until_it_is_installed_again() {
    let Some(lab) = Lab::new() else { return };
    let own = lab.scratch.path().join("kgctx-home/state/amplifier/kgctx");
    fs::remove_dir_all(own.join("modules")).unwrap();
    let start = json!([{"do": "start", "id": "s"}]);
    assert!(!lab.drive_to_its_end(&start).status.success());
    lab.kgctx(&["install", "amplifier"]);
    lab.drive(&start);
    fs::remove_dir_all(&own).unwrap();
    assert!(lab.drive_to_its_end(&start).status.success(), "without its folder they do");
}

#[test]
fn settings_that_cannot_be_read_are_told_to_the_user() {
    let Some(lab) = Lab::new() else { return };
    lab.scratch.write("kgctx-home/config.toml", "[vaults\n");
    let seen = lab.session("s", &["one"]);
    let [shown] = seen.shown.as_slice() else { panic!("{:?}", seen.shown) };
    assert!(shown["message"].as_str().unwrap().contains("the settings cannot be read"), "{shown}");
    assert_eq!(seen.count(0, "kgctx"), 0);
}
