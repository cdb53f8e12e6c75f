//! What is no note, though it looks like one: templates, backups, side files, and generated text.
//!
//! maenifold's memory has none of these: there every `.md` file is a note.

use memchr::memmem;

use crate::core::note::listing::Rejection;
use crate::core::note::vault::Vault;
use crate::core::note::{EXTENSIONS, NotePath, side_file, template, without_extension};
use crate::core::settings::LinkStyle;

/// Folders of Logseq's own copies of pages.
const BACKUP_FOLDERS: [&str; 2] = ["logseq/bak", "logseq/version-files"];
const MARKS_OF_COPIES: [&[u8]; 3] = [b".bak.", b".orig.", b".sync-conflict-"];
/// The length of `.md`.
const SHORTEST_ENDING: usize = 3;
const CONFLICTED: &[u8] = b"conflicted copy";
/// How the lines of a Git LFS pointer begin that say what it is, and to which content it leads.
const POINTER: &str = "version https://git-lfs.github.com/spec/";
const POINTER_TO: &str = "oid sha256:";
/// Git LFS takes nothing longer for a pointer.
const LONGEST_POINTER_BYTES: usize = 1_024;
/// In so many lines at the beginning a file says that it is generated.
const FIRST_LINES: usize = 5;
const GENERATED: [&str; 4] = ["@generated", "do not edit", "do not modify", "don't edit"];
/// Words of comments that speak of a part of a file.
const OF_PART: [&str; 9] =
    ["section", "block", "below", "above", "begin", "start", "toc", "between", "line"];

/// Why a file or a folder is left out by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOut {
    Template,
    Backup,
    /// It is for others than readers of notes.
    SideFile,
}

/// Whether a file's name ends like that of a note: in any case, except in maenifold's memory.
pub fn is_note_name(name: &[u8], style: LinkStyle) -> bool {
    if style == LinkStyle::Maenifold {
        return name.ends_with(EXTENSIONS[0].as_bytes());
    }
    EXTENSIONS.iter().any(|ending| {
        let at = name.len().checked_sub(ending.len());
        at.is_some_and(|at| name[at..].eq_ignore_ascii_case(ending.as_bytes()))
    })
}

impl Vault {
    /// Why the folder at this path is left out.
    pub fn leaves_out_folder(&self, path: &str) -> Option<LeftOut> {
        let name = path.rsplit('/').next().unwrap_or(path);
        if self.style != LinkStyle::Maenifold && side_file::is_side_folder(name) {
            return Some(LeftOut::SideFile);
        }
        // Elsewhere such a folder can have pages about templates: their texts decide.
        let has_templates = !self.style.has_free_names();
        let is_template = has_templates && template::is_named_folder(name);
        if is_template || self.templates.iter().any(|folder| folder == path) {
            return Some(LeftOut::Template);
        }
        let is_backup = self.style == LinkStyle::Logseq && BACKUP_FOLDERS.contains(&path);
        is_backup.then_some(LeftOut::Backup)
    }

    /// Why the file of this name is left out.
    pub fn leaves_out_file(&self, name: &str) -> Option<LeftOut> {
        leaves_out_file(name, self.style)
    }
}

/// Why the file of this name is left out in a vault of a style.
pub fn leaves_out_file(name: &str, style: LinkStyle) -> Option<LeftOut> {
    if style == LinkStyle::Maenifold {
        return None;
    }
    // Dendron's folders are the parts of names.
    let is_of_dendron = style == LinkStyle::Dendron && name.starts_with("templates.");
    if is_of_dendron || template::is_named(without_extension(name)) {
        return Some(LeftOut::Template);
    }
    if side_file::is_side_file(name) {
        return Some(LeftOut::SideFile);
    }
    is_backup(name.as_bytes()).then_some(LeftOut::Backup)
}

/// Whether a name is one that programs give to copies. Every file of a vault is asked at every session's start, and few have a
/// dot or a blank before their ending.
fn is_backup(name: &[u8]) -> bool {
    let beginning = &name[..name.len().saturating_sub(SHORTEST_ENDING)];
    memchr::memchr2(b'.', b' ', beginning).is_some() && has_mark_of_copy(name)
}

