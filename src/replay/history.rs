//! The history of a vault: finds the vault and its repository, and reads its commits with git.

use std::path::PathBuf;

use crate::core::named::Named;
use crate::core::note::vault::Vault;
use crate::core::project::{Layout, RepositoryFacts};
use crate::core::replay::past_notes::MOST_CHARS;
use crate::core::replay::step::{Blob, Step, steps};
use crate::core::settings::LinkPreference;
use crate::core::text::slashes::with_slashes;
use crate::replay::{ReadContent, ReplayError};
use crate::system::git;
use crate::system::git_program::{BlobAnswer, GitProgram};
use crate::workspace::{Place, Request, Workspace};

/// No character has more bytes.
const BYTES_PER_CHAR: u64 = 4;

pub(crate) struct VaultHistory {
    pub(crate) root: PathBuf,
    /// The vault's folder in its repository: empty, or with a slash at its end.
    folder: String,
    git: GitProgram,
    /// How its links are read. A copy of the notes has no signs of their program.
    pub(crate) links: LinkPreference,
    /// The project around the vault, with its settings.
    pub(crate) place: Place,
}

impl VaultHistory {
    pub(crate) fn find(request: &Request) -> Result<VaultHistory, ReplayError> {
        let (Vault { root, style, .. }, repository) = find_vault(request)?;
        let below = root.strip_prefix(&repository.checkout).unwrap_or(&root);
        let Some(below) = with_slashes(below) else {
            let message = format!("the path of {} is not UTF-8; rename it", root.display());
            return Err(ReplayError::Wrong(message));
        };
        let folder = if below.is_empty() { String::new() } else { format!("{below}/") };
        let Some(git) = GitProgram::find(repository.checkout, None)? else {
            let message = "a replay reads the history with git, and git is not installed";
            return Err(ReplayError::Wrong(message.to_owned()));
        };
        let wrong = |message: &str| {
            Err(ReplayError::Wrong(format!("cannot replay {}: {message}", root.display())))
        };
        if git.query(&["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true") {
            return wrong("the clone is shallow; run `git fetch --unshallow` there");
        }
        if git.query(&["rev-parse", "--verify", "--quiet", "HEAD"])?.is_none() {
            return wrong("its repository has no commit yet; commit the notes as you work on them");
        }
        let place = Place::find(&Request {
            dir: Some(root.clone()),
            vaults: vec![root.clone()],
            ..request.clone()
        })?;
        let of_style = LinkPreference::ALL.iter().find(|links| links.style() == Some(style));
        let links = of_style.copied().unwrap_or_default();
        Ok(VaultHistory { root, folder, git, links, place })
    }

    /// The name of the project whose notes these are.
    pub(crate) fn project(&self) -> String {
        let of_folder = || self.root.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.place.project.name.clone().unwrap_or_else(of_folder)
    }

    /// The commits that touch notes, oldest first.
    pub(crate) fn steps(&self) -> Result<Vec<Step>, ReplayError> {
        let notes = format!("{}*.md", literal(&self.folder));
        let arguments =
            ["log", "HEAD", "--first-parent", "-m", "--reverse", "--format=%x01%ct", "--raw", "-z"];
        let how = ["--no-abbrev", "-M60%", "--no-ext-diff", "--no-textconv", "--", &notes];
        let log = self.git.output(&[&arguments[..], &how].concat())?;
        let steps = steps(&log, &self.folder);
        if steps.is_empty() {
            let vault = self.root.display();
            return Err(ReplayError::Wrong(format!(
                "cannot replay {vault}: no commit has a note (*.md) in it; commit the notes as you work on them"
            )));
        }
        Ok(steps)
    }

    /// Reads the contents of notes.
    pub(crate) fn contents(&self) -> Result<impl ReadContent + use<>, ReplayError> {
        let mut blobs = self.git.blobs(MOST_CHARS as u64 * BYTES_PER_CHAR)?;
        Ok(move |blob: &Blob| match blobs.read(blob)? {
            BlobAnswer::Content { bytes, .. } => Ok(bytes),
            BlobAnswer::Missing => {
                let message = "this clone is partial, and lacks earlier versions of notes; clone it again without \
                    --filter";
                Err(ReplayError::Wrong(message.to_owned()))
            }
        })
    }
}

/// A path as git reads it in a pattern.
fn literal(path: &str) -> String {
    let mut literal = String::new();
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            literal.push('\\');
        }
        literal.push(c);
    }
    // Otherwise a leading colon has a meaning of its own.
    if literal.starts_with(':') { format!("./{literal}") } else { literal }
}

/// The only vault of a place that is in a repository.
fn find_vault(request: &Request) -> Result<(Vault, RepositoryFacts), ReplayError> {
    let place = Place::find(request)?;
    let environment = place.environment.clone();
    let (workspace, mut errors) = Workspace::open_reachable(place, None);
    let is_named = !request.vaults.is_empty();
    let Some(workspace) = workspace.filter(|_| errors.is_empty() || !is_named) else {
        return Err(errors.swap_remove(0).into());
    };
    let mut found = Vec::new();
    // The few notes at the top of a project are beside the others.
    for vault in workspace.vaults.iter().filter(|vault| !vault.is_flat) {
        let facts = git::facts(None, &vault.root, &environment).ok();
        let repository = facts.and_then(|facts| facts.repository);
        let repository = repository.filter(|repository| repository.layout != Layout::Bare);
        found.extend(repository.map(|repository| (vault.clone(), repository)));
    }
    let names = |vaults: &mut dyn Iterator<Item = &Vault>| {
        let roots: Vec<String> = vaults.map(|vault| vault.root.display().to_string()).collect();
        roots.join(", ")
    };
    match found.len() {
        0 => Err(ReplayError::Wrong(format!(
            "{} is not in a git repository: a replay needs the history of the notes; pass a vault that is in git \
            with --vault",
            names(&mut workspace.vaults.iter())
        ))),
        1 => Ok(found.swap_remove(0)),
        _ => Err(ReplayError::Wrong(format!(
            "there is more than one vault here: {}; choose one with --vault",
            names(&mut found.iter().map(|(vault, _)| vault))
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_no_patterns() {
        for (path, expect) in [("a b/", "a b/"), ("a[1]*/", "a\\[1]\\*/"), (":x/", "./:x/")] {
            assert_eq!(literal(path), expect);
        }
    }
}
