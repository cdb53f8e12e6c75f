//! Failures as exit code and message. The only place that knows the codes.

use std::fmt::Display;

use crate::app::deliver::{NotDelivered, Refusal};
use crate::app::install::InstallError;
use crate::check::CheckError;
use crate::core::text::for_terminal;
use crate::hosts::json_hooks::SettingsFileError;
use crate::replay::ReplayError;
use crate::service::ServeError;
use crate::workspace::AppError;

/// The answer is no.
pub(super) const NO: u8 = 1;
/// Wrong usage or configuration.
pub(super) const USAGE: u8 = 2;
/// A needed part is unavailable.
pub(super) const UNAVAILABLE: u8 = 3;

/// How a command ends.
pub(super) type Outcome = Result<(), Failure>;

/// A command that did not do what was asked.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) code: u8,
    pub(super) message: String,
}

impl Failure {
    pub(super) fn new(code: u8, message: impl Display) -> Failure {
        Failure { code, message: message.to_string() }
    }

    /// The answer is no, and was printed.
    pub(super) fn said_no() -> Failure {
        Failure::new(NO, "")
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Failure {
        let code = match &error {
            AppError::Place(_) | AppError::Settings(_) => USAGE,
            AppError::Index(_)
            | AppError::State(_)
            | AppError::Maenifold(_)
            | AppError::Silent(_)
            | AppError::Watch(_) => UNAVAILABLE,
        };
        Failure::new(code, error)
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        let code = match error {
            CheckError::App(error) => return error.into(),
            CheckError::Failed(_) => UNAVAILABLE,
            CheckError::Wrong(_) | CheckError::Settings(_) => USAGE,
        };
        // The message can quote the repository's settings.
        Failure { code, message: for_terminal::one_line(&error.to_string()) }
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Failure {
        let code = match error {
            ReplayError::App(error) => return error.into(),
            ReplayError::Wrong(_) => USAGE,
            ReplayError::Failed(_) => UNAVAILABLE,
        };
        Failure::new(code, error)
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Failure {
        let code = match error {
            InstallError::App(error) => return error.into(),
            InstallError::Host(_)
            | InstallError::NoParts(_)
            | InstallError::NoTmux
            | InstallError::NoProject { .. }
            | InstallError::NoHome { .. }
            | InstallError::NoHomeAlone(_) => USAGE,
            InstallError::Settings(SettingsFileError::Io { .. }) => UNAVAILABLE,
            InstallError::Taken { .. }
            | InstallError::ByHand { .. }
            | InstallError::Hides { .. }
            | InstallError::Settings(_) => NO,
            InstallError::State(_) | InstallError::Io { .. } => UNAVAILABLE,
        };
        Failure::new(code, error)
    }
}

impl From<NotDelivered> for Failure {
    fn from(refusal: NotDelivered) -> Failure {
        let code = match refusal.kind() {
            Refusal::Fine | Refusal::No => NO,
            Refusal::Usage => USAGE,
            Refusal::Unavailable => UNAVAILABLE,
        };
        match refusal {
            NotDelivered::App(error) => error.into(),
            refusal => Failure::new(code, refusal),
        }
    }
}

impl From<ServeError> for Failure {
    fn from(error: ServeError) -> Failure {
        match error {
            ServeError::App(error) => error.into(),
            ServeError::Address(error) => Failure::new(USAGE, error),
            ServeError::Running => Failure::new(NO, error),
            error => Failure::new(UNAVAILABLE, error),
        }
    }
}
