//! Answers about notes without the secrets that titles, addresses and file names can hold.

use crate::core::search::answer::{
    ContextAnswer, NamedNote, ReadAnswer, RecentAnswer, RecentItem, SearchAnswer,
};
use crate::core::secrets::{mask, mask_in};

/// An answer that can be masked.
pub trait Masked {
    fn mask(&mut self);
}

impl Masked for SearchAnswer {
    fn mask(&mut self) {
        for hit in &mut self.results {
            mask_in(&mut hit.uri);
            mask_in(&mut hit.title);
            hit.path.iter_mut().for_each(mask_in);
        }
    }
}

impl Masked for RecentAnswer {
    fn mask(&mut self) {
        for RecentItem { uri, path, title, .. } in
            self.items.iter_mut().chain(&mut self.newest_older)
        {
            mask_in(uri);
            mask_in(title);
            path.iter_mut().for_each(mask_in);
        }
    }
}

impl Masked for ContextAnswer {
    fn mask(&mut self) {
        self.file_references.iter_mut().for_each(mask_in);
        self.related_concepts.iter_mut().flat_map(|related| &mut related.uris).for_each(mask_in);
        let paths = std::mem::take(&mut self.paths).into_iter();
        let masked = |text: String| mask(&text).into_owned();
        self.paths = paths.map(|(uri, path)| (masked(uri), masked(path))).collect();
    }
}

impl Masked for ReadAnswer {
    fn mask(&mut self) {
        let mask = |note: &mut NamedNote| {
            [&mut note.uri, &mut note.path, &mut note.title].into_iter().for_each(mask_in);
        };
        match self {
            ReadAnswer::Note { note, .. } => mask(note),
            ReadAnswer::Concept { notes, .. } => {
                notes.iter_mut().for_each(|quoted| mask(&mut quoted.note));
            }
            ReadAnswer::Ambiguous { notes, .. } => notes.iter_mut().for_each(mask),
            ReadAnswer::Unknown { .. } => {}
        }
    }
}
