//! A stand-in for the `maenifold` program, for tests: the real one needs .NET and cannot be installed here.
//!
//! It imitates the command line of github.com/msbrettorg/maenifold, `main` at 8b93684 of 2026-02-20, with `--json` as from
//! 1.0.5; with `STAND_IN=plain` it knows text alone, as 1.0.3 and 1.0.4. Its outputs were constructed from the code that
//! formats them; what the real one answered (`fixtures/maenifold/real`) was compared with them later. It is a reading of its own of those rules and shares no
//! code with kgctx, so that a comparison of the two means something.
//!
//! SearchMemories, RecentActivity and BuildContext answer from what is really in `$MAENIFOLD_ROOT`; Sync makes the database.
//! All leave behind what maenifold leaves behind. What it does not do: it finds nothing by meaning, as on a machine where
//! sqlite-vec does not load (`semanticResultCount` is 0), knows no tags, no `learn` and no previews in BuildContext, has
//! communities only where the table has rows, and its assets are one small file.
//!
//! `STAND_IN` asks for misbehaviour (see `mischief`), `STAND_IN_NOW` sets the clock, `STAND_IN_LOG` names a log of calls.

#![expect(clippy::disallowed_methods, reason = "a program of its own, which is all outside world")]

#[path = "maenifold/call_log.rs"]
mod call_log;
#[path = "maenifold/context.rs"]
mod context;
#[path = "maenifold/cost.rs"]
mod cost;
#[path = "maenifold/decay.rs"]
mod decay;
#[path = "maenifold/json.rs"]
mod json;
#[path = "maenifold/markdown.rs"]
mod markdown;
#[path = "maenifold/mischief.rs"]
mod mischief;
#[path = "maenifold/payload.rs"]
mod payload;
#[path = "maenifold/places.rs"]
mod places;
#[path = "maenifold/recent.rs"]
mod recent;
#[path = "maenifold/search.rs"]
mod search;
#[path = "maenifold/seed.rs"]
mod seed;
#[path = "maenifold/sync.rs"]
mod sync;
#[path = "maenifold/timespan.rs"]
mod timespan;

use std::env;
use std::io::Write;
use std::process::ExitCode;

use call_log::Logged;
use mischief::Mischief;
use payload::Payload;
use places::Places;
use search::Searched;

const USAGE: &str = r#"maenifold CLI

Usage:
  maenifold --mcp
  maenifold --tool <name> --payload '<json>' [--json]
"#;

/// The code with which it ends where a test asks for what it does not know.
const MISUSED: u8 = 64;

/// An exception that reaches the top: its code with `--json`, and its message.
pub(crate) struct Thrown {
    code: &'static str,
    pub(crate) message: String,
}

impl Thrown {
    pub(crate) fn payload(message: &str) -> Thrown {
        Thrown { code: "INVALID_PAYLOAD", message: message.to_owned() }
    }

    pub(crate) fn argument(message: &str) -> Thrown {
        Thrown { code: "INVALID_ARGUMENT", message: message.to_owned() }
    }

    pub(crate) fn internal(message: &str) -> Thrown {
        Thrown { code: "INTERNAL_ERROR", message: message.to_owned() }
    }
}

impl From<rusqlite::Error> for Thrown {
    fn from(error: rusqlite::Error) -> Thrown {
        let code = error.sqlite_error().map_or(1, |error| error.extended_code & 0xff);
        Thrown::internal(&format!("SQLite Error {code}: '{error}'."))
    }
}

impl From<std::io::Error> for Thrown {
    fn from(error: std::io::Error) -> Thrown {
        Thrown::internal(&error.to_string())
    }
}

/// What stands on the command line.
pub(crate) struct Arguments {
    all: Vec<String>,
    tool: Option<String>,
    payload: Option<String>,
    is_json: bool,
}

impl Arguments {
    fn read() -> Arguments {
        let all: Vec<String> = env::args_os()
            .skip(1)
            .map(|argument| argument.to_string_lossy().into_owned())
            .collect();
        let after = |name: &str| {
            let at = all.iter().position(|argument| argument == name)?;
            all.get(at + 1).cloned()
        };
        let (tool, payload) = (after("--tool"), after("--payload"));
        let is_json = all.iter().any(|argument| argument == "--json");
        Arguments { tool, payload, is_json, all }
    }

