//! Reads XML as strictly as XML asks for, as far as a report uses it: elements, attributes, text.

/// An element.
#[derive(Debug)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
}

impl Element {
    #[track_caller]
    pub(super) fn attribute(&self, name: &str) -> &str {
        let found = self.attributes.iter().find(|(key, _)| key == name);
        &found.unwrap_or_else(|| panic!("{} has no {name}", self.name)).1
    }

    /// All elements of a name, at any depth.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> Box<dyn Iterator<Item = &'a Element> + 'a> {
        let own = self.children.iter().filter(move |child| child.name == name);
        Box::new(own.chain(self.children.iter().flat_map(move |child| child.all(name))))
    }
}

/// Reads a document, and panics where it is not well-formed.
#[track_caller]
pub(super) fn parse(text: &str) -> Element {
    for c in text.chars() {
        let allowed = matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
        assert!(allowed, "{c:?} may not stand in XML");
    }
    let text = text.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").unwrap();
    let (root, rest) = element(text.trim_start());
    assert_eq!(rest.trim(), "", "one element is the root");
    root
}

fn element(text: &str) -> (Element, &str) {
    let text = text.strip_prefix('<').unwrap_or_else(|| panic!("no element: {text:.80}"));
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap();
    let (name, mut rest) = text.split_at(end);
    assert!(!name.is_empty());
    let mut found = Element { name: name.to_owned(), attributes: Vec::new(), children: Vec::new() };
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix("/>") {
            return (found, after);
        }
        if let Some(after) = rest.strip_prefix('>') {
            rest = after;
            break;
        }
        let (key, after) = rest.split_once("=\"").unwrap();
        let (value, after) = after.split_once('"').unwrap();
        assert!(key.chars().all(|c| c.is_ascii_alphabetic()), "{key}");
        assert!(!value.contains('<'), "{value}");
        assert!(found.attributes.iter().all(|(known, _)| known != key), "{key} is there twice");
        found.attributes.push((key.to_owned(), unescaped(value)));
        rest = after;
    }
    loop {
        let (words, _) = rest.split_at(rest.find('<').unwrap());
        unescaped(words);
        assert!(!words.contains("]]>"));
        rest = &rest[words.len()..];
        if let Some(after) = rest.strip_prefix("</") {
            let (closed, after) = after.split_once('>').unwrap();
            assert_eq!(closed, found.name);
            return (found, after);
        }
        let (child, after) = element(rest);
        found.children.push(child);
        rest = after;
    }
}

fn unescaped(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut plain = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once(';').unwrap_or_else(|| panic!("a bare &: {text}"));
        plain.push(match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            _ => panic!("&{name}; is not known"),
        });
        plain.push_str(rest);
    }
    plain
}
