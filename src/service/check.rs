//! The service as one of the things that a diagnosis looks at.

use crate::domain::diagnosis::Check;
use crate::domain::number::counted;
use crate::service::client;

/// Checks how the service is. Nobody has to have one.
pub fn check() -> Check {
    let name = "service";
    match client::status() {
        None => Check::ok(name, "not running, which is no fault: sessions do without it"),
        Some(Ok(status)) => {
            let n_connected = status.servers.iter().filter(|server| server.connected).count();
            let followed = counted(status.servers.len(), "server");
            let answered = counted(status.answered as usize, "question");
            let found =
                format!("{answered} answered, {followed} followed, {n_connected} connected");
            Check::ok(name, found)
        }
        Some(Err(version)) => Check::warn(
            name,
            format!("of version {version}, this is {}", env!("CARGO_PKG_VERSION")),
            "stop it, and start `kgctx serve` again",
        ),
    }
}
