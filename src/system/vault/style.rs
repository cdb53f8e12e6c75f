//! The style of a vault, told by the signs that programs for notes leave in a folder. Opens no note.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::core::note::places::OF_LOGSEQ;
use crate::core::settings::LinkStyle;

/// Files of Obsidian that name the folder of templates, with the key of that name.
const TEMPLATE_SETTINGS: [(&str, &str); 2] = [
    (".obsidian/templates.json", "folder"),
    (".obsidian/plugins/templater-obsidian/data.json", "templates_folder"),
];
/// A longer file of settings is not read.
const MAX_SETTINGS_BYTES: u64 = 64 * 1024;

/// The extension that Foam's folders recommend to VS Code.
const FOAM: &str = "foam.foam-vscode";

/// The paths of signs, from the folder in which they are. `kgctx check` makes them anew in its checkout.
pub const SIGNS: [&str; 4] =
    ["dendron.yml", "logseq/config.edn", TEMPLATE_SETTINGS[0].0, TEMPLATE_SETTINGS[1].0];

/// How the styles of vaults are told.
#[derive(Debug, Clone, Default)]
pub struct Styles {
    /// The style of all vaults, whatever their signs.
    pub preferred: Option<LinkStyle>,
    /// maenifold's memory.
    pub memory: Option<PathBuf>,
    /// The top of the project: a vault in it may have its signs in any folder up to here.
    pub top: Option<PathBuf>,
}

impl Styles {
    /// The style of maenifold's memory, for maenifold itself.
    pub fn of_memory() -> Styles {
        Styles { preferred: Some(LinkStyle::Maenifold), ..Styles::default() }
    }

    /// The style of a vault that the settings call `path`.
    pub(super) fn style(&self, path: &Path, root: &Path) -> LinkStyle {
        let is_memory = |memory: &PathBuf| memory == path || memory == root;
        match self.preferred {
            Some(style) => style,
            None if self.memory.as_ref().is_some_and(is_memory) => LinkStyle::Maenifold,
            None => self.signed(root).unwrap_or(LinkStyle::Plain),
        }
    }

    /// The style of the nearest signed folder: the vault or one around it.
    fn signed(&self, root: &Path) -> Option<LinkStyle> {
        if let Some(style) = only_at_root(root) {
            return Some(style);
        }
        let top = self.top.as_deref().filter(|top| root.starts_with(top));
        // Outside of the project one folder up: Dendron's signs are beside its vaults.
        let top = top.or(root.parent()).unwrap_or(root);
        root.ancestors().take_while(|folder| folder.starts_with(top)).find_map(sign)
    }
}

/// The program for notes whose signs are in a folder itself.
pub fn program_of(folder: &Path) -> Option<&'static str> {
    let is_foam = || {
        let recommended = text(&folder.join(".vscode/extensions.json")).unwrap_or_default();
        folder.join(".foam").is_dir() || recommended.contains(FOAM)
    };
    match only_at_root(folder).or_else(|| sign(folder)) {
        Some(LinkStyle::Maenifold) => Some("maenifold"),
        Some(style) => style.program(),
        // Its notes are read like those of no program.
        None => is_foam().then_some("Foam"),
    }
}

