//! A host's settings file in JSON: finds, adds and removes kgctx's hooks.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::core::installation::JsonHooks;
use crate::hosts::json_text::{JsonText, Node};

/// Why a settings file was not changed.
#[derive(Debug, Error)]
pub enum SettingsFileError {
    #[error("cannot read {}: {cause}; check its permissions", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{} is a link that leads nowhere, and was left alone; correct it and try again", path.display())]
    Dangling { path: PathBuf },
    #[error("{} cannot be understood, and was left alone: {cause}; correct it and try again", path.display())]
    Broken { path: PathBuf, cause: serde_json::Error },
    #[error("{} was left alone: {what}; correct it and try again", path.display())]
    Shape { path: PathBuf, what: String },
}

/// A settings file, as read or as edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    wanted: &'static JsonHooks,
    path: PathBuf,
    /// The file's exact content.
    text: String,
    json: JsonText,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OurHook {
    pub event: String,
    /// The program, as the hook names it.
    pub program: String,
}

/// The fields of a hook that show which program it runs.
#[derive(Deserialize)]
struct RawHook {
    command: String,
    args: Option<Vec<String>>,
}

#[derive(Serialize)]
struct NewHook<'a> {
    r#type: &'static str,
    command: &'a str,
    args: &'static [&'static str],
    timeout: u32,
}

#[derive(Serialize)]
struct NewGroup<'a> {
    hooks: [NewHook<'a>; 1],
}

impl<'a> NewHook<'a> {
    // Separate arguments: the host then runs the program without a shell.
    fn new(program: &'a str, wanted: &JsonHooks) -> NewHook<'a> {
        let JsonHooks { arguments: args, timeout_seconds: timeout, .. } = *wanted;
        NewHook { r#type: "command", command: program, args, timeout }
    }
}

/// One of our hooks and its position: in an event's list of groups, and in a group's list of hooks.
struct FoundHook<'a> {
    hook: OurHook,
    is_exec: bool,
    groups: &'a Node,
    group: usize,
    hooks: &'a Node,
    place: usize,
}

impl SettingsFile {
    /// Reads a file; `None` if it does not exist.
    pub fn read(
        path: &Path,
        wanted: &'static JsonHooks,
    ) -> Result<Option<SettingsFile>, SettingsFileError> {
        match fs::read(path) {
            Ok(bytes) => SettingsFile::parse(path, wanted, bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                match fs::symlink_metadata(path) {
                    Ok(_) => Err(SettingsFileError::Dangling { path: path.to_path_buf() }),
                    Err(_) => Ok(None),
                }
            }
            Err(cause) => Err(SettingsFileError::Io { path: path.to_path_buf(), cause }),
        }
    }

    /// A settings file with an empty object.
    pub fn empty(
        path: &Path,
        wanted: &'static JsonHooks,
    ) -> Result<SettingsFile, SettingsFileError> {
        SettingsFile::parse(path, wanted, b"{}\n".to_vec())
    }

    /// Reads the backup from before an installation; `None` if it does not exist or is not a valid
    /// settings file.
    pub fn read_backup(
        file: &Path,
        wanted: &'static JsonHooks,
    ) -> Result<Option<SettingsFile>, SettingsFileError> {
        match SettingsFile::read(&backup(file), wanted) {
            Err(SettingsFileError::Broken { .. } | SettingsFileError::Shape { .. }) => Ok(None),
            read => read,
        }
    }

