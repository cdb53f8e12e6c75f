//! Why a request to a server failed, and how to fix it.

use std::error::Error;
use std::io;
use std::iter;
use std::time::Duration;

use bytes::Bytes;
use thiserror::Error as ThisError;

use super::http::HttpReply;
use super::wire::Refusal;

/// The longest quotation of a server's message.
const MAX_QUOTED_CHARS: usize = 300;

pub(super) type ServerResult<T> = Result<T, ServerError>;

/// Addresses are without credentials. A `message` is the server's own.
#[derive(Debug, ThisError)]
pub enum ServerError {
    /// No connection: no process listens, or the host cannot be resolved.
    #[error(
        "no OpenCode server at {address}: {cause}; start one there (`opencode serve --port …`), or fix the address"
    )]
    Unreachable { address: String, cause: io::Error },
    /// No reply in time. A message that was being stored may be stored nevertheless.
    #[error(
        "{address} did not answer within {limit:?}; a server that is still starting accepts connections but never \
        answers them: try again once it reports that it is listening"
    )]
    Silent { address: String, limit: Duration },
    /// The event stream stopped: the server ended, or the connection broke.
    #[error("the events of {address} stopped: {cause}; connect again")]
    Lost { address: String, cause: String },
    /// The password is missing or wrong.
    #[error(
        "{address} needs a password, or another one; set OPENCODE_SERVER_PASSWORD (and OPENCODE_SERVER_USERNAME, if \
        it has one) to the server's values"
    )]
    Unauthorized { address: String },
    #[error("{address} says: {message}; it may have been deleted")]
    NotFound { address: String, message: String },
    #[error("{address} says: {message}; try again when it is idle")]
    Busy { address: String, message: String },
    /// The server rejected the request.
    #[error(
        "{address} rejected this request ({status}): {message}; its version may not match this kgctx: update the \
        older one"
    )]
    Rejected { address: String, status: u16, message: String },
    /// The server failed. OpenCode also reports an unknown agent this way. `reference` is the
    /// server's log entry, such as `ref err_1a2b3c4d`.
    #[error("{address} failed ({status}, {reference}); its log says why")]
    Failed { address: String, status: u16, reference: String },
    /// A reply that is not from OpenCode's API, by its content type: its web page, or another
    /// program.
    #[error(
        "{address} answers with {content} instead of OpenCode's API; check host, port and path, or update OpenCode"
    )]
    NotApi { address: String, content: String },
    /// A reply that is incomplete or cannot be parsed: the connection broke, or the JSON is wrong.
    #[error("the answer of {address} is broken: {cause}; try again, or see the server's log")]
    Broken { address: String, cause: String },
    /// A text that is not a session id. It was not sent.
    #[error("{id:?} is not the id of an OpenCode session; ids look like ses_1a2B3c4D")]
    NoSessionId { id: String },
}

impl ServerError {
    /// Maps a reply to an error; `None` for a success with JSON.
    pub(super) fn of_answer(address: String, answer: &HttpReply<Bytes>) -> Option<ServerError> {
        let HttpReply { status, content_type, body } = answer;
        let is_json = is_kind(content_type, "application/json");
        if status.is_success() && is_json {
            return None;
        }
        let refusal: Refusal = serde_json::from_slice(body).unwrap_or_default();
        let message = || match refusal.data.message.as_ref().or(refusal.message.as_ref()) {
            Some(message) => quoted(message),
            None if is_json || body.is_empty() => "it gave no reason".to_owned(),
            None => quoted(&String::from_utf8_lossy(body)),
        };
        Some(match status.as_u16() {
            401 => ServerError::Unauthorized { address },
            404 if is_json => ServerError::NotFound { address, message: message() },
            409 => ServerError::Busy { address, message: message() },
            status @ 400..=499 if status != 404 => {
                ServerError::Rejected { address, status, message: message() }
            }
            status @ 500.. => {
                let reference = match &refusal.data.reference {
                    Some(name) => quoted(&format!("ref {name}")),
                    None => "without a ref".to_owned(),
                };
                ServerError::Failed { address, status, reference }
            }
            _ => ServerError::not_api(address, content_type),
        })
    }

