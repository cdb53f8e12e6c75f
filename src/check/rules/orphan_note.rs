//! **orphan-note**: an unconnected note. It links to no other note, shares no concept with another
//! note, no note, handoff or static file links to it, and no site's navigation lists it. Skips files
//! that describe their folder (README, index, AGENTS, CLAUDE), notes at the top of a project, templates,
//! pages about older versions, and a repository with one note.

use std::collections::HashMap;

use super::checked_files::{CheckedFiles, Problem};
use super::links::LinkTarget;
use crate::core::note::concept::Concept;
use crate::core::note::wikilink;

pub(super) fn find<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    if checked.notes().count() < 2 {
        return Vec::new();
    }
    let mut is_reached = vec![false; checked.files.len()];
    for &number in &checked.listed {
        is_reached[number] = true;
    }
    for (from, links) in checked.links.iter().enumerate() {
        for link in links {
            let to = match &link.target {
                LinkTarget::Note(number) => std::slice::from_ref(number),
                LinkTarget::Notes(numbers) => numbers,
                _ => continue,
            };
            for &to in to.iter().filter(|&&to| to != from) {
                is_reached[from] = true;
                is_reached[to] = true;
            }
        }
    }
    // A concept that two notes mention connects both.
    let mut first_with: HashMap<Concept, usize> = HashMap::new();
    for (number, file) in checked.notes() {
        for link in &file.spans.wiki_links {
            let Some(concept) = wikilink::concept(&link.target, checked.input.links) else {
                continue;
            };
            let first = *first_with.entry(concept).or_insert(number);
            if first != number {
                is_reached[first] = true;
                is_reached[number] = true;
            }
        }
    }
    let lost = checked.living_notes().filter(|(number, file)| {
        !is_reached[*number] && !file.is_index() && !checked.input.roles.is_at_top(file.path)
    });
    lost.map(|(_, file)| {
        let message = "no note links to this one, and it links to none";
        let hint = "link it from a related note, or mention a concept that other notes mention";
        file.problem(0..0, message, hint)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use crate::check::finding::Rule::OrphanNote;

    fn notes(text: &str) -> TestRepository {
        TestRepository::new()
            .with("docs/a.md", text)
            .with("docs/b.md", "[[shared]] [[c]]")
            .with("docs/c.md", "# C\n")
            .with("docs/README.md", "# Docs\n")
    }

    #[test]
    fn a_note_without_ties_is_an_orphan() {
        notes("# A\n\nNothing here.\n").check(OrphanNote, &["docs/a.md:1:1+0"]);
        notes("[[unique]] [x](../src) [me](a.md) [[a]]").check(OrphanNote, &["docs/a.md:1:1+0"]);
        notes("`[[shared]]`").check(OrphanNote, &["docs/a.md:1:1+0"]);
    }

    #[test]
    fn a_note_with_a_tie_is_none() {
        for text in ["[[Shared]]", "[x](b.md)", "memory://docs/b", "[[c]]"] {
            notes(text).check(OrphanNote, &[]);
        }
    }

    #[test]
    fn a_note_that_somebody_links_to_is_none() {
        notes("# A\n").with("docs/d.md", "[x](a.md)").check(OrphanNote, &[]);
        notes("# The A\n").with("docs/d.md", "[[the a]]").check(OrphanNote, &[]);
        notes("# A\n").with("AGENTS.md", "[x](docs/a.md)").check(OrphanNote, &[]);
    }

    #[test]
    fn the_only_note_is_none() {
        TestRepository::new().with("docs/a.md", "# A\n").check(OrphanNote, &[]);
    }
}
