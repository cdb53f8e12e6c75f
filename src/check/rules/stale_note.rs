//! **stale-note**: an outdated note. Its front matter says so (`status: done`, `completed`,
//! `obsolete`, `superseded` or `archived`; `superseded_by`), or it names in backticks a missing
//! file: a path with a known ending, below a folder of the repository, although no file's path ends
//! like it. (`dangling-link` finds links to such files.)
//!
//! Skips paths that are examples, placeholders, patterns, generated or ignored by git, paths in
//! lines about past or future changes, paths that are the title of a code block, paths that any
//! project may have in a page of a web site, paths below a heading that says "example", and all paths in notes that are
//! outdated or historical (CHANGELOG, `done/`, `releases/`, …). Templates and pages about older versions are ignored.

use std::cell::OnceCell;
use std::ops::Range;

use super::checked_files::{CheckedFile, CheckedFiles, Problem};
use super::text_file;
use super::tree;

/// Folders that any project may have: in a page of a web site they are those of its reader.
const COMMON_FOLDERS: &str = "\
    .github api app archetypes assets components content docs includes layouts pages public src static \
    templates themes website";
/// Statuses of outdated notes.
const OVER: &str = "done completed complete obsolete superseded archived deprecated outdated";
/// Endings of files that people write and keep.
const ENDINGS: &str = "\
    adoc astro bash bat c cc cfg clj cmake conf cpp cs css csv cxx dart ex exs fish go gradle graphql h \
    hcl hpp hs html ini ipynb java js json jsonc jsx kt lua md mdc mdx mjs ml nix php pl proto ps1 py rb \
    rs scala scss sh sql svelte swift tf toml ts tsx txt vue xml yaml yml";
/// Folders of generated files.
const GENERATED: &str = "\
    node_modules target dist build out output outputs vendor coverage tmp temp cache .cache .venv venv \
    __pycache__ .next .nuxt .git generated gen bin obj logs";
/// Parts of paths that are placeholders.
const PLACEHOLDERS: &str = "\
    foo bar baz qux path to some example examples sample my your xxx yyy name file filename dir folder \
    doc page post hello yyyy mm placeholder";
/// Parts of names that are placeholders for a time or a number.
const TIME_PLACEHOLDERS: &str = "YYYY YYYYMMDD MM DD HH N NN NNN NNNN X XX XXX Y Z";
/// What a reader has who calls it `myapp`.
const THINGS: &str = "\
    app bot class command component config extension feature file function lib library module package page \
    plugin program project script service site test theme tool webhook widget";
/// Names of historical notes and folders.
const HISTORIES: &str = "\
    archive archived changelog changelogs changes completed done history journal log logs news progress \
    release-notes release_notes releases superseded whatsnew";
/// Words in lines about the past, the future, or possibilities.
const OTHER_TIMES: &str = "\
    add added adding adds assume assumes assuming become became changed converted could create created creates creating delete \
    deleted deletes drop dropped earlier example extracted formerly future generate generated generates \
    gone had if imagine instance introduced legacy like longer may merged might migrated missing modified move \
    moved moves new old optional optionally output outputs plan planned previously propose proposed \
    refactored remove removed removes rename renamed replaced replaces retired should split suppose \
    switched todo updated used was were will would write writes";

const OVER_HINT: &str = "remove the note, or move what is still true into another one";

pub(super) fn find<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let mut problems = Vec::new();
    for (_, file) in checked.living_notes() {
        let over = is_over(file).or_else(|| is_superseded(file));
        // An outdated note can name removed files.
        if over.is_none() && !is_history(file) {
            problems.extend(gone_paths(checked, file));
        }
        problems.extend(over);
    }
    problems
}

fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

fn is_history(file: &CheckedFile<'_>) -> bool {
    let mut parts = tree::folder_of(file.path).split('/').chain([file.stem()]);
    parts.any(|part| has_word(HISTORIES, &part.to_ascii_lowercase()))
}

fn is_over<'c>(file: &'c CheckedFile<'_>) -> Option<Problem<'c>> {
    let place = file.key("status").or_else(|| file.key("Status"));
    // The front matter only has the key in lower case.
    let written = place.as_ref().and_then(|place| file.text[place.end..].lines().next());
    let written = written.unwrap_or_default().trim_matches(['"', '\'', ' ', ':', '\t']);
    let status = file.front_matter.status.as_deref().unwrap_or(written).trim();
    let status = status.trim_end_matches(['.', '!', ',', ';']).to_lowercase();
    let first_word = status.split_whitespace().next();
    if !has_word(OVER, &status) && first_word != Some("superseded") {
        return None;
    }
    let message = format!("the note says that it is {}", file.shown_text(&status));
    Some(file.problem(place.unwrap_or_default(), message, OVER_HINT))
}

