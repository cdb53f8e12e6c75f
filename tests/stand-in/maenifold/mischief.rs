//! What a maenifold that misbehaves does, as the variable `STAND_IN` asks for it: names with commas between them, each
//! for all tools, for one (`BuildContext=hang`), or for the concept that it is asked about (`mast=hang`).

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::places;

/// As good as for ever, for a test; and nothing stays for good when a test forgets it.
const FOR_EVER: Duration = Duration::from_secs(600);
const FLOOD_BYTES: usize = 100 * 1024 * 1024;
const STDERR_BYTES: usize = 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mischief {
    /// Never answers, and has a child that never does, and holds the same pipe.
    Hang,
    /// Takes as much processor time as the real one.
    Costs,
    /// Answers after so many milliseconds.
    Slow(u64),
    /// Answers with one byte every so many milliseconds.
    Drip(u64),
    /// Does not stop talking before 100 MB.
    Flood,
    /// Dies by SIGABRT.
    Abort,
    /// Prints its usage.
    Usage,
    /// Does not know the tool.
    UnknownTool,
    /// Has bytes in its answer that are no UTF-8.
    BadUtf8,
    /// Answers with the first half.
    Truncated,
    /// Does not know `--json`, as 1.0.4.
    Plain,
    /// Answers in the shapes that SPEC-2 expected.
    Seed,
    /// Fails inside of the tool.
    Error,
    /// Says nothing.
    Empty,
    /// Complains at length on standard error, and answers.
    Stderr,
    /// Answers in a form that nobody knows.
    Renamed,
    /// Answers, and ends with this code.
    Exit(u8),
}

impl Mischief {
    /// What is asked for of a tool; the name of a mischief that is unknown, which no test may take for a good answer.
    pub(crate) fn asked(
        tool: Option<&str>,
        concept: Option<&str>,
    ) -> Result<Vec<Mischief>, String> {
        let asked = places::text("STAND_IN").unwrap_or_default();
        let mut mischiefs = Vec::new();
        for item in asked.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let (of, name) =
                item.split_once('=').map_or((None, item), |(of, name)| (Some(of), name));
            let mischief = Mischief::named(name).ok_or_else(|| item.to_owned())?;
            let is_it = |of: &str| {
                [tool, concept].into_iter().flatten().any(|it| it.eq_ignore_ascii_case(of))
            };
            if of.is_none_or(is_it) {
                mischiefs.push(mischief);
            }
        }
        Ok(mischiefs)
    }

    fn named(name: &str) -> Option<Mischief> {
        let (name, number) = name.split_once(':').unwrap_or((name, ""));
        Some(match name {
            "hang" => Mischief::Hang,
            "costs" => Mischief::Costs,
            "slow" => Mischief::Slow(number.parse().ok()?),
            "drip" => Mischief::Drip(number.parse().ok()?),
            "flood" => Mischief::Flood,
            "abort" => Mischief::Abort,
            "usage" => Mischief::Usage,
            "unknown-tool" => Mischief::UnknownTool,
            "bad-utf8" => Mischief::BadUtf8,
            "truncated" => Mischief::Truncated,
            "plain" => Mischief::Plain,
            "seed" => Mischief::Seed,
            "error" => Mischief::Error,
            "empty" => Mischief::Empty,
            "stderr" => Mischief::Stderr,
            "renamed" => Mischief::Renamed,
            "exit" => Mischief::Exit(number.parse().ok()?),
            _ => return None,
        })
    }

    /// What it does before there is an answer.
    pub(crate) fn before(self) {
        match self {
            Mischief::Hang => {
                let seconds = FOR_EVER.as_secs().to_string();
                let child = Command::new("sleep").arg(seconds).stdin(Stdio::null()).spawn();
                thread::sleep(FOR_EVER);
                // It sleeps as long as this process.
                drop(child.map(|mut child| child.wait()));
            }
            Mischief::Slow(milliseconds) => thread::sleep(Duration::from_millis(milliseconds)),
            Mischief::Abort => std::process::abort(),
            Mischief::Stderr => {
                let complaint = "[SYNC TELEMETRY] Processing files\n";
                let complaints = complaint.repeat(STDERR_BYTES / complaint.len());
                let _ = io::stderr().write_all(complaints.as_bytes());
            }
            _ => {}
        }
    }

    /// What it does to an answer.
    pub(crate) fn spoil(self, answer: &mut Vec<u8>) {
        match self {
            Mischief::Truncated => answer.truncate(answer.len() / 2),
            Mischief::BadUtf8 => {
                let text = String::from_utf8_lossy(answer).into_owned();
                let inside = ["\"title\":\"", "📄 **", "  Title: "]
                    .iter()
                    .find_map(|mark| text.find(mark).map(|at| at + mark.len()))
                    .or_else(|| text.find(" (co-occurs"))
                    .unwrap_or(answer.len());
                answer.splice(inside..inside, *b"\xff\xfe\x80");
            }
            _ => {}
        }
    }

    /// How it says an answer. Whoever does not listen any more misses the rest.
    pub(crate) fn say(mischiefs: &[Mischief], answer: &[u8]) {
        let mut stdout = io::stdout().lock();
        let pause = mischiefs.iter().find_map(|mischief| match mischief {
            Mischief::Drip(milliseconds) => Some(Duration::from_millis(*milliseconds)),
            _ => None,
        });
        if let Some(pause) = pause {
            for byte in answer {
                if stdout.write_all(&[*byte]).and_then(|()| stdout.flush()).is_err() {
                    return;
                }
                thread::sleep(pause);
            }
        } else if stdout.write_all(answer).is_err() {
            return;
        }
        if mischiefs.contains(&Mischief::Flood) {
            let line = b"maenifold goes on and on, and nobody knows what about\n".repeat(1_000);
            let mut n_written = 0;
            while n_written < FLOOD_BYTES && stdout.write_all(&line).is_ok() {
                n_written += line.len();
            }
        }
        let _ = stdout.flush();
    }
}
