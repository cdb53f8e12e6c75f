//! Marks of emphasis: `*one*`, `**two**`, `_one_`, `==two==`, `~~two~~`. The same characters are operators and parts of names
//! elsewhere.

/// A mark is closed near it: looking through the rest of a hostile line for each would take for ever.
const LONGEST_BYTES: usize = 2_048;
/// More underscores are a line to write on.
const MOST_MARKS: usize = 3;

/// A run of one of the characters, between two texts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    mark: u8,
    pub(super) len: usize,
    before: &'a str,
    pub(super) after: &'a str,
}

impl<'a> Run<'a> {
    /// The run with which the rest of a line begins.
    pub(super) fn at_start_of(rest: &'a str, before: &'a str) -> Run<'a> {
        let mark = rest.as_bytes()[0];
        let len = n_leading(rest, mark);
        Run { mark, len, before, after: &rest[len..] }
    }

    /// How much of the line is left where the emphasis ends that it begins, if it begins one.
    pub(super) fn left_at_end(self) -> Option<usize> {
        if !self.can_open() {
            return None;
        }
        let near = &self.after[..self.after.floor_char_boundary(LONGEST_BYTES)];
        let mut from = 0;
        while let Some(at) = memchr::memchr(self.mark, &near.as_bytes()[from..]) {
            let at = from + at;
            let len = n_leading(&near[at..], self.mark);
            let end = Run { before: &near[..at], after: &near[at + len..], len, ..self };
            if len == self.len && end.can_close() {
                return Some(self.after.len() - at);
            }
            from = at + len;
        }
        None
    }

    /// Whether it is half of an emphasis that goes over several lines.
    pub(super) fn is_half(self) -> bool {
        let is_apart = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let (before, after) = (self.before.chars().next_back(), self.after.chars().next());
        let is_pair = matches!(self.mark, b'*' | b'~') && self.len == 2;
        let begins = is_apart(before) && after.is_some_and(|c| c.is_alphanumeric() || c == '[');
        let ends = before
            .is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '!' | '?' | ':' | ')'))
            && after.is_none_or(|c| c.is_whitespace() || matches!(c, '.' | ',' | ':' | ';' | ')'));
        is_pair && (begins || ends)
    }

    fn can_open(self) -> bool {
        let has_length = match self.mark {
            b'=' | b'~' => self.len == 2,
            _ => self.len <= MOST_MARKS,
        };
        let is_in_name = self.before.ends_with(|c: char| match self.mark {
            b'_' => c.is_alphanumeric() || matches!(c, '/' | '.'),
            _ => c == '/' || self.len == 1 && (c.is_ascii_alphanumeric() || c == '.'),
        });
        let Some(next) = self.after.chars().next() else { return false };
        // What follows in `*.rs` and `a *= 2`.
        let is_operator = self.mark != b'_'
            && match self.len {
                1 => {
                    next.is_ascii_punctuation()
                        && !matches!(
                            next,
                            '[' | '(' | '"' | '\'' | '`' | '_' | '<' | '~' | '$' | '&' | '@' | '#'
                        )
                }
                _ => matches!(next, '/' | ',' | ';' | ')' | ']' | '}' | '>' | '|' | '='),
            };
        has_length && !is_in_name && !is_operator && !next.is_whitespace()
    }

    fn can_close(self) -> bool {
        let Some(last) = self.before.chars().next_back() else { return false };
        let is_in_name = match self.mark {
            // `__init__.py` is a name.
            b'_' => {
                let after = self.after.strip_prefix(['.', '(', '/']).unwrap_or(self.after);
                after.starts_with(char::is_alphanumeric)
            }
            // So is `src/**/*.rs`.
            _ => {
                matches!(last, '(' | '[' | '{' | '<' | '\\')
                    || last == '/' && (self.len == 1 || self.after.starts_with('/'))
                    || self.len == 1 && self.after.starts_with(|c: char| c.is_ascii_alphanumeric())
            }
        };
        !last.is_whitespace() && !is_in_name
    }
}

fn n_leading(text: &str, mark: u8) -> usize {
    text.bytes().take_while(|&byte| byte == mark).count()
}
