//! `kgctx index --watch` keeps up with a vault, even one that goes away and comes back.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use kgctx::workspace::Workspace;

use crate::support::Scratch;

/// A watcher that ends with the test.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the index as it is, without a refresh, holds so many notes.
#[track_caller]
fn wait_for(workspace: &Workspace, notes: i64, why: &str) {
    let started = Instant::now();
    let found = || {
        workspace.last_index().ok().and_then(|index| index.totals().ok()).map(|totals| totals.notes)
    };
    while found() != Some(notes) {
        assert!(
            started.elapsed() < Duration::from_secs(20),
            "{why}: {:?} notes instead of {notes}",
            found()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_watched_vault_may_change_vanish_and_return() {
    let scratch = Scratch::new();
    scratch.write("vault/a.md", "[[a]]");
    let vault = scratch.path().join("vault");
    let workspace = scratch.workspace(&vault);
    let child = scratch
        .kgctx(["--vault", vault.to_str().unwrap(), "index", "--watch"])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut watching = Watching(child);
    wait_for(&workspace, 1, "at first");
    scratch.write("vault/b.md", "[[b]]");
    wait_for(&workspace, 2, "a new note");
    scratch.write("vault/new/deep/c.md", "[[c]]");
    wait_for(&workspace, 3, "a note in a new folder");
    scratch.write("vault/new/deep/d.md", "[[d]]");
    wait_for(&workspace, 4, "a second note in a folder that was not there before");
    fs::remove_file(vault.join("a.md")).unwrap();
    wait_for(&workspace, 3, "a note less");
    fs::remove_dir_all(&vault).unwrap();
    wait_for(&workspace, 0, "the vault is gone");
    scratch.write("vault/back.md", "[[back]]");
    wait_for(&workspace, 1, "the vault is back");
    scratch.write("vault/again.md", "[[again]]");
    wait_for(&workspace, 2, "and watched again");
    fs::rename(&vault, scratch.path().join("moved")).unwrap();
    scratch.write("vault/other.md", "[[other]]");
    wait_for(&workspace, 1, "another folder in the vault's place");
    scratch.write("vault/more.md", "[[more]]");
    wait_for(&workspace, 2, "and that one is watched");
    // The folder becomes a vault of Obsidian, which has templates.
    scratch.write("vault/templates/t.md", "[[t]]");
    wait_for(&workspace, 3, "a folder as any other");
    scratch.write("vault/.obsidian/app.json", "{}");
    wait_for(&scratch.workspace(&vault), 2, "the vault of another program");
    assert!(watching.0.try_wait().unwrap().is_none(), "it keeps running");
}
