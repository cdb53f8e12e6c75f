//! Where notes come from: the index, and other sources. To add a source, implement `source::Source` in a file of its
//! own, and let `choose` choose it.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

pub mod blend;
pub mod context;
pub(crate) mod local_index;
pub mod maenifold;
pub mod read;
pub mod recent;
pub mod search;
pub(crate) mod slow;
pub(crate) mod source;

use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use crate::core::context::receipt::Fault;
use crate::core::source::{SourceChoice, SourcePreference};
use crate::core::time::Timestamp;
use crate::sources::slow::SlowSource;
use crate::sources::source::SharedSource;
use crate::workspace::Place;

/// The name of the index as a source.
pub(crate) const INDEX: Cow<'static, str> = Cow::Borrowed("index");

/// Which source answers, why, and what is wrong with those that do not.
pub(crate) struct Chosen {
    pub(crate) plan: Plan,
    pub(crate) choice: SourceChoice,
    pub(crate) faults: Vec<Fault>,
}

/// How the chosen source is asked.
pub(crate) enum Plan {
    /// The index answers about all notes.
    Index,
    /// This source answers about its notes, and the index of this place about the rest.
    Beside(SharedSource, Box<Place>),
    /// This source answers if it is in time, and the index otherwise.
    Slow(Arc<SlowSource>),
}

impl Chosen {
    pub(crate) fn new(plan: Plan, name: &'static str, because: impl Into<String>) -> Chosen {
        let choice = SourceChoice { source: Cow::Borrowed(name), because: because.into() };
        Chosen { plan, choice, faults: Vec::new() }
    }

    pub(crate) fn index(because: impl Into<String>) -> Chosen {
        Chosen::new(Plan::Index, "index", because)
    }
}

/// Chooses the source for a place's notes. A slow one has to be done by `until`.
pub(crate) fn choose(place: &Place, now: Option<Timestamp>, until: Instant) -> Chosen {
    maenifold::choose(place, now, until)
}

/// The source for a session that cannot wait for its first index, if there is one.
pub(crate) fn before_the_first_index(place: &Place, now: Option<Timestamp>) -> Option<Chosen> {
    maenifold::before_the_first_index(place, now)
}

/// Tells states of other sources apart that may change without any note being changed.
pub(crate) fn state_of(place: &Place) -> impl Debug {
    maenifold::state_of(place)
}

/// Why the index answered in place of a source that was chosen, or that was not chosen in time.
pub(crate) fn index_instead(
    chosen: Option<SourceChoice>,
    preference: SourcePreference,
) -> (SourceChoice, Option<Fault>) {
    let (because, fault) = match chosen {
        Some(choice) if choice.source == INDEX => (choice.because, None),
        Some(_) => ("a folder of notes does not respond".to_owned(), None),
        None => maenifold::undecided(preference),
    };
    (SourceChoice { source: INDEX, because }, fault)
}
