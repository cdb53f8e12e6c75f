//! Asks the service, if it runs. Without a reply, or with one of another version, the caller does
//! the work itself.

use std::collections::BTreeMap;
use std::path;
use std::time::Duration;

use crate::app::deliver::NotDelivered;
use crate::app::deliver::http::{Delivered, ServerDelivery};
use crate::core::time_limits;
use crate::hosts::opencode::BridgeReply;
use crate::service::instance;
use crate::service::protocol::{Call, Reply, ServiceQuestion, VERSION};
use crate::service::status::Status;
use crate::system::directories::Directories;
use crate::system::environment::{Environment, Secrets};
use crate::system::process::identity::Process;

/// Asks a bridge's question; `None` if the service does not answer.
pub fn hook(question: &[u8]) -> Option<BridgeReply> {
    let question = ServiceQuestion::Hook(String::from_utf8(question.to_vec()).ok()?);
    let reply = ask(question, time_limits::HOOK_SERVICE, Some(Secrets::LeftOut))?;
    let Reply::Hook(answer) = reply else { return None };
    Some(answer)
}

/// Delivers through the service; `None` if it does not answer.
pub fn deliver(url: &str, request: &ServerDelivery) -> Option<Result<Delivered, NotDelivered>> {
    let mut request = request.clone();
    // The service has another working folder.
    let place = &mut request.place;
    place.dir = place.dir.take().and_then(|dir| path::absolute(dir).ok());
    place.vaults = place.vaults.iter().filter_map(|vault| path::absolute(vault).ok()).collect();
    let question = ServiceQuestion::Deliver { server: url.to_owned(), request };
    let reply = ask(question, time_limits::SERVICE_DELIVERY, Some(Secrets::Included))?;
    let Reply::Delivered(done) = reply else { return None };
    Some(done.map(|delivered| *delivered).map_err(NotDelivered::ByService))
}

/// Asks for the service's status; `None` if it does not run.
pub fn status() -> Option<Result<Status, String>> {
    match ask(ServiceQuestion::Status, time_limits::SERVICE_STATUS, None)? {
        Reply::Status(status) => Some(Ok(status)),
        Reply::Other(version) => Some(Err(version)),
        _ => None,
    }
}

/// Asks with the environment that the question depends on; `None` for one that needs none.
fn ask(question: ServiceQuestion, limit: Duration, secrets: Option<Secrets>) -> Option<Reply> {
    let environment = Environment::of_process();
    let directories = Directories::locate(&environment).ok()?;
    let environment = match secrets {
        Some(secrets) => environment.relevant(secrets)?,
        None => BTreeMap::new(),
    };
    let patience_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    let (version, host) = (VERSION.to_owned(), Process::host());
    let call = Call { version, patience_ms, environment, host, question };
    let call = serde_json::to_vec(&call).ok()?;
    let reply = instance::ask(&directories, call, limit)?;
    serde_json::from_slice(&reply).ok()
}
