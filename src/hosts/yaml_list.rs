//! A list in a host's YAML settings, below two keys: adds or removes one item as text, and every other byte stays. An edit is only
//! made if a real parser then reads exactly what was meant; lists in other styles than the plain one are left to their user.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::hosts::json_hooks::{SettingsFileError, SettingsResult, backup};
use crate::system::plain_file;

/// The two keys that lead to the list.
pub type ListKeys = [&'static str; 2];

/// A settings file, as read or as edited.
#[derive(Debug, Clone, PartialEq)]
pub struct YamlSettings {
    keys: ListKeys,
    path: PathBuf,
    /// The file's exact content.
    pub text: String,
    root: Map<String, Value>,
}

impl YamlSettings {
    /// Reads a file; `None` if it does not exist.
    pub fn read(path: &Path, keys: ListKeys) -> SettingsResult<Option<YamlSettings>> {
        match plain_file::read(path) {
            Ok(bytes) => YamlSettings::parse(path, keys, bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_link = fs::symlink_metadata(path).is_ok();
                let dangling = || SettingsFileError::Dangling { path: path.to_path_buf() };
                if is_link { Err(dangling()) } else { Ok(None) }
            }
            Err(cause) => Err(SettingsFileError::Io { path: path.to_path_buf(), cause }),
        }
    }

    /// Whether a file has an item somewhere in its text, also where it cannot be understood.
    pub fn mentions(path: &Path, item: &str) -> bool {
        let text = plain_file::read(path).unwrap_or_default();
        String::from_utf8_lossy(&text).contains(item)
    }

    pub fn empty(path: &Path, keys: ListKeys) -> YamlSettings {
        let (path, text) = (path.to_path_buf(), String::new());
        YamlSettings { keys, path, text, root: Map::new() }
    }

    /// Reads the backup from before an installation; `None` if it does not exist or cannot be understood.
    pub fn read_backup(file: &Path, keys: ListKeys) -> SettingsResult<Option<YamlSettings>> {
        match YamlSettings::read(&backup(file), keys) {
            Err(SettingsFileError::Shape { .. }) => Ok(None),
            read => read,
        }
    }

    fn parse(path: &Path, keys: ListKeys, bytes: Vec<u8>) -> SettingsResult<YamlSettings> {
        let shape = |what: String| SettingsFileError::Shape { path: path.to_path_buf(), what };
        let text = String::from_utf8(bytes).map_err(|_| shape("it is not UTF-8".to_owned()))?;
        let root = read_tree(&text).map_err(shape)?;
        Ok(YamlSettings { keys, path: path.to_path_buf(), text, root })
    }

    pub fn is_empty(&self) -> bool {
        self.root.is_empty()
    }

    /// Whether the file has a list, also an empty one: in some hosts it replaces those of other files.
    pub fn has_list(&self) -> bool {
        self.value().is_some()
    }

    /// The texts in the list.
    pub fn items(&self) -> Vec<&str> {
        let items = self.value().and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).collect()
    }

    fn value(&self) -> Option<&Value> {
        self.root.get(self.keys[0])?.as_object()?.get(self.keys[1])
    }

    /// Returns the file with an item at the end of its list.
    pub fn with_item(&self, item: &str) -> SettingsResult<YamlSettings> {
        if self.items().contains(&item) {
            return Ok(self.clone());
        }
        let mut wanted = self.root.clone();
        let list = entry(&mut wanted, self.keys[0], Value::Object(Map::new()))
            .as_object_mut()
            .map(|below| entry(below, self.keys[1], Value::Array(Vec::new())));
        let Some(list) = list.and_then(Value::as_array_mut) else {
            return Err(self.unedited());
        };
        list.push(item.into());
        let text = Lines::of(&self.text).with_item(self.keys, item);
        self.edited(text, wanted)
    }

    /// Returns the file without an item, and without the keys that this leaves empty, unless they are in `before`.
    pub fn without_item(
        &self,
        item: &str,
        before: Option<&YamlSettings>,
    ) -> SettingsResult<YamlSettings> {
        let list = self.value().and_then(Value::as_array);
        let Some(place) = list.and_then(|list| list.iter().position(|one| one == item)) else {
            return Ok(self.clone());
        };
        let [outer, inner] = self.keys;
        let mut wanted = self.root.clone();
        let mut lines = Lines::of(&self.text);
        let mut text = lines.without_item(self.keys, place);
        let below = wanted.get_mut(outer).and_then(Value::as_object_mut);
        let Some(below) = below else { return Err(self.unedited()) };
        let list = below.get_mut(inner).and_then(Value::as_array_mut);
        let is_last = list.is_some_and(|list| {
            list.remove(place);
            list.is_empty()
        });
        let list_before = before.and_then(|before| before.value());
        let outer_before = before.and_then(|before| before.root.get(outer));
        if let (true, Some(was)) = (is_last, list_before) {
            let (value, written) =
                if was.is_null() { (Value::Null, "null") } else { (json!([]), "[]") };
            below.insert(inner.to_owned(), value);
            text = text.and_then(|()| lines.set_empty(self.keys, true, written));
        } else if is_last {
            below.remove(inner);
            text = text.and_then(|()| lines.without_key(self.keys, true));
            let is_empty = below.is_empty();
            if let (true, Some(was)) = (is_empty, outer_before) {
                let (value, written) =
                    if was.is_null() { (Value::Null, "null") } else { (json!({}), "{}") };
                wanted.insert(outer.to_owned(), value);
                text = text.and_then(|()| lines.set_empty(self.keys, false, written));
            } else if is_empty {
                wanted.remove(outer);
                text = text.and_then(|()| lines.without_key(self.keys, false));
            }
        }
        self.edited(text.map(|()| lines.join()), wanted)
    }

    /// The edited file, if it then says what is wanted.
    fn edited(&self, text: Option<String>, wanted: Map<String, Value>) -> SettingsResult<Self> {
        let is_right = |text: &String| read_tree(text).is_ok_and(|root| root == wanted);
        match text.filter(is_right) {
            Some(text) => Ok(YamlSettings { text, root: wanted, ..self.clone() }),
            None => Err(self.unedited()),
        }
    }

    fn unedited(&self) -> SettingsFileError {
        let [outer, inner] = self.keys;
        let what = match self.has_list() {
            true => format!("the list {inner} under {outer} has a style that kgctx does not edit"),
            false => format!(
                "it has no list {inner} under {outer}, and a style that kgctx does not edit"
            ),
        };
        SettingsFileError::Shape { path: self.path.clone(), what }
    }
}

