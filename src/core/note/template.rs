//! Templates of notes, told by their names, and where a name can be that of a page about templates, by their placeholders.

use crate::core::text::bytes::position;
use crate::core::text::words::words;

const TEMPLATE: &str = "template";
/// A shorter name has no room for that word.
const LEAST_BYTES: usize = TEMPLATE.len();
/// What templates are of, in names that nobody gives to another page.
const KINDS: [&str; 18] = words(
    "adr rfc rfd kep tep pep pull request pr mr merge issue bug feature decision record proposal postmortem",
);
/// A text with fewer placeholders is a page.
const LEAST_PLACEHOLDERS: usize = 2;
const LONGEST_PLACEHOLDER: usize = 60;
const FOLDERS: [&str; 3] = words("templates _templates template");

/// Whether a folder is called like one of templates.
pub(super) fn is_named_folder(name: &str) -> bool {
    FOLDERS.iter().any(|template| template.eq_ignore_ascii_case(name))
}

/// Whether the name of a file says that it is a template, and cannot say anything else: `template`, `adr-template`,
/// `0000-template`.
pub(super) fn is_named(stem: &str) -> bool {
    ends_like_template(stem) && {
        let mut parts = parts(stem).peekable();
        parts.peek().is_some() && parts.all(|part| is_template(part) || is_kind(part))
    }
}

/// Whether a text is a template: one that may be called so, or lies in a folder of templates, and has placeholders.
pub(super) fn is_template_text(path: &str, text: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let may_be =
        ends_like_template(stem) || !folders.is_empty() && folders.split('/').any(is_named_folder);
    may_be && has_placeholders(text)
}

/// Whether a name begins or ends with the word.
fn ends_like_template(stem: &str) -> bool {
    stem.len() >= LEAST_BYTES && {
        let bytes = stem.as_bytes();
        // The word is rare, and most names differ in the first byte that is looked at.
        let is_there = |part: &[u8]| part.eq_ignore_ascii_case(TEMPLATE.as_bytes());
        (is_there(&bytes[..LEAST_BYTES]) || is_there(&bytes[bytes.len() - LEAST_BYTES..]))
            && [parts(stem).next(), parts(stem).last()].into_iter().flatten().any(is_template)
    }
}

/// The words of a name, without numbers.
fn parts(stem: &str) -> impl Iterator<Item = &str> {
    stem.split(|c: char| !c.is_alphabetic()).filter(|part| !part.is_empty())
}

fn is_template(part: &str) -> bool {
    part.eq_ignore_ascii_case(TEMPLATE)
}

fn is_kind(part: &str) -> bool {
    KINDS.iter().any(|kind| kind.eq_ignore_ascii_case(part))
        || part.chars().all(|c| matches!(c, 'N' | 'X' | 'x'))
}

/// Whether a text has placeholders outside of code: `{{title}}`, `<your name>`, `[short title]`, `YYYY-MM-DD`.
fn has_placeholders(text: &str) -> bool {
    let mut is_code = false;
    let mut n = 0;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            n += placeholders(line);
        }
        if n >= LEAST_PLACEHOLDERS {
            return true;
        }
    }
    false
}

fn placeholders(line: &str) -> usize {
    if line.contains('`') {
        return 0;
    }
    let mut n = usize::from(line.contains("YYYY"));
    let mut from = 0;
    while let Some(at) =
        position(&line.as_bytes()[from..], |byte| matches!(byte, b'{' | b'<' | b'['))
    {
        let open = from + at;
        from = open + 1;
        let (close, most) = match line.as_bytes()[open] {
            b'{' => ('}', LONGEST_PLACEHOLDER),
            b'<' => ('>', LONGEST_PLACEHOLDER),
            _ => (']', LONGEST_PLACEHOLDER),
        };
        let Some(end) = line[from..].find(close).filter(|end| *end <= most) else { continue };
        let (inner, after) = (&line[from..from + end], &line[from + end + 1..]);
        n += usize::from(is_placeholder(inner, close, after));
        from += end;
    }
    n
}

fn is_placeholder(inner: &str, close: char, after: &str) -> bool {
    let is_text = inner.contains(char::is_alphabetic) && !inner.contains(['=', '/', '!']);
    let is_elsewhere = match close {
        // A link, a box, a footnote or the inner bracket of a wiki link.
        ']' => {
            after.starts_with(['(', '[', ':', ']'])
                || inner.starts_with(['[', '^', 'x'])
                || !inner.contains(' ')
        }
        // A tag or an address.
        '>' => {
            !inner.contains(' ')
                && inner.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
                && !inner.is_empty()
        }
        _ => false,
    };
    is_text && !is_elsewhere
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_templates_are_told_from_names_of_pages() {
        for name in [
            "template",
            "_template",
            "adr-template",
            "0000-template",
            "PULL_REQUEST_TEMPLATE",
            "issue_template",
            "template-adr",
            "NNNN-template",
            "rfc.template",
        ] {
            assert!(is_named(name), "{name}");
        }
        for name in [
            "templates",
            "template-engine",
            "email-template",
            "templating",
            "contemplate",
            "a template of mine",
            "adr",
            "",
            "rfc",
        ] {
            assert!(!is_named(name), "{name}");
        }
    }

    #[test]
    fn a_doubtful_name_needs_placeholders() {
        let form = "# [short title]\n\n* Status: {proposed | rejected}\n* Date: YYYY-MM-DD\n";
        for path in ["guides/meeting-template.md", "docs/templates/day.md", "template-of-plans.md"]
        {
            assert!(is_template_text(path, form), "{path}");
            let page = "# Templates\n\nA [link](x), [[a wiki link]], a <b>tag</b>, <https://x.y> and `{{code}}`.\n\n```\n{{a}} {{b}}\n```\n";
            assert!(!is_template_text(path, page), "{path}");
        }
        assert!(!is_template_text("guides/decisions.md", form));
    }
}
