//! What is checked is what a real session is given, token for token.

use std::fs;

use serde_json::Value;

use super::{DAY, Lab};
use crate::support::{git, stderr};

#[test]
fn what_is_checked_is_what_a_session_is_given() {
    let lab = Lab::with_notes();
    for n in 0..40 {
        let links = format!("[[topic {}]] [[topic {}]]", n % 7, n % 3);
        lab.note(&format!("deep/note-{n}"), &format!("Note {n} about {links} of atlas."));
    }
    lab.write("docs/crlf.md", "# Lines\r\n\r\nThe [[line ends]] of [[atlas]].\r\n");
    lab.write("docs/marked.md", "\u{feff}# Marked\n\nThe [[mark]] of [[atlas]].\n");
    lab.write("docs/.gitignore", "ignored.md\nmade/\n");
    lab.write("docs/ignored.md", "# Ignored\n\nTracked and [[ignored]] all the same, in atlas.\n");
    lab.write("docs/made/page.md", "# Made\n\nA [[made page]] of atlas.\n");
    lab.write("docs/.hidden.md", "# Hidden\n\nA [[hidden page]] of atlas.\n");
    let latin = b"# Gr\xf6\xdfe\n\nThe [[gr\xf6\xdfe]] of [[atlas]].\n";
    fs::write(lab.top().join("docs/latin.md"), latin).unwrap();
    let wide = "# Wide\n\nThe [[wide letters]] of [[atlas]].\n".encode_utf16();
    let wide: Vec<u8> =
        [0xfeff].into_iter().chain(wide).flat_map(|unit: u16| unit.to_le_bytes()).collect();
    fs::write(lab.top().join("docs/wide.md"), wide).unwrap();
    fs::write(lab.top().join("docs/binary.md"), b"# Binary\n\n[[binary]] \0 atlas\n").unwrap();
    lab.write("src/main.rs", "fn main() {}\n");
    let handoff = ".kgctx/handoffs/HO-20260529-120000-aaaa.md";
    lab.write(
        handoff,
        "---\nid: HO-20260529-120000-aaaa\ntype: manual\ncreated_at: 2026-05-29T12:00:00Z\nfiles: [src/main.rs, docs/crlf.md]\n---\n\n\
         ## Goal\n\nMend the renderer.\n\n## Next step\n\nRead what it says.\n",
    );
    git(&lab.top(), &["add", "--force", "docs/ignored.md", "docs/made/page.md"]);
    lab.commit("everything", 2 * DAY + 60);
    let (_, report) = lab.check(&[]);
    let imported =
        lab.scratch.kgctx(["handoff", "import", handoff]).current_dir(lab.top()).output();
    let imported = imported.unwrap();
    assert!(imported.status.success(), "{}", stderr(&imported));
    let now = report["now"].as_str().unwrap();
    for session in report["sessions"].as_array().unwrap() {
        let host = session["host"].as_str().unwrap();
        let arguments =
            ["inject", "--session", host, "--dry-run", "--format", "json", "--now", now, "--host"];
        let mut command = lab.scratch.kgctx(arguments);
        let output =
            command.env_remove("KGCTX_RANK").arg(host).current_dir(lab.top()).output().unwrap();
        let given: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(given["faults"], serde_json::json!([]), "{host}");
        let text = given["text"].as_str().unwrap();
        for part in ["Mend the renderer", "fn main", "wide letters", "größe", "line ends"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("made page") && !text.contains("hidden page"), "{text}");
        assert_eq!(given["parts"], session["parts"], "{host}: {text}");
        assert_eq!(given["omitted"], session["omitted"], "{host}");
        assert_eq!(
            (&given["tokens"], &given["chars"]),
            (&session["used"]["tokens"], &session["used"]["chars"])
        );
    }
}

#[test]
fn a_worktree_is_checked_as_its_sessions_are_given_it() {
    let lab = Lab::with_notes();
    let tree = lab.scratch.path().join("tree");
    git(&lab.top(), &["worktree", "add", "-q", tree.to_str().unwrap(), "-b", "fix"]);
    lab.scratch
        .write("tree/.kgctx/memory/renderer.md", "# Renderer\n\nOf atlas: the [[new way]].\n");
    lab.scratch.write("tree/docs/more.md", "# More\n\nOnly here, about [[atlas]].\n");
    lab.scratch.write("tree/kgctx.toml", "token_limit = 700\n[check]\nproject = \"atlas\"\n");
    super::commit(&tree, "other notes", 3 * DAY);
    let output = lab.kgctx(&["--format", "json"]).current_dir(&tree).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let now = report["now"].as_str().unwrap();
    let session = &report["sessions"][0];
    let arguments = ["inject", "--session", "s", "--dry-run", "--format", "json", "--now", now];
    let mut command = lab.scratch.kgctx(arguments);
    let output = command.env_remove("KGCTX_RANK").current_dir(&tree).output().unwrap();
    let given: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = given["text"].as_str().unwrap();
    assert!(text.contains("new way") && text.contains("Only here"), "{text}");
    assert_eq!(given["parts"], session["parts"], "{text}");
    assert_eq!(given["budget"], session["budget"]["tokens"], "{text}");
    assert_eq!(given["tokens"], session["used"]["tokens"], "{text}");
}
