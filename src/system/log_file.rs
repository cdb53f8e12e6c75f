//! A log of limited size: a full file is renamed with a number, and the oldest is removed.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::system::{directories, permissions};

const MAX_BYTES: u64 = 1024 * 1024;
/// The number of full files to keep.
const KEPT: usize = 3;

#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
    n_bytes: u64,
    max_bytes: u64,
}

impl LogFile {
    pub fn open(path: &Path) -> io::Result<LogFile> {
        LogFile::with_limit(path, MAX_BYTES)
    }

    fn with_limit(path: &Path, max_bytes: u64) -> io::Result<LogFile> {
        if let Some(folder) = path.parent() {
            directories::create_private(folder)?;
        }
        let file = appending(path)?;
        let n_bytes = file.metadata()?.len();
        Ok(LogFile { path: path.to_path_buf(), file, n_bytes, max_bytes })
    }

    fn rotate(&mut self) -> io::Result<()> {
        for n in (1..KEPT).rev() {
            // Fails as long as there are fewer files.
            let _ = fs::rename(self.numbered(n), self.numbered(n + 1));
        }
        fs::rename(&self.path, self.numbered(1))?;
        self.file = appending(&self.path)?;
        self.n_bytes = 0;
        Ok(())
    }

    fn numbered(&self, n: usize) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(format!(".{n}"));
        PathBuf::from(name)
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let length = line.len() as u64;
        if self.n_bytes > 0 && self.n_bytes + length > self.max_bytes {
            // If rotating fails, the log continues in the same file.
            let _ = self.rotate();
        }
        let written = self.file.write(line)?;
        self.n_bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn appending(path: &Path) -> io::Result<File> {
    permissions::private(OpenOptions::new().append(true).create(true)).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_set_aside_and_the_oldest_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log/service.log");
        for n in 0..20 {
            // Reopened each time, as after a restart of the service.
            let mut log = LogFile::with_limit(&path, 25).unwrap();
            // One line at a time, as a subscriber writes.
            log.write_all(format!("line {n:>4}\n").as_bytes()).unwrap();
        }
        let read = |ending: &str| fs::read_to_string(format!("{}{ending}", path.display()));
        assert_eq!(read("").unwrap(), "line   18\nline   19\n");
        assert_eq!(read(".1").unwrap(), "line   16\nline   17\n");
        assert_eq!(read(".3").unwrap(), "line   12\nline   13\n");
        assert!(read(".4").is_err());
    }
}
