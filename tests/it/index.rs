//! The index: its content, its updates, its failures, and the questions it answers.

mod commit_times;
mod concurrency;
mod damaged;
mod link_counts;
mod odd_files;
mod queries;
mod reading;
mod styles;
mod watching;
