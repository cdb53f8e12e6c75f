//! The index: its content, its updates, its failures, and the questions it answers.

mod concurrency;
mod crash;
mod damaged;
mod fuzz;
mod incremental;
mod link_counts;
mod odd_files;
mod queries;
mod watching;
