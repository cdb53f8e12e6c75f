//! What things are: values and the invariants they keep. Names no other layer and touches nothing outside.

pub mod answer;
pub mod concept;
pub mod encoding;
pub mod freshness;
pub mod listing;
pub mod note;
pub mod project;
pub mod reading;
pub mod settings;
pub mod time;
pub mod vault;
