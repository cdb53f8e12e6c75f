//! The pages that other pages list, as in Sphinx: the entries of their `toctree`s.

/// The entries in the text of a page, as they are seen from its folder. One that ends in `*` stands for all pages there.
pub(super) fn entries(text: &str) -> impl Iterator<Item = &str> {
    let blocks = text.match_indices("toctree").filter_map(|(at, _)| {
        let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
        let front = text[start..at].trim_start();
        let is_fenced = front.starts_with("```") || front.starts_with(":::");
        let is_indented = front == ".. ";
        let body = text[at..].split_once('\n').map_or("", |(_, body)| body);
        (is_fenced || is_indented).then_some((body, is_fenced))
    });
    blocks.flat_map(|(body, is_fenced)| {
        let goes_on = move |line: &&str| match is_fenced {
            true => !line.trim_start().starts_with("```") && !line.trim_start().starts_with(":::"),
            false => line.trim().is_empty() || line.starts_with([' ', '\t']),
        };
        body.lines().take_while(goes_on).filter_map(entry)
    })
}

/// `page`, `Title <page>`; none in an option, such as `:maxdepth: 2`.
fn entry(line: &str) -> Option<&str> {
    let line = line.trim();
    let titled = line.strip_suffix('>').and_then(|line| line.rsplit_once('<'));
    let entry = titled.map_or(line, |(_, page)| page);
    (!entry.is_empty() && !entry.starts_with(':') && !entry.contains("://")).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_in_both_notations() {
        let markdown =
            "# A\n\n```{toctree}\n:maxdepth: 2\n\nb\nC <sub/c>\nWeb <https://x.y>\n```\nd\n";
        assert_eq!(entries(markdown).collect::<Vec<_>>(), ["b", "sub/c"]);
        let rst = "A\n=\n\n.. toctree::\n   :glob:\n\n   b\n   sub/*\n\nd\n";
        assert_eq!(entries(rst).collect::<Vec<_>>(), ["b", "sub/*"]);
        assert_eq!(entries("The toctree of Sphinx\nb\n").count(), 0);
    }
}
