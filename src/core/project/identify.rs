//! Decides to which project a folder belongs. Hook, command line and index share this answer.

use std::path::Path;

use crate::core::project::{FolderFacts, Layout, Project};
use crate::core::settings::ChannelRule;
use crate::core::text::words::words;

/// The channel and key of sessions outside any project.
const NO_PROJECT: &str = "global";
/// The maximum length of a slug, which becomes a file name.
const MAX_SLUG_BYTES: usize = 40;
const MAX_CHANNEL_BYTES: usize = 64;

/// Folders below the user's home that hosts and package managers fill: code runs there, people do not work there.
static MACHINE_FOLDERS: [&str; 9] = words(
    ".cache .claude/plugins .codex/plugins .config/opencode .local/share/opencode .npm \
     .bun/install .cargo/registry .cargo/git",
);

/// A repository decides, if there is one: all its worktrees and subfolders are one project, and each worktree has its own
/// notes and settings. The root of the file system, the home folder and the hosts' own folders are never a project, even
/// if they are repositories.
pub fn project(facts: &FolderFacts, channel: Option<&str>, rules: &[ChannelRule]) -> Project {
    let home = facts.home.as_deref();
    let (root, notes_root, checkout, branch, because) = match &facts.repository {
        Some(repository) if unfit(&repository.root, home).is_none() => {
            let (root, checkout) = (repository.root.display(), repository.checkout.display());
            let is_bare = matches!(repository.layout, Layout::BareWorktree | Layout::Bare);
            let git = if is_bare { "bare git repository" } else { "git repository" };
            let because = match repository.layout {
                Layout::Main | Layout::Bare => format!("the {git} at {root}"),
                Layout::Worktree | Layout::BareWorktree => {
                    format!("{checkout} is a worktree of the {git} at {root}")
                }
                Layout::Submodule => format!("the git submodule at {root}"),
                Layout::Stray => {
                    format!("{root} itself: its .git names a git repository that does not know it")
                }
            };
            // A worktree has its own files, of its own branch. One at the home folder has everything.
            let notes_root = match is_everything(&repository.checkout, home) {
                None => &repository.checkout,
                Some(_) => &repository.root,
            };
            let checkout = (repository.layout != Layout::Bare).then(|| repository.checkout.clone());
            let branch = repository.branch.clone();
            (repository.root.clone(), notes_root.clone(), checkout, branch, because)
        }
        repository => {
            let marked = facts.marked.as_ref().filter(|marked| unfit(marked, home).is_none());
            let root = marked.unwrap_or(&facts.folder);
            if let Some(reason) = unfit(root, home) {
                let channel = channel.map(channel_name).or_else(|| longest_rule(root, rules));
                return no_project(root, reason, channel);
            }
            let around = repository.as_ref().and_then(|around| unfit(&around.root, home));
            let no_git = match around {
                Some(reason) => format!("the git repository around it is {reason}"),
                None => "without a git repository around it".to_owned(),
            };
            let because = match marked {
                Some(marked) => {
                    let marked = marked.display();
                    format!("the folder {marked}, which has kgctx's own files, {no_git}")
                }
                None => format!("the folder {} itself, {no_git}", root.display()),
            };
            (root.clone(), root.clone(), Some(root.clone()), None, because)
        }
    };
    let name = project_name(&root);
    let key = format!("{}-{}", slug(&name), short_hash(root.as_os_str().as_encoded_bytes()));
    // The rules for the root count, too, so that a rule for the main checkout also applies to a worktree elsewhere.
    let ruled = || longest_rule(&facts.folder, rules).or_else(|| longest_rule(&root, rules));
    let named = channel.map(channel_name).or_else(ruled);
    Project {
        scope: named.as_deref().map_or_else(|| key.clone(), channel_scope),
        channel: named.unwrap_or_else(|| slug(&name)),
        key,
        name: Some(name),
        root: Some(root),
        notes_root: Some(notes_root),
        is_outside_of_git: facts.repository.is_none(),
        checkout,
        branch,
        because,
    }
}

/// The scope of all members of a channel. No project's key begins with `@`.
fn channel_scope(channel: &str) -> String {
    format!("@{channel}")
}

fn no_project(folder: &Path, reason: &str, channel: Option<String>) -> Project {
    let channel = channel.unwrap_or_else(|| NO_PROJECT.to_owned());
    Project {
        scope: channel_scope(&channel),
        key: NO_PROJECT.to_owned(),
        channel,
        because: format!("{} is {reason}, which is never a project", folder.display()),
        ..Project::default()
    }
}

/// Which folder of all files this is, if it is one.
fn is_everything(folder: &Path, home: Option<&Path>) -> Option<&'static str> {
    match folder.parent() {
        None => Some("the root of the file system"),
        Some(_) => (home == Some(folder)).then_some("the home folder"),
    }
}

/// Why a folder cannot be a project; `None` if it can.
fn unfit(folder: &Path, home: Option<&Path>) -> Option<&'static str> {
    if let Some(reason) = is_everything(folder, home) {
        return Some(reason);
    }
    let home = home?;
    let machine_made = MACHINE_FOLDERS.iter().any(|machine| folder.starts_with(home.join(machine)));
    let plugin_cache = folder.components().any(|part| part.as_os_str() == "node_modules");
    (machine_made || plugin_cache).then_some("a folder of a host or package manager")
}

/// The base name of the root, without the `.git` of a bare repository.
fn project_name(root: &Path) -> String {
    let base = root.file_name().unwrap_or_default().to_string_lossy();
    match base.strip_suffix(".git") {
        Some(name) if !name.is_empty() => name.to_owned(),
        _ => base.into_owned(),
    }
}

