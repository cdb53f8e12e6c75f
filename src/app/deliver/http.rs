//! Gives a session of a running OpenCode server its context, over HTTP. The server cannot be made to wait, so only an idle
//! session is given anything: a message that arrives while the model works would be answered.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::task;
use tokio::time::sleep;

use crate::app::deliver::{DeliveryRequest, Door, NotDelivered, PendingDelivery, deliver};
use crate::app::session_handoff::request_at;
use crate::app::warm::Warm;
use crate::core::context::receipt::Injection;
use crate::core::host::Host;
use crate::core::session::{Mark, Moment, Recipients, Stored};
use crate::core::settings::Origin;
use crate::core::time::Timestamp;
use crate::hosts::opencode::{
    AddressError, Message, Metadata, NoReply, OpencodeServer, ServerAddress, ServerError, Session,
    SessionModel,
};
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// How many of a session's last messages are read.
const MESSAGES: usize = 100;

/// A fork is complete when no further message arrives within this time.
const FORK_INTERVAL: Duration = Duration::from_millis(500);
const FORK_LOOKS: usize = 20;

/// How long a server may take for one answer. The first message after its start takes it seconds.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// A server by its address, with its credentials from `environment`.
pub fn server(url: &str, environment: &Environment) -> Result<OpencodeServer, AddressError> {
    let address: ServerAddress = url.parse()?;
    let credentials = address.credentials(environment);
    Ok(OpencodeServer::new(address, credentials, ANSWER_LIMIT))
}

/// The server to use if none is named: the first one in the settings.
pub fn usual_server(request: &Request) -> Result<String, NotDelivered> {
    let servers = Place::find(request)?.settings.servers.value;
    servers.into_iter().next().ok_or(NotDelivered::NoServer)
}

/// A delivery to a session of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerDelivery {
    pub session: String,
    /// Where to look for notes. Without a folder, in the session's own.
    pub place: Request,
    /// Tokens at most; `None` takes the limit of the settings.
    pub budget: Option<usize>,
    /// The time that counts as now; `None` reads the clock.
    pub now: Option<Timestamp>,
    pub to: Recipients,
}

/// A context that is stored in its session.
#[derive(Debug, Serialize, Deserialize)]
pub struct Delivered {
    pub injection: Injection,
    /// The id of the message that carries it.
    pub message: String,
}

/// Whether contexts are switched off for a delivery, as far as that can be known without a server.
pub fn check_enabled(request: &ServerDelivery) -> Result<(), NotDelivered> {
    let enabled = Place::find(&request.place)?.settings.enabled;
    // The settings of another project than the session's do not count.
    let is_elsewhere =
        matches!(enabled.origin, Origin::ProjectFile(_)) && request.place.dir.is_none();
    if !enabled.value && !is_elsewhere {
        return Err(NotDelivered::Off(enabled.origin.to_string()));
    }
    Ok(())
}

/// Delivers to the server at `url`.
pub fn run(url: &str, request: &ServerDelivery) -> Result<Delivered, NotDelivered> {
    let server = server(url, &Environment::of_process())?;
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(NotDelivered::Runtime)?;
    let done = runtime.block_on(deliver_to(&server, request, None));
    // Does not wait for a lookup of the host's name.
    runtime.shutdown_background();
    done
}

/// Delivers at once, or says why not.
pub async fn deliver_to(
    server: &OpencodeServer,
    request: &ServerDelivery,
    warm: Option<Arc<Warm>>,
) -> Result<Delivered, NotDelivered> {
    let session = suitable(server, &request.session).await?;
    let moment = lacking(server, request, &session).await?;
    let pending = prepare(request, &session, moment, warm).await?;
    // Checked last, to keep the time short until the message is stored.
    let checked = async {
        known(server, &session).await?;
        lacking(server, request, &session).await?;
        suitable(server, &session.id).await.map(drop)
    };
    let checked = checked.await;
    // All of that takes time, in which the claim may have lapsed.
    let pending = blocking(move || checked.and_then(|()| pending.renewed())).await??;
    match store(server, &session, &pending.content).await {
        Ok(message) => {
            let mut injection = blocking(move || pending.sent()).await?;
            injection.receipt.delivered = true;
            Ok(Delivered { injection, message })
        }
        Err((refusal, Fate::NotStored)) => {
            blocking(move || pending.not_sent()).await?;
            Err(refusal)
        }
        // The claim lapses, unless the message turns up.
        Err((refusal, Fate::Unknown)) => Err(refusal),
    }
}

/// Works on the state, which may have to wait for another process, without holding up the other tasks.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDelivered> {
    task::spawn_blocking(work).await.map_err(|_| NotDelivered::Fault)
}

/// The session, if it may be given something now.
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
    request: &ServerDelivery,
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
    stored.lacking(request.to).ok_or_else(|| match stored.has_context() {
        true => NotDelivered::Has(session.id.clone()),
        false => NotDelivered::UnderWay(session.id.clone()),
    })
}

async fn look(server: &OpencodeServer, session: &str) -> Result<Stored, NotDelivered> {
    Ok(stored(&server.messages(session, MESSAGES).await?))
}

/// The marks in a session's messages.
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

/// Claims the moment and builds its context.
async fn prepare(
    request: &ServerDelivery,
    session: &Session,
    moment: Moment,
    warm: Option<Arc<Warm>>,
) -> Result<PendingDelivery<Injection>, NotDelivered> {
    let mut at = request.place.clone();
    at.dir.get_or_insert_with(|| session.directory.clone().into());
    let (session, budget, now) = (session.id.clone(), request.budget, request.now);
    blocking(move || {
        deliver(DeliveryRequest {
            door: Door::Http,
            session: &session,
            wanted: request_at(&moment),
            moment,
            host: Host::Opencode,
            // A server does not tell its process. A session that the service feeds lives as long as the service.
            process: warm.is_some().then(Process::this),
            place: &Place::find(&at)?,
            at,
            budget,
            now,
            until: None,
            warm: warm.as_deref(),
        })
    })
    .await?
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
