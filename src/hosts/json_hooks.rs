//! A host's settings file in JSON: finds and adds kgctx's hooks.

mod removal;
mod status_line;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::core::installation::{JsonHooks, Parts};
use crate::core::text::for_shell;
use crate::hosts::json_text::{JsonText, Kind, Node};
use crate::system::plain_file;

/// Why a settings file was not changed.
#[derive(Debug, Error)]
pub enum SettingsFileError {
    #[error("cannot read {}: {cause}; check its permissions", path.display())]
    Io { path: PathBuf, cause: io::Error },
    #[error("{} is a broken link and was not changed; fix it and try again", path.display())]
    Dangling { path: PathBuf },
    #[error("{} cannot be parsed and was not changed: {cause}; fix it and try again", path.display())]
    Broken { path: PathBuf, cause: serde_json::Error },
    #[error("{} was not changed: {what}; fix it and try again", path.display())]
    Shape { path: PathBuf, what: String },
}

pub type SettingsResult<T> = Result<T, SettingsFileError>;

/// A settings file, as read or as edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    wanted: &'static JsonHooks,
    path: PathBuf,
    /// The file's exact content.
    pub text: String,
    json: JsonText,
}

/// A hook that runs kgctx.
pub struct OurHook<'a> {
    pub event: &'a str,
    /// The program, as the hook names it.
    pub program: String,
    /// Whether the hook gives the arguments separately, and so runs the program without a shell.
    pub is_exec: bool,
    /// The lists and objects around it and its place in each, from the root to the group's list.
    around: [(&'a Node, usize); 4],
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
    /// For a shell: older versions of the host, and other programs that read its settings, ignore separate arguments.
    command: &'a str,
    timeout: u32,
}

impl SettingsFile {
    /// Reads a file; `None` if it does not exist.
    pub fn read(path: &Path, wanted: &'static JsonHooks) -> SettingsResult<Option<SettingsFile>> {
        match plain_file::read(path) {
            Ok(bytes) => SettingsFile::parse(path, wanted, bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_link = fs::symlink_metadata(path).is_ok();
                let dangling = || SettingsFileError::Dangling { path: path.to_path_buf() };
                if is_link { Err(dangling()) } else { Ok(None) }
            }
            Err(cause) => Err(SettingsFileError::Io { path: path.to_path_buf(), cause }),
        }
    }

    /// A settings file with an empty object.
    pub fn empty(path: &Path, wanted: &'static JsonHooks) -> SettingsResult<SettingsFile> {
        SettingsFile::parse(path, wanted, b"{}\n".to_vec())
    }

    /// Reads the backup from before an installation; `None` if it does not exist or is not a valid
    /// settings file.
    pub fn read_backup(
        file: &Path,
        wanted: &'static JsonHooks,
    ) -> SettingsResult<Option<SettingsFile>> {
        match SettingsFile::read(&backup(file), wanted) {
            Err(SettingsFileError::Broken { .. } | SettingsFileError::Shape { .. }) => Ok(None),
            read => read,
        }
    }

    fn parse(path: &Path, wanted: &'static JsonHooks, bytes: Vec<u8>) -> SettingsResult<Self> {
        let shape = |what: String| SettingsFileError::Shape { path: path.to_path_buf(), what };
        let text = String::from_utf8(bytes).map_err(|_| shape("it is not UTF-8".to_owned()))?;
        // Hosts read an empty file as an empty object.
        let json = if text.trim().is_empty() { "{}\n".to_owned() } else { text.clone() };
        let json = JsonText::parse(json)
            .map_err(|cause| SettingsFileError::Broken { path: path.to_path_buf(), cause })?;
        if json.root.kind != Kind::Object {
            return Err(shape("it is not a JSON object".to_owned()));
        }
        if let Some((_, hooks)) = json.root.member("hooks") {
            if hooks.kind != Kind::Object {
                return Err(shape("its \"hooks\" is not a JSON object".to_owned()));
            }
            if let Some((_, other)) = hooks.members().find(|(_, groups)| groups.kind != Kind::Array)
            {
                return Err(shape(format!("its \"hooks\" for {:?} is not a list", other.name)));
            }
        }
        Ok(SettingsFile { wanted, path: path.to_path_buf(), text, json })
    }

    /// Whether the first of the monitor's hooks is there. An update adds the others.
    pub fn has_monitor(&self) -> bool {
        self.has(self.wanted.monitor_events)
    }

    /// Whether a session can go on in a fresh context.
    pub fn has_rotation(&self) -> bool {
        self.has(self.wanted.rotation_events)
    }

    fn has(&self, events: &[&str]) -> bool {
        events.first().is_some_and(|event| !self.our_hooks_at(event).is_empty())
    }

    /// Whether there is anything of kgctx's.
    pub fn is_ours(&self) -> bool {
        !self.our_hooks().is_empty() || self.has_status_line()
    }

    pub fn is_empty(&self) -> bool {
        self.json.root.children.is_empty()
    }

    /// The first wanted event without a hook that runs kgctx.
    pub fn missing_event(&self) -> Option<&'static str> {
        let hooks = self.our_hooks();
        let is_missing = |event: &&&str| hooks.iter().all(|hook| hook.event != **event);
        let more = self.wanted.monitor_events.iter().filter(|_| self.has_monitor());
        self.wanted.events.iter().chain(more).find(is_missing).copied()
    }

    /// Returns the file with one hook per wanted event that runs `program`; every other byte stays.
    /// What is only wanted on request stays if it is there.
    pub fn with_hooks(&self, program: &str, parts: Parts) -> SettingsResult<SettingsFile> {
        let mut file = self.clone();
        let JsonHooks { events, monitor_events, rotation_events, .. } = self.wanted;
        let is_monitored = parts.monitor || self.has_monitor();
        let is_rotated = parts.rotation || self.has_rotation();
        let monitor = monitor_events.iter().filter(|_| is_monitored);
        // The monitor and rotation share an event.
        let is_new = |event: &&&str| !(is_monitored && monitor_events.contains(event));
        let rotation = rotation_events.iter().filter(|_| is_rotated).filter(is_new);
        for event in events.iter().chain(monitor).chain(rotation) {
            // Removes duplicates.
            while let [_, .., last] = file.our_hooks_at(event).as_slice() {
                file = file.edited(last.removed(&file.json, |_| true))?;
            }
            file = file.edited(file.with_hook(event, program))?;
        }
        match parts.status_line || self.has_status_line() {
            true => file.with_status_line(program),
            false => Ok(file),
        }
    }

    fn with_hook(&self, event: &str, program: &str) -> serde_json::Result<JsonText> {
        let json = &self.json;
        let JsonHooks { arguments, timeout_seconds: timeout, .. } = *self.wanted;
        let command = format!("{} {}", for_shell::word(program), arguments.join(" "));
        let new = NewHook { r#type: "command", command: &command, timeout };
        if let Some(found) = self.our_hooks_at(event).first() {
            let is_right = found.program == program && !found.is_exec;
            return if is_right { Ok(json.clone()) } else { json.replaced(found.node(), &new) };
        }
        let group = BTreeMap::from([("hooks", [new])]);
        let Some((_, hooks)) = json.root.member("hooks") else {
            let hooks = BTreeMap::from([(event, [group])]);
            return json.added(&json.root, Some("hooks"), &hooks);
        };
        match hooks.member(event) {
            Some((_, groups)) => json.added(groups, None, &group),
            None => json.added(hooks, Some(event), &[group]),
        }
    }

    fn edited(&self, json: serde_json::Result<JsonText>) -> SettingsResult<SettingsFile> {
        let broken = |cause| SettingsFileError::Broken { path: self.path.clone(), cause };
        let json = json.map_err(broken)?;
        Ok(SettingsFile { text: json.text.clone(), json, ..self.clone() })
    }

    /// The hooks that run a program called kgctx, at any path.
    pub fn our_hooks(&self) -> Vec<OurHook<'_>> {
        let mut found = Vec::new();
        let root = &self.json.root;
        let Some((at, events)) = root.member("hooks") else { return found };
        for (event_at, groups) in events.members() {
            for (group_at, group) in groups.elements().iter().enumerate() {
                let Some((_, hooks)) = group.member("hooks") else { continue };
                for (hook_at, hook) in hooks.elements().iter().enumerate() {
                    let raw = self.json.read(hook);
                    let ours = raw.and_then(|hook| ours(hook, self.wanted.arguments));
                    let Some((program, is_exec)) = ours else { continue };
                    let around =
                        [(root, at), (events, event_at), (groups, group_at), (hooks, hook_at)];
                    found.push(OurHook { event: &groups.name, program, is_exec, around });
                }
            }
        }
        found
    }

    fn our_hooks_at(&self, event: &str) -> Vec<OurHook<'_>> {
        self.our_hooks().into_iter().filter(|hook| hook.event == event).collect()
    }
}

