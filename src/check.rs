//! `kgctx check`: from a checkout of a repository to a report. Uses no settings of the user or the
//! machine.
//!
//! - `settings`: the `[check]` section of `kgctx.toml`
//! - `repository`: the working tree and its history, read with git
//! - `snapshot`: a version of the repository in memory: the working tree, or the base of the
//!   comparison
//! - `contexts`: the contexts that sessions would get, built in a temporary checkout
//! - `facts`: what rules can query about both snapshots
//! - `sessions`, `growth`, `baseline`: the contexts of all sessions, compared with the base or the
//!   baseline
//! - `rules`: pure functions that return findings
//! - `report` and `reports`: the result as one value, and its six formats
//!
//! Only `repository` and `contexts` access files.

mod baseline;
mod contexts;
mod facts;
pub mod finding;
mod grouped;
mod growth;
pub mod init;
mod remarks;
pub mod report;
pub mod reports;
pub mod repository;
pub mod repository_file;
pub mod rules;
mod sessions;
pub mod settings;
mod snapshot;

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use thiserror::Error;

use crate::check::finding::{Finding, Severity};
use crate::check::report::CheckReport;
use crate::check::repository::Repository;
use crate::check::rules::{budget, static_context, too_large, unknown_key, unstable_output};
use crate::check::settings::CheckSettings;
use crate::core::time::Timestamp;
use crate::workspace::AppError;
use crate::workspace::settings::SettingsError;
use contexts::sandbox::Sandbox;
use facts::SnapshotFacts;
use sessions::Sessions;
use snapshot::base::Base;

#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// A folder of the repository; the current one by default.
    pub dir: Option<PathBuf>,
    /// The revision to compare with; without one, the baseline.
    pub base: Option<String>,
    /// The time that counts as now; by default that of the newest commit.
    pub now: Option<Timestamp>,
    /// Whether to write the baseline instead of comparing with it.
    pub updates_baseline: bool,
}

#[derive(Debug, Error)]
pub enum CheckError {
    /// The request or the repository is wrong.
    #[error("{0}")]
    Wrong(String),
    /// Git or a write fails.
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error(transparent)]
    App(#[from] AppError),
}

impl CheckError {
    fn refused(path: &str, reason: &str) -> CheckError {
        CheckError::Wrong(format!("kgctx did not write {path}: {reason}"))
    }

    fn not_written(path: &str, cause: &io::Error) -> CheckError {
        CheckError::Failed(format!("cannot write {path}: {cause}"))
    }
}

pub fn check(request: &CheckRequest) -> Result<CheckReport, CheckError> {
    let repository = Repository::find(request)?;
    if request.updates_baseline {
        baseline::may_write(&repository)?;
    }
    let find_base = |revision: &str| Base::find(&repository.tree, revision);
    let base = request.base.as_deref().map(find_base).transpose()?;
    let sandbox = Sandbox::new(&repository, base.as_ref())?;
    let facts = SnapshotFacts::read(&sandbox, base.as_ref())?;
    let input = facts.input(&facts.head);
    // Both take about the same time and are independent.
    let (sessions, findings) = thread::scope(|scope| {
        let findings = scope.spawn(|| rules::find_all(&input));
        let sessions = Sessions::build(request, &facts);
        (sessions, findings.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let (Sessions { mut contexts, again, before, agreed }, mut findings) = (sessions?, findings);
    let mut static_files = static_context::files(&input);
    if let Some(before) = &before {
        before.compare(&facts, &mut contexts, agreed.as_deref());
        before.compare_static_files(&mut static_files);
    }
    findings.extend(unknown_key::find(&repository));
    findings.extend(too_large::find(&facts));
    findings.extend(budget::find(&facts, &contexts));
    findings.extend(unstable_output::find(&facts, &contexts, &again));
    let remarks = remarks::all(&facts, &contexts, base.as_ref(), before.as_ref());
    let baseline = &repository.file.settings.baseline;
    let agreed_on = before.is_some().then(|| baseline.clone());
    let mut report = CheckReport {
        project: repository.project.clone(),
        now: repository.now,
        base: request.base.clone().or(agreed_on),
        notes: facts.n_notes(),
        sessions: contexts.into_iter().map(|context| context.report).collect(),
        static_files,
        findings: in_order(findings, &repository.file.settings),
        remarks,
    };
    if request.updates_baseline {
        let agreed = agreed.unwrap_or_default();
        let is_new = baseline::write(&repository, &agreed, &report.static_files)?;
        let what = if is_new { "is written" } else { "was up to date" };
        report.remarks.push(format!("the baseline {baseline} {what}"));
    }
    report.mask_secrets();
    Ok(report)
}

/// Sets severities, drops findings of rules that are off, sorts by position, and removes
/// duplicates.
fn in_order(mut findings: Vec<Finding>, settings: &CheckSettings) -> Vec<Finding> {
    for finding in &mut findings {
        finding.severity = settings.severity(finding.rule);
    }
    findings.retain(|finding| finding.severity != Severity::Off);
    let key = |finding: &Finding| {
        let Finding { spot, rule, session, message, .. } = finding.clone();
        (spot, rule, session, message)
    };
    findings.sort_by_cached_key(key);
    findings.dedup();
    findings
}
