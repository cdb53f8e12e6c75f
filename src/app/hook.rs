//! Answers the bridge in OpenCode: whether a session lacks a context, and which one it gets. Every
//! failure is a reply, never an error.

mod direct;
mod rest;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use crate::app::hook::direct::direct;

use crate::app::capture::{Forgetful, before_compaction};
use crate::app::deliver::{
    DeliveryRequest, Door, NotDelivered, PendingDelivery, deliver, release_receipt, settle_receipt,
};
use crate::app::monitor::{self, Used};
use crate::app::rotation;
use crate::app::session::Session;
use crate::app::session_handoff::request_at;
use crate::app::supplement::{DueSupplement, GivenBy, due};
use crate::app::warm::Warm;
use crate::core::context::receipt::{Injection, Receipt};
use crate::core::context::supplement::Given;
use crate::core::handoff::choice::HandoffRequest;
use crate::core::handoff::conversation::Conversation;
use crate::core::host::Host;
use crate::core::session::{Announcement, Moment, Recipients};
use crate::core::text::for_terminal;
use crate::core::text::number::thousands;
use crate::core::time_limits;
use crate::hosts::opencode::{
    self, BridgeContext, BridgeNotice, BridgeQuestion, BridgeReply, Metadata,
};
use crate::store::state::{Rotation, StateError};
use crate::system::clock;
use crate::system::directories::Directories;
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::system::summariser;
use crate::workspace::{Place, Request};

/// What the arguments of a hook allow it to use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookLimits {
    /// The folder that counts instead of the session's.
    pub dir: Option<PathBuf>,
    /// Folders of notes that replace all others.
    pub vaults: Vec<PathBuf>,
}

impl HookLimits {
    pub fn is_none(&self) -> bool {
        *self == HookLimits::default()
    }

    /// The place of a session in this folder.
    fn request(&self, folder: PathBuf) -> Request {
        let folder = self.dir.clone().unwrap_or(folder);
        Request { vaults: self.vaults.clone(), ..Request::lenient(folder) }
    }
}

/// The process that asks on behalf of a bridge.
pub struct Caller<'a> {
    /// Its environment, if it is another process.
    pub environment: Option<Environment>,
    /// Contexts that a service keeps ready.
    pub warm: Option<&'a Warm>,
    /// The host's process, if known.
    pub host: Option<Process>,
    /// The time after which the reply is useless.
    pub until: Instant,
    pub limits: HookLimits,
}

impl Caller<'_> {
    /// A process that was started for this one question.
    pub fn alone(until: Instant) -> Caller<'static> {
        let limits = HookLimits::default();
        Caller { environment: None, warm: None, host: Process::host(), until, limits }
    }

    /// The environment that counts.
    fn environment(&self) -> Environment {
        self.environment.clone().unwrap_or_else(Environment::of_process)
    }

    fn is_in_ci(&self) -> bool {
        match &self.environment {
            Some(environment) => environment.is_in_ci(),
            None => Environment::of_process().is_in_ci(),
        }
    }
}

pub fn opencode(question: &[u8], caller: &Caller<'_>) -> PendingDelivery<BridgeReply> {
    let reply = match BridgeQuestion::parse(question) {
        Ok(BridgeQuestion::Created { session }) => match unsuitable(&session) {
            Some(reason) => BridgeReply::none(reason),
            // OpenCode copies the messages of a fork after this event.
            None if session.is_fork() => BridgeReply::ask("a fork may already have its context"),
            None => {
                caller.finish_endings();
                let to = Recipient::of(&session);
                return give(caller, to, (Moment::Start, None), Door::BridgeEvent);
            }
        },
        Ok(BridgeQuestion::Prompted { session, is_new, is_undone, stored, prompt }) => {
            let is_copy = is_new && session.is_fork();
            let to = if is_copy || is_undone { Recipients::All } else { Recipients::Unprompted };
            match (unsuitable(&session), stored.lacking(to)) {
                (Some(reason), _) => BridgeReply::none(reason),
                (None, Some(moment)) => {
                    let door = Door::BridgePrompt { is_undone };
                    return give(caller, Recipient::of(&session), (moment, prompt), door);
                }
                (None, None) => {
                    BridgeReply::none("the session has its context, or had already begun")
                }
            }
        }
        Ok(BridgeQuestion::FirstPrompt { session, receipt: Some(receipt), prompt }) => {
            match recipient(caller, session, receipt) {
                Some(to) => {
                    let due = (Moment::Prompt, Some(prompt));
                    return give(caller, to, due, Door::BridgeSupplement);
                }
                None => BridgeReply::none("the session needs no supplement"),
            }
        }
        Ok(BridgeQuestion::Compacting { session, conversation, .. }) => {
            match unsuitable(&session) {
                Some(reason) => BridgeReply::none(reason),
                None => keep(caller, &session, &conversation),
            }
        }
        Ok(BridgeQuestion::Rotated { token, session }) => {
            let folder = Directories::locate(&caller.environment()).ok();
            let made = folder
                .and_then(|folder| rotation::opencode::made(&folder.state, &token, &session.id));
            let to = Recipient { rotation: made, ..Recipient::of(&session) };
            return give(caller, to, (Moment::Start, None), Door::BridgeEvent);
        }
        Ok(news) => heard(caller, news),
        Err(error) => BridgeReply::none(error),
    };
    PendingDelivery::unclaimed(reply)
}

