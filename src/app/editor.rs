//! What somebody writes to be left as a handoff: from a file, from standard input, or in an editor.

use std::path::{Path, PathBuf};

use crate::app::handoff::HandoffError;
use crate::core::handoff::Document;
use crate::core::handoff::document::{self, Incomplete, Input, InputError};
use crate::store::handoff_files::MAX_BYTES;
use crate::system::user_input;
use crate::system::user_input::UserInputError;

/// What an editor is opened with.
const TEMPLATE: &str = "---\n# kind: task\ngoal: \"\"\nnext_step: \"\"\nspecs: []\nfiles: []\n---\n\
    ## Accomplished\n\n## In progress\n\n## Decisions\n\n## Next steps\n";

/// A text that somebody wrote.
#[derive(Debug)]
pub struct Written {
    /// The text.
    pub text: String,
    /// The file that an editor was opened with, as long as the text is nowhere else.
    pub kept: Option<PathBuf>,
}

impl From<String> for Written {
    fn from(text: String) -> Written {
        Written { text, kept: None }
    }
}

impl Written {
    /// The text is stored, or not worth to be.
    pub fn discard(self) {
        if let Some(path) = self.kept {
            user_input::discard(&path);
        }
    }
}

/// The text from a file, from standard input where it is no terminal, else from an editor.
pub fn text_of(file: Option<&Path>) -> Result<Written, HandoffError> {
    let failed = |error: UserInputError| HandoffError::Editor(error.to_string());
    match file {
        Some(file) if file != Path::new("-") => {
            user_input::read_file(file, MAX_BYTES).map(Written::from).map_err(failed)
        }
        None if user_input::is_terminal() => {
            let (text, path) = user_input::edit(TEMPLATE, MAX_BYTES).map_err(failed)?;
            let written = Written { text, kept: Some(path) };
            if written.text.trim().is_empty() || written.text.trim() == TEMPLATE.trim() {
                written.discard();
                return Err(HandoffError::Empty);
            }
            Ok(written)
        }
        _ => user_input::read_standard_input(MAX_BYTES).map(Written::from).map_err(failed),
    }
}

/// Understands what somebody wrote.
pub fn understood(text: &str) -> Result<Input, InputError> {
    document::input(text)
}

/// Makes sure that nothing is missing.
pub fn checked(document: &Document) -> Result<(), Incomplete> {
    document::check_complete(&document.head)
}
