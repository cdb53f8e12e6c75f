//! What the default layout shows of a note that no index has read: its card, as the index would have it.

use crate::core::note::front_matter;
use crate::core::quote::card::card;
use crate::core::quote::lines::body_lines;
use crate::core::quote::thinking::Thinking;
use crate::core::secrets;
use crate::core::text::for_model;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retold {
    /// `None` for a note, which has a title of its own.
    pub title: Option<String>,
    pub card: String,
}

impl Retold {
    /// Reads a whole file of maenifold's memory.
    pub fn of_file(path: &str, text: &str) -> Retold {
        if let Some(Thinking { title, card, .. }) =
            Thinking::is_kept_at(path).then(|| Thinking::of_file(path, text)).flatten()
        {
            return Retold { title: Some(title), card };
        }
        let (_, body) = front_matter::split(text);
        let body = for_model::visible(body);
        Retold { title: None, card: card("", &body_lines(&secrets::mask(&body))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_told_by_its_card_and_a_document_of_maenifolds_by_what_it_says() {
        let note = "---\ntitle: T\n---\n\n# T\n\nThe [[ledger]] is append-only, with the key AKIAQ3EGRXZ5T7PLMN2W.\n";
        let told = Retold::of_file("tech/t.md", note);
        assert_eq!(told.title, None);
        assert!(told.card.starts_with("The ledger is append-only, with the key "), "{told:?}");
        assert!(!told.card.contains("AKIAQ3"), "{told:?}");
        let assumption = "---\nstatus: active\nconfidence: high\ncontext: api\n---\n\n## Statement\n\n[[x]] holds\n";
        let expect = Retold {
            title: Some("x holds".to_owned()),
            card: "Assumption (active, high confidence, about api).".to_owned(),
        };
        assert_eq!(Retold::of_file("assumptions/2026/11/a.md", assumption), expect);
    }
}
