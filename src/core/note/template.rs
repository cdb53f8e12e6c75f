//! Templates of notes, told by their names, and where a name can be that of a page about templates, by their placeholders.

use memchr::memmem;

use crate::core::settings::LinkStyle;
use crate::core::text::bytes;
use crate::core::text::bytes::position;
use crate::core::text::nfc::nfc;
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
/// What folders of templates are called, in lower case.
const FOLDERS: [&str; 45] = words(
    "template templates templater vorlage vorlagen modèle modèles modele modeles gabarit gabarits plantilla plantillas \
     modelo modelos modello modelli sjabloon sjablonen szablon szablony šablona šablony sablona sablony mall mallar mal maler skabelon \
     skabeloner şablon şablonlar sablonlar шаблон шаблоны テンプレート ひな形 模板 范本 範本 템플릿 قالب قوالب תבניות",
);
/// What else stands in the name of such a folder.
const OF_FOLDERS: [&str; 7] = words("obsidian logseq dendron note notes notiz notizen");
/// With this begins what Templater replaces.
const TEMPLATER: &str = "<%";
/// What Obsidian replaces in a template, with a format behind a colon or without.
const OF_OBSIDIAN: [&str; 3] = ["date", "time", "title"];

/// Whether a folder can only be one of templates, by its name: `99 Templates`, `Vorlagen`.
pub(super) fn is_named_folder(name: &str) -> bool {
    let name = folded(name);
    let is_of_folder = |part: &str| FOLDERS.contains(&part) || OF_FOLDERS.contains(&part);
    parts(&name).any(|part| FOLDERS.contains(&part)) && parts(&name).all(is_of_folder)
}

/// Whether one word of a folder's name is that of templates.
fn names_template(folder: &str) -> bool {
    parts(&folded(folder)).any(|part| FOLDERS.contains(&part))
}

fn folded(name: &str) -> String {
    nfc(name).to_lowercase()
}

/// Whether the name of a file says that it is a template, and cannot say anything else: `template`, `adr-template`,
/// `0000-template`.
pub(super) fn is_named(stem: &str) -> bool {
    ends_like_template(stem) && {
        let mut parts = parts(stem).peekable();
        parts.peek().is_some() && parts.all(|part| is_template(part) || is_kind(part))
    }
}

/// Whether a text is a template: one that may be called so, or lies in a folder of templates, and has placeholders, or any
/// that a plugin of Obsidian's fills in.
pub(super) fn is_template_text(path: &str, text: &str, style: LinkStyle) -> bool {
    is_filled_in(text, style) || may_be_template(path) && has_placeholders(text)
}

fn may_be_template(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut parts = name.split('.');
    let stem = parts.next().unwrap_or(name);
    // Dendron's folders are the parts of names.
    let is_below = parts.count() > 1 && names_template(stem);
    is_below
        || ends_like_template(stem)
        || !folders.is_empty() && folders.split('/').any(names_template)
}

/// Whether a text has what Templater replaces, or in Obsidian's style several of what Obsidian does, outside of code.
fn is_filled_in(text: &str, style: LinkStyle) -> bool {
    let has = |mark: &str| memmem::find(text.as_bytes(), mark.as_bytes()).is_some();
    let is_templater = |line: &str| {
        line.split_once(TEMPLATER).is_some_and(|(_, code)| {
            let call = code.trim_start_matches(['-', '_', '+', ' ']);
            call.starts_with("tp.") || code == "*" || code.starts_with("* ")
        })
    };
    let n_of_obsidian =
        |line: &str| line.split("{{").skip(1).filter(|rest| is_of_obsidian(rest)).count();
    has(TEMPLATER) && lines_without_code(text).any(is_templater)
        || style == LinkStyle::Obsidian
            && has("{{")
            && lines_without_code(text).map(n_of_obsidian).sum::<usize>() >= LEAST_PLACEHOLDERS
}

/// Whether a text begins with `date}}` or `date:YYYY-MM-DD}}`.
fn is_of_obsidian(rest: &str) -> bool {
    let near = &rest[..rest.floor_char_boundary(LONGEST_PLACEHOLDER)];
    near.split_once("}}").is_some_and(|(inner, _)| {
        let name = inner.split_once(':').map_or(inner, |(name, _)| name);
        OF_OBSIDIAN.iter().any(|other| other.eq_ignore_ascii_case(name))
    })
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
    let mut n = 0;
    lines_without_code(text).any(|line| {
        n += placeholders(line);
        n >= LEAST_PLACEHOLDERS
    })
}

/// The lines of a text outside of blocks of code, and without words between backticks.
fn lines_without_code(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    bytes::lines(text).filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !line.contains('`')
    })
}

fn placeholders(line: &str) -> usize {
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
            assert!(is_template_text(path, form, LinkStyle::Plain), "{path}");
            let page = "# Templates\n\nA [link](x), [[a wiki link]], a <b>tag</b>, <https://x.y> and `{{code}}`.\n\n```\n{{a}} {{b}}\n```\n";
            assert!(!is_template_text(path, page, LinkStyle::Plain), "{path}");
        }
        for path in ["templates.day.md", "C++ Templates/a.md", "Vorlagen für Briefe/a.md"] {
            assert!(is_template_text(path, form, LinkStyle::Plain), "{path}");
        }
        for path in ["guides/decisions.md", "templates.md", "modelling/a.md"] {
            assert!(!is_template_text(path, form, LinkStyle::Plain), "{path}");
        }
    }

    #[test]
    fn folders_of_templates_have_names_in_many_languages() {
        for name in [
            "templates",
            "_Templates",
            "99 Templates",
            "📋 Note Templates",
            "obsidian-templates",
            "Vorlagen",
            "Modèles",
            "Mode\u{300}les",
            "plantillas",
            "Шаблоны",
            "テンプレート",
            "模板",
            "05_模板",
        ] {
            assert!(is_named_folder(name), "{name}");
        }
        for name in ["Template engines", "C++ Templates", "modelling", "notes", "99", "Modelle", ""]
        {
            assert!(!is_named_folder(name), "{name}");
        }
    }

    #[test]
    fn what_obsidian_fills_in_is_a_template_anywhere() {
        let is_template = |text: &str| is_template_text("a/b.md", text, LinkStyle::Obsidian);
        for text in [
            "---\ncreated: <% tp.file.creation_date() %>\n---\n# A",
            "# <%tp.file.title%>",
            "<%* const a = 1 %>",
            "# {{title}}\n\nOn {{date:YYYY-MM-DD}} we met.",
        ] {
            assert!(is_template(text), "{text}");
        }
        for text in [
            "Write `<% tp.file.title %>` into it.",
            "```\n<% tp.file.title %>\n{{title}} {{date}}\n```",
            "Only {{title}} is replaced.",
            "A {{version}} of {{product}}.",
            "Up <% of it",
        ] {
            assert!(!is_template(text), "{text}");
        }
        assert!(!is_template_text("a/b.md", "{{title}} {{date}}", LinkStyle::Plain));
    }
}
