//! Counts the edges of a whole vault: pairs of concepts with the number of notes that they share.

use crate::core::note::freshness::{FadingDays, FreshUntil};

/// The number of edges per batch.
const BATCH: usize = 1_024;

/// Two concepts that share notes, `a < b`.
pub(super) struct Edge {
    pub(super) a: u32,
    pub(super) b: u32,
    pub(super) notes: u32,
    /// [`FadingDays`] of the shared notes, as bytes.
    pub(super) fading: Vec<u8>,
}

/// The concepts of every note, from which all edges are counted at the end.
///
/// Edges are counted one concept at a time, in storage order. The pairs of all notes together would
/// not fit into memory; those of one concept do.
#[derive(Default)]
pub(super) struct EdgeCollector {
    concepts: Vec<u32>,
    /// The end of each note's concepts.
    ends: Vec<usize>,
    fresh_until: Vec<FreshUntil>,
}

impl EdgeCollector {
    /// Adds a note's concepts, in ascending order.
    pub(super) fn add(&mut self, concepts: impl Iterator<Item = u32>, fresh_until: FreshUntil) {
        self.concepts.extend(concepts);
        self.ends.push(self.concepts.len());
        self.fresh_until.push(fresh_until);
    }

    fn concepts_of(&self, note_idx: usize) -> &[u32] {
        let start = note_idx.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.concepts[start..self.ends[note_idx]]
    }

    /// The notes of every concept: the notes of `c` are `notes[starts[c]..starts[c + 1]]`.
    fn notes_by_concept(&self, n_concepts: usize) -> (Vec<usize>, Vec<u32>) {
        let mut starts = vec![0; n_concepts + 1];
        for &concept in &self.concepts {
            starts[concept as usize + 1] += 1;
        }
        for concept in 0..n_concepts {
            starts[concept + 1] += starts[concept];
        }
        let mut next = starts.clone();
        let mut notes = vec![0; self.concepts.len()];
        for note_idx in 0..self.ends.len() {
            for &concept in self.concepts_of(note_idx) {
                notes[next[concept as usize]] = note_idx as u32;
                next[concept as usize] += 1;
            }
        }
        (starts, notes)
    }

    /// Counts all edges in storage order; stops when `take` returns `false`.
    pub(super) fn count(&self, n_concepts: usize, mut take: impl FnMut(Vec<Edge>) -> bool) {
        let (starts, notes) = self.notes_by_concept(n_concepts);
        let mut shared: Vec<(u32, FreshUntil)> = Vec::new();
        let mut days = FadingDays::default();
        let mut batch = Vec::with_capacity(BATCH);
        for a in 0..n_concepts {
            shared.clear();
            for &note_idx in &notes[starts[a]..starts[a + 1]] {
                let concepts = self.concepts_of(note_idx as usize);
                let above = concepts.partition_point(|&concept| concept as usize <= a);
                let fresh_until = self.fresh_until[note_idx as usize];
                shared.extend(concepts[above..].iter().map(|&b| (b, fresh_until)));
            }
            shared.sort_unstable();
            for group in shared.chunk_by(|x, y| x.0 == y.0) {
                days.clear();
                group.iter().for_each(|&(_, fresh_until)| days.add(fresh_until));
                let mut fading = Vec::new();
                days.write_to(&mut fading);
                batch.push(Edge { a: a as u32, b: group[0].0, notes: group.len() as u32, fading });
                if batch.len() == BATCH
                    && !take(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))
                {
                    return;
                }
            }
        }
        take(batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_a_note_is_counted_once() {
        let mut edges = EdgeCollector::default();
        edges.add([0, 2, 3].into_iter(), Some(5));
        edges.add([2, 3].into_iter(), None);
        edges.add([1].into_iter(), Some(9));
        edges.add([].into_iter(), Some(9));
        let mut found = Vec::new();
        edges.count(4, |batch| {
            found.extend(batch.into_iter().map(|edge| (edge.a, edge.b, edge.notes)));
            true
        });
        assert_eq!(found, [(0, 2, 1), (0, 3, 1), (2, 3, 2)]);
    }
}
