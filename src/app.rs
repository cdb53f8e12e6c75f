//! The use cases: one file each. Connects adapters and core; prints nothing.

mod capture;
mod deadline;
pub mod deliver;
pub mod doctor;
mod draft;
pub mod editor;
pub mod ending;
pub mod explain;
mod gather;
pub mod handoff;
pub mod hook;
pub mod inject;
pub mod install;
pub mod monitor;
pub mod process;
mod receipt;
pub mod recorder;
pub mod session;
pub mod session_handoff;
pub mod supplement;
pub mod warm;
mod worker;
