//! Gives a session of a running OpenCode server its context, over HTTP. The server cannot be made to wait, so only an idle
//! session is given anything: a message that arrives while the model works would be answered.

mod refusal;

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::task;
use tokio::time::sleep;

pub use crate::app::deliver::refusal::{NotDelivered, Refusal};
use crate::app::inject::inject;
use crate::app::recorder::Recording;
use crate::app::session;
use crate::app::session_handoff::{claim_handoff, wanted};
use crate::app::warm::Warm;
use crate::core::context::budget::Host;
use crate::core::context::receipt::{Fault, Injection};
pub use crate::core::session::Recipients;
use crate::core::session::{Mark, Moment, Stored};
use crate::core::settings::Origin;
use crate::core::time::Timestamp;
pub use crate::hosts::opencode::{AddressError, OpencodeServer, ServerError};
use crate::hosts::opencode::{Message, Metadata, NoReply, ServerAddress, Session, SessionModel};
use crate::store::state::{Claim, State, StateError, Token};
use crate::system::clock;
use crate::system::environment::Environment;
use crate::workspace::{Place, Request};

/// Another process that is writing the state is waited for this long.
const STATE_PATIENCE: Duration = Duration::from_secs(2);
/// So many of a session's last messages are looked at.
const MESSAGES: usize = 100;

/// A fork has all of its messages when there are no more of them after this long.
const FORK_INTERVAL: Duration = Duration::from_millis(500);
const FORK_LOOKS: usize = 20;

/// How long a server may take for one answer. The first message after its start takes it seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// A server by its address, with what it wants to hear in `environment`.
pub fn server(url: &str, environment: &Environment) -> Result<OpencodeServer, AddressError> {
    let address: ServerAddress = url.parse()?;
    let credentials = address.credentials(environment);
    Ok(OpencodeServer::new(address, credentials, ANSWER_LIMIT))
}

/// The server that is meant where none is named: the first one of the settings.
pub fn usual_server(request: &Request) -> Result<String, NotDelivered> {
    let servers = Place::find(request)?.settings.servers.value;
    servers.into_iter().next().ok_or(NotDelivered::NoServer)
}

/// What is to be delivered, and where.
#[derive(Debug, Clone)]
pub struct Errand {
    /// The session.
    pub session: String,
    /// Where to look for notes. Without a folder, in the session's own.
    pub place: Request,
    /// How many tokens it may get, if not as many as the settings say.
    pub budget: Option<usize>,
    /// The moment that counts as now.
    pub now: Option<Timestamp>,
    /// Who may be given something.
    pub to: Recipients,
}

/// A context that is stored in its session.
#[derive(Debug, Serialize, Deserialize)]
pub struct Delivered {
    /// What it is.
    pub injection: Injection,
    /// The message that carries it.
    pub message: String,
}

/// Whether contexts are switched off for an errand, as far as that can be known without a server.
pub fn check_enabled(errand: &Errand) -> Result<(), NotDelivered> {
    let enabled = Place::find(&errand.place)?.settings.enabled;
    // What another project than the session's says does not count. What holds everywhere needs no server to be known.
    let is_elsewhere =
        matches!(enabled.origin, Origin::ProjectFile(_)) && errand.place.dir.is_none();
    if !enabled.value && !is_elsewhere {
        return Err(NotDelivered::Off(enabled.origin.to_string()));
    }
    Ok(())
}

/// Delivers to the server at `url`.
pub fn run(url: &str, errand: &Errand) -> Result<Delivered, NotDelivered> {
    let server = server(url, &Environment::of_process())?;
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(NotDelivered::Runtime)?;
    let done = runtime.block_on(deliver(&server, errand, None));
    // A host's name that is still being looked up keeps nobody waiting.
    runtime.shutdown_background();
    done
}

