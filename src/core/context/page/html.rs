//! Small pieces of a page: lines of a context, classes and numbers.

use crate::core::text::for_html::escape;

/// A line of a context, with the concept that it is about and its address set apart.
pub(super) fn line(text: &str) -> String {
    let text = text.strip_prefix("- ").unwrap_or(text);
    let (body, address) = match text.rfind(" (memory://") {
        Some(at) if text.ends_with(')') => text.split_at(at),
        _ => (text, ""),
    };
    let end_of_name = body.find("]]").filter(|_| body.starts_with("[["));
    let (name, rest) = body.split_at(end_of_name.map_or(0, |end| end + 2));
    let mut html = String::new();
    if !name.is_empty() {
        html.push_str(&format!("<b>{}</b>", escape(name)));
    }
    html.push_str(&escape(rest));
    if !address.is_empty() {
        html.push_str(&format!(" <span class=\"address\">{}</span>", escape(address.trim_start())));
    }
    html
}

/// The attribute of an element that has a class, or none.
pub(super) fn class(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!(" class=\"{name}\"") }
}

/// A number in a style or a drawing, to a tenth, without a sign that means nothing.
pub(super) fn decimal(number: f64) -> String {
    let text = format!("{number:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_and_the_address_of_a_line_are_set_apart() {
        assert_eq!(line("- [[<a>]] → [[b]], [[c"), "<b>[[&lt;a&gt;]]</b> → [[b]], [[c");
        assert_eq!(
            line("- A note - Says [[b]]. (memory://a)"),
            "A note - Says [[b]]. <span class=\"address\">(memory://a)</span>"
        );
        assert_eq!(line("- [[a"), "[[a");
        assert_eq!(line("]] [["), "]] [[");
        assert_eq!(line(""), "");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([1.0, 0.25, -0.04, 12.36].map(decimal), ["1", "0.2", "0", "12.4"]);
    }
}
