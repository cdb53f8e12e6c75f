//! `kgctx check` of a note with 300,000 links, at full size: the time grows with them, and not with their square.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::sized;
use crate::support::{Scratch, git, stderr};

const LINKS: usize = sized(300_000);
const FORMS: [&str; 4] = [
    "`src/gone.rs` `src/#.rs` ",
    "$1 [x](gone-#.md) ",
    "[x](#) password=h#Zq9 ",
    "`[x](#.md)` [x](#.md) ",
];
/// In square time, the larger note would take many times as long in any build.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_note_of_many_links_takes_no_square_time() {
    let time_for = |n_links: usize| {
        let scratch = Scratch::new();
        let mut text = String::new();
        for form in FORMS {
            for n in 0..n_links / FORMS.len() {
                text.write_str(&form.replace('#', &n.to_string())).unwrap();
            }
        }
        scratch.write("atlas/docs/a.md", &text);
        scratch.write("atlas/docs/b.md", "# B\n");
        scratch.write("atlas/src/main.rs", "");
        git(&scratch.path().join("atlas"), &["init", "-q"]);
        let started = Instant::now();
        let arguments = ["check", "--dir", "atlas", "--format", "json"];
        let output = scratch.kgctx(arguments).output().unwrap();
        assert_eq!(stderr(&output), "");
        started.elapsed()
    };
    let (few, many) = (time_for(LINKS / 8), time_for(LINKS));
    // Eight times as many take sixty-four times as long in square time. A busy machine is no proof of that.
    assert!(many < few * 24 || many < LONG / 6, "{few:?}, then {many:?}");
}
