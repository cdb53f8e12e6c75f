//! **secret**: text that would be masked in a context, in notes, handoffs and static files,
//! including front matter and code. A finding names the kind of secret, never the secret.

use super::checked_files::{CheckedFile, Problem};

const HINT: &str = "remove it, and revoke it: it stays in the history of the repository";

pub(super) fn find<'c>(file: &'c CheckedFile<'_>) -> Vec<Problem<'c>> {
    let secrets = file.secrets().iter().map(|secret| (secret.range.clone(), secret.kind));
    file.problems(secrets.collect(), "texts in this file look like secrets", |_, kind| {
        (format!("this looks like a secret ({kind})"), HINT.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::TestRepository;
    use crate::check::finding::Rule::Secret;

    #[test]
    fn a_secret_is_told_by_its_kind_alone() {
        let key = ["AKIA", "Q3EGRXZ5T7PLMN2W"].concat();
        let repository = TestRepository::new()
            .with("docs/a.md", &format!("---\nkey: {key}\n---\n```\nx {key} y\n```\n"))
            .with("AGENTS.md", &format!("{key}\n"))
            .with("src/a.md", &key);
        let finding = &repository.of(Secret)[0];
        assert_eq!(finding.message, "this looks like a secret (aws-access-key)");
        assert_eq!(finding.excerpt.as_deref(), Some("[masked: aws-access-key]"));
        assert!(!format!("{:?}", repository.all()).contains(&key));
        repository.check(Secret, &["AGENTS.md:1:1+20", "docs/a.md:2:6+20", "docs/a.md:5:3+20"]);
    }
}
