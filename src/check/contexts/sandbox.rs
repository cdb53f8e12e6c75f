//! The sandbox: a temporary checkout in which sessions start, and the place of each session. The
//! user's files are out of reach.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use crate::check::CheckError;
use crate::check::contexts::temp_checkout::TempCheckout;
use crate::check::repository::{MAX_SETTINGS_BYTES, Repository, SETTINGS};
use crate::check::rules::CheckedVault;
use crate::check::rules::roles::Roles;
use crate::check::rules::tree;
use crate::check::settings::{self, SessionSpec};
use crate::check::snapshot::base::Base;
use crate::check::snapshot::text;
use crate::core::note::places;
use crate::core::note::vault::Vault;
use crate::core::settings::Settings;
use crate::core::source::SourcePreference;
use crate::core::text::slashes::with_slashes;
use crate::system::environment::Environment;
use crate::system::vault::{self, SIGNS};
use crate::workspace::{AppError, Place, Request};

/// A slow machine must not change the findings.
const PATIENCE_MS: &str = "3600000";
/// The branch of a session that does not set one.
const BRANCH: &str = "main";

pub(crate) struct Sandbox<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) checkout: TempCheckout,
    /// By the session's folder.
    pub(crate) places: BTreeMap<String, Place>,
    /// The settings at the top of the repository.
    pub(crate) settings: Settings,
    pub(crate) vaults: Vec<CheckedVault>,
}

impl<'r> Sandbox<'r> {
    pub(crate) fn new(
        repository: &'r Repository,
        base: Option<&Base>,
    ) -> Result<Sandbox<'r>, CheckError> {
        let checkout = TempCheckout::new(&repository.project)?;
        // The folders of both versions: a vault that exists in only one of them is empty in the
        // other.
        let of_base = base.iter().flat_map(|base| base.files.keys());
        let named = named_folders(repository);
        let is_small = is_looked_through(repository);
        let mut last_folder = None;
        for path in repository.listing.paths.iter().chain(of_base) {
            // Sorted: most files are in the folder of the one before.
            let folder = path.rsplit_once('/').map(|(folder, _)| match is_small {
                true => folder,
                false => needed(repository, &named, folder),
            });
            if let Some(folder) = folder.filter(|_| folder != last_folder) {
                checkout.make_folder(folder)?;
            }
            last_folder = folder;
            // The search for places of notes looks at these names. The notes themselves stay in memory.
            if places::is_looked_at(path) || is_small && places::is_markdown(path) {
                checkout.write(path, b"")?;
            }
        }
        write_signs(repository, &checkout)?;
        write_settings(repository, &checkout)?;
        let mut places = BTreeMap::new();
        for (n, SessionSpec { name, dir, .. }) in repository.sessions.iter().enumerate() {
            if !checkout.has_folder(dir) {
                let keys = [format!("check.session.{n}.dir"), format!("check.session.{n}")];
                let line = repository.spot(&keys).map_or(1, |spot| spot.line);
                return Err(CheckError::Wrong(format!(
                    "{SETTINGS}:{line}: the session {name:?} starts in {dir:?}, where the repository has no file"
                )));
            }
            places.insert(dir.clone(), find_place(&checkout, dir)?);
        }
        let settings = find_place(&checkout, "")?.settings;
        let vaults = vaults(&checkout, &places);
        Ok(Sandbox { repository, checkout, places, settings, vaults })
    }

    /// Checks out the session's branch. Returns the session's request.
    pub(crate) fn enter(&self, session: &SessionSpec) -> Result<Request, CheckError> {
        if self.repository.has_repository() {
            self.checkout.check_out(session.branch.as_deref().unwrap_or(BRANCH))?;
        }
        Ok(request(&self.checkout, &session.dir))
    }

    pub(crate) fn roles(&self) -> Roles<'_> {
        Roles { settings: &self.repository.file.settings, vaults: &self.vaults }
    }
}

