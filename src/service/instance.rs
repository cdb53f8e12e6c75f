//! The single service of a user: a lock that ends with its process, and a socket that only the user
//! can access.

#![expect(clippy::disallowed_methods, reason = "this room is behind the I/O fence")]

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::core::time_limits;
use crate::service::serving::ServeError;
use crate::system::directories::{self, Directories};
use crate::system::within::within;

/// An upper limit for replies: a context has a few thousand tokens.
const LONGEST_REPLY: u64 = 64 * 1024 * 1024;

/// The lock of the service. It ends with the process.
#[derive(Debug)]
pub struct Instance {
    _lock: File,
    pub socket: PathBuf,
}

impl Instance {
    /// Becomes the service, if none is running.
    pub fn become_one(directories: &Directories) -> Result<Instance, ServeError> {
        let path = directories.state.join("service.lock");
        let io = |cause| ServeError::File { path: path.clone(), cause };
        directories::create_private(&directories.state).map_err(io)?;
        let lock = directories::private_file(&path).map_err(io)?;
        let until = Instant::now() + time_limits::SERVICE_LOCK;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(Instance { _lock: lock, socket: socket(directories) }),
                Err(TryLockError::Error(cause)) => return Err(io(cause)),
                Err(_) if Instant::now() > until => return Err(ServeError::Running),
                Err(TryLockError::WouldBlock) => thread::sleep(time_limits::SERVICE_LOCK_POLL),
            }
        }
    }

    /// Starts listening. Replaces a socket that a killed service left behind.
    pub fn listen(&self) -> Result<UnixListener, ServeError> {
        let io = |cause| ServeError::File { path: self.socket.clone(), cause };
        match fs::remove_file(&self.socket) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(io(cause)),
            _ => {}
        }
        // Only this user can enter the folder, so no other user can connect before the socket's own
        // permissions are set.
        let listener = UnixListener::bind(&self.socket).map_err(io)?;
        fs::set_permissions(&self.socket, Permissions::from_mode(0o600)).map_err(io)?;
        listener.set_nonblocking(true).map_err(io)?;
        Ok(listener)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}

fn socket(directories: &Directories) -> PathBuf {
    directories.state.join("service.sock")
}

/// Sends a question to the service and returns its whole reply; `None` if no service runs, or if
/// the reply is not complete within `limit`.
pub fn ask(directories: &Directories, question: Vec<u8>, limit: Duration) -> Option<Vec<u8>> {
    let socket = socket(directories);
    // Timeouts of a socket limit each step alone: one byte at a time would take forever, and
    // connecting has no timeout.
    within(limit, move || exchange(&socket, &question).ok())?
}

fn exchange(socket: &Path, question: &[u8]) -> io::Result<Vec<u8>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.write_all(question)?;
    stream.shutdown(Shutdown::Write)?;
    let mut reply = Vec::new();
    stream.take(LONGEST_REPLY).read_to_end(&mut reply)?;
    Ok(reply)
}
