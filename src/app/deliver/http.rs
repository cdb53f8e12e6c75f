//! Delivers contexts to sessions of a running OpenCode server, over HTTP. The server cannot be made
//! to wait, so only an idle session gets a context: the model would answer a message that arrives
//! while it works.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task;
use tokio::time::sleep;

use crate::app::deliver::{DeliveryRequest, Door, NotDelivered, PendingDelivery, deliver};
use crate::app::session::Session;
use crate::app::session_handoff::request_at;
use crate::app::warm::Warm;
use crate::core::context::receipt::Injection;
use crate::core::host::Host;
use crate::core::session::{Mark, Moment, Recipients, Stored};
use crate::core::settings::Origin;
use crate::core::time::Timestamp;
use crate::core::time_limits;
use crate::hosts::opencode::{
    self, AddressError, Message, Metadata, NoReply, OpencodeServer, ServerAddress, ServerError,
    SessionModel, is_of_context,
};
use crate::system::environment::Environment;
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// The number of a session's last messages to read.
const MESSAGES: usize = 100;

const FORK_LOOKS: usize = 20;

/// Creates a client for a server, with credentials from `environment`.
pub fn server(url: &str, environment: &Environment) -> Result<OpencodeServer, AddressError> {
    let address: ServerAddress = url.parse()?;
    let credentials = address.credentials(environment);
    Ok(OpencodeServer::new(address, credentials, time_limits::SERVER_ANSWER))
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerDelivery {
    pub session: String,
    /// The place to look for notes. Without a folder, the session's own.
    pub place: Request,
    /// The most tokens; `None` uses the limit of the settings.
    pub budget: Option<usize>,
    /// The time that counts as now; `None` reads the clock.
    pub now: Option<Timestamp>,
    pub to: Recipients,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Delivered {
    pub injection: Injection,
    /// The id of the message that carries it.
    pub message: String,
}

/// The server of a delivery: the named one, or the first in the settings. Fails early if contexts
/// are switched off.
pub fn server_of(request: &ServerDelivery, named: Option<&String>) -> Result<String, NotDelivered> {
    let settings = Place::find(&request.place)?.settings;
    let enabled = settings.enabled;
    // Ignores the settings of another project than the session's.
    let is_elsewhere =
        matches!(enabled.origin, Origin::ProjectFile(_)) && request.place.dir.is_none();
    if !enabled.value && !is_elsewhere {
        return Err(NotDelivered::Off(enabled.origin.to_string()));
    }
    named.or(settings.servers.value.first()).cloned().ok_or(NotDelivered::NoServer)
}

pub fn run(url: &str, request: &ServerDelivery) -> Result<Delivered, NotDelivered> {
    let server = server(url, &Environment::of_process())?;
    let runtime =
        Builder::new_current_thread().enable_all().build().map_err(NotDelivered::Runtime)?;
    let done = runtime.block_on(deliver_to(&server, request, None));
    // Does not wait for the lookup of the host's name.
    runtime.shutdown_background();
    done
}

/// Delivers at once, or returns the reason why not.
pub async fn deliver_to(
    server: &OpencodeServer,
    request: &ServerDelivery,
    warm: Option<Arc<Warm>>,
) -> Result<Delivered, NotDelivered> {
    let session = suitable(server, &request.session).await?;
    let moment = lacking(server, request, &session).await?;
    let pending = prepare(request, &session, moment, warm).await?;
    // Checked last, to keep the time until the message is stored short.
    let checked = async {
        known(server, &session).await?;
        lacking(server, request, &session).await?;
        suitable(server, &session.id).await.map(drop)
    };
    let checked = checked.await;
    // All of that takes time, in which the claim can expire.
    let pending = blocking(move || checked.and_then(|()| pending.renewed())).await??;
    let metadata = json!(Metadata::of(pending.content.id, &pending.content.receipt));
    let message = NoReply::echoing(&session, pending.content.text.clone(), metadata.clone());
    let message = match server.inject(&session.id, &message).await {
        Ok(message) => message,
        // Without a reply, the message may be stored nevertheless. If that cannot be determined,
        // the claim expires.
        Err(error @ (ServerError::Silent { .. } | ServerError::Broken { .. })) => {
            find_stored(server, &session.id, &metadata).await.ok_or(error)?
        }
        Err(error) => {
            blocking(move || pending.not_sent()).await?;
            return Err(error.into());
        }
    };
    let mut injection = blocking(move || pending.sent()).await?;
    injection.receipt.delivered = true;
    Ok(Delivered { injection, message })
}

/// The message that carries this metadata, if it is stored.
async fn find_stored(server: &OpencodeServer, session: &str, metadata: &Value) -> Option<String> {
    let messages = server.messages(session, MESSAGES).await.ok()?;
    let is_ours =
        |message: &&Message| message.parts.iter().any(|part| part.mark() == Some(metadata));
    messages.iter().find(is_ours).map(|message| message.info.id.clone())
}

/// Runs work on the state, which can wait for another process, without blocking other tasks.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotDelivered> {
    task::spawn_blocking(work).await.map_err(|_| NotDelivered::Fault)
}

/// The session, if it can get a context now.
async fn suitable(server: &OpencodeServer, id: &str) -> Result<opencode::Session, NotDelivered> {
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

/// The moment for which the session lacks a context.
async fn lacking(
    server: &OpencodeServer,
    request: &ServerDelivery,
    session: &opencode::Session,
) -> Result<Moment, NotDelivered> {
    let mut stored = look(server, &session.id).await?;
    // OpenCode copies the messages of a fork one by one.
    for _ in 0..FORK_LOOKS {
        if !session.is_fork() || !stored.marks.is_empty() {
            break;
        }
        sleep(time_limits::FORK_POLL).await;
        let later = look(server, &session.id).await?;
        let is_whole = later.n_messages > 0 && later == stored;
        stored = later;
        if is_whole {
            break;
        }
    }
    stored.lacking(request.to).ok_or_else(|| match stored.marks.last() {
        Some(Mark::Context) => NotDelivered::Has(session.id.clone()),
        _ => NotDelivered::UnderWay(session.id.clone()),
    })
}

/// Collects the marks in a session's messages.
async fn look(server: &OpencodeServer, session: &str) -> Result<Stored, NotDelivered> {
    let messages = server.messages(session, MESSAGES).await?;
    let marks = messages.iter().flat_map(|message| {
        message.parts.iter().filter_map(|part| match part.kind.as_str() {
            "compaction" => Some(Mark::Compaction(message.info.id.clone())),
            _ => part.mark().filter(|mark| is_of_context(mark)).map(|_| Mark::Context),
        })
    });
    let (n_messages, marks) = (messages.len(), marks.collect());
    Ok(Stored { n_messages, is_complete: n_messages < MESSAGES, marks })
}

/// Claims the moment and builds its context.
async fn prepare(
    request: &ServerDelivery,
    session: &opencode::Session,
    moment: Moment,
    warm: Option<Arc<Warm>>,
) -> Result<PendingDelivery<Injection>, NotDelivered> {
    let mut at = request.place.clone();
    at.dir.get_or_insert_with(|| session.directory.clone().into());
    let (budget, now) = (request.budget, request.now);
    let environment = at.environment.clone().unwrap_or_else(Environment::of_process);
    let session = Session {
        moment,
        budget,
        now,
        is_scripted: session.is_scripted() || environment.is_in_ci(),
        // Nothing outside of OpenCode can add to a prompt.
        tells_prompt: false,
        ..Session::new(&session.id, at, Host::Opencode)
    };
    blocking(move || {
        deliver(DeliveryRequest {
            door: Door::Http,
            place: &Place::find(&session.place)?,
            wanted: request_at(&session.moment),
            session,
            // A server does not report its process. The service's own process represents a
            // session that the service feeds.
            process: warm.is_some().then(Process::this),
            until: None,
            warm: warm.as_deref(),
        })
    })
    .await?
}

/// Checks that the server has the session's agent and model.
async fn known(server: &OpencodeServer, session: &opencode::Session) -> Result<(), NotDelivered> {
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
            .any(|provider| provider.id == *provider_id && provider.models.contains_key(id));
        if !is_known {
            return Err(unknown("model", &format!("{provider_id}/{id}")));
        }
    }
    Ok(())
}