fn is_superseded<'c>(file: &'c CheckedFile<'_>) -> Option<Problem<'c>> {
    let place = file.key("superseded_by").or_else(|| file.key("superseded-by"))?;
    let mut lines = file.text[place.end..].lines();
    let value = lines.next().unwrap_or_default();
    let value = value.trim_start_matches(['"', '\'', ' ', ':']).trim();
    // A list below the key is a value, too.
    let has_list = lines.next().is_some_and(|line| line.trim_start().starts_with("- "));
    let is_null = matches!(value, "null" | "~" | "[]" | "none" | "None" | "\"\"" | "''");
    let is_set = !is_null && (!value.is_empty() || has_list);
    let message = "the note says that another note replaces it";
    is_set.then(|| file.problem(place, message, OVER_HINT))
}

fn gone_paths<'c>(checked: &CheckedFiles<'_>, file: &'c CheckedFile<'_>) -> Vec<Problem<'c>> {
    let mut last_line = None;
    let mut gone = Vec::new();
    let examples = OnceCell::new();
    for range in &file.spans.code {
        let Some(place) = gone_path(checked, file, range) else { continue };
        let examples = examples.get_or_init(|| examples_in(file.text));
        let next = examples.partition_point(|example| example.end <= place.start);
        if examples.get(next).is_some_and(|example| example.contains(&place.start)) {
            continue;
        }
        let line = file.line(place.start);
        // A line can be a whole file: it is read once.
        let is_present = match last_line {
            Some((last, is_present)) if last == line => is_present,
            _ => !is_about_other_times(file, &place) && !is_title(file, &place),
        };
        last_line = Some((line, is_present));
        if is_present {
            gone.push((place, ()));
        }
    }
    file.problems(gone, "paths in this file are not in the repository", |place, ()| {
        let name = tree::name_of(&file.text[place.clone()]);
        let way_out = "fix the path, or remove it from the note";
        let message =
            format!("the note names {}, which is not in the repository", file.shown(place.clone()));
        (message, text_file::hint(checked.tree.ending_with(name), way_out))
    })
}

/// The sections whose heading says that they are an example, with those below.
fn examples_in(text: &str) -> Vec<Range<usize>> {
    let mut examples: Vec<Range<usize>> = Vec::new();
    let (mut at, mut open) = (0, None);
    for line in text.split_inclusive('\n') {
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        // A heading without text of its own is above all that follows on its level.
        let is_empty = |start: usize| text[start..at].trim_end().lines().count() == 1;
        let ends =
            |(start, above): (usize, usize)| level < above || level == above && !is_empty(start);
        if level > 0 && open.is_none_or(ends) {
            examples.extend(open.map(|(start, _)| start..at));
            let mut words = line.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
            let is_example = words.any(|word| matches!(&word[..], "example" | "examples"));
            open = is_example.then_some((at, level));
        }
        at += line.len();
    }
    examples.extend(open.map(|(start, _)| start..at));
    examples
}

/// The position of the path in inline code, if it names a missing file.
fn gone_path(
    checked: &CheckedFiles<'_>,
    file: &CheckedFile<'_>,
    range: &Range<usize>,
) -> Option<Range<usize>> {
    let code = file.text.get(range.clone())?;
    let path = path_in(code.trim_matches('`').trim())?;
    let tree = &checked.tree;
    let (first, _) = path.split_once('/')?;
    // Hidden folders hold the settings of programs.
    let is_common = has_word(COMMON_FOLDERS, first) || first.starts_with('.');
    let is_readers = is_common && checked.sites.is_page(file.path);
    let is_there = is_readers
        || !tree.has_folder(first)
        || tree.has(path)
        || tree.ending_with(path).is_some()
        || tree::joined(tree::folder_of(file.path), path).is_some_and(|path| tree.has(&path))
        || checked.ignored.has(tree, path);
    let start = range.start + code.find(path)?;
    (!is_there).then_some(start..start + path.len())
}

/// The path of a file, if the code contains nothing else.
fn path_in(code: &str) -> Option<&str> {
    let code = code.strip_prefix("./").unwrap_or(code);
    // Removes a line number: `src/main.rs:12:3`, `src/main.rs#L12`.
    let code = code.split(['#', ':']).next().unwrap_or(code);
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@".contains(c);
    let ending = tree::name_of(code).rsplit_once('.').map(|(_, ending)| ending)?;
    let mut parts = code.split('/');
    let is_path = code.contains('/')
        && code.chars().all(is_plain)
        && !code.starts_with(['/', '@', '-'])
        && !code.contains("..")
        && has_word(ENDINGS, ending)
        && !parts.any(|part| part.is_empty() || has_word(GENERATED, part) || is_placeholder(part));
    is_path.then_some(code)
}

