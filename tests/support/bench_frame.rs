//! The frame of every benchmark: what it measures, in which mode it runs, and how it reports.

#![allow(dead_code, reason = "no benchmark uses all of it")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use super::vault_generator;

/// Whether the benchmark only has to show that it still runs, as `cargo test --benches` asks it to.
pub(crate) fn is_test() -> bool {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    has("--test") || !has("--bench")
}

/// The sizes to measure: those that the command line names, otherwise all. A test measures the first alone.
pub(crate) fn sizes(all: &[usize]) -> Vec<usize> {
    if is_test() {
        return all[..1].to_vec();
    }
    let named: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    all.iter().copied().filter(|size| named.is_empty() || named.contains(size)).collect()
}

/// The program to measure: the released binary, or this build's in a test.
pub(crate) fn binary(name: &str) -> PathBuf {
    match is_test() {
        true => PathBuf::from(env!("CARGO_BIN_EXE_kgctx")),
        false => released_binary(name),
    }
}

/// The released binary, or the one that `KGCTX_MEASURED` names.
fn released_binary(name: &str) -> PathBuf {
    if let Some(measured) = std::env::var_os("KGCTX_MEASURED") {
        return fresh_copy(Path::new(&measured), name);
    }
    let build = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/build");
    let output = Command::new("bash").arg(build).stderr(Stdio::inherit()).output().unwrap();
    let built = String::from_utf8(output.stdout).unwrap();
    fresh_copy(Path::new(built.trim()), name)
}

/// The binary that `KGCTX_BASELINE` names, to be measured in turns with the other one.
pub(crate) fn baseline(name: &str) -> Option<PathBuf> {
    let baseline = std::env::var_os("KGCTX_BASELINE")?;
    Some(fresh_copy(Path::new(&baseline), &format!("{name}-baseline")))
}

/// How the pages of a binary came into the cache changes a start by a third, so every one is copied.
fn fresh_copy(binary: &Path, name: &str) -> PathBuf {
    let copy = folder("").join(name);
    let _ = fs::remove_file(&copy);
    fs::copy(binary, &copy).unwrap();
    copy
}

/// A line that compares two medians.
pub(crate) fn ratio(what: &str, baseline_ms: f64, measured_ms: f64) -> String {
    let ratio = measured_ms / baseline_ms;
    format!("{what}: baseline {baseline_ms:.3} ms, measured {measured_ms:.3} ms, ratio {ratio:.3}")
}

/// The folder that a benchmark keeps its files in, between runs as well.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A vault of that many notes below a folder, generated once.
pub(crate) fn vault(base: &Path, notes: usize) -> PathBuf {
    let vault = base.join(format!("vault-{notes}"));
    let complete = base.join(format!("vault-{notes}.complete"));
    if !complete.exists() {
        let _ = fs::remove_dir_all(&vault);
        vault_generator::generate(&vault, notes, 7);
        fs::write(&complete, "").unwrap();
    }
    vault
}

/// A project that many generated notes mention, in a repository of its own.
pub(crate) fn project(base: &Path) -> PathBuf {
    let project = base.join("auth-service");
    fs::create_dir_all(&project).unwrap();
    let init = Command::new("git").args(["init", "-q"]).arg(&project).status();
    assert!(init.unwrap().success());
    project
}

/// Runs a program to its end; returns what it printed.
pub(crate) fn answered(command: &mut Command, input: &str) -> String {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Milliseconds since a moment.
pub(crate) fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub(crate) fn slowest(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

pub(crate) fn verdict(is_kept: bool) -> &'static str {
    if is_kept { "kept" } else { "MISSED" }
}

/// A missed bar is a failure, except in a test.
pub(crate) fn exit(is_kept: bool) -> ExitCode {
    if is_kept || is_test() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
