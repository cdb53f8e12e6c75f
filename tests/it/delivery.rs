//! Contexts delivered to a running session: by the hook of the OpenCode bridge, and by the service.

mod opencode_hook;
mod service;
