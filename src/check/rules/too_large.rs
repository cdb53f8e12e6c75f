//! Notes, handoffs and static files that are too large to be read. Each breaks the rule of its
//! role, because no other rule sees it.

use crate::check::facts::SnapshotFacts;
use crate::check::finding::{Finding, Rule, Spot};
use crate::check::repository_file::RepositoryFile;
use crate::system::vault;

pub(crate) fn find(facts: &SnapshotFacts<'_>) -> Vec<Finding> {
    let (roles, max_bytes) = (facts.roles, facts.sandbox.settings.max_file_bytes.value);
    let finding = |RepositoryFile { path, .. }: &RepositoryFile| {
        let rule = match path {
            path if roles.is_note(path) => Rule::GiantNote,
            path if roles.is_handoff(path) => Rule::HandoffInvalid,
            path => roles.static_limit(path).map(|_| Rule::StaticContext)?,
        };
        let n_bytes = vault::size(&facts.repository.tree.top.join(path))?;
        let message = format!(
            "kgctx skips this file: it has {n_bytes} bytes, and `max_file_bytes` is {max_bytes}"
        );
        let hint = "split it, move it out of the notes, or raise `max_file_bytes`";
        (n_bytes > max_bytes).then(|| Finding::new(rule, Spot::top_of(path), message, hint))
    };
    facts.head.files.iter().filter(|file| file.text.is_none()).filter_map(finding).collect()
}
