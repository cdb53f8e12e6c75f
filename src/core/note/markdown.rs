//! Reads a note's markdown: title, sections, links that count, a first sentence. Never fails.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use memchr::memmem;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::core::note::concept::Concept;
use crate::core::note::front_matter::{self, Validity};
use crate::core::note::logseq::{self, PageProperties};
use crate::core::note::page_heading::PageHeading;
use crate::core::note::{Note, Remark, Remarks};
use crate::core::note::{known_names, tag, wikilink};
use crate::core::secrets;
use crate::core::settings::LinkStyle;
use crate::core::text::attributes::without_attributes;
use crate::core::text::bytes::position;
use crate::core::text::for_model;
use crate::core::text::nfc::nfc;
use crate::core::time::Timestamp;

/// A note with more distinct concepts than this gets no edges: their number grows with the square.
///
/// The largest hand-written notes seen have a few hundred; what has more is a generated list, and would tie
/// everything to everything.
pub const MAX_CONCEPTS_FOR_EDGES: usize = 1_000;

/// How long a first sentence may be, in characters.
const EXCERPT_CHARS: usize = 200;
/// Longer titles are cut here: some files mark up their whole text as a heading.
const LONGEST_TITLE_BYTES: usize = 2_000;
/// In so much of a paragraph it is looked for.
const EXCERPT_SOURCE_BYTES: usize = 4_096;

/// The parts of a note's text.
#[derive(Debug, Clone)]
pub struct Parts<'a> {
    pub yaml: &'a str,
    /// The `key:: value` lines at the beginning of a page of Logseq.
    pub properties: &'a str,
    /// What is quoted and searched.
    pub body: Cow<'a, str>,
}

impl<'a> Parts<'a> {
    pub fn of(text: &'a str, style: LinkStyle) -> Parts<'a> {
        let (yaml, body) = match style {
            LinkStyle::Maenifold => front_matter::split(text),
            _ => front_matter::split_any(text),
        };
        let yaml = yaml.unwrap_or_default();
        if style != LinkStyle::Logseq {
            return Parts { yaml, properties: "", body: Cow::Borrowed(body) };
        }
        let (properties, body) = logseq::split(body);
        Parts { yaml, properties, body: logseq::without_properties_of_program(body) }
    }
}

/// Reads the text of a file called `stem`.
pub fn parse(text: &str, stem: &str, style: LinkStyle, remarks: Remarks) -> Note {
    parse_parts(&Parts::of(text, style), stem, style, remarks)
}

/// Reads the parts of a file called `stem`.
pub fn parse_parts(parts: &Parts<'_>, stem: &str, style: LinkStyle, mut remarks: Remarks) -> Note {
    let (mut meta, validity) = match style {
        LinkStyle::Maenifold => front_matter::parse(parts.yaml),
        _ => front_matter::parse_any(parts.yaml),
    };
    if validity == Validity::Broken {
        remarks.add(Remark::BrokenFrontMatter);
    }
    let mut outline = read_outline(&parts.body, style);
    if !parts.properties.is_empty() {
        let page = PageProperties::parse(parts.properties);
        outline.count_properties(parts.properties, &page.tags, style);
        meta.title = page.title.or(meta.title);
        meta.aliases.extend(page.aliases);
        meta.tags.extend(page.tags);
        meta.description = page.description.or(meta.description);
    }
    if outline.mentions.len() > MAX_CONCEPTS_FOR_EDGES {
        remarks.add(Remark::TooManyConcepts);
    }
    if style != LinkStyle::Maenifold {
        meta.aliases.iter_mut().for_each(|alias| *alias = nfc(alias).into_owned());
    }
    let title = titled(meta.title.take(), &mut outline, stem, style, &mut meta.aliases);
    Note {
        title,
        aliases: meta.aliases,
        tags: meta.tags,
        created: meta.created.as_deref().and_then(Timestamp::parse),
        modified: meta.modified.as_deref().and_then(Timestamp::parse),
        status: meta.status,
        description: match style {
            // maenifold knows no such key.
            LinkStyle::Maenifold => String::new(),
            _ => meta.description.as_deref().map(one_line).unwrap_or_default(),
        },
        sections: outline.sections,
        mentions: outline.mentions,
        excerpt: first_sentence(&outline.first_paragraph),
        remarks,
    }
}

/// The title that the program of a style shows. A title of the front matter that it does not show is another name.
fn titled(
    written: Option<String>,
    outline: &mut Outline,
    stem: &str,
    style: LinkStyle,
    aliases: &mut Vec<String>,
) -> String {
    let written = written.map(|title| one_line(&title));
    let title = match style {
        LinkStyle::Obsidian => {
            aliases.extend(written.filter(|title| title != stem && !aliases.contains(title)));
            None
        }
        LinkStyle::Logseq => written,
        LinkStyle::Maenifold => written.or(outline.first_heading.take()),
        LinkStyle::Dendron | LinkStyle::Plain => {
            written.or_else(|| std::mem::take(&mut outline.page_heading).title(stem))
        }
    };
    let title = title.filter(|title| !title.is_empty());
    let title = title.map(|title| shortened(title, LONGEST_TITLE_BYTES));
    match (title, style) {
        (Some(title), LinkStyle::Maenifold) => title,
        (Some(title), _) => nfc(&title).into_owned(),
        (None, LinkStyle::Maenifold) => stem.to_owned(),
        (None, LinkStyle::Logseq) => logseq::page_title(&nfc(stem)),
        (None, _) => nfc(stem).into_owned(),
    }
}

/// What the markdown itself says.
#[derive(Default)]
struct Outline {
    /// The title in maenifold's memory.
    first_heading: Option<String>,
    /// The title elsewhere.
    page_heading: PageHeading,
    sections: Vec<String>,
    mentions: BTreeMap<Concept, u32>,
    first_paragraph: String,
}

impl Outline {
    /// Counts the concepts that a text names.
    fn count(&mut self, text: &str, style: LinkStyle) {
        wikilink::find_links(text, |inner| self.count_name(inner, style));
        if style == LinkStyle::Logseq {
            tag::find_tags(text, |tag| self.count_name(tag, style));
        }
    }