/// Delivers at once, or says why not.
pub async fn deliver(
    server: &OpencodeServer,
    errand: &Errand,
    warm: Option<Arc<Warm>>,
) -> Result<Delivered, NotDelivered> {
    let session = suitable(server, &errand.session).await?;
    let moment = lacking(server, errand, &session).await?;
    let (injection, state, token) = make(errand, &session, moment, warm).await?;
    // Looked at last, so that as little time as possible passes before the message is stored.
    let ready = async {
        known(server, &session).await?;
        lacking(server, errand, &session).await?;
        suitable(server, &session.id).await.map(drop)
    };
    let ready = ready.await;
    // All that may have taken its time, and a claim does not stand for ever.
    let renewed = written(state, move |state| state.renew(token, clock::now().milliseconds()));
    let (state, is_ours) = renewed.await?;
    let stored = match ready {
        Ok(()) if is_ours => store(server, &session, &injection).await,
        Ok(()) => return Err(NotDelivered::Taken(session.id)),
        Err(refusal) => Err((refusal, Fate::NotStored)),
    };
    match stored {
        Ok(message) => {
            let receipt = injection.id;
            // A handoff for which there was no room, and of which no receipt tells that it was given back.
            let is_unshown = receipt.is_none() && injection.receipt.omitted_handoff().is_some();
            // That it is stored is known from the session, too: who asks next will see it there.
            let _ = written(state, move |state| {
                let now_ms = clock::now().milliseconds();
                match receipt {
                    Some(receipt) => state.settle(receipt, now_ms).map(drop),
                    None if is_unshown => state.release_claim(token, now_ms),
                    None => state.settle_claim(token, now_ms),
                }
            })
            .await;
            let mut injection = injection;
            injection.receipt.delivered = true;
            Ok(Delivered { injection, message })
        }
        Err((refusal, Fate::NotStored)) => {
            // If it cannot be released, it becomes free by itself.
            let _ = written(state, move |state| {
                state.release_claim(token, clock::now().milliseconds())
            })
            .await;
            Err(refusal)
        }
        // The claim stands until it is surely stored or surely not.
        Err((refusal, Fate::Unknown)) => Err(refusal),
    }
}

/// Writes to the state, for which another process may have to be waited for, without holding up who else is served.
async fn written<T: Send + 'static>(
    mut state: State,
    write: impl FnOnce(&mut State) -> Result<T, StateError> + Send + 'static,
) -> Result<(State, T), NotDelivered> {
    let done = task::spawn_blocking(move || write(&mut state).map(|done| (state, done))).await;
    Ok(done.map_err(|_| NotDelivered::Fault)??)
}

/// The session, if it is one that may be given something now.
async fn suitable(server: &OpencodeServer, id: &str) -> Result<Session, NotDelivered> {
    let session = server.session(id).await?;
    let id = session.id.clone();
    if session.parent_id.is_some() {
        return Err(NotDelivered::Child(id));
    }
    if session.revert.is_some() {
        return Err(NotDelivered::Undo(id));
    }
    let statuses = server.statuses(&session.directory).await?;
    if statuses.get(&id).is_some_and(|status| status.is_busy()) {
        return Err(NotDelivered::Busy(id));
    }
    Ok(session)
}

/// The moment for which the session lacks context.
async fn lacking(
    server: &OpencodeServer,
    errand: &Errand,
    session: &Session,
) -> Result<Moment, NotDelivered> {
    let mut stored = look(server, &session.id).await?;
    // The messages that a fork takes over arrive one after the other.
    for _ in 0..FORK_LOOKS {
        if !session.is_fork() || !stored.marks.is_empty() {
            break;
        }
        sleep(FORK_INTERVAL).await;
        let later = look(server, &session.id).await?;
        let is_whole = later.n_messages > 0 && later == stored;
        stored = later;
        if is_whole {
            break;
        }
    }
    stored.lacking(errand.to).ok_or_else(|| match stored.has_context() {
        true => NotDelivered::Has(session.id.clone()),
        false => NotDelivered::UnderWay(session.id.clone()),
    })
}

async fn look(server: &OpencodeServer, session: &str) -> Result<Stored, NotDelivered> {
    Ok(stored(&server.messages(session, MESSAGES).await?))
}

/// What concerns us of a session's messages.
fn stored(messages: &[Message]) -> Stored {
    let marks = messages.iter().flat_map(|message| {
        message.parts.iter().filter_map(|part| match part.kind.as_str() {
            "compaction" => Some(Mark::Compaction(message.info.id.clone())),
            _ => part.mark().map(|_| Mark::Context),
        })
    });
    Stored {
        n_messages: messages.len(),
        is_complete: messages.len() < MESSAGES,
        marks: marks.collect(),
    }
}

