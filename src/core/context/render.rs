//! Writes a packed context as text. Measures the whole text, and drops entries if it is too long after all.

use crate::core::context::budget::Size;
use crate::core::context::candidate::Part;
use crate::core::context::frame;
use crate::core::context::pack::{Filling, Packed, Packer, Placed, SECTIONS};
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{PartUse, Shown};

/// A piece of the text. The tokens of all pieces add up to the tokens of the whole text.
struct Piece {
    part: Part,
    text: String,
    /// `None` until measured.
    size: Option<Size>,
}

impl Piece {
    fn new(part: Part, text: impl Into<String>) -> Piece {
        Piece { part, text: text.into(), size: None }
    }
}

impl Packer<'_> {
    pub(super) fn finish(&self, mut filling: Filling) -> Packed {
        loop {
            if filling.handoff.is_none() && filling.placed.iter().all(Option::is_none) {
                return Packed { shown: vec![None; self.forms.len()], ..Packed::default() };
            }
            let pieces = self.pieces(&filling);
            let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let used = self.measure(&text);
            if filling.budget.holds(used) {
                let shown = |placed: &Option<Placed>| {
                    placed.map(|Placed { extent, size }| Shown { extent, tokens: size.tokens })
                };
                let shown = filling.placed.iter().map(shown).collect();
                return Packed { text, used, parts: self.parts(&pieces), shown };
            }
            match filling.placed.iter().rposition(Option::is_some) {
                _ if filling.files.is_some() => filling.files = None,
                Some(last) => filling.placed[last] = None,
                None => filling.handoff = None,
            }
        }
    }

    fn parts(&self, pieces: &[Piece]) -> Vec<PartUse> {
        let size = |piece: &Piece| piece.size.unwrap_or_else(|| self.measure(&piece.text));
        let tokens = |part: Part| -> usize {
            pieces.iter().filter(|piece| piece.part == part).map(|piece| size(piece).tokens).sum()
        };
        let parts = Part::ALL.map(|name| PartUse { name, tokens: tokens(name) });
        parts.into_iter().filter(|part| part.tokens > 0).collect()
    }

    fn pieces(&self, filling: &Filling) -> Vec<Piece> {
        let ticks = frame::ticks_around(filling.longest_run);
        let mut pieces = vec![
            Piece::new(Part::Frame, self.opening.as_str()),
            Piece::new(Part::Frame, frame::fence_opening(ticks)),
        ];
        pieces.extend(filling.handoff.as_deref().map(|text| Piece::new(Part::Handoff, text)));
        for part in SECTIONS {
            pieces.extend(self.section_pieces(filling, part));
        }
        pieces.extend(filling.files.as_deref().map(|text| Piece::new(Part::Files, text)));
        // No blank line precedes the closing fence.
        if let Some(last) = pieces.last_mut() {
            last.text.pop();
            last.size = None;
        }
        pieces.push(Piece::new(Part::Frame, frame::fence_closing(ticks)));
        let n_omitted = filling.n_omitted();
        if n_omitted > 0 && self.request.ranking == Ranking::Frequency {
            pieces.push(Piece::new(Part::Frame, frame::omission(n_omitted)));
        }
        let footer = frame::footer(self.request.ranking, self.request.moment);
        pieces.push(Piece::new(Part::Frame, footer));
        pieces
    }

    fn section_pieces(&self, filling: &Filling, part: Part) -> Vec<Piece> {
        let placed = filling.placed.iter().enumerate();
        let entries = placed.filter(|(n, _)| self.candidates[*n].part == part);
        let mut pieces: Vec<Piece> = entries
            .filter_map(|(n, placed)| {
                let Placed { extent, size } = (*placed)?;
                Some(Piece { part, text: self.forms[n].shown(extent), size: Some(size) })
            })
            .collect();
        // The blank line after a section belongs to its last entry, so the size of that entry changes.
        if let Some(last) = pieces.last_mut() {
            last.text.push('\n');
            last.size = None;
            pieces.insert(0, Piece::new(part, frame::heading(self.request.ranking, part)));
        }
        pieces
    }
}
