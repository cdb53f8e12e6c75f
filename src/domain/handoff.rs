//! A handoff: what one session leaves for the next.

/// A handoff as it goes into a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// Its name in the store.
    pub id: String,
    /// Markdown, in sections.
    pub body: String,
}
