//! The composer in Claude Code's window: what is typed there, read from the screen.
//!
//! It looks the same whether a turn is under way or not, and the `❯` at its beginning also marks the chosen line of a
//! dialog. So it only counts between its two dividers, and says nothing about whether the session is idle.

/// The prompt's glyph, and the blank behind it, which is not a plain one.
const GLYPH: &str = "❯\u{a0}";
/// A divider begins with so many of these.
const DIVIDER: &str = "────────";
/// The column of the first character.
const FIRST_COLUMN: usize = 2;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Composer {
    /// Nothing is typed. There may be a hint in its place.
    Bare,
    /// What is typed, without its blanks and breaks: lines are broken where the window ends.
    Text(String),
    /// The screen shows no composer that takes a prompt: a dialog, the transcript, a shell.
    Hidden,
}

/// What is typed in a composer, in the form of [`Composer::Text`].
pub fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The mode of a composer with the keys of vim, as the line below it says: in `NORMAL` mode it says nothing.
pub fn vim_mode(screen: &str) -> Option<String> {
    let lines: Vec<String> =
        cells(screen).iter().map(|line| line.iter().map(|cell| cell.character).collect()).collect();
    let below = lines.iter().rposition(|line| line.starts_with(DIVIDER))? + 1;
    lines[below..].iter().find_map(|line| {
        let (_, rest) = line.split_once("-- ")?;
        let (mode, _) = rest.split_once(" --")?;
        let is_mode = !mode.is_empty() && mode.chars().all(|c| c.is_ascii_uppercase() || c == ' ');
        is_mode.then(|| mode.to_owned())
    })
}

/// A character on the screen.
#[derive(Clone, Copy)]
struct Cell {
    character: char,
    is_dim: bool,
}

/// Reads a screen with its escape sequences. `cursor`: column and line, from 0.
pub fn read(screen: &str, cursor: (usize, usize)) -> Composer {
    let lines: Vec<Vec<Cell>> = cells(screen);
    let text = |line: &[Cell]| line.iter().map(|cell| cell.character).collect::<String>();
    let is_divider = |line: &Vec<Cell>| text(line).starts_with(DIVIDER);
    let mut dividers = (0..lines.len()).rev().filter(|at| is_divider(&lines[*at]));
    let (Some(below), Some(above)) = (dividers.next(), dividers.next()) else {
        return Composer::Hidden;
    };
    let rows = &lines[above + 1..below];
    let is_prompt = rows.first().is_some_and(|row| text(row).starts_with(GLYPH));
    if !is_prompt || !(above + 1..below).contains(&cursor.1) {
        return Composer::Hidden;
    }
    let typed = rows.iter().flat_map(|row| row.iter().skip(FIRST_COLUMN));
    let typed: Vec<Cell> = typed.copied().filter(|cell| !cell.character.is_whitespace()).collect();
    let is_at_start = cursor == (FIRST_COLUMN, above + 1);
    // The cursor is drawn over the first character of a hint. One character alone may be somebody's.
    let is_hint = typed.len() > 1 && typed[1..].iter().all(|cell| cell.is_dim);
    if is_at_start && rows.len() == 1 && (typed.is_empty() || is_hint) {
        return Composer::Bare;
    }
    Composer::Text(typed.iter().map(|cell| cell.character).collect())
}

/// The characters of a screen, line by line.
fn cells(screen: &str) -> Vec<Vec<Cell>> {
    let mut is_dim = false;
    let mut cells_of = |line: &str| {
        let mut cells = Vec::new();
        let mut rest = line.chars();
        while let Some(character) = rest.next() {
            if character != '\u{1b}' {
                cells.push(Cell { character, is_dim });
                continue;
            }
            match rest.next() {
                // `ESC [ numbers m` sets colours.
                Some('[') => {
                    let is_number = |c: &char| c.is_ascii_digit() || matches!(c, ';' | ':');
                    let length = rest.as_str().chars().take_while(is_number).count();
                    let numbers: String = rest.by_ref().take(length).collect();
                    if rest.next() == Some('m') {
                        is_dim = dimmed(&numbers, is_dim);
                    }
                }
                // `ESC ] … ESC \` begins or ends a link.
                Some(']') => {
                    let length = rest.as_str().find("\u{1b}\\").map_or(0, |end| end + 2);
                    rest = rest.as_str()[length..].chars();
                }
                _ => {}
            }
        }
        cells
    };
    screen.split('\n').map(&mut cells_of).collect()
}

