//! Code within a line, between backticks.

/// It ends near its beginning: looking through the rest of a hostile line for each would take for ever.
const LONGEST_BYTES: usize = 2_048;

/// Code with which a text begins.
pub(super) struct InlineCode<'a> {
    pub(super) code: &'a str,
    /// The length in bytes, with all backticks.
    pub(super) len: usize,
    pub(super) after: &'a str,
}

impl<'a> InlineCode<'a> {
    pub(super) fn at_start_of(text: &'a str) -> Option<InlineCode<'a>> {
        let n_marks = n_leading(text.as_bytes());
        let inner = &text[n_marks..];
        let near = &inner.as_bytes()[..inner.len().min(LONGEST_BYTES)];
        let mut from = 0;
        loop {
            let at = from + memchr::memchr(b'`', &near[from..])?;
            let n = n_leading(&near[at..]);
            if n == n_marks {
                let len = n_marks + at + n;
                return Some(InlineCode { code: &inner[..at], len, after: &text[len..] });
            }
            from = at + n;
        }
    }
}

/// Whether Dataview replaces code by a value.
pub(super) fn is_query(code: &str) -> bool {
    code.starts_with("$=")
        || code.strip_prefix('=').is_some_and(|query| {
            let query = query.trim_start();
            query.starts_with("this.") || query.starts_with("[[")
        })
}

fn n_leading(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b'`').count()
}
