//! `kgctx handoff list`, `show` and `log`: commands that change nothing.

use std::path::Path;

use clap::Args as ClapArgs;
use serde_json::{Value, json};

use crate::app::handoff::{Handoffs, Listed, ProjectHandoffs, masked};
use crate::app::rotation::RotationView;
use crate::cli::handoff::{each, meant, named_or_default};
use crate::cli::outcome::{Failure, Outcome, USAGE};
use crate::cli::screen::Screen;
use crate::cli::values::from_one;
use crate::core::handoff::record::{FIELDS, HandoffRecord};
use crate::core::handoff::section::shorten;
use crate::core::handoff::{Kind, Status, TypedId};
use crate::core::secrets;
use crate::core::text::for_shell;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::counted;
use crate::core::time::Timestamp;

/// So much of a goal is shown in a table.
const GOAL_CHARS: usize = 60;
/// And so much of a session's id, which is as long as its host likes.
const SESSION_CHARS: usize = 40;

/// List waiting and claimed handoffs
#[derive(Debug, ClapArgs)]
pub(super) struct ListArgs {
    /// Also list finished handoffs
    #[arg(long)]
    all: bool,
    /// List waiting and claimed handoffs of all projects, with their folders
    #[arg(long, conflicts_with_all = ["all", "fields"])]
    everywhere: bool,
    /// Print only these fields, in this order, like id,status,goal
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fields: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(handoffs: &Handoffs, args: &ListArgs, screen: &mut Screen) -> Outcome {
    let known = FIELDS.map(|(name, _)| name);
    if let Some(unknown) = args.fields.iter().find(|name| !known.contains(&name.as_str())) {
        let message = format!("unknown field {unknown:?}; the fields are {}", known.join(", "));
        return Err(Failure { code: USAGE, message });
    }
    if args.everywhere {
        return list_everywhere(handoffs, args.json, screen);
    }
    if args.json && args.fields.is_empty() {
        let listed = if args.all { Listed::All } else { Listed::Open };
        screen.json(&handoffs.list_json(listed)?);
        return Ok(());
    }
    let records = handoffs.list(args.all)?;
    if !args.fields.is_empty() {
        print_fields(&records, &args.fields, args.json, screen);
    } else {
        let channel = for_terminal::one_line(&handoffs.channel);
        if records.is_empty() {
            screen.line(format!(
                "Nothing waits in {channel}. `kgctx handoff create` leaves a handoff."
            ));
        }
        print_table(&records, screen);
        say_what_to_do(handoffs, &records, screen)?;
    }
    Ok(())
}

/// Says how to take back an abandoned handoff, how to give a delivered one again, and where more may wait.
fn say_what_to_do(handoffs: &Handoffs, records: &[HandoffRecord], screen: &mut Screen) -> Outcome {
    if records.iter().any(|record| record.is_abandoned) {
        screen.line(
            "A session that claims one of these has ended; `kgctx handoff release ID` takes it back.",
        );
    }
    let waits =
        |record: &HandoffRecord| record.kind == Kind::Session && record.status == Status::Active;
    if !records.iter().any(waits)
        && let Some(HandoffRecord { id, changed, changed_by, .. }) = handoffs.last_given()?
    {
        let to = changed_by.map(|session| format!(" to {}", short(&session, SESSION_CHARS)));
        let (to, ago) = (to.unwrap_or_default(), changed.ago(crate::app::handoff::now()));
        screen.line(format!(
            "{id} was delivered{to} ({ago}); `kgctx handoff release {id}` makes it wait for another session."
        ));
    }
    if records.is_empty() {
        let n_lost = handoffs.n_unregistered()?;
        if n_lost > 0 {
            screen.line(format!(
                "The state does not know {}; `kgctx handoff reconcile --repair` registers what is left.",
                counted(n_lost, "document")
            ));
        }
        let projects = handoffs.everywhere()?;
        let gone = projects.iter().filter(|project| project.is_gone && !project.is_here);
        let n_gone = gone.map(|project| project.records.len()).sum();
        if n_gone > 0 {
            screen.line(format!(
                "There are more in folders that no longer exist ({}): `kgctx handoff list --everywhere`",
                counted(n_gone, "handoff")
            ));
        }
    }
    Ok(())
}

/// Lists the open handoffs of all projects.
fn list_everywhere(handoffs: &Handoffs, is_json: bool, screen: &mut Screen) -> Outcome {
    if is_json {
        screen.json(&handoffs.list_json(Listed::Everywhere)?);
        return Ok(());
    }
    let projects = handoffs.everywhere()?;
    if projects.is_empty() {
        screen.line("Nothing waits in any project.");
    }
    for (n, project) in projects.iter().enumerate() {
        if n > 0 {
            screen.line("");
        }
        let ProjectHandoffs { channel, folder, is_here, is_gone, records } = project;
        let folder = folder.as_ref().map(|folder| folder.to_string_lossy()).unwrap_or_default();
        let remark = match (is_here, is_gone) {
            (true, _) => "  (this project)".to_owned(),
            (false, true) => format!("  (gone; {})", way_to_adopt(&folder)),
            (false, false) => String::new(),
        };
        let name = screen.paint(Style::Strong, for_terminal::one_line(channel));
        screen.line(format!("{name}  {}{remark}", shown(&folder)));
        print_table(records, screen);
    }
    Ok(())
}

/// A folder on one line, without secrets: a document that was imported can name any.
fn shown(folder: &str) -> String {
    for_terminal::one_line(&secrets::mask(folder))
}

/// The command that adopts what was left in a folder, safe to be pasted into a shell.
fn way_to_adopt(folder: &str) -> String {
    if Path::new(folder).is_absolute() && shown(folder) == folder {
        let folder = for_shell::word(folder);
        return format!("`kgctx handoff adopt --from {folder}` takes all of them over");
    }
    "`kgctx handoff adopt ID` takes one over".to_owned()
}

/// Only some fields, in the order in which they were asked for.
fn print_fields(records: &[HandoffRecord], fields: &[String], is_json: bool, screen: &mut Screen) {
    let mut objects = Vec::new();
    for flat in records.iter().map(masked) {
        let values = fields.iter().map(|name| (name, flat.get(name).unwrap_or(&Value::Null)));
        if is_json {
            let pairs = values.map(|(name, value)| format!("{}:{value}", json!(name)));
            objects.push(format!("{{{}}}", pairs.collect::<Vec<_>>().join(",")));
        } else {
            screen.line(values.map(|(_, value)| plain(value)).collect::<Vec<_>>().join("\t"));
        }
    }
    if is_json {
        screen.json_line(&format!("{{\"handoffs\":[{}]}}", objects.join(",")));
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => for_terminal::one_line(text),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

fn print_table(records: &[HandoffRecord], screen: &mut Screen) {
    let now = crate::app::handoff::now();
    let width = records.iter().map(|record| record.id.as_str().len()).max().unwrap_or_default();
    let mut group = "";
    for record in records {
        let heading = match record.status {
            Status::Claimed => "Claimed",
            Status::Active => "Waiting",
            _ => "Archived",
        };
        if heading != group {
            if !group.is_empty() {
                screen.line("");
            }
            screen.line(screen.paint(Style::Strong, heading));
            group = heading;
        }
        let what = match record.kind {
            Kind::Session => format!("session  {:<8}", record.occasion),
            Kind::Task => format!("task     {:<8}", record.priority),
        };
        let goal = record.goal.as_deref().map(|goal| short(goal, GOAL_CHARS)).unwrap_or_default();
        let remark = screen.paint(Style::Faint, remark(record, now));
        screen.line(format!("  {:<width$}  {what}  {goal}{remark}", record.id).trim_end());
    }
}

/// The first of a text, on one line.
fn short(text: &str, n_chars: usize) -> String {
    // Masked before it is cut: half a token has no shape any more.
    shorten(&for_terminal::one_line(&secrets::mask(text)), n_chars)
}

/// What became of a handoff, or when it was left.
fn remark(record: &HandoffRecord, now: Timestamp) -> String {
    let ago = record.changed.ago(now);
    let by = |session: &str| format!(" by {}", short(session, SESSION_CHARS));
    let whom = record.changed_by.as_deref().map(by).unwrap_or_default();
    let gap = if record.goal.is_some() { "  " } else { "" };
    // The reason why it was archived is more informative than the status.
    let reason = record.reason.as_deref().map(|text| for_terminal::one_line(&secrets::mask(text)));
    match &record.status {
        Status::Active => format!("{gap}({})", record.created.ago(now)),
        Status::Cleared => format!("{gap}({} {ago})", reason.as_deref().unwrap_or("cleared")),
        Status::Claimed if record.is_abandoned => {
            format!("{gap}(claimed {ago}{whom}, which has ended)")
        }
        status => format!("{gap}({status} {ago}{whom})"),
    }
}

/// Show handoffs without taking them, with secrets masked
#[derive(Debug, ClapArgs)]
pub(super) struct ShowArgs {
    /// The handoffs [default: the one that waits for the next session]
    #[arg(value_parser = TypedId::parse)]
    ids: Vec<TypedId>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn show(handoffs: &Handoffs, args: &ShowArgs, screen: &mut Screen) -> Outcome {
    each(&named_or_default(&args.ids), screen, |id, screen| {
        let id = meant(handoffs, *id)?;
        let record = handoffs.find(id.as_ref())?;
        let text = handoffs.text(&record)?;
        if args.json {
            screen.json(&handoffs.show_json(&record)?);
        } else {
            let text = secrets::mask(&text);
            screen.foreign(&text);
            if !text.ends_with('\n') {
                screen.line("");
            }
        }
        Ok(())
    })
}

/// Show what happened to handoffs, newest step first
#[derive(Debug, ClapArgs)]
pub(super) struct LogArgs {
    /// The handoff [default: all]
    #[arg(value_parser = TypedId::parse)]
    id: Option<TypedId>,
    /// Show the sessions that followed each other by `kgctx handoff rotate`, up to this handoff or session
    #[arg(long, conflicts_with = "limit")]
    chain: bool,
    /// The maximum number of steps
    #[arg(long, default_value_t = 30, value_parser = from_one::<usize>)]
    limit: usize,
    /// Print JSON, one line per step
    #[arg(long)]
    json: bool,
}

pub(super) fn log(handoffs: &Handoffs, args: &LogArgs, screen: &mut Screen) -> Outcome {
    let id = meant(handoffs, args.id.as_ref())?;
    if args.chain {
        return print_chain(&handoffs.chain(id.as_ref())?, args.json, screen);
    }
    let events = handoffs.masked_log(id.as_ref(), args.limit)?;
    if events.is_empty() && !args.json {
        let channel = for_terminal::one_line(&handoffs.channel);
        screen.line(format!("Nothing has happened in {channel} yet."));
    }
    let width = events.iter().map(|event| event.id.len()).max().unwrap_or_default();
    for event in events {
        if args.json {
            screen.json(&event);
            continue;
        }
        let [from, to] =
            [&event.from, &event.to].map(|status| status.as_ref().map_or("-", Status::as_str));
        let step = format!("{from} → {to}");
        let session = event.session.as_deref().map(|session| format!("session {session}, "));
        let reason = event.reason.map(|reason| format!(", {reason}")).unwrap_or_default();
        let remark = format!("({}process {}{reason})", session.unwrap_or_default(), event.pid);
        screen.line(format!(
            "{}  {:<width$}  {step:<20}  {}",
            event.at,
            for_terminal::one_line(&event.id),
            screen.paint(Style::Faint, for_terminal::one_line(&remark))
        ));
    }
    Ok(())
}

fn print_chain(chain: &[RotationView], is_json: bool, screen: &mut Screen) -> Outcome {
    if chain.is_empty() && !is_json {
        screen.line("No session has continued in a fresh context yet.");
    }
    for rotation in chain {
        match is_json {
            true => screen.json(&rotation.to_json()),
            false => screen.line(for_terminal::one_line(&secrets::mask(&rotation.line()))),
        }
    }
    Ok(())
}