#[cold]
fn has_mark_of_copy(name: &[u8]) -> bool {
    let is_mark = |dot: usize| MARKS_OF_COPIES.iter().any(|mark| name[dot..].starts_with(mark));
    memchr::memchr_iter(b'.', name).any(is_mark) || memmem::find(name, CONFLICTED).is_some()
}

/// Why the text at a path is no note.
pub fn rejection(path: &NotePath, text: &str, style: LinkStyle) -> Option<Rejection> {
    if style == LinkStyle::Maenifold {
        return None;
    }
    if template::is_template_text(path.as_str(), text, style) {
        return Some(Rejection::Template);
    }
    if side_file::is_side_text(path.stem(), text) || side_file::is_data(text) {
        return Some(Rejection::SideFile);
    }
    is_generated(text).then_some(Rejection::Generated)
}

/// What a Git LFS pointer says, in one line; `None` for any other text. A pointer is a note all the same: its name and
/// its history say that it is worked on.
pub fn pointer(text: &str) -> Option<String> {
    if !text.starts_with(POINTER) || text.len() >= LONGEST_POINTER_BYTES {
        return None;
    }
    let mut lines = text.lines();
    let version = lines.next().and_then(|line| line.strip_prefix(POINTER))?;
    let content = lines.find_map(|line| line.strip_prefix(POINTER_TO))?;
    let is_plain =
        [version, content].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    is_plain.then(|| format!("{POINTER}{version} {POINTER_TO}{content}"))
}

