//! What we decide: pure functions, domain in, domain out. No file, process, environment or clock.

pub mod decode;
pub mod front_matter;
pub mod fulltext;
pub mod identify;
pub mod markdown;
pub mod nearest;
pub mod search;
pub mod secrets;
pub mod snippet;
pub mod tokens;
pub mod untrusted;
pub mod wikilink;
