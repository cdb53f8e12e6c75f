//! Whether the terminal of this process shows colours by the usual codes.

#[cfg(unix)]
pub fn are_shown() -> bool {
    true
}

/// There a console has to be told, and an old one prints the codes as they are.
#[cfg(windows)]
pub fn are_shown() -> bool {
    crate::system::windows::understand_codes()
}
