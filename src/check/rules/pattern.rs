//! Path patterns: `*` and `?` within a part, `**/` for any folders. (In `globset`, `?` matches a
//! byte and not a character.)

/// Whether a pattern matches a path from the top of the repository.
pub(super) fn fits(pattern: &str, path: &str) -> bool {
    // Fast rejection: hardly any path ends like the pattern.
    let end = pattern.rsplit(['*', '?']).next().unwrap_or_default();
    if !path.ends_with(end.trim_start_matches('/')) {
        return false;
    }
    let pattern: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    all_fit(&pattern, &path, |part| *part == "**", part_fits)
}

fn part_fits(pattern: &&str, part: &&str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let part: Vec<char> = part.chars().collect();
    all_fit(&pattern, &part, |c| *c == '*', |wanted, c| *wanted == '?' || wanted == c)
}

/// Whether a text matches a pattern with wildcards for any number of items. Backtracks only to the
/// last wildcard, so that no pattern is slow.
fn all_fit<T>(
    pattern: &[T],
    text: &[T],
    is_any: impl Fn(&T) -> bool,
    one_fits: impl Fn(&T, &T) -> bool,
) -> bool {
    let (mut at, mut seen) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while seen < text.len() {
        match pattern.get(at) {
            Some(item) if is_any(item) => {
                back = Some((at, seen));
                at += 1;
            }
            Some(item) if one_fits(item, &text[seen]) => {
                at += 1;
                seen += 1;
            }
            _ => {
                let Some((any, taken)) = &mut back else { return false };
                *taken += 1;
                (at, seen) = (*any + 1, *taken);
            }
        }
    }
    pattern[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_mean_paths() {
        for (pattern, path, expect) in [
            ("**/AGENTS.md", "AGENTS.md", true),
            ("**/AGENTS.md", "a/b/AGENTS.md", true),
            ("**/AGENTS.md", "a/MYAGENTS.md", false),
            ("AGENTS.md", "AGENTS.md", true),
            ("/AGENTS.md", "AGENTS.md", true),
            ("AGENTS.md", "a/AGENTS.md", false),
            (".cursor/rules/**/*.mdc", ".cursor/rules/a.mdc", true),
            (".cursor/rules/**/*.mdc", ".cursor/rules/x/y/a.mdc", true),
            (".cursor/rules/**/*.mdc", ".cursor/rules/a.md", false),
            ("docs/*.md", "docs/a/b.md", false),
            ("docs/**", "docs/a/b.md", true),
            ("a?.md", "aß.md", true),
            ("a?.md", "a.md", false),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("**/a/**/b", "a/a/b", true),
        ] {
            assert_eq!(fits(pattern, path), expect, "{pattern} {path}");
        }
    }

    proptest! {
        #[test]
        fn any_path_fits_itself(path in "[a-z.]{1,4}(/[a-z.]{1,4}){0,3}") {
            prop_assert!(fits(&path, &path) && fits("**", &path));
            let under = format!("**/{path}");
            prop_assert!(fits(&under, &path));
            let deep = format!("x/y/{path}");
            prop_assert!(fits(&under, &deep));
        }

        #[test]
        fn any_pattern_is_taken(pattern in "[a*?/]{0,12}", path in "[a/]{0,12}") {
            fits(&pattern, &path);
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let started = std::time::Instant::now();
        assert!(!fits(&format!("{}b", "*a".repeat(500)), &"a".repeat(5_000)));
        assert!(started.elapsed().as_secs() < 5);
    }
}
