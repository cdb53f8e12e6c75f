//! `kgctx handoff create`

use serde_json::json;

use crate::app::editor;
use crate::app::handoff::{Created, Desk, HandoffError};
use crate::cli::handoff::args::CreateArgs;
use crate::cli::outcome::Failure;
use crate::cli::screen::{Screen, Style, harmless};
use crate::domain::handoff::{Document, Kind, Status};

/// What was typed or piped.
pub(super) struct Typed {
    document: Document,
    ignored: Vec<String>,
}

/// Reads what is to be left.
pub(super) fn input(args: &CreateArgs) -> Result<Typed, Failure> {
    let text = match &args.body {
        Some(body) => Some(body.clone()),
        None if args.is_complete() => None,
        None => Some(editor::text_of(args.file.as_deref())?),
    };
    let (mut document, ignored) = match text {
        Some(text) => {
            let input = editor::understood(&text).map_err(HandoffError::from)?;
            (input.document, input.ignored)
        }
        None => (Document::default(), Vec::new()),
    };
    let head = &mut document.head;
    head.kind = args.kind().unwrap_or(head.kind);
    head.occasion = args.occasion.map(Into::into).or(head.occasion.take());
    head.consume = args.consume().or(head.consume);
    head.priority = args.priority.map_or(head.priority, Into::into);
    head.goal = args.goal.clone().or(head.goal.take());
    head.next_step = args.next_step.clone().or(head.next_step.take());
    head.specs.extend(args.specs.iter().cloned());
    head.files.extend(args.files.iter().cloned());
    head.tags.extend(args.tags.iter().cloned());
    editor::checked(&document).map_err(HandoffError::from)?;
    Ok(Typed { document, ignored })
}

pub(super) fn run(
    desk: &mut Desk,
    args: &CreateArgs,
    typed: Typed,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let Typed { document, ignored } = typed;
    let created = desk.create(document.into())?;
    if args.json {
        screen.json(&json!({
            "id": created.id,
            "kind": created.kind,
            "status": created.status,
            "channel": desk.channel(),
            "path": created.path.to_string_lossy(),
            "expires_at": created.expires,
            "superseded": created.superseded,
            "ignored": ignored,
        }));
        return Ok(());
    }
    print(desk, &created, screen);
    if !ignored.is_empty() {
        let keys = harmless(&ignored.join(", "));
        screen.complain(&format!("kgctx: {keys} was ignored: kgctx fills it in itself\n"));
    }
    if let Some(because) = desk.outside_of_git() {
        screen.complain(&format!("kgctx: the project is {}\n", harmless(because)));
    }
    Ok(())
}

fn print(desk: &Desk, created: &Created, screen: &mut Screen) {
    let Created { id, path, kind, status, superseded, expires } = created;
    let channel = harmless(desk.channel());
    screen.line(screen.paint(Style::Strong, format!("Handoff created: {id}")));
    let until = expires.map(|at| format!(" until {at}")).unwrap_or_default();
    screen.line(match (kind, status) {
        (Kind::Task, _) => {
            format!("It waits in the queue of {channel}: kgctx handoff pickup {id}, or --auto")
        }
        (Kind::Session, Status::Active) => {
            format!("It waits for the next session in {channel}{until}")
        }
        (Kind::Session, _) => format!("A newer one waits in {channel}; this one is archived"),
    });
    if let Some(superseded) = superseded {
        screen.line(format!("It takes the place of {superseded}, which is archived"));
    }
    screen.line(format!("<HANDOFF_ID>{id}</HANDOFF_ID>"));
    screen.line(format!("<SESSION_FILE>{}</SESSION_FILE>", harmless(&path.to_string_lossy())));
}
