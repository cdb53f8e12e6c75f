//! What rules, remarks and growth can query about the repository: both of its versions, read once.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::HashSet;

use rayon::prelude::*;

use crate::check::CheckError;
use crate::check::contexts::sandbox::Sandbox;
use crate::check::report::EntryName;
use crate::check::repository::Repository;
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::RuleInput;
use crate::check::rules::roles::Roles;
use crate::check::snapshot::Snapshot;
use crate::check::snapshot::base::Base;
use crate::core::context::candidate::Part;
use crate::core::note::{Remarks, markdown};
use crate::core::settings::LinkStyle;

pub(crate) struct SnapshotFacts<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) sandbox: &'r Sandbox<'r>,
    pub(crate) roles: Roles<'r>,
    pub(crate) head: Snapshot<'r>,
    pub(crate) base: Option<Snapshot<'r>>,
    addresses: OnceCell<HashSet<String>>,
    concepts: OnceCell<HashSet<String>>,
}

impl<'r> SnapshotFacts<'r> {
    pub(crate) fn read(
        sandbox: &'r Sandbox<'r>,
        base: Option<&'r Base>,
    ) -> Result<SnapshotFacts<'r>, CheckError> {
        let head = Snapshot::of_working_tree(sandbox, None)?;
        let base = base.map(|base| Snapshot::of_base(sandbox, base, &head)).transpose()?;
        Ok(SnapshotFacts::new(sandbox, head, base))
    }

    /// Reads the files of the working tree a second time, but not the history.
    pub(crate) fn read_again<'s>(
        &self,
        sandbox: &'s Sandbox<'s>,
    ) -> Result<SnapshotFacts<'s>, CheckError> {
        let head = Snapshot::of_working_tree(sandbox, Some(&self.head))?;
        Ok(SnapshotFacts::new(sandbox, head, None))
    }

    fn new(
        sandbox: &'r Sandbox<'r>,
        head: Snapshot<'r>,
        base: Option<Snapshot<'r>>,
    ) -> SnapshotFacts<'r> {
        let (repository, roles) = (sandbox.repository, sandbox.roles());
        let (addresses, concepts) = (OnceCell::new(), OnceCell::new());
        SnapshotFacts { repository, sandbox, roles, head, base, addresses, concepts }
    }

    pub(crate) fn input<'a>(&'a self, snapshot: &'a Snapshot<'_>) -> RuleInput<'a> {
        let settings = &self.sandbox.settings;
        RuleInput {
            files: &snapshot.files,
            unread: &self.repository.listing.unread,
            roles: self.roles,
            // Without a preference, a link need not lead to a note: most programs make the note when it is followed.
            links: settings.links.value.style().unwrap_or(LinkStyle::Maenifold),
            now: self.repository.now,
            encoding: settings.encoding.value,
            max_age_days: settings.handoff.max_age_days.value,
        }
    }

    pub(crate) fn notes<'a>(
        &self,
        snapshot: &'a Snapshot<'_>,
    ) -> impl Iterator<Item = &'a RepositoryFile> {
        let roles = self.roles;
        snapshot.files.iter().filter(move |file| roles.is_note(&file.path))
    }

    pub(crate) fn n_notes(&self) -> usize {
        self.notes(&self.head).count()
    }

    /// Whether the working tree has the entry, shown or not. Collects notes and concepts at the
    /// first call, because reading all notes again is slow.
    pub(crate) fn has_entry(&self, EntryName { part, name }: &EntryName) -> bool {
        let mut handoffs = self.head.handoffs.iter();
        match part {
            Part::Recent => self.addresses.get_or_init(|| self.addresses()).contains(name),
            Part::Handoff => handoffs.any(|handoff| handoff.name() == *name),
            Part::Files => handoffs.any(|handoff| handoff.listed().contains(name)),
            _ => self.concepts.get_or_init(|| self.concepts()).contains(name),
        }
    }

    fn addresses(&self) -> HashSet<String> {
        self.notes(&self.head).flat_map(|file| self.roles.addresses(&file.path)).collect()
    }

    fn concepts(&self) -> HashSet<String> {
        let roles = self.roles;
        let notes = self.head.files.par_iter();
        let notes = notes.filter_map(|file| Some((file, roles.vault_of(&file.path)?)));
        let concepts = notes.flat_map_iter(|(file, vault)| {
            let text = file.text.as_deref().unwrap_or_default();
            let note = markdown::parse(text, "", vault.style, Remarks::default());
            note.mentions.into_keys().map(|concept| concept.to_string())
        });
        concepts.collect()
    }

    /// The note or handoff that grew most. Without a base: the largest that is newer than the
    /// baseline, else the largest.
    pub(crate) fn most_grown(&self) -> Option<&str> {
        let settings = self.roles.settings;
        let baseline = self.head.files.iter().find(|file| file.path == settings.baseline);
        let baseline = baseline.filter(|_| self.base.is_none());
        let is_newer = |file: &RepositoryFile| {
            baseline.is_some_and(|baseline| {
                file.modified > baseline.modified || self.head.uncommitted.contains(&file.path)
            })
        };
        let has_role = |path: &str| self.roles.is_note(path) || self.roles.is_handoff(path);
        let files = self.head.files.iter().filter(|file| has_role(&file.path));
        let sized = files.filter_map(|file| Some((file, file.text.as_ref()?.len())));
        let most = sized.max_by_key(|(file, size)| {
            (is_newer(file), self.gained(&file.path, *size), *size, Reverse(&file.path))
        });
        most.map(|(file, _)| file.path.as_str())
    }

    /// The number of bytes that a file gained since the base; none if it was not read there.
    fn gained(&self, path: &str, size: usize) -> usize {
        let Some(base) = &self.base else { return 0 };
        let found = base.files.binary_search_by(|other| other.path.as_str().cmp(path));
        let before = found.map(|n| base.files[n].text.as_ref().map_or(size, String::len));
        size.saturating_sub(before.unwrap_or(0))
    }
}
