//! maenifold as a source of what a session is told: its database or its program, asked the three questions.

#[cfg_attr(not(test), expect(dead_code, reason = "the gathering asks it next"))]
mod cli;
mod notes;
pub mod database;