/// Claims the moment and makes its context. The state stays open for what becomes of it.
async fn make(
    errand: &Errand,
    session: &Session,
    moment: Moment,
    warm: Option<Arc<Warm>>,
) -> Result<(Injection, State, Token), NotDelivered> {
    let mut place = errand.place.clone();
    place.dir.get_or_insert_with(|| session.directory.clone().into());
    let (budget, now) = (errand.budget, errand.now);
    let id = session.id.clone();
    let made = task::spawn_blocking(move || {
        let found = Place::find(&place)?;
        let Place { settings, directories, .. } = &found;
        if !settings.enabled.value {
            return Err(NotDelivered::Off(settings.enabled.origin.to_string()));
        }
        let writer = State::open(&directories.state, STATE_PATIENCE)?;
        let mut state = State::open(&directories.state, STATE_PATIENCE)?;
        let token = match state.claim(&id, &moment, clock::now().milliseconds(), None)? {
            Claim::Won(token) => token,
            Claim::Held => return Err(NotDelivered::Taken(id)),
            Claim::Settled => return Err(NotDelivered::Has(id)),
        };
        let loaded = claim_handoff(&mut state, token, &found, &id, wanted(&moment), None);
        let session = session::Session {
            id: id.clone(),
            moment,
            place,
            host: Host::Opencode,
            budget,
            now,
            within: None,
            is_watched: false,
            handoff: Some(loaded),
        };
        let made = match warm {
            Some(warm) => warm.inject(&found, session, Recording::UnderClaim(writer, token)),
            None => inject(&session, Recording::UnderClaim(writer, token)),
        };
        let refusal = match made {
            Ok(injection) if !injection.text.is_empty() => return Ok((injection, state, token)),
            Ok(Injection { receipt, .. }) => nothing_to_say(&receipt.faults),
            Err(error) => error.into(),
        };
        let _ = state.release_claim(token, clock::now().milliseconds());
        Err(refusal)
    });
    made.await.unwrap_or_else(|_| Err(NotDelivered::Fault))
}

/// Why a context is empty: the notes could not be read in time, which passes, or there are none, which does not.
fn nothing_to_say(faults: &[Fault]) -> NotDelivered {
    const PASSING: [&str; 5] = ["project", "index", "search", "recent", "graph"];
    let said = |fault: &Fault| format!("{}: {}", fault.source, fault.reason);
    match faults.iter().find(|fault| PASSING.contains(&fault.source.as_str())) {
        Some(fault) => NotDelivered::Unready(said(fault)),
        None => NotDelivered::Nothing(
            faults.first().map_or_else(|| "no notes were found".to_owned(), said),
        ),
    }
}

/// Makes sure that the server knows what the message will name.
async fn known(server: &OpencodeServer, session: &Session) -> Result<(), NotDelivered> {
    let unknown = |kind, name: &str| NotDelivered::Unknown {
        session: session.id.clone(),
        kind,
        name: name.to_owned(),
    };
    if let Some(agent) = &session.agent
        && !server.agents(&session.directory).await?.iter().any(|known| known.name == *agent)
    {
        return Err(unknown("agent", agent));
    }
    if let Some(SessionModel { id, provider_id, .. }) = &session.model {
        let providers = server.providers(&session.directory).await?;
        let is_known = providers
            .iter()
            .any(|provider| provider.id == *provider_id && provider.models.contains(id));
        if !is_known {
            return Err(unknown("model", &format!("{provider_id}/{id}")));
        }
    }
    Ok(())
}

/// What became of a message that could not be stored.
enum Fate {
    NotStored,
    Unknown,
}

async fn store(
    server: &OpencodeServer,
    session: &Session,
    injection: &Injection,
) -> Result<String, (NotDelivered, Fate)> {
    let metadata = json!(Metadata::of(injection.id, &injection.receipt));
    let message = NoReply::echoing(session, injection.text.clone(), metadata.clone());
    let error = match server.inject(&session.id, &message).await {
        Ok(message) => return Ok(message),
        Err(error) => error,
    };
    if !matches!(error, ServerError::Silent { .. } | ServerError::Broken { .. }) {
        return Err((error.into(), Fate::NotStored));
    }
    // No answer does not mean that nothing happened.
    let messages = server.messages(&session.id, MESSAGES).await.unwrap_or_default();
    let ours = messages
        .iter()
        .find(|message| message.parts.iter().any(|part| part.mark() == Some(&metadata)));
    match ours {
        Some(message) => Ok(message.info.id.clone()),
        None => Err((error.into(), Fate::Unknown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_without_notes_is_not_waited_for_and_a_cold_index_is() {
        let vault = Fault::new("vault", "no vault found");
        let settings = Fault::new("settings", "token_limit is no number");
        let index = Fault::new("index", "it was not ready in time, and there was none before");
        for (faults, is_transient) in [
            (vec![], false),
            (vec![vault.clone()], false),
            (vec![settings.clone()], false),
            (vec![vault, settings, index], true),
        ] {
            assert_eq!(nothing_to_say(&faults).is_transient(), is_transient, "{faults:?}");
        }
    }
}
