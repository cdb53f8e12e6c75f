//! What stands in on Windows for modules that need Unix.

/// A job ends with the process that holds it: nobody has to look after it.
pub mod reaper {
    pub fn run() {}
}

/// kgctx reads nothing of a console there.
pub mod terminal {
    use std::time::Duration;

    pub struct Terminal;

    impl Terminal {
        pub fn untouched(&self) -> Option<Duration> {
            None
        }
    }
}

/// No program is run in the foreground there.
pub mod foreground {
    use std::ffi::OsString;
    use std::io;
    use std::path::Path;
    use std::time::Duration;

    use super::terminal::Terminal;
    use crate::system::process::identity::Process;

    pub const IS_SUPPORTED: bool = false;

    /// How a program ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct End {
        pub by: EndedBy,
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EndedBy {
        Itself,
        Us,
    }

    impl End {
        pub fn code(&self) -> u8 {
            1
        }
    }

    /// Looks after a program while it runs.
    pub struct Watch<'a> {
        pub every: Duration,
        pub is_over: &'a mut dyn FnMut(Option<&Terminal>) -> Option<Process>,
        pub grace: Duration,
    }

    pub fn run(
        _: &[OsString],
        _: Option<&Path>,
        _: (&str, String),
        _: Option<Watch<'_>>,
    ) -> io::Result<End> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