    /// The concept that a call is about.
    fn concept(&self) -> Option<String> {
        let payload: serde_json::Value = serde_json::from_str(self.payload.as_deref()?).ok()?;
        Some(payload["conceptName"].as_str()?.to_owned())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::read();
    let log = Logged::start(&arguments);
    let places = Places::locate();
    places.unpack();
    let concept = arguments.concept();
    let mischiefs = match Mischief::asked(arguments.tool.as_deref(), concept.as_deref()) {
        Ok(mischiefs) => mischiefs,
        Err(unknown) => {
            let _ = writeln!(std::io::stderr(), "STAND_IN asks for {unknown:?}, which is unknown");
            return ExitCode::from(MISUSED);
        }
    };
    if mischiefs.contains(&Mischief::Costs) {
        cost::burn(cost::START);
    }
    for mischief in &mischiefs {
        mischief.before();
    }
    let mut answer = answer(&places, &arguments, &mischiefs).into_bytes();
    for mischief in &mischiefs {
        mischief.spoil(&mut answer);
    }
    Mischief::say(&mischiefs, &answer);
    log.end();
    let code = mischiefs.iter().find_map(|mischief| match mischief {
        Mischief::Exit(code) => Some(*code),
        _ => None,
    });
    ExitCode::from(code.unwrap_or(0))
}

/// Everything that goes to standard output.
fn answer(places: &Places, arguments: &Arguments, mischiefs: &[Mischief]) -> String {
    let has = |mischief| mischiefs.contains(&mischief);
    let is_json = arguments.is_json && !has(Mischief::Plain);
    let (Some(tool), Some(payload), false) =
        (&arguments.tool, &arguments.payload, has(Mischief::Usage))
    else {
        return format!("{USAGE}\n");
    };
    places.ensure_folders();
    let told = if has(Mischief::Empty) {
        return String::new();
    } else if has(Mischief::UnknownTool) {
        Ok(None)
    } else if has(Mischief::Error) {
        Err(Thrown::internal("SQLite Error 5: 'database is locked'."))
    } else if has(Mischief::Renamed) {
        Ok(Some(renamed(is_json).to_owned()))
    } else {
        told(places, tool, payload, is_json, mischiefs)
    };
    let answer = match told {
        Ok(Some(answer)) => answer,
        Ok(None) => {
            let message = format!("Unknown tool: {tool}");
            if is_json { json::fail("UNKNOWN_TOOL", &message) } else { message }
        }
        Err(thrown) => {
            let message = format!("Error invoking {tool}: {}", thrown.message);
            if is_json { json::fail(thrown.code, &message) } else { message }
        }
    };
    answer + "\n"
}

/// What a tool answers; `None` of one that is unknown.
fn told(
    places: &Places,
    tool: &str,
    payload: &str,
    is_json: bool,
    mischiefs: &[Mischief],
) -> Result<Option<String>, Thrown> {
    let payload = Payload::parse(payload)?;
    let tool = tool.to_lowercase();
    if mischiefs.contains(&Mischief::Costs) {
        cost::burn(cost::of(places, &tool, &payload)?);
    }
    if mischiefs.contains(&Mischief::Seed)
        && let Some(answer) = seed::answer(places, &tool, &payload)?
    {
        return Ok(Some(answer));
    }
    Ok(Some(match tool.as_str() {
        "searchmemories" => match search::search(places, &payload)? {
            Searched::Sentence(sentence) => sentence.to_owned(),
            Searched::Page(page) if is_json => page.json(),
            Searched::Page(page) => page.text(),
        },
        "recentactivity" => recent::recent(places, &payload)?,
        "buildcontext" => context::context(places, &payload)?.text(),
        "sync" => sync::sync(places)?,
        _ => return Ok(None),
    }))
}

/// A form that nobody knows.
fn renamed(is_json: bool) -> &'static str {
    if is_json {
        r#"{"ok":true,"hits":[{"id":"tech/auth-note","rank":1}]}"#
    } else {
        "== maenifold ==\n1) tech/auth-note ~ rank 1"
    }
}
