//! Turns a file's bytes into text, whatever wrote them. Never fails; says what was odd.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use crate::core::note::{Remark, Remarks};

/// Lines from this length on are remarked upon: they are data rather than prose.
const LONG_LINE_BYTES: usize = 1 << 20;

/// What a file's bytes turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    /// Text with `\n` line ends and no byte order mark.
    Text(String, Remarks),
    Binary,
}

/// Decodes UTF-8, UTF-16 with a byte order mark, and as a last resort Windows-1252 or broken UTF-8.
pub fn decode(bytes: Vec<u8>) -> Decoded {
    let mut remarks = Remarks::default();
    let text = match Encoding::for_bom(&bytes) {
        Some((encoding, mark_length)) => {
            let utf8 = encoding == UTF_8;
            remarks.add(if utf8 { Remark::ByteOrderMark } else { Remark::Utf16 });
            let (text, malformed) = encoding.decode_without_bom_handling(&bytes[mark_length..]);
            if utf8 && malformed {
                remarks.add(Remark::NotUtf8);
            }
            text.into_owned()
        }
        None => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                remarks.add(Remark::NotUtf8);
                decode_legacy(error.as_bytes())
            }
        },
    };
    if memchr::memchr(0, text.as_bytes()).is_some() {
        return Decoded::Binary;
    }
    let text = match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => {
            if text.contains("\r\n") {
                remarks.add(Remark::CarriageReturns);
            }
            // A carriage return by itself ends a line, too.
            text.replace("\r\n", "\n").replace('\r', "\n")
        }
        None => text,
    };
    if text.trim().is_empty() {
        remarks.add(Remark::Empty);
    }
    if text.len() >= LONG_LINE_BYTES && text.lines().any(|line| line.len() >= LONG_LINE_BYTES) {
        remarks.add(Remark::LongLine);
    }
    Decoded::Text(text, remarks)
}

/// Reads bytes that are not UTF-8.
///
/// A file with valid multi-byte sequences is UTF-8 with some damage: keep it and mark the damage. One without
/// any is an old single-byte file, of which Windows-1252 is by far the most common.
fn decode_legacy(bytes: &[u8]) -> String {
    let has_multi_byte = bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii());
    if has_multi_byte {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str, remarks: &str) {
        match decode(bytes.to_vec()) {
            Decoded::Text(found, said) => {
                assert_eq!(found, text);
                assert_eq!(said.to_string(), remarks);
            }
            Decoded::Binary => panic!("{bytes:?} was taken for binary"),
        }
    }

    #[test]
    fn text_of_any_encoding_is_read() {
        check("Größe ✅\n".as_bytes(), "Größe ✅\n", "");
        check(b"\xef\xbb\xbf# Mark", "# Mark", "byte order mark");
        check(b"a\r\nb\r\n", "a\nb\n", "CRLF line ends");
        check(b"a\rb\r\rc", "a\nb\n\nc", "");
        check(b"a\r\r\nb", "a\n\nb", "CRLF line ends");
        check(b"Gr\xf6\xdfe \x93x\x94", "Größe “x”", "not UTF-8");
        check(b"Gr\xc3\xb6\xc3\x9fe \xff", "Größe \u{fffd}", "not UTF-8");
        check(b"\xff\xfeh\0i\0", "hi", "UTF-16");
        check(b"\xfe\xff\0h\0i", "hi", "UTF-16");
        check(b"", "", "empty");
        check(b" \n\t\n", " \n\t\n", "empty");
    }

    #[test]
    fn a_zero_byte_means_binary() {
        assert_eq!(decode(b"PNG\0data".to_vec()), Decoded::Binary);
    }

    #[test]
    fn a_very_long_line_is_remarked_upon() {
        let line = "x".repeat(LONG_LINE_BYTES);
        check(line.as_bytes(), &line, "very long line");
        let lines = "x\n".repeat(LONG_LINE_BYTES);
        check(lines.as_bytes(), &lines, "");
    }
}
