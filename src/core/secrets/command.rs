//! Finds passwords that a program is given without a name: `mysql -pVALUE`, `sshpass -p VALUE`, and in `.netrc`
//! `login kim password VALUE`.

use std::sync::LazyLock;

use memchr::memmem::{self, Finder};

use super::extent::{line_of, written};
use super::runs::{Alphabet, Runs};
use super::{FoundSecret, assignment, value};

/// How far back the program's name is looked for, on the same line.
const LINE: usize = 256;

/// No command with a password is shorter.
const SHORTEST: usize = 14;

/// Prepared once: most texts are short.
static FLAG: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" -"));
static PASSWORD: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("password "));
static PASS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("pass "));
static SETTERS: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["ENV ", "setenv ", "set -x ", "set -gx "].map(Finder::new));

/// Words that a password follows, in files of settings and as options: `requirepass VALUE`, `keytool -storepass VALUE`.
const BEFORE: [&[u8]; 3] = [b"requirepass ", b"storepass ", b"keypass "];

/// How a program is given its password.
struct Flag {
    program: &'static str,
    flag: &'static str,
    /// Whether the value may follow without a blank, and with one.
    joined: bool,
    apart: bool,
}

const fn flag(program: &'static str, flag: &'static str, joined: bool, apart: bool) -> Flag {
    Flag { program, flag, joined, apart }
}

const FLAGS: &[Flag] = &[
    flag("mysql", "-p", true, false),
    flag("mariadb", "-p", true, false),
    flag("sshpass", "-p", true, true),
    flag("mongo", "-p", false, true),
    flag("docker login", "-p", true, true),
    flag("podman login", "-p", true, true),
    flag("az login", "-p", false, true),
    flag("7z", "-p", true, false),
    flag("sqlcmd", "-P", true, true),
    flag("bcp", "-P", true, true),
    flag("zip", "-P", false, true),
    flag("redis-cli", "-a", false, true),
    flag("ldapsearch", "-w", true, true),
    flag("ldapmodify", "-w", true, true),
];

/// Finds all of them.
pub(super) fn find(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    let text = runs.text;
    if text.len() < SHORTEST {
        return;
    }
    for dash in FLAG.find_iter(text) {
        if matches!(text.get(dash + 2), Some(b'p' | b'P' | b'a' | b'w')) {
            all.extend(behind_flag(runs, dash + 1));
        }
    }
    for word in PASSWORD.find_iter(text) {
        let is_word = word == 0 || text[word - 1].is_ascii_whitespace();
        if is_word && is_in_netrc(&text[word.saturating_sub(LINE)..word]) {
            all.extend(judged(runs, word + PASSWORD.needle().len()));
        }
    }
    for word in PASS.find_iter(text) {
        let end = word + PASS.needle().len();
        if BEFORE.iter().any(|before| text[..end].ends_with(before)) {
            all.extend(judged(runs, end));
        }
    }
    find_variables(runs, all);
}

/// Finds the values of variables that a `Dockerfile` or a shell sets: `ENV DB_PASSWORD value`, `setenv API_TOKEN value`.
fn find_variables(runs: &mut Runs, all: &mut Vec<FoundSecret>) {
    for setter in SETTERS.iter() {
        for at in setter.find_iter(runs.text) {
            let end = runs.end(Alphabet::Word, at + setter.needle().len());
            let line = line_of(&runs.text[..at]);
            let is_first = line.iter().all(|byte| b" \t$%>".contains(byte));
            if is_first && runs.text[end..].starts_with(b" ") {
                all.extend(assignment::named(runs, end, end + 1, |_| true));
            }
        }
    }
}

fn behind_flag(runs: &mut Runs, at: usize) -> Option<FoundSecret> {
    let text = runs.text;
    let near = &text[at.saturating_sub(LINE)..at];
    let line = &near[memchr::memrchr(b'\n', near).map_or(0, |end| end + 1)..];
    let start = at + 2;
    let is_apart = text.get(start) == Some(&b' ');
    let fits = |flag: &&Flag| {
        let is_given = if is_apart { flag.apart } else { flag.joined };
        is_given
            && text[at..].starts_with(flag.flag.as_bytes())
            && memmem::find(line, flag.program.as_bytes()).is_some()
    };
    FLAGS.iter().find(fits)?;
    judged(runs, start + usize::from(is_apart))
}

/// Whether the text before `password` is that of a `.netrc`: `login kim`, `login kim account a`.
fn is_in_netrc(before: &[u8]) -> bool {
    let mut words = before.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut field = || {
        let _value = words.next();
        words.next()
    };
    match field() {
        Some(b"account") => field() == Some(b"login"),
        name => name == Some(b"login"),
    }
}

/// The value at `start`, if it is a password.
fn judged(runs: &mut Runs, start: usize) -> Option<FoundSecret> {
    let range = written(runs, start)?.range;
    let secret = &runs.text[range.clone()];
    value::is_password(secret).then_some(FoundSecret { range, kind: "env-assignment" })
}
