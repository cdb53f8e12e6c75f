//! `kgctx handoff rotate`: schedules the rotation of the session that asks, and tells, cancels or repeats one.

use std::path::{Path, PathBuf};

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::app::rotation::view::RotationView;
use crate::app::rotation::{actor, reserve};
use crate::core::handoff::document::{self, Input};
use crate::core::handoff::{Consume, Document, HandoffId, Kind, Occasion};
use crate::core::host::Host;
use crate::core::rotation::{self, MAX_IN_A_ROW, MAX_PROMPT_CHARS, MAX_TASK_CHARS, RotationState};
use crate::core::time_limits;
use crate::store::handoff_files::MAX_BYTES;
use crate::store::state::{NewRotation, Rotation, Scheduled, State};
use crate::system::clock::{now_ms, tick_ms};
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::folders;
use crate::system::user_input;
use crate::workspace::Request;

/// The file that is read if none is named.
const USUAL_FILE: &str = "HANDOFF.md";

/// As long as the id of any handoff.
const LONGEST_ID: &str = "HO-20260131-120000-0123456789";

/// What a session asks for.
#[derive(Debug, Default)]
pub struct RotationRequest {
    pub file: Option<PathBuf>,
    pub body: Option<String>,
    pub goal: Option<String>,
    pub next_step: Option<String>,
    /// What is to be done then.
    pub task: Option<String>,
}

pub(super) fn no(reason: impl Into<String>) -> HandoffError {
    HandoffError::No(reason.into())
}

/// The session in whose shell this process runs.
fn requester(environment: &Environment) -> Option<String> {
    let variable = |name: &str| environment.get(name)?.to_str().map(str::to_owned);
    let session = variable("KGCTX_SESSION_ID").or_else(|| variable("CLAUDE_CODE_SESSION_ID"));
    session.filter(|id| !id.trim().is_empty())
}

/// Schedules the rotation of this session. Returns the id of its handoff.
pub fn schedule(
    place: &Request,
    channel: Option<&str>,
    named: Option<&str>,
    request: &RotationRequest,
) -> Result<HandoffId> {
    let environment = place.environment.clone().unwrap_or_else(Environment::of_process);
    let session = requester(&environment).ok_or_else(|| {
        HandoffError::Usage(
            "KGCTX_SESSION_ID is not set: only a session can rotate itself; let its agent run this command".to_owned(),
        )
    })?;
    if let Some(other) = named.filter(|named| *named != session) {
        return Err(no(format!(
            "rotation is self-directed only: session {session} cannot rotate session {other}; leave out --session"
        )));
    }
    let (document, file) = request.document().map_err(refusal)?;
    let mut handoffs = Handoffs::open(place, channel, Some(&session))?;
    let settings = &handoffs.place.settings;
    if !settings.enabled.value || !settings.handoff.enabled.value {
        return Err(no("handoffs are switched off here; `kgctx config` shows where"));
    }
    let (host, process, pane) = handoffs.seat(place, &session, &environment)?;
    let task = request.task.clone();
    let longest = rotation::prompt(LONGEST_ID, file.as_deref(), task.as_deref()).chars().count();
    if host == Host::ClaudeCode && longest > MAX_PROMPT_CHARS {
        return Err(no(format!(
            "the first prompt would have {longest} characters, and Claude Code takes more than {MAX_PROMPT_CHARS} for pasted text; \
            shorten --then, or name a file with a shorter path"
        )));
    }
    let tick_ms = tick_ms();
    let new = NewRotation { session: &session, host, process, pane, file, task, tick_ms };
    match handoffs.create_for_rotation(document, &new).map_err(refusal)? {
        (id, Scheduled::As(_)) => Ok(id),
        (_, Scheduled::UnderWay) => Err(no(UNDER_WAY)),
        (_, Scheduled::TooMany) => Err(too_many()),
    }
}

/// A handoff that cannot be one is refused here, while wrong usage means that there is no session.
fn refusal(error: HandoffError) -> HandoffError {
    match error {
        HandoffError::Usage(_)
        | HandoffError::Input(_)
        | HandoffError::Incomplete(_)
        | HandoffError::TooLong(_) => no(error.to_string()),
        error => error,
    }
}

pub(super) const UNDER_WAY: &str = "this session is being cleared right now; wait a few seconds";

pub(super) fn too_many() -> HandoffError {
    no(format!(
        "{MAX_IN_A_ROW} rotations in a row happened without a prompt from a person; ask yours whether to continue, \
        and end your turn"
    ))
}

impl RotationRequest {
    /// The document, and the file that it came from.
    fn document(&self) -> Result<(Document, Option<PathBuf>)> {
        if let Some(task) = &self.task
            && (task.trim().is_empty()
                || task.chars().count() > MAX_TASK_CHARS
                || task.contains(char::is_control))
        {
            return Err(no(format!(
                "--then takes one line of at most {MAX_TASK_CHARS} characters"
            )));
        }
        let (Input { mut document, .. }, file) = match (&self.body, &self.file, &self.goal) {
            (Some(body), _, _) => (document::input(body)?, None),
            (None, None, Some(_)) => (Input::default(), None),
            (None, file, _) => {
                let file = file.as_deref().unwrap_or(Path::new(USUAL_FILE));
                let (text, file) = read(file)?;
                (document::input(&text)?, Some(file))
            }
        };
        let head = &mut document.head;
        head.kind = Kind::Session;
        head.occasion = Some(Occasion::Rotation);
        head.consume = Some(Consume::Once);
        (head.created_at, head.expires_at, head.channel) = (None, None, None);
        head.goal = self.goal.clone().or(head.goal.take());
        head.next_step = self.next_step.clone().or(head.next_step.take());
        Ok((document, file))
    }
}

