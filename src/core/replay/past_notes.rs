//! The notes of a history as a replay reads them: each version once, as long as it is the last one asked for.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::core::replay::note::PastNote;
use crate::core::replay::step::{Blob, Versions};

/// Longer notes are cut.
pub const MOST_CHARS: usize = 200_000;

/// Reads contents with `R`.
pub struct PastNotes<R> {
    read: R,
    /// By path.
    known: HashMap<String, (Blob, Arc<PastNote>)>,
}

impl<E, R: FnMut(&Blob) -> Result<Vec<u8>, E>> PastNotes<R> {
    pub fn new(read: R) -> PastNotes<R> {
        PastNotes { read, known: HashMap::new() }
    }

    pub fn note(&mut self, path: &str, blob: &Blob) -> Result<Arc<PastNote>, E> {
        if let Some((known, note)) = self.known.get(path)
            && known == blob
        {
            return Ok(Arc::clone(note));
        }
        let text = text(&(self.read)(blob)?);
        let note = Arc::new(PastNote::new(path, text));
        self.known.insert(path.to_owned(), (Arc::clone(blob), Arc::clone(&note)));
        Ok(note)
    }

    pub fn all(&mut self, versions: &Versions) -> Result<BTreeMap<String, Arc<PastNote>>, E> {
        let notes = versions.0.iter();
        notes.map(|(path, version)| Ok((path.clone(), self.note(path, &version.blob)?))).collect()
    }
}

fn text(bytes: &[u8]) -> Arc<str> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    if text.len() <= MOST_CHARS {
        return Arc::from(text);
    }
    let end = text.char_indices().nth(MOST_CHARS).map_or(text.len(), |(at, _)| at);
    Arc::from(&text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn a_version_is_read_once() {
        let mut n_reads = 0;
        let mut notes = PastNotes::new(|blob: &Blob| {
            n_reads += 1;
            Ok::<_, Infallible>(format!("{blob}\r\n\u{e4}").into_bytes())
        });
        let (one, two) = (Blob::from("one"), Blob::from("two"));
        assert_eq!(&*notes.note("a.md", &one).unwrap().text, "one\n\u{e4}");
        notes.note("a.md", &one).unwrap();
        assert_eq!(&*notes.note("a.md", &two).unwrap().text, "two\n\u{e4}");
        assert_eq!(n_reads, 2);
        assert_eq!(&*text(b"a\xff"), "a\u{fffd}");
        assert_eq!(text("\u{e4}".repeat(MOST_CHARS + 1).as_bytes()).chars().count(), MOST_CHARS);
    }
}
