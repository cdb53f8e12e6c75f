//! Tells when something in a vault may have changed. What changed is for a refresh to find out.

use crate::core::time_limits;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Instant;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

/// Watches the roots of vaults.
pub struct VaultWatcher {
    watcher: RecommendedWatcher,
    events: Receiver<()>,
    n_changes: Arc<AtomicU64>,
    roots: Vec<Root>,
}

struct Root {
    path: PathBuf,
    /// Which folder is being watched; `None` while there is none, or while the system cannot watch it.
    watched: Option<FolderIdentity>,
}

/// Tells a folder from another one that took its path.
type FolderIdentity = (u64, u64);

impl VaultWatcher {
    /// Begins to watch. A folder that cannot be watched is asked for at every check instead.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> notify::Result<VaultWatcher> {
        let (sender, events) = mpsc::channel();
        let n_changes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&n_changes);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Reading is no change, and reporting it would make every refresh ask for another one.
            if event.is_err() || event.is_ok_and(|event| !event.kind.is_access()) {
                counter.fetch_add(1, Ordering::SeqCst);
                // The receiver is gone when the watcher is about to be.
                let _ = sender.send(());
            }
        })?;
        let roots = roots.into_iter().map(|path| Root { path, watched: None }).collect();
        let mut vault_watcher = VaultWatcher { watcher, events, n_changes, roots };
        vault_watcher.follow_roots();
        Ok(vault_watcher)
    }

    /// Counts what happened, from the moment that the system tells of it.
    pub fn n_changes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.n_changes)
    }

    /// Whether nothing can happen in the vaults that the system would not tell of. Changes that another machine makes are
    /// told to nobody here.
    pub fn sees_everything(&self) -> bool {
        self.roots.iter().all(|root| root.watched.is_some() && is_local(&root.path))
    }

    /// Blocks until something may have changed. Now and then that is assumed: a system that has no watches left for a new
    /// folder does not tell.
    pub fn wait(&mut self) {
        let until = Instant::now() + time_limits::WATCH_TRUST;
        while Instant::now() < until {
            match self.events.recv_timeout(time_limits::ROOT_POLL) {
                Ok(()) => {
                    let burst_began = Instant::now();
                    while burst_began.elapsed() < time_limits::LONGEST_BURST
                        && self.events.recv_timeout(time_limits::BURST_END).is_ok()
                    {
                    }
                    self.follow_roots();
                    return;
                }
                Err(RecvTimeoutError::Timeout) if self.follow_roots() => return,
                Err(RecvTimeoutError::Timeout) => {}
                // Cannot happen while the watcher lives; if it did, waiting must not become a busy loop.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(time_limits::ROOT_POLL);
                    return;
                }
            }
        }
    }

    /// Watches roots that are new at their paths; returns whether anything may have been missed.
    fn follow_roots(&mut self) -> bool {
        let mut missed = false;
        for root in &mut self.roots {
            let present = identity(&root.path);
            if present.is_some() && present == root.watched {
                continue;
            }
            let was_watched = root.watched.take().is_some();
            if was_watched {
                // Fails where the system has already noticed that the folder is gone.
                let _ = self.watcher.unwatch(&root.path);
            }
            if present.is_some() {
                let result = self.watcher.watch(&root.path, RecursiveMode::Recursive);
                root.watched = present.filter(|_| result.is_ok());
            }
            missed |= was_watched || present.is_some();
        }
        if missed {
            self.n_changes.fetch_add(1, Ordering::SeqCst);
        }
        missed
    }
}

/// Whether a folder lies on a disk of this machine.
#[cfg(target_os = "linux")]
fn is_local(path: &Path) -> bool {
    /// The types of file systems, as the kernel numbers them, that others write to: NFS, SMB, CIFS, SMB2, FUSE, 9P, Ceph, AFS.
    const SHARED: [u64; 8] = [
        0x6969,
        0x517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x6573_5546,
        0x0102_1997,
        0x00c3_6400,
        0x5346_414f,
    ];
    let kind = rustix::fs::statfs(path).ok().and_then(|system| u64::try_from(system.f_type).ok());
    kind.is_some_and(|kind| !SHARED.contains(&kind))
}

#[cfg(not(target_os = "linux"))]
fn is_local(_: &Path) -> bool {
    true
}

fn identity(path: &Path) -> Option<FolderIdentity> {
    let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    #[cfg(not(unix))]
    {
        Some((
            0,
            metadata.created().ok().map_or(0, |time| time.elapsed().unwrap_or_default().as_secs()),
        ))
    }
}