    /// The error for a reply of another content type than OpenCode's API uses.
    pub(super) fn not_api(address: String, content_type: &str) -> ServerError {
        let is_named = !content_type.is_empty();
        let content = quoted(if is_named { content_type } else { "nothing that it names" });
        ServerError::NotApi { address, content }
    }
}

/// Joins an error with its sources: hyper's outer errors are vague, the inner ones name the cause.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let errors = iter::successors(Some(error), |&error| error.source());
    errors.map(|error| error.to_string()).collect::<Vec<_>>().join(": ")
}

/// Whether a content type is `kind`; ignores its parameters.
pub(super) fn is_kind(content_type: &str, kind: &str) -> bool {
    let named = content_type.split(';').next().unwrap_or_default();
    named.trim().eq_ignore_ascii_case(kind)
}

/// Puts a server's message on one line, without control characters that could affect a terminal.
fn quoted(text: &str) -> String {
    let words = text.split(|c: char| c.is_control() || c.is_whitespace());
    let line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    line.chars().take(MAX_QUOTED_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;

    use super::*;

    fn error(status: u16, content_type: &str, body: &str) -> Option<ServerError> {
        let status = StatusCode::from_u16(status).unwrap();
        let body = body.to_owned().into();
        let answer = HttpReply { status, content_type: content_type.to_owned(), body };
        ServerError::of_answer("http://h:1".into(), &answer)
    }

    #[test]
    fn every_recorded_answer_is_told_from_the_others() {
        let json = "application/json";
        for (status, kind, body, expected) in [
            (
                401,
                "",
                "",
                "http://h:1 needs a password, or another one; set OPENCODE_SERVER_PASSWORD",
            ),
            (
                404,
                json,
                r#"{"name":"NotFoundError","data":{"message":"Session not found: ses_x"}}"#,
                "http://h:1 says: Session not found: ses_x; it may have been deleted",
            ),
            (
                409,
                json,
                r#"{"_tag":"SessionBusyError","sessionID":"ses_x","message":"Session is busy: ses_x"}"#,
                "Session is busy: ses_x; try again when it is idle",
            ),
            (
                400,
                json,
                r#"{"name":"BadRequest","data":{"message":"Missing key\n  at [\"parts\"]","kind":"Payload"}}"#,
                "rejected this request (400): Missing key at [\"parts\"]; its version",
            ),
            (
                415,
                "text/plain",
                "Unsupported content-type: text/plain",
                "(415): Unsupported content-type: text/plain;",
            ),
            (
                500,
                json,
                r#"{"name":"UnknownError","data":{"message":"Unexpected server error.","ref":"err_beedf23b"}}"#,
                "http://h:1 failed (500, ref err_beedf23b); its log says why",
            ),
            (502, "text/html", "<html>", "failed (502, without a ref)"),
            (200, "text/html; charset=utf-8", "<!doctype html>", "answers with text/html"),
            (200, "", "{}", "answers with nothing that it names instead of OpenCode's API"),
            (404, "text/html", "<html>", "answers with text/html"),
            (302, "", "", "instead of OpenCode's API"),
            (204, json, "", ""),
            (200, "Application/JSON; charset=utf-8", "{}", ""),
        ] {
            match error(status, kind, body) {
                None => assert_eq!(expected, "", "{status} {kind}"),
                Some(error) => {
                    let text = error.to_string();
                    assert!(!expected.is_empty() && text.contains(expected), "{status}: {text}");
                }
            }
        }
    }

    #[test]
    fn a_servers_words_stay_on_one_short_line() {
        let body = format!(r#"{{"data":{{"message":"a\u001b[2J\r\nb{}"}}}}"#, "x".repeat(9_000));
        let text = error(400, "application/json", &body).unwrap().to_string();
        assert!(text.contains("a [2J b") && text.len() < 600, "{text}");
        assert!(!text.contains(char::is_control), "{text}");
    }
}
