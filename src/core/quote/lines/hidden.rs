//! What a note hides from its readers: comments, scripts, tags over several lines, and imports of components.

use std::ops::Range;

use memchr::{memchr2_iter, memmem};

use crate::core::quote::plain::tag::ELEMENTS;

/// A tag, a formula or an import goes over no more.
const LONGEST_BYTES: usize = 4_096;
/// Elements whose content is no text.
const ELEMENTS_OF_CODE: [(&str, &str); 3] =
    [("<script", "</script>"), ("<style", "</style>"), ("<template", "</template>")];
const QUERY: (&str, &str) = ("#+BEGIN_QUERY", "#+END_QUERY");
/// What Logseq and Org keep of an item's times, and its properties.
const DRAWERS: [(&str, &str); 2] = [(":LOGBOOK:", ":END:"), (":PROPERTIES:", ":END:")];
const COMMENT: (&str, &str) = ("<!--", "-->");
/// Comments of Obsidian.
const ASIDE: (&str, &str) = ("%%", "%%");
const FORMULA: &str = "$$";

/// Finds what is hidden in a body. Looked at from its beginning to its end, every byte is searched a few times at most.
#[derive(Debug)]
pub(super) struct Hidden<'a> {
    body: &'a str,
    next_comment: Option<usize>,
    next_aside: Option<usize>,
    /// The ends that do not come any more.
    exhausted: Vec<&'static str>,
}

