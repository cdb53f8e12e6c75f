//! Suggests known names for one that is not known.

use crate::core::note::concept::Concept;

/// How many names are suggested.
const SUGGESTIONS: usize = 5;
/// Names less alike than this are no help.
const LEAST_LIKENESS: f64 = 0.75;

/// Returns the names closest to `wanted`, best first, ties by name.
pub fn nearest(wanted: &Concept, known: impl Iterator<Item = Concept>) -> Vec<Concept> {
    let wanted = wanted.as_str();
    let mut alike: Vec<(f64, Concept)> = known
        .filter_map(|concept| {
            let name = concept.as_str();
            let is_part = wanted.len() >= 3 && name.contains(wanted)
                || name.len() >= 3 && wanted.contains(name);
            let likeness = strsim::jaro_winkler(wanted, name) + if is_part { 0.25 } else { 0.0 };
            (likeness >= LEAST_LIKENESS).then_some((likeness, concept))
        })
        .collect();
    alike.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    alike.into_iter().take(SUGGESTIONS).map(|(_, concept)| concept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_names_come_first() {
        let known = ["authentication", "auth-flow", "graph", "oauth2", "authorisation", "zebra"];
        let known = || known.into_iter().filter_map(Concept::parse);
        let found = |wanted: &str| -> Vec<String> {
            let wanted = Concept::parse(wanted).unwrap();
            nearest(&wanted, known()).iter().map(Concept::to_string).collect()
        };
        assert_eq!(found("authentication-")[..1], ["authentication"]);
        assert_eq!(found("autentication")[..1], ["authentication"]);
        assert!(found("auth").contains(&"auth-flow".to_owned()));
        assert_eq!(found("quux"), [""; 0]);
    }
}
