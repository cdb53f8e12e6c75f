//! The summary of an index.

use std::time::Instant;

use serde::Serialize;

use crate::core::note::Remarks;
use crate::core::note::listing::Skipped;
use crate::core::secrets::mask;
use crate::store::index::{Index, IndexError, Totals};
use crate::workspace::refresh::{Mode, Patience, Refreshed, ask_of, refresh};
use crate::workspace::{AppError, Workspace};

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    #[serde(flatten)]
    pub totals: Totals,
    /// Notes that are new or have new content; all notes after a full build.
    pub changed: usize,
    /// Removed notes; always 0 after a full build.
    pub removed: usize,
    /// Files and folders that were skipped.
    pub skipped: u64,
    /// Notes with remarks.
    pub remarks: i64,
    pub ms: f64,
    /// The skipped files and folders, by reason.
    pub skipped_by: Skipped,
    /// Remarks on notes.
    pub remarked: Vec<Remarked>,
    pub index: String,
}

/// A note and a remark on it.
#[derive(Debug, Clone, Serialize)]
pub struct Remarked {
    pub uri: String,
    /// The note's file.
    pub path: String,
    pub remark: String,
}

/// Updates the index and summarises it.
pub fn index(
    workspace: &Workspace,
    mode: Mode,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<(Summary, Refreshed), AppError> {
    let started = Instant::now();
    let fresh = refresh(workspace, mode, Patience::Wait, progress)?;
    ask_of(workspace, fresh, |index, refreshed| summary(workspace, index, refreshed, started))
}

fn summary(
    workspace: &Workspace,
    index: &Index,
    refreshed: &Refreshed,
    started: Instant,
) -> Result<Summary, IndexError> {
    let totals = index.totals()?;
    let mut skipped = refreshed.skipped;
    skipped.add(&index.rejected()?);
    let remarks = if totals.remarked > 0 { index.remarks()? } else { Vec::new() };
    let remarked = |(vault, path, remarks): (usize, String, Remarks)| {
        let vault = workspace.vaults.get(vault)?;
        Some(Remarked {
            uri: mask(&crate::core::note::vault::uri(&vault.name, &path)).into_owned(),
            path: mask(&vault.file(&path).display().to_string()).into_owned(),
            remark: remarks.to_string(),
        })
    };
    Ok(Summary {
        totals,
        changed: refreshed.outcome.changed,
        removed: refreshed.outcome.removed,
        skipped: skipped.total(),
        remarks: totals.remarked,
        ms: (started.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        skipped_by: skipped,
        remarked: remarks.into_iter().filter_map(remarked).collect(),
        index: workspace.index_path().display().to_string(),
    })
}
