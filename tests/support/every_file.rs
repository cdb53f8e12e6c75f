//! The floor of everything that looks at a vault: a bare parallel walk over its files.

use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

/// Visits every file below a folder, by as many threads as there are cores.
pub(crate) fn visit(root: &Path, look: impl Fn(&fs::DirEntry) + Sync) {
    let mut level = vec![root.to_path_buf()];
    while !level.is_empty() {
        let next: Vec<Vec<PathBuf>> = level
            .par_iter()
            .map(|folder| {
                let entries: Vec<fs::DirEntry> = fs::read_dir(folder).unwrap().flatten().collect();
                let (folders, files): (Vec<_>, Vec<_>) = entries
                    .into_iter()
                    .partition(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
                files.par_iter().with_min_len(64).for_each(&look);
                folders.iter().map(fs::DirEntry::path).collect()
            })
            .collect();
        level = next.into_iter().flatten().collect();
    }
}
