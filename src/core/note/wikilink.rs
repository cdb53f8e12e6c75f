//! Finds `[[links]]` in text from which code and HTML are already gone, and names their concepts.

use std::ops::Range;

use crate::core::note::concept::Concept;
use crate::core::note::without_extension;
use crate::core::settings::LinkStyle;
use crate::core::text::nfc::nfc;

/// Extensions of files that notes embed or link to. Not those of code: "node.js" is a name.
const ATTACHMENTS: [&str; 49] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "bmp", "tif", "tiff", "ico", "avif", "heic", "psd",
    "pdf", "epub", "djvu", "doc", "docx", "odt", "rtf", "xls", "xlsx", "ods", "ppt", "pptx", "odp",
    "csv", "tsv", "mp3", "wav", "m4a", "ogg", "oga", "opus", "flac", "3gp", "aac", "mp4", "m4v",
    "mov", "mkv", "avi", "webm", "ogv", "zip", "gz", "tar", "7z", "rar",
];
/// Those of Obsidian's own files.
const OF_OBSIDIAN: [&str; 4] = ["canvas", "base", "excalidraw", "drawio"];

/// The names of notes that many folders have.
const OF_MANY: [&str; 4] = ["index", "_index", "readme", "notes"];

/// Calls `found` with the inner text of every link.
///
/// The rule is maenifold's pattern `(?<!\[)\[\[([^\[\]]+)\]\](?!\])`: exactly two brackets on each side, at
/// least one character between them, and none of those a bracket. Line breaks inside are fine.
pub fn find_links(text: &str, mut found: impl FnMut(&str)) {
    find_places(text, |inner| found(&text[inner]));
}

/// Calls `found` with the place of every link's inner text.
pub fn find_places(text: &str, mut found: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'[', &bytes[at..]) {
        let open = at + offset;
        let run_end = open + bytes[open..].iter().take_while(|&&byte| byte == b'[').count();
        at = run_end;
        if run_end - open != 2 {
            continue;
        }
        let Some(length) = memchr::memchr2(b'[', b']', &bytes[run_end..]) else { return };
        let close = run_end + length;
        let closing = bytes[close..].iter().take_while(|&&byte| byte == b']').count();
        if length > 0 && closing == 2 {
            found(run_end..close);
        }
        at = close;
    }
}

/// Returns the concept that a link's inner text names under `style`; `None` where it names none.
pub fn concept(inner: &str, style: LinkStyle) -> Option<Concept> {
    if style == LinkStyle::Maenifold {
        return Concept::parse(inner);
    }
    let target = target(inner, style);
    if is_attachment(target, style) {
        return None;
    }
    Concept::parse(&nfc(named_by(note_name(target), style)))
}

/// The name by which a link's path is known: Obsidian finds a note by the end of its path. A name that many folders have
/// says nothing without them, and files such as `main.c` are called alike in many.
fn named_by(path: &str, style: LinkStyle) -> &str {
    let last = path.rsplit_once('/').map(|(_, last)| last.trim());
    let is_own = |last: &&str| {
        !OF_MANY.iter().any(|name| name.eq_ignore_ascii_case(last)) && !is_code_file(last)
    };
    let last = last.filter(|last| style == LinkStyle::Obsidian && !last.is_empty());
    last.filter(is_own).unwrap_or(path)
}

