//! Watches how full the contexts of sessions are: for people, and for agents, which are told once at each level.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::app::rotation::can_rotate;
use crate::core::monitor::{Fill, Level, Measurement, TokenSource, WayOut, WindowSource};
use crate::core::settings::MonitorSettings;
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::hosts::claude_code::usage;
use crate::store::state::{ContextRecord, LiveContext, State, StatusLine};
use crate::system::clock;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::run;
use crate::workspace::{AppError, Place, Request, Surroundings};

/// How full the context of a live session is.
#[derive(Debug)]
pub struct SessionFill {
    pub session: String,
    pub channel: String,
    pub fill: Fill,
    /// When the window was told, in milliseconds since 1970; `None` if nobody tells it.
    pub window_at: Option<i64>,
    pub now: Timestamp,
}

impl SessionFill {
    pub fn to_json(&self) -> Value {
        let Fill { level, tokens, window: (window, window_from), percent, bytes } = &self.fill;
        let at = |ms: i64| Timestamp::from_milliseconds(ms).to_string();
        json!({
            "session": self.session,
            "channel": self.channel,
            "level": level,
            "tokens": tokens.map(|(used, ..)| used),
            "tokensFrom": tokens.map(|(_, source, _)| source),
            "tokensAt": tokens.and_then(|(.., time)| time).map(at),
            "window": window,
            "windowFrom": window_from,
            "windowAt": self.window_at.map(at),
            "percent": percent,
            "bytes": bytes,
            "status": self.fill.status_and_size(),
            "now": self.now.to_string(),
        })
    }
}

/// The live sessions of this user, the one that began last first. With an id, only that one.
pub fn sessions(request: &Request, session: Option<&str>) -> Result<Vec<SessionFill>, AppError> {
    let surroundings = Surroundings::find(request)?;
    let folder = &surroundings.directories.state;
    let Some(state) = State::look(folder, time_limits::STATE)? else { return Ok(Vec::new()) };
    let mut live = state.live_contexts()?;
    live.retain(|context| session.is_none_or(|session| context.session == session));
    Ok(live.into_iter().map(|context| measured(context, request)).collect())
}

fn measured(context: LiveContext, request: &Request) -> SessionFill {
    let LiveContext { session, channel, folder, record } = context;
    let there = Request { dir: Some(folder), ..request.clone() };
    let settings = Place::find(&there).map(|place| place.settings.monitor).unwrap_or_default();
    let transcript = record.transcript.as_deref();
    let fill = measure(&record, transcript, usage::MOST_BYTES).fill(&settings);
    let is_told = matches!(fill.window.1, WindowSource::StatusLine | WindowSource::Host);
    let window_at = record.window_at.filter(|_| is_told);
    SessionFill { session, channel, fill, window_at, now: clock::now() }
}

/// What the transcript tells, and else the status line.
pub(super) fn measure(
    record: &ContextRecord,
    transcript: Option<&Path>,
    most_bytes: u64,
) -> Measurement {
    let measured = transcript.and_then(|file| usage::measure(file, most_bytes).ok());
    let mut measured = measured.unwrap_or_default();
    let source = record.reserve.map_or(TokenSource::StatusLine, |_| TokenSource::Messages);
    let told = record.tokens.map(|(used, at)| (used, source, Some(at)));
    measured.tokens = measured.tokens.or(told);
    measured.model = measured.model.or_else(|| record.model.clone());
    (measured.window, measured.reserve) = (record.window, record.reserve);
    measured.compaction_window = record.compaction_window.filter(|_| record.reserve.is_none());
    measured
}

/// What is remembered of the session in whose environment this process runs.
pub(super) fn own(record: Option<ContextRecord>) -> ContextRecord {
    let mut record = record.unwrap_or_default();
    record.compaction_window = compaction_window();
    record
}

/// The window that the user lets the Claude Code of this environment fill, in tokens or, with a `k`, in thousands.
pub(super) fn compaction_window() -> Option<u64> {
    let environment = Environment::of_process();
    let text = environment.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW")?.to_str()?.trim();
    let thousands = text.strip_suffix(['k', 'K']);
    let number: u64 = thousands.unwrap_or(text).parse().ok()?;
    number.checked_mul(if thousands.is_some() { 1_000 } else { 1 })
}

/// What the agent of a session is told after a tool; `None` mostly. Never waits for long, and never fails.
pub(super) fn after_tool(session: &str, folder: &Path, transcript: &Path) -> Option<String> {
    let at = Request::lenient(folder.to_path_buf());
    let place = Place::find(&at).ok()?;
    let MonitorSettings { notify, .. } = &place.settings.monitor;
    if !place.settings.enabled.value || !notify.value || place.closed.is_some() {
        return None;
    }
    let folder = &place.directories.state;
    let looked = State::look(folder, time_limits::HOOK_STATE).ok().flatten();
    let known = looked.and_then(|state| state.context(session).ok()).flatten();
    let record = own(known.clone());
    let measured = measure(&record, Some(transcript), usage::SOON_BYTES);
    // So long an end without an answer says nothing of the context, and nor does the size of what is before it.
    let is_unknown = measured.tokens.is_none();
    if is_unknown && measured.bytes.is_some_and(|bytes| bytes > 2 * usage::SOON_BYTES) {
        return None;
    }
    let fill = measured.fill(&place.settings.monitor);
    let is_due = fill.level >= Level::Warn;
    // Most calls change nothing, and so write nothing. A compaction that no hook was told of ends what was told before it.
    if known.is_some()
        && (!is_due || (record.was_told(fill.level) && measured.compacted_ms.is_none()))
    {
        return None;
    }
    let mut state = State::open(folder, time_limits::HOOK_STATE).ok()?;
    let now_ms = clock::now_ms();
    if known.is_none_or(|known| known.transcript.as_deref() != Some(transcript)) {
        state.note_context(session, transcript, false, compaction_window(), now_ms).ok()?;
    }
    let sample_ms = fill.tokens.and_then(|(.., at)| at).unwrap_or(now_ms);
    let is_first = is_due
        && state.notify(session, fill.level, sample_ms, measured.compacted_ms, now_ms).ok()?;
    let way_out = match is_first && can_rotate(&at, &Environment::of_process()) {
        true => WayOut::Rotation,
        false => WayOut::Handoff,
    };
    fill.notice(way_out).filter(|_| is_first)
}

