//! The files of the page, built into the program.

/// A file of the page: its path, its type and its content.
type Asset = (&'static str, &'static str, &'static str);

const SCRIPT: &str = "text/javascript; charset=utf-8";
const ASSETS: [Asset; 11] = [
    ("", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
    ("icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
    ("main.js", SCRIPT, include_str!("page/main.js")),
    ("ask.js", SCRIPT, include_str!("page/ask.js")),
    ("elements.js", SCRIPT, include_str!("page/elements.js")),
    ("sessions.js", SCRIPT, include_str!("page/sessions.js")),
    ("contexts.js", SCRIPT, include_str!("page/contexts.js")),
    ("handoffs.js", SCRIPT, include_str!("page/handoffs.js")),
    ("graph.js", SCRIPT, include_str!("page/graph.js")),
    ("drawing.js", SCRIPT, include_str!("page/drawing.js")),
];

/// The type and the content of a file.
pub(super) fn asset(path: &str) -> Option<(&'static str, &'static str)> {
    let found = ASSETS.iter().find(|(name, ..)| *name == path);
    found.map(|(_, kind, content)| (*kind, *content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_loads_nothing_from_outside() {
        let bytes: usize = ASSETS.iter().map(|(.., content)| content.len()).sum();
        assert!(bytes <= 300 * 1024, "{bytes} bytes");
        for (name, _, content) in ASSETS {
            let content = content.replace("http://www.w3.org/2000/svg", "");
            assert!(!content.contains("://") || name.ends_with(".js"), "{name}");
            for outside in ["http://", "https://", "innerHTML", "insertAdjacentHTML", "eval("] {
                assert!(!content.contains(outside), "{name}: {outside}");
            }
        }
    }

    #[test]
    fn every_file_that_is_named_is_there() {
        for (name, _, content) in ASSETS {
            for quoted in content.split('"').filter(|word| word.ends_with(".js")) {
                assert!(asset(quoted.trim_start_matches("./")).is_some(), "{name}: {quoted}");
            }
        }
    }
}
