//! Packs candidates into a budget. Invariant: the final text never exceeds its tokens and characters, for any
//! candidates and any budget.

use std::cell::OnceCell;

use crate::core::context::budget::{Budget, Size};
use crate::core::context::build::ContextRequest;
use crate::core::context::candidate::{Candidate, Line, Part};
use crate::core::context::frame;
use crate::core::context::line::Forms;
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{PartUse, Shown};
use crate::core::handoff::section;
use crate::core::handoff::{HandoffSection, ListedFile};
use crate::core::tokens;
use crate::core::tokens::encoding::Encoding;

/// The parts that consist of entries, in text order.
pub(super) const SECTIONS: [Part; 4] = [Part::Notes, Part::Concepts, Part::Recent, Part::Graph];
/// A lower bound for the size of an entry.
const SHORTEST_ENTRY_TOKENS: usize = 4;
/// With less room left, a quoted note is tried in its shortest form first.
const LITTLE_ROOM_TOKENS: usize = 40;
/// The handoff always gets up to 1/`HANDOFF_SHARE` of the budget, and more if the other parts leave room.
const HANDOFF_SHARE: usize = 2;
/// If more than 1/`WASTED_SHARE` of the budget is left, one entry is shortened to make room for another.
const WASTED_SHARE: usize = 20;

/// By how many words notes are lengthened, round by round, where there is room.
const LENGTHENED_BY: [usize; 5] = [40, 80, 160, 320, usize::MAX];

/// A text that fits its budget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Packed {
    /// Empty if nothing fits.
    pub text: String,
    pub used: Size,
    pub parts: Vec<PartUse>,
    /// How each candidate is shown, in candidate order.
    pub shown: Vec<Option<Shown>>,
}

pub fn pack(request: &ContextRequest<'_>, candidates: &[Candidate]) -> Packed {
    let packer = Packer::new(request, candidates);
    packer.finish(packer.fill_all(request.budget))
}

/// The input of packing, with a cache of sizes.
pub(super) struct Packer<'a> {
    pub(super) request: &'a ContextRequest<'a>,
    pub(super) candidates: &'a [Candidate],
    pub(super) forms: Vec<Forms<'a>>,
    whole: Vec<OnceCell<(Size, usize)>>,
    pub(super) opening: String,
    /// The sizes of the headings of [`SECTIONS`], each with the blank line that ends its section.
    headings: [Size; SECTIONS.len()],
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub(super) extent: Option<usize>,
    pub(super) size: Size,
}

/// A text during packing.
#[derive(Clone)]
pub(super) struct Filling {
    pub(super) budget: Budget,
    used: Size,
    /// The longest run of backticks inside the fence.
    pub(super) longest_run: usize,
    pub(super) handoff: Option<String>,
    /// The listed files of the handoff; they get the rest of the room.
    pub(super) files: Option<String>,
    pub(super) placed: Vec<Option<Placed>>,
    /// The number of entries in each of [`SECTIONS`].
    in_section: [usize; SECTIONS.len()],
}

impl Filling {
    pub(super) fn n_omitted(&self) -> usize {
        self.placed.iter().filter(|placed| placed.is_none()).count()
    }
}

