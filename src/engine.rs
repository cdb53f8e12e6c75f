//! What we decide: pure functions, domain in, domain out. No file, process, environment or clock.

pub mod compose;
pub mod decode;
pub mod document;
pub mod ending;
pub mod explain;
pub mod foreign;
pub mod frame;
pub mod front_matter;
pub mod fulltext;
pub mod handoff;
pub mod identify;
pub mod line;
pub mod maenifold;
pub mod markdown;
pub mod merge;
pub mod nearest;
pub mod pack;
pub mod page;
pub mod pickup;
pub mod rank;
pub mod search;
pub mod secrets;
pub mod snippet;
pub mod tokens;
pub mod untrusted;
pub mod wikilink;
