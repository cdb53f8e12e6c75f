//! `kgctx handoff release`, `archive`, `clear` and `prune`.

use clap::Args as ClapArgs;
use serde_json::json;

use crate::app::handoff::{Handoffs, Pruned};
use crate::cli::handoff::{WAITING, each, meant, named_or_default};
use crate::cli::outcome::Outcome;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::values::from_one;
use crate::core::handoff::{HandoffId, Status, TypedId};
use crate::core::text::for_terminal;
use crate::core::text::number::counted;

/// Make a handoff wait again, after it was picked up or given to a session
#[derive(Debug, ClapArgs)]
pub(super) struct ReleaseArgs {
    /// The handoffs [default: what this session picked up last]
    #[arg(value_parser = TypedId::parse)]
    ids: Vec<TypedId>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn release(handoffs: &mut Handoffs, args: &ReleaseArgs, screen: &mut Screen) -> Outcome {
    each(&named_or_default(&args.ids), screen, |id, screen| {
        let id = meant(handoffs, *id)?;
        let (id, status) = during(WAITING, |_| handoffs.release(id.as_ref()))?;
        let words = match status {
            Status::Active => "waits again",
            _ => "is archived, because another one waits",
        };
        report(&id, "released", words, args.json, screen);
        Ok(())
    })
}

/// Archive handoffs, so that no session gets them
#[derive(Debug, ClapArgs)]
pub(super) struct ArchiveArgs {
    /// The handoffs
    #[arg(value_parser = TypedId::parse, required = true)]
    ids: Vec<TypedId>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn archive(handoffs: &mut Handoffs, args: &ArchiveArgs, screen: &mut Screen) -> Outcome {
    each(&args.ids, screen, |id, screen| {
        let id = handoffs.named(id)?;
        let record = during(WAITING, |_| handoffs.archive(&id))?;
        report(&record.id, "archived", "is archived", args.json, screen);
        Ok(())
    })
}

fn report(id: &HandoffId, done: &str, words: &str, is_json: bool, screen: &mut Screen) {
    if is_json {
        screen.json(&json!({ "id": id, "done": done }));
    } else {
        screen.line(format!("{id} {words}"));
    }
}

/// Archive the handoff that waits for the next session
#[derive(Debug, ClapArgs)]
pub(super) struct ClearArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn clear(handoffs: &mut Handoffs, args: &ClearArgs, screen: &mut Screen) -> Outcome {
    let cleared = during(WAITING, |_| handoffs.clear())?.map(|record| record.id);
    if args.json {
        screen.json(&json!({ "cleared": cleared }));
        return Ok(());
    }
    let channel = for_terminal::one_line(&handoffs.channel);
    screen.line(match cleared {
        Some(id) => format!("{id} is archived; nothing waits for the next session in {channel}"),
        None => format!("Nothing waits for the next session in {channel}"),
    });
    Ok(())
}

/// Remove the oldest finished handoffs
///
/// Keeps waiting and claimed handoffs. kgctx removes finished ones by itself after 7 days.
#[derive(Debug, ClapArgs)]
pub(super) struct PruneArgs {
    /// The number of finished handoffs to keep
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = from_one::<u32>)]
    keep: u32,
    /// Print what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn prune(handoffs: &mut Handoffs, args: &PruneArgs, screen: &mut Screen) -> Outcome {
    let Pruned { removed, n_kept } =
        during(WAITING, |_| handoffs.prune(args.keep as usize, args.dry_run))?;
    let ids: Vec<&HandoffId> = removed.iter().map(|record| &record.id).collect();
    if args.json {
        screen.json(&json!({ "removed": ids, "kept": n_kept, "dry_run": args.dry_run }));
        return Ok(());
    }
    let (verb, kept) =
        if args.dry_run { ("would remove", "would keep") } else { ("removed", "kept") };
    for id in &ids {
        screen.line(format!("{verb}  {id}"));
    }
    let n_removed = counted(ids.len(), "handoff");
    screen.line(format!(
        "{verb} {n_removed}; {kept} {n_kept} archived, and all waiting and claimed handoffs"
    ));
    Ok(())
}