impl<'a> Packer<'a> {
    pub(super) fn new(request: &'a ContextRequest<'a>, candidates: &'a [Candidate]) -> Packer<'a> {
        let blank_line = Size { tokens: 1, chars: 1 };
        let heading =
            |part| measure(request.encoding, frame::heading(request.ranking, part)) + blank_line;
        Packer {
            request,
            candidates,
            forms: candidates.iter().map(|candidate| Forms::of(&candidate.line)).collect(),
            whole: vec![OnceCell::new(); candidates.len()],
            opening: frame::opening(request.ranking, request.moment, request.project),
            headings: SECTIONS.map(heading),
        }
    }

    pub(super) fn measure(&self, text: &str) -> Size {
        measure(self.request.encoding, text)
    }

    /// The size of a whole entry; cached.
    pub(super) fn whole(&self, candidate: usize) -> Size {
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

    /// Fills a budget as well as possible.
    pub(super) fn fill_all(&self, budget: Budget) -> Filling {
        let filling = self.fill(budget, 0);
        // The seed's layout counts what it leaves out.
        if filling.n_omitted() == 0 || self.request.ranking == Ranking::Notes {
            return filling;
        }
        // The line about omitted entries needs room, too. It is longest if all entries are omitted.
        self.fill(budget, self.forms.len())
    }

    /// Gives room to the handoff and then to the candidates, in order. Reserves room for a line about up to
    /// `omissions` omitted entries.
    fn fill(&self, budget: Budget, omissions: usize) -> Filling {
        let mut filling = Filling {
            budget,
            used: self.measure(&self.opening)
                + self.fence(0)
                + self.measure(frame::footer(self.request.ranking, self.request.moment)),
            longest_run: 0,
            handoff: None,
            files: None,
            placed: vec![None; self.forms.len()],
            in_section: [0; SECTIONS.len()],
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
        self.lengthen(&mut filling);
        filling
    }

    /// Gives the rest of the room to the handoff's listed files, if the handoff itself fits.
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
        match self.request.handoff {
            Some(HandoffSection::Handoff(handoff)) => &handoff.files,
            _ => &[],
        }
    }

    fn place_handoff(&self, filling: &mut Filling) {
        let Some(handoff) = self.request.handoff else { return };
        let budget = filling.budget;
        let mut others: Size = self.headings.into_iter().fold(filling.used, |sum, size| sum + size);
        for candidate in 0..self.forms.len() {
            if !budget.holds(others) {
                break;
            }
            others += self.whole(candidate);
        }
        // The share is a fraction of the whole budget, limited to the free room.
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

    /// Gives an entry as much room as possible, shortened if necessary.
    fn place(&self, filling: &mut Filling, candidate: usize) {
        if filling.used.tokens + SHORTEST_ENTRY_TOKENS > filling.budget.tokens {
            return;
        }
        if self.is_out_of_room(filling, candidate) {
            return;
        }
        let (whole, run) = self.whole_and_run(candidate);
        if self.has_room(filling, candidate, whole, run) {
            self.put(filling, candidate, Placed { extent: None, size: whole }, run);
            return;
        }
        if let Some((placed, run)) =
            self.longest_fit(filling, candidate, 0, self.forms[candidate].most())
        {
            self.put(filling, candidate, placed, run);
        }
    }

    /// Whether not even the shortest form of a quoted note has room. Near the end of the budget that is true of most
    /// notes, and known by counting one short text.
    fn is_out_of_room(&self, filling: &Filling, candidate: usize) -> bool {
        let left = filling.budget.tokens.saturating_sub(filling.used.tokens);
        if left >= LITTLE_ROOM_TOKENS
            || !matches!(self.candidates[candidate].line, Line::Quoted { .. })
        {
            return false;
        }
        let text = self.forms[candidate].text(0);
        !self.has_room(filling, candidate, self.measure(&text), frame::longest_run(&text))
    }

    /// The longest of some extents that has room.
    fn longest_fit(
        &self,
        filling: &Filling,
        candidate: usize,
        mut low: usize,
        mut too_large: usize,
    ) -> Option<(Placed, usize)> {
        let mut fits = None;
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
        fits
    }

    /// Quotes more of the notes, best first, if all have their room and some is left. No note gets much before the
    /// others have some.
    fn lengthen(&self, filling: &mut Filling) {
        for most in LENGTHENED_BY {
            for candidate in 0..self.forms.len() {
                self.lengthen_one(filling, candidate, most);
            }
        }
    }

    /// Quotes more of a note than its line has, and more than before: at most so many extents.
    fn lengthen_one(&self, filling: &mut Filling, candidate: usize, most: usize) {
        if filling.used.tokens + SHORTEST_ENTRY_TOKENS > filling.budget.tokens {
            return;
        }
        let Some(Placed { extent, size }) = filling.placed[candidate] else { return };
        let forms = &self.forms[candidate];
        let line = forms.most();
        let from = match extent {
            None => line + 1,
            Some(extent) if extent > line => extent + 1,
            Some(_) => return,
        };
        let to = line.saturating_add(most).min(forms.longest()) + 1;
        let mut without = filling.clone();
        without.used = without.used - size;
        if let Some((placed, run)) = self.longest_fit(&without, candidate, from, to) {
            filling.used = without.used;
            filling.in_section[self.section(candidate)] -= 1;
            self.put(filling, candidate, placed, run);
        }
    }

    /// The size that an entry adds: its text, the heading of its section if it is the first entry there, and a longer
    /// fence.
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
        let part = self.candidates[candidate].part;
        SECTIONS.iter().position(|&section| section == part).unwrap_or_default()
    }

    /// If much room is left, but too little for the next entry, shortens one description to make that entry fit.
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
                    // The section already counts the giver.
                    trial.in_section[self.section(giver)] -= 1;
                    *filling = trial;
                    return;
                }
            }
        }
    }
}

/// The size of a text.
pub fn measure(encoding: Encoding, text: &str) -> Size {
    Size { tokens: tokens::count(encoding, text), chars: text.chars().map(char::len_utf16).sum() }
}
