//! What a release brings: the archive, the npm packages and the formulas, made from this build and tried in empty folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::support::skips::skipped;
use crate::support::{Scratch, stderr};

const PLATFORMS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
];

fn script(name: &str) -> Command {
    let mut command = Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci").join(name));
    command.env_remove("KGCTX_HOME");
    command
}

fn done(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The platform of this machine, as archives name it.
fn this_platform() -> &'static str {
    let system = std::env::consts::OS;
    let system = if system == "macos" { "darwin" } else { system };
    let is_this = |name: &&&str| name.starts_with(std::env::consts::ARCH) && name.contains(system);
    PLATFORMS.iter().find(is_this).unwrap()
}

/// Makes the archive of this build in a folder. Without symbols, which would be most of it.
fn make_archive(folder: &Path) -> PathBuf {
    let small = folder.join("program");
    done(Command::new("strip").arg("-o").arg(&small).arg(env!("CARGO_BIN_EXE_kgctx")));
    let archives = folder.join("archives");
    let made = done(script("archive").arg("--binary").arg(small).arg(&archives));
    let archive = archives.join(format!("kgctx-{}.tar.gz", this_platform()));
    assert_eq!(made.trim(), archive.to_str().unwrap());
    archive
}

/// The archive that the tests share.
fn archive() -> &'static Path {
    static MADE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, archive) = MADE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let archive = make_archive(&folder.path().canonicalize().unwrap());
        (folder, archive)
    });
    archive
}

fn tried(archive: &Path) -> Output {
    script("try-archive").arg(archive).output().unwrap()
}

#[test]
fn the_archive_runs_in_an_empty_home_and_has_the_same_bytes_each_time() {
    let output = tried(archive());
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.starts_with(concat!("kgctx ", env!("CARGO_PKG_VERSION"), "\n")), "{said}");

    let scratch = Scratch::new();
    let again = make_archive(&scratch.path());
    assert!(fs::read(&again).unwrap() == fs::read(archive()).unwrap(), "the bytes differ");

    let mut damaged = fs::read(&again).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(&again, damaged).unwrap();
    let output = tried(&again);
    assert!(!output.status.success() && stderr(&output).contains("did NOT match"), "{output:?}");
}

#[test]
fn every_command_has_its_manual_page_in_the_archive() {
    let list = done(Command::new("tar").arg("-tzf").arg(archive()));
    let reference = Scratch::new().run(["man", "--markdown"]);
    let commands = reference.lines().filter_map(|line| line.strip_prefix("## "));
    let pages: Vec<String> = commands.map(|name| name.replace(' ', "-")).collect();
    assert!(pages.len() > 30 && pages.contains(&"kgctx-handoff-create".to_owned()), "{pages:?}");
    for page in pages {
        assert!(list.lines().any(|name| name.ends_with(&format!("/man/man1/{page}.1"))), "{page}");
    }
}

#[test]
fn npm_installs_the_packages_without_a_network_and_they_run() {
    let scratch = Scratch::new();
    let packages = scratch.path().join("packages");
    let archives = archive().parent().unwrap();
    let made = done(script("npm").arg("--archives").arg(archives).arg(&packages));
    assert_eq!(made.lines().count(), 2, "one for this platform, and one that starts it: {made}");
    let tarball = packages.join(concat!("kgctx-", env!("CARGO_PKG_VERSION"), ".tgz"));
    let package = done(Command::new("tar").arg("-xOzf").arg(tarball).arg("package/package.json"));
    let package: serde_json::Value = serde_json::from_str(&package).unwrap();
    assert_eq!(package["os"], serde_json::json!(["darwin", "linux"]));
    let said = done(script("try-npm").arg(&packages));
    assert!(said.starts_with(concat!("kgctx ", env!("CARGO_PKG_VERSION"), "\n")), "{said}");
    assert!(said.contains("Tile cache"), "{said}");

    // Without the package of the platform, the other one says what is missing.
    let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/npm/kgctx");
    let output = Command::new(launcher).arg("--version").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("--include=optional"), "{output:?}");
}