    fn parse(
        path: &Path,
        wanted: &'static JsonHooks,
        bytes: Vec<u8>,
    ) -> Result<SettingsFile, SettingsFileError> {
        let shape = |what: &str| SettingsFileError::Shape {
            path: path.to_path_buf(),
            what: what.to_owned(),
        };
        let text = String::from_utf8(bytes).map_err(|_| shape("it is not UTF-8"))?;
        // Hosts read an empty file as an empty object.
        let json = if text.trim().is_empty() { "{}\n".to_owned() } else { text.clone() };
        let json = JsonText::parse(json)
            .map_err(|cause| SettingsFileError::Broken { path: path.to_path_buf(), cause })?;
        if !json.root.is_object() {
            return Err(shape("it is no object in braces"));
        }
        let file = SettingsFile { wanted, path: path.to_path_buf(), text, json };
        if let Some((_, hooks)) = file.json.root.member("hooks") {
            if !hooks.is_object() {
                return Err(shape("its \"hooks\" is no object in braces"));
            }
            if let Some((event, _)) = hooks.members().find(|(_, groups)| !groups.is_array()) {
                return Err(shape(&format!("its \"hooks\" for {event:?} is no list")));
            }
        }
        Ok(file)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn is_empty(&self) -> bool {
        self.json.root.len() == 0
    }

    /// The first wanted event without a hook that runs kgctx.
    pub fn missing_event(&self) -> Option<&'static str> {
        let hooks = self.our_hooks();
        let is_missing = |event: &&&str| hooks.iter().all(|hook| hook.event != **event);
        self.wanted.events.iter().find(is_missing).copied()
    }

    /// The hooks that run a program called kgctx, at any path.
    pub fn our_hooks(&self) -> Vec<OurHook> {
        self.found().into_iter().map(|found| found.hook).collect()
    }

    /// Returns the file with one hook per wanted event that runs `program`; every other byte stays.
    pub fn with_hooks(&self, program: &str) -> Result<SettingsFile, SettingsFileError> {
        let mut file = self.clone();
        for event in self.wanted.events {
            // Removes duplicates.
            while let [_, .., last] = file.found_at(event).as_slice() {
                file = file.edited(|json| Some(removed(json, last, |_| true)))?;
            }
            file = file.edited(|json| file.with_hook(json, event, program))?;
        }
        Ok(file)
    }

    fn with_hook(
        &self,
        json: &JsonText,
        event: &str,
        program: &str,
    ) -> Option<serde_json::Result<JsonText>> {
        if let Some(found) = self.found_at(event).first() {
            let is_right = found.hook.program == program && found.is_exec;
            let hook = &found.hooks.elements()[found.place];
            return (!is_right).then(|| json.replaced(hook, &NewHook::new(program, self.wanted)));
        }
        let group = NewGroup { hooks: [NewHook::new(program, self.wanted)] };
        let hooks = json.root.member("hooks").map(|(_, hooks)| hooks);
        let groups = hooks.and_then(|hooks| hooks.member(event)).map(|(_, groups)| groups);
        Some(match (hooks, groups) {
            (_, Some(groups)) => json.added(groups, None, &group),
            (Some(hooks), None) => json.added(hooks, Some(event), &[group]),
            (None, None) => {
                let hooks = std::collections::BTreeMap::from([(event, [group])]);
                json.added(&json.root, Some("hooks"), &hooks)
            }
        })
    }

    /// Returns the file without our hooks and without the lists that this leaves empty; lists that
    /// exist in `before` stay.
    pub fn without_hooks(
        &self,
        before: Option<&SettingsFile>,
    ) -> Result<SettingsFile, SettingsFileError> {
        let before = before.and_then(|before| before.json.root.member("hooks"));
        let was_there = |event: Option<&str>| match (before, event) {
            (Some((_, hooks)), Some(event)) => hooks.member(event).is_some(),
            (hooks, _) => hooks.is_some(),
        };
        let mut file = self.clone();
        while let Some(last) = file.found().last() {
            file = file.edited(|json| Some(removed(json, last, was_there)))?;
        }
        Ok(file)
    }

    fn edited(
        &self,
        edit: impl FnOnce(&JsonText) -> Option<serde_json::Result<JsonText>>,
    ) -> Result<SettingsFile, SettingsFileError> {
        let path = self.path.clone();
        match edit(&self.json) {
            None => Ok(self.clone()),
            Some(Ok(json)) => {
                Ok(SettingsFile { wanted: self.wanted, path, text: json.text.clone(), json })
            }
            Some(Err(cause)) => Err(SettingsFileError::Broken { path, cause }),
        }
    }

