//! What is wrong in a settings file, for people who do not know the types of this program.

/// The nearest known name is suggested if it is at least this similar.
const MIN_SIMILARITY: f64 = 0.8;
/// So many names are listed; more would hide what is wrong.
const MOST_LISTED: usize = 8;

/// The words for an error of the TOML reader; its own where it knows more than we do.
pub(super) fn of(error: &toml::de::Error, text: &str) -> String {
    let message = error.message().trim();
    let span = error.span().unwrap_or_default();
    reworded(message, text.get(..span.start), text.get(span)).unwrap_or_else(|| message.to_owned())
}

fn reworded(message: &str, before: Option<&str>, value: Option<&str>) -> Option<String> {
    let (what, expected) = message.split_once(", expected ")?;
    let names: Vec<String> = expected.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    if let Some(key) = what.strip_prefix("unknown field `") {
        return Some(unknown(key.trim_end_matches('`'), &names));
    }
    let starts = ["invalid type: ", "invalid value: ", "unknown variant "];
    let is_value = starts.iter().any(|start| what.starts_with(start));
    let key = key_before(before?).filter(|_| is_value)?;
    let value = value?.lines().next().filter(|value| !value.is_empty())?;
    let wanted = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, such as 4000".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a sequence" if key == "vault" => "a section that begins with [[vault]]".to_owned(),
        "a sequence" => r#"a list, such as ["a", "b"]"#.to_owned(),
        "a map" | "a table" => r#"a table, such as { name = "value" }"#.to_owned(),
        _ => alternatives(&names)?,
    };
    Some(format!("{key} is {value}; write {wanted}"))
}

fn unknown(key: &str, names: &[String]) -> String {
    let out = match nearest(key, names) {
        Some(name) => format!("did you mean {name}?"),
        None if names.len() > MOST_LISTED => "`kgctx config` lists all".to_owned(),
        None => format!("write {}", alternatives(names).unwrap_or_default()),
    };
    format!("there is no setting {key}; {out}")
}

/// The key whose value follows this text.
fn key_before(text: &str) -> Option<&str> {
    let line = text.lines().next_back()?.trim_end().strip_suffix('=')?.trim_end();
    line.rsplit([' ', '\t', '{', ',']).next().filter(|key| !key.is_empty())
}

fn alternatives(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some(one.clone()),
        [first @ .., last] => Some(format!("{} or {last}", first.join(", "))),
    }
}

/// The known name that is probably meant.
pub(crate) fn nearest(key: &str, known: &[String]) -> Option<String> {
    let names = known.iter().map(|name| (strsim::jaro_winkler(name, key), name));
    let similar = names.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY);
    similar.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, name)| name.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::settings::SettingsFile;

    #[test]
    fn an_error_names_the_setting_and_what_to_write() {
        for (text, expected) in [
            ("token_limit = \"x\"", "token_limit is \"x\"; write a whole number, such as 4000"),
            ("max_file_bytes = -1", "max_file_bytes is -1; write a whole number, such as 4000"),
            ("enabled=\"yes\"", "enabled is \"yes\"; write true or false"),
            ("servers = 3", r#"servers is 3; write a list, such as ["a", "b"]"#),
            ("vault = 3", "vault is 3; write a section that begins with [[vault]]"),
            ("channels = 3", r#"channels is 3; write a table, such as { name = "value" }"#),
            ("notice = \"loud\"", "notice is \"loud\"; write toast, log or off"),
            ("monitor = { windows = { a = \"b\" } }", "a is \"b\"; write a whole number"),
            ("[handoff]\nmin_turn = 2", "there is no setting min_turn; did you mean min_turns?"),
            ("[[vault]]\nzzz = 2", "there is no setting zzz; write path or name"),
            ("zzz = 2", "there is no setting zzz; `kgctx config` lists all"),
            // Theirs stay.
            ("prompt_share = 300", "300 is more than 100 percent"),
            ("a = = b", ""),
        ] {
            let error = toml::from_str::<SettingsFile>(text).unwrap_err();
            let said = of(&error, text);
            assert!(said.starts_with(expected), "{text}: {said}");
        }
    }
}