fn is_placeholder(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).to_lowercase();
    // Examples are numbered: `doc1.md`.
    let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let mut words = stem.split(['-', '_']);
    let mut written = part.split(|c: char| !c.is_alphanumeric());
    let mine = stem.strip_prefix("my").is_some_and(|what| has_word(THINGS, what));
    mine || part.contains("x.x")
        || written.any(|word| has_word(TIME_PLACEHOLDERS, word))
        || has_word(PLACEHOLDERS, stem)
        || words.any(|word| has_word("foo bar example your my dummy nonexistent", word))
}

/// The words around inline code in a line.
fn prose(file: &CheckedFile<'_>, place: &Range<usize>) -> String {
    let (start, _, end) = file.line(place.start);
    let code = &file.spans.code;
    let first = code.partition_point(|code| code.end <= start);
    let mut prose = String::new();
    let mut at = start;
    for code in code[first..].iter().take_while(|code| code.start < end) {
        prose.push_str(file.text.get(at..code.start).unwrap_or_default());
        prose.push(' ');
        at = code.end.min(end);
    }
    prose.push_str(file.text.get(at..end).unwrap_or_default());
    prose
}

/// Whether a line is about something else than the present.
fn is_about_other_times(file: &CheckedFile<'_>, place: &Range<usize>) -> bool {
    let prose = prose(file, place);
    let mut words = prose.split(|c: char| !c.is_alphanumeric());
    // An open box is work to do.
    let marks = ["e.g.", "→", "->", "~~", "- [ ]"];
    marks.iter().any(|mark| prose.contains(mark))
        || words.any(|word| has_word(OTHER_TIMES, &word.to_lowercase()))
}

/// Whether a line is the title of a code block: hardly more than a path, or the label of a tab, above
/// a fence. What follows is an example of such a file.
fn is_title(file: &CheckedFile<'_>, place: &Range<usize>) -> bool {
    let prose = prose(file, place);
    let (_, _, end) = file.line(place.start);
    let is_label = prose.trim_start().starts_with("=== ");
    let words = prose.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let next = file.text[end..].lines().map(str::trim).find(|line| !line.is_empty());
    (is_label || words.count() <= 1)
        && next.is_some_and(|line| line.starts_with("```") || line.starts_with("~~~"))
}

#[cfg(test)]
mod tests {
    use super::super::checked_files::MAX_PER_FILE;
    use super::super::tests::TestRepository;
    use crate::check::finding::Rule::StaleNote;

    fn note(text: &str) -> TestRepository {
        TestRepository::new()
            .with("docs/a.md", text)
            .with(".gitignore", "# made\n/src/schema.rs\n*.lock.json\n")
            .with_file("src/main.rs")
            .with_file("src/deep/inner/kept.rs")
            .with_file("docs/img/x.png")
    }

    #[test]
    fn a_path_that_is_gone_is_found_where_it_stands() {
        for (text, expect) in [
            ("See `src/gone.rs`.", "docs/a.md:1:6+11"),
            ("ä\n\n- in ``src/deep/gone.rs:12`` it is", "docs/a.md:3:8+16"),
            ("`./src/gone.rs#L3`", "docs/a.md:1:4+11"),
            ("> `docs/gone.md` says so", "docs/a.md:1:4+12"),
            ("## Example\nx\n## Use\n`src/mysql/gone.rs`", "docs/a.md:4:2+17"),
        ] {
            note(text).check(StaleNote, &[expect]);
        }
    }

    #[test]
    fn what_is_there_or_could_be_is_let_be() {
        for text in [
            "`src/main.rs` `src/main.rs:3` `inner/kept.rs` `./src/main.rs` `img/x.png`",
            "`main.rs` `gone.rs` `lib/gone.rs` `/src/gone.rs` `~/src/gone.rs` `../src/gone.rs`",
            "`src/*.rs` `src/{a,b}.rs` `src/<name>.rs` `src/$x.rs` `src/....rs` `src/gone`",
            "`cat src/gone.rs` `https://x.y/src/gone.rs` `src/gone.unknown`",
            "`src/path/to/file.rs` `src/foo.rs` `src/my-module.rs` `src/example/a.rs`",
            "`src/generated/a.rs` `src/node_modules/x.js` `src/dist/a.js`",
            "`src/schema.rs` `src/yarn.lock.json` `src/YYYY-MM-DD-x.md` `src/nonexistent.rs`",
            "`src/X.md` `src/N-title.md`",
            "Modified `src/gone.rs`",
            "`src/gone.rs` was removed. We will write `src/next.rs`",
            "rename `src/a1.rs` → `src/b1.rs`",
            "src/gone.rs\n\n```\nsrc/gone.rs\n```\n",
            "Assuming that the file is `src/gone.rs`",
            "- [ ] `src/gone.rs`",
            "`src/doc1.md` `docs/page.md`",
            "`src/myplugin/gone.rs` `src/mywebhook.rs` `src/myprogram/gone.rs` `docs/x.x.x.md`",
            "# Plugin Example\n\n# Use\nIt is in `src/gone.rs`",
            "# Plugin Example\n## Use\nIt is in `src/gone.rs`",
        ] {
            for text in text.split_inclusive(". ") {
                note(text).check(StaleNote, &[]);
            }
        }
    }

