//! JSON as .NET writes it: on one line, with everything escaped that could mean something in a web page, or is not ASCII.

use std::fmt::Write;

/// A text, in quotes.
pub(crate) fn string(text: &str) -> String {
    let mut json = String::from("\"");
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some('\\') => json.push_str("\\\\"),
            Some('\u{8}') => json.push_str("\\b"),
            Some('\t') => json.push_str("\\t"),
            Some('\n') => json.push_str("\\n"),
            Some('\u{c}') => json.push_str("\\f"),
            Some('\r') => json.push_str("\\r"),
            Some(c @ ' '..='~') if !"\"&'+<>`".contains(c) => json.push(c),
            _ => {
                // Writing into a text does not fail.
                let _ = write!(json, "\\u{unit:04X}");
            }
        }
    }
    json.push('"');
    json
}

/// A number, in the fewest digits that bring it back.
pub(crate) fn number(number: f64) -> String {
    if number == 0.0 || number.abs() >= 1e-4 {
        return number.to_string();
    }
    let scientific = format!("{number:E}");
    match scientific.split_once("E-") {
        Some((digits, exponent)) => format!("{digits}E-{exponent:0>2}"),
        None => scientific,
    }
}

/// The answer of a tool that speaks JSON.
pub(crate) fn ok(data: &str) -> String {
    format!("{{\"success\":true,\"data\":{data},\"error\":null}}")
}

/// The answer when something went wrong.
pub(crate) fn fail(code: &str, message: &str) -> String {
    let (code, message) = (string(code), string(message));
    format!(
        "{{\"success\":false,\"data\":null,\"error\":{{\"code\":{code},\"message\":{message}}}}}"
    )
}
