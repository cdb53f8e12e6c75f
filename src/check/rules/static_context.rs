//! **static-context**: files that hosts read on their own at every start have token limits, set by
//! path patterns; the last matching pattern wins. Files that `CLAUDE.md`, `AGENTS.md` and
//! `GEMINI.md` import (`@path`, outside of code) count as well: up to five imports deep, each file
//! once, only within the repository.

use std::collections::BTreeMap;

use super::RuleInput;
use super::checked_files::{CheckedFiles, Problem};
use super::spans::Spans;
use super::tree;
use crate::check::report::StaticFile;
use crate::core::host::Host;
use crate::core::tokens;
use crate::core::tokens::encoding::Encoding;

/// The depth to which hosts follow imports.
pub(crate) const MAX_IMPORT_DEPTH: usize = 5;

/// The static files with their sizes, sorted by path.
pub fn files(input: &RuleInput<'_>) -> Vec<StaticFile> {
    let own_files = Host::own_files();
    let has_imports = |path: &str| {
        own_files.iter().any(|own| own.has_imports && own.name() == tree::name_of(path))
    };
    let texts = input.files.iter();
    let texts = texts.filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)));
    let texts: BTreeMap<&str, &str> = texts.collect();
    let file = |path: &&str| {
        let limit = Some(input.roles.static_limit(path)?);
        let depth = if has_imports(path) { MAX_IMPORT_DEPTH } else { 0 };
        let tokens = count_tokens(input.encoding, &texts, path, depth);
        Some(StaticFile { path: path.to_string(), tokens, limit, tokens_before: None })
    };
    texts.keys().filter_map(file).collect()
}

/// The tokens of a file, and of those that it imports.
fn count_tokens(
    encoding: Encoding,
    texts: &BTreeMap<&str, &str>,
    path: &str,
    depth: usize,
) -> usize {
    let mut seen = Vec::new();
    let mut level = vec![path.to_owned()];
    let mut sum = 0;
    for _ in 0..=depth {
        let mut next = Vec::new();
        for path in level {
            let Some(text) = texts.get(path.as_str()).filter(|_| !seen.contains(&path)) else {
                continue;
            };
            sum += tokens::count(encoding, text);
            next.extend(imports(&path, text));
            seen.push(path);
        }
        level = next;
    }
    sum
}

/// The paths after `@` in a file, from the top of the repository; they may not exist.
pub fn imports(path: &str, text: &str) -> Vec<String> {
    let spans = Spans::of(text);
    let mut paths = Vec::new();
    for (at, _) in text.match_indices('@') {
        let begins = text[..at].chars().next_back().is_none_or(char::is_whitespace);
        if !begins || !spans.is_text(at) {
            continue;
        }
        let rest = &text[at + 1..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let written = rest[..end].trim_end_matches([',', ';', ':', ')', '.', '!', '?', '*', '_']);
        if written.is_empty() || written.starts_with(['/', '~']) {
            continue;
        }
        paths.extend(tree::joined(tree::folder_of(path), written));
    }
    paths
}

pub(super) fn find<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let mut problems = Vec::new();
    for StaticFile { path, tokens: n_tokens, limit, .. } in files(checked.input) {
        let Some(limit) = limit.filter(|limit| n_tokens > *limit) else { continue };
        let Some(file) = checked.files.iter().find(|file| file.path == path) else {
            continue;
        };
        let message =
            format!("hosts read {n_tokens} tokens at every start here; {limit} are allowed");
        // From heading to heading.
        let headings = &file.spans.headings;
        let ends = headings.iter().skip(1).map(|(at, _)| *at).chain([file.text.len()]);
        let sections = headings.iter().zip(ends).map(|((at, heading), end)| {
            let text = file.text.get(*at..end).unwrap_or_default();
            (heading, tokens::count(checked.input.encoding, text))
        });
        let hint = match sections.max_by_key(|(_, n_tokens)| *n_tokens) {
            Some((heading, n)) if !heading.is_empty() => {
                let heading = file.shown_text(heading);
                format!("its largest section is {heading} with {n} tokens; move it into a note")
            }
            _ => "move what only some sessions need into notes".to_owned(),
        };
        problems.push(file.problem(0..0, message, hint));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use super::*;
    use crate::check::finding::Rule::StaticContext;

    fn words(n: usize) -> String {
        "word ".repeat(n)
    }

    #[test]
    fn a_file_above_its_limit_names_its_largest_section() {
        let text = format!("# A\n\n{}\n\n## B\n\n{}\n", words(100), words(2_500));
        let repository =
            TestRepository::new().with("sub/AGENTS.md", &text).with("AGENTS.md", &words(2_000));
        let finding = &repository.of(StaticContext)[0];
        assert!(finding.message.ends_with("2500 are allowed"), "{}", finding.message);
        assert!(finding.hint.starts_with("its largest section is B with 25"), "{}", finding.hint);
        repository.check(StaticContext, &["sub/AGENTS.md:1:1+0"]);
    }

    #[test]
    fn the_last_pattern_that_fits_counts() {
        let mut repository = TestRepository::new()
            .with("AGENTS.md", &words(50))
            .with("sub/AGENTS.md", &words(50))
            .with("docs/a.md", &words(5_000));
        repository.settings.static_limits.push(("**/AGENTS.md".to_owned(), 40));
        repository.settings.static_limits.push(("sub/*.md".to_owned(), 60));
        let limits: Vec<_> =
            files(&repository.input()).into_iter().map(|file| (file.path, file.limit)).collect();
        let expect = [("AGENTS.md".to_owned(), Some(40)), ("sub/AGENTS.md".to_owned(), Some(60))];
        assert_eq!(limits, expect);
        repository.check(StaticContext, &["AGENTS.md:1:1+0"]);
    }

    #[test]
    fn imports_count_once_and_inside_of_the_repository_alone() {
        let repository = TestRepository::new()
            .with(
                "CLAUDE.md",
                "x @docs/a.md, @docs/a.md `@docs/b.md` a@docs/b.md @gone.md @~/x @../x @CLAUDE.md",
            )
            .with("docs/a.md", "word word @b.md")
            .with("docs/b.md", "word @a.md")
            .with(".cursorrules", "@docs/a.md");
        let count = |text: &str| tokens::count(Encoding::O200kBase, text);
        let sizes: Vec<usize> = files(&repository.input()).iter().map(|file| file.tokens).collect();
        let text = |n: usize| repository.files[n].text.as_deref().unwrap();
        assert_eq!(sizes, [count(text(3)), count(text(0)) + count(text(1)) + count(text(2))]);
        assert_eq!(imports("p/CLAUDE.md", "@a.md (@b) @../c.md."), ["p/a.md", "c.md"]);
    }

    #[test]
    fn imports_are_followed_five_deep() {
        let repository = (1..9)
            .fold(TestRepository::new().with("CLAUDE.md", "@1.md"), |repository, n| {
                repository.with(&format!("{n}.md"), &format!("@{}.md", n + 1))
            });
        let each = tokens::count(Encoding::O200kBase, "@1.md");
        assert_eq!(files(&repository.input())[0].tokens, 6 * each);
    }
}
