//! A session that needs a context, and the limits on building it.

use std::path::Path;
use std::time::Duration;

use crate::app::session_handoff::SessionHandoff;
use crate::core::context::budget::Budget;
use crate::core::context::rank::Ranking;
use crate::core::context::supplement::Given;
use crate::core::host::Host;
use crate::core::session::Moment;
use crate::core::time::Timestamp;
use crate::system::user_input;
use crate::workspace::{AppError, Place, Request};

/// A longer text is no prompt.
const MOST_PROMPT_BYTES: u64 = 1024 * 1024;

#[derive(Debug, Clone, Default)]
pub struct Session {
    pub id: String,
    pub moment: Moment,
    /// Where the session runs.
    pub place: Request,
    /// The place that the request resolves to, if it is already known.
    pub found: Option<Place>,
    pub host: Host,
    /// Whether no person takes part in it.
    pub is_scripted: bool,
    /// What the user asked first, if that is known.
    pub prompt: Option<String>,
    /// Whether the host tells the first prompt after the context went out.
    pub tells_prompt: bool,
    /// What the session already has; only for a supplement.
    pub given: Option<Given>,
    /// The ranking, if not the one of the settings.
    pub ranking: Option<Ranking>,
    /// The most tokens; `None` uses the limit of the settings.
    pub budget: Option<usize>,
    /// The most characters that the session takes, if it limits them itself.
    pub max_chars: Option<usize>,
    /// The time that counts as now; `None` reads the clock.
    pub now: Option<Timestamp>,
    /// The time limit for building the context; `None` uses the deadline of the settings.
    pub within: Option<Duration>,
    /// Whether a watcher guarantees that the index is up to date.
    pub is_watched: bool,
    /// The handoff; `None` previews the one that the session would get now, without claiming it.
    pub handoff: Option<SessionHandoff>,
}

/// Reads a prompt from a file.
pub fn read_prompt(file: &Path) -> Result<String, AppError> {
    user_input::read_file(file, MOST_PROMPT_BYTES).map_err(AppError::Place)
}

impl Session {
    /// A session at its start, with the limits of the settings.
    pub fn new(id: &str, place: Request, host: Host) -> Session {
        let tells_prompt = host.facts().tells_prompt;
        Session { id: id.to_owned(), place, host, tells_prompt, ..Session::default() }
    }

    pub(super) fn ranking_in(&self, place: Option<&Place>) -> Ranking {
        let set = place.map_or_else(Ranking::default, |place| place.settings.rank.value);
        self.ranking.unwrap_or(set)
    }

    /// The budget of the context; zero while the settings are unknown.
    pub(super) fn budget_in(&self, place: Option<&Place>) -> Budget {
        let limit = self.limit_in(place);
        Budget { tokens: limit.tokens - self.kept_in(place), ..limit }
    }

    /// The tokens that the context leaves to the supplement.
    pub(super) fn kept_in(&self, place: Option<&Place>) -> usize {
        let is_followed = self.moment == Moment::Start
            && self.tells_prompt
            && self.prompt.is_none()
            && self.ranking_in(place) == Ranking::Notes;
        let share = place.filter(|_| is_followed).map(|place| place.settings.prompt_share.value);
        share.map_or(0, |share| share.of(self.limit_in(place).tokens))
    }

    fn limit_in(&self, place: Option<&Place>) -> Budget {
        let left = self.given.as_ref().map(|given| given.left);
        let limit = place.map_or(0, |Place { settings, .. }| match self.moment {
            Moment::Start => settings.token_limit.value as usize,
            Moment::Compaction(_) | Moment::Handoff(_) => {
                settings.compaction_token_limit.value as usize
            }
            Moment::Prompt => left.unwrap_or_default(),
        });
        let limit = self.budget.unwrap_or(limit);
        let budget = self.host.budget(left.map_or(limit, |left| limit.min(left)));
        Budget { chars: budget.chars.into_iter().chain(self.max_chars).min(), ..budget }
    }
}
