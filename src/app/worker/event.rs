//! What a worker reports to the thread that gathers.

use std::sync::Arc;
use std::time::Duration;

use crate::core::context::found::{ConceptDetails, FoundNote};
use crate::core::context::receipt::Fault;
use crate::core::source::SourceChoice;
use crate::sources::slow::{SlowAnswer, SlowSource};
use crate::sources::source::SourceAnswer;
use crate::workspace::{AppError, Place};

/// Which state of the index was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IndexState {
    /// As it was left.
    Last,
    /// After the vaults were listed.
    Fresh,
}

pub(crate) enum WorkerEvent {
    Place(Box<Result<Place, AppError>>),
    /// Which source answers, what is wrong with the others, and the source itself if it is slow.
    Chosen(SourceChoice, Vec<Fault>, Option<Arc<SlowSource>>),
    /// Whether there is a source to ask, and what is wrong with the vaults that cannot be used.
    Opened(bool, Vec<Fault>),
    /// Notes are being read for the index: those of all vaults, or without those of another source.
    Reading {
        covers_all: bool,
    },
    /// The index is up to date, or as good as it gets.
    Refreshed(Option<Fault>),
    /// The index turned out to be damaged, and is rebuilt.
    Rebuilding(Fault),
    /// There is no usable index.
    Failed(Fault),
    Search(IndexState, SourceAnswer<Vec<FoundNote>>),
    Recent(IndexState, SourceAnswer<Vec<FoundNote>>),
    Details(IndexState, SourceAnswer<ConceptDetails>),
    /// What the slow source answered, or why it did not.
    Slow(Result<Box<SlowAnswer>, String>),
    Took(&'static str, Duration),
    /// Nothing more will come, except from a slow source.
    Done,
}
