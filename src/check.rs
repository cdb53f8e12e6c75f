//! `kgctx check`: from a checkout of a repository to a report. Nothing of the user's or the machine's takes part.
//!
//! - `settings`: the `[check]` section of `kgctx.toml`
//! - `repository`: the working tree and its history, by git
//! - `snapshot`: a version of the repository in memory: the working tree, or the base that it is compared with
//! - `contexts`: what sessions would be given of a snapshot, built in a temporary checkout
//! - `growth`, `baseline`: how that differs from the base, or from what was agreed on
//! - `rules`: pure functions that return findings
//! - `report` and `reports`: all of it as one value, and its six formats
//!
//! Only `repository`, `contexts` and `baseline` touch files.

mod baseline;
mod contexts;
pub mod finding;
mod growth;
pub mod init;
mod present;
mod remarks;
pub mod report;
pub mod reports;
pub mod repository;
pub mod repository_file;
pub mod rules;
pub mod settings;
mod snapshot;

use std::io;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::thread;

use thiserror::Error;

use crate::check::finding::{Finding, Rule, Severity};
use crate::check::report::CheckReport;
use crate::check::repository::Repository;
use crate::check::repository::working_tree::RepositoryError;
use crate::check::rules::{budget, static_context, unstable_output};
use crate::check::settings::CheckSettings;
use crate::core::time::Timestamp;
use crate::system::breakpoint;
use crate::workspace::AppError;
use crate::workspace::settings::SettingsError;
use baseline::Baseline;
use contexts::session::Played;
use growth::Before;
use snapshot::{Order, Scene};

/// What is to be checked.
#[derive(Debug, Clone, Default)]
pub struct CheckRequest {
    /// A folder of the repository; the current one if none is named.
    pub dir: Option<PathBuf>,
    /// The revision to compare with.
    pub base: Option<String>,
    /// The moment that counts as now, if not that of the newest commit.
    pub now: Option<Timestamp>,
    /// What becomes of the baseline.
    pub agreement: Agreement,
}

/// What becomes of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Agreement {
    /// It is compared with, where no revision is.
    #[default]
    Kept,
    /// What there is now is agreed on.
    Renewed,
}

