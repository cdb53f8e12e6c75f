//! **config-unknown-key**: a key of `kgctx.toml` that has no effect.

use crate::check::finding::{Finding, Rule, Severity};
use crate::check::repository::Repository;
use crate::check::rules::text_file::name_shown;
use crate::check::settings::file::UnknownKey;

pub(crate) fn find(repository: &Repository) -> Vec<Finding> {
    let finding = |unknown: &UnknownKey| Finding {
        rule: Rule::ConfigUnknownKey,
        severity: Severity::Error,
        excerpt: repository.excerpt(&unknown.spot),
        spot: unknown.spot.clone(),
        message: format!("kgctx knows no key `{}` here", name_shown(&unknown.key)),
        hint: match &unknown.nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("take it out; known are `{}`", unknown.known.join("`, `")),
        },
        session: None,
    };
    repository.file.unknown.iter().map(finding).collect()
}
