//! Text from the user: standard input, a file, an editor.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use crate::core::time::Timestamp;
use crate::system::directories;
use crate::system::plain_file;

/// Every system of its kind has it.
const EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

/// Whether a person types the input, and not a program.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

pub fn read_standard_input(limit: u64) -> Result<String, String> {
    text("standard input", Ok(io::stdin().lock()), limit)
}

/// Whether there is a file, and not a folder or a pipe.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

pub fn read_file(path: &Path, limit: u64) -> Result<String, String> {
    if let Some(target) = link_elsewhere(path) {
        let (path, target) = (path.display(), target.display());
        return Err(format!(
            "{path} is a link to {target}; if you mean that file, name it directly"
        ));
    }
    // What the user's shell has opened may be a pipe: its writer is there.
    let file = if is_of_shell(path) { File::open(path) } else { plain_file::open(path) };
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) && file.is_err() {
        let path = path.display();
        return Err(format!(
            "{path} is not a regular file; name one, or let the shell read it: <(cat {path})"
        ));
    }
    text(&path.display().to_string(), file, limit)
}

/// When a file was changed last.
pub fn modified(path: &Path) -> Option<Timestamp> {
    let modified = fs::metadata(path).and_then(|there| there.modified()).ok()?;
    let since_1970 = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since_1970.as_nanos()).ok().map(Timestamp)
}

/// Whether a path names what the user's shell has opened, like `/dev/stdin` or `/dev/fd/63` for `<(…)`.
fn is_of_shell(path: &Path) -> bool {
    let is_descriptor =
        |folder: &str| path.strip_prefix(folder).is_ok_and(|rest| rest != Path::new(""));
    path == Path::new("/dev/stdin") || is_descriptor("/dev/fd") || is_descriptor("/proc/self/fd")
}

/// The file to which a link leads out of the folder that was named: whoever wrote a repository must not choose which of
/// the user's files is read.
fn link_elsewhere(path: &Path) -> Option<PathBuf> {
    // Links of the system, which lead to what the user's shell has opened.
    if ["/dev", "/proc"].iter().any(|system| path.starts_with(system)) {
        return None;
    }
    let target = dunce::canonicalize(path).ok().filter(|target| target.is_file())?;
    let is_below =
        path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
    let named = if is_below { Path::new(".") } else { path.parent()? };
    let folder = dunce::canonicalize(named).ok()?;
    (!target.starts_with(folder)).then_some(target)
}

fn text(from: &str, source: io::Result<impl Read>, limit: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    source.and_then(|source| source.take(limit + 1).read_to_end(&mut bytes)).map_err(|cause| {
        format!("cannot read {from}: {cause}; check its path and its permissions")
    })?;
    if bytes.len() as u64 > limit {
        return Err(format!(
            "{from} has more than {limit} bytes; move long parts to files and list them under `files`"
        ));
    }
    String::from_utf8(bytes).map_err(|_| format!("{from} is not UTF-8 text; save it as UTF-8"))
}

/// Opens a template in `$VISUAL` or `$EDITOR`. Returns the edited text and its file, which stays
/// until [`discard`], so that no text is lost if a later step fails.
pub fn edit(template: &str, limit: u64) -> Result<(String, PathBuf), String> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let editor = named.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| EDITOR.to_owned());
    let failed = |why: String| {
        format!(
            "the editor {editor} failed: {why}; set EDITOR, or pipe the text: kgctx handoff create < notes.md"
        )
    };
    // Handoffs can be private, and an existing folder can belong to another user.
    let folder = directories::create_new_private(&std::env::temp_dir(), "kgctx-handoff-");
    let folder = folder.map_err(|error| failed(error.to_string()))?;
    let path = folder.join("HANDOFF.md");
    let edited = fs::write(&path, template).and_then(|()| {
        // Like git: the variable can contain arguments.
        let mut words = editor.split_whitespace();
        Command::new(words.next().unwrap_or(EDITOR)).args(words).arg(&path).status()
    });
    let why = match edited {
        Ok(status) if status.success() => return Ok((read_file(&path, limit)?, path)),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    discard(&path);
    Err(failed(why))
}

/// Removes the file of [`edit`].
pub fn discard(path: &Path) {
    // If this fails, the file is in the system's temporary folder.
    let _ = path.parent().map(fs::remove_dir_all);
}
