//! What a markdown text holds, with places: links, `[[links]]`, code, headings. Reads it as the index does, so that both
//! see the same links.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use crate::core::note::front_matter;
use crate::core::note::markdown;
use crate::core::note::vault::SCHEME;
use crate::core::note::wikilink;

/// What a markdown text holds. All places are in the whole text, front matter included.
#[derive(Debug, Default)]
pub(super) struct Spans {
    /// Where the text behind the front matter begins.
    pub(super) body: usize,
    /// Links and images, and definitions of links.
    pub(super) links: Vec<Link>,
    /// `[[links]]`.
    pub(super) wiki_links: Vec<WikiLink>,
    /// `memory://` addresses in plain text.
    pub(super) addresses: Vec<Range<usize>>,
    /// Code inside of a line, with its backticks.
    pub(super) code: Vec<Range<usize>>,
    /// Code, HTML and comments of every kind, in order.
    not_text: Vec<(Range<usize>, NotText)>,
    /// Where a heading begins, and what it says.
    pub(super) headings: Vec<(usize, String)>,
}

/// What is no text of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotText {
    Code,
    Html,
}

/// A link or an image.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Where its target is written; the whole link where that cannot be told.
    pub(super) range: Range<usize>,
    /// Where it leads, entities and backslashes resolved.
    pub(super) target: String,
}

/// A `[[link]]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WikiLink {
    /// Where it stands, with its brackets.
    pub(super) range: Range<usize>,
    /// What stands inside.
    pub(super) inner: String,
    /// Whether it shows what it leads to: `![[image.png]]`.
    pub(super) is_embed: bool,
}

impl Spans {
    /// Reads a text.
    pub(super) fn of(text: &str) -> Spans {
        let unmarked = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (_, body) = front_matter::split(unmarked);
        let mut reader = Reader::new(text, body, text.len() - body.len());
        let mut events = Parser::new_ext(body, Options::empty()).into_offset_iter();
        for (event, range) in events.by_ref() {
            reader.take(event, range);
        }
        let definitions = events.reference_definitions();
        for (label, definition) in definitions.iter() {
            // To CommonMark a footnote is the definition of a link.
            if !label.starts_with('^') {
                reader.add_link(definition.span.clone(), &definition.dest);
            }
        }
        reader.finish()
    }

    /// Whether a byte is outside of code, HTML and comments.
    pub(super) fn is_text(&self, at: usize) -> bool {
        self.not_text_at(at).is_none()
    }

    /// Whether a byte is inside of code.
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
    body: &'t str,
    offset: usize,
    spans: Spans,
    /// The text of the block, byte for byte where it stands in the body; NUL where nothing of it is.
    block: Vec<u8>,
    /// Where the block begins in the body.
    block_start: usize,
    /// From where on the body is not yet copied; `None` at the start of a line.
    cursor: Option<usize>,
    end: usize,
    heading: Option<(usize, String)>,
    inside_code_or_html: bool,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, body: &'t str, offset: usize) -> Reader<'t> {
        let spans = Spans { body: offset, ..Spans::default() };
        Reader {
            text,
            body,
            offset,
            spans,
            block: Vec::new(),
            block_start: 0,
            cursor: None,
            end: 0,
            heading: None,
            inside_code_or_html: false,
        }
    }