    fn add_heading(&mut self, (level, text): (HeadingLevel, String), style: LinkStyle) {
        let text = one_line(match style {
            LinkStyle::Maenifold => &text,
            _ => without_attributes(&text),
        });
        self.page_heading.add_heading(level, &text);
        if self.first_heading.is_none() {
            self.first_heading = Some(text.clone());
        }
        if level == HeadingLevel::H2 {
            self.sections.push(text);
        }
    }

    fn count_name(&mut self, inner: &str, style: LinkStyle) {
        if let Some(concept) = known_names::concept(inner, style) {
            *self.mentions.entry(concept).or_insert(0) += 1;
        }
    }

    /// Counts the links of a page's properties, and its tags, which need not be written as links.
    fn count_properties(&mut self, properties: &str, tags: &[String], style: LinkStyle) {
        self.count(properties, style);
        for tag in tags {
            if !wikilink::concept(tag, style).is_some_and(|tag| self.mentions.contains_key(&tag)) {
                self.count_name(tag, style);
            }
        }
    }
}

fn read_outline(body: &str, style: LinkStyle) -> Outline {
    let mut outline = Outline::default();
    let has_tags = style == LinkStyle::Logseq && body.contains('#');
    let may_have_links = has_tags || memmem::find(body.as_bytes(), b"[[").is_some();
    let mut run = InlineRun::new(body);
    let mut heading: Option<(HeadingLevel, String)> = None;
    let mut inside_code_or_html = false;
    let mut paragraph_done = false;

    // Plain CommonMark, as maenifold has it: a table's cells are text of a paragraph, and links in them count.
    for (event, range) in Parser::new_ext(body, Options::empty()).into_offset_iter() {
        if is_block_border(&event) {
            // Between two borders there is often nothing.
            if may_have_links
                && let text = run.finish()
                && !text.is_empty()
            {
                outline.count(text, style);
            }
            paragraph_done = paragraph_done || !outline.first_paragraph.trim().is_empty();
            match event {
                Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock) => inside_code_or_html = true,
                Event::End(TagEnd::CodeBlock | TagEnd::HtmlBlock) => inside_code_or_html = false,
                Event::Start(Tag::Heading { level, .. }) => heading = Some((level, String::new())),
                Event::End(TagEnd::Heading(_)) => {
                    heading
                        .take()
                        .into_iter()
                        .for_each(|heading| outline.add_heading(heading, style));
                }
                _ => {}
            }
            outline.page_heading.add_border(&event, &body[range]);
            continue;
        }
        if inside_code_or_html {
            continue;
        }
        if may_have_links {
            run.take(&event, range);
        }
        let words = match &event {
            Event::Text(text) | Event::Code(text) => text,
            Event::SoftBreak | Event::HardBreak => " ",
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => {
                outline.page_heading.add_image(matches!(event, Event::Start(_)));
                continue;
            }
            _ => continue,
        };
        if heading.is_none() {
            outline.page_heading.add_words(words);
        }
        match &mut heading {
            Some((_, text)) => text.push_str(words),
            None if !paragraph_done && outline.first_paragraph.len() < 4 * EXCERPT_CHARS => {
                outline.first_paragraph.push_str(words);
            }
            None => {}
        }
    }
    outline
}

/// Whether an event begins or ends a block, so that no link can reach across it.
pub(crate) fn is_block_border(event: &Event<'_>) -> bool {
    use TagEnd::{Emphasis, Image, Link, Strikethrough, Strong};
    let tag = match event {
        Event::Start(tag) => tag.to_end(),
        Event::End(tag) => *tag,
        _ => return *event == Event::Rule,
    };
    !matches!(tag, Emphasis | Strong | Strikethrough | Link | Image)
}

