//! What things are: values and the invariants they keep. Names no other layer and touches nothing outside.

pub mod answer;
pub mod budget;
pub mod candidate;
pub mod concept;
pub mod conversation;
pub mod diagnosis;
pub mod encoding;
pub mod explanation;
pub mod foreign;
pub mod freshness;
pub mod handoff;
pub mod handoff_record;
pub mod installation;
pub mod listing;
pub mod maenifold;
pub mod note;
pub mod number;
pub mod project;
pub mod reading;
pub mod receipt;
pub mod session;
pub mod settings;
pub mod source;
pub mod time;
pub mod vault;