/// Whether characters are dim after a sequence with these numbers.
fn dimmed(numbers: &str, before: bool) -> bool {
    let mut is_dim = before;
    let mut numbers = numbers.split([';', ':']);
    while let Some(number) = numbers.next() {
        match number {
            "2" => is_dim = true,
            "" | "0" | "22" => is_dim = false,
            // A colour: `5;number` or `2;red;green;blue`.
            "38" | "48" | "58" => {
                let n_more = if numbers.next() == Some("2") { 3 } else { 1 };
                numbers.by_ref().take(n_more).for_each(drop);
            }
            _ => {}
        }
    }
    is_dim
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A screen with this composer, and the cursor in its line.
    fn reading(composer: &str, column: usize) -> Composer {
        let line = "─".repeat(60);
        let footer = "  ⏵⏵ auto mode on (shift+tab to cycle)";
        let screen =
            format!("● Done.\n\n\u{1b}[38;5;244m{line}\n\u{1b}[39m{composer}\n{line}\n{footer}\n");
        read(&screen, (column, 3))
    }

    fn typed(text: &str) -> Composer {
        Composer::Text(text.to_owned())
    }

    #[test]
    fn r_4_16_what_is_typed_is_told_from_hints() {
        // seen in Claude Code 2.1.325.
        assert_eq!(reading("❯\u{a0}\u{1b}[7m \u{1b}[0m", 2), Composer::Bare);
        let hint = "❯\u{a0}\u{1b}[7mT\u{1b}[0;2mry \"fix lint errors\"\u{1b}[0m";
        assert_eq!(reading(hint, 2), Composer::Bare);
        let queued = "\u{1b}[38;5;246m❯\u{a0}\u{1b}[0;2mPress up to edit queued messages\u{1b}[0m";
        assert_eq!(reading(queued, 2), Composer::Bare);
        assert_eq!(reading("❯\u{a0}half a thought\u{1b}[7m \u{1b}[0m", 16), typed("halfathought"));
        // The cursor was moved to the beginning.
        assert_eq!(reading("❯\u{a0}\u{1b}[7ma\u{1b}[0m draft", 2), typed("adraft"));
        assert_eq!(reading("❯\u{a0}\u{1b}[7ma\u{1b}[0m", 2), typed("a"));
        assert_eq!(reading("❯\u{a0}one\n  two", 5), typed("onetwo"));
        assert_eq!(reading("❯\u{a0}/clear\u{1b}[7m \u{1b}[0m", 8), typed("/clear"));
        // A blank alone is a draft, too: the cursor shows it.
        assert_eq!(reading("❯\u{a0} \u{1b}[7m \u{1b}[0m", 3), typed(""));
        // Colours have a 2 among their numbers and make nothing dim.
        let coloured = "❯\u{a0}\u{1b}[7ma\u{1b}[38;2;2;2;2mbc\u{1b}[0m";
        assert_eq!(reading(coloured, 2), typed("abc"));
        let link = "❯\u{a0}\u{1b}]8;;http://x\u{1b}\\ab\u{1b}]8;;\u{1b}\\";
        assert_eq!(reading(link, 4), typed("ab"));
    }

    #[test]
    fn the_line_below_names_the_mode_of_vim() {
        // Seen in Claude Code 2.1.325.
        let screen = |footer: &str| {
            let line = "─".repeat(60);
            format!("-- INSERT --\n{line}\n❯\u{a0}\n{line}\n  {footer}")
        };
        let insert = "\u{1b}[38;5;246m-- INSERT --\u{1b}[39m \u{1b}[38;5;220m⏵⏵ auto mode on";
        assert_eq!(vim_mode(&screen(insert)).as_deref(), Some("INSERT"));
        assert_eq!(vim_mode(&screen("-- VISUAL -- ⏵⏵ auto")).as_deref(), Some("VISUAL"));
        for footer in ["⏵⏵ auto mode on (shift+tab to cycle)", "-- mine --", "--  --", ""] {
            assert_eq!(vim_mode(&screen(footer)), None, "{footer}");
        }
        assert_eq!(vim_mode("-- INSERT --"), None);
    }

    #[test]
    fn what_takes_no_prompt_is_no_composer() {
        assert_eq!(reading("!\u{a0}\u{1b}[7m \u{1b}[0m", 2), Composer::Hidden);
        // A dialog between dividers, as far as any have them.
        assert_eq!(reading(" ❯ 1. Yes", 1), Composer::Hidden);
        assert_eq!(reading("❯ 1. Yes", 2), Composer::Hidden);
        for screen in ["", "$ ", "Showing detailed transcript", "❯\u{a0}", &"─".repeat(60)] {
            assert_eq!(read(screen, (2, 0)), Composer::Hidden, "{screen}");
        }
        // The cursor is elsewhere: something lies over the composer.
        let line = "─".repeat(60);
        let screen = format!("❯ 1. Yes\n{line}\n❯\u{a0}\n{line}\n");
        assert_eq!(read(&screen, (1, 0)), Composer::Hidden);
        assert_eq!(read(&screen, (2, 2)), Composer::Bare);
    }
}
