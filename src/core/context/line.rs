//! Writes a candidate as one line of markdown, shortened to the available room.

use std::cell::OnceCell;

use crate::core::context::candidate::{Line, quoted_name};
use crate::core::quote::passage::n_words;
use crate::core::text::for_model;

/// A shorter piece of a description carries no information.
const LEAST_CHARS: usize = 20;
/// Longer runs without a blank are cut anywhere: some scripts have no blanks, and some runs are not words.
const LONGEST_WORD_CHARS: usize = 24;

/// A line in all its lengths: extent 0 is the shortest, [`Forms::most`] the whole line.
pub struct Forms<'a> {
    line: &'a Line,
    /// The byte offsets at which the name and the description can end. Lazy, because most lines are never cut.
    cuts: OnceCell<(Vec<usize>, Vec<usize>)>,
}

impl<'a> Forms<'a> {
    pub fn of(line: &'a Line) -> Forms<'a> {
        Forms { line, cuts: OnceCell::new() }
    }

    /// The cut offsets of the name and of the description. A title can be cut because the note's address follows; the
    /// name of a concept cannot.
    fn cuts(&self) -> (&[usize], &[usize]) {
        let (name, description) = self.cuts.get_or_init(|| match self.line {
            Line::Described { name, description, .. } if name.starts_with("[[") => {
                (Vec::new(), cuts(description))
            }
            Line::Described { name, description, .. } => (cuts(name), cuts(description)),
            Line::Quoted { quote, .. } => (Vec::new(), cuts(quote)),
            Line::Connected { .. } => (Vec::new(), Vec::new()),
        });
        (name, description)
    }

    /// The extent of the whole line.
    pub fn most(&self) -> usize {
        match self.line {
            Line::Described { description, .. } => {
                let (of_name, of_description) = self.cuts();
                let of_description =
                    if description.is_empty() { 0 } else { of_description.len() + 1 };
                of_name.len() + of_description
            }
            Line::Quoted { .. } => self.cuts().1.len(),
            Line::Connected { to, .. } => to.len().saturating_sub(1),
        }
    }

    /// The extent of the line with all that could be quoted; that of the whole line if there is no more.
    pub fn longest(&self) -> usize {
        match self.line {
            Line::Quoted { quote, passage, .. } => {
                self.most() + passage.n_words().saturating_sub(n_words(quote))
            }
            _ => self.most(),
        }
    }

    /// The line at an extent, with its line break.
    pub fn text(&self, extent: usize) -> String {
        match self.line {
            Line::Described { name, description, .. } => {
                let (of_name, of_description) = self.cuts();
                if let Some(&cut) = of_name.get(extent) {
                    return self.described(&format!("{}…", &name[..cut]), None, "");
                }
                match (extent - of_name.len()).checked_sub(1).map(|n| of_description.get(n)) {
                    None => self.described(name, None, ""),
                    Some(Some(&cut)) => self.described(name, Some(&description[..cut]), "…"),
                    Some(None) => self.whole(),
                }
            }
            Line::Quoted { name, title, quote, passage } => {
                let name = labelled(name, title);
                let (_, of_quote) = self.cuts();
                match extent.checked_sub(of_quote.len()) {
                    None => format!("- {name} {}…\n", &quote[..of_quote[extent]]),
                    Some(0) => self.whole(),
                    Some(longer) => {
                        let longer = passage.first(n_words(quote) + longer);
                        format!("- {name} {}\n", for_model::one_line(&longer))
                    }
                }
            }
            Line::Connected { concept, to } => {
                let around: Vec<String> =
                    to.iter().take(extent + 1).map(|link| linked(link.concept.as_str())).collect();
                format!("- {} → {}\n", linked(concept.as_str()), around.join(", "))
            }
        }
    }

    /// The line at an extent, or the whole line for `None`.
    pub fn shown(&self, extent: Option<usize>) -> String {
        extent.map_or_else(|| self.whole(), |extent| self.text(extent))
    }

    pub fn whole(&self) -> String {
        match self.line {
            Line::Described { name, description, .. } => {
                let description = Some(description.as_str()).filter(|text| !text.is_empty());
                self.described(name, description, "")
            }
            Line::Quoted { name, title, quote, .. } => {
                if quote.is_empty() {
                    format!("- {}\n", quoted_name(name, title))
                } else {
                    format!("- {} {quote}\n", labelled(name, title))
                }
            }
            Line::Connected { .. } => self.text(self.most()),
        }
    }

    fn described(&self, name: &str, description: Option<&str>, mark: &str) -> String {
        let Line::Described { uri, .. } = self.line else { return String::new() };
        let mut text = format!("- {name}");
        if let Some(description) = description {
            text.extend([" - ", description, mark]);
        }
        if !uri.is_empty() {
            text.extend([" (", uri, ")"]);
        }
        text.push('\n');
        text
    }
}

/// The name of a quoted note before its quote. A title that ends with a mark needs no other.
fn labelled(name: &str, title: &str) -> String {
    let colon = if title.ends_with([':', '?', '!', '…', '：', '？', '！']) { "" } else { ":" };
    quoted_name(name, title) + colon
}

/// A concept as a wikilink.
pub fn linked(concept: &str) -> String {
    format!("[[{}]]", for_model::one_line(concept))
}

/// The offsets at which a description can end: after a word, never inside brackets, never before a mark that belongs
/// to the preceding character.
fn cuts(description: &str) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut open_brackets = 0usize;
    let mut word_chars = 0;
    for (n, (at, c)) in description.char_indices().enumerate() {
        let is_blank = c == ' ';
        let inside_run = word_chars >= LONGEST_WORD_CHARS || !c.is_ascii() && c.is_alphabetic();
        if n >= LEAST_CHARS
            && open_brackets == 0
            && (is_blank || inside_run && !belongs_to_the_character_before(c))
            && !description[..at].ends_with([' ', '\u{200d}'])
        {
            cuts.push(at);
        }
        word_chars = if is_blank { 0 } else { word_chars + 1 };
        match c {
            '[' => open_brackets += 1,
            ']' => open_brackets = open_brackets.saturating_sub(1),
            _ => {}
        }
    }
    cuts
}

