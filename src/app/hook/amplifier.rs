//! Answers the hook of Amplifier: once per session, at its first prompt, because Amplifier discards what a hook says at a session's
//! start.

use std::path::PathBuf;
use std::time::Instant;

use crate::app::deliver::{DeliveryRequest, Door, PendingDelivery, deliver};
use crate::app::session::Session;
use crate::core::handoff::choice::HandoffRequest;
use crate::core::host::Host;
use crate::hosts::amplifier::hook::{Answer, Event, Happening};
use crate::system::process::identity::Process;
use crate::workspace::{Place, Request};

/// What Amplifier hears where there is nothing to say.
pub fn go_on() -> String {
    Answer::Continue.to_json()
}

/// Answers a hook; `None` where there is nothing to say.
pub fn amplifier(question: &[u8], until: Instant) -> Option<PendingDelivery<String>> {
    let event = Event::parse(question).ok()?;
    if event.happening != Happening::PromptSubmitted || event.parent_id.is_some() {
        return None;
    }
    let at = Request::lenient(event.directory.unwrap_or_else(|| PathBuf::from(".")));
    let place = Place::find(&at).ok()?;
    let pending = deliver(DeliveryRequest {
        door: Door::Stdout,
        session: Session::new(&event.session_id?, at, Host::Amplifier),
        place: &place,
        wanted: HandoffRequest::First,
        process: Process::host(),
        until: Some(until),
        warm: None,
    });
    Some(pending.ok()?.map(|injection| Answer::Inject(injection.text).to_json()))
}
