//! The events that a worker reports to the gathering thread.

use std::sync::Arc;
use std::time::Duration;

use crate::app::gather::UnfinishedIndex;
use crate::core::context::found::{ConceptDetails, Found, FoundNote};
use crate::core::context::receipt::Fault;
use crate::core::source::SourceChoice;
use crate::sources::slow::{SlowAnswer, SlowSource};
use crate::sources::source::{RankedNotes, SourceAnswer};
use crate::workspace::{AppError, Place};

/// The state of the index that answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexState {
    /// The last index, before the vaults were listed.
    Last,
    /// After the vaults were listed.
    Fresh,
}

/// The answers of another source, for a session that cannot wait for its first index.
pub(crate) struct Stopgap {
    pub(crate) found: Found,
    pub(crate) choice: SourceChoice,
}

pub(crate) enum WorkerEvent {
    Place(Box<Result<Place, AppError>>),
    /// The chosen source, the faults of the others, and the source itself if it is slow.
    Chosen(SourceChoice, Vec<Fault>, Option<Arc<SlowSource>>),
    /// Whether there is a source to ask, and the faults of unusable vaults.
    Opened(bool, Vec<Fault>),
    /// Notes are being read for the index: those of all vaults, or without those of another source.
    Reading {
        covers_all: bool,
    },
    /// Git did not say in time when some notes were committed: in this index, if it is stored.
    Undated(Option<UnfinishedIndex>),
    /// The index is up to date, as current as possible, or not usable at all.
    Refreshed(Option<Fault>),
    /// The index is damaged and is being rebuilt.
    Rebuilding(Fault),
    Search(IndexState, SourceAnswer<Vec<FoundNote>>),
    Recent(IndexState, SourceAnswer<Vec<FoundNote>>),
    Notes(IndexState, SourceAnswer<RankedNotes>),
    Details(IndexState, SourceAnswer<ConceptDetails>),
    /// The slow source's answer, or why it did not answer.
    Slow(Result<Box<SlowAnswer>, String>),
    /// What another source says while there is no index; `None` if it knows nothing.
    Stopgap(Option<Box<Stopgap>>),
    Took(&'static str, Duration),
    /// No more events follow, except from a slow source.
    Done,
}
