//! The contexts of all sessions, and those to compare them with.

use crate::check::baseline::Baseline;
use crate::check::contexts::sandbox::Sandbox;
use crate::check::contexts::session::SessionContext;
use crate::check::contexts::{ContextBuilder, Order};
use crate::check::facts::SnapshotFacts;
use crate::check::finding::Rule;
use crate::check::growth::Before;
use crate::check::{CheckError, CheckRequest};
use crate::system::breakpoint;

pub(crate) struct Sessions {
    pub(crate) contexts: Vec<SessionContext>,
    /// The texts of a second build; empty if `unstable-output` is off.
    pub(crate) again: Vec<String>,
    pub(crate) before: Option<Before>,
    /// The same contexts measured like a baseline, if there is one or one is to be written.
    pub(crate) agreed: Option<Vec<SessionContext>>,
}

impl Sessions {
    pub(crate) fn build(
        request: &CheckRequest,
        baseline: &Baseline,
        facts: &SnapshotFacts<'_>,
        sandbox: &Sandbox<'_>,
    ) -> Result<Sessions, CheckError> {
        let builds_twice = facts.roles.settings.is_on(Rule::UnstableOutput);
        let mut builder = ContextBuilder::new(facts, sandbox, Order::AsListed)?;
        let contexts = builder.build()?;
        let mut again = Vec::new();
        if let Some(base) = &facts.base {
            builder.switch_to(base)?;
            let before = Before::of_base(facts, builder.build()?);
            if builds_twice {
                breakpoint::reach("check:again");
                // The same notes in another way: leftovers of the base in the index would show up.
                builder.switch_to(&facts.head)?;
                again = builder.build_texts()?;
            }
            return Ok(Sessions { contexts, again, before: Some(before), agreed: None });
        }
        let before =
            if request.updates_baseline { None } else { baseline.read(facts.repository)? };
        let is_measured = before.is_some() || request.updates_baseline;
        let mut agreed = None;
        if builds_twice || is_measured {
            breakpoint::reach("check:again");
            let sandbox = Sandbox::new(facts.repository, None)?;
            let facts = SnapshotFacts::read(facts.repository, &sandbox, None)?;
            let builder = ContextBuilder::new(&facts, &sandbox, Order::Reversed)?;
            if builds_twice {
                again = builder.build_texts()?;
            }
            agreed = is_measured.then(|| builder.build_of_one_day()).transpose()?;
        }
        Ok(Sessions { contexts, again, before, agreed })
    }
}