/// What follows from news about a session that asks for no context.
fn heard(caller: &Caller<'_>, news: BridgeQuestion) -> BridgeReply {
    match news {
        BridgeQuestion::Used { session, tokens, model, window, output, at, compacted } => {
            let (reserve, at_ms, compacted_ms) = (output.unwrap_or_default(), at, compacted);
            let used = Used { session, tokens, model, window, reserve, at_ms, compacted_ms };
            match monitor::after_answer(used, caller.environment.clone()) {
                Some(text) => BridgeReply::Tell { text },
                None => BridgeReply::none("nothing to tell"),
            }
        }
        BridgeQuestion::Rests { session, conversation, .. } => {
            taken_in(caller.note_rest(&session, &conversation))
        }
        BridgeQuestion::Over { session, is_idle } => taken_in(caller.note_over(&session, is_idle)),
        BridgeQuestion::Idle { session } => idle(caller, &session),
        BridgeQuestion::RotationEnded { token, error } => {
            noted(caller, |state| rotation::opencode::finished(state, &token, error.as_deref()))
        }
        BridgeQuestion::PromptedAgain { session } => noted(caller, |state| {
            rotation::prompted(state, &session, "", clock::tick_ms());
            Ok(())
        }),
        BridgeQuestion::Delivered { receipt: Some(receipt) } => {
            noted(caller, |state| settle_receipt(state, receipt))
        }
        BridgeQuestion::Released { receipt: Some(receipt) } => {
            noted(caller, |state| release_receipt(state, receipt))
        }
        _ => BridgeReply::none("nothing to do"),
    }
}

/// The bridge repeats what a busy state could not take in.
fn taken_in(outcome: Result<(), StateError>) -> BridgeReply {
    outcome.map_or_else(BridgeReply::ask_soon, |()| BridgeReply::none("noted"))
}

/// What a bridge does with a session that has nothing to do any more.
fn idle(caller: &Caller<'_>, session: &str) -> BridgeReply {
    let folder = match Directories::locate(&caller.environment()) {
        Ok(directories) => directories.state,
        Err(error) => return BridgeReply::none(error),
    };
    match rotation::opencode::idle(&folder, session, caller.host) {
        Ok(Some(rotation)) => BridgeReply::Rotate(rotation),
        Ok(None) => BridgeReply::none("no rotation is scheduled"),
        Err(error) => BridgeReply::none(error),
    }
}

/// Whether this session only summarises another one: it then gets no context and leaves no handoff.
pub fn is_summariser() -> bool {
    summariser::is_at_work()
}

/// The session of a question, and its folder.
pub fn subject(question: &[u8]) -> Option<(String, String)> {
    match BridgeQuestion::parse(question).ok()? {
        BridgeQuestion::Created { session } | BridgeQuestion::Prompted { session, .. } => {
            Some((session.id, session.directory))
        }
        _ => None,
    }
}

/// Why a session never gets a context.
fn unsuitable(session: &opencode::Session) -> Option<&'static str> {
    if session.parent_id.is_some() {
        Some("a child session: its parent has the context")
    } else if session.revert.is_some() {
        Some("an undo is pending, and a message would make it final")
    } else {
        None
    }
}

/// Writes the handoff of a session that is about to be compacted.
fn keep(
    caller: &Caller<'_>,
    session: &opencode::Session,
    conversation: &Conversation,
) -> BridgeReply {
    let told = before_compaction(&Forgetful {
        session: &session.id,
        folder: session.directory.clone().into(),
        conversation,
        transcript: None,
        is_scripted: session.is_scripted() || caller.is_in_ci(),
        environment: caller.environment.clone(),
        patience: time_limits::COMPACTION_WORK,
    });
    match told {
        Some(text) => BridgeReply::Keep { text },
        None => BridgeReply::none("no handoff was written before the compaction"),
    }
}

/// Records what happened to a context.
fn noted(caller: &Caller<'_>, note: impl FnOnce(&Path) -> Result<(), StateError>) -> BridgeReply {
    match Directories::locate(&caller.environment()).map(|directories| note(&directories.state)) {
        Ok(outcome) => taken_in(outcome),
        Err(error) => BridgeReply::none(error),
    }
}

/// A session that gets a context.
struct Recipient {
    session: String,
    folder: PathBuf,
    is_scripted: bool,
    /// What it already has; only for a supplement.
    given: Option<Given>,
    /// The rotation by which it began.
    rotation: Option<Rotation>,
}

impl Recipient {
    fn of(session: &opencode::Session) -> Recipient {
        let folder = session.directory.clone().into();
        let is_scripted = session.is_scripted();
        Recipient { session: session.id.clone(), folder, is_scripted, given: None, rotation: None }
    }
}

