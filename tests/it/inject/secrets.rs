//! Labelled texts: every secret is masked with its kind and nothing else is, and look-alikes stay.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use kgctx::core::note::concept::Concept;
use kgctx::core::secrets;
use kgctx::core::text::for_model;

/// The lines of a table below `fixtures/secrets`: label and text, without the marks that break it.
fn table(name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/secrets").join(name);
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with("# "));
    rows.map(|line| {
        let (label, text) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
        (label.to_owned(), text.replace('⏎', "\n").replace('¦', ""))
    })
    .collect()
}

/// A sample: its kind, what stands before, the secret, what stands after.
fn samples() -> Vec<(String, String, String, String)> {
    let rows = table("secrets.tsv").into_iter();
    rows.map(|(kind, text)| {
        let (before, rest) = text.split_once('⟦').unwrap();
        let (secret, after) = rest.split_once('⟧').unwrap();
        (kind, before.to_owned(), secret.to_owned(), after.to_owned())
    })
    .collect()
}

/// The middle of a secret, which must be nowhere in what is shown.
fn middle(secret: &str) -> &str {
    let start = (secret.len() / 2).saturating_sub(4);
    &secret[start..secret.len().min(start + 8)]
}

#[test]
fn every_secret_is_masked_with_its_kind_and_nothing_else_is() {
    let samples = samples();
    let kinds: BTreeSet<&str> = samples.iter().map(|(kind, ..)| kind.as_str()).collect();
    assert!(samples.len() >= 75, "{} samples", samples.len());
    assert!(kinds.len() >= 20, "{} kinds", kinds.len());
    let mut wrong = Vec::new();
    for (kind, before, secret, after) in &samples {
        let masked = secrets::mask(&format!("{before}{secret}{after}")).into_owned();
        if masked != format!("{before}[masked: {kind}]{after}") || masked.contains(middle(secret)) {
            wrong.push(format!("{kind}: {masked}"));
        }
        if secrets::mask(&masked) != masked {
            wrong.push(format!("{kind}, masked twice: {}", secrets::mask(&masked)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}: {wrong:#?}", wrong.len(), samples.len());
}

/// maenifold takes any link for a concept, and keeps its normal form alone.
#[test]
fn a_secret_is_known_by_the_name_that_a_link_to_it_has() {
    let mut missed = Vec::new();
    let mut n_names = 0;
    for (kind, before, secret, after) in samples() {
        let line =
            format!("{before}{secret}{}", after.split_whitespace().next().unwrap_or_default());
        let link = line.rsplit('\n').next().unwrap();
        // Nobody can link to what has brackets, and a name of several lines is none that is shown.
        let (false, Some(name)) = (line.contains(['[', ']', '\n']), Concept::parse(link)) else {
            continue;
        };
        n_names += 1;
        if !secrets::are_in_name(name.as_str()) {
            missed.push(format!("{kind}: {name}"));
        }
    }
    assert!(n_names > 40, "{n_names}");
    // A few have nothing left that tells them from words.
    assert!(missed.len() * 20 <= n_names, "{} of {n_names}: {missed:#?}", missed.len());
    for name in [
        "session-management",
        "c++",
        "2026-02-19-meeting-notes",
        "src-engine-tokens.rs",
        "k8s",
        "sha256",
    ] {
        assert!(!secrets::are_in_name(name), "{name}");
    }
}

#[test]
fn no_secret_survives_on_one_line_or_between_others() {
    let samples = samples();
    for (kind, before, secret, after) in &samples {
        let text = format!("{before}{secret}{after}");
        let shown = for_model::one_line(&text);
        assert!(shown.contains(&format!("[masked: {kind}]")), "{kind}: {shown}");
        assert!(!shown.contains(middle(secret)), "{kind}: {shown}");
        for (_, other_before, other, other_after) in samples.iter().step_by(7) {
            let both = format!("{text}\n{other_before}{other}{other_after}\n");
            let shown = secrets::mask(&both);
            assert!(!shown.contains(middle(secret)) && !shown.contains(middle(other)), "{shown}");
        }
    }
}

#[test]
fn every_look_alike_stays() {
    let rows = table("lookalikes.tsv");
    let sorts: BTreeSet<&str> = rows.iter().map(|(sort, _)| sort.as_str()).collect();
    assert!(rows.len() >= 650, "{} look-alikes", rows.len());
    assert!(sorts.len() >= 20, "{} sorts", sorts.len());
    let changed: Vec<String> = rows
        .iter()
        .filter(|(_, text)| secrets::mask(text) != text.as_str())
        .map(|(sort, text)| format!("{sort}: {}", secrets::mask(text)))
        .collect();
    assert!(changed.is_empty(), "{} of {}: {changed:#?}", changed.len(), rows.len());
    let all: Vec<&str> = rows.iter().map(|(_, text)| text.as_str()).collect();
    for glue in ["\n", " "] {
        assert_eq!(secrets::find(&all.join(glue)), [], "joined by {glue:?}");
    }
}
