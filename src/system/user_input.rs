//! What somebody types or pipes: standard input, a file, an editor.

use std::fs::{self, DirBuilder, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use thiserror::Error;

/// Why there is no text.
#[derive(Debug, Error)]
pub enum TypingError {
    /// It cannot be read.
    #[error("cannot read {from}: {cause}")]
    Unreadable {
        /// From where.
        from: String,
        /// What the system said.
        cause: io::Error,
    },
    /// It is no text.
    #[error("{0} is not UTF-8 text; save it as UTF-8")]
    NotText(String),
    /// It is too long.
    #[error("{0} has more than {1} bytes; put long parts into files and list them under files")]
    TooLong(String, u64),
    /// The editor cannot be used.
    #[error(
        "the editor {0} failed: {1}; set EDITOR, or pipe the text: kgctx handoff create < notes.md"
    )]
    Editor(String, String),
}

/// Whether standard input is a terminal.
pub fn is_terminal() -> bool {
    io::stdin().is_terminal()
}

/// All of standard input.
pub fn standard_input(limit: u64) -> Result<String, TypingError> {
    text("standard input".to_owned(), io::stdin().lock(), limit)
}

/// All of a file.
pub fn file(path: &Path, limit: u64) -> Result<String, TypingError> {
    let from = path.display().to_string();
    match File::open(path) {
        Ok(file) => text(from, file, limit),
        Err(cause) => Err(TypingError::Unreadable { from, cause }),
    }
}

fn text(from: String, source: impl Read, limit: u64) -> Result<String, TypingError> {
    let mut bytes = Vec::new();
    if let Err(cause) = source.take(limit + 1).read_to_end(&mut bytes) {
        return Err(TypingError::Unreadable { from, cause });
    }
    if bytes.len() as u64 > limit {
        return Err(TypingError::TooLong(from, limit));
    }
    String::from_utf8(bytes).map_err(|_| TypingError::NotText(from))
}

/// What somebody makes of a template in `$VISUAL` or `$EDITOR`, and the file that it stands in. Nobody types a text twice:
/// the file stays until it is discarded, unless the editor failed.
pub fn editor(template: &str, limit: u64) -> Result<(String, PathBuf), TypingError> {
    let named = ["VISUAL", "EDITOR"].into_iter().find_map(|name| std::env::var(name).ok());
    let editor = named.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "vi".to_owned());
    let failed = |why: String| TypingError::Editor(editor.clone(), why);
    let folder = own_folder().map_err(|error| failed(error.to_string()))?;
    let path = folder.join("HANDOFF.md");
    let edited = fs::write(&path, template).and_then(|()| {
        // As git does: the editor's name may have arguments.
        let mut words = editor.split_whitespace();
        Command::new(words.next().unwrap_or("vi")).args(words).arg(&path).status()
    });
    let why = match edited {
        Ok(status) if status.success() => {
            return file(&path, limit).map(|text| (text, path));
        }
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    discard(&path);
    Err(failed(why))
}

/// A new folder that the user alone may enter: what is left for a session may be private. One that is there already can be
/// anybody's.
fn own_folder() -> io::Result<PathBuf> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let mut n = 0;
    loop {
        let name = format!("kgctx-handoff-{}-{n}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && n < 100 => n += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Removes what was written in an editor.
pub fn discard(path: &Path) {
    // What cannot be removed is in the system's folder for such things.
    let _ = path.parent().map(fs::remove_dir_all);
}
