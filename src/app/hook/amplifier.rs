//! Answers the hook of Amplifier: once per session, at its first prompt, because what is said at a session's start is thrown
//! away there.

use std::path::PathBuf;
use std::time::Instant;

use crate::app::hook::direct::{self, Subject, Underway};
use crate::core::context::budget::Host;
use crate::core::session::Moment;
use crate::hosts::amplifier::hook::{Answer, Event, Happening};
use crate::store::state::HandoffRequest;
use crate::workspace::Place;

/// What Amplifier is told where there is nothing to say.
pub fn go_on() -> String {
    Answer::Continue.to_json()
}

/// Answers a hook; `None` where there is nothing to say.
pub fn amplifier(question: &[u8], until: Instant) -> Option<Underway> {
    let event = Event::parse(question).ok()?;
    if event.happening != Happening::PromptSubmitted || event.parent_id.is_some() {
        return None;
    }
    let session = event.session_id?;
    let request = direct::request(event.directory.unwrap_or_else(|| PathBuf::from(".")));
    let place = Place::find(&request).ok()?;
    if !place.settings.enabled.value {
        return None;
    }
    let (moment, wanted) = (Moment::Start, HandoffRequest::First);
    let subject = Subject { session: &session, host: Host::Plain, moment, wanted, until };
    let underway = direct::give(&place, request, &subject)?;
    let answer = Answer::Inject(underway.text.clone()).to_json();
    Some(underway.saying(answer))
}
