//! Packs candidates into a budget. The law: the final text has at most so many tokens and characters, whatever the
//! candidates are and however small the budget.

use std::cell::OnceCell;

use crate::core::context::budget::{Budget, Size};
use crate::core::context::candidate::{Candidate, Part};
use crate::core::context::frame;
use crate::core::context::line::Forms;
use crate::core::context::receipt::{PartUse, Shown};
use crate::core::handoff::section;
use crate::core::handoff::{HandoffSection, ListedFile};
use crate::core::tokens;
use crate::core::tokens::encoding::Encoding;

/// The parts that are made of entries, in the order in which they stand in the text.
const SECTIONS: [Part; 3] = [Part::Concepts, Part::Recent, Part::Graph];
/// No entry is shorter than this.
const SHORTEST_ENTRY_TOKENS: usize = 4;
/// A handoff may always take this share of the budget, and more where the rest leaves room.
const HANDOFF_SHARE: usize = 2;
/// When more than one part in so many of the budget is left, an entry is shortened to let another one in.
const WASTED_SHARE: usize = 20;
/// So many larger budgets are tried one by one, to tell which lets an entry in.
const TRIED_ONE_BY_ONE: usize = 300;

/// What is to be packed.
#[derive(Debug, Clone, Copy)]
pub struct Packing<'a> {
    /// How tokens are counted.
    pub encoding: Encoding,
    /// How much room there is.
    pub budget: Budget,
    /// The project's name.
    pub project: Option<&'a str>,
    /// What is said about handoffs, which comes first.
    pub handoff: Option<&'a HandoffSection>,
    /// The entries, in the order in which they are given room.
    pub candidates: &'a [Candidate],
}

/// A text that keeps its budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The text; empty where nothing fits.
    pub text: String,
    /// What it takes up, counted on the whole.
    pub used: Size,
    /// What each part takes up.
    pub parts: Vec<PartUse>,
    /// The candidates' lines, in the order of the candidates.
    pub shown: Vec<Option<Shown>>,
}

/// Packs as much as fits.
pub fn pack(packing: &Packing<'_>) -> Packed {
    let desk = Desk::new(packing);
    let filling = desk.fill_all(packing.budget);
    desk.finish(filling)
}

/// For every entry that was left out, a budget in tokens at which it would be taken in: the first one of the next few
/// hundred, or one further on with less than which it would not. `None` for the others, and where more tokens do not help
/// because the host has a limit of its own: `grant` narrows a number of tokens to what the host takes.
pub fn prices(packing: &Packing<'_>, grant: impl Fn(usize) -> Budget) -> Vec<Option<usize>> {
    let desk = Desk::new(packing);
    let now = packing.budget.tokens;
    let taken_at = |tokens: usize| desk.fill_all(grant(tokens)).placed;
    let mut missing: Vec<bool> =
        desk.fill_all(packing.budget).placed.iter().map(Option::is_none).collect();
    let mut prices = vec![None; missing.len()];
    // Not every entry that is in at one budget is in at the next larger one: so these are tried one by one.
    for tokens in (now + 1)..=(now + TRIED_ONE_BY_ONE) {
        if !missing.contains(&true) || grant(tokens).tokens < tokens {
            return prices;
        }
        for (candidate, placed) in taken_at(tokens).iter().enumerate() {
            if missing[candidate] && placed.is_some() {
                missing[candidate] = false;
                prices[candidate] = Some(tokens);
            }
        }
    }
    let all: usize = (0..missing.len()).map(|candidate| desk.whole(candidate).tokens).sum();
    let most = now + all + TRIED_ONE_BY_ONE;
    let taken_at_most = taken_at(most);
    for candidate in (0..missing.len()).filter(|&candidate| missing[candidate]) {
        if taken_at_most[candidate].is_none() {
            continue;
        }
        let (mut without, mut with) = (now + TRIED_ONE_BY_ONE, most);
        while with - without > 1 {
            let middle = without + (with - without) / 2;
            if taken_at(middle)[candidate].is_some() { with = middle } else { without = middle }
        }
        prices[candidate] = Some(with);
    }
    prices
}

/// The packing with what has been measured so far.
struct Desk<'a> {
    packing: &'a Packing<'a>,
    forms: Vec<Forms<'a>>,
    whole: Vec<OnceCell<(Size, usize)>>,
    opening: String,
    /// Sizes of the headings of [`SECTIONS`], each with the blank line that ends its section.
    headings: [Size; 3],
}

