//! **config-unknown-key**: a key of `kgctx.toml` that has no effect.

use crate::check::finding::{Finding, Rule};
use crate::check::repository::Repository;
use crate::check::rules::text_file::name_shown;
use crate::check::settings::file::UnknownKey;

pub(crate) fn find(repository: &Repository) -> Vec<Finding> {
    let finding = |UnknownKey { key, spot, known, nearest }: &UnknownKey| {
        let message = format!("unknown key `{}`", name_shown(key));
        let hint = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => format!("remove it; the known keys are `{}`", known.join("`, `")),
        };
        let finding = Finding::new(Rule::ConfigUnknownKey, spot.clone(), message, hint);
        Finding { excerpt: repository.excerpt(spot), ..finding }
    };
    repository.file.unknown.iter().map(finding).collect()
}