/// Reads the file that a session wrote.
fn read(file: &Path) -> Result<(String, PathBuf)> {
    let here = folders::settled(PathBuf::from("."));
    let file = if file.is_absolute() { file.to_path_buf() } else { here.join(file) };
    let shown = file.display();
    if shown.to_string().contains(char::is_control) {
        return Err(no(format!(
            "{shown:?} has control characters, which cannot be typed; rename it"
        )));
    }
    if !user_input::is_file(&file) {
        return Err(HandoffError::NoFile(file));
    }
    let text = user_input::read_file(&file, MAX_BYTES).map_err(HandoffError::No)?;
    if text.trim().is_empty() {
        return Err(no(format!("{shown} is empty; describe the state of the work in it")));
    }
    Ok((text, file))
}

impl Handoffs {
    /// The rotations that led to a handoff, to this session, or to the last session of the project; the last one first.
    pub fn chain(&self, id: Option<&HandoffId>) -> Result<Vec<RotationView>> {
        let mut next = match (id, &self.session) {
            (Some(id), _) if self.state.handoff_log(&self.scope, Some(id), 1)?.is_empty() => {
                return Err(no(format!(
                    "no handoff in channel {} is called {id}; `kgctx handoff list --all` lists them",
                    self.channel
                )));
            }
            (Some(id), _) => self.state.rotation_with(id)?,
            (None, Some(session)) => self.state.last_rotation_of(session)?,
            (None, None) => self.state.last_rotation_in(&self.scope)?,
        };
        let mut chain: Vec<RotationView> = Vec::new();
        while let Some(rotation) = next {
            let before = self.state.rotation_into(&rotation.session)?;
            // An earlier one was recorded earlier, whatever else the state says.
            next = before.filter(|before| before.id < rotation.id);
            chain.push(RotationView(rotation));
        }
        Ok(chain)
    }
}

/// The rotations that a command is about: those of the session, else all that are under way.
pub fn list(place: &Request, named: Option<&str>) -> Result<Vec<RotationView>> {
    let Some((state, session)) = open(place, named)? else { return Ok(Vec::new()) };
    let found = match &session {
        Some(session) => Vec::from_iter(state.last_rotation_of(session)?),
        None => state.unfinished_rotations()?,
    };
    Ok(found.into_iter().map(RotationView).collect())
}

/// Gives a rotation up. Its handoff waits for the next session.
pub fn cancel(place: &Request, named: Option<&str>) -> Result<RotationView> {
    let (mut state, rotation) = only(place, named)?;
    let (to, actor) = (RotationState::Cancelled, actor(&rotation.session));
    match state.end_rotation(rotation.id, to, None, &actor)? {
        true => Ok(RotationView(state.rotation(rotation.id)?.unwrap_or(rotation))),
        false => Err(no(UNDER_WAY)),
    }
}

/// Begins a rotation again that is stuck or waits: its worker looks at once whether the window is ready.
pub fn retry(place: &Request, named: Option<&str>) -> Result<RotationView> {
    let (mut state, rotation) = only(place, named)?;
    if !state.retry_rotation(rotation.id, now_ms())? {
        return Err(no(UNDER_WAY));
    }
    if rotation.host == Host::ClaudeCode {
        reserve(&mut state, rotation.id, tick_ms())?;
    }
    Ok(RotationView(state.rotation(rotation.id)?.unwrap_or(rotation)))
}

/// The state, if there is one, and the session that is meant.
fn open(place: &Request, named: Option<&str>) -> Result<Option<(State, Option<String>)>> {
    let environment = place.environment.clone().unwrap_or_else(Environment::of_process);
    let folder = Directories::locate(&environment).map_err(|error| no(error.to_string()))?.state;
    let Some(mut state) = State::open_if_there(&folder, time_limits::STATE)? else {
        return Ok(None);
    };
    let session = named.map(str::to_owned).or_else(|| requester(&environment));
    state.reconsider_rotations(tick_ms(), &actor(session.as_deref().unwrap_or_default()))?;
    Ok(Some((state, session)))
}

/// The one open rotation that is meant.
fn only(place: &Request, named: Option<&str>) -> Result<(State, Rotation)> {
    let nothing =
        || no("no rotation is scheduled; `kgctx handoff log --chain` shows the last ones");
    let (state, session) = open(place, named)?.ok_or_else(nothing)?;
    let mut open = match &session {
        Some(session) => Vec::from_iter(state.rotation_of(session)?),
        None => state.unfinished_rotations()?,
    };
    open.retain(|rotation| rotation.state.is_open());
    match open.len() {
        0 => Err(nothing()),
        1 => Ok((state, open.remove(0))),
        n => Err(no(format!(
            "{n} sessions have scheduled one; choose one with --session: {}",
            sessions(&open)
        ))),
    }
}

fn sessions(rotations: &[Rotation]) -> String {
    rotations.iter().map(|rotation| rotation.session.as_str()).collect::<Vec<_>>().join(", ")
}
