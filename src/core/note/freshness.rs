//! How long a note counts in full, and how its weight fades after that: maenifold's decay, by whole days.

use crate::core::note::NotePath;
use crate::core::time::{Day, Timestamp};

/// The last day on which a note counts in full; `None` for a note that never fades.
///
/// maenifold's weight is 1 for a grace period after `created` and then falls with the days since. Grace and
/// creation only ever appear as this sum, so the sum is all that the index keeps.
pub type FreshUntil = Option<Day>;

/// Returns when a note created at `created` stops counting in full. Without a date it never does.
pub fn fresh_until(path: &NotePath, created: Option<Timestamp>) -> FreshUntil {
    created.map(|created| created.day().saturating_add(grace_days(path)))
}

/// How many days a note counts in full.
fn grace_days(path: &NotePath) -> Day {
    Decay::default().grace_days(path)
}

/// maenifold's decay as its owner has set it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// Days of grace for sequential thinking.
    pub sequential: Day,
    /// Days of grace for workflows.
    pub workflows: Day,
    /// Days of grace for all other notes.
    pub default: Day,
    /// The number of days in which a weight falls by half, unless the power law applies.
    pub half_life: Option<Day>,
}

impl Default for Decay {
    fn default() -> Decay {
        Decay { sequential: 7, workflows: 14, default: 28, half_life: None }
    }
}

impl Decay {
    /// The weight of a note of this age in days.
    pub fn weight(&self, path: &NotePath, days: Day) -> f64 {
        let grace = self.grace_days(path);
        match self.half_life {
            Some(half_life) if days > grace => {
                0.5_f64.powf(f64::from(days.saturating_sub(grace)) / f64::from(half_life.max(1)))
            }
            _ => weight(Some(grace), days),
        }
    }

    fn grace_days(&self, path: &NotePath) -> Day {
        // "/workflows/" never matches maenifold's own folder, which is singular. The rule is kept as it is there.
        if is_below(path.as_str(), "sequential") {
            self.sequential
        } else if is_below(path.as_str(), "workflows") {
            self.workflows
        } else {
            self.default
        }
    }
}

/// Whether a path has a folder of this name, or a name that begins so in the folder `thinking`.
fn is_below(path: &str, name: &str) -> bool {
    path.match_indices(name).any(|(at, _)| {
        let (before, behind) = (&path[..at], &path[at + name.len()..]);
        let is_begin = before.is_empty() || before.ends_with('/');
        is_begin && behind.starts_with('/') || before.ends_with("thinking/")
    })
}

/// Returns the weight of a note on day `today`: 1 while fresh, then days^-0.5.
pub fn weight(fresh_until: FreshUntil, today: Day) -> f64 {
    match fresh_until {
        Some(last) if today > last => 1.0 / f64::from(today.saturating_sub(last)).sqrt(),
        _ => 1.0,
    }
}

/// How many notes of a group stop being fresh on which day; notes that never fade are left out.
///
/// An edge keeps one of these instead of its notes: a hub's edge spans thousands of notes, but no more days
/// than the vault is old, so that reading it stays cheap however large the vault grows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FadingDays(Vec<(Day, u32)>);

impl FadingDays {
    pub fn add(&mut self, fresh_until: FreshUntil) {
        let Some(day) = fresh_until else { return };
        match self.0.binary_search_by_key(&day, |&(day, _)| day) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) => self.0.insert(at, (day, 1)),
        }
    }

    /// Takes one note away again.
    pub fn remove(&mut self, fresh_until: FreshUntil) {
        let Some(day) = fresh_until else { return };
        if let Ok(at) = self.0.binary_search_by_key(&day, |&(day, _)| day) {
            self.0[at].1 -= 1;
            if self.0[at].1 == 0 {
                self.0.remove(at);
            }
        }
    }

    /// Makes room for another group.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Sums the weights of `notes` notes on day `today`, of which these fade.
    pub fn weight(&self, notes: u32, today: Day) -> f64 {
        let fading: u32 = self.0.iter().map(|&(_, n)| n).sum();
        let faded: f64 =
            self.0.iter().map(|&(day, n)| f64::from(n) * weight(Some(day), today)).sum();
        f64::from(notes.saturating_sub(fading)) + faded
    }

    /// Writes the days as bytes: per day the distance to the one before and the count, as LEB128 numbers.
    pub fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.clear();
        let mut last: i64 = 0;
        for &(day, n) in &self.0 {
            let distance = i64::from(day) - last;
            last = i64::from(day);
            // Only the first distance can be negative (a date before 1970): zigzag keeps it small either way.
            write_leb128(bytes, ((distance << 1) ^ (distance >> 63)) as u64);
            write_leb128(bytes, u64::from(n));
        }
    }

    /// Reads what [`FadingDays::write_to`] wrote; `None` for anything else.
    pub fn from_bytes(mut bytes: &[u8]) -> Option<FadingDays> {
        let mut days = Vec::new();
        let mut last: i64 = 0;
        while !bytes.is_empty() {
            let zigzag = read_leb128(&mut bytes)?;
            last = last.checked_add((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))?;
            days.push((Day::try_from(last).ok()?, u32::try_from(read_leb128(&mut bytes)?).ok()?));
        }
        Some(FadingDays(days))
    }
}

fn write_leb128(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn read_leb128(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).unwrap()
    }

    #[test]
    fn a_note_fades_after_its_grace_period() {
        let created = Timestamp::parse("2026-01-01");
        let day = |text: &str| Timestamp::parse(text).unwrap().day();
        #[track_caller]
        fn check(fresh_until: FreshUntil, today: Day, expect: f64) {
            assert!((weight(fresh_until, today) - expect).abs() < 1e-9);
        }
        let note = fresh_until(&path("tech/auth.md"), created);
        check(note, day("2026-01-29"), 1.0);
        check(note, day("2026-01-30"), 1.0);
        check(note, day("2026-02-02"), 0.5);
        check(note, day("2026-05-09"), 0.1);
        let thought = fresh_until(&path("thinking/sequential/2026/01/01/s.md"), created);
        check(thought, day("2026-01-12"), 0.5);
        check(fresh_until(&path("tech/auth.md"), None), day("2036-01-01"), 1.0);
    }

    proptest! {
        #[test]
        fn days_survive_the_bytes(days in prop::collection::vec(any::<Day>(), 0..40)) {
            let mut group = FadingDays::default();
            days.iter().for_each(|&day| group.add(Some(day)));
            let mut bytes = Vec::new();
            group.write_to(&mut bytes);
            prop_assert_eq!(FadingDays::from_bytes(&bytes), Some(group));
        }

        #[test]
        fn a_group_weighs_what_its_notes_weigh(
            notes in prop::collection::vec(prop::option::of(0..400i32), 1..40),
            gone in 0..40usize,
            today in 0..500i32,
        ) {
            let mut group = FadingDays::default();
            notes.iter().for_each(|&note| group.add(note));
            let (gone, left) = notes.split_at(gone.min(notes.len()));
            gone.iter().for_each(|&note| group.remove(note));
            let expect: f64 = left.iter().map(|&note| weight(note, today)).sum();
            prop_assert!((group.weight(left.len() as u32, today) - expect).abs() < 1e-6);
        }

        #[test]
        fn foreign_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = FadingDays::from_bytes(&bytes);
        }
    }
}
