//! The text of a new handoff: from a file, from standard input, or from an editor.

use std::path::{Path, PathBuf};

use crate::app::handoff::HandoffError;
use crate::store::handoff_files::MAX_BYTES;
use crate::system::user_input;

/// The initial text in an editor.
const TEMPLATE: &str = "---\n# kind: task\ngoal: \"\"\nnext_step: \"\"\nspecs: []\nfiles: []\n---\n\
    ## Accomplished\n\n## In progress\n\n## Decisions\n\n## Next steps\n";

#[derive(Debug)]
pub struct WrittenText {
    pub text: String,
    /// The editor's file, kept until the text is stored elsewhere.
    pub kept: Option<PathBuf>,
}

impl From<String> for WrittenText {
    fn from(text: String) -> WrittenText {
        WrittenText { text, kept: None }
    }
}

impl WrittenText {
    /// Removes the editor's file, because the text is stored or worthless.
    pub fn discard(self) {
        if let Some(path) = self.kept {
            user_input::discard(&path);
        }
    }
}

/// Reads the text from a file, from standard input if it is not a terminal, else from an editor.
pub fn read_text(file: Option<&Path>) -> Result<WrittenText, HandoffError> {
    let failed = HandoffError::Usage;
    let text = match file {
        Some(file) if file != Path::new("-") => user_input::read_file(file, MAX_BYTES),
        None if user_input::is_terminal() => {
            let (text, path) = user_input::edit(TEMPLATE, MAX_BYTES).map_err(failed)?;
            let written = WrittenText { text, kept: Some(path) };
            if written.text.trim().is_empty() || written.text.trim() == TEMPLATE.trim() {
                written.discard();
                return Err(HandoffError::empty());
            }
            return Ok(written);
        }
        _ => user_input::read_standard_input(MAX_BYTES),
    };
    text.map(WrittenText::from).map_err(failed)
}