/// The channel of the rule with the deepest path at or above a place.
fn longest_rule(place: &Path, rules: &[ChannelRule]) -> Option<String> {
    rules
        .iter()
        .filter(|rule| place.starts_with(&rule.path))
        .max_by_key(|rule| rule.path.components().count())
        .map(|rule| channel_name(&rule.channel))
}

/// Whether a key is that of the project whose root is this folder, whatever its name.
pub fn is_key_of(key: &str, root: &Path) -> bool {
    let hash = short_hash(root.as_os_str().as_encoded_bytes());
    !key.starts_with('@') && key.rsplit_once('-').is_some_and(|(_, end)| end == hash)
}

/// A channel's name, made safe as a file name. A hash marks names that had to change.
fn channel_name(wanted: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_plain = !wanted.is_empty()
        && wanted.len() <= MAX_CHANNEL_BYTES
        && wanted.chars().all(allowed)
        && !wanted.starts_with('.');
    if is_plain {
        wanted.to_owned()
    } else {
        format!("{}-{}", slug(wanted), short_hash(wanted.as_bytes()))
    }
}

/// Lower-case ASCII letters, digits, dots, underscores and single hyphens; `project` if nothing is left.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') && !slug.is_empty() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == MAX_SLUG_BYTES {
            break;
        }
    }
    let slug = slug.trim_end_matches(['-', '.', '_']);
    if slug.is_empty() { "project".to_owned() } else { slug.to_owned() }
}

/// Eight hex digits that distinguish equal names.
pub fn short_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..8].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::project::RepositoryFacts;

    fn facts(folder: &str, repository: Option<&str>) -> FolderFacts {
        FolderFacts {
            folder: folder.into(),
            home: Some("/home/ada".into()),
            repository: repository.map(|root| RepositoryFacts {
                checkout: root.into(),
                root: root.into(),
                layout: Layout::Main,
                branch: Some("main".to_owned()),
            }),
            marked: None,
        }
    }

    #[test]
    fn some_folders_are_never_a_project() {
        for folder in [
            "/",
            "/home/ada",
            "/home/ada/.cache/kgctx",
            "/home/ada/.claude/plugins/cache/x",
            "/home/ada/.config/opencode",
            "/home/ada/work/app/node_modules/x",
        ] {
            let project = project(&facts(folder, None), None, &[]);
            assert_eq!((project.name, project.key.as_str()), (None, "global"), "{folder}");
            assert!(project.because.contains("never a project"), "{}", project.because);
        }
    }

    #[test]
    fn a_home_folder_under_git_swallows_nothing() {
        let project = project(&facts("/home/ada/notes", Some("/home/ada")), None, &[]);
        assert_eq!(project.root, Some("/home/ada/notes".into()));
        assert!(project.because.contains("the home folder"), "{}", project.because);
    }

    #[test]
    fn a_worktree_has_its_own_notes_and_its_repositorys_identity() {
        for (checkout, notes) in [
            ("/trees/fix", "/trees/fix"),
            // Hosts make worktrees in their own folders.
            (
                "/home/ada/.local/share/opencode/worktree/fix",
                "/home/ada/.local/share/opencode/worktree/fix",
            ),
            ("/home/ada", "/srv/app"),
            ("/", "/srv/app"),
        ] {
            for layout in [Layout::Worktree, Layout::BareWorktree] {
                let mut facts = facts(checkout, Some("/srv/app"));
                let repository = facts.repository.as_mut().unwrap();
                (repository.checkout, repository.layout) = (checkout.into(), layout);
                let project = project(&facts, None, &[]);
                assert_eq!(project.root, Some("/srv/app".into()), "{checkout}");
                assert_eq!(project.notes_root, Some(notes.into()), "{checkout}");
            }
        }
    }

    #[test]
    fn equal_names_have_different_keys() {
        let key = |root| project(&facts(root, Some(root)), None, &[]).key;
        assert_ne!(key("/a/app"), key("/b/app"));
        assert!(key("/a/app").starts_with("app-"));
        assert!(key("/a/Мой проект").starts_with("project-"));
    }

    #[test]
    fn the_longest_rule_names_the_channel() {
        let rule = |path: &str, channel: &str| ChannelRule {
            path: path.into(),
            channel: channel.to_owned(),
        };
        let rules =
            [rule("/srv", "outer"), rule("/srv/proj/sub", "inner"), rule("/srv/proj", "middle")];
        let channel = |folder| project(&facts(folder, None), None, &rules).channel;
        assert_eq!(channel("/srv/proj/sub/x"), "inner");
        assert_eq!(channel("/srv/proj/y"), "middle");
        assert_eq!(channel("/srv/project2"), "outer");
        assert_eq!(channel("/else/My App"), "my-app");
        let explicit = project(&facts("/srv/proj", None), Some("chosen"), &rules);
        assert_eq!(explicit.channel, "chosen");
    }

    #[test]
    fn a_channel_never_leaves_its_store() {
        for bad in ["../x", "a/b", "", ".hidden", "ü", &"x".repeat(65)] {
            let name = channel_name(bad);
            assert!(
                !name.contains('/') && !name.starts_with('.') && name.len() <= MAX_CHANNEL_BYTES,
                "{name}"
            );
            assert_ne!(name, bad);
        }
        assert_eq!(channel_name("team.alpha_2-x"), "team.alpha_2-x");
    }

    #[test]
    fn slugs_are_plain() {
        assert_eq!(slug("My App (v2)!"), "my-app-v2");
        assert_eq!(slug("kgctx.nvim"), "kgctx.nvim");
        assert_eq!(slug("..."), "project");
        assert_eq!(slug(&"x".repeat(99)).len(), MAX_SLUG_BYTES);
    }
}
