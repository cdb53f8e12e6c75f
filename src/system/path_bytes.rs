//! Paths as bytes, for files and the state. On Unix every name is kept; elsewhere, all that are Unicode.

use std::path::{Path, PathBuf};

pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_encoded_bytes()
}

pub(crate) fn path(bytes: Vec<u8>) -> PathBuf {
    #[cfg(unix)]
    let name = <std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes);
    #[cfg(not(unix))]
    let name = String::from_utf8_lossy(&bytes).into_owned();
    name.into()
}