/// What a bridge tells of a session after an answer of its model.
pub(super) struct Used {
    pub(super) session: String,
    /// `None`: a summary has just replaced the conversation.
    pub(super) tokens: Option<u64>,
    pub(super) model: Option<String>,
    pub(super) window: Option<u64>,
    /// The tokens that the host keeps free.
    pub(super) reserve: u64,
    /// When the answer was there, and when the conversation was last replaced by a summary.
    pub(super) at_ms: Option<i64>,
    pub(super) compacted_ms: Option<i64>,
}

/// Records how full a session is, and returns what its agent is told of it; `None` mostly. Only for a session that was given
/// a context: others work for one.
pub(super) fn after_answer(used: Used, environment: Option<Environment>) -> Option<String> {
    let Used { session, tokens, model, window, reserve, at_ms, compacted_ms } = used;
    let process = environment.clone().unwrap_or_else(Environment::of_process);
    let folder = Directories::locate(&process).ok()?.state;
    let mut state = State::open_if_there(&folder, time_limits::HOOK_STATE).ok()??;
    let origin = state.session_origin(&session).ok()??;
    let now_ms = clock::now_ms();
    let reserve = Some(reserve);
    let said = StatusLine { window, tokens, model, reserve, compaction_window: None };
    state.note_status_line(&session, &said, None, now_ms).ok()?;
    let place = Place::find(&Request { environment, ..Request::lenient(origin.folder) }).ok()?;
    let settings = &place.settings;
    if !settings.enabled.value || !settings.monitor.notify.value || place.closed.is_some() {
        return None;
    }
    let record = state.context(&session).ok()??;
    let fill = measure(&record, None, 0).fill(&settings.monitor);
    let sample_ms = at_ms.unwrap_or(now_ms);
    let is_due = fill.level >= Level::Warn;
    let is_first =
        is_due && state.notify(&session, fill.level, sample_ms, compacted_ms, now_ms).ok()?;
    fill.notice(WayOut::Rotation).filter(|_| is_first)
}

/// What Claude Code tells its status line, as far as it matters here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawStatus {
    session_id: String,
    transcript_path: Option<PathBuf>,
    cwd: Option<PathBuf>,
    model: RawModel,
    context_window: RawWindow,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawModel {
    id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawWindow {
    total_input_tokens: Option<u64>,
    context_window_size: Option<u64>,
}

/// Remembers what a status line is told, and returns what it shows: the output of the user's own command, or how full the
/// context is. Whatever fails is only missing.
pub fn status_line(input: &[u8], command: &[String]) -> String {
    let noted = note_status_line(input);
    match command.is_empty() {
        true => noted.and_then(shown).unwrap_or_default(),
        false => {
            let input = String::from_utf8_lossy(input).into_owned();
            run::answer(command, input, time_limits::STATUS_LINE).unwrap_or_default()
        }
    }
}

/// Remembers what a status line is told. Returns the session with its folder, and what is told of it.
fn note_status_line(input: &[u8]) -> Option<(Option<PathBuf>, StatusLine)> {
    let raw: RawStatus = serde_json::from_slice(input).ok()?;
    let environment = Environment::of_process();
    let folder = Directories::locate(&environment).ok()?.state;
    let RawWindow { total_input_tokens: tokens, context_window_size: window } = raw.context_window;
    let (model, compaction_window) = (raw.model.id, compaction_window());
    let said = StatusLine { window, tokens, model, reserve: None, compaction_window };
    let mut began = None;
    let transcript = raw.transcript_path.filter(|path| !path.as_os_str().is_empty());
    if !raw.session_id.trim().is_empty()
        && let Ok(mut state) = State::open(&folder, time_limits::HOOK_STATE)
    {
        // Missing it costs a number that the next line brings.
        let _ =
            state.note_status_line(&raw.session_id, &said, transcript.as_deref(), clock::now_ms());
        began = state.session_origin(&raw.session_id).ok().flatten().map(|origin| origin.folder);
    }
    Some((began.or(raw.cwd), said))
}

/// How full a session's context is, by the settings of its folder.
fn shown((folder, said): (Option<PathBuf>, StatusLine)) -> Option<String> {
    let tokens = said.tokens?;
    let place = folder.and_then(|folder| Place::find(&Request::lenient(folder)).ok());
    let settings = place.map(|place| place.settings.monitor).unwrap_or_default();
    let measured = Measurement {
        tokens: Some((tokens, TokenSource::StatusLine, None)),
        model: said.model,
        window: said.window,
        compaction_window: said.compaction_window,
        ..Measurement::default()
    };
    Some(segment(&measured.fill(&settings)))
}

/// How full a context is, in a few characters.
fn segment(fill: &Fill) -> String {
    let (used, window) = (fill.tokens.map_or(0, |(used, ..)| used), fill.window.0);
    let percent = fill.percent.unwrap_or_default();
    format!("{} {}k/{}k {percent}%\n", fill.level, used / 1_000, window / 1_000)
}