impl<'a> Hidden<'a> {
    pub(super) fn new(body: &'a str) -> Hidden<'a> {
        Hidden { body, next_comment: Some(0), next_aside: Some(0), exhausted: Vec::new() }
    }

    /// What is hidden from somewhere in a line on, to somewhere in another line or to the end of this one.
    pub(super) fn from(&mut self, line: &Range<usize>, is_top: bool) -> Option<Range<usize>> {
        let text = self.body[line.clone()].trim_start();
        let start = line.end - text.len();
        self.comment(line).or_else(|| self.aside(line)).or_else(|| {
            match text.as_bytes().first()? {
                b'<' => self.element(text, start).or_else(|| self.tag(line)),
                b'$' => self.formula(text, start),
                b'#' => self.until(QUERY, text, start),
                b'-' => self.until(QUERY, text.strip_prefix("- ")?, start + 2),
                b':' => DRAWERS.into_iter().find_map(|marks| self.until(marks, text, start)),
                b'i' | b'e' => self.module(text, start, is_top),
                _ => None,
            }
        })
    }

    fn end(&mut self, mark: &'static str, from: usize) -> Option<usize> {
        if self.exhausted.contains(&mark) {
            return None;
        }
        match memmem::find(&self.body.as_bytes()[from..], mark.as_bytes()) {
            Some(at) => Some(from + at + mark.len()),
            None => {
                self.exhausted.push(mark);
                None
            }
        }
    }

    /// A comment that goes on after the line; one within it is stripped with the other marks.
    fn comment(&mut self, line: &Range<usize>) -> Option<Range<usize>> {
        let mut from = line.start;
        while let Some(start) = next(self.body, &mut self.next_comment, COMMENT.0, from)
            .filter(|start| *start < line.end)
        {
            from = start + COMMENT.0.len();
            if self.is_in_code(line.start, start) {
                continue;
            }
            let end = self.end(COMMENT.1, from)?;
            if end > line.end {
                return Some(start..end);
            }
            from = end;
        }
        None
    }

    /// A comment of Obsidian. Elsewhere the mark can be anything, so it must stand apart.
    fn aside(&mut self, line: &Range<usize>) -> Option<Range<usize>> {
        let mut from = line.start;
        while let Some(start) =
            next(self.body, &mut self.next_aside, ASIDE.0, from).filter(|start| *start < line.end)
        {
            from = start + ASIDE.0.len();
            let before = &self.body[line.start..start];
            let is_apart = before.is_empty() || before.ends_with(char::is_whitespace);
            if !is_apart || self.is_in_code(line.start, start) {
                continue;
            }
            let end = self.end(ASIDE.1, from)?;
            let rest = self.body[end..].split('\n').next().unwrap_or_default();
            if end > line.end && rest.trim().is_empty() {
                return Some(start..end);
            }
            from = end.min(line.end);
        }
        None
    }

    /// Whether a place is between backticks.
    fn is_in_code(&self, line: usize, at: usize) -> bool {
        self.body.as_bytes()[line..at].iter().filter(|&&byte| byte == b'`').count() % 2 == 1
    }

    /// An element whose content is no text.
    fn element(&mut self, text: &str, start: usize) -> Option<Range<usize>> {
        ELEMENTS_OF_CODE.into_iter().find_map(|marks| self.until(marks, text, start))
    }

    /// What stands between a mark at the beginning of a line and another.
    fn until(
        &mut self,
        (first, last): (&str, &'static str),
        text: &str,
        start: usize,
    ) -> Option<Range<usize>> {
        let rest = text.strip_prefix(first)?;
        if rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_')) {
            return None;
        }
        self.end(last, start + first.len()).map(|end| start..end)
    }

    /// The opening tag with which a line of HTML ends, if it goes on after the line.
    fn tag(&self, line: &Range<usize>) -> Option<Range<usize>> {
        let text = &self.body[line.clone()];
        let at = text.rfind('<')?;
        let inner = &text[at + 1..];
        let name = inner.split(char::is_whitespace).next().unwrap_or(inner);
        let is_component = name.starts_with(|c: char| c.is_ascii_uppercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        if inner.contains('>') || !is_component && !ELEMENTS.contains(&name) {
            return None;
        }
        let after = near(&self.body[line.end..]);
        // In a component `=>` is the arrow of a function.
        let mut marks = memchr2_iter(b'<', b'>', after.as_bytes());
        let end = marks.find(|&at| at == 0 || after.as_bytes()[at - 1] != b'=')?;
        if after.as_bytes()[end] == b'<' {
            return None;
        }
        let has_blank_line = after[..end].lines().skip(1).any(|line| line.trim().is_empty());
        (!has_blank_line).then_some(line.start + at..line.end + end + 1)
    }

    /// A formula that stands for itself.
    fn formula(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let inner = text.strip_prefix(FORMULA)?;
        if let Some(at) = inner.find(FORMULA) {
            let end = at + FORMULA.len();
            return inner[end..].trim().is_empty().then_some(start..start + text.len());
        }
        let from = start + FORMULA.len();
        let end = near(&self.body[from..]).find(FORMULA)?;
        Some(start..from + end + FORMULA.len())
    }

    /// An import or export of a document with components. Only at its top can it go over several lines.
    fn module(&self, text: &str, start: usize, is_top: bool) -> Option<Range<usize>> {
        let is_import = text.strip_prefix("import ").is_some_and(|rest| {
            rest.starts_with(['\'', '"']) || rest.contains(" from '") || rest.contains(" from \"")
        });
        if is_import {
            return Some(start..start + text.len());
        }
        let is_export = text.starts_with("export ") && text.contains(['=', '(', '{']);
        if !is_top || !is_export && !text.starts_with("import {") {
            return None;
        }
        let mut depth = 0i32;
        for (n, byte) in near(&self.body[start..]).bytes().enumerate() {
            match byte {
                b'{' | b'(' | b'[' => depth += 1,
                b'}' | b')' | b']' => depth -= 1,
                b'\n' if depth <= 0 => return Some(start..start + n),
                _ => {}
            }
        }
        None
    }
}

/// The next place of a mark, which is looked for once.
fn next(body: &str, known: &mut Option<usize>, mark: &str, from: usize) -> Option<usize> {
    if (*known)? < from || from == 0 {
        *known = memmem::find(&body.as_bytes()[from..], mark.as_bytes()).map(|at| from + at);
    }
    *known
}

fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_BYTES)]
}