    fn found(&self) -> Vec<FoundHook<'_>> {
        let mut found = Vec::new();
        let hooks = self.json.root.member("hooks").map(|(_, hooks)| hooks);
        for (event, groups) in hooks.into_iter().flat_map(Node::members) {
            for (group, node) in groups.elements().iter().enumerate() {
                let Some((_, hooks)) = node.member("hooks") else { continue };
                for (place, hook) in hooks.elements().iter().enumerate() {
                    let Some((program, is_exec)) =
                        self.json.read(hook).and_then(|hook| ours(hook, self.wanted.arguments))
                    else {
                        continue;
                    };
                    let hook = OurHook { event: event.to_owned(), program };
                    found.push(FoundHook { hook, is_exec, groups, group, hooks, place });
                }
            }
        }
        found
    }

    fn found_at(&self, event: &str) -> Vec<FoundHook<'_>> {
        self.found().into_iter().filter(|found| found.hook.event == event).collect()
    }
}

/// The path of a settings file's backup.
pub fn backup(file: &Path) -> PathBuf {
    let mut name = file.file_name().unwrap_or_default().to_os_string();
    name.push(".kgctx-backup");
    file.with_file_name(name)
}

pub fn has_backup(file: &Path) -> bool {
    backup(file).exists()
}

/// Writes the backup. It gets the file's permissions, because it can hold secrets.
pub fn write_backup(file: &Path, original: &str) -> io::Result<()> {
    let backup = backup(file);
    fs::copy(file, &backup)?;
    fs::write(&backup, original)
}

/// Removes a hook and every list that this leaves empty, unless the list existed before.
fn removed(
    json: &JsonText,
    found: &FoundHook<'_>,
    was_there: impl Fn(Option<&str>) -> bool,
) -> serde_json::Result<JsonText> {
    let event = found.hook.event.as_str();
    if found.hooks.len() > 1 {
        return json.removed(found.hooks, found.place);
    }
    let hooks = json.root.member("hooks");
    match hooks.and_then(|(at, hooks)| Some((at, hooks, hooks.member(event)?.0))) {
        Some((at, hooks, place)) if found.groups.len() == 1 && !was_there(Some(event)) => {
            if hooks.len() == 1 && !was_there(None) {
                json.removed(&json.root, at)
            } else {
                json.removed(hooks, place)
            }
        }
        _ => json.removed(found.groups, found.group),
    }
}

