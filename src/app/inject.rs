//! Builds a session's context: the whole path on one screen.

use crate::app::deadline::Deadline;
use crate::app::draft::{ContextDraft, Drafter};
use crate::app::gather::gather;
use crate::app::receipt::assemble;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::core::context::receipt::{Injection, Stage};
use crate::core::time_limits;
use crate::workspace::AppError;

/// Builds a session's context and delivers nothing. Only wrong usage or configuration is an error;
/// any other failure is a fault in the receipt.
pub fn inject(session: &Session, recording: Recording) -> Result<Injection, AppError> {
    let mut deadline = Deadline::start(time_limits::CONTEXT, session.within);
    let mut drafter = Drafter::new(session, recording);
    let mut gathered = gather(session, &mut deadline, &mut drafter)?;
    let ContextDraft { context, uncommitted, took } = match gathered.draft.take() {
        Some(draft) => draft,
        None => drafter.draft(gathered.place.as_ref(), &gathered.found),
    };
    let mut injection = assemble(session, gathered, context, drafter.handoff.unwrap_or_default());
    let receipt = &mut injection.receipt;
    receipt.uncommitted = uncommitted;
    receipt.stages.push(Stage::new("pack", took));
    receipt.stages.push(Stage::new("all", deadline.elapsed()));
    let (receipt, id) = drafter.recorder.record(injection.receipt, deadline.left());
    Ok(Injection { receipt, id, ..injection })
}
