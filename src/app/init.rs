//! Looks at a place for somebody who is new to kgctx: the notes that no setting is needed for, those that need one, what is
//! left to others, and the hosts. Changes nothing.

use std::path::PathBuf;

pub use crate::app::doctor::handoff_stores::WaitingHandoffs;
use crate::app::doctor::unread::{self, Unread};
use crate::app::doctor::{handoff_stores, host_program, host_use};
use crate::core::host::Host;
use crate::core::named::Named;
use crate::core::note::vault::holds;
use crate::core::settings::{Origin, Setting, Settings, VaultSpec};
use crate::core::text::slashes::with_slashes;
use crate::system::signed_folders::{self, SignedFolder};
use crate::system::{folders, vault};
use crate::workspace::{AppError, Place, Request, Surroundings};

/// What is there.
#[derive(Debug)]
pub struct Survey {
    pub place: Place,
    /// Vaults in the project that no default finds and no setting names.
    pub unnamed: Vec<UnnamedVault>,
    /// Markdown of the project that is in no vault, if that is most of it.
    pub unread: Option<Unread>,
    /// Why kgctx does not name them by itself, if so.
    pub restricted_by: Option<String>,
    /// Files that hosts read by themselves, with the titles of these hosts.
    pub host_files: Vec<(&'static str, Vec<&'static str>)>,
    pub handoffs: Vec<WaitingHandoffs>,
    /// The hosts that are on this machine or set up.
    pub hosts: Vec<SeenHost>,
}

/// A vault that a setting has to name.
#[derive(Debug)]
pub struct UnnamedVault {
    pub path: PathBuf,
    /// The path from the project's top, for people.
    pub shown: String,
    pub program: &'static str,
}

#[derive(Debug)]
pub struct SeenHost {
    pub host: Host,
    pub is_set_up: bool,
}

/// Looks at a place.
pub fn survey(request: &Request) -> Result<Survey, AppError> {
    let surroundings = Surroundings::find(request)?;
    let place = Place::find(request)?;
    let restricted_by = restriction(&place.settings);
    Ok(Survey {
        unnamed: unnamed(&surroundings, &place.settings),
        unread: unread(&place),
        restricted_by,
        host_files: host_files(&surroundings),
        handoffs: handoff_stores::all_waiting(&place),
        hosts: hosts(&surroundings),
        place,
    })
}

/// What the user has said about vaults that another one would go against.
fn restriction(settings: &Settings) -> Option<String> {
    let is_replacing = |spec: &&Setting<VaultSpec>| {
        matches!(spec.origin, Origin::Flag(_) | Origin::Environment("KGCTX_VAULTS"))
    };
    let replacing = settings.vaults.iter().find(is_replacing);
    let defaults = &settings.default_vaults;
    match replacing {
        Some(spec) => Some(format!("{} replaces all vaults", spec.origin)),
        None if defaults.value => None,
        None => Some(format!("default_vaults is false ({})", defaults.origin)),
    }
}

fn unread(place: &Place) -> Option<Unread> {
    let top = place.project.notes_root.as_deref()?;
    let styles = place.styles();
    let opened = place.settings.vaults.iter().filter_map(|spec| vault::open(spec, &styles).ok());
    unread::look(top, &opened.collect::<Vec<_>>())
}

/// The signed folders that no vault holds.
fn unnamed(surroundings: &Surroundings, settings: &Settings) -> Vec<UnnamedVault> {
    let Some(top) = &surroundings.project.notes_root else { return Vec::new() };
    let vaults = settings.vaults.iter().filter(|spec| !spec.value.is_flat);
    let known: Vec<PathBuf> =
        vaults.map(|spec| folders::settled(spec.value.path.clone())).collect();
    let found = signed_folders::find(top, &surroundings.facts.folder).into_iter();
    let unnamed = found.filter(|folder| !known.iter().any(|known| holds(known, &folder.path)));
    let with_name = |SignedFolder { path, program }: SignedFolder| {
        let below = path.strip_prefix(top).unwrap_or(&path);
        let shown = match with_slashes(below).unwrap_or_else(|| below.display().to_string()) {
            top if top.is_empty() => ".".to_owned(),
            below => below,
        };
        UnnamedVault { path, shown, program }
    };
    unnamed.map(with_name).collect()
}

/// The files at the top of the project that hosts read by themselves.
fn host_files(surroundings: &Surroundings) -> Vec<(&'static str, Vec<&'static str>)> {
    let Some(top) = &surroundings.project.notes_root else { return Vec::new() };
    let own_files = Host::own_files().into_iter();
    let there = own_files.filter_map(|file| {
        let at_top = file.pattern.strip_prefix("**/").unwrap_or(file.pattern);
        let reads = |host: &&Host| host.facts().own_files.contains(file);
        let hosts = Host::ALL.iter().filter(reads).map(|host| host.facts().title);
        vault::size(&top.join(at_top)).map(|_| (at_top, hosts.collect()))
    });
    there.collect()
}

fn hosts(surroundings: &Surroundings) -> Vec<SeenHost> {
    let seen = |host: &Host| {
        let install = host.facts().install.as_ref()?;
        let is_set_up = host_use::is_set_up(surroundings, *host, install);
        let is_there = || host_program::find(&surroundings.environment, *host).is_some();
        (is_set_up || is_there()).then_some(SeenHost { host: *host, is_set_up })
    };
    Host::ALL.iter().filter_map(seen).collect()
}
