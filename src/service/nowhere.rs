//! In the place of the service where it does not run: nobody answers, and nobody listens.

use std::time::Duration;

use crate::service::serving::{ServeError, Serving};
use crate::system::directories::Directories;
use crate::workspace::Request;

pub(super) fn ask(_: &Directories, _: Vec<u8>, _: Duration) -> Option<Vec<u8>> {
    None
}

pub fn serve(_: &Request, _: &[String], _: impl FnOnce(&Serving)) -> Result<(), ServeError> {
    Err(ServeError::NotHere)
}