/// A host knows the program by its process, and its signals reach it: nothing stands between them.
#[test]
fn the_npm_package_becomes_the_program() {
    let scratch = Scratch::new();
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "x86_64") { "x64" } else { "arm64" };
    let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/npm/kgctx");
    let program = "#!/bin/sh\necho $$ \"$@\"\nexit 3\n";
    // Both layouts of npm: beside the package, and below it.
    for (n, place) in ["a b/node_modules", "a b/node_modules/kgctx/node_modules"].iter().enumerate()
    {
        let program =
            scratch.write(&format!("{n}/{place}/kgctx-{system}-{processor}/kgctx"), program);
        done(Command::new("chmod").arg("+x").arg(program));
        let folder = scratch.path().join(n.to_string());
        let package = folder.join("a b/node_modules/kgctx");
        fs::create_dir_all(&package).unwrap();
        fs::copy(&launcher, package.join("kgctx")).unwrap();
        // As npm links it: by a path from the link's own place.
        std::os::unix::fs::symlink("a b/node_modules/kgctx/kgctx", folder.join("kgctx")).unwrap();
        let child = Command::new(folder.join("kgctx"))
            .args(["two words", ""])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = child.id();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{pid} two words \n"));
    }
}

#[test]
fn formulas_are_complete_and_install_what_the_archive_has() {
    let scratch = Scratch::new();
    let sums = scratch.path().join("sums");
    fs::create_dir(&sums).unwrap();
    let here = format!("{}.sha256", archive().display());
    for platform in PLATFORMS {
        fs::copy(&here, sums.join(format!("kgctx-{platform}.tar.gz.sha256"))).unwrap();
    }
    done(script("formulas").arg("--archives").arg(&sums).arg(scratch.path()));
    let sum = fs::read_to_string(&here).unwrap();
    let sum = sum.split_whitespace().next().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for (formula, n_platforms) in [("kgctx.rb", 4), ("PKGBUILD", 2)] {
        let text = fs::read_to_string(scratch.path().join(formula)).unwrap();
        let url = format!("{}/releases/download/v{version}/", env!("CARGO_PKG_REPOSITORY"));
        assert_eq!(text.matches(sum).count(), n_platforms, "{text}");
        assert_eq!(text.matches(&url).count(), n_platforms, "{text}");
        assert!(!text.contains("@url") && !text.contains("@version"), "{text}");
    }
    if let Ok(output) = Command::new("ruby").arg("-c").arg(scratch.path().join("kgctx.rb")).output()
    {
        assert!(output.status.success(), "{output:?}");
    } else {
        skipped("there is no ruby that could read the formula");
    }
    installs_by_the_pkgbuild(&scratch);

    fs::remove_file(sums.join("kgctx-x86_64-apple-darwin.tar.gz.sha256")).unwrap();
    let output =
        script("formulas").arg("--archives").arg(&sums).arg(scratch.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("kgctx-x86_64-apple-darwin.tar.gz.sha256 is missing"));
}

/// Runs `package()`, as makepkg would.
fn installs_by_the_pkgbuild(scratch: &Scratch) {
    if !cfg!(target_os = "linux") {
        return;
    }
    let unpacked = scratch.path().join("src");
    fs::create_dir(&unpacked).unwrap();
    done(Command::new("tar").arg("-xzf").arg(archive()).arg("-C").arg(&unpacked));
    let line = "set -eu; . ../PKGBUILD; package";
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(&unpacked);
    shell.env("CARCH", std::env::consts::ARCH).env("pkgdir", scratch.path().join("pkg"));
    done(&mut shell);
    let said = done(Command::new(scratch.path().join("pkg/usr/bin/kgctx")).arg("--version"));
    assert_eq!(said.trim(), concat!("kgctx ", env!("CARGO_PKG_VERSION")));
    for file in ["bash-completion/completions/kgctx", "man/man1/kgctx-inject.1"] {
        assert!(scratch.path().join("pkg/usr/share").join(file).is_file(), "{file}");
    }
}