/// The value of a key, which is the default if there is none.
fn entry<'a>(map: &'a mut Map<String, Value>, key: &str, default: Value) -> &'a mut Value {
    let value = map.entry(key).or_insert(Value::Null);
    if value.is_null() {
        *value = default;
    }
    value
}

fn read_tree(text: &str) -> Result<Map<String, Value>, String> {
    if Lines::of(text).content().next().is_none() {
        return Ok(Map::new());
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Object(root)) => Ok(root),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("it has no keys at the top level".to_owned()),
        Err(error) => Err(unparsed(error)),
    }
}

/// Why a text cannot be parsed, in words of its writer rather than of the parser's caller.
fn unparsed(error: serde_saphyr::Error) -> String {
    use serde_saphyr::Error::{DuplicateMappingKey, MultipleDocuments};
    let line = error.location().map(|place| format!(" (line {})", place.line()));
    let line = line.unwrap_or_default();
    match error.without_snippet() {
        MultipleDocuments { .. } => format!("it has more than one document{line}"),
        DuplicateMappingKey { key: Some(key), .. } => format!("it has the key {key} twice{line}"),
        DuplicateMappingKey { .. } => format!("it has a key twice{line}"),
        other => {
            let first = other.to_string();
            format!("it cannot be parsed: {}", first.lines().next().unwrap_or_default())
        }
    }
}

/// A text as lines, each with its line break.
struct Lines {
    lines: Vec<String>,
    line_break: &'static str,
}

impl Lines {
    fn of(text: &str) -> Lines {
        let lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let has_returns = lines.first().is_some_and(|line| line.ends_with("\r\n"));
        Lines { lines, line_break: if has_returns { "\r\n" } else { "\n" } }
    }

    fn join(&self) -> String {
        self.lines.concat()
    }

    /// The numbers of the lines that are neither empty nor comments.
    fn content(&self) -> impl Iterator<Item = usize> {
        let is_content = |&n: &usize| {
            let line = self.body(n);
            !line.is_empty() && !line.starts_with('#')
        };
        (0..self.lines.len()).filter(is_content)
    }

    fn body(&self, n: usize) -> &str {
        self.lines[n].trim_start_matches('\u{feff}').trim()
    }

    fn indent(&self, n: usize) -> usize {
        let line = self.lines[n].trim_start_matches('\u{feff}');
        line.len() - line.trim_start_matches(' ').len()
    }

