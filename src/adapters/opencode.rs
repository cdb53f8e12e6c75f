//! OpenCode: its folders, its configuration files, and the bridge that runs inside of it.

pub mod bridge;
mod jsonc;
pub mod places;
pub mod plugins;