    #[test]
    fn a_page_of_a_site_speaks_of_its_readers_files() {
        let page =
            |text: &str| note(text).with("mkdocs.yml", "nav:\n  - a.md\n").with_file("atlas/x.rs");
        page("Open `src/gone.rs`.").check(StaleNote, &[]);
        page("Open `atlas/gone.rs`.").check(StaleNote, &["docs/a.md:1:7+13"]);
        let mintlify = |text: &str| {
            note(text)
                .with("docs/docs.json", r#"{ "navigation": [] }"#)
                .with_file(".github/a.yml")
                .with_file("atlas/x.rs")
        };
        mintlify("Copy it to `.github/workflows/gone.yml`.").check(StaleNote, &[]);
        mintlify("Open `atlas/gone.rs`.").check(StaleNote, &["docs/a.md:1:7+13"]);
        note("Copy it to `.github/workflows/gone.yml`.")
            .with_file(".github/a.yml")
            .check(StaleNote, &["docs/a.md:1:13+26"]);
    }

    #[test]
    fn the_title_of_a_code_block_is_an_example() {
        for text in [
            "`src/gone.rs`:\n\n```\nx\n```\n",
            "- vs `src/gone.rs`\n\n  ~~~\n  x\n  ~~~\n",
            "=== \":material-file: In `src/gone.rs`\"\n\n    ``` css\n    x\n    ```\n",
        ] {
            note(text).check(StaleNote, &[]);
        }
        note("`src/gone.rs`:\n\nIt is the queue.\n").check(StaleNote, &["docs/a.md:1:2+11"]);
        note("The queue is in `src/gone.rs`:\n\n```\nx\n```\n")
            .check(StaleNote, &["docs/a.md:1:18+11"]);
    }

    #[test]
    fn paths_that_are_too_many_to_be_told_are_counted() {
        let text: String = (0..MAX_PER_FILE + 70).map(|n| format!("`src/gone/{n}.rs` ")).collect();
        let findings = note(&text).of(StaleNote);
        assert_eq!(findings.len(), MAX_PER_FILE + 1);
        let last = &findings.last().unwrap().message;
        assert_eq!(last, "from here on, 70 more paths in this file are not in the repository");
    }

    #[test]
    fn notes_that_tell_what_was_are_let_be() {
        for path in ["docs/done/a.md", "docs/Archive/2025/a.md", "docs/changelog.md"] {
            TestRepository::new()
                .with(path, "See `src/gone.rs`.")
                .with_file("src/main.rs")
                .check(StaleNote, &[]);
        }
        let over = "---\nstatus: done\n---\nSee `src/gone.rs`.";
        note(over).check(StaleNote, &["docs/a.md:2:1+6"]);
    }

    #[test]
    fn a_note_that_says_so_is_over() {
        note("---\nStatus: done\n---\nx").check(StaleNote, &["docs/a.md:2:1+6"]);
        note("---\nstatus: Done.\n---\nx").check(StaleNote, &["docs/a.md:2:1+6"]);
        note("---\ntitle: a\nstatus: Done\n---\nx").check(StaleNote, &["docs/a.md:3:1+6"]);
        note("---\nstatus: superseded by 0004\n---\nx").check(StaleNote, &["docs/a.md:2:1+6"]);
        note("---\nsuperseded_by: b\n---\nx").check(StaleNote, &["docs/a.md:2:1+13"]);
        note("---\nsuperseded_by:\n  - b\n---\nx").check(StaleNote, &["docs/a.md:2:1+13"]);
        for fine in
            ["status: accepted", "status: in-progress", "superseded_by: null", "superseded_by:"]
        {
            note(&format!("---\n{fine}\n---\nstatus: done")).check(StaleNote, &[]);
        }
    }
}
