//! For whom the files are that kgctx makes. On Windows the folders of a user are for that user alone already, and what is
//! made in them, too.

use std::fs::{DirBuilder, Metadata, OpenOptions, Permissions};
use std::path::Path;

#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};

/// The permissions of a file that only the user can read.
pub(super) const PRIVATE: u32 = 0o600;

/// Makes new files for these users.
pub(super) fn for_users(options: &mut OpenOptions, mode: u32) -> &mut OpenOptions {
    #[cfg(unix)]
    options.mode(mode);
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// Makes new files that only the user can read.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    for_users(options, PRIVATE)
}

/// Makes new folders that only the user can enter.
pub(super) fn private_folder() -> DirBuilder {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder
}

/// The same permissions for the user alone.
pub(super) fn of_user_alone(permissions: Permissions) -> Permissions {
    #[cfg(unix)]
    let permissions = Permissions::from_mode(permissions.mode() & 0o700);
    permissions
}

/// Whether another user may have put a file into a folder where everybody may, such as `/tmp`.
pub(super) fn is_planted(folder: &Path, file: &Metadata) -> bool {
    #[cfg(unix)]
    {
        let is_ours = file.uid() == 0 || file.uid() == rustix::process::geteuid().as_raw();
        !is_ours && folder.metadata().is_ok_and(|folder| folder.mode() & 0o002 != 0)
    }
    // There everybody may make files at the top of a disk, and the standard library does not tell whose a file is.
    #[cfg(not(unix))]
    {
        let _ = file;
        folder.parent().is_none()
    }
}

/// Whether a file can be run as a program.
pub(super) fn is_executable(file: &Metadata) -> bool {
    #[cfg(unix)]
    let is_executable = file.permissions().mode() & 0o111 != 0;
    // The ending of its name tells that.
    #[cfg(not(unix))]
    let is_executable = true;
    file.is_file() && is_executable
}

/// Whether files can be created in a folder. Windows does not tell before one is created.
pub(super) fn is_writable(folder: &Path) -> bool {
    #[cfg(unix)]
    let is_writable = {
        use rustix::fs::{Access, access};
        access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
    };
    #[cfg(not(unix))]
    let is_writable = true;
    folder.is_dir() && is_writable
}
