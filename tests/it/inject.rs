//! `kgctx inject` and `kgctx explain`: content, failures, masked secrets, and the HTML page.

mod chosen_secrets;
mod command;
mod drawn_secrets;
mod failures;
mod list;
mod masked_names;
mod notes;
mod page;
mod secrets;
mod uncommitted;

use std::fs;
use std::path::PathBuf;

use crate::support::{Scratch, git, write_ago};

/// A project called zephyr with notes of its own.
struct Zephyr {
    scratch: Scratch,
}

impl Zephyr {
    fn new() -> Zephyr {
        let zephyr = Zephyr { scratch: Scratch::new() };
        fs::create_dir_all(zephyr.notes()).unwrap();
        git(&zephyr.scratch.path().join("zephyr"), &["init", "-q"]);
        zephyr
    }

    fn notes(&self) -> PathBuf {
        self.scratch.path().join("zephyr/docs")
    }

    fn write(&self, name: &str, text: &str, seconds_ago: u64) {
        write_ago(&self.notes(), name, text, seconds_ago);
    }
}
