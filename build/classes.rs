//! What every character is to the patterns, as a table in two stages.

use regex_syntax::hir::{Class, HirKind};

use crate::layout::class::{
    CASELESS, LOWER, MARK, NEWLINE, NUMBER, ROW, ROWS, SPACE, SYMBOL, UPPER,
};

/// Returns the row of classes for each row of characters, then the rows of classes.
pub(crate) fn table() -> Result<Vec<u8>, String> {
    let mut classes = vec![SYMBOL; ROW * ROWS];
    for (pattern, class) in [
        (r"\p{M}", MARK),
        (r"[\p{Lu}\p{Lt}]", UPPER),
        (r"\p{Ll}", LOWER),
        (r"[\p{Lm}\p{Lo}]", CASELESS),
        (r"\p{N}", NUMBER),
        // A newline is white space too: what is more special comes last.
        (r"\s", SPACE),
        (r"[\r\n]", NEWLINE),
    ] {
        for (first, last) in ranges(pattern)? {
            classes[first as usize..=last as usize].fill(class);
        }
    }
    let mut index = Vec::new();
    let mut rows: Vec<&[u8]> = Vec::new();
    for row in classes.chunks(ROW) {
        let known = rows.iter().position(|&known| known == row).unwrap_or(rows.len());
        if known == rows.len() {
            rows.push(row);
        }
        index.push(u8::try_from(known).map_err(|_| "more than 256 different rows of classes")?);
    }
    index.extend(rows.concat());
    Ok(index)
}

fn ranges(pattern: &str) -> Result<Vec<(char, char)>, String> {
    let parsed = regex_syntax::parse(pattern).map_err(|e| e.to_string())?;
    match parsed.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            Ok(class.iter().map(|range| (range.start(), range.end())).collect())
        }
        _ => Err(format!("{pattern} is no class of characters")),
    }
}