/// Whether a character only modifies the preceding one: joiners, variation selectors, skin tones, combining marks.
fn belongs_to_the_character_before(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}'..='\u{e4e}'
        | '\u{200c}' | '\u{200d}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{fe20}'..='\u{fe2f}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::context::found::Link;
    use crate::core::note::concept::Concept;
    use crate::core::quote::passage::Passage;

    fn described(description: &str) -> Line {
        Line::Described {
            name: "[[a]]".to_owned(),
            description: description.to_owned(),
            uri: "memory://a".to_owned(),
        }
    }

    #[test]
    fn a_title_with_a_mark_at_its_end_gets_no_colon() {
        for (title, expect) in [
            ("", "- memory://a: So it is.\n"),
            ("The mast", "- memory://a The mast: So it is.\n"),
            ("Why a == b?", "- memory://a Why a == b? So it is.\n"),
        ] {
            let (name, quote) = ("memory://a".to_owned(), "So it is.".to_owned());
            let passage = Passage::default();
            let line = Line::Quoted { name, title: title.to_owned(), quote, passage };
            assert_eq!(Forms::of(&line).whole(), expect);
        }
    }

    #[test]
    fn a_description_is_shortened_word_by_word() {
        let line = described("Turns vector data into tiles, at once.");
        let forms = Forms::of(&line);
        let all: Vec<String> = (0..=forms.most()).map(|extent| forms.text(extent)).collect();
        assert_eq!(
            all,
            [
                "- [[a]] (memory://a)\n",
                "- [[a]] - Turns vector data into… (memory://a)\n",
                "- [[a]] - Turns vector data into tiles,… (memory://a)\n",
                "- [[a]] - Turns vector data into tiles, at… (memory://a)\n",
                "- [[a]] - Turns vector data into tiles, at once. (memory://a)\n",
            ]
        );
    }

    #[test]
    fn nothing_is_cut_inside_of_brackets_or_characters() {
        let line = described("A key that is hidden: [masked: aws-access-key] and more");
        let forms = Forms::of(&line);
        for extent in 0..=forms.most() {
            let text = forms.text(extent);
            assert_eq!(text.matches('[').count(), text.matches(']').count(), "{text}");
        }
        let family = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa👩\u{200d}👩\u{200d}👧e\u{301}";
        for cut in cuts(family) {
            let rest = family[cut..].chars().next().unwrap();
            assert!(!belongs_to_the_character_before(rest));
            assert!(!family[..cut].ends_with('\u{200d}'));
        }
        assert!(cuts("日本語の文は空白なしで書かれるので、どこでも切ることができる。").len() > 5);
    }

    #[test]
    fn connections_lose_their_weakest_first() {
        let link = |name: &str| Link { concept: Concept::parse(name).unwrap(), notes: 1 };
        let line = Line::Connected { concept: link("a").concept, to: vec![link("b"), link("c")] };
        let forms = Forms::of(&line);
        assert_eq!(forms.text(0), "- [[a]] → [[b]]\n");
        assert_eq!(forms.whole(), "- [[a]] → [[b]], [[c]]\n");
    }
}
