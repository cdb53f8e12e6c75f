//! `kgctx handoff create`

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;

use crate::app::editor::{self, WrittenText};
use crate::app::handoff::{Created, HandoffError, Handoffs};
use crate::cli::handoff::WAITING;
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::core::handoff::document::{self, Input};
use crate::core::handoff::{Audience, Consume, Kind, Occasion, Priority, Status};
use crate::core::named::Named;
use crate::core::text::for_terminal::{self, Style};

/// Leave a handoff
///
/// Reads the text from FILE, from --body or from standard input: markdown, optionally with a JSON header or YAML front
/// matter. On a terminal, opens $EDITOR. With --goal and --next, no text is needed.
#[derive(Debug, ClapArgs)]
pub(super) struct CreateArgs {
    /// Read the text from this file; - is standard input
    file: Option<PathBuf>,
    /// The text
    #[arg(long, value_name = "MARKDOWN", conflicts_with = "file", allow_hyphen_values = true)]
    body: Option<String>,
    /// Add it to the queue of tasks, instead of giving it to the next session
    #[arg(long)]
    task: bool,
    /// The goal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    goal: Option<String>,
    /// What to do next
    #[arg(long = "next", value_name = "TEXT", allow_hyphen_values = true)]
    next_step: Option<String>,
    /// How urgent a task is [default: medium]
    #[arg(long, value_parser = priority_parser())]
    priority: Option<Priority>,
    /// The sessions that may get it: only interactive ones, or any [default: the setting handoff.audience]
    #[arg(long = "for", value_name = "AUDIENCE", value_parser = audience_parser(), conflicts_with = "task")]
    audience: Option<Audience>,
    /// A file to read first with it, relative to this folder; can be repeated
    #[arg(long = "spec", value_name = "PATH")]
    specs: Vec<String>,
    /// A file to read with it, relative to this folder; can be repeated
    #[arg(long = "file", value_name = "PATH")]
    files: Vec<String>,
    /// A tag to find it by; can be repeated
    #[arg(long = "tag", value_name = "WORD")]
    tags: Vec<String>,
    /// Give it to every new session, until there is a newer one
    #[arg(long, conflicts_with = "task")]
    sticky: bool,
    /// Why it is written; auto and rotation expire after 2 hours, end after 7 days [default: manual]
    #[arg(long = "type", value_name = "TYPE", value_parser = occasion_parser())]
    occasion: Option<Occasion>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn priority_parser() -> impl TypedValueParser<Value = Priority> {
    PossibleValuesParser::new(Priority::ALL.iter().map(|priority| priority.name()))
        .map(|name| Priority::parse(&name).unwrap_or_default())
}

fn audience_parser() -> impl TypedValueParser<Value = Audience> {
    PossibleValuesParser::new(Audience::ALL.iter().map(|audience| audience.name()))
        .map(|name| Audience::parse(&name).unwrap_or_default())
}

fn occasion_parser() -> impl TypedValueParser<Value = Occasion> {
    PossibleValuesParser::new(["auto", "manual", "bye", "end", "rotation"]).map(Occasion::from)
}

/// Adds where the editor's text is to the reason why it was refused.
fn refuse(error: HandoffError, written: Option<&WrittenText>) -> Failure {
    let mut failure = Failure::from(error);
    if let Some(path) = written.and_then(|written| written.kept.as_deref()) {
        let path = path.display();
        failure.message.push_str(&format!(
            "\nyour text is in {path}; change it there, then run: kgctx handoff create {path}"
        ));
    }
    failure
}

fn parse(args: &CreateArgs, written: Option<&WrittenText>) -> Result<Input, HandoffError> {
    let mut input = match written {
        Some(written) => document::input(&written.text)?,
        None => Input::default(),
    };
    let head = &mut input.document.head;
    // The folder or --channel decides the channel.
    input.ignored.extend(head.channel.take().map(|_| "channel".to_owned()));
    head.kind = if args.task { Kind::Task } else { head.kind };
    head.occasion = args.occasion.clone().or(head.occasion.take());
    head.consume = args.sticky.then_some(Consume::Sticky).or(head.consume);
    head.audience = args.audience.or(head.audience);
    head.priority = args.priority.unwrap_or(head.priority);
    head.goal = args.goal.clone().or(head.goal.take());
    head.next_step = args.next_step.clone().or(head.next_step.take());
    head.tags.extend(args.tags.iter().cloned());
    document::check_complete(head)?;
    Ok(input)
}

pub(super) fn run(
    open: impl FnOnce() -> Result<Handoffs, HandoffError>,
    args: &CreateArgs,
    screen: &mut Screen,
) -> Outcome {
    let written = match &args.body {
        Some(body) => Some(WrittenText::from(body.clone())),
        // With a goal, there is no need to wait for standard input.
        None if args.file.is_none() && args.goal.is_some() => None,
        None => Some(editor::read_text(args.file.as_deref())?),
    };
    let refuse = |error| refuse(error, written.as_ref());
    // Reports invalid input before opening anything.
    let Input { mut document, ignored } = parse(args, written.as_ref()).map_err(refuse)?;
    let mut handoffs = open()?;
    let listed = |path: &String| handoffs.listed_path(path);
    document.head.specs.extend(args.specs.iter().map(listed));
    document.head.files.extend(args.files.iter().map(listed));
    let created = during(WAITING, |_| handoffs.create(document)).map_err(refuse)?;
    if let Some(written) = written {
        written.discard();
    }
    if args.json {
        screen.json(&json!({
            "id": created.id,
            "kind": created.kind,
            "status": created.status,
            "channel": handoffs.channel,
            "path": created.path.to_string_lossy(),
            "expires_at": created.expires,
            "superseded": created.superseded,
            "ignored": ignored,
            "warnings": created.warnings,
        }));
        return Ok(());
    }
    print(&handoffs, &created, screen);
    if !ignored.is_empty() {
        let keys = for_terminal::one_line(&ignored.join(", "));
        screen.complain(&format!("kgctx: ignored {keys}, which kgctx sets itself\n"));
    }
    for warning in &created.warnings {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(warning)));
    }
    if let Some(because) = handoffs.outside_of_git() {
        screen.complain(&format!("kgctx: the project is {}\n", for_terminal::one_line(because)));
    }
    Ok(())
}

fn print(handoffs: &Handoffs, created: &Created, screen: &mut Screen) {
    let Created { id, path, kind, status, superseded, expires, .. } = created;
    let channel = for_terminal::one_line(&handoffs.channel);
    screen.line(screen.paint(Style::Strong, format!("Handoff created: {id}")));
    let until = expires.map(|at| format!(" until {at}")).unwrap_or_default();
    screen.line(match (kind, status) {
        (Kind::Task, _) => {
            format!("It waits in the queue of {channel}: kgctx handoff pickup {id}, or --auto")
        }
        (Kind::Session, Status::Active) => {
            format!("It waits for the next session in {channel}{until}")
        }
        (Kind::Session, _) => {
            format!("Another one already waits in {channel}, so this one is archived")
        }
    });
    if let Some(superseded) = superseded {
        screen.line(format!("It replaces {superseded}, which is archived"));
    }
    screen.line(format!("<HANDOFF_ID>{id}</HANDOFF_ID>"));
    screen.line(format!(
        "<SESSION_FILE>{}</SESSION_FILE>",
        for_terminal::one_line(&path.to_string_lossy())
    ));
}
