//! Tags of HTML and of components.

use crate::core::text::words::words;

/// A longer one has attributes.
const LONGEST_BARE_BYTES: usize = 200;

/// Elements of HTML that are seen in notes.
pub(in crate::core::quote) static ELEMENTS: [&str; 86] = words(
    "a abbr article aside audio b big blockquote body br button caption center cite code col dd del \
     details div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i \
     iframe img input ins kbd li link main mark meta nav ol p picture pre q s samp script section small \
     source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead \
     title tr track tt u ul var video wbr",
);

/// Whether what stands between `<` and `>` after a text is a tag.
pub(super) fn is_tag(inner: &str, before: &str) -> bool {
    let Some(first) = inner.bytes().next() else { return false };
    match first {
        b'/' | b'!' | b'?' => true,
        b'a'..=b'z' => !is_placeholder(inner) && is_short_or_has_attributes(inner),
        // `Vec<String>` has no component in it.
        b'A'..=b'Z' => {
            let is_name = inner.bytes().all(|byte| byte.is_ascii_alphanumeric());
            !(is_name && before.ends_with(char::is_alphanumeric))
                && is_short_or_has_attributes(inner)
        }
        _ => false,
    }
}

fn is_short_or_has_attributes(inner: &str) -> bool {
    inner.len() < LONGEST_BARE_BYTES || inner.contains("=\"") || inner.contains("={")
}

/// Whether it is an address.
pub(super) fn is_address(inner: &str) -> bool {
    let is_link = inner.starts_with("http") && inner.contains("://");
    let is_mail = inner
        .split_once('@')
        .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !inner.contains('='));
    (is_link || is_mail) && !inner.contains(char::is_whitespace)
}

/// Whether it is a word to be replaced, as in `git checkout <branch>`. Names of components begin with a capital letter.
fn is_placeholder(inner: &str) -> bool {
    let is_part =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-' | b'_' | b'.');
    let name = inner.split(' ').next().unwrap_or(inner);
    inner.starts_with(|c: char| c.is_ascii_lowercase())
        && inner.bytes().all(is_part)
        && !ELEMENTS.contains(&name)
}
