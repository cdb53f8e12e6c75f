//! What maenifold's program says, understood: text for people, JSON, and failures that end with success.
//!
//! Which of them it says depends on its version, on the tool, and on what went wrong: so it is looked at, and never
//! expected. What is not understood is an error, and never an empty answer.

mod context;
mod recent;
mod reply;
mod search;

pub use context::context;
pub use recent::recent;
pub use reply::ReplyError;
pub use search::search;

/// No answer has more notes or relations than this.
const MOST: usize = 1_000;
