//! What rules, remarks and growth can query about the repository: both of its versions, read once.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::HashSet;

use rayon::prelude::*;

use crate::check::CheckError;
use crate::check::contexts::sandbox::Sandbox;
use crate::check::finding::{Rule, Spot};
use crate::check::report::{EntryName, StaticFile};
use crate::check::repository::Repository;
use crate::check::repository_file::RepositoryFile;
use crate::check::rules::roles::Roles;
use crate::check::rules::{RuleInput, static_context};
use crate::check::snapshot::base::Base;
use crate::check::snapshot::{Snapshot, SnapshotReader, text};
use crate::core::context::candidate::Part;
use crate::core::note::{Remarks, markdown};
use crate::core::settings::Settings;
use crate::system::vault;

pub(crate) struct SnapshotFacts<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) roles: Roles<'r>,
    settings: &'r Settings,
    /// Larger files are not read.
    pub(crate) max_bytes: u64,
    pub(crate) head: Snapshot<'r>,
    pub(crate) base: Option<Snapshot<'r>>,
    addresses: OnceCell<HashSet<String>>,
    concepts: OnceCell<HashSet<String>>,
}

impl<'r> SnapshotFacts<'r> {
    pub(crate) fn read(
        repository: &'r Repository,
        sandbox: &'r Sandbox<'r>,
        base: Option<&'r Base>,
    ) -> Result<SnapshotFacts<'r>, CheckError> {
        let settings = &sandbox.settings;
        let max_bytes = settings.max_file_bytes.value;
        let roles = Roles { settings: &repository.file.settings, vaults: &sandbox.vaults };
        let reader = SnapshotReader { repository, roles, max_bytes };
        let head = reader.working_tree()?;
        let base = base.map(|base| reader.base(base, &head)).transpose()?;
        let (addresses, concepts) = (OnceCell::new(), OnceCell::new());
        Ok(SnapshotFacts {
            repository,
            roles,
            settings,
            max_bytes,
            head,
            base,
            addresses,
            concepts,
        })
    }

    pub(crate) fn input<'a>(&'a self, snapshot: &'a Snapshot<'_>) -> RuleInput<'a> {
        RuleInput {
            files: &snapshot.files,
            unread: &self.repository.unread,
            vaults: self.roles.vaults,
            links: self.settings.links.value,
            settings: self.roles.settings,
            now: self.repository.now,
            encoding: self.settings.encoding.value,
            max_age_days: self.settings.handoff.max_age_days.value,
        }
    }

    pub(crate) fn base_static_files(&self) -> Vec<StaticFile> {
        let base = self.base.as_ref();
        base.map(|base| static_context::files(&self.input(base))).unwrap_or_default()
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
        let (style, roles) = (self.settings.links.value, self.roles);
        let notes = self.head.files.par_iter().filter(|file| roles.is_note(&file.path));
        let concepts = notes.flat_map_iter(|file| {
            let text = file.text.as_deref().unwrap_or_default();
            let note = markdown::parse(text, "", style, Remarks::default());
            note.mentions.into_keys().map(|concept| concept.to_string())
        });
        concepts.collect()
    }

    /// Files that are too large to be read, with their sizes in bytes and the rules that they
    /// break.
    pub(crate) fn too_large(&self) -> Vec<(&str, u64, Rule)> {
        let unread = self.head.files.iter().filter(|file| file.text.is_none());
        let too_large = unread.filter_map(|file| {
            let path = file.path.as_str();
            let rule = match path {
                path if self.roles.is_note(path) => Rule::GiantNote,
                path if self.roles.is_handoff(path) => Rule::HandoffInvalid,
                path => self.roles.static_limit(path).map(|_| Rule::StaticContext)?,
            };
            let n_bytes = vault::size(&self.repository.tree.top.join(path))?;
            (n_bytes > self.max_bytes).then_some((path, n_bytes, rule))
        });
        too_large.collect()
    }

    /// The first changed line of a file that was written during the check.
    pub(crate) fn written_meanwhile(&self) -> Option<Spot> {
        self.head.files.iter().find_map(|RepositoryFile { path, text: read, .. }| {
            let read = read.as_deref()?;
            let bytes = self.repository.tree.read(path, self.max_bytes);
            let now = bytes.map(text).unwrap_or_default();
            let same = || read.split('\n').zip(now.split('\n')).take_while(|(a, b)| a == b).count();
            (now != read).then(|| Spot { line: same() + 1, ..Spot::top_of(path) })
        })
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
            (is_newer(file), self.growth(file, *size), *size, Reverse(&file.path))
        });
        most.map(|(file, _)| file.path.as_str())
    }

    /// The number of bytes that a file gained since the base.
    fn growth(&self, file: &RepositoryFile, size: usize) -> usize {
        let Some(base) = &self.base else { return 0 };
        let found = base.files.binary_search_by(|other| other.path.cmp(&file.path));
        match found.map(|n| base.files[n].text.as_ref().map(String::len)) {
            Ok(before) => before.map_or(0, |before| size.saturating_sub(before)),
            Err(_) => size,
        }
    }
}
