//! Searching notes: what is asked and answered, and how matches are ranked.

pub mod answer;
pub mod forms;
pub mod fulltext;
pub mod masked;
pub mod nearest;
pub mod ranking;
pub mod snippet;
pub mod words;
