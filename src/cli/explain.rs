//! `kgctx explain`

use std::path::PathBuf;

use clap::Args as ClapArgs;

use crate::app::explain::{ContextList, compared, dry_run, last, list, write_page};
use crate::cli::inject::{LimitArgs, PromptArgs, session};
use crate::cli::outcome::{Failure, NO, Outcome, USAGE};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::one_of;
use crate::core::context::candidate::Part;
use crate::core::context::explanation::{Explanation, NearMiss};
use crate::core::context::rank::Ranking;
use crate::core::context::receipt::{Fault, Receipt};
use crate::core::context::summary::ContextSummary;
use crate::core::context::uncommitted::UncommittedRecord;
use crate::core::handoff::HandoffSection;
use crate::core::source::SourceChoice;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::thousands;
use crate::core::text::width::{align_left, shortened};

/// How many left-out lines a screen shows.
const NEAR_MISSES_SHOWN: usize = 10;

/// What takes time.
const MAKING: &str = "Making the context";

/// The column in which texts begin, after their tokens.
const TEXT_AT: usize = 8;

/// The width of a context beside another.
const COLUMN: usize = 72;

/// Explain a context: why each line is there, what it costs, and what was left out
///
/// Explains the last context, the last context of a session, or, with --dry-run, the context that kgctx would build
/// now.
#[derive(Debug, ClapArgs)]
pub(super) struct ExplainArgs {
    /// The session
    session: Option<String>,
    /// The session; the same as the argument
    #[arg(long = "session", value_name = "ID", conflicts_with = "session", hide = true)]
    flagged_session: Option<String>,
    /// Explain the context that kgctx would build now, and record nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    prompt: PromptArgs,
    #[command(flatten)]
    limits: LimitArgs,
    /// List the last context of each of this project's sessions
    #[arg(long, conflicts_with_all = ["session", "flagged_session", "dry_run", "html"])]
    list: bool,
    /// Show the context of another ranking next to it
    #[arg(long, value_name = "RANKING", value_parser = one_of(ranking_help), requires = "dry_run", conflicts_with_all = ["json", "html"])]
    compare: Option<Ranking>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write a web page with a drawing of the graph
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
}

impl ExplainArgs {
    fn session(&self) -> Option<&str> {
        self.session.as_deref().or(self.flagged_session.as_deref())
    }
}

pub(super) fn run(place: &PlaceArgs, args: &ExplainArgs, screen: &mut Screen) -> Outcome {
    if args.list {
        return print_list(&list(&place.request())?, args.json, screen);
    }
    let LimitArgs { budget, host, now, source } = &args.limits;
    let is_limited = budget.is_some() || host.is_some() || now.is_some() || source.is_some();
    if !args.dry_run && is_limited {
        let message = "--budget, --host, --now and --source need --dry-run";
        return Err(Failure::new(USAGE, message));
    }
    let id = args.session().unwrap_or("dry-run");
    let session = || args.prompt.add_to(session(place, id, &args.limits));
    if let Some(ranking) = args.compare {
        let session = session()?;
        let both = during(MAKING, |_| compared(&session, ranking))?;
        print_compared(&both, screen);
        return Ok(());
    }
    let would_get = || {
        let mut session = session()?;
        // Wrong settings may be what is to be explained.
        session.place.is_lenient = true;
        during(MAKING, |_| dry_run(&session))
    };
    let explanation = if args.dry_run {
        would_get()?
    } else {
        let (last, closed) = last(&place.request(), args.session())?;
        match (last, closed) {
            (Some(last), Some(reason)) => {
                let reason = for_terminal::one_line(&reason);
                screen.complain(&format!("kgctx: sessions get no context now: {reason}\n"));
                last
            }
            (Some(last), None) => last,
            (None, Some(_)) => would_get()?,
            (None, None) => return Err(nothing_to_explain(args)),
        }
    };
    if let Some(file) = &args.html {
        write_page(&explanation, file)?;
        screen.line(format!("wrote {}", for_terminal::one_line(&file.display().to_string())));
    } else if args.json {
        screen.json(&explanation);
    } else {
        print(&explanation, screen);
        if let Some(supplement) = &explanation.supplement {
            screen.line("");
            screen.line(screen.paint(Style::Strong, "At the first prompt"));
            print(supplement, screen);
        }
    }
    Ok(())
}

