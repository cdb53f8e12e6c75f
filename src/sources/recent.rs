//! Answers "what changed lately?" from the index.

use crate::core::context::found::RECENT;
use crate::core::search::answer::{RecentAnswer, RecentFilter, RecentItem};
use crate::core::time::{Timespan, Timestamp};
use crate::sources::search::uri;
use crate::store::index::{Index, IndexError, NoteCard, NoteId};
use crate::system::clock;
use crate::workspace::refresh::{Refreshed, ask};
use crate::workspace::{AppError, Workspace};

#[derive(Debug, Clone, Copy)]
pub struct RecentQuestion {
    /// The time from which `span` is counted back; `None` reads the clock.
    pub now: Option<Timestamp>,
    pub span: Timespan,
    pub limit: usize,
    pub filter: RecentFilter,
}

impl RecentQuestion {
    /// The question of a context.
    pub(crate) fn of_last_day(now: Option<Timestamp>) -> RecentQuestion {
        RecentQuestion { now, span: Timespan::DAY, limit: RECENT, filter: RecentFilter::Memory }
    }
}

/// Finds the notes whose files were written recently, newest first, after a refresh.
pub fn recent(
    workspace: &Workspace,
    question: RecentQuestion,
) -> Result<(RecentAnswer, Refreshed), AppError> {
    ask(workspace, |index| answer(workspace, index, question))
}

/// Finds the notes whose files were written recently, without a refresh.
pub fn answer(
    workspace: &Workspace,
    index: &Index,
    question: RecentQuestion,
) -> Result<RecentAnswer, IndexError> {
    let now = question.now.unwrap_or_else(clock::now);
    let (found, older) = newest(workspace, index, question)?;
    let item = |(note, uri, card): Card| -> Result<RecentItem, IndexError> {
        let concepts = index.concepts_of(note)?;
        Ok(RecentItem { uri, title: card.title, modified: card.modified, concepts })
    };
    let older = older.filter(|_| found.is_empty());
    let newest_older = older.map(item).transpose()?;
    let items = found.into_iter().map(item).collect::<Result<_, _>>()?;
    Ok(RecentAnswer { now, items, newest_older })
}

/// A note with its address and its displayed data.
pub(crate) type Card = (NoteId, String, NoteCard);

/// The notes that are recent enough, newest first. Also the newest older note, if the filter admits it.
pub(crate) fn newest(
    workspace: &Workspace,
    index: &Index,
    question: RecentQuestion,
) -> Result<(Vec<Card>, Option<Card>), IndexError> {
    let RecentQuestion { now: asked_for_now, span, limit, filter } = question;
    let since = asked_for_now.unwrap_or_else(clock::now).before(span);
    let mut found = Vec::new();
    let mut older = None;
    index.newest_first(|note, card| {
        // At the given time, later changes had not happened yet.
        let is_later = asked_for_now.is_some_and(|now| card.modified > now);
        let uri = uri(workspace, &card);
        if card.modified < since {
            older = admits(filter, &uri).then_some((note, uri, card));
            return false;
        }
        if is_later || !admits(filter, &uri) {
            return true;
        }
        if found.len() < limit {
            found.push((note, uri, card));
        }
        found.len() < limit
    })?;
    Ok((found, older))
}

/// maenifold's filters, which depend on the address.
pub(crate) fn admits(filter: RecentFilter, uri: &str) -> bool {
    let thinking = uri.starts_with("memory://thinking/");
    let chat = uri.starts_with("memory://chat/");
    match filter {
        RecentFilter::All => true,
        RecentFilter::Thinking => thinking,
        RecentFilter::Memory => !thinking && !chat,
    }
}
