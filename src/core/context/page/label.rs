//! How wide a name is when it is drawn. The reader's font is unknown, so this assumes a wide one.

/// How wide a text is at a font size, rather too wide than too narrow.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// The text, or as much of its beginning as has room.
pub(super) fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut used = em('…') * size;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        used += em(c) * size;
        if used > room {
            break;
        }
        end = at + c.len_utf8();
    }
    format!("{}…", text[..end].trim_end_matches(['-', ' ']))
}

/// A character's width as a share of the font's size, as DejaVu Sans has it, one of the widest.
fn em(c: char) -> f64 {
    match c {
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 0.0,
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'f' | 'r' | 't' | '-' | '(' | ')' | '[' | ']' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '+' | '#' | '=' | '<' | '>' | '~' | '^' | '&' => 0.84,
        'A'..='Z' => 0.78,
        c if c.is_ascii() => 0.64,
        '\u{1100}'..='\u{11ff}' | '\u{2e80}'.. => 1.1,
        _ => 0.85,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_keeps_its_beginning() {
        assert_eq!(shorten("renderer", 13.0, 100.0), "renderer");
        assert_eq!(shorten("stale-while-revalidate", 13.0, 100.0), "stale-while…");
        assert_eq!(shorten("日本語の長い名前がここに", 13.0, 60.0), "日本語…");
        assert_eq!(shorten("abc", 13.0, 0.0), "…");
    }

    #[test]
    fn what_was_shortened_has_room() {
        for room in 20..200 {
            let room = f64::from(room);
            assert!(width(&shorten("a-name-that-will-not-do-WWWMMM", 13.0, room), 13.0) <= room);
        }
    }
}
