//! Writes the token counter's tables, so that the program has nothing to decode when it starts.
//!
//! The tokens come from `tiktoken-rs`, the reference that the tests count with too, and the classes of characters from
//! the Unicode tables of the regex engine that the reference splits with. Reads nothing else.

#![expect(clippy::disallowed_methods, reason = "a build script's whole work is outside")]

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

#[path = "build/classes.rs"]
mod classes;
#[path = "src/core/tokens/layout.rs"]
mod layout;
#[path = "build/vocabulary.rs"]
mod vocabulary;

fn main() -> Result<(), Box<dyn Error>> {
    for source in ["build.rs", "build", "src/core/tokens/layout.rs"] {
        println!("cargo::rerun-if-changed={source}");
    }
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(folder.join("classes"), classes::table()?)?;
    // The number of ordinary tokens of each is part of its definition. Special tokens come after a gap.
    for (name, reference, tokens) in [
        ("o200k_base", tiktoken_rs::o200k_base()?, 199_998),
        ("cl100k_base", tiktoken_rs::cl100k_base()?, 100_256),
    ] {
        let tables = vocabulary::tables(&reference, tokens).map_err(|e| format!("{name}: {e}"))?;
        fs::write(
            folder.join(format!("{name}.short")),
            tables.short.as_flattened().as_flattened(),
        )?;
        fs::write(folder.join(format!("{name}.long")), tables.long.as_flattened().as_flattened())?;
        fs::write(folder.join(format!("{name}.bytes")), tables.bytes)?;
    }
    Ok(())
}