    /// The line of a key and the lines of its value. `is_list`: the items of its value may be as far left as the key.
    fn key(
        &self,
        key: &str,
        indent: usize,
        within: Range<usize>,
        is_list: bool,
    ) -> Option<Range<usize>> {
        let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':'));
        let start = self
            .content()
            .find(|n| within.contains(n) && self.indent(*n) == indent && is_key(self.body(*n)))?;
        let is_inside = |n: &usize| {
            let is_item = is_list && self.body(*n).starts_with('-');
            self.indent(*n) > indent || (is_item && self.indent(*n) == indent)
        };
        let below = self.content().filter(|n| *n > start && within.contains(n));
        let last = below.take_while(is_inside).last().unwrap_or(start);
        Some(start..last + 1)
    }

    /// What is behind the key in its own line, without a comment.
    fn value(&self, n: usize) -> &str {
        let behind = self.body(n).split_once(':').map_or("", |(_, behind)| behind);
        behind.split(" #").next().unwrap_or_default().trim()
    }

    /// The line of the outer key and all of its value; the line of the inner key and all of its value.
    fn find(&self, [outer, inner]: ListKeys) -> Option<(Range<usize>, Option<Range<usize>>)> {
        let outer = self.key(outer, 0, 0..self.lines.len(), false)?;
        let below = outer.start + 1..outer.end;
        let first = self.content().find(|n| below.contains(n));
        let inner = first.and_then(|n| self.key(inner, self.indent(n), below, true));
        Some((outer, inner))
    }

    fn with_item(mut self, keys: ListKeys, item: &str) -> Option<String> {
        let item = scalar(item);
        let [outer, inner] = keys;
        if self.content().map(|n| self.body(n)).eq(["{}"]) {
            let n = self.content().next()?;
            self.lines.remove(n);
        }
        let Some((outer_lines, inner_lines)) = self.find(keys) else {
            let end = self.lines.len();
            self.insert(end, &[format!("{outer}:"), format!("  {inner}:"), format!("  - {item}")]);
            return Some(self.join());
        };
        let Some(inner_lines) = inner_lines else {
            self.clear(outer_lines.start)?;
            let first =
                self.content().find(|n| (outer_lines.start + 1..outer_lines.end).contains(n));
            let indent = " ".repeat(first.map_or(2, |n| self.indent(n)));
            let new = [format!("{indent}{inner}:"), format!("{indent}- {item}")];
            self.insert(outer_lines.start + 1, &new);
            return Some(self.join());
        };
        self.clear(inner_lines.start)?;
        let first = self.content().find(|n| (inner_lines.start + 1..inner_lines.end).contains(n));
        let indent = " ".repeat(self.indent(first.unwrap_or(inner_lines.start)));
        self.insert(inner_lines.end, &[format!("{indent}- {item}")]);
        Some(self.join())
    }

    /// Removes the item at a place of the list.
    fn without_item(&mut self, keys: ListKeys, place: usize) -> Option<()> {
        let (_, list) = self.find(keys)?;
        let list = list?;
        let below: Vec<usize> =
            self.content().filter(|n| (list.start + 1..list.end).contains(n)).collect();
        let indent = self.indent(*below.first()?);
        let is_start = |n: &&usize| self.indent(**n) == indent && self.body(**n).starts_with('-');
        let starts: Vec<usize> = below.iter().filter(is_start).copied().collect();
        let start = *starts.get(place)?;
        let next = starts.get(place + 1).copied().unwrap_or(list.end);
        let last = below.iter().copied().rfind(|n| *n < next)?;
        self.lines.drain(start..=last);
        Some(())
    }

    /// Removes the line of a key that has no value any more: the inner one, or the outer one.
    fn without_key(&mut self, keys: ListKeys, is_inner: bool) -> Option<()> {
        let (outer, list) = self.find(keys)?;
        let n = if is_inner { list?.start } else { outer.start };
        self.lines.remove(n);
        Some(())
    }

    /// Gives a key that has no value any more an empty one.
    fn set_empty(&mut self, keys: ListKeys, is_inner: bool, value: &str) -> Option<()> {
        let (outer, list) = self.find(keys)?;
        let n = if is_inner { list?.start } else { outer.start };
        let line = &self.lines[n];
        let (key, behind) = line.split_once(':')?;
        self.lines[n] = format!("{key}: {value}{behind}");
        Some(())
    }

    /// Makes room for a value below a key: nothing but an empty value may be in its line.
    fn clear(&mut self, n: usize) -> Option<()> {
        let value = self.value(n).to_owned();
        if value.is_empty() {
            return Some(());
        }
        if !["[]", "{}", "null", "~"].contains(&value.as_str()) {
            return None;
        }
        let (key, behind) = self.lines[n].split_once(':')?;
        self.lines[n] = format!("{key}:{}", behind.replacen(&format!(" {value}"), "", 1));
        Some(())
    }

    fn insert(&mut self, at: usize, new: &[String]) {
        if let Some(before) = at.checked_sub(1).and_then(|n| self.lines.get_mut(n))
            && !before.ends_with('\n')
        {
            before.push_str(self.line_break);
        }
        let line_break = self.line_break;
        self.lines.splice(at..at, new.iter().map(|line| format!("{line}{line_break}")));
    }
}

/// A text as YAML, in quotes if it needs them.
fn scalar(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+@~".contains(c);
    let ends_plainly = !text.ends_with(':') && !text.contains(": ");
    match text.chars().all(is_plain) && ends_plainly && !text.starts_with('-') {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

#[cfg(test)]
mod tests;
