//! Writes a handoff before a host replaces a conversation by a summary, and tells the summariser what to keep. The session
//! is given the handoff back afterwards.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::app::handoff::{HandoffError, Handoffs, Result};
use crate::core::handoff::conversation::Conversation;
use crate::core::handoff::ending::Ending;
use crate::core::handoff::record::HandoffRecord;
use crate::core::handoff::work::Work;
use crate::core::handoff::{Audience, Document, Head, Kind, Occasion, Status, ending};
use crate::core::time::Timestamp;
use crate::system::environment::Environment;
use crate::system::git_work;
use crate::workspace::Request;

/// A session that is about to forget.
pub(crate) struct Forgetful<'a> {
    pub(crate) session: &'a str,
    /// The folder that it works in.
    pub(crate) folder: PathBuf,
    pub(crate) conversation: &'a Conversation,
    /// Where its host keeps the whole conversation.
    pub(crate) transcript: Option<&'a Path>,
    /// Whether no person takes part in it.
    pub(crate) is_scripted: bool,
    /// The environment that counts, if not that of this process.
    pub(crate) environment: Option<Environment>,
    /// How long git may take.
    pub(crate) patience: Duration,
}

/// Writes the handoff before a compaction. Returns what the summariser is told; `None` if there is no handoff.
pub(crate) fn before_compaction(session: &Forgetful<'_>) -> Option<String> {
    let (id, head) = capture(session)?;
    Some(ending::to_summariser(&id, &head))
}

/// Writes the handoff, or extends the one that the session left itself. Returns its id and its head; `None` if no handoff
/// is wanted, or could be written.
pub(crate) fn capture(session: &Forgetful<'_>) -> Option<(String, Head)> {
    let mut request = Request::lenient(session.folder.clone());
    request.environment = session.environment.clone();
    let id = Some(session.session.to_owned());
    let mut handoffs = Handoffs::open_at(&request, id, true).ok()?;
    let place = &handoffs.place;
    let settings = &place.settings.handoff;
    let is_on = place.settings.enabled.value && settings.enabled.value && place.closed.is_none();
    let is_heard = !session.is_scripted || settings.audience.value == Audience::Any;
    if !is_on || !is_heard {
        return None;
    }
    handoffs.capture(session).ok()
}

impl Handoffs {
    /// The id and the head of the handoff that the session is given back.
    fn capture(&mut self, session: &Forgetful<'_>) -> Result<(String, Head)> {
        let conversation = session.conversation;
        let is_own = |record: &HandoffRecord| {
            record.kind == Kind::Session
                && record.status == Status::Active
                && record.session.as_deref() == Some(session.session)
                && record.occasion != Occasion::End
        };
        let own = self.list(false)?.into_iter().find(is_own);
        let left = own.map(|own| Ok::<_, HandoffError>((self.document(&own)?.document, own)));
        let left = left.transpose()?;
        if let Some((document, own)) = &left {
            let created = own.created.milliseconds();
            if conversation.last_ms.is_none_or(|last| last <= created) {
                return Ok((own.id.to_string(), document.head.clone()));
            }
        }
        let name = session.transcript.map(Path::to_string_lossy);
        let work = self.work_of(session.session, conversation, session.patience);
        let ending = Ending::of_compaction(session.session, name.as_deref(), conversation);
        let origin = self.state.last_received(session.session)?;
        let ending = ending
            .after(origin.as_ref())
            .with_work(&work)
            .counted_in(self.place.settings.encoding.value);
        let document = match left {
            Some((document, own)) if own.occasion != Occasion::Auto => {
                let document = ending.extended(document, own.id.as_str());
                // Its own time counts from now on.
                let head = Head { created_at: None, expires_at: None, ..document.head };
                Document { head, ..document }
            }
            _ => ending.before_compaction(),
        };
        let head = document.head.clone();
        Ok((self.create(document)?.id.to_string(), head))
    }

    /// What the repository shows of a session.
    pub(super) fn work_of(
        &self,
        session: &str,
        conversation: &Conversation,
        patience: Duration,
    ) -> Work {
        let origin = || self.state.session_origin(session).ok()?;
        let began = conversation.began_ms.or_else(|| origin().map(|origin| origin.at_ms));
        let top = self.place.project.checkout.as_deref();
        let until = Instant::now() + patience;
        let work = top.zip(began).and_then(|(top, began)| {
            git_work::since(top, Timestamp::from_milliseconds(began), until)
        });
        work.unwrap_or_default()
    }
}
