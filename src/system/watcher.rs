//! Waits until something in a vault may have changed. A refresh finds the changes.

use crate::core::note::vault::Vault;
use crate::core::time_limits;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Instant;

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::system::seen::{self, FileId};

pub struct VaultWatcher {
    watcher: RecommendedWatcher,
    events: Receiver<()>,
    n_changes: Arc<AtomicU64>,
    roots: Vec<Root>,
}

struct Root {
    path: PathBuf,
    mode: RecursiveMode,
    /// The watched folder; `None` while it is missing or cannot be watched.
    watched: Option<FileId>,
}

impl VaultWatcher {
    /// Starts watching. A folder that cannot be watched is polled.
    pub fn new<'a>(vaults: impl IntoIterator<Item = &'a Vault>) -> notify::Result<VaultWatcher> {
        let (sender, events) = mpsc::channel();
        let n_changes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&n_changes);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            // Ignores reads: otherwise every refresh would cause another one.
            if event.is_err() || event.is_ok_and(|event| !event.kind.is_access()) {
                counter.fetch_add(1, Ordering::SeqCst);
                // Fails only while the watcher is being dropped.
                let _ = sender.send(());
            }
        })?;
        let root = |vault: &Vault| Root {
            path: vault.root.clone(),
            mode: match vault.is_flat {
                true => RecursiveMode::NonRecursive,
                false => RecursiveMode::Recursive,
            },
            watched: None,
        };
        let roots = vaults.into_iter().map(root).collect();
        let mut vault_watcher = VaultWatcher { watcher, events, n_changes, roots };
        vault_watcher.follow_roots();
        Ok(vault_watcher)
    }

    /// A counter of the changes that the system has reported.
    pub fn n_changes(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.n_changes)
    }

    /// Whether the system reports every change in the vaults. It does not report changes by other
    /// machines.
    pub fn sees_everything(&self) -> bool {
        self.roots.iter().all(|root| root.watched.is_some() && is_local(&root.path))
    }

    /// Blocks until something may have changed. Assumes a change from time to time, because a
    /// system without free watches does not report changes in new folders.
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
                // Impossible while the watcher exists. Sleeps, so that this can never become a busy
                // loop.
                Err(RecvTimeoutError::Disconnected) => {
                    std::thread::sleep(time_limits::ROOT_POLL);
                    return;
                }
            }
        }
    }

    /// Watches roots that are new at their paths. Returns whether a change may have been missed.
    fn follow_roots(&mut self) -> bool {
        let mut missed = false;
        for root in &mut self.roots {
            let present = identity(&root.path);
            if present.is_some() && present == root.watched {
                continue;
            }
            let was_watched = root.watched.take().is_some();
            if was_watched {
                // Fails if the system already knows that the folder was removed.
                let _ = self.watcher.unwatch(&root.path);
            }
            if present.is_some() {
                let result = self.watcher.watch(&root.path, root.mode);
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

/// Whether a folder is on a disk of this machine.
#[cfg(target_os = "linux")]
fn is_local(path: &Path) -> bool {
    /// The kernel's numbers of file systems that other machines can write to: NFS, SMB, CIFS, SMB2,
    /// FUSE, 9P, Ceph, AFS.
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

fn identity(path: &Path) -> Option<FileId> {
    let folder = fs::metadata(path).ok().filter(fs::Metadata::is_dir)?;
    Some(seen::file_id(&folder))
}
