//! Contexts delivered to a running session: by hooks and by the service; and what a first prompt adds.

mod amplifier_hook;
mod callers;
mod opencode_hook;
mod service;
mod supplement;
