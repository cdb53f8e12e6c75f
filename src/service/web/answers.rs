//! The answers to the page's questions: those of the commands, as their `--json` prints them.

use hyper::StatusCode;
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::app::handoff::{HandoffError, Handoffs, Listed};
use crate::app::monitor::{SessionFill, sessions};
use crate::app::{explain, question};
use crate::core::handoff::TypedId;
use crate::core::secrets;
use crate::core::text::for_terminal;
use crate::workspace::{AppError, Place, Request};

const JSON: &str = "application/json; charset=utf-8";
/// A line for each step, as the log prints them.
const JSON_LINES: &str = "application/jsonl; charset=utf-8";
const MOST_NOTES: usize = 20;
const MOST_CONCEPTS: usize = 16;
const MOST_STEPS: usize = 200;

/// What is sent to the page.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) body: String,
    /// What a person may want to know beside the answer; percent-encoded lines.
    pub(super) remarks: String,
}

impl Answer {
    fn refused(status: StatusCode, error: &str) -> Answer {
        let error = for_terminal::lines(&secrets::mask(error)).into_owned();
        let body = json!({ "error": error }).to_string();
        Answer { status, kind: JSON, body, remarks: String::new() }
    }

    pub(super) fn failed() -> Answer {
        let error = "kgctx failed to answer because of a bug; please report it";
        Answer::refused(StatusCode::INTERNAL_SERVER_ERROR, error)
    }
}

/// The parameters of a question.
#[derive(Debug)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn parse(text: &str) -> Query {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
        Query(pairs.map(|(name, value)| (decoded(name), decoded(value))).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn wanted(&self, name: &str) -> Result<&str, Refused> {
        let value = self.get(name).filter(|value| !value.trim().is_empty());
        value.ok_or_else(|| Refused::wrong(format!("this question needs ?{name}=")))
    }
}

/// A question without an answer.
struct Refused {
    status: StatusCode,
    error: String,
}

impl Refused {
    fn wrong(error: String) -> Refused {
        Refused { status: StatusCode::BAD_REQUEST, error }
    }

    fn none(error: String) -> Refused {
        Refused { status: StatusCode::NOT_FOUND, error }
    }
}

impl From<AppError> for Refused {
    fn from(error: AppError) -> Refused {
        Refused { status: StatusCode::SERVICE_UNAVAILABLE, error: error.to_string() }
    }
}

impl From<HandoffError> for Refused {
    fn from(error: HandoffError) -> Refused {
        match error {
            HandoffError::No(reason) => Refused::none(reason),
            error => Refused { status: StatusCode::SERVICE_UNAVAILABLE, error: error.to_string() },
        }
    }
}

pub(super) fn answer(place: &Request, question: &str, query: &Query) -> Answer {
    let mut remarks = Vec::new();
    let mut remark = |text: String| remarks.push(secrets::mask(&text).into_owned());
    let answered = match question {
        "whoami" => whoami(place),
        "monitor" => monitor(place),
        "contexts" => explain::list(place).map_err(Refused::from).and_then(|list| text(&list)),
        "explain" => explained(place, query),
        "handoffs" => handoffs(place, query),
        "handoff" => handoff(place, query),
        "log" => log(place, query),
        "search" => query
            .wanted("q")
            .and_then(|words| text(&question::found(place, &mut remark, words, MOST_NOTES)?)),
        "context" => query.wanted("concept").and_then(|concept| {
            text(&question::around(place, &mut remark, concept, MOST_CONCEPTS)?)
        }),
        _ => Err(Refused::none("the page asks for something that this kgctx does not know".into())),
    };
    let kind = if question == "log" { JSON_LINES } else { JSON };
    let remarks = utf8_percent_encode(&remarks.join("\n"), NON_ALPHANUMERIC).to_string();
    match answered {
        Ok(body) => Answer { status: StatusCode::OK, kind, body, remarks },
        Err(Refused { status, error }) => Answer { remarks, ..Answer::refused(status, &error) },
    }
}

type Answered = Result<String, Refused>;

fn text(value: &impl Serialize) -> Answered {
    let unwritten = |error: serde_json::Error| Refused {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        error: error.to_string(),
    };
    serde_json::to_string(value).map_err(unwritten)
}

/// `kgctx whoami --json`
fn whoami(place: &Request) -> Answered {
    text(&Place::find(place)?.project)
}

/// `kgctx monitor --json`
fn monitor(place: &Request) -> Answered {
    let sessions: Vec<Value> = sessions(place, None)?.iter().map(SessionFill::to_json).collect();
    text(&json!({ "sessions": sessions }))
}

/// `kgctx explain SESSION --json`
fn explained(place: &Request, query: &Query) -> Answered {
    let session = query.wanted("session")?;
    let none = || Refused::none(format!("no context has been made for session {session:?} yet"));
    text(&explain::look(place, session)?.ok_or_else(none)?)
}

/// `kgctx handoff list --json`, with `--all` or `--everywhere`
fn handoffs(place: &Request, query: &Query) -> Answered {
    let listed = match query.get("which") {
        None => Listed::Open,
        Some("all") => Listed::All,
        Some("everywhere") => Listed::Everywhere,
        Some(other) => return Err(Refused::wrong(format!("{other:?} is not a list of handoffs"))),
    };
    match Handoffs::look(place)? {
        Some(handoffs) => text(&handoffs.list_json(listed)?),
        None => {
            let channel = Place::find(place)?.project.channel;
            text(&json!({ "channel": channel, "handoffs": [] }))
        }
    }
}

/// `kgctx handoff show ID --json`
fn handoff(place: &Request, query: &Query) -> Answered {
    let id =
        TypedId::parse(query.wanted("id")?).map_err(|error| Refused::wrong(error.to_string()))?;
    let none = || Refused::none("there is no handoff yet".into());
    let handoffs = Handoffs::look(place)?.ok_or_else(none)?;
    let record = handoffs.find(Some(&handoffs.named(&id)?))?;
    text(&handoffs.show_json(&record)?)
}

/// `kgctx handoff log [ID] --json`
fn log(place: &Request, query: &Query) -> Answered {
    let typed = query.get("id").map(TypedId::parse).transpose();
    let typed = typed.map_err(|error| Refused::wrong(error.to_string()))?;
    let Some(handoffs) = Handoffs::look(place)? else { return Ok(String::new()) };
    let id = typed.map(|typed| handoffs.named(&typed)).transpose()?;
    let steps = handoffs.masked_log(id.as_ref(), MOST_STEPS)?;
    let lines = steps.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}
