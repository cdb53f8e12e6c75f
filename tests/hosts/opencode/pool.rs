//! How many OpenCodes run at once, and the servers that several tests share.
//!
//! A test holds one machine at a time. Who holds one and asks for another can wait forever.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::found::Version;
use super::lab::Lab;
use super::server::Server;

/// OpenCode starts in two to six seconds where two of them share two cores; more at once only makes all of them late.
const AT_ONCE: usize = 2;

static TAKEN: Mutex<usize> = Mutex::new(0);

/// The right to run one OpenCode.
pub(crate) struct Slot(());

impl Slot {
    /// Waits for its turn; servers that nobody uses at the moment make room.
    pub(crate) fn take() -> Slot {
        loop {
            {
                let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
                if *taken < AT_ONCE {
                    *taken += 1;
                    return Slot(());
                }
            }
            let left: Vec<_> = SHARED.iter().filter_map(Place::leave).collect();
            if left.is_empty() {
                thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

/// A server with its machine.
pub(crate) struct Shared {
    server: Server,
    _lab: Lab,
}

impl Deref for Shared {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

/// Which server several tests share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum With {
    Nothing,
    Bridge,
}

struct Place {
    version: Version,
    with: With,
    running: Mutex<Option<Arc<Shared>>>,
}

/// Where the servers are, while they run.
static SHARED: [Place; 4] = [
    Place::new(Version::Pinned, With::Nothing),
    Place::new(Version::Older, With::Nothing),
    Place::new(Version::Pinned, With::Bridge),
    Place::new(Version::Older, With::Bridge),
];

impl Place {
    const fn new(version: Version, with: With) -> Place {
        Place { version, with, running: Mutex::new(None) }
    }

    fn enter(&self) -> Arc<Shared> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = running.get_or_insert_with(|| {
            let lab = Lab::new(self.version);
            let lab = match self.with {
                With::Nothing => lab,
                With::Bridge => lab.plugin(bridge()),
            };
            Arc::new(Shared { server: lab.serve(), _lab: lab })
        });
        Arc::clone(shared)
    }

    /// Gives the server up if nobody is there and nobody is about to come.
    fn leave(&self) -> Option<Arc<Shared>> {
        let mut running = self.running.try_lock().ok()?;
        running.take_if(|shared| Arc::strong_count(shared) == 1)
    }
}

/// A server without any plugin.
pub(crate) fn plain(version: Version) -> Arc<Shared> {
    shared(version, With::Nothing)
}

/// A server with our bridge.
pub(crate) fn bridged(version: Version) -> Arc<Shared> {
    shared(version, With::Bridge)
}

fn shared(version: Version, with: With) -> Arc<Shared> {
    let meant = |place: &&Place| place.version == version && place.with == with;
    SHARED.iter().find(meant).unwrap().enter()
}

/// Our bridge, as the repository holds it.
pub(crate) fn bridge() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bridges/opencode/kgctx.ts")
}