fn ranking_help(ranking: Ranking) -> &'static str {
    match ranking {
        Ranking::Notes => "Quoted notes, the most relevant first",
        Ranking::Frequency => "Concepts, by how many notes mention them",
    }
}

fn print_list(list: &ContextList, is_json: bool, screen: &mut Screen) -> Outcome {
    if is_json {
        screen.json(list);
        return Ok(());
    }
    if list.contexts.is_empty() {
        screen.line("No session of this project has a context yet. `kgctx explain --dry-run` explains the one that kgctx would build now.");
    }
    for ContextSummary { session, at, delivered, host, tokens, budget, .. } in &list.contexts {
        let used = format!("{} of {} tokens", thousands(*tokens), thousands(*budget));
        let remark = if *delivered { "" } else { "  no delivery recorded" };
        let remark = screen.paint(Style::Faint, remark);
        let session = for_terminal::one_line(session);
        screen.line(format!("{at}  {used:>22}  {host:<11}  {session}{remark}"));
    }
    Ok(())
}

/// Prints two contexts side by side, line by line.
fn print_compared(both: &[Explanation; 2], screen: &mut Screen) {
    let side = |text: &str| align_left(&shortened(&for_terminal::one_line(text), COLUMN), COLUMN);
    let columns = |[left, right]: [String; 2]| format!("{} │ {}", side(&left), side(&right));
    let names = both.each_ref().map(|of| of.receipt.ranking.to_string());
    screen.line(screen.paint(Style::Strong, columns(names)));
    screen.line(columns(both.each_ref().map(|of| {
        let Receipt { used, budget, .. } = &of.receipt;
        let n_lines = thousands(of.lines.len());
        format!(
            "{} of {} tokens, {n_lines} lines",
            thousands(used.tokens),
            thousands(budget.tokens)
        )
    })));
    let n_rows = both.iter().map(|of| of.lines.len()).max().unwrap_or_default();
    for row in 0..n_rows {
        let text = |of: &Explanation| {
            let line = of.lines.get(row).map(|line| format!("{:>4} {}", line.tokens, line.text));
            line.unwrap_or_default()
        };
        screen.line(columns(both.each_ref().map(text)));
    }
}

fn nothing_to_explain(args: &ExplainArgs) -> Failure {
    let of = match args.session() {
        Some(session) => format!("session {session:?}"),
        None => "this project".to_owned(),
    };
    let now = "`kgctx explain --dry-run` explains the one that kgctx would build now";
    Failure::new(NO, format!("there is no context for {of} yet; {now}"))
}

fn print(explanation: &Explanation, screen: &mut Screen) {
    let Explanation { receipt, lines, near_misses, .. } = explanation;
    print_head(explanation, screen);
    for part in &receipt.parts {
        screen.line("");
        let title = screen.paint(Style::Strong, part.name.title());
        screen.line(format!("{:>6}  {title}", thousands(part.tokens)));
        for line in left_behind(receipt, part.name) {
            print_below(&line, screen);
        }
        for line in lines.iter().filter(|line| line.part == part.name) {
            let shortened = if line.shortened { ", shortened" } else { "" };
            let why = format!("{}{shortened}", line.reason);
            print_entry(line.tokens, &line.text, &why, screen);
        }
    }
    print_near_misses(near_misses, screen);
    if !receipt.faults.is_empty() {
        screen.line("");
        screen.line(screen.paint(Style::Strong, "Faults"));
        for Fault { source, reason } in &receipt.faults {
            print_below(&format!("{source}: {reason}"), screen);
        }
    }
    screen.line("");
    let stages: Vec<String> =
        receipt.stages.iter().map(|stage| format!("{} {:.2}", stage.name, stage.ms)).collect();
    screen.line(screen.paint(Style::Faint, format!("ms: {}", stages.join(", "))));
}