/// Why nothing could be checked.
#[derive(Debug, Error)]
pub enum CheckError {
    /// The repository cannot be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// A setting is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// A setting does not fit to the repository.
    #[error("{0}")]
    Place(String),
    /// The baseline is none.
    #[error("{path}: {reason}; delete it, and `kgctx check --update-baseline` writes it anew")]
    Baseline {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is nothing to begin with.
    #[error("kgctx.toml has a [check] section already; change it there, or take it out first")]
    Begun,
    /// A file is not to be written.
    #[error("{path} is not written: {reason}")]
    Refused {
        /// The file.
        path: String,
        /// What stands against it.
        reason: String,
    },
    /// A file could not be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// The file.
        path: String,
        /// What the system said.
        cause: io::Error,
    },
    /// The sessions could not be made.
    #[error(transparent)]
    App(#[from] AppError),
}

/// Checks a repository.
pub fn check(request: &CheckRequest) -> Result<CheckReport, CheckError> {
    let repository = Repository::find(request)?;
    let baseline = Baseline::place(&repository);
    if request.agreement == Agreement::Renewed {
        baseline.may_write(&repository)?;
    }
    let base = request.base.as_deref().map(|revision| repository.base(revision)).transpose()?;
    let scene = Scene::set(&repository, base.as_ref(), Order::AsListed)?;
    let input = scene.input();
    // Both take about as long, and neither needs the other.
    let (sessions, findings) = thread::scope(|scope| {
        let findings = scope.spawn(|| rules::find_all(&input));
        let sessions = Sessions::make(request, &baseline, &scene);
        (sessions, findings.join().unwrap_or_else(|panic| resume_unwind(panic)))
    });
    let (Sessions { mut played, again, before, agreed }, mut findings) = (sessions?, findings);
    let mut static_files = static_context::files(&input);
    if let Some(before) = &before {
        before.compare(&scene, &mut played, agreed.as_deref(), &mut static_files);
    }
    findings.extend(budget::unknown_keys(&repository));
    findings.extend(budget::too_large(&scene));
    findings.extend(budget::broken(&scene, &played));
    findings.extend(unstable_output::find(&scene, &played, &again));
    let remarks =
        remarks::all(&scene, &played, request.base.as_deref(), base.as_ref(), before.as_ref());
    let mut report = CheckReport {
        project: repository.project.clone(),
        now: repository.now,
        base: match (&request.base, &before) {
            (Some(revision), _) => Some(revision.clone()),
            (None, Some(_)) => Some(baseline.path.clone()),
            (None, None) => None,
        },
        notes: scene.n_notes(),
        sessions: played.into_iter().map(|played| played.report).collect(),
        static_files,
        findings: in_order(findings, &repository.file.settings),
        remarks,
    };
    if request.agreement == Agreement::Renewed {
        let agreed = agreed.into_iter().flatten().map(|played| played.report).collect();
        let is_new =
            baseline.write(&repository, &CheckReport { sessions: agreed, ..report.clone() })?;
        let what = if is_new { "is written" } else { "was up to date" };
        report.remarks.push(format!("the baseline {} {what}", baseline.path));
    }
    report.mask_secrets();
    Ok(report)
}

/// What sessions are given, and what that is compared with.
struct Sessions {
    played: Vec<Played>,
    /// The texts of the same contexts, made again; none where nobody looks twice.
    again: Vec<String>,
    before: Option<Before>,
    /// The same contexts measured as the baseline is, where there is one or is to be one.
    agreed: Option<Vec<Played>>,
}

impl Sessions {
    fn make(
        request: &CheckRequest,
        baseline: &Baseline,
        scene: &Scene<'_>,
    ) -> Result<Sessions, CheckError> {
        let repository = scene.repository;
        let looks_twice = is_on(&repository.file.settings, Rule::UnstableOutput);
        let played = scene.play()?;
        let mut again = Vec::new();
        if request.base.is_some() {
            scene.turn_to_base()?;
            let before = Before::of_base(scene, scene.play()?);
            if looks_twice {
                breakpoint::reach("check:again");
                // The same notes again, by another way: what is left of the base in the index would show.
                scene.turn_back()?;
                again = scene.play_texts()?;
            }
            return Ok(Sessions { played, again, before: Some(before), agreed: None });
        }
        let before = match request.agreement {
            Agreement::Kept => baseline.read(repository)?,
            Agreement::Renewed => None,
        };
        let is_measured = before.is_some() || request.agreement == Agreement::Renewed;
        let mut agreed = None;
        if looks_twice || is_measured {
            breakpoint::reach("check:again");
            let another = Scene::set(repository, None, Order::Reversed)?;
            if looks_twice {
                again = another.play_texts()?;
            }
            agreed = is_measured.then(|| another.play_of_one_day()).transpose()?;
        }
        Ok(Sessions { played, again, before, agreed })
    }
}

/// A file that could not be written: by the system's fault, or because it must not be.
fn unwritten(path: &str, cause: io::Error) -> CheckError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::InvalidInput => CheckError::Refused { path, reason: cause.to_string() },
        _ => CheckError::Write { path, cause },
    }
}

/// Findings that matter, each once, in the order of their places.
fn in_order(mut findings: Vec<Finding>, settings: &CheckSettings) -> Vec<Finding> {
    for finding in &mut findings {
        finding.severity = settings.severity(finding.rule);
    }
    findings.retain(|finding| finding.severity != Severity::Off);
    let place = |finding: &Finding| (finding.spot.clone(), finding.rule);
    findings.sort_by(|a, b| {
        let by_words = || (&a.session, &a.message).cmp(&(&b.session, &b.message));
        place(a).cmp(&place(b)).then_with(by_words)
    });
    findings.dedup();
    findings
}

/// Whether a rule is to be looked at.
fn is_on(settings: &CheckSettings, rule: Rule) -> bool {
    settings.severity(rule) != Severity::Off
}
