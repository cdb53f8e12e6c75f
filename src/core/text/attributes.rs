//! Lists of attributes, as several dialects of markdown have them: `{#id .class key="value"}`, `{: .lead}`.

/// A longer one is text.
const LONGEST_BYTES: usize = 300;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AttributeList {
    /// Its length in bytes.
    pub(crate) len: usize,
    /// Whether it has an id or a class. Other things have pairs in braces, too.
    pub(crate) has_mark: bool,
}

impl AttributeList {
    /// The list with which a text begins.
    pub(crate) fn at_start_of(text: &str) -> Option<AttributeList> {
        let inner = text.strip_prefix('{')?;
        let near = &inner[..inner.floor_char_boundary(LONGEST_BYTES)];
        let end = near.find('}')?;
        let items = near[..end].trim();
        let items = items.strip_prefix(':').unwrap_or(items);
        let has_mark = has_mark(items)?;
        Some(AttributeList { len: end + 2, has_mark })
    }
}

/// A heading without the list at its end.
pub(crate) fn without_attributes(heading: &str) -> &str {
    let text = heading.trim_end();
    let Some(at) = text.strip_suffix('}').and_then(|text| text.rfind('{')) else { return heading };
    let title = text[..at].trim_end();
    match AttributeList::at_start_of(&text[at..]) {
        Some(list) if at + list.len == text.len() && !title.is_empty() => title,
        _ => heading,
    }
}

/// Whether one of the items is an id or a class; `None` if one is no attribute.
fn has_mark(mut items: &str) -> Option<bool> {
    let mut has_mark = None;
    loop {
        items = items.trim_start();
        if items.is_empty() {
            return has_mark;
        }
        let end = items.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(items.len());
        let (name, rest) = items.split_at(end);
        let marked = name.strip_prefix('#').or_else(|| {
            name.strip_prefix('.').filter(|class| class.starts_with(char::is_alphabetic))
        });
        if marked.is_some_and(is_name) && !rest.starts_with('=') {
            (has_mark, items) = (Some(true), rest);
            continue;
        }
        let value = rest.strip_prefix('=').filter(|_| is_name(name))?;
        items = after_value(value)?;
        has_mark = has_mark.or(Some(false));
    }
}

fn after_value(value: &str) -> Option<&str> {
    if let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let inner = &value[1..];
        return inner.find(quote).map(|end| &inner[end + 1..]);
    }
    let end = value.find(char::is_whitespace).unwrap_or(value.len());
    (end > 0 && !value[..end].contains(',')).then(|| &value[end..])
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_at_the_end_of_headings_are_left_out() {
        #[track_caller]
        fn check(heading: &str, expect: &str) {
            assert_eq!(without_attributes(heading), expect, "{heading}");
        }
        check("Quick start {#quick-start}", "Quick start");
        check("Quick start { #quick-start .lead }", "Quick start");
        check("Quick start{#quick-start}", "Quick start");
        check("Setup {: #setup }", "Setup");
        check("Setup { id=\"x\" data-toc-label='a b' }", "Setup");
        check("はじめに {#はじめに}", "はじめに");
        for heading in [
            "The {#if} block of Svelte {#if x}",
            "{#only}",
            "Sets such as {a, b}",
            "A pair {:ok, x}",
            "Template {{ name }}",
            "f(x) = {x}",
            "A point {.5}",
            "Open {#brace",
            "",
        ] {
            check(heading, heading);
        }
    }

    #[test]
    fn pairs_alone_are_no_mark() {
        let list = |text: &str| AttributeList::at_start_of(text);
        assert_eq!(list("{a=b} c"), Some(AttributeList { len: 5, has_mark: false }));
        assert_eq!(list("{.a b=c}"), Some(AttributeList { len: 8, has_mark: true }));
        assert_eq!(list("{x=1, y=2}"), None);
        assert_eq!(list(&format!("{{#{}}}", "a".repeat(400))), None);
    }
}
