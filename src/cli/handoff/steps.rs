//! `kgctx handoff release`, `archive`, `clear`, `prune`, `import`, `export` and `reconcile`.

use serde_json::json;

use crate::app::handoff::{Exported, Finding, Handoffs, Pruned, Verdict};
use crate::cli::handoff::args::{
    ArchiveArgs, ClearArgs, ExportArgs, ImportArgs, PruneArgs, ReconcileArgs, ReleaseArgs,
};
use crate::cli::handoff::each;
use crate::cli::outcome::{Failure, NO};
use crate::cli::screen::{Screen, Style};
use crate::core::handoff::{HandoffId, Status};
use crate::core::text::for_terminal;
use crate::core::text::number::counted;

pub(super) fn release(
    handoffs: &mut Handoffs,
    args: &ReleaseArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let ids: Vec<Option<&HandoffId>> = match args.ids.as_slice() {
        [] => vec![None],
        ids => ids.iter().map(Some).collect(),
    };
    each(&ids, screen, |id, screen| {
        let (id, status) = handoffs.release(*id)?;
        let words = match status {
            Status::Active => "waits again",
            _ => "is archived: another one has taken its place",
        };
        told(&id, "released", words, args.json, screen);
        Ok(())
    })
}

pub(super) fn archive(
    handoffs: &mut Handoffs,
    args: &ArchiveArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    each(&args.ids, screen, |id, screen| {
        let record = handoffs.archive(id)?;
        told(&record.id, "archived", "is archived", args.json, screen);
        Ok(())
    })
}

fn told(id: &HandoffId, done: &str, words: &str, is_json: bool, screen: &mut Screen) {
    if is_json {
        screen.json(&json!({ "id": id, "done": done }));
    } else {
        screen.line(format!("{id} {words}"));
    }
}

pub(super) fn clear(
    handoffs: &mut Handoffs,
    args: &ClearArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let cleared = handoffs.clear()?.map(|record| record.id);
    if args.json {
        screen.json(&json!({ "cleared": cleared }));
        return Ok(());
    }
    let channel = for_terminal::one_line(handoffs.channel());
    screen.line(match cleared {
        Some(id) => format!("{id} is archived; nothing waits for the next session in {channel}"),
        None => format!("Nothing waits for the next session in {channel}"),
    });
    Ok(())
}

pub(super) fn prune(
    handoffs: &mut Handoffs,
    args: &PruneArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let Pruned { removed, n_kept } = handoffs.prune(args.keep as usize, args.dry_run)?;
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
        "{verb} {n_removed}; {kept} {n_kept} archived, and all that waits or is claimed"
    ));
    Ok(())
}

pub(super) fn import(
    handoffs: &mut Handoffs,
    args: &ImportArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let imported = match args.amplifier {
        true => handoffs.import_amplifier()?,
        false => handoffs.import(&args.files)?,
    };
    if args.json {
        let handoffs: Vec<_> = imported
            .handoffs
            .iter()
            .map(|one| json!({ "id": one.id, "source_id": one.source_id, "status": one.status }))
            .collect();
        screen.json(&json!({
            "imported": handoffs,
            "known": imported.n_known,
            "warnings": imported.warnings,
            "failed": imported.failed,
        }));
    } else {
        for one in &imported.handoffs {
            let source = for_terminal::one_line(&one.source_id);
            screen.line(format!("{}  {:<8}  {source}", one.id, one.status));
        }
        let known = match imported.n_known {
            0 => String::new(),
            n => format!("; {n} known already"),
        };
        screen.line(format!("{} imported{known}", counted(imported.handoffs.len(), "handoff")));
    }
    for warning in imported.warnings.iter().chain(&imported.failed) {
        screen.complain(&format!("kgctx: {}\n", for_terminal::one_line(warning)));
    }
    match imported.failed.len() {
        0 => Ok(()),
        n => Err(Failure {
            code: NO,
            message: format!("{} could not be imported", counted(n, "handoff")),
        }),
    }
}

pub(super) fn export(
    handoffs: &mut Handoffs,
    args: &ExportArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let exported = match (args.amplifier, &args.to) {
        (true, _) => handoffs.export_to_amplifier(args.id.as_ref())?,
        (false, Some(file)) => handoffs.export_to(args.id.as_ref(), file)?,
        (false, None) => Exported::Text(handoffs.exported(args.id.as_ref())?),
    };
    match exported {
        Exported::Text(text) => screen.foreign(&text),
        Exported::File(path) => {
            screen.line(format!("written: {}", for_terminal::one_line(&path.to_string_lossy())));
        }
    }
    Ok(())
}

pub(super) fn reconcile(
    handoffs: &mut Handoffs,
    args: &ReconcileArgs,
    screen: &mut Screen,
) -> Result<(), Failure> {
    let (findings, adopted, n_confirmed) = match &args.id {
        Some(id) => (handoffs.check(id)?.findings, Vec::new(), 0),
        None => {
            let all = handoffs.reconcile(args.repair)?;
            (all.findings, all.adopted, all.n_confirmed)
        }
    };
    let n_wrong = findings.iter().filter(|one| one.verdict == Verdict::Discrepant).count();
    if args.json {
        screen.json(&json!({
            "findings": findings, "adopted": adopted, "confirmed": n_confirmed,
        }));
    } else {
        findings.iter().for_each(|finding| print_finding(finding, screen));
        adopted.iter().for_each(|id| screen.line(format!("taken in  {id}")));
        if args.id.is_none() && n_wrong == 0 {
            let n = n_confirmed + adopted.len();
            let are = if n == 1 { "is as it should be" } else { "are as they should be" };
            screen.line(format!("{} {are}", counted(n, "handoff")));
        }
    }
    if n_wrong > 0 {
        let message = format!("{} not as the handoff says", counted(n_wrong, "thing"));
        return Err(Failure { code: NO, message });
    }
    Ok(())
}

fn print_finding(finding: &Finding, screen: &mut Screen) {
    let Finding { what, name, verdict, why } = finding;
    let (style, word) = match verdict {
        Verdict::Confirmed => (Style::Good, "confirmed"),
        Verdict::Discrepant => (Style::Bad, "discrepant"),
        Verdict::Unverifiable => (Style::Doubtful, "unverifiable"),
    };
    let word = screen.paint(style, format!("{word:<12}"));
    screen.line(format!(
        "{word}  {what:<8}  {}  ({})",
        for_terminal::one_line(name),
        for_terminal::one_line(why)
    ));
}