impl OurHook<'_> {
    fn node(&self) -> &Node {
        let [.., (hooks, place)] = self.around;
        &hooks.children[place]
    }

    /// Removes the hook and every list that this leaves empty, unless the list existed before.
    fn removed(
        &self,
        json: &JsonText,
        was_there: impl Fn(Option<&str>) -> bool,
    ) -> serde_json::Result<JsonText> {
        let [root, events, groups, hooks] = self.around;
        let has_others = |(list, _): (&Node, usize)| list.children.len() > 1;
        let (list, place) = if has_others(hooks) {
            hooks
        } else if has_others(groups) || was_there(Some(self.event)) {
            groups
        } else if has_others(events) || was_there(None) {
            events
        } else {
            root
        };
        json.removed(list, place)
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

/// The program that a hook runs, if that is kgctx, and whether the hook runs it without a shell.
fn ours(hook: RawHook, wanted: &[&str]) -> Option<(String, bool)> {
    if let Some(arguments) = hook.args {
        let is_ours = is_kgctx(&hook.command)? && arguments == wanted;
        return is_ours.then_some((hook.command, true));
    }
    let mut rest = hook.command.trim_end();
    for argument in wanted.iter().rev() {
        rest = rest.strip_suffix(argument)?;
        rest = rest.strip_suffix(char::is_whitespace)?.trim_end();
    }
    let program = from_shell(rest.trim());
    is_kgctx(&program)?.then_some((program, false))
}

fn is_kgctx(program: &str) -> Option<bool> {
    Path::new(program.rsplit('\\').next()?).file_stem()?.to_str().map(|stem| stem == "kgctx")
}

fn from_shell(word: &str) -> String {
    match word.strip_prefix('\'').and_then(|word| word.strip_suffix('\'')) {
        Some(inside) => inside.replace(r"'\''", "'"),
        None => word.trim_matches('"').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::host::Host;
    use crate::core::installation::{Install, InstallKind};

    fn parse(text: &[u8]) -> SettingsResult<SettingsFile> {
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
        file.our_hooks().into_iter().map(|hook| (hook.event.to_owned(), hook.program)).collect()
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
        check(
            r#"{"command":"'/a b/it'\\''s/kgctx' hook claude-code"}"#,
            Some(("/a b/it's/kgctx", false)),
        );
        check(r#"{"command":"other hook claude-code"}"#, None);
        check(r#"{"command":"kgctx hook claude-code | tee x"}"#, None);
        check(r#"{"command":""}"#, None);
    }

    #[test]
    fn an_old_path_is_replaced_and_a_second_copy_goes() {
        let before = r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"/old/kgctx","args":["hook","claude-code"]},{"type":"command","command":"mine"}]},{"hooks":[{"type":"command","command":"kgctx hook claude-code"}]}]}}"#;
        let after = file(before).with_hooks("/new/kgctx", Parts::default()).unwrap();
        let expected = ["SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"];
        let of = |event: &str| (event.to_owned(), "/new/kgctx".to_owned());
        assert_eq!(programs(&after), expected.map(of));
        assert!(after.text.starts_with(r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"/new/kgctx hook claude-code","timeout":5},{"type":"command","command":"mine"}]}],"#), "{}", after.text);
        assert_eq!(after.with_hooks("/new/kgctx", Parts::default()).unwrap(), after);
        let without = after.without_hooks(None).unwrap();
        assert_eq!(
            without.text,
            r#"{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"mine"}]}]}}"#
        );
    }

    #[test]
    fn every_program_is_found_again_behind_its_quotes() {
        for program in
            ["kgctx", "/a/b-c_d.e/kgctx", "/a b/kgctx", "/it's/$HOME/`x`/kgctx", "/ü/kgctx"]
        {
            let with = file("{}").with_hooks(program, Parts::default()).unwrap();
            assert!(programs(&with).iter().all(|(_, found)| found == program), "{}", with.text);
            assert_eq!(with.with_hooks(program, Parts::default()).unwrap(), with);
        }
    }

    #[test]
    fn hooks_of_the_users_own_come_back() {
        let own = r#"{"type":"command","command":"/old/kgctx hook claude-code","timeout":60}"#;
        let twice = format!(r#"{{"hooks":{{"SessionStart":[{{"hooks":[{own},{own}]}}]}}}}"#);
        let one = format!(
            r#"{{"hooks":{{"SessionStart":[{{"matcher":"startup","hooks":[{own}]}}]}},"a":1}}"#
        );
        for before in [&one, &twice] {
            let before = file(before);
            let with = before.with_hooks("kgctx", Parts::default()).unwrap();
            assert_eq!(with.our_hooks().len(), 4);
            // Somebody has edited the file since.
            let edited = file(&with.text.replacen('{', r#"{"mine":2,"#, 1));
            let without = edited.without_hooks(Some(&before)).unwrap();
            assert_eq!(programs(&without), programs(&before), "{}", without.text);
            let n_own = without.text.matches(r#""timeout":60"#).count();
            assert_eq!(n_own, before.our_hooks().len(), "{}", without.text);
            // Hooks that are gone do not come back.
            let gone = file(r#"{"mine":2}"#);
            assert_eq!(gone.without_hooks(Some(&before)).unwrap(), gone);
        }
        let with = file(&one).with_hooks("kgctx", Parts::default()).unwrap();
        assert_eq!(with.without_hooks(Some(&file(&one))).unwrap().text, one);
    }

    #[test]
    fn a_1_45_the_status_line_of_the_user_is_run_as_before_and_comes_back() {
        // A-1.45
        let parts = Parts { monitor: true, rotation: true, status_line: true };
        for (before, command) in [
            (r#"{"a":1}"#, "kgctx monitor statusline"),
            (
                r#"{"statusLine": {"type":"command", "command":"~/.claude/line.sh \u0041 'x'","padding":0}}"#,
                r"kgctx monitor statusline -- sh -c '~/.claude/line.sh A '\''x'\'''",
            ),
        ] {
            let before = file(before);
            let with = before.with_hooks("kgctx", parts).unwrap();
            assert_eq!(with.our_hooks().len(), 6);
            assert!(with.has_status_line() && with.has_monitor() && !before.is_ours());
            let json: serde_json::Value = serde_json::from_str(&with.text).unwrap();
            assert_eq!(json["statusLine"]["command"], command);
            // It stays as it is when it is installed again, with or without being asked for.
            assert_eq!(with.with_hooks("kgctx", Parts::default()).unwrap(), with);
            let moved = with.with_hooks("/opt/kgctx", Parts::default()).unwrap();
            assert_eq!(moved.with_hooks("kgctx", parts).unwrap(), with);
            assert_eq!(with.without_hooks(Some(&before)).unwrap(), before);
            let alone = with.without_hooks(None).unwrap();
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(value(&alone.text), value(&before.text));
        }
        let plain = file("{}").with_hooks("kgctx", Parts::default()).unwrap();
        assert!(!plain.has_monitor() && plain.missing_event().is_none());
        // An earlier version had one hook for the monitor.
        let earlier = plain.edited(plain.with_hook("PostToolUse", "kgctx")).unwrap();
        assert_eq!(earlier.missing_event(), Some("Stop"));
        let now = earlier.with_hooks("kgctx", Parts::default()).unwrap();
        assert!(now.has_monitor() && now.missing_event().is_none());
        for odd in [r#"{"statusLine":7}"#, r#"{"statusLine":{}}"#] {
            let error = file(odd).with_hooks("kgctx", parts).unwrap_err().to_string();
            assert!(error.contains("no command"), "{error}");
        }
    }

    #[test]
    fn lists_that_were_empty_before_stay() {
        for before in [r#"{"hooks":{}}"#, r#"{"hooks":{"SessionEnd":[],"Stop":[]}}"#, r#"{"a":1}"#]
        {
            let before = file(before);
            let with = before.with_hooks("kgctx", Parts::default()).unwrap();
            assert_eq!(with.our_hooks().len(), 4);
            assert_eq!(with.without_hooks(Some(&before)).unwrap(), before);
        }
        let alone = file("").with_hooks("kgctx", Parts::default()).unwrap();
        assert!(alone.without_hooks(None).unwrap().is_empty());
    }

    #[test]
    fn another_shape_is_refused() {
        for (text, what) in [
            ("[]", "not a JSON object"),
            (r#"{"hooks":[]}"#, "its \"hooks\" is not a JSON object"),
            (r#"{"hooks":{"SessionStart":{}}}"#, "for \"SessionStart\" is not a list"),
            ("{", "line 1 column 1"),
        ] {
            let error = parse(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with("settings.json ") && error.contains(what), "{error}");
            assert!(error.contains("was not changed"), "{error}");
        }
        assert!(parse(&[0xff]).is_err());
        // Other programs' hooks may have any shape.
        let odd =
            file(r#"{"hooks":{"SessionStart":[1,{"hooks":3},{"hooks":[null,{"command":7}]}]}}"#);
        assert!(odd.our_hooks().is_empty());
    }
}
