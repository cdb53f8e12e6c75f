//! The same state gives the same bytes: in every process, at every hour, in every zone, however the files got there.

use std::fs;
use std::path::Path;

use super::sized;
use crate::support::hostile_text::{Random, hostile_text};
use crate::support::{Scratch, write_ago};

const HOUR: u64 = 3_600;

/// Notes of a project called zephyr: half of them of the last hours, half of them old.
fn notes() -> Vec<(String, String, u64)> {
    let mut random = Random::new(11);
    (0..40)
        .map(|n| {
            let text =
                format!("{}\n\nOf zephyr and [[shared-{}]].\n", hostile_text(&mut random), n % 6);
            let hours_ago = if n % 2 == 0 { 2 + n / 8 } else { 100 + n };
            // Two notes of each time: their names decide.
            (format!("area-{}/note-{n}.md", n % 3), text, (hours_ago as u64) * HOUR)
        })
        .collect()
}

fn write(root: &Path, notes: &[(String, String, u64)]) {
    for (path, text, seconds_ago) in notes {
        let path = root.join("zephyr/docs").join(path);
        let name = path.file_name().unwrap().to_str().unwrap();
        write_ago(path.parent().unwrap(), name, text, *seconds_ago);
    }
    fs::create_dir_all(root.join("zephyr/.kgctx")).unwrap();
}

fn inject(scratch: &Scratch, now: &str, variables: &[(&str, &str)]) -> String {
    let mut command = scratch.kgctx(["--dir", "zephyr", "inject", "--session", "s", "--dry-run"]);
    let output = command.args(["--now", now]).envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_same_state_gives_the_same_bytes() {
    let first = Scratch::new();
    write(&first.path(), &notes());
    let expect = inject(&first, "2026-11-15T12:00:00Z", &[]);
    assert!(expect.len() > 3_000, "{expect}");
    for run in 0..sized(100) {
        // Every hour at which the same notes are of the last day, which goes past midnight.
        let hour = 12 + run % 17;
        let now = format!("2026-11-{}T{:02}:30:00Z", 15 + hour / 24, hour % 24);
        let zone = ["UTC", "Asia/Tokyo", "America/St_Johns", "<+14>-14"][run % 4];
        let locale = ["C", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.SJIS"][run / 4 % 4];
        let variables = [("TZ", zone), ("LANG", locale), ("LC_ALL", locale)];
        assert_eq!(inject(&first, &now, &variables), expect, "run {run} at {now} in {zone}");
        if run % 10 == 9 {
            fs::remove_dir_all(first.path().join("kgctx-home/cache")).unwrap();
        }
    }
}

#[test]
fn the_order_in_which_files_were_written_does_not_matter() {
    let first = Scratch::new();
    let notes = notes();
    write(&first.path(), &notes);
    let expect = inject(&first, "2026-11-15T12:00:00Z", &[]);
    let second = Scratch::new();
    let (half, rest) = notes.split_at(17);
    let backwards: Vec<_> = rest.iter().rev().cloned().collect();
    write(&second.path(), &backwards);
    inject(&second, "2026-11-15T12:00:00Z", &[]);
    // The rest comes as a change to an index that is there.
    write(&second.path(), half);
    assert_eq!(inject(&second, "2026-11-15T12:00:00Z", &[]), expect);
}
