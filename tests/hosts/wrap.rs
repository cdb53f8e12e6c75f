//! The wrapper in a real terminal, with small programs: keys reach them, and the terminal is as before whatever they did.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::support::Scratch;
use crate::window::Window;

/// A script that runs a wrapper in a shell with jobs, and says how the terminal was before and is after.
fn script(scratch: &Scratch, wrapped: &str) -> PathBuf {
    let place = scratch.path().display().to_string();
    let text = format!(
        "#!/bin/bash\nset -m\nstty -a > {place}/before\nkgctx wrap {wrapped}\ncode=$?\nstty -a > {place}/after\n\
         echo \"ENDED $code\"\nexec bash --norc -i\n"
    );
    let file = scratch.write("run", text);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    file
}

fn command(scratch: &Scratch, program: &Path) -> Command {
    let mut command = Command::new(program);
    let folder = Path::new(env!("CARGO_BIN_EXE_kgctx")).parent().unwrap();
    command.current_dir(scratch.path()).env_clear();
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    command.env("HOME", scratch.home()).env("KGCTX_HOME", scratch.path().join("kgctx-home"));
    command.env("PS1", "READY$ ");
    command
}

fn open<'a>(scratch: &'a Scratch, wrapped: &str, ready: &str) -> Option<Window<'a>> {
    let file = script(scratch, wrapped);
    Window::open(|program| command(scratch, program), scratch.path().join("tmux"), &file, ready)
}

#[track_caller]
fn is_in_order(scratch: &Scratch, window: &Window<'_>) {
    let read = |name: &str| fs::read_to_string(scratch.path().join(name)).unwrap();
    assert_eq!(read("after"), read("before"));
    let known =
        window.known("#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{bracket_paste_flag}");
    assert!(["0 1 0 0", "0 1 0", "0 1 0 1"].contains(&known.as_str()), "{known}");
}

#[test]
fn a_terminal_is_in_order_after_any_end() {
    let mess = r"stty raw -echo; printf '\033[?1049h\033[?25l\033[?1003h\033[?1006h'";
    for (end, code) in [("kill -9 $$", 137), ("kill -SEGV $$", 139)] {
        let scratch = Scratch::new();
        let wrapped = format!("-- sh -c \"{} ; {}\"", mess, end.replace('$', "\\$"));
        let Some(window) = open(&scratch, &wrapped, &format!("ENDED {code}")) else { return };
        is_in_order(&scratch, &window);
        window.write("echo typed-$((40 + 2))");
        window.key("Enter");
        window.wait_for("typed-42");
    }
    // Whoever ends by itself has left the screen as it should be; only the line's settings are restored.
    let scratch = Scratch::new();
    let Some(window) = open(&scratch, "-- sh -c 'stty raw -echo; exit 3'", "ENDED 3") else {
        return;
    };
    is_in_order(&scratch, &window);
}

#[test]
fn keys_reach_the_agent_and_a_stopped_one_goes_on() {
    let scratch = Scratch::new();
    let wrapped = r#"-- bash -c 'trap "echo got-INT" INT; while read -r line; do echo "heard $line"; done; exit 9'"#;
    let Some(window) = open(&scratch, wrapped, "") else { return };
    let say = |text: &str| {
        window.write(text);
        window.key("Enter");
    };
    say("one");
    window.wait_for("heard one");
    window.key("C-c");
    window.wait_for("got-INT");
    say("two");
    window.wait_for("heard two");
    window.key("C-d");
    window.wait_for("ENDED 9");
    is_in_order(&scratch, &window);
    // By hand in a shell: stopped and taken up again.
    say("kgctx wrap -- sh -c 'echo begun-$((1 + 1)); exec cat'");
    window.wait_for("begun-2");
    say("three");
    window.wait_for("three\nthree");
    window.key("C-z");
    window.wait_for("Stopped");
    say("fg");
    // A shell that hands the terminal over loses what is typed at that moment.
    thread::sleep(Duration::from_millis(500));
    say("four");
    window.wait_for("four\nfour");
    window.key("C-c");
    say("echo code-$?");
    window.wait_for("code-130");
}