    fn take(&mut self, event: Event<'_>, range: Range<usize>) {
        if markdown::is_block_border(&event) {
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
                    self.heading = Some((range.start + self.offset, String::new()));
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
        self.take_inline(&event, &range);
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
        range.start + self.offset..range.end + self.offset
    }

    /// Takes the text of a block as it is written, without code, HTML and the marks of quotes and lists around it.
    fn take_inline(&mut self, event: &Event<'_>, range: &Range<usize>) {
        if let Event::End(_) = event {
            // Speaks of the whole element again, from its beginning on.
            self.end = self.end.max(range.end);
            return;
        }
        if self.end == 0 {
            self.block_start = range.start;
        }
        let cursor = *self.cursor.get_or_insert(range.start);
        self.end = self.end.max(range.end);
        let (mark, after) = match event {
            Event::SoftBreak | Event::HardBreak => (b"\n", None),
            Event::Code(_) | Event::InlineHtml(_) => (b" ", Some(range.end)),
            _ => return,
        };
        self.copy(cursor..range.start);
        self.fill_up_to(range.start);
        self.block.extend_from_slice(mark);
        self.cursor = after;
    }

    fn copy(&mut self, range: Range<usize>) {
        if let Some(source) = self.body.as_bytes().get(range.clone()) {
            self.fill_up_to(range.start);
            self.block.extend_from_slice(source);
        }
    }

    fn fill_up_to(&mut self, at: usize) {
        let length = at.saturating_sub(self.block_start);
        self.block.resize(length.max(self.block.len()), 0);
    }

    fn end_block(&mut self) {
        if let Some(cursor) = self.cursor.take() {
            self.copy(cursor..self.end);
        }
        self.end = 0;
        // Every piece begins and ends between characters, so that this is always text.
        let block = String::from_utf8(std::mem::take(&mut self.block)).unwrap_or_default();
        let start = self.block_start + self.offset;
        let spans = &mut self.spans;
        if memchr::memmem::find(block.as_bytes(), b"[[").is_some() {
            wikilink::find_places(&block, |inner| {
                let range = start + inner.start - 2..start + inner.end + 2;
                let is_embed = block[..inner.start - 2].ends_with('!');
                let inner = block[inner].replace('\0', "");
                if !inner.is_empty() {
                    spans.wiki_links.push(WikiLink { range, inner, is_embed });
                }
            });
        }
        for at in memchr::memmem::find_iter(block.as_bytes(), SCHEME.as_bytes()) {
            let rest = &block[at..];
            let ends = |c: char| c.is_whitespace() || c.is_control() || "()[]<>\"'`|*".contains(c);
            let end = rest.find(ends).unwrap_or(rest.len());
            let address = rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '_', '…']);
            let range = start + at..start + at + address.len();
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

    fn finish(mut self) -> Spans {
        self.end_block();
        self.spans.links.sort_by_key(|link| link.range.start);
        let formulas = formulas(self.text);
        self.spans.links.retain(|link| {
            let next = formulas.partition_point(|formula| formula.end <= link.range.start);
            formulas.get(next).is_none_or(|formula| link.range.start < formula.start)
        });
        self.spans
    }
}

/// Where formulas stand, `$…$` on a line and `$$…$$` over many: what looks like a link in there is none.
fn formulas(text: &str) -> Vec<Range<usize>> {
    let mut formulas = Vec::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'$', &text.as_bytes()[at..]).map(|found| at + found) {
        let (mark, rest) = match text[open..].strip_prefix("$$") {
            Some(rest) => ("$$", rest),
            None => ("$", text[open + 1..].split('\n').next().unwrap_or_default()),
        };
        let start = open + mark.len();
        let opens = mark.len() == 2 || !rest.starts_with(char::is_whitespace);
        // Between two prices stands a blank before the second sign.
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
mod tests {
    use super::*;
    use crate::core::note::Remarks;
    use crate::core::settings::LinkStyle;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[track_caller]
    fn check_links(text: &str, expect: &[&str]) {
        let spans = Spans::of(text);
        let links: Vec<&str> = spans.links.iter().map(|link| link.target.as_str()).collect();
        assert_eq!(links, expect, "{text}");
        for link in &spans.links {
            assert!(text[link.range.clone()].contains(&link.target), "{text}");
        }
    }

    #[test]
    fn links_are_found_with_their_places() {
        check_links("[a](b.md) ![c](d.png \"t\")", &["b.md", "d.png"]);
        check_links("[a][r]\n\n[r]: b.md 'x'\n", &["b.md"]);
        check_links("[a](<b c.md>) <https://x.y>", &["b c.md", "https://x.y"]);
        check_links("[![i](a.png)](b.md)", &["a.png", "b.md"]);
        check_links("`[a](b)` <!-- [a](b) -->\n\n    [a](b)\n\n```\n[a](b)\n[r]: b\n```", &[]);
        check_links("---\nx: '[a](b)'\n---\n[a](c)", &["c"]);
        check_links("[b.md](b.md)", &["b.md"]);
        check_links("a[^1] [b](c.md)\n\n[^1]: note\n", &["c.md"]);
        check_links(
            "$f[k](l)$ costs $5 [a](b.md) or $6\n\n$$\nf[k](m)\n$$\n[c](d.md)",
            &["b.md", "d.md"],
        );
        check_links("$$ [a](b.md)", &["b.md"]);
        assert_eq!(Spans::of("[b.md](b.md)").links[0].range, 7..11);
    }

    #[test]
    fn wiki_links_are_found_with_their_places() {
        let text = "---\na: b\n---\nsee [[x]] and ![[y.png]] `[[z]]`\n> [[two\n> lines]]";
        let spans = Spans::of(text);
        let found: Vec<(&str, &str, bool)> = spans
            .wiki_links
            .iter()
            .map(|link| (&text[link.range.clone()], link.inner.as_str(), link.is_embed))
            .collect();
        assert_eq!(
            found,
            [
                ("[[x]]", "x", false),
                ("[[y.png]]", "y.png", true),
                ("[[two\n> lines]]", "two\nlines", false)
            ]
        );
    }

    #[test]
    fn addresses_are_found_in_plain_text_alone() {
        let text = "At memory://docs/a, (memory://docs/b) `memory://docs/c` [x](memory://docs/d).";
        let spans = Spans::of(text);
        let found: Vec<&str> = spans.addresses.iter().map(|range| &text[range.clone()]).collect();
        assert_eq!(found, ["memory://docs/a", "memory://docs/b"]);
    }

    #[test]
    fn code_and_comments_are_no_text() {
        let text = "a `b` c <!-- d --> e\n\n```\nf\n```\ng";
        let spans = Spans::of(text);
        let plain: String =
            "abcdefg".chars().filter(|&c| spans.is_text(text.rfind(c).unwrap())).collect();
        assert_eq!(plain, "aceg");
        let code: String =
            "abcdefg".chars().filter(|&c| spans.is_code(text.rfind(c).unwrap())).collect();
        assert_eq!(code, "bf");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn the_index_sees_the_same_links(pieces in prop::collection::vec(prop::sample::select(vec![
            "[[", "]]", "[[a]]", "[", "]", "a", "b c", "\n", "\n\n", "> ", "- ", "`", "```\n", "<!--", "-->", "<b>", "](x)", "(u)", "ä",
            "# ", "    ", "!", "*", "\\", "memory://docs/a", "[r]: u\n", "&amp;", "|", "---\n",
        ]), 0..24)) {
            let text = pieces.concat();
            let spans = Spans::of(&text);
            let mut mentions = BTreeMap::new();
            for link in &spans.wiki_links {
                if let Some(concept) = wikilink::concept(&link.inner, LinkStyle::Maenifold) {
                    *mentions.entry(concept).or_insert(0u32) += 1;
                }
                prop_assert!(text[link.range.clone()].starts_with("[["));
                prop_assert!(text[link.range.clone()].ends_with("]]"));
            }
            let note = markdown::parse(&text, "stem", LinkStyle::Maenifold, Remarks::default());
            prop_assert_eq!(mentions, note.mentions, "{:?}", text);
        }

        #[test]
        fn any_text_can_be_read(text in any::<String>()) {
            Spans::of(&text);
        }
    }
}