/// An entry that has its place.
#[derive(Debug, Clone, Copy)]
struct Placed {
    extent: Option<usize>,
    size: Size,
}

/// A text while it is being filled.
#[derive(Clone)]
struct Filling {
    budget: Budget,
    used: Size,
    /// The longest run of backticks inside of the fence.
    longest_run: usize,
    handoff: Option<String>,
    /// The files that the handoff lists: they get what is left.
    files: Option<String>,
    placed: Vec<Option<Placed>>,
    /// How many entries each of [`SECTIONS`] has.
    in_section: [usize; 3],
}

impl Filling {
    fn n_omitted(&self) -> usize {
        self.placed.iter().filter(|placed| placed.is_none()).count()
    }
}

impl<'a> Desk<'a> {
    fn new(packing: &'a Packing<'a>) -> Desk<'a> {
        let blank_line = Size { tokens: 1, chars: 1 };
        let encoding = packing.encoding;
        Desk {
            packing,
            forms: packing.candidates.iter().map(|candidate| Forms::of(&candidate.line)).collect(),
            whole: vec![OnceCell::new(); packing.candidates.len()],
            opening: frame::opening(packing.project),
            headings: SECTIONS.map(|part| measure(encoding, frame::heading(part)) + blank_line),
        }
    }

    fn measure(&self, text: &str) -> Size {
        measure(self.packing.encoding, text)
    }

    /// The size of a whole entry, measured once.
    fn whole(&self, candidate: usize) -> Size {
        self.whole_and_run(candidate).0
    }

    fn whole_and_run(&self, candidate: usize) -> (Size, usize) {
        *self.whole[candidate].get_or_init(|| {
            let text = self.forms[candidate].whole();
            (self.measure(&text), frame::longest_run(&text))
        })
    }

    fn fence(&self, longest_run: usize) -> Size {
        let ticks = frame::ticks_around(longest_run);
        self.measure(&frame::fence_opening(ticks)) + self.measure(&frame::fence_closing(ticks))
    }

    /// Fills a budget as well as can be.
    fn fill_all(&self, budget: Budget) -> Filling {
        let filling = self.fill(budget, 0);
        if filling.n_omitted() == 0 {
            return filling;
        }
        // What was left out is said, and saying it takes room; the line is never longer than for all of them.
        self.fill(budget, self.forms.len())
    }

    /// Gives room to the handoff and to the candidates in their order, and keeps some to say that up to `omissions`
    /// of them were left out.
    fn fill(&self, budget: Budget, omissions: usize) -> Filling {
        let mut filling = Filling {
            budget,
            used: self.measure(&self.opening) + self.fence(0) + self.measure(frame::FOOTER),
            longest_run: 0,
            handoff: None,
            files: None,
            placed: vec![None; self.forms.len()],
            in_section: [0; 3],
        };
        if omissions > 0 {
            filling.used += self.measure(&frame::omission(omissions));
        }
        self.place_handoff(&mut filling);
        for candidate in 0..self.forms.len() {
            self.place(&mut filling, candidate);
        }
        self.spend_the_rest(&mut filling);
        self.place_files(&mut filling);
        filling
    }

    /// Gives what is left to the files that the handoff lists, if it is there itself.
    fn place_files(&self, filling: &mut Filling) {
        let files = self.listed_files();
        if files.is_empty() || filling.handoff.is_none() {
            return;
        }
        let Budget { tokens, chars } = filling.budget;
        let room = Budget {
            tokens: tokens.saturating_sub(filling.used.tokens),
            chars: chars.map(|chars| chars.saturating_sub(filling.used.chars)),
        };
        let Some(text) = section::render_files(files, room, |text| self.measure(text)) else {
            return;
        };
        let longest_run = frame::longest_run(&text).max(filling.longest_run);
        let longer_fence = self.fence(longest_run) - self.fence(filling.longest_run);
        let size = self.measure(&text) + longer_fence;
        if filling.budget.holds(filling.used + size) {
            filling.used += size;
            filling.longest_run = longest_run;
            filling.files = Some(text);
        }
    }

    fn listed_files(&self) -> &[ListedFile] {
        match self.packing.handoff {
            Some(HandoffSection::Handoff(handoff)) => &handoff.files,
            _ => &[],
        }
    }

    fn place_handoff(&self, filling: &mut Filling) {
        let Some(handoff) = self.packing.handoff else { return };
        let budget = filling.budget;
        let mut others: Size = self.headings.into_iter().fold(filling.used, |sum, size| sum + size);
        for candidate in 0..self.forms.len() {
            if !budget.holds(others) {
                break;
            }
            others += self.whole(candidate);
        }
        // Its share counts from all of the budget, and is never more than is there.
        let room = |all: usize, used: usize, others: usize| {
            (all / HANDOFF_SHARE).max(all.saturating_sub(others)).min(all.saturating_sub(used))
        };
        let room = Budget {
            tokens: room(budget.tokens, filling.used.tokens, others.tokens),
            chars: budget.chars.map(|chars| room(chars, filling.used.chars, others.chars)),
        };
        let Some(text) = section::render(handoff, room, |text| self.measure(text)) else { return };
        let longest_run = frame::longest_run(&text);
        let size = self.measure(&text) + (self.fence(longest_run) - self.fence(0));
        if budget.holds(filling.used + size) {
            filling.used += size;
            filling.longest_run = longest_run;
            filling.handoff = Some(text);
        }
    }

    /// Gives an entry as much room as there is.
    fn place(&self, filling: &mut Filling, candidate: usize) {
        if filling.used.tokens + SHORTEST_ENTRY_TOKENS > filling.budget.tokens {
            return;
        }
        let (whole, run) = self.whole_and_run(candidate);
        if self.has_room(filling, candidate, whole, run) {
            self.put(filling, candidate, Placed { extent: None, size: whole }, run);
            return;
        }
        let (mut fits, mut too_large) = (None, self.forms[candidate].most());
        let mut low = 0;
        while low < too_large {
            let extent = low + (too_large - low) / 2;
            let text = self.forms[candidate].text(extent);
            let (size, run) = (self.measure(&text), frame::longest_run(&text));
            if self.has_room(filling, candidate, size, run) {
                fits = Some((Placed { extent: Some(extent), size }, run));
                low = extent + 1;
            } else {
                too_large = extent;
            }
        }
        if let Some((placed, run)) = fits {
            self.put(filling, candidate, placed, run);
        }
    }

    /// What an entry adds: itself, the heading of its section if it is the first there, and a longer fence.
    fn added(&self, filling: &Filling, candidate: usize, size: Size, run: usize) -> Size {
        let mut added = size;
        let section = self.section(candidate);
        if filling.in_section[section] == 0 {
            added += self.headings[section];
        }
        if frame::ticks_around(run) > frame::ticks_around(filling.longest_run) {
            added += self.fence(run) - self.fence(filling.longest_run);
        }
        added
    }

    fn has_room(&self, filling: &Filling, candidate: usize, size: Size, run: usize) -> bool {
        filling.budget.holds(filling.used + self.added(filling, candidate, size, run))
    }

    fn put(&self, filling: &mut Filling, candidate: usize, placed: Placed, run: usize) {
        filling.used += self.added(filling, candidate, placed.size, run);
        filling.longest_run = filling.longest_run.max(run);
        filling.in_section[self.section(candidate)] += 1;
        filling.placed[candidate] = Some(placed);
    }

    fn section(&self, candidate: usize) -> usize {
        let part = self.packing.candidates[candidate].part;
        SECTIONS.iter().position(|&section| section == part).unwrap_or_default()
    }

    /// Where much room is left, but too little for the next entry, shortens a description to let that entry in.
    fn spend_the_rest(&self, filling: &mut Filling) {
        let Budget { tokens, chars } = filling.budget;
        let is_spent = |all: usize, used: usize| all.saturating_sub(used) <= all / WASTED_SHARE;
        if is_spent(tokens, filling.used.tokens)
            || chars.is_some_and(|chars| is_spent(chars, filling.used.chars))
        {
            return;
        }
        let left_out: Vec<usize> =
            (0..self.forms.len()).filter(|&n| filling.placed[n].is_none()).collect();
        for &newcomer in &left_out {
            let text = self.forms[newcomer].text(0);
            let (size, run) = (self.measure(&text), frame::longest_run(&text));
            for giver in (0..self.forms.len()).rev() {
                let Some(Placed { extent, size: given }) = filling.placed[giver] else { continue };
                if extent.unwrap_or_else(|| self.forms[giver].most()) == 0 {
                    continue;
                }
                let mut trial = filling.clone();
                trial.used = trial.used - given;
                trial.placed[giver] = None;
                if !self.has_room(&trial, newcomer, size, run) {
                    continue;
                }
                self.put(&mut trial, newcomer, Placed { extent: Some(0), size }, run);
                self.place(&mut trial, giver);
                if trial.placed[giver].is_some() {
                    // Its section has counted the giver all along.
                    trial.in_section[self.section(giver)] -= 1;
                    *filling = trial;
                    return;
                }
            }
        }
    }

    /// Writes the text, counts it as a whole, and takes back entries if it should be too long after all.
    fn finish(&self, mut filling: Filling) -> Packed {
        loop {
            if filling.handoff.is_none() && filling.placed.iter().all(Option::is_none) {
                return self.nothing();
            }
            let pieces = self.pieces(&filling);
            let text: String = pieces.iter().map(|(_, piece, _)| piece.as_str()).collect();
            let used = self.measure(&text);
            if filling.budget.holds(used) {
                return self.packed(&filling, text, used, &pieces);
            }
            match filling.placed.iter().rposition(Option::is_some) {
                _ if filling.files.is_some() => filling.files = None,
                Some(last) => filling.placed[last] = None,
                None => filling.handoff = None,
            }
        }
    }

    fn nothing(&self) -> Packed {
        Packed {
            text: String::new(),
            used: Size::default(),
            parts: Vec::new(),
            shown: vec![None; self.forms.len()],
        }
    }

    fn packed(
        &self,
        filling: &Filling,
        text: String,
        used: Size,
        pieces: &[(Part, String, Option<Size>)],
    ) -> Packed {
        let shown = |placed: &Option<Placed>| {
            placed.map(|Placed { extent, size }| Shown { extent, tokens: size.tokens })
        };
        let tokens = |part: Part| -> usize {
            let of_part = pieces.iter().filter(|piece| piece.0 == part);
            let size =
                |piece: &Option<Size>, text: &str| piece.unwrap_or_else(|| self.measure(text));
            of_part.map(|(_, piece, known)| size(known, piece).tokens).sum()
        };
        let parts = Part::ALL.map(|name| PartUse { name, tokens: tokens(name) });
        Packed {
            text,
            used,
            parts: parts.into_iter().filter(|part| part.tokens > 0).collect(),
            shown: filling.placed.iter().map(shown).collect(),
        }
    }

    /// The text in pieces whose tokens add up, with the sizes that are known.
    fn pieces(&self, filling: &Filling) -> Vec<(Part, String, Option<Size>)> {
        let ticks = frame::ticks_around(filling.longest_run);
        let mut pieces = vec![
            (Part::Frame, self.opening.clone(), None),
            (Part::Frame, frame::fence_opening(ticks), None),
        ];
        if let Some(text) = &filling.handoff {
            pieces.push((Part::Handoff, text.clone(), None));
        }
        for part in SECTIONS {
            let of_part =
                |&(candidate, _): &(usize, Placed)| self.packing.candidates[candidate].part == part;
            let placed = filling.placed.iter().enumerate();
            let entries: Vec<(usize, Placed)> =
                placed.filter_map(|(n, placed)| Some((n, (*placed)?))).filter(of_part).collect();
            if entries.is_empty() {
                continue;
            }
            pieces.push((part, frame::heading(part).to_owned(), None));
            for (candidate, placed) in entries {
                pieces.push((part, self.forms[candidate].shown(placed.extent), Some(placed.size)));
            }
            // The blank line after a section belongs to its last entry, which is then another text.
            if let Some((_, last, known)) = pieces.last_mut() {
                last.push('\n');
                *known = None;
            }
        }
        if let Some(text) = &filling.files {
            pieces.push((Part::Files, text.clone(), None));
        }
        // There is no blank line before the end of the fence.
        if let Some((_, last, known)) = pieces.last_mut() {
            last.pop();
            *known = None;
        }
        pieces.push((Part::Frame, frame::fence_closing(ticks), None));
        let n_omitted = filling.n_omitted();
        if n_omitted > 0 {
            pieces.push((Part::Frame, frame::omission(n_omitted), None));
        }
        pieces.push((Part::Frame, frame::FOOTER.to_owned(), None));
        pieces
    }
}

/// What a text takes up.
pub fn measure(encoding: Encoding, text: &str) -> Size {
    Size { tokens: tokens::count(encoding, text), chars: text.chars().map(char::len_utf16).sum() }
}
