//! Tables of sessions, their parts, and static files.

use crate::check::grouped::grouped;
use crate::check::report::{CheckReport, SessionReport, StaticFile, part_tokens};
use crate::check::reports::text::{COLUMNS, Paint};
use crate::check::reports::words::{change, difference, moves, names, of, use_of_budget};
use crate::core::context::candidate::Part;
use crate::core::text::for_report::one_line;
use crate::core::text::for_terminal::Style;
use crate::core::text::number::thousands;
use crate::core::text::width::{align_left, align_right, shortened, width, wrapped};

/// The length of a bar.
const BAR_CELLS: usize = 24;
/// The minimum width of names.
const MIN_NAME_COLUMNS: usize = 12;
const GAP: &str = "  ";
/// A bar's used and free cells.
const FULL: char = '█';
const FREE: char = '·';

/// One row per session: tokens, a bar with a letter per part, and the change; below it, the added
/// and removed entries.
pub(super) fn sessions(report: &CheckReport, paint: Paint<'_>) -> Option<String> {
    let row = |session: &SessionReport| {
        [
            one_line(&session.name),
            use_of_budget(session),
            bar(session),
            change(session).unwrap_or_default(),
            thousands(session.wanted),
            thousands(session.omitted.len()),
        ]
    };
    let rows: Vec<_> = report.sessions.iter().map(row).collect();
    let below: Vec<String> = report.sessions.iter().map(details).collect();
    // Other than numbers, a bar is aligned left.
    let room = align_left("room", BAR_CELLS);
    let head = ["Sessions", "tokens", &room, "change", "wanted", "left out"];
    let table = table(head, &rows, &below, report, paint)?;
    Some(format!("{table}{GAP}{}\n", paint(Style::Faint, &legend(&report.sessions))))
}

/// One row per part of a context: tokens, a bar relative to its limit or the whole budget, and the
/// change. Sessions with the same parts share their rows.
pub(super) fn parts(report: &CheckReport, paint: Paint<'_>) -> Option<String> {
    let sessions = report.sessions.iter().filter(|session| !session.parts.is_empty());
    let groups = grouped(sessions.map(|session| (part_rows(session), one_line(&session.name))));
    let rows = groups.into_iter().flat_map(|(rows, names)| {
        let head = [names.join(", "), String::new(), String::new(), String::new()];
        std::iter::once(head).chain(rows)
    });
    let rows: Vec<[String; 4]> = rows.collect();
    table(["Parts", "tokens", "", "change"], &rows, &[], report, paint)
}

/// Name, tokens, bar and change of each part, and of the whole context if it has a limit.
fn part_rows(session: &SessionReport) -> Vec<[String; 4]> {
    let before = session.growth.as_ref().map(|growth| &growth.parts_before);
    let row = |name: &str, tokens: usize, limit: Option<usize>, before: Option<usize>| {
        let change = difference(tokens, before).unwrap_or_default();
        let whole = limit.unwrap_or(session.budget.tokens);
        let bar = bar_of([(FULL, tokens)].into_iter(), whole);
        [format!("{GAP}{name}"), of(tokens, limit), bar, change]
    };
    let mut rows = Vec::new();
    for part in Part::ALL {
        let tokens = part_tokens(&session.parts, part);
        let was = before.map(|parts| part_tokens(parts, part));
        if tokens > 0 || was.is_some_and(|was| was > 0) {
            let limit = session.limits.parts.get(&part).copied();
            rows.push(row(part.name(), tokens, limit, was));
        }
    }
    if let Some(total) = session.limits.total {
        let was = session.growth.as_ref().map(|growth| growth.tokens_before);
        rows.push(row("total", session.used.tokens, Some(total), was));
    }
    rows
}

pub(super) fn static_files(report: &CheckReport, paint: Paint<'_>) -> Option<String> {
    let row = |file: &StaticFile| {
        let change = difference(file.tokens, file.tokens_before).unwrap_or_default();
        [one_line(&file.path), of(file.tokens, file.limit), change]
    };
    let rows: Vec<_> = report.static_files.iter().map(row).collect();
    table(["Read by hosts", "tokens", "change"], &rows, &[], report, paint)
}

