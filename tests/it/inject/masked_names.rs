//! Titles, addresses, file names and handoffs can hold secrets, too: no command that an agent may run shows them.

use crate::support::Scratch;

/// Twelve characters drawn by lot, several times, so that no test holds what a scanner takes for a token.
fn token() -> String {
    format!("ghp_{}", "q7Rz2mXk9TbW".repeat(3))
}

#[test]
fn no_answer_about_notes_shows_a_secret_in_a_name() {
    let token = token();
    let scratch = Scratch::new();
    scratch.write(&format!("zephyr/docs/{token}.md"), "# Zephyr notes\n\n[[alpha]] [[beta]]\n");
    scratch.write("zephyr/docs/b.md", format!("# Zephyr {token}\n\n[[alpha]] [[beta]]\n"));
    scratch.write("zephyr/docs/sub/b.md", "# Zephyr PASSWORD=hunter2x\n\n[[alpha]]\n");
    for arguments in [
        &["search", "zephyr"][..],
        &["recent"],
        &["context", "alpha"],
        &["read", "alpha"],
        &["read", "b"],
        &["read", "docs/b.md"],
        &["index"],
        &["doctor"],
        &["explain", "--dry-run"],
        &["check"],
    ] {
        for json in [&[][..], &["--json"]] {
            let arguments = [&["--dir", "zephyr"], arguments, json].concat();
            let output = scratch.kgctx(&arguments).output().unwrap();
            let said = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(!said.contains(&token), "{arguments:?}: {said}");
            assert!(!said.contains("hunter2x"), "{arguments:?}: {said}");
        }
    }
    let said = scratch.run(["--dir", "zephyr", "search", "zephyr"]);
    assert!(said.contains("memory://docs/[masked: github-token]"), "{said}");
    assert!(said.contains("Zephyr [masked: github-token]"), "{said}");
}

#[test]
fn no_list_of_handoffs_shows_a_secret() {
    let token = token();
    let scratch = Scratch::new();
    scratch.write("zephyr/kgctx.toml", "");
    let run = |arguments: &[&str]| {
        let arguments = [&["--dir", "zephyr", "handoff"], arguments].concat();
        let output = scratch.kgctx(&arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    // Long enough that a list cuts it within the token.
    let goal = format!("Put the new token of the gateway, {token}, into the vault");
    run(&["create", "--goal", &goal, "--next", "Now", "--session", &format!("s-{token}")]);
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["list", "--fields", "goal,session_id"],
        &["list", "--fields", "goal,session_id", "--json"],
        &["show"],
        &["show", "--json"],
        &["log"],
        &["log", "--json"],
    ] {
        let said = run(arguments);
        assert!(!said.contains("q7Rz2mXk9TbW"), "{arguments:?}: {said}");
    }
    // The very document.
    assert!(run(&["export"]).contains(&token));
}