/// The vaults of a Dendron workspace, as its `dendron.yml` names them: paths from the workspace.
pub fn vaults_of_dendron(workspace: &Path) -> Vec<String> {
    #[derive(Default, Deserialize)]
    struct Named {
        #[serde(default)]
        vaults: Vec<NamedVault>,
        workspace: Option<Box<Named>>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NamedVault {
        fs_path: String,
        #[serde(default)]
        self_contained: bool,
    }
    let text = text(&workspace.join(SIGNS[0])).unwrap_or_default();
    let named: Named = serde_saphyr::from_str(&text).unwrap_or_default();
    let newer = named.workspace.map(|newer| newer.vaults).unwrap_or_default();
    let path = |NamedVault { fs_path, self_contained }| match self_contained {
        true => format!("{fs_path}/notes"),
        false => fs_path,
    };
    named.vaults.into_iter().chain(newer).map(path).collect()
}

/// The style of a folder by signs that only count in the vault's own folder.
fn only_at_root(folder: &Path) -> Option<LinkStyle> {
    let is_logseq = || OF_LOGSEQ.iter().all(|inner| folder.join(inner).is_dir());
    if is_a_memory(folder) {
        Some(LinkStyle::Maenifold)
    } else {
        is_logseq().then_some(LinkStyle::Logseq)
    }
}

/// Whether a folder is a memory of maenifold's that the settings do not name as the user's: its database is beside it.
fn is_a_memory(root: &Path) -> bool {
    root.ends_with("memory") && root.with_file_name("memory.db").is_file()
}

/// The program whose sign a folder has. Obsidian last: many open the folder of another program with it.
fn sign(folder: &Path) -> Option<LinkStyle> {
    if folder.join(SIGNS[0]).is_file() {
        Some(LinkStyle::Dendron)
    } else if folder.join(SIGNS[1]).is_file() {
        Some(LinkStyle::Logseq)
    } else {
        folder.join(".obsidian").is_dir().then_some(LinkStyle::Obsidian)
    }
}

/// The folders of a vault's templates, as Obsidian was told.
pub(super) fn templates(root: &Path, style: LinkStyle) -> Vec<String> {
    if style != LinkStyle::Obsidian {
        return Vec::new();
    }
    let folders = TEMPLATE_SETTINGS.iter().filter_map(|(file, key)| {
        let settings: Value = serde_json::from_str(&text(&root.join(file))?).ok()?;
        let folder = settings.get(key)?.as_str()?.trim_matches('/').to_owned();
        // The whole vault is no folder of templates.
        (!folder.is_empty() && folder != ".").then_some(folder)
    });
    folders.collect()
}

fn text(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()?.take(MAX_SETTINGS_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The style of the vault `project/notes/vault` beside these files.
    fn style(files: &[&str], top: &str) -> LinkStyle {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().join("project/notes/vault");
        fs::create_dir_all(&root).unwrap();
        for file in files {
            let file = scratch.path().join("project").join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let styles = Styles { top: Some(scratch.path().join(top)), ..Styles::default() };
        styles.style(&root, &root)
    }

    #[test]
    fn signs_tell_the_style() {
        use LinkStyle::{Dendron, Logseq, Obsidian, Plain};
        let cases: [(&[&str], LinkStyle); 10] = [
            (&[], Plain),
            (&["notes/vault/.obsidian/app.json"], Obsidian),
            (&["notes/vault/logseq/config.edn"], Logseq),
            (&["notes/vault/logseq/readme.md"], Plain),
            (&["notes/vault/pages/a.md", "notes/vault/journals/b.md"], Logseq),
            (&["notes/vault/pages/a.md"], Plain),
            (&["notes/vault/dendron.yml"], Dendron),
            (&["dendron.yml"], Dendron),
            (&["dendron.yml", "notes/vault/.obsidian/app.json"], Obsidian),
            (&["notes/vault/.obsidian/app.json", "notes/vault/logseq/config.edn"], Logseq),
        ];
        for (files, expect) in cases {
            assert_eq!(style(files, "project"), expect, "{files:?}");
        }
    }

    #[test]
    fn signs_above_the_project_do_not_count() {
        assert_eq!(style(&["dendron.yml"], "project/notes"), LinkStyle::Plain);
        assert_eq!(style(&["notes/dendron.yml"], "elsewhere"), LinkStyle::Dendron);
        assert_eq!(style(&["dendron.yml"], "elsewhere"), LinkStyle::Plain);
    }

    #[test]
    fn a_preference_and_the_memory_need_no_signs() {
        let root = Path::new("/home/ada/maenifold/memory");
        let styles = Styles { memory: Some(root.to_path_buf()), ..Styles::default() };
        assert_eq!(styles.style(root, root), LinkStyle::Maenifold);
        let styles = Styles { preferred: Some(LinkStyle::Logseq), ..styles };
        assert_eq!(styles.style(root, root), LinkStyle::Logseq);
        assert_eq!(Styles::of_memory().style(root, root), LinkStyle::Maenifold);
    }

    #[test]
    fn any_memory_has_its_database_beside_it() {
        let scratch = tempfile::tempdir().unwrap();
        let [memory, notes] = ["memory", "notes"].map(|name| scratch.path().join(name));
        let style = |root: &Path| Styles::default().style(root, root);
        assert_eq!(style(&memory), LinkStyle::Plain);
        fs::write(scratch.path().join("memory.db"), "").unwrap();
        assert_eq!(style(&memory), LinkStyle::Maenifold);
        assert_eq!(style(&notes), LinkStyle::Plain);
    }

    #[test]
    fn obsidian_names_its_templates() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join(".obsidian/plugins/templater-obsidian");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("data.json"), r#"{"templates_folder": "Meta/Forms/"}"#).unwrap();
        let of = |text: &str, style| {
            fs::write(scratch.path().join(".obsidian/templates.json"), text).unwrap();
            templates(scratch.path(), style)
        };
        assert_eq!(of(r#"{"folder": "/Shapes"}"#, LinkStyle::Obsidian), ["Shapes", "Meta/Forms"]);
        for odd in ["", "{", "[]", r#"{"folder": 7}"#, r#"{"folder": "/"}"#] {
            assert_eq!(of(odd, LinkStyle::Obsidian), ["Meta/Forms"], "{odd}");
        }
        assert_eq!(of(r#"{"folder": "/Shapes"}"#, LinkStyle::Plain), [""; 0]);
    }
}