/// A table without empty columns. The first cell of a row is its name; the others are aligned right.
fn table<const N: usize>(
    head: [&str; N],
    rows: &[[String; N]],
    below: &[String],
    report: &CheckReport,
    paint: Paint<'_>,
) -> Option<String> {
    if rows.is_empty() {
        return None;
    }
    let is_used = |n: &usize| rows.iter().any(|row| !row[*n].is_empty());
    let widest = |n: usize| rows.iter().map(|row| width(&row[n])).max().unwrap_or(0);
    let columns = (1..N).filter(is_used).map(|n| (n, widest(n).max(width(head[n]))));
    let columns: Vec<(usize, usize)> = columns.collect();
    let others: usize = columns.iter().map(|(_, width)| GAP.len() + width).sum();
    let room = COLUMNS.saturating_sub(GAP.len() + others).max(MIN_NAME_COLUMNS);
    let name_columns = widest(0).max(width(head[0])).min(room);
    let line = |cells: [&str; N]| {
        let mut line = align_left(&shortened(cells[0], name_columns), name_columns);
        for &(n, columns) in &columns {
            line.push_str(&format!("{GAP}{}", align_right(cells[n], columns)));
        }
        line.truncate(line.trim_end().len());
        line
    };
    let mut text = format!("{}\n", paint(Style::Strong, &line(head)));
    for (n, row) in rows.iter().enumerate() {
        text.push_str(&format!("{}\n", line(row.each_ref().map(String::as_str))));
        text.push_str(below.get(n).map_or("", |below| below));
    }
    if let (Some(base), true) = (&report.base, columns.iter().any(|(n, _)| head[*n] == "change")) {
        let note = wrapped(&format!("{GAP}change: against {}", one_line(base)), COLUMNS, GAP);
        text.push_str(&format!("{GAP}{}\n", paint(Style::Faint, note.trim_start())));
    }
    Some(text)
}

/// The entries that a change added, removed or pushed out, and the characters if the host limits
/// them.
fn details(session: &SessionReport) -> String {
    let moved = moves(session).into_iter();
    let moved = moved.map(|(what, entries)| (what, names(entries, str::to_owned)));
    let chars = session.budget.chars.map(|chars| of(session.used.chars, Some(chars)));
    let rows = moved.chain(chars.map(|chars| ("characters", chars)));
    let lines = rows.map(|(what, text)| {
        let line = wrapped(&text, COLUMNS - 16, "                ");
        format!("    {what}: {line}\n")
    });
    lines.collect()
}

/// The parts of a context as a bar: each part has its letter.
fn bar(session: &SessionReport) -> String {
    let parts = session.parts.iter().map(|part| (letter(part.name), part.tokens));
    bar_of(parts, session.budget.tokens.max(session.used.tokens))
}

fn bar_of(parts: impl Iterator<Item = (char, usize)>, whole: usize) -> String {
    let whole = whole.max(1) as u128;
    let mut bar = String::new();
    let (mut sum, mut cells) = (0usize, 0usize);
    for (letter, number) in parts {
        sum = sum.saturating_add(number);
        // Rounds the running sum, so that the parts add up to the length of the whole.
        let end = (sum as u128 * BAR_CELLS as u128 + whole / 2) / whole;
        let end = usize::try_from(end).unwrap_or(BAR_CELLS);
        // Even the smallest part gets a cell.
        let end = end.max(cells + usize::from(number > 0)).min(BAR_CELLS);
        bar.extend(std::iter::repeat_n(letter, end - cells));
        cells = end;
    }
    bar.extend(std::iter::repeat_n(FREE, BAR_CELLS - cells));
    bar
}

/// Explains the letters of the bars.
fn legend(sessions: &[SessionReport]) -> String {
    let used = Part::ALL.into_iter().filter(|&part| {
        sessions.iter().flat_map(|session| &session.parts).any(|used| used.name == part)
    });
    let meanings = used.map(|part| format!("{} {}", letter(part), part.title().to_lowercase()));
    meanings.chain([format!("{FREE} free")]).collect::<Vec<_>>().join(", ")
}

fn letter(part: Part) -> char {
    match part {
        // The first letter is that of the frame.
        Part::Files => 'L',
        part => part.name().to_ascii_uppercase().chars().next().unwrap_or(FREE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::settings::Limits;
    use crate::core::context::budget::{Budget, Size};
    use crate::core::context::receipt::PartUse;
    use crate::core::host::Host;

    #[test]
    fn a_bar_is_as_long_as_the_budget() {
        #[track_caller]
        fn check(budget: usize, parts: &[(Part, usize)], expect: &str) {
            let parts: Vec<PartUse> =
                parts.iter().map(|&(name, tokens)| PartUse { name, tokens }).collect();
            let tokens = parts.iter().map(|part| part.tokens).sum();
            let session = SessionReport {
                name: String::new(),
                host: Host::Plain,
                budget: Budget { tokens: budget, chars: None },
                used: Size { tokens, chars: 0 },
                wanted: 0,
                parts,
                limits: Limits::default(),
                shown: Vec::new(),
                omitted: Vec::new(),
                growth: None,
            };
            assert_eq!(bar(&session), expect);
        }
        check(0, &[], "························");
        check(240, &[(Part::Frame, 20), (Part::Concepts, 100)], "FFCCCCCCCCCC············");
        check(4_000, &[(Part::Frame, 9), (Part::Recent, 9)], "FR······················");
        check(24, &[(Part::Frame, 24)], "FFFFFFFFFFFFFFFFFFFFFFFF");
        check(10, &[(Part::Frame, 20)], "FFFFFFFFFFFFFFFFFFFFFFFF");
    }
}