/// The source text of one paragraph or heading, with code spans and inline HTML blanked. A tag without brackets stays: it
/// can be part of a name, as in `[[<b>x]]`.
///
/// The source and not the parsed text, because the parser swallows brackets that are part of a link, as in
/// `[[a]](b)`. Between a line break and the next event are the marks of quotes and lists around the
/// paragraph, which are not part of it.
pub(crate) struct InlineRun<'a> {
    source: &'a str,
    text: String,
    /// Where each piece of the source begins, in the text and in the source.
    pieces: Vec<(usize, usize)>,
    /// From where on the source is not yet copied; `None` at the start of a line.
    cursor: Option<usize>,
    end: usize,
}

impl<'a> InlineRun<'a> {
    pub(crate) fn new(source: &'a str) -> Self {
        InlineRun { source, text: String::new(), pieces: Vec::new(), cursor: None, end: 0 }
    }

    pub(crate) fn take(&mut self, event: &Event<'_>, range: Range<usize>) {
        if let Event::End(_) = event {
            // Speaks of the whole element again, from its beginning on.
            self.end = self.end.max(range.end);
            return;
        }
        let cursor = *self.cursor.get_or_insert_with(|| {
            if self.end == 0 {
                self.text.clear();
                self.pieces.clear();
            }
            range.start
        });
        self.end = self.end.max(range.end);
        let after = match event {
            Event::SoftBreak | Event::HardBreak => None,
            Event::InlineHtml(html) if !html.contains(['[', ']']) && !html.starts_with("<!") => {
                return;
            }
            Event::Code(_) | Event::InlineHtml(_) => Some(range.end),
            _ => return,
        };
        self.copy(cursor..range.start);
        // Blanks around the end of a line, and code there, are no part of a name.
        if after.is_none() {
            self.text.truncate(self.text.trim_end_matches([' ', '\t']).len());
            // A piece of nothing but these blanks is no longer there, and places need the order of the others.
            self.pieces
                .truncate(self.pieces.partition_point(|(start, _)| *start <= self.text.len()));
            self.text.push('\n');
        } else if !self.text.ends_with('\n') {
            self.text.push(' ');
        }
        self.cursor = after;
    }

    /// Ends the paragraph, returns its text and makes ready for the next one.
    pub(crate) fn finish(&mut self) -> &str {
        match self.cursor.take() {
            Some(cursor) => self.copy(cursor..self.end),
            None if self.end == 0 => self.text.clear(),
            None => {}
        }
        self.end = 0;
        &self.text
    }

    fn copy(&mut self, piece: Range<usize>) {
        let mut text = self.source.get(piece.clone()).unwrap_or_default();
        if self.text.ends_with('\n') {
            text = text.trim_start_matches([' ', '\t']);
        }
        self.pieces.push((self.text.len(), piece.end - text.len()));
        self.text.push_str(text);
    }

    /// The text of the paragraph that was ended last.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The place in the source of a byte of that text.
    pub(crate) fn place(&self, at: usize) -> usize {
        let next = self.pieces.partition_point(|(start, _)| *start <= at);
        let (start, source) = next.checked_sub(1).map_or((0, 0), |n| self.pieces[n]);
        source + at - start
    }
}

fn shortened(mut text: String, bytes: usize) -> String {
    text.truncate(text.floor_char_boundary(bytes));
    text
}

fn one_line(text: &str) -> String {
    // Most text is so already.
    let has_other = position(text.as_bytes(), |byte| !matches!(byte, b' '..=b'~')).is_some();
    if !has_other && !text.contains("  ") && !text.starts_with(' ') && !text.ends_with(' ') {
        return text.to_owned();
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Cuts a text after its first sentence, or at a word's end where that is too long.
///
/// Secrets are masked before: half of one could not be told from other text any more.
fn first_sentence(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(EXCERPT_SOURCE_BYTES)];
    // Characters that cannot be seen could hide a secret; plain text has none of them.
    let text = if text.is_ascii() {
        secrets::mask(&one_line(text)).into_owned()
    } else {
        for_model::one_line(text)
    };
    let sentence_end =
        text.match_indices(['.', '!', '?', '。']).map(|(at, mark)| at + mark.len()).find(|&end| {
            text[end..].is_empty() || text[end..].starts_with(' ') || text[..end].ends_with('。')
        });
    let sentence = &text[..sentence_end.unwrap_or(text.len())];
    match sentence.char_indices().nth(EXCERPT_CHARS) {
        None => sentence.to_owned(),
        Some((limit, _)) => {
            let cut = sentence[..limit].rfind(' ').unwrap_or(limit);
            format!("{}…", &sentence[..cut])
        }
    }
}

#[cfg(test)]
mod tests;
