//! Links that show what a link looks like: the same line has their source as code.

use std::collections::HashSet;
use std::ops::Range;

use super::super::checked_files::CheckedFile;

/// The lines and the targets of links in inline code.
pub(super) struct Samples<'t>(HashSet<(usize, &'t str)>);

impl<'t> Samples<'t> {
    pub(super) fn in_code(file: &CheckedFile<'t>) -> Samples<'t> {
        let code = file.spans.code.iter().filter_map(|range| {
            let code = file.text.get(range.clone())?;
            let (_, behind) = code.split_once("](").or_else(|| code.split_once("[["))?;
            let target = behind.split([')', ']', ' ']).next()?;
            Some((file.line(range.start).0, target))
        });
        Samples(code.collect())
    }

    /// Whether the link at this place is a sample, or no link for whoever reads the note: `{{[[TODO]]}}` is a task in Roam.
    pub(super) fn has(&self, file: &CheckedFile<'_>, range: &Range<usize>) -> bool {
        let (before, behind) = (&file.text[..range.start], &file.text[range.end..]);
        if before.ends_with("{{") && behind.starts_with("}}") {
            return true;
        }
        if self.0.is_empty() {
            return false;
        }
        // A path ends where its range does or at a part of the page; a `[[link]]` has its brackets.
        let target = file.text[range.clone()].trim_matches(['[', ']']);
        self.0.contains(&(file.line(range.start).0, target))
    }
}
