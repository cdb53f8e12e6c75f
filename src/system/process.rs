//! Other processes: finds, runs, detaches, identifies and kills them.

pub mod detach;
pub mod find;
pub mod foreground;
pub mod identity;
pub mod reaper;
pub mod run;
pub mod terminal;