/// Whether a comment at the beginning says that the file is generated. A sentence is not enough: a note may be about
/// generated files.
fn is_generated(text: &str) -> bool {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).take(FIRST_LINES);
    let mut comments = lines.filter(|line| {
        let line = line.trim_start();
        ["<!--", "{/*", "[//]: #", "[comment]: #"].iter().any(|start| line.starts_with(start))
    });
    comments.any(|comment| {
        let comment = comment.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| comment.contains(word));
        has(&GENERATED) && !has(&OF_PART)
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::core::named::Named;
    use LinkStyle::{Dendron, Logseq, Maenifold, Obsidian, Plain};

    fn vault(style: LinkStyle) -> Vault {
        let vault = Vault::new("", PathBuf::from("/v"), style);
        Vault { templates: vec!["meta/forms".to_owned()], ..vault }
    }

    /// The styles in whose vaults something is so.
    fn styles(is_so: impl Fn(&Vault) -> bool) -> Vec<LinkStyle> {
        let styles = LinkStyle::ALL.iter().copied();
        styles.filter(|style| is_so(&vault(*style))).collect()
    }

    fn rejection(text: &str, style: LinkStyle) -> Option<Rejection> {
        super::rejection(&NotePath::parse("a.md").unwrap(), text, style)
    }

    #[test]
    fn side_files_are_told_by_names_and_texts() {
        let file = |name: &'static str| styles(|vault| vault.leaves_out_file(name).is_some());
        for name in [
            "AGENTS.md",
            "_sidebar.md",
            "LICENSE.md",
            "0000-template.md",
            "PULL_REQUEST_TEMPLATE.md",
        ] {
            assert_eq!(file(name), [Obsidian, Logseq, Dendron, Plain], "{name}");
        }
        let folder = |path: &'static str| styles(|vault| vault.leaves_out_folder(path).is_some());
        assert_eq!(folder("a/node_modules"), [Obsidian, Logseq, Dendron, Plain]);
        let at = |path: &str, text: &str, style| {
            super::rejection(&NotePath::parse(path).unwrap(), text, style)
        };
        let links = "# Summary\n\n- [A](a.md)\n";
        assert_eq!(at("book/SUMMARY.md", links, Plain), Some(Rejection::SideFile));
        assert_eq!(at("book/SUMMARY.md", "We did [it](a.md).", Plain), None);
        let form = "# {title}\n\nBy {your name}.\n";
        assert_eq!(at("docs/templates/a.md", form, Plain), Some(Rejection::Template));
        assert_eq!(at("docs/templates/a.md", form, Maenifold), None);
        let drawing = "---\ntags: a\nexcalidraw-plugin: parsed\n---\n# Drawing\n";
        assert_eq!(at("a.md", drawing, Obsidian), Some(Rejection::SideFile));
        assert_eq!(
            at("a.md", &drawing.replace("excalidraw", "database"), Obsidian),
            Some(Rejection::SideFile)
        );
        assert_eq!(at("a.md", &drawing.replace("excalidraw", "kanban"), Obsidian), None);
        assert_eq!(at("a.md", "# A\n\nexcalidraw-plugin: parsed\n", Obsidian), None);
        assert_eq!(at("a.md", drawing, Maenifold), None);
        assert_eq!(at("docs/templates/a.md", "How templates work.", Plain), None);
    }

    #[test]
    fn templates_and_backups_are_told_by_their_names() {
        let folder = |path: &'static str| styles(|vault| vault.leaves_out_folder(path).is_some());
        for path in ["templates", "a/Templates", "_templates", "a/99 Vorlagen"] {
            assert_eq!(folder(path), [Obsidian, Logseq, Dendron], "{path}");
        }
        assert_eq!(folder("meta/forms").len(), 5);
        assert_eq!(folder("logseq/bak"), [Logseq]);
        assert_eq!(folder("a/bak"), []);
        let file = |name: &'static str| styles(|vault| vault.leaves_out_file(name).is_some());
        for name in ["a.bak.md", "a (conflicted copy 2026-01-01).md", "a.sync-conflict-1-2.md"] {
            assert_eq!(file(name), [Obsidian, Logseq, Dendron, Plain], "{name}");
        }
        assert_eq!(file("templates.daily.md"), [Dendron]);
        assert_eq!(file("backups.md"), []);
    }

    #[test]
    fn notes_have_three_endings_and_in_the_memory_one() {
        let of = |name: &'static str| styles(|vault| is_note_name(name.as_bytes(), vault.style));
        assert_eq!(of("a.md").len(), 5);
        assert_eq!(of("a.markdown"), [Obsidian, Logseq, Dendron, Plain]);
        assert_eq!(of("a.mdx"), [Obsidian, Logseq, Dendron, Plain]);
        assert_eq!(of("a.MD"), [Obsidian, Logseq, Dendron, Plain]);
        assert_eq!(of("a.txt"), []);
    }

    #[test]
    fn a_generated_file_says_so_in_a_comment() {
        for generated in [
            "<!-- Code generated by gen. DO NOT EDIT. -->\n# API",
            "# API\n\n<!-- @generated -->\n",
            "---\ntitle: x\n---\n{/* This file is generated; do not edit it. */}\n",
        ] {
            assert_eq!(rejection(generated, Plain), Some(Rejection::Generated), "{generated}");
            assert_eq!(rejection(generated, Maenifold), None);
        }
        for note in [
            "# DO NOT EDIT\n\nWhy our generated files say so.",
            "The mark @generated tells reviewers to look away.",
            "<!-- START doctoc generated TOC please keep comment here to allow auto update -->\n\
             <!-- DON'T EDIT THIS SECTION, INSTEAD RE-RUN doctoc TO UPDATE -->",
            "<!-- Do not edit below this line -->",
            "a\nb\nc\nd\ne\n<!-- @generated -->",
            "",
        ] {
            assert_eq!(rejection(note, Plain), None, "{note}");
        }
    }

    #[test]
    fn a_pointer_is_told_by_its_lines() {
        let text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
        let says = "version https://git-lfs.github.com/spec/v1 oid sha256:0";
        assert_eq!(pointer(text).as_deref(), Some(says));
        assert_eq!(pointer(&text.replace('\n', "\r\n")).as_deref(), Some(says));
        assert_eq!(pointer(&format!("A pointer:\n\n    {text}")), None);
        assert_eq!(pointer(&format!("{text}\n{}", "A long note. ".repeat(100))), None);
        assert_eq!(pointer("version https://git-lfs.github.com/spec/v1 is the oldest."), None);
    }
}
