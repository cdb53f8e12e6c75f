//! Checks the service, for a diagnosis.

use crate::core::diagnosis::Check;
use crate::service::client;

/// Checks the service, which only servers without the plugin need.
pub fn check() -> Check {
    let name = "service";
    let status = match client::status() {
        None => {
            return Check::ok(
                name,
                "not running; only OpenCode servers without the plugin need it",
            );
        }
        Some(Err(version)) => {
            let found = format!("it has version {version}, so kgctx does not use it");
            return Check::warn(name, found, "stop it, and start `kgctx serve` again");
        }
        Some(Ok(status)) => status,
    };
    let lost = status.servers.iter().find(|server| !server.connected);
    match lost.and_then(|server| server.error.as_ref()) {
        Some(error) => {
            let found = format!("it runs, but {error}");
            Check::warn(name, found, format!("its log {} shows more", status.log))
        }
        None => Check::ok(name, format!("running since {}, process {}", status.since, status.pid)),
    }
}
