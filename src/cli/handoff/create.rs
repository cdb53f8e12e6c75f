//! `kgctx handoff create`

use serde_json::json;

use crate::app::editor::{self, Written};
use crate::app::handoff::{Created, HandoffError, Handoffs};
use crate::cli::handoff::args::CreateArgs;
use crate::cli::outcome::Failure;
use crate::cli::screen::{Screen, Style};
use crate::core::handoff::{Document, Kind, Status};
use crate::core::text::for_terminal;

/// What was typed or piped.
pub(super) struct Typed {
    document: Document,
    ignored: Vec<String>,
    written: Option<Written>,
}

/// Reads what is to be left.
pub(super) fn input(args: &CreateArgs) -> Result<Typed, Failure> {
    let written = match &args.body {
        Some(body) => Some(Written::from(body.clone())),
        None if args.is_complete() => None,
        None => Some(editor::text_of(args.file.as_deref())?),
    };
    match understood(args, written.as_ref()) {
        Ok((document, ignored)) => Ok(Typed { document, ignored, written }),
        Err(error) => Err(refused(error, written.as_ref())),
    }
}

/// Says why a text is not taken, and where somebody finds it again who has just written it.
fn refused(error: HandoffError, written: Option<&Written>) -> Failure {
    let mut failure = Failure::from(error);
    if let Some(path) = written.and_then(|written| written.kept.as_deref()) {
        let path = path.display();
        failure.message.push_str(&format!(
            "\nwhat you wrote is in {path}; change it there, and then: kgctx handoff create {path}"
        ));
    }
    failure
}

fn understood(
    args: &CreateArgs,
    written: Option<&Written>,
) -> Result<(Document, Vec<String>), HandoffError> {
    let (mut document, mut ignored) = match written {
        Some(written) => {
            let input = editor::understood(&written.text)?;
            (input.document, input.ignored)
        }
        None => (Document::default(), Vec::new()),
    };
    let head = &mut document.head;
    // It is decided by where the handoff is left, or by --channel.
    ignored.extend(head.channel.take().map(|_| "channel".to_owned()));
    head.kind = args.kind().unwrap_or(head.kind);
    head.occasion = args.occasion.map(Into::into).or(head.occasion.take());
    head.consume = args.consume().or(head.consume);
    head.priority = args.priority.map_or(head.priority, Into::into);
    head.goal = args.goal.clone().or(head.goal.take());
    head.next_step = args.next_step.clone().or(head.next_step.take());
    head.specs.extend(args.specs.iter().cloned());
    head.files.extend(args.files.iter().cloned());
    head.tags.extend(args.tags.iter().cloned());
    editor::checked(&document)?;
    Ok((document, ignored))
}

pub(super) fn run(
    handoffs: &mut Handoffs,
    args: &CreateArgs,
    typed: Typed,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let Typed { document, ignored, written } = typed;
    let created = match handoffs.create(document.into()) {
        Ok(created) => created,
        Err(error) => return Err(refused(error, written.as_ref())),
    };
    if let Some(written) = written {
        written.discard();
    }
    if args.json {
        screen.json(&json!({
            "id": created.id,
            "kind": created.kind,
            "status": created.status,
            "channel": handoffs.channel(),
            "path": created.path.to_string_lossy(),
            "expires_at": created.expires,
            "superseded": created.superseded,
            "ignored": ignored,
        }));
        return Ok(());
    }
    print(handoffs, &created, screen);
    if !ignored.is_empty() {
        let keys = for_terminal::one_line(&ignored.join(", "));
        screen.complain(&format!("kgctx: ignored {keys}, which kgctx fills in by itself\n"));
    }
    if let Some(because) = handoffs.outside_of_git() {
        screen.complain(&format!("kgctx: the project is {}\n", for_terminal::one_line(because)));
    }
    Ok(())
}

fn print(handoffs: &Handoffs, created: &Created, screen: &mut Screen) {
    let Created { id, path, kind, status, superseded, expires } = created;
    let channel = for_terminal::one_line(handoffs.channel());
    screen.line(screen.paint(Style::Strong, format!("Handoff created: {id}")));
    let until = expires.map(|at| format!(" until {at}")).unwrap_or_default();
    screen.line(match (kind, status) {
        (Kind::Task, _) => {
            format!("It waits in the queue of {channel}: kgctx handoff pickup {id}, or --auto")
        }
        (Kind::Session, Status::Active) => {
            format!("It waits for the next session in {channel}{until}")
        }
        (Kind::Session, _) => format!("Another one waits in {channel}; this one is archived"),
    });
    if let Some(superseded) = superseded {
        screen.line(format!("It takes the place of {superseded}, which is archived"));
    }
    screen.line(format!("<HANDOFF_ID>{id}</HANDOFF_ID>"));
    screen.line(format!(
        "<SESSION_FILE>{}</SESSION_FILE>",
        for_terminal::one_line(&path.to_string_lossy())
    ));
}
