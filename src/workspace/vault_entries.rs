//! The `[[vault]]` entries of a settings file: adds and removes them, and leaves every other byte as it is.

use std::path::{Path, PathBuf};

use toml_edit::{Array, Document, DocumentMut, InlineTable, Item, Table, Value};

use crate::system::{folders, plain_file};
use crate::workspace::AppError;
use crate::workspace::settings::position;

/// Nobody writes more settings than that.
const MAX_BYTES: u64 = 1024 * 1024;
const KEY: &str = "vault";

/// A settings file and the vaults that it names.
#[derive(Debug)]
pub struct VaultEntries {
    pub file: PathBuf,
    /// The paths of the vaults, as written.
    pub paths: Vec<String>,
    text: String,
    form: Form,
}

/// How the entries are written.
#[derive(Debug)]
enum Form {
    /// `[[vault]]` tables, each with its place in the text; maybe none.
    Tables(Vec<(usize, usize)>),
    /// `vault = [{ path = "…" }]`.
    Inline,
}

impl VaultEntries {
    /// Reads a file; one that does not exist has no entries.
    pub fn read(file: &Path) -> Result<VaultEntries, AppError> {
        let text = plain_file::read_text(file, MAX_BYTES).map_err(|cause| {
            AppError::Place(format!("cannot read {}: {cause}; correct it first", file.display()))
        })?;
        VaultEntries::parse(file, text.unwrap_or_default())
    }

    fn parse(file: &Path, text: String) -> Result<VaultEntries, AppError> {
        let wrong = |at: usize, what: &str| {
            let (line, column) = position(&text, at);
            let file = file.display();
            AppError::Place(format!("{file}:{line}:{column}: {}; correct it first", what.trim()))
        };
        let document = Document::parse(text.as_str())
            .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
        let (paths, form) = match document.get(KEY) {
            None => (Vec::new(), Form::Tables(Vec::new())),
            Some(Item::ArrayOfTables(tables)) => {
                let places = tables.iter().map(|table| place(&text, table)).collect();
                let paths = tables.iter().map(|table| path(table.get("path")));
                (paths.collect(), Form::Tables(places))
            }
            Some(Item::Value(Value::Array(array))) => {
                let paths = array.iter().map(|entry| {
                    let entry = entry.as_inline_table().and_then(|table| table.get("path"));
                    entry.and_then(Value::as_str).unwrap_or_default().to_owned()
                });
                (paths.collect(), Form::Inline)
            }
            Some(other) => {
                let at = other.span().map_or(0, |span| span.start);
                return Err(wrong(
                    at,
                    "`vault` is not a list of vaults; each vault begins with [[vault]]",
                ));
            }
        };
        Ok(VaultEntries { file: file.to_path_buf(), paths, text, form })
    }

    /// Writes the file with one more vault. Without a name, the vault has that of its folder.
    pub fn add(&self, path: &str, name: Option<&str>) -> Result<(), AppError> {
        let quoted = |text: &str| Value::from(text).to_string();
        let text = match &self.form {
            Form::Tables(_) => {
                let end = self.line_end();
                let gap = match self.text.as_str() {
                    "" => String::new(),
                    text if text.ends_with('\n') => end.to_owned(),
                    _ => end.repeat(2),
                };
                let name = name.map(|name| format!("name = {}{end}", quoted(name)));
                let (path, name) = (quoted(path), name.unwrap_or_default());
                format!("{}{gap}[[vault]]{end}path = {path}{end}{name}", self.text)
            }
            Form::Inline => self.edited(|array| {
                let mut entry = InlineTable::from_iter([("path", path)]);
                entry.extend(name.map(|name| ("name", name)));
                array.push(entry);
            }),
        };
        self.save(text, [&self.paths[..], &[path.to_owned()]].concat())
    }

    /// Writes the file without the vault at this position.
    pub fn remove(&self, n: usize) -> Result<(), AppError> {
        let text = match &self.form {
            Form::Tables(places) => {
                let (start, end) = places[n];
                let (before, after) = (&self.text[..start], &self.text[end..]);
                // One blank line is enough, and none at the end.
                let gap = self.line_end();
                let is_gap_left = after.is_empty() || after.starts_with(gap);
                let twice = gap.repeat(2);
                let before = match before.strip_suffix(gap) {
                    Some(rest) if is_gap_left && before.ends_with(&twice) => rest,
                    _ => before,
                };
                let after = if before.is_empty() { after.trim_start_matches(gap) } else { after };
                format!("{before}{after}")
            }
            Form::Inline => self.edited(|array| {
                array.remove(n);
            }),
        };
        let mut paths = self.paths.clone();
        paths.remove(n);
        self.save(text, paths)
    }