/// The program that a hook runs, if that is kgctx, and whether the hook runs it without a shell.
fn ours(hook: RawHook, wanted: &[&str]) -> Option<(String, bool)> {
    let is_kgctx = |program: &str| {
        Path::new(program.rsplit('\\').next()?).file_stem()?.to_str().map(|stem| stem == "kgctx")
    };
    if let Some(arguments) = hook.args {
        let is_ours = is_kgctx(&hook.command)? && arguments == wanted;
        return is_ours.then_some((hook.command, true));
    }
    // A person may have written the hook as a shell command.
    let mut rest = hook.command.trim_end();
    for argument in wanted.iter().rev() {
        rest = rest.strip_suffix(argument)?;
        rest = rest.strip_suffix(char::is_whitespace)?.trim_end();
    }
    let program = rest.trim().trim_matches(['"', '\'']);
    is_kgctx(program)?.then(|| (program.to_owned(), false))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;
    use crate::core::installation::{Install, InstallKind};

    fn parse(text: &[u8]) -> Result<SettingsFile, SettingsFileError> {
        let Some(Install { kind: InstallKind::JsonHooks(wanted), .. }) =
            &Host::ClaudeCode.facts().install
        else {
            panic!("Claude Code has hooks in a settings file");
        };
        SettingsFile::parse(Path::new("settings.json"), wanted, text.to_vec())
    }

    fn file(text: &str) -> SettingsFile {
        parse(text.as_bytes()).unwrap()
    }

    fn programs(file: &SettingsFile) -> Vec<(String, String)> {
        file.our_hooks().into_iter().map(|hook| (hook.event, hook.program)).collect()
    }

    #[test]
    fn a_1_45_a_hook_is_known_by_the_file_that_it_runs() {
        // A-1.45
        let check = |hook: &str, expected: Option<(&str, bool)>| {
            let raw = serde_json::from_str(hook).unwrap();
            let expected = expected.map(|(program, is_exec)| (program.to_owned(), is_exec));
            assert_eq!(ours(raw, &["hook", "claude-code"]), expected, "{hook}");
        };
        let exec = r#""args":["hook","claude-code"]}"#;
        check(&format!(r#"{{"command":"kgctx",{exec}"#), Some(("kgctx", true)));
        check(&format!(r#"{{"command":"/a b/kgctx",{exec}"#), Some(("/a b/kgctx", true)));
        check(
            &format!(r#"{{"command":"C:\\x\\kgctx.exe",{exec}"#),
            Some((r"C:\x\kgctx.exe", true)),
        );
        check(&format!(r#"{{"command":"/usr/bin/kgctx-other",{exec}"#), None);
        check(r#"{"command":"kgctx","args":["hook","opencode"]}"#, None);
        check(r#"{"command":"kgctx hook claude-code"}"#, Some(("kgctx", false)));
        check(r#"{"command":"\"/a b/kgctx\"  hook claude-code "}"#, Some(("/a b/kgctx", false)));
        check(r#"{"command":"other hook claude-code"}"#, None);
        check(r#"{"command":"kgctx hook claude-code | tee x"}"#, None);
        check(r#"{"command":""}"#, None);
    }

    #[test]
    fn an_old_path_is_replaced_and_a_second_copy_goes() {
        let before = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"/old/kgctx","args":["hook","claude-code"]},{"type":"command","command":"mine"}]},{"hooks":[{"type":"command","command":"kgctx hook claude-code"}]}]}}"#;
        let after = file(before).with_hooks("/new/kgctx").unwrap();
        let expected = [("SessionStart", "/new/kgctx"), ("SessionEnd", "/new/kgctx")];
        assert_eq!(programs(&after), expected.map(|(e, p)| (e.to_owned(), p.to_owned())));
        assert!(after.text().starts_with(r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"/new/kgctx","args":["hook","claude-code"],"timeout":5},{"type":"command","command":"mine"}]}],"#), "{}", after.text());
        assert_eq!(after.with_hooks("/new/kgctx").unwrap(), after);
        let without = after.without_hooks(None).unwrap();
        assert_eq!(
            without.text(),
            r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"mine"}]}]}}"#
        );
    }

    #[test]
    fn lists_that_were_empty_before_stay() {
        for before in [r#"{"hooks":{}}"#, r#"{"hooks":{"SessionEnd":[],"Stop":[]}}"#, r#"{"a":1}"#]
        {
            let before = file(before);
            let with = before.with_hooks("kgctx").unwrap();
            assert_eq!(with.our_hooks().len(), 2);
            assert_eq!(with.without_hooks(Some(&before)).unwrap(), before);
        }
        let alone = file("").with_hooks("kgctx").unwrap();
        assert!(alone.without_hooks(None).unwrap().is_empty());
    }

    #[test]
    fn another_shape_is_refused() {
        for (text, what) in [
            ("[]", "no object"),
            (r#"{"hooks":[]}"#, "its \"hooks\" is no object"),
            (r#"{"hooks":{"SessionStart":{}}}"#, "for \"SessionStart\" is no list"),
            ("{", "line 1 column 1"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("settings.json ") && error.contains(what), "{error}");
            assert!(error.contains("left alone"), "{error}");
        }
        assert!(parse(&[0xff]).is_err());
        // Other programs' hooks may have any shape.
        let odd =
            file(r#"{"hooks":{"SessionStart":[1,{"hooks":3},{"hooks":[null,{"command":7}]}]}}"#);
        assert!(odd.our_hooks().is_empty());
    }
}
