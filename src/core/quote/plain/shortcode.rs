//! Shortcodes: what a generator of sites or a plugin replaces, such as `{{< figure >}}`, `{% include %}`, `{{ version }}`.

/// A longer one is text.
const LONGEST_BYTES: usize = 1_024;
/// In this order: `{{` begins others, too.
const DELIMITERS: [(&str, &str); 4] = [("{{<", ">}}"), ("{{%", "%}}"), ("{%", "%}"), ("{{", "}}")];
/// Macros whose words nobody reads.
const MACROS: [&str; 9] =
    ["embed", "function", "pdf", "query", "renderer", "tweet", "twitter", "video", "youtube"];

/// A shortcode at the beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::core::quote) struct Shortcode<'a> {
    /// Its length in bytes.
    pub(in crate::core::quote) len: usize,
    /// The words that stand in its place.
    pub(in crate::core::quote) shown: &'a str,
}

impl<'a> Shortcode<'a> {
    pub(in crate::core::quote) fn at_start_of(text: &'a str) -> Option<Shortcode<'a>> {
        let (first, last) = *DELIMITERS.iter().find(|(first, _)| text.starts_with(first))?;
        let near = &text[..text.floor_char_boundary(LONGEST_BYTES)];
        let end = first.len() + near[first.len()..].find(last)?;
        let inner = text[first.len()..end].trim();
        let shown = match first {
            "{%" => "",
            "{{" => shown_by_macro(inner),
            _ => attribute(inner, "text=\"").unwrap_or_default(),
        };
        Some(Shortcode { len: end + last.len(), shown })
    }
}

fn shown_by_macro(inner: &str) -> &str {
    let (name, words) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    match name {
        "cloze" => words.trim(),
        name if MACROS.contains(&name) || inner.starts_with("/*") || is_variable(inner) => "",
        _ => inner,
    }
}

/// Whether it is `page.title`, whose value nobody knows here.
fn is_variable(inner: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    inner.bytes().all(is_name)
        && inner.split_once('.').is_some_and(|(object, field)| {
            object.bytes().all(|byte| !byte.is_ascii_digit())
                && field.starts_with(|c: char| c.is_ascii_alphabetic())
        })
}

fn attribute<'a>(inner: &'a str, name: &str) -> Option<&'a str> {
    inner.split_once(name)?.1.split_once('"').map(|(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortcode_shows_words_or_nothing() {
        #[track_caller]
        fn check(text: &str, shown: Option<&str>) {
            assert_eq!(Shortcode::at_start_of(text).map(|code| code.shown), shown, "{text}");
        }
        check("{{< ref \"x\" >}}", Some(""));
        check("{{< tooltip text=\"a node\" id=\"n\" >}} runs", Some("a node"));
        check("{{% /alert %}}", Some(""));
        check("{% include x.html %} y", Some(""));
        check("{{ version }} y", Some("version"));
        check("{{ v1.2 }} y", Some("v1.2"));
        check("{{fm.title}} is a command", Some(""));
        check("{{ .Site.Title }} y", Some(""));
        check("{{query (and [[a]])}}", Some(""));
        check("{{cloze the answer}}", Some("the answer"));
        check("{{ never closed", None);
        check("{a, b}", None);
        check("text {{ x }}", None);
    }
}