/// Prints a line of a context after its tokens, and below it why it is there or not.
fn print_entry(tokens: usize, text: &str, why: &str, screen: &mut Screen) {
    let text = screen.folded(&for_terminal::one_line(text), TEXT_AT);
    screen.line(format!("{tokens:>6}  {text}"));
    let why = screen.folded(&for_terminal::one_line(why), TEXT_AT);
    screen.line(format!("{:TEXT_AT$}{}", "", screen.paint(Style::Faint, why)));
}

/// Prints a line where texts begin.
fn print_below(text: &str, screen: &mut Screen) {
    let text = screen.folded(&for_terminal::one_line(text), TEXT_AT);
    screen.line(format!("{:TEXT_AT$}{text}", ""));
}

/// What a part is made of that comes from a handoff.
fn left_behind(receipt: &Receipt, part: Part) -> Vec<String> {
    match (part, &receipt.handoff) {
        (Part::Handoff, Some(HandoffSection::Handoff(handoff))) => {
            [std::slice::from_ref(&handoff.id), &handoff.facts].concat()
        }
        (Part::Handoff, Some(HandoffSection::Remark(remark))) => {
            remark.lines().map(str::to_owned).collect()
        }
        (Part::Files, Some(HandoffSection::Handoff(handoff))) => {
            handoff.files.iter().map(|file| file.path.clone()).collect()
        }
        _ => Vec::new(),
    }
}

fn print_head(explanation: &Explanation, screen: &mut Screen) {
    let receipt = &explanation.receipt;
    let project = receipt.project.as_deref().unwrap_or("no project");
    let project = screen.paint(Style::Strong, for_terminal::one_line(project));
    let session = for_terminal::one_line(&receipt.session);
    screen.line(format!("{project}  session {session}, {}, {}", explanation.status(), receipt.at));
    let mut limits = format!(
        "{} of {} tokens ({}), {} characters",
        thousands(receipt.used.tokens),
        thousands(receipt.budget.tokens),
        receipt.encoding,
        thousands(receipt.used.chars)
    );
    if let Some(chars) = receipt.budget.chars {
        limits.push_str(&format!(" of {}", thousands(chars)));
    }
    if receipt.kept_tokens > 0 {
        limits.push_str(&format!(
            ", {} reserved for the first prompt",
            thousands(receipt.kept_tokens)
        ));
    }
    screen.line(format!("{limits}, host {}", receipt.host));
    if let Some(choice) = receipt.source.as_ref().filter(|choice| choice.is_choice()) {
        let SourceChoice { source, because } = choice;
        screen.line(format!("source {source}: {}", for_terminal::one_line(because)));
    }
    for line in receipt.uncommitted.iter().flat_map(UncommittedRecord::in_words) {
        screen.line(for_terminal::one_line(&line));
    }
}

fn print_near_misses(near_misses: &[NearMiss], screen: &mut Screen) {
    if near_misses.is_empty() {
        return;
    }
    screen.line("");
    let left_out = format!("Left out: {}", thousands(near_misses.len()));
    screen.line(screen.paint(Style::Strong, left_out));
    for NearMiss { text, tokens, reason, enters_at, .. } in
        near_misses.iter().take(NEAR_MISSES_SHOWN)
    {
        let price = match enters_at {
            Some(budget) => format!("fits with a budget of {}", thousands(*budget)),
            None => "never fits, because of the host's limit".to_owned(),
        };
        print_entry(*tokens, text, &format!("{reason}; {price}"), screen);
    }
    if near_misses.len() > NEAR_MISSES_SHOWN {
        let more = near_misses.len() - NEAR_MISSES_SHOWN;
        screen.line(format!("{:>6}  … and {} more (--json has all)", "", thousands(more)));
    }
}
