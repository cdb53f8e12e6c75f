//! The report as a comment on a pull request. Text of notes appears only as code, so it cannot
//! contain links, mentions or markup.

use crate::check::finding::Severity;
use crate::check::grouped::grouped;
use crate::check::report::{CheckReport, EntryName, SessionReport, StaticFile};
use crate::check::reports::text;
use crate::check::reports::words::{
    broken, change, difference, moves, names, of, use_of_budget, verdict,
};
use crate::core::text::for_report::one_line;
use crate::core::text::number::{counted, thousands};
use crate::core::text::width::wrapped;

/// Identifies an earlier comment.
const MARKER: &str = "<!-- kgctx check -->";
/// Longer comments are rejected: GitHub's limit is 65,536 characters.
const MOST_BYTES: usize = 60_000;

pub(super) fn render(report: &CheckReport) -> String {
    let mut comment = Comment { text: format!("{MARKER}\n") };
    comment.block(&heading(report));
    sessions(report, &mut comment);
    static_files(report, &mut comment);
    changes(report, &mut comment);
    findings(report, &mut comment);
    if !report.remarks.is_empty() {
        let remarks = report.remarks.iter().map(|remark| wrapped(&one_line(remark), 100, "  "));
        comment.block(&fenced(&remarks.collect::<Vec<_>>().join("\n")));
    }
    comment.text
}

/// A comment under construction.
struct Comment {
    text: String,
}

impl Comment {
    fn block(&mut self, block: &str) {
        self.text.push_str(&format!("\n{}\n", block.trim_end()));
    }

    /// Writes the blocks that fit, and the number of those that do not.
    fn blocks(&mut self, blocks: impl ExactSizeIterator<Item = String>, what: &str) {
        let mut left = blocks.len();
        for block in blocks {
            if self.text.len() + block.len() > MOST_BYTES {
                let more = counted(left, what);
                self.block(&format!("{more} more do not fit here; `kgctx check` shows all."));
                return;
            }
            self.block(&block);
            left -= 1;
        }
    }
}

fn heading(report: &CheckReport) -> String {
    let sign = match report.worst() {
        Some(Severity::Error) => "❌",
        Some(_) => "⚠️",
        None => "✅",
    };
    let base = report.base.as_ref().map(|base| code(&one_line(base)));
    let base = base.map_or(String::new(), |base| format!(" Compared with {base}."));
    format!("### {sign} Context check\n\n**{}.**{base}", verdict(report))
}

fn sessions(report: &CheckReport, comment: &mut Comment) {
    let row = |session: &SessionReport| {
        let change = change(session).unwrap_or_else(|| "–".to_owned());
        let wanted = thousands(session.wanted);
        let left_out = session.omitted.len();
        let name = cell(&one_line(&session.name));
        format!("| {name} | {} | {change} | {wanted} | {left_out} |\n", use_of_budget(session))
    };
    let head = "| Session | Tokens | Change | Wanted | Left out |\n|---|--:|--:|--:|--:|\n";
    table(comment, head, report.sessions.iter().map(row));
}

fn static_files(report: &CheckReport, comment: &mut Comment) {
    let row = |file: &StaticFile| {
        let change = difference(file.tokens, file.tokens_before).unwrap_or_else(|| "–".to_owned());
        let (path, tokens) = (cell(&one_line(&file.path)), of(file.tokens, file.limit));
        format!("| {path} | {tokens} | {change} |\n")
    };
    let head = "| Read by hosts | Tokens | Change |\n|---|--:|--:|\n";
    table(comment, head, report.static_files.iter().map(row));
}

/// Writes rows up to half of the limit: findings are more important.
fn table(comment: &mut Comment, head: &str, rows: impl ExactSizeIterator<Item = String>) {
    if rows.len() == 0 {
        return;
    }
    let mut table = head.to_owned();
    let mut left_out = 0;
    for row in rows {
        if comment.text.len() + table.len() + row.len() > MOST_BYTES / 2 {
            left_out += 1;
        } else {
            table.push_str(&row);
        }
    }
    comment.block(&table);
    if left_out > 0 {
        comment.block(&format!("{} more do not fit here.", counted(left_out, "row")));
    }
}

/// What the change adds and pushes out. Sessions with the same changes share a block.
fn changes(report: &CheckReport, comment: &mut Comment) {
    let line = |(what, entries): (&str, &[EntryName])| {
        format!("- {what} ({}): {}\n", thousands(entries.len()), names(entries, code))
    };
    let lines = |session| moves(session).into_iter().map(line).collect::<String>();
    let sessions = report.sessions.iter();
    let told = sessions.map(|session| (lines(session), code(&one_line(&session.name))));
    let told = grouped(told.filter(|(lines, _)| !lines.is_empty()));
    if told.is_empty() {
        return;
    }
    comment.block("<details><summary>What the change adds and pushes out</summary>");
    let blocks = told.iter().map(|(lines, names)| format!("{}\n\n{lines}", names.join(", ")));
    comment.blocks(blocks, "group of sessions");
    comment.block("</details>");
}

fn findings(report: &CheckReport, comment: &mut Comment) {
    let Some(broken) = broken(report) else { return };
    let open = if report.fails() { " open" } else { "" };
    comment.block(&format!("<details{open}><summary>{broken}</summary>"));
    let mut findings: Vec<_> = report.findings.iter().collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let blocks = findings.into_iter().map(|finding| {
        let place = code(&format!("{}:{}", one_line(&finding.spot.path), finding.spot.line));
        format!("{place}\n{}", fenced(&text::finding(finding, &|_, text| text.to_owned())))
    });
    comment.blocks(blocks, "finding");
    comment.block("</details>");
}

/// Formats text as inline code.
fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    // A space at each end allows a backtick as the first or last character, and is not shown.
    let blank = if text.starts_with(['`', ' ']) || text.ends_with(['`', ' ']) || text.is_empty() {
        " "
    } else {
        ""
    };
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// Formats text as code in a table cell. A bar ends a cell even in code, so it becomes a similar
/// character.
fn cell(text: &str) -> String {
    code(text).replace('|', "│")
}

/// Formats lines as a code block.
fn fenced(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text).max(2) + 1);
    format!("{ticks}text\n{}\n{ticks}", text.trim_end())
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_code_is_markup() {
        assert_eq!(code("@team <b> [x](y)"), "`@team <b> [x](y)`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`a`"), "`` `a` ``");
        assert_eq!(cell("a|b\\|"), "`a│b\\│`");
        assert_eq!(fenced("a\n````\nb\n"), "`````text\na\n````\nb\n`````");
    }
}
