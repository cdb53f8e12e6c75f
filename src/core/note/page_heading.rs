//! The heading that is the title of a page: its first words, and the only heading of its level. Other headings are those of
//! sections, and the page is known by the name of its file.

use pulldown_cmark::{Event, HeadingLevel, Tag};

/// Files that are named for their place in a folder, and not for what they say.
const NAMELESS: [&str; 3] = ["readme", "index", "_index"];

/// What is known about the first heading of a text so far.
#[derive(Debug, Default)]
pub(super) struct PageHeading {
    /// Whether words or a block that is no heading came before it.
    is_late: bool,
    is_paragraph_for_generator: bool,
    /// In how many images the text is.
    n_images: usize,
    first: Option<(HeadingLevel, String)>,
    /// Whether another heading of its level, or of a higher one, came after it.
    has_equals: bool,
}

impl PageHeading {
    /// Takes the beginning or the end of a block, with its source.
    pub(super) fn add_border(&mut self, event: &Event<'_>, source: &str) {
        match event {
            Event::Start(Tag::Paragraph) => {
                self.is_paragraph_for_generator = is_for_generator(source);
            }
            Event::Start(Tag::CodeBlock(_) | Tag::List(_) | Tag::BlockQuote(_)) => {
                self.is_late |= self.first.is_none();
            }
            _ => {}
        }
    }

    /// Enters or leaves an image.
    pub(super) fn add_image(&mut self, is_start: bool) {
        self.n_images = if is_start { self.n_images + 1 } else { self.n_images.saturating_sub(1) };
    }

    /// Takes a piece of a paragraph. That of an image or a badge does not count.
    #[inline]
    pub(super) fn add_words(&mut self, words: &str) {
        if !self.is_late
            && self.first.is_none()
            && !self.is_paragraph_for_generator
            && self.n_images == 0
        {
            self.is_late = words.contains(char::is_alphanumeric);
        }
    }

    pub(super) fn add_heading(&mut self, level: HeadingLevel, text: &str) {
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        match &self.first {
            None => self.first = Some((level, text.to_owned())),
            Some((first, _)) => self.has_equals |= level <= *first,
        }
    }

    /// The title of a page in a file called `stem`.
    pub(super) fn title(self, stem: &str) -> Option<String> {
        let (level, heading) = self.first.filter(|_| !self.is_late)?;
        let is_nameless = || NAMELESS.iter().any(|name| name.eq_ignore_ascii_case(stem));
        // Some authors give every section a heading of the first level, below that of the page.
        let names_page =
            || level == HeadingLevel::H1 && (is_nameless() || is_alike(&heading, stem));
        (!self.has_equals || names_page()).then_some(heading)
    }
}

/// Whether a paragraph speaks to the program that makes pages of a text: `{{< toc >}}`, `{% include x %}`, `import X from 'x'`.
fn is_for_generator(source: &str) -> bool {
    source.starts_with('{') || source.starts_with("import ") && source.contains(" from ")
}

/// Whether two names have the same letters and digits.
fn is_alike(heading: &str, stem: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    letters(heading) == letters(stem)
}
