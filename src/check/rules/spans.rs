//! The links, `[[links]]`, code and headings of a markdown text, with their positions. Parses it
//! like the index, so that both see the same links.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::core::note::front_matter;
use crate::core::note::markdown::{InlineRun, is_block_border};
use crate::core::note::vault::SCHEME;
use crate::core::note::wikilink;

/// All positions refer to the whole text, front matter included.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// The end of the front matter.
    pub(super) body: usize,
    /// Links, images and link definitions.
    pub(super) links: Vec<Link>,
    /// `[[links]]`.
    pub(super) wiki_links: Vec<Link>,
    /// `memory://` addresses in plain text.
    pub(super) addresses: Vec<Range<usize>>,
    /// Inline code with its backticks.
    pub(super) code: Vec<Range<usize>>,
    /// Code, HTML and comments, sorted.
    not_text: Vec<(Range<usize>, NotText)>,
    /// The starts of headings, and their texts.
    pub(super) headings: Vec<(usize, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotText {
    Code,
    Html,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The position of the target, or of the whole link if the target cannot be located or is in
    /// double brackets.
    pub(super) range: Range<usize>,
    /// With entities and backslashes resolved; of a `[[link]]`, the text between the brackets.
    pub(super) target: String,
}

impl Spans {
    pub(super) fn of(text: &str) -> Spans {
        let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (_, body) = front_matter::split(unmarked);
        let mut reader = Reader {
            text,
            spans: Spans { body: text.len() - body.len(), ..Spans::default() },
            run: InlineRun::new(body),
            heading: None,
            inside_code_or_html: false,
        };
        let mut events = Parser::new_ext(body, Options::empty()).into_offset_iter();
        for (event, range) in events.by_ref() {
            reader.take(event, range);
        }
        let definitions = events.reference_definitions();
        for (label, definition) in definitions.iter() {
            // CommonMark reads a footnote as a link definition.
            if !label.starts_with('^') {
                reader.add_link(definition.span.clone(), &definition.dest);
            }
        }
        reader.end_block();
        let mut spans = reader.spans;
        spans.links.sort_by_key(|link| link.range.start);
        let formulas = formulas(text);
        spans.links.retain(|link| {
            let next = formulas.partition_point(|formula| formula.end <= link.range.start);
            formulas.get(next).is_none_or(|formula| link.range.start < formula.start)
        });
        spans
    }

    pub(super) fn is_text(&self, at: usize) -> bool {
        self.not_text_at(at).is_none()
    }

    pub(super) fn is_code(&self, at: usize) -> bool {
        self.not_text_at(at) == Some(NotText::Code)
    }

    fn not_text_at(&self, at: usize) -> Option<NotText> {
        let next = self.not_text.partition_point(|(range, _)| range.end <= at);
        self.not_text.get(next).filter(|(range, _)| range.start <= at).map(|(_, kind)| *kind)
    }
}

struct Reader<'t> {
    text: &'t str,
    spans: Spans,
    run: InlineRun<'t>,
    heading: Option<(usize, String)>,
    inside_code_or_html: bool,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        if is_block_border(&event) {
            self.end_block();
            match event {
                Event::Start(tag @ (Tag::CodeBlock(_) | Tag::HtmlBlock)) => {
                    self.inside_code_or_html = true;
                    let is_html = matches!(tag, Tag::HtmlBlock);
                    let kind = if is_html { NotText::Html } else { NotText::Code };
                    self.spans.not_text.push((self.moved(range), kind));
                }
                Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => {
                    self.inside_code_or_html = false
                }
                Event::Start(Tag::Heading { .. }) => {
                    self.heading = Some((range.start + self.spans.body, String::new()));
                }
                Event::End(TagEnd::Heading(_)) => self.spans.headings.extend(self.heading.take()),
                _ => {}
            }
            return;
        }
        if self.inside_code_or_html {
            return;
        }
        if let Some((_, heading)) = &mut self.heading {
            match &event {
                Event::Text(words) | Event::Code(words) => heading.push_str(words),
                Event::SoftBreak | Event::HardBreak => heading.push(' '),
                _ => {}
            }
        }
        self.run.take(&event, range.clone());
        match event {
            Event::Start(
                Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. },
            ) if matches!(link_type, LinkType::Inline | LinkType::Autolink) => {
                self.add_link(range, &dest_url);
            }
            Event::Code(_) => {
                self.spans.code.push(self.moved(range.clone()));
                self.spans.not_text.push((self.moved(range), NotText::Code));
            }
            Event::InlineHtml(_) => {
                self.spans.not_text.push((self.moved(range), NotText::Html));
            }
            _ => {}
        }
    }

    fn moved(&self, range: Range<usize>) -> Range<usize> {
        range.start + self.spans.body..range.end + self.spans.body
    }

    fn end_block(&mut self) {
        self.run.finish();
        let (run, offset, spans) = (&self.run, self.spans.body, &mut self.spans);
        let block = run.text();
        let place = |at: usize| run.place(at) + offset;
        wikilink::find_places(block, |inner| {
            let range = place(inner.start - 2)..place(inner.end + 1) + 1;
            spans.wiki_links.push(Link { range, target: block[inner].to_owned() });
        });
        for at in memchr::memmem::find_iter(block.as_bytes(), SCHEME.as_bytes()) {
            let rest = &block[at..];
            let ends = |c: char| c.is_whitespace() || c.is_control() || "()[]<>\"'`|*".contains(c);
            let end = rest.find(ends).unwrap_or(rest.len());
            let address = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '_', '…']);
            let range = place(at)..place(at) + address.len();
            let is_in_link =
                |link: &Link| link.range.start <= range.start && range.end <= link.range.end;
            if !spans.links.last().is_some_and(is_in_link) {
                spans.addresses.push(range);
            }
        }
    }

    fn add_link(&mut self, range: Range<usize>, target: &str) {
        let range = self.moved(range);
        let written = self.text.get(range.clone()).unwrap_or_default();
        let range = match written.rfind(target) {
            Some(at) if !target.is_empty() => range.start + at..range.start + at + target.len(),
            _ => range,
        };
        self.spans.links.push(Link { range, target: target.to_owned() });
    }
}

/// Formulas, `$…$` on one line and `$$…$$` over several: they contain no links.
fn formulas(text: &str) -> Vec<Range<usize>> {
    let mut formulas = Vec::new();
    let (mut at, mut line_end) = (0, 0);
    while let Some(open) = memchr::memchr(b'$', &text.as_bytes()[at..]).map(|found| at + found) {
        // Looks for the end of a line once: a line can be a whole file.
        if line_end <= open {
            let rest = memchr::memchr(b'\n', &text.as_bytes()[open..]);
            line_end = rest.map_or(text.len(), |end| open + end);
        }
        let (mark, rest) = match text[open..].strip_prefix("$$") {
            Some(rest) => ("$$", rest),
            None => ("$", &text[open + 1..line_end]),
        };
        let start = open + mark.len();
        let opens = mark.len() == 2 || !rest.starts_with(char::is_whitespace);
        // Between two prices, a space precedes the second sign.
        let closes = |end: &usize| mark.len() == 2 || !rest[..*end].ends_with(char::is_whitespace);
        match rest.find(mark).filter(closes).filter(|_| opens) {
            Some(end) => {
                at = start + end + mark.len();
                formulas.push(open..at);
            }
            None if mark.len() == 2 => return formulas,
            None => at = start,
        }
    }
    formulas
}

#[cfg(test)]
mod tests;