    /// The text with a changed list.
    fn edited(&self, change: impl FnOnce(&mut Array)) -> String {
        let mut document: DocumentMut = self.text.parse().unwrap_or_default();
        if let Some(array) = document.get_mut(KEY).and_then(Item::as_array_mut) {
            change(array);
        }
        let text = document.to_string().replace("\r\n", "\n");
        if self.line_end() == "\n" { text } else { text.replace('\n', "\r\n") }
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// Writes a text that must name exactly these vaults.
    fn save(&self, text: String, paths: Vec<String>) -> Result<(), AppError> {
        let file = self.file.display();
        if VaultEntries::parse(&self.file, text.clone())?.paths != paths {
            let why = "its vaults are written in a way that kgctx cannot edit";
            return Err(AppError::Place(format!("{file}: {why}; change them by hand")));
        }
        folders::write_own(&self.file, &text).map_err(|cause| {
            AppError::Place(format!("cannot write {file}: {cause}; check its permissions"))
        })
    }
}

/// Where an entry stands: whole lines, from its head to the end of its last value.
fn place(text: &str, table: &Table) -> (usize, usize) {
    let head = table.span().unwrap_or_default();
    let values = table.iter().filter_map(|(_, value)| value.span()).map(|span| span.end);
    let end = values.fold(head.end, usize::max);
    let start = text[..head.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    (start, end)
}

fn path(item: Option<&Item>) -> String {
    item.and_then(Item::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The text after a change, or the error.
    fn changed(
        text: &str,
        change: impl FnOnce(&VaultEntries) -> Result<(), AppError>,
    ) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        fs::write(&file, text).unwrap();
        let done = VaultEntries::read(&file).and_then(|entries| change(&entries));
        let text = fs::read_to_string(&file).unwrap();
        let folder = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
        done.map(|()| text).map_err(|error| error.to_string().replace(&folder, ""))
    }

    /// Files with comments everywhere, and one vault more.
    const CASES: [(&str, &str); 8] = [
        ("", "[[vault]]\npath = \"~/b\"\n"),
        ("# mine\n", "# mine\n\n[[vault]]\npath = \"~/b\"\n"),
        ("a = 1 # x", "a = 1 # x\n\n[[vault]]\npath = \"~/b\"\n"),
        ("# mine\r\na = 1\r\n", "# mine\r\na = 1\r\n\r\n[[vault]]\r\npath = \"~/b\"\r\n"),
        (
            "# top\n\n[[vault]] # one\npath = \"a\" # two\n\n[handoff]\nmin_turns = 1\n# end\n",
            "# top\n\n[[vault]] # one\npath = \"a\" # two\n\n[handoff]\nmin_turns = 1\n# end\n\n[[vault]]\npath = \"~/b\"\n",
        ),
        (
            "vault = [ { path = \"a\" } ] # all\n# end\n",
            "vault = [ { path = \"a\" } , { path = \"~/b\" }] # all\n# end\n",
        ),
        ("[check]\n# x = 1\n", "[check]\n# x = 1\n\n[[vault]]\npath = \"~/b\"\n"),
        ("\n\n", "\n\n\n[[vault]]\npath = \"~/b\"\n"),
    ];

    #[test]
    fn a_vault_more_leaves_every_other_byte() {
        for (text, expect) in CASES {
            assert_eq!(changed(text, |entries| entries.add("~/b", None)).unwrap(), expect);
        }
        let named = changed("", |entries| entries.add("b\"\\\n", Some("c"))).unwrap();
        let named: toml::Table = toml::from_str(&named).unwrap();
        assert_eq!(named["vault"][0]["path"].as_str(), Some("b\"\\\n"));
        assert_eq!(named["vault"][0]["name"].as_str(), Some("c"));
    }

    #[test]
    fn a_vault_less_is_as_before() {
        for (text, with) in CASES {
            let n = text.matches("path").count();
            let without = changed(with, |entries| entries.remove(n)).unwrap();
            let expect = match text {
                "" | "\n\n" => text.to_owned(),
                text if text.ends_with('\n') => text.to_owned(),
                text => format!("{text}\n"),
            };
            assert_eq!(without.trim_end(), expect.trim_end(), "{with:?}");
        }
    }

    #[test]
    fn only_the_named_entry_goes() {
        let text = "# top\n\n# mine\n[[vault]]\n# in it\npath = \"a\" # x\nname = \"n\" # y\n\n\
                    # yours\n[[vault]]\npath = \"b\"\n# end\n[monitor]\n";
        let first = changed(text, |entries| entries.remove(0)).unwrap();
        assert_eq!(
            first,
            "# top\n\n# mine\n\n# yours\n[[vault]]\npath = \"b\"\n# end\n[monitor]\n"
        );
        let second = changed(text, |entries| entries.remove(1)).unwrap();
        let expect = text.replace("[[vault]]\npath = \"b\"\n", "");
        assert_eq!(second, expect);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        for (text, expect) in [
            ("a = \n", "config.toml:1:5: "),
            ("x = 1\nvault = \"a\"\n", "config.toml:2:9: `vault` is not a list of vaults"),
            ("[vault]\npath = \"a\"\n", "config.toml:1:1: `vault` is not a list of vaults"),
        ] {
            let error = changed(text, |entries| entries.add("b", None)).unwrap_err();
            assert!(error.starts_with(expect) && error.ends_with("; correct it first"), "{error}");
        }
    }
}
