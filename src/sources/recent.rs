//! Answers "what changed lately?" from the index.

use crate::core::context::found::RECENT;
use crate::core::search::answer::{RecentAnswer, RecentFilter, RecentItem};
use crate::core::time::{Timespan, Timestamp};
use crate::sources::search::{path, uri};
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
    newest(workspace, index, question)?.into_answer(|(note, card)| {
        let (uri, concepts) = (uri(workspace, &card), index.concepts_of(note)?);
        let path = Some(path(workspace, &card));
        let modified = card.modified;
        Ok(RecentItem { uri, path, title: card.shown_title(), modified, concepts })
    })
}

pub(crate) fn newest(
    workspace: &Workspace,
    index: &Index,
    question: RecentQuestion,
) -> Result<Newest<(NoteId, NoteCard)>, IndexError> {
    let mut newest = Newest::of(question);
    index.newest_first(|note, card| {
        newest.take(&uri(workspace, &card), card.modified, (note, card))
    })?;
    Ok(newest)
}

/// The notes that are recent enough, taken newest first.
pub(crate) struct Newest<Note> {
    question: RecentQuestion,
    now: Timestamp,
    pub(crate) found: Vec<Note>,
    /// The newest older note, if the filter admits it.
    older: Option<Note>,
}

impl<Note> Newest<Note> {
    pub(crate) fn of(question: RecentQuestion) -> Newest<Note> {
        let now = question.now.unwrap_or_else(clock::now);
        Newest { question, now, found: Vec::new(), older: None }
    }

    /// Takes the next note, and returns whether to go on.
    pub(crate) fn take(&mut self, uri: &str, modified: Timestamp, note: Note) -> bool {
        let RecentQuestion { now, span, limit, filter } = self.question;
        let is_admitted = admits(filter, uri);
        if modified < self.now.before(span) {
            self.older = is_admitted.then_some(note);
            return false;
        }
        // At the given time, later changes had not happened yet.
        let is_later = now.is_some_and(|now| modified > now);
        if is_later || !is_admitted {
            return true;
        }
        if self.found.len() < limit {
            self.found.push(note);
        }
        self.found.len() < limit
    }

    /// The answer for a person.
    pub(crate) fn into_answer<Error>(
        self,
        item: impl Fn(Note) -> Result<RecentItem, Error>,
    ) -> Result<RecentAnswer, Error> {
        let older = self.older.filter(|_| self.found.is_empty());
        let newest_older = older.map(&item).transpose()?;
        let items = self.found.into_iter().map(item).collect::<Result<_, _>>()?;
        Ok(RecentAnswer { now: self.now, items, newest_older })
    }
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
