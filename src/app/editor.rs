//! What somebody writes to be left as a handoff: from a file, from standard input, or in an editor.

use std::path::Path;

use crate::adapters::handoff_files::MAX_BYTES;
use crate::adapters::typing::{self, TypingError};
use crate::app::handoff::HandoffError;
use crate::domain::handoff::Document;
use crate::engine::document::{self, Incomplete, Input, InputError};

/// What an editor is opened with.
const TEMPLATE: &str = "---\n# kind: task\ngoal: \"\"\nnext_step: \"\"\nspecs: []\nfiles: []\n---\n\
    ## Accomplished\n\n## In progress\n\n## Decisions\n\n## Next steps\n";

/// The text from a file, from standard input where it is no terminal, else from an editor.
pub fn text_of(file: Option<&Path>) -> Result<String, HandoffError> {
    let failed = |error: TypingError| HandoffError::Editor(error.to_string());
    match file {
        Some(file) if file != Path::new("-") => typing::file(file, MAX_BYTES).map_err(failed),
        None if typing::is_terminal() => {
            let text = typing::editor(TEMPLATE).map_err(failed)?;
            if text.trim() == TEMPLATE.trim() { Err(HandoffError::Empty) } else { Ok(text) }
        }
        _ => typing::standard_input(MAX_BYTES).map_err(failed),
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
