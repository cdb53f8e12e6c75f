//! **giant-note**: a note that has more than its share (`giant_percent`) of the tokens of all
//! notes. Skips repositories with fewer than five notes, notes of at most a thousand tokens, and
//! those at the top of a project.

use rayon::prelude::*;

use super::checked_files::{CheckedFiles, Problem};
use crate::core::tokens;

/// With fewer notes, a share is meaningless.
const FEWEST_NOTES: usize = 5;
/// Notes up to this size are never too large.
const FINE_TOKENS: usize = 1_000;
/// The largest ratio between the tokens per byte of two texts. Counting all tokens of a large vault
/// takes longer than all other rules, and usually no note comes near its share by bytes.
const DENSEST: usize = 4;

pub(super) fn find<'c>(checked: &'c CheckedFiles<'_>) -> Vec<Problem<'c>> {
    let notes: Vec<_> = checked.notes().map(|(_, file)| file).collect();
    let percent = checked.input.roles.settings.giant_percent;
    let bytes: usize = notes.iter().map(|file| file.text.len()).sum();
    let is_near = |size: usize| size > FINE_TOKENS && size * 100 * DENSEST > bytes * percent;
    if notes.len() < FEWEST_NOTES || !notes.iter().any(|file| is_near(file.text.len())) {
        return Vec::new();
    }
    let encoding = checked.input.encoding;
    let counts: Vec<usize> =
        notes.par_iter().map(|file| tokens::count(encoding, file.text)).collect();
    let all: usize = counts.iter().sum();
    let giants = notes.iter().zip(&counts);
    let giants = giants.filter(|&(_, &n)| n > FINE_TOKENS && n * 100 > all * percent);
    let giants = giants.filter(|(file, _)| !checked.input.roles.is_at_top(file.path));
    giants
        .map(|(file, &n)| {
            let share = n * 100 / all;
            let message = format!(
                "this note has {n} tokens, {share} % of all notes; the limit is {percent} %"
            );
            let hint = "split it by its headings into notes that link to each other";
            file.problem(0..0, message, hint)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use crate::check::finding::Rule::GiantNote;
    use crate::check::rules::CheckedVault;
    use crate::core::settings::LinkStyle;

    fn notes(n_notes: usize, words: usize) -> TestRepository {
        let repository =
            TestRepository::new().with("docs/giant.md", &"many words here ".repeat(words / 3));
        (1..n_notes).fold(repository, |repository, n| {
            repository.with(&format!("docs/{n}.md"), &format!("{n} few words ").repeat(200))
        })
    }

    #[test]
    fn a_note_with_more_than_its_share_is_a_giant() {
        notes(5, 9_000).check(GiantNote, &["docs/giant.md:1:1+0"]);
    }

    #[test]
    fn the_readme_of_a_project_may_be_long() {
        let with_top = |is_flat: bool| {
            let text = "many words here ".repeat(3_000);
            let mut repository = notes(5, 300).with("README.md", &text);
            let (name, folder) = ("root".to_owned(), String::new());
            repository.vaults.push(CheckedVault { name, folder, style: LinkStyle::Plain, is_flat });
            repository
        };
        with_top(true).check(GiantNote, &[]);
        with_top(false).check(GiantNote, &["README.md:1:1+0"]);
    }

    #[test]
    fn few_notes_and_small_ones_have_no_giant() {
        notes(4, 9_000).check(GiantNote, &[]);
        notes(5, 900).check(GiantNote, &[]);
        notes(40, 9_000).check(GiantNote, &[]);
        let mut repository = notes(5, 9_000);
        repository.settings.giant_percent = 90;
        repository.check(GiantNote, &[]);
    }
}
