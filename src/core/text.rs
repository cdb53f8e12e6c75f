//! Text for its readers: models, terminals, pages and reports.

pub mod for_model;
pub mod number;
