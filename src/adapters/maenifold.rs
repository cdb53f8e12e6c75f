//! maenifold, as it is installed beside us: where it keeps its things, its program and its database. Changes nothing there.

pub mod call;
pub mod database;
pub mod failure;
pub mod places;