/// Whether a name ends like a file's of code: `main.c`, not `v1.2`.
fn is_code_file(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    (1..=4).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// What a link names under `style`: its inner text without label, heading and block.
pub fn target(inner: &str, style: LinkStyle) -> &str {
    if style == LinkStyle::Maenifold {
        return inner;
    }
    let bars = memchr::memchr(b'|', inner.as_bytes()).zip(memchr::memrchr(b'|', inner.as_bytes()));
    let side = match bars {
        Some((first, last)) => {
            let (left, right) = (&inner[..first], &inner[last + 1..]);
            let is_right = match style {
                LinkStyle::Dendron => true,
                LinkStyle::Plain => is_hierarchy(right.trim()) && !is_hierarchy(left.trim()),
                _ => false,
            };
            // In a table, the bar is written as `\|`.
            if is_right { right } else { left.strip_suffix('\\').unwrap_or(left) }
        }
        None => inner,
    };
    let side = side.trim();
    // Dendron names another vault: `dendron://vault/note`.
    let below = side.strip_prefix("dendron://").and_then(|path| path.split_once('/'));
    let name = below.map_or(side, |(_, name)| name);
    if style == LinkStyle::Logseq { name } else { without_part(name, style).trim_end() }
}

/// Whether a name looks like Dendron's: `pro.topic.lookup`.
fn is_hierarchy(name: &str) -> bool {
    let name = without_part(name, LinkStyle::Dendron);
    name.contains('.')
        && !name.contains(char::is_whitespace)
        && !is_attachment(name, LinkStyle::Plain)
}

/// Cuts off `#heading` and `^block`, but leaves the `#` of "C#", and of "C# in depth" where a file may be called so.
fn without_part(name: &str, style: LinkStyle) -> &str {
    let is_mark = |at: usize| {
        let after = &name[at + 1..];
        let is_heading = style != LinkStyle::Plain || !after.starts_with(char::is_whitespace);
        at == 0 || !after.is_empty() && is_heading
    };
    let mut marks = name.match_indices(['#', '^']);
    marks.find(|(at, _)| is_mark(*at)).map_or(name, |(at, _)| &name[..at])
}

/// Whether a link's target is a file that is no note.
pub fn is_attachment(target: &str, style: LinkStyle) -> bool {
    let Some(dot) = memchr::memrchr(b'.', target.as_bytes()) else { return false };
    let extension = &target[dot + 1..];
    let is_of = |list: &[&str]| list.iter().any(|other| other.eq_ignore_ascii_case(extension));
    match style {
        LinkStyle::Maenifold => false,
        // A name of Dendron has dots: `pod.csv` is a note.
        LinkStyle::Dendron => target.contains('/') && is_of(&ATTACHMENTS),
        LinkStyle::Obsidian | LinkStyle::Logseq => is_of(&ATTACHMENTS) || is_of(&OF_OBSIDIAN),
        LinkStyle::Plain => is_of(&ATTACHMENTS),
    }
}

/// The name of the note that a link's target is: without extension, unless it belongs to a name of Dendron, such as
/// `pod.export.markdown`.
pub fn note_name(target: &str) -> &str {
    let name = without_extension(target);
    if target.ends_with(".md") || !name.contains('.') { name } else { target }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::named::Named;
    use proptest::prelude::*;

    fn links(text: &str) -> Vec<&str> {
        let mut links = Vec::new();
        // The closure's lifetime is shorter than the text's, so the slice is found again by its place.
        find_links(text, |inner| {
            let start = inner.as_ptr() as usize - text.as_ptr() as usize;
            links.push(&text[start..start + inner.len()]);
        });
        links
    }

    #[test]
    fn exactly_two_brackets_make_a_link() {
        #[track_caller]
        fn check(text: &str, expect: &[&str]) {
            assert_eq!(links(text), expect, "{text}");
        }
        check("a [[b]] c [[d e]]", &["b", "d e"]);
        check("![[embed]]", &["embed"]);
        check("[[a|b]] [[a#b]]", &["a|b", "a#b"]);
        check("[[two\nlines]]", &["two\nlines"]);
        check("[[[triple]]]", &[]);
        check("[[open [[inner]]", &["inner"]);
        check("[[a]b]] [[c]]", &["c"]);
        check("[[a]]] [[b]]", &["b"]);
        check("[[]] [[ ]]", &[" "]);
        check("[[a]][[b]]", &["a", "b"]);
        check("[[a]](url)", &["a"]);
        check("\\[\\[a]]", &[]);
        check("[[open", &[]);
        check("[[", &[]);
    }

    #[test]
    fn the_style_decides_what_the_name_is() {
        /// In the order of maenifold, Obsidian, Logseq, Dendron, plain; a dash is no concept.
        #[track_caller]
        fn check(inner: &str, expect: [&str; 5]) {
            for (style, expect) in LinkStyle::ALL.iter().zip(expect) {
                let name = concept(inner, *style).map_or("-".to_owned(), |name| name.to_string());
                assert_eq!(name, expect, "[[{inner}]] of {style}");
            }
        }
        check("Auth Flow", ["auth-flow"; 5]);
        let left = ["auth-flow|login", "auth-flow", "auth-flow", "login", "auth-flow"];
        check("Auth Flow|login", left);
        let path = "people-ann-lee";
        check("People/Ann Lee", [path, "ann-lee", path, path, path]);
        check("People/Ann Lee.md|Ann", ["people-ann-lee.md|ann", "ann-lee", path, "ann", path]);
        check("Project/README", ["project-readme"; 5]);
        check("lab/part1/main.c", ["lab-part1-main.c"; 5]);
        check(
            "Releases/v1.2",
            ["releases-v1.2", "v1.2", "releases-v1.2", "releases-v1.2", "releases-v1.2"],
        );
        check("Project/", ["project"; 5]);
        check("Auth#Tokens", ["auth#tokens", "auth", "auth#tokens", "auth", "auth"]);
        check("Auth#^block|x", ["auth#^block|x", "auth", "auth#^block", "x", "auth"]);
        check("Auth^block", ["auth^block", "auth", "auth^block", "auth", "auth"]);
        check("Auth\\|x", ["auth\\|x", "auth", "auth", "x", "auth"]);
        check(
            "Look up|pro.lookup",
            ["look-up|pro.lookup", "look-up", "look-up", "pro.lookup", "pro.lookup"],
        );
        check("a.b|a.c#d", ["a.b|a.c#d", "a.b", "a.b", "a.c", "a.b"]);
        check("x|dendron://main/a.b", ["x|dendron:-main-a.b", "x", "x", "a.b", "a.b"]);
        check("note.md", ["note.md", "note", "note", "note", "note"]);
        check("note.mdx", ["note.mdx", "note", "note", "note", "note"]);
        check("pod.export.markdown", ["pod.export.markdown"; 5]);
        check("pic.PNG", ["pic.png", "-", "-", "pic.png", "-"]);
        check("assets/pic.png", ["assets-pic.png", "-", "-", "-", "-"]);
        check("pic.png|300", ["pic.png|300", "-", "-", "300", "-"]);
        check("Plan|a.pdf", ["plan|a.pdf", "plan", "plan", "a.pdf", "plan"]);
        check("map.canvas", ["map.canvas", "-", "-", "map.canvas", "map.canvas"]);
        check("ASP.NET", ["asp.net"; 5]);
        check("node.js", ["node.js"; 5]);
        check("C#", ["c#"; 5]);
        check("C# tips", ["c#-tips", "c", "c#-tips", "c", "c#-tips"]);
        check("#Heading", ["#heading", "-", "#heading", "-", "-"]);
        check("#", ["#", "-", "#", "-", "-"]);
        check("cafe\u{301}", ["cafe\u{301}", "café", "café", "café", "café"]);
        check(" / ", ["-"; 5]);
        check("|", ["|", "-", "-", "-", "-"]);
        check("a|", ["a|", "a", "a", "-", "a"]);
    }

    /// The pattern, tried at every position as a backtracking engine would.
    fn by_pattern(text: &str) -> Vec<&str> {
        let bytes = text.as_bytes();
        let mut links = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let inner_end = bytes[(at + 2).min(bytes.len())..]
                .iter()
                .position(|byte| matches!(byte, b'[' | b']'))
                .map(|n| at + 2 + n);
            match inner_end {
                Some(end)
                    if bytes[at..].starts_with(b"[[")
                        && (at == 0 || bytes[at - 1] != b'[')
                        && end > at + 2
                        && bytes[end..].starts_with(b"]]")
                        && bytes.get(end + 2) != Some(&b']') =>
                {
                    links.push(&text[at + 2..end]);
                    at = end + 2;
                }
                _ => at += 1,
            }
        }
        links
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn the_scanner_equals_the_pattern(text in r"[\[\]a|]{0,24}") {
            prop_assert_eq!(links(&text), by_pattern(&text));
        }
    }
}
