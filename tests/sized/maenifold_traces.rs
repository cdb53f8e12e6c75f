//! A thousand runs at full size leave no trace in maenifold's folder.

use std::thread;

use super::sized;
use crate::support::maenifold_lab::{Lab, everything, source};

#[test]
fn runs_leave_no_trace() {
    let lab = Lab::new();
    let before = everything(&lab.root());
    assert!(before.len() > 10);
    let commands: [&[&str]; 8] = [
        &["inject", "--session", "s", "--dry-run", "--format", "json"],
        &["inject", "--session", "s", "--dry-run", "--format", "json", "--source", "database"],
        &["context", "mast", "--source", "database"],
        &["search", "zephyr", "--source", "database"],
        &["recent", "--source", "database"],
        &["search", "zephyr"],
        &["explain", "--dry-run"],
        &["inject", "--session", "s", "--dry-run", "--format", "json", "--source", "index"],
    ];
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..sized(250) {
                    let output = lab.command(commands[n % commands.len()]).output().unwrap();
                    assert!(output.status.success(), "{output:?}");
                }
            });
        }
    });
    assert_eq!(source(&lab.inject(&[])).0, "database");
    assert_eq!(everything(&lab.root()), before);
}
