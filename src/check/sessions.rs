//! The contexts of all sessions, and those to compare them with.

use crate::check::baseline;
use crate::check::contexts::ContextBuilder;
use crate::check::contexts::sandbox::Sandbox;
use crate::check::contexts::session::SessionContext;
use crate::check::facts::SnapshotFacts;
use crate::check::finding::Rule;
use crate::check::growth::Before;
use crate::check::report::SessionReport;
use crate::check::rules::static_context;
use crate::check::{CheckError, CheckRequest};
use crate::system::breakpoint;

pub(crate) struct Sessions {
    pub(crate) contexts: Vec<SessionContext>,
    /// The texts of a second build; empty if `unstable-output` is off.
    pub(crate) again: Vec<String>,
    pub(crate) before: Option<Before>,
    /// The same contexts measured like a baseline, if there is one or one is to be written.
    pub(crate) agreed: Option<Vec<SessionReport>>,
}

impl Sessions {
    pub(crate) fn build(
        request: &CheckRequest,
        facts: &SnapshotFacts<'_>,
    ) -> Result<Sessions, CheckError> {
        let builds_twice = facts.roles.settings.is_on(Rule::UnstableOutput);
        let mut builder = ContextBuilder::new(facts, false)?;
        let contexts = builder.contexts()?;
        let mut again = Vec::new();
        if let Some(base) = &facts.base {
            builder.switch_to(base)?;
            let static_files = static_context::files(&facts.input(base));
            let before = Before::of_base(builder.contexts()?, static_files);
            if builds_twice {
                breakpoint::reach("check:again");
                // The same notes in another way: leftovers of the base in the index would show up.
                builder.switch_to(&facts.head)?;
                again = builder.texts()?;
            }
            return Ok(Sessions { contexts, again, before: Some(before), agreed: None });
        }
        let before =
            if request.updates_baseline { None } else { baseline::read(facts.repository)? };
        let is_measured = before.is_some() || request.updates_baseline;
        let mut agreed = None;
        if builds_twice || is_measured {
            breakpoint::reach("check:again");
            let sandbox = Sandbox::new(facts.repository, None)?;
            let facts = facts.read_again(&sandbox)?;
            let builder = ContextBuilder::new(&facts, true)?;
            if builds_twice {
                again = builder.texts()?;
            }
            agreed = is_measured.then(|| builder.reports_of_one_day()).transpose()?;
        }
        Ok(Sessions { contexts, again, before, agreed })
    }
}
