//! Checks a running OpenCode server, which gets contexts without the plugin.

use std::error::Error;

use tokio::runtime::Builder;

use crate::core::diagnosis::{Check, Verdict};
use crate::core::time_limits;
use crate::hosts::opencode::{Health, OpencodeServer, ServerAddress};
use crate::system::environment::Environment;

pub(super) fn server(url: &str, environment: &Environment) -> Check {
    let name = "server";
    match health(url, environment) {
        Ok((address, Health { healthy: true, version })) => {
            Check::ok(name, format!("OpenCode {version} at {address}"))
        }
        Ok((address, _)) => {
            let found = format!("OpenCode at {address} reports that it is unhealthy");
            Check::fail(name, found, "restart it, and check its log")
        }
        Err(error) => {
            Check::of_error(name, Verdict::Fail, error, "write it like http://127.0.0.1:4096")
        }
    }
}

fn health(url: &str, environment: &Environment) -> Result<(ServerAddress, Health), Box<dyn Error>> {
    let address: ServerAddress = url.parse()?;
    let credentials = address.credentials(environment);
    let server = OpencodeServer::new(address, credentials, time_limits::DOCTOR_SERVER);
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let health = runtime.block_on(server.health());
    // Does not wait for the lookup of the host's name.
    runtime.shutdown_background();
    Ok((server.address, health?))
}