/// A session that gets a supplement to the context of this receipt.
fn recipient(caller: &Caller<'_>, session: String, receipt: i64) -> Option<Recipient> {
    let state = Directories::locate(&caller.environment()).ok()?.state;
    let DueSupplement { given, folder } = due(&state, &session, GivenBy::Receipt(receipt))?;
    // No handoff goes with a supplement.
    let (folder, given) = (folder?, Some(given));
    Some(Recipient { session, folder, is_scripted: false, given, rotation: None })
}

/// Delivers the context of a moment, which may have a prompt, unless another process does.
fn give(
    caller: &Caller<'_>,
    to: Recipient,
    (moment, prompt): (Moment, Option<String>),
    door: Door,
) -> PendingDelivery<BridgeReply> {
    if let Some(text) = homeless_notice(&caller.environment()) {
        let notice = Some(BridgeNotice { how: Announcement::Toast, text });
        let reason = "there is no folder for kgctx's files".to_owned();
        return PendingDelivery::unclaimed(BridgeReply::None { reason, notice });
    }
    let given = || {
        let Recipient { session, folder, is_scripted, given: has, rotation } = to;
        let rotated = rotation.as_ref().map(|_| HandoffRequest::Rotated);
        let mut at = caller.limits.request(folder);
        at.environment = caller.environment.clone();
        let place = Place::find(&at)?;
        if let Some(reason) = &place.closed {
            let how = match place.settings.notice.value {
                Announcement::Off => Announcement::Log,
                how => how,
            };
            let notice = Some(BridgeNotice { how, text: closed_notice(reason) });
            let reason = format!("the settings cannot be read: {reason}");
            return Ok(PendingDelivery::unclaimed(BridgeReply::None { reason, notice }));
        }
        let pending = deliver(DeliveryRequest {
            door,
            place: &place,
            wanted: rotated.or(request_at(&moment)),
            session: Session {
                moment,
                prompt,
                given: has,
                is_scripted: is_scripted || caller.is_in_ci(),
                ..Session::new(&session, at, Host::Opencode)
            },
            process: caller.host,
            until: Some(caller.until),
            warm: caller.warm,
        })?;
        Ok(pending.map(|injection| {
            let is_whole = rotation::shows_whole(&injection);
            let context = given(&place, injection);
            let prompt =
                rotation.and_then(|rotation| rotation::opencode::prompt_for(&rotation, is_whole));
            BridgeReply::Inject(Box::new(BridgeContext { prompt, ..context }))
        }))
    };
    given().unwrap_or_else(|refusal| PendingDelivery::unclaimed(refused(refusal, door)))
}

fn refused(refusal: NotDelivered, door: Door) -> BridgeReply {
    match refusal {
        NotDelivered::Taken(_) if door == Door::BridgeEvent => {
            BridgeReply::ask_soon("another process is about to deliver it")
        }
        NotDelivered::Unready(_) if door == Door::BridgeEvent => BridgeReply::ask_soon(refusal),
        NotDelivered::Taken(_) => BridgeReply::none("another process has not delivered it in time"),
        NotDelivered::Has(_) => BridgeReply::none("the session already has its context"),
        NotDelivered::Off(origin) => BridgeReply::none(format!("switched off by {origin}")),
        NotDelivered::Nothing(_) | NotDelivered::Unready(_) => {
            BridgeReply::none("there is nothing to deliver for this project")
        }
        NotDelivered::State(error) => BridgeReply::none(error),
        other => BridgeReply::none(other),
    }
}

/// Converts an injection into the reply for the bridge.
fn given(place: &Place, injection: Injection) -> BridgeContext {
    let Injection { text, id, receipt, .. } = injection;
    let how = place.settings.notice.value;
    let notice = (how != Announcement::Off).then(|| BridgeNotice { how, text: notice(&receipt) });
    let metadata = Metadata::of(id, &receipt);
    let delivery = place.settings.delivery.value;
    BridgeContext { receipt: id, text, delivery, metadata, notice, prompt: None }
}

/// The one line for the user of a session that gets nothing, because nobody knows where kgctx's files are.
fn homeless_notice(environment: &Environment) -> Option<String> {
    environment.path("KGCTX_HOME").or_else(|| environment.path("HOME"))?;
    let reason = Directories::locate(environment).err()?;
    Some(format!("kgctx: no context in this session: {reason}"))
}

/// The one line for the user of a session that gets nothing, because the settings cannot be read.
fn closed_notice(reason: &str) -> String {
    let reason = for_terminal::one_line(reason);
    format!("kgctx: no context in this session, because the settings cannot be read: {reason}")
}

/// The one-line notice for the user.
pub fn notice(receipt: &Receipt) -> String {
    let after = match receipt.moment {
        Moment::Start => "",
        Moment::Compaction(_) => ", after compaction",
        Moment::Handoff(_) => ", taken up again",
        Moment::Prompt => " more, for this prompt",
    };
    let handoff = receipt.shown_handoff().map(|handoff| format!(", handoff {}", handoff.id));
    let handoff = handoff.unwrap_or_default();
    format!("kgctx: {} tokens{after}{handoff}", thousands(receipt.used.tokens))
}
