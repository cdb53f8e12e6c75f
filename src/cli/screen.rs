//! The terminal: answers go to standard output, all other messages to standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::app::process::shows_colours;
use crate::cli::outcome::UNAVAILABLE;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::width::wrapped;
use crate::workspace::refresh::Notice;

/// Narrower columns of text are harder to read than lines that the terminal breaks.
const LEAST_ROOM: usize = 40;

/// Stands for a blank at which no line is broken.
const GLUE: char = '\u{a0}';

/// The codes of all styles, and of their end.
const STYLES: [&str; 7] =
    ["\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[32m", "\x1b[33m", "\x1b[1;31m", "\x1b[0m"];

/// Where output goes.
pub(super) struct Screen {
    out: BufWriter<io::Stdout>,
    styled: bool,
    is_terminal: bool,
    failed: Option<io::Error>,
}

impl Screen {
    pub(super) fn of_process() -> Screen {
        #[expect(
            clippy::disallowed_methods,
            reason = "NO_COLOR speaks to the terminal, which is this file's"
        )]
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Screen {
            styled: io::stdout().is_terminal() && !plain && shows_colours(),
            is_terminal: io::stdout().is_terminal(),
            out: BufWriter::new(io::stdout()),
            failed: None,
        }
    }

    /// Prints text as it is.
    pub(super) fn print(&mut self, text: &str) {
        if self.failed.is_none()
            && let Err(error) = self.out.write_all(text.as_bytes())
        {
            self.failed = Some(error);
        }
    }

    /// Prints a line. Nothing in it that comes from files, names or the environment can move the cursor or change
    /// colours.
    pub(super) fn line(&mut self, text: impl Display) {
        let text = text.to_string();
        let styles = if self.styled { &STYLES[..] } else { &[] };
        self.print(&for_terminal::fenced(&text, styles));
        self.print("\n");
    }

    /// Breaks a long line of a terminal between words. The lines that follow begin after an indent of so many columns.
    /// Elsewhere a line stays whole, so that programs can read it.
    pub(super) fn folded(&self, text: &str, indent: usize) -> String {
        let columns = if self.is_terminal { columns() } else { None };
        match columns.map(|columns| columns.saturating_sub(indent)) {
            Some(room) if room >= LEAST_ROOM => {
                wrapped(&glued(text), room, &" ".repeat(indent)).replace(GLUE, " ")
            }
            _ => text.to_owned(),
        }
    }

    /// Prints a line of JSON.
    pub(super) fn json_line(&mut self, text: &str) {
        self.print(&for_terminal::json(text));
        self.print("\n");
    }

    /// Prints a value as one line of JSON.
    pub(super) fn json(&mut self, value: &impl Serialize) {
        match serde_json::to_string(value) {
            Ok(text) => self.json_line(&text),
            Err(error) => self.failed = Some(error.into()),
        }
    }

    /// Returns text in a style, where the terminal shows styles.
    pub(super) fn paint(&self, style: Style, text: impl Display) -> String {
        let [strong, faint, link, good, doubtful, bad, end] = STYLES;
        let code = match style {
            Style::Strong => strong,
            Style::Faint => faint,
            Style::Link => link,
            Style::Good => good,
            Style::Doubtful => doubtful,
            Style::Bad => bad,
        };
        if self.styled { format!("{code}{text}{end}") } else { text.to_string() }
    }

    /// Prints a text of somebody else's: on a terminal nothing in it can move the cursor or change colours, elsewhere it is
    /// as it was.
    pub(super) fn foreign(&mut self, text: &str) {
        if self.is_terminal {
            self.print(&for_terminal::lines(text));
        } else {
            self.print(text);
        }
    }

    /// Makes sure that everything printed so far has been written.
    pub(super) fn written(&mut self) -> Result<(), io::Error> {
        self.flush();
        self.failed.take().map_or(Ok(()), Err)
    }

    /// Shows what has been printed so far.
    pub(super) fn flush(&mut self) {
        if let Err(error) = self.out.flush() {
            self.failed.get_or_insert(error);
        }
    }

    /// Says something about the answer.
    pub(super) fn complain(&mut self, text: &str) {
        self.flush();
        // If standard error is closed, the message is lost.
        let _ = io::stderr().write_all(for_terminal::fenced(text, &[]).as_bytes());
    }

    /// Says what was left out of the answer, and why.
    pub(super) fn complain_about(&mut self, errors: &[impl Display]) {
        for error in errors {
            self.complain(&format!("kgctx: {}\n", for_terminal::lines(&error.to_string())));
        }
    }

    /// Says what a person may want to know about the index.
    pub(super) fn notice(&mut self, notice: Option<&Notice>) {
        if let Some(notice) = notice {
            self.complain(&format!("kgctx: {}\n", notice.about("the index")));
        }
    }

    /// Ends the output of a command whose answer is no.
    pub(super) fn finish_with(self, code: u8) -> ExitCode {
        match self.finish() {
            ExitCode::SUCCESS => code.into(),
            failed => failed,
        }
    }

    /// Ends the output. A reader that has seen enough, like `head`, is no failure.
    pub(super) fn finish(mut self) -> ExitCode {
        self.flush();
        match self.failed.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                self.complain(&format!("kgctx: cannot write the answer: {error}\n"));
                UNAVAILABLE.into()
            }
            _ => ExitCode::SUCCESS,
        }
    }
}

/// A text whose short pieces between backticks stay whole, because they are commands to copy.
fn glued(text: &str) -> String {
    let piece = |(n, piece): (usize, &str)| match n % 2 == 1 && piece.len() < LEAST_ROOM {
        true => piece.replace(' ', &GLUE.to_string()),
        false => piece.to_owned(),
    };
    text.split('`').enumerate().map(piece).collect::<Vec<_>>().join("`")
}

/// The width of the terminal that standard output goes to.
#[cfg(unix)]
fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(size.ws_col.into()).filter(|columns| *columns > 0)
}

#[cfg(not(unix))]
fn columns() -> Option<usize> {
    None
}