/// Whether sessions may look through the whole repository for notes that are in no usual place. They decide that by its
/// folders, so all of them are made, and more than they would look at.
fn is_looked_through(repository: &Repository) -> bool {
    let paths = &repository.listing.paths;
    // Where the settings name a folder, none is guessed.
    if !repository.file.vaults.is_empty() {
        return false;
    }
    let mut folders = BTreeSet::new();
    for path in paths.iter().take(2 * places::MOST_ENTRIES) {
        folders.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    paths.len() <= 2 * places::MOST_ENTRIES && folders.len() <= 2 * places::MOST_FOLDERS
}

/// The folders that the settings name: vaults, and where sessions start.
fn named_folders(repository: &Repository) -> Vec<String> {
    let sessions = repository.sessions.iter().map(|session| &session.dir);
    let named = sessions.chain(&repository.file.vaults);
    named.filter_map(|folder| tree::joined("", folder)).collect()
}

/// The part of a folder's path that sessions look at. To make and remove the thousands of folders of a large repository
/// takes longer than the rest of a check.
fn needed<'p>(repository: &Repository, named: &[String], folder: &'p str) -> &'p str {
    // Without a repository any folder can be a project. Hidden folders are signs of programs, and ours.
    let is_hidden = folder.starts_with('.') || folder.contains("/.");
    if !repository.has_repository() || is_hidden {
        return folder;
    }
    // A named folder, and what is in it: some programs are told by the folders of a vault.
    let ends = named.iter().filter_map(|named| {
        let below = if named == folder { "" } else { tree::below(named, folder)? };
        let first = below.split('/').next().unwrap_or_default();
        Some(folder.len() - below.len() + first.len())
    });
    let looked_into = places::looked_into(folder).len();
    &folder[..ends.max().unwrap_or_default().max(looked_into)]
}

/// Writes the files by which the style of a vault is told.
fn write_signs(repository: &Repository, checkout: &TempCheckout) -> Result<(), CheckError> {
    for path in &repository.listing.paths {
        let above = SIGNS.iter().find_map(|sign| path.strip_suffix(sign));
        if above.is_some_and(|above| above.is_empty() || above.ends_with('/')) {
            let bytes = repository.tree.read(path, MAX_SETTINGS_BYTES).unwrap_or_default();
            checkout.write(path, &bytes)?;
        }
    }
    Ok(())
}

/// Writes the settings at the top and, without a repository, those of packages.
fn write_settings(repository: &Repository, checkout: &TempCheckout) -> Result<(), CheckError> {
    if repository.text.is_some() {
        checkout.write(SETTINGS, repository.file.without_unknown.as_bytes())?;
    }
    if repository.has_repository() {
        return checkout.check_out(BRANCH);
    }
    for path in repository.listing.paths.iter().filter(|path| path.ends_with("/kgctx.toml")) {
        let bytes = repository.tree.read(path, MAX_SETTINGS_BYTES);
        let Some(text) = bytes.map(text) else { continue };
        let file = settings::file::read(path, &text)?;
        checkout.write(path, file.without_unknown.as_bytes())?;
    }
    Ok(())
}

fn find_place(checkout: &TempCheckout, dir: &str) -> Result<Place, CheckError> {
    Place::find(&request(checkout, dir)).map_err(|error| match error {
        AppError::Settings(error) => {
            CheckError::Wrong(checkout.as_in_repository(&error.to_string()))
        }
        error => error.into(),
    })
}

pub(crate) fn request(checkout: &TempCheckout, dir: &str) -> Request {
    let patience = (OsString::from("KGCTX_DEADLINE_MS"), OsString::from(PATIENCE_MS));
    Request {
        dir: Some(checkout.project.join(dir)),
        home: Some(checkout.home()),
        environment: Some(Environment::from_iter([patience])),
        source: Some(SourcePreference::Index),
        // The temporary folder can be in a repository.
        ceiling: Some(checkout.folder().to_path_buf()),
        ..Request::default()
    }
}

/// Skips vaults that cannot be opened: their sessions report them.
fn vaults(checkout: &TempCheckout, places: &BTreeMap<String, Place>) -> Vec<CheckedVault> {
    let open = |place: &Place| {
        let (specs, styles) = (place.settings.vaults.clone(), place.styles());
        specs.into_iter().filter_map(move |spec| vault::open(&spec, &styles).ok())
    };
    let opened =
        places.values().flat_map(open).map(|Vault { name, root, style, is_flat, .. }| {
            let below = root.strip_prefix(&checkout.project).unwrap_or(Path::new(""));
            let folder =
                with_slashes(below).unwrap_or_else(|| below.to_string_lossy().into_owned());
            CheckedVault { folder, name, style, is_flat }
        });
    opened.collect::<BTreeSet<CheckedVault>>().into_iter().collect()
}
