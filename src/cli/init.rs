//! `kgctx init`

use std::io::{self, BufRead, IsTerminal};

use clap::Args as ClapArgs;

use crate::app::init::{SeenHost, Survey, UnnamedVault, WaitingHandoffs, survey};
use crate::app::inject::inject;
use crate::app::install::plan_install;
use crate::app::recorder::Recording;
use crate::app::session::Session;
use crate::app::vaults::{Added, ListedVault, NamedIn, add};
use crate::cli::install::{complain_about, described};
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::place::PlaceArgs;
use crate::cli::progress::during;
use crate::cli::screen::Screen;
use crate::cli::vault::listed;
use crate::core::context::receipt::{Fault, Injection};
use crate::core::host::Host;
use crate::core::installation::{Parts, Scope};
use crate::core::named::Named;
use crate::core::text::for_terminal::{self, Style};
use crate::core::text::number::{counted, thousands};
use crate::core::text::slashes::with_slashes;
use crate::workspace::refresh::Mode;
use crate::workspace::summary::index;
use crate::workspace::{AppError, Workspace};

/// So much of the first context is shown.
const LINES_SHOWN: usize = 12;
const COLUMNS_SHOWN: usize = 96;
/// The width of the first column.
const NAME: usize = 26;

/// Set kgctx up here: find your notes, show a first context, and install into your hosts
///
/// Says what it finds and what that means, writes a setting only where the defaults are not enough, and indexes the notes.
/// Asks before it writes a setting or installs anything; without a terminal it asks nothing, and changes nothing but the index.
/// `kgctx uninstall` and `kgctx vault remove` undo what it does.
#[derive(Debug, ClapArgs)]
pub(super) struct InitArgs {
    /// Answer every question with yes
    #[arg(long, short)]
    yes: bool,
}

/// Who answers the questions.
struct Answers {
    yes: bool,
    is_terminal: bool,
    /// The commands that do what was not agreed to, and what they do.
    left: Vec<(String, &'static str)>,
}

impl Answers {
    fn agree(
        &mut self,
        question: &str,
        later: (String, &'static str),
        screen: &mut Screen,
    ) -> bool {
        let agrees = self.yes || self.is_terminal && ask(question, screen);
        if !agrees {
            self.left.push(later);
        }
        agrees
    }
}

/// Asks a person, for whom Enter is yes.
fn ask(question: &str, screen: &mut Screen) -> bool {
    screen.print(&format!("  {} [Y/n] ", for_terminal::one_line(question)));
    screen.flush();
    let mut answer = String::new();
    let is_read = io::stdin().lock().read_line(&mut answer).is_ok_and(|n_bytes| n_bytes > 0);
    is_read && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes")
}

pub(super) fn run(place: &PlaceArgs, args: &InitArgs, screen: &mut Screen) -> Outcome {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut answers = Answers { yes: args.yes, is_terminal, left: Vec::new() };
    let found = during("Looking around", |_| survey(&place.request()))?;
    let name = found.place.project.name.as_deref().unwrap_or("no project");
    let because = for_terminal::one_line(&found.place.project.because);
    let because = screen.paint(Style::Faint, format!("({because})"));
    screen
        .line(format!("{}  {because}", screen.paint(Style::Strong, for_terminal::one_line(name))));
    let mut n_failed = name_vaults(place, &found, &mut answers, screen);
    // Progress must not come before what was said so far.
    screen.flush();
    let vaults = read_notes(place, screen)?;
    print_notes(&found, &vaults, screen);
    let has_notes = vaults.iter().any(|vault| vault.notes.is_some_and(|n| n > 0));
    if !has_notes {
        print_advice(&found, screen);
    }
    print_others(&found, screen);
    if has_notes {
        print_context(place, &found, screen)?;
    }
    n_failed += install(place, &found, &mut answers, screen);
    print_end(&answers, &found, screen);
    if n_failed > 0 { Err(Failure::said_no()) } else { Ok(()) }
}

fn head(title: &str, screen: &mut Screen) {
    screen.line("");
    screen.line(screen.paint(Style::Strong, title));
}

fn row(name: &str, what: &str, screen: &mut Screen) {
    rows(&[(name.to_owned(), what.to_owned())], screen);
}

/// Rows with one first column, which the longest name widens.
fn rows(rows: &[(String, String)], screen: &mut Screen) {
    let one_line = |text: &str| for_terminal::one_line(text);
    let rows: Vec<_> = rows.iter().map(|(name, what)| (one_line(name), one_line(what))).collect();
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(NAME);
    for (name, what) in &rows {
        screen.line(match what.as_str() {
            "" => format!("  {name}"),
            what => format!("  {name:<width$}  {}", screen.paint(Style::Faint, what)),
        });
    }
}

/// Names in a sentence.
fn enumerated(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// Writes settings for vaults that kgctx does not find by itself. Returns how many failed.
fn name_vaults(
    place: &PlaceArgs,
    found: &Survey,
    answers: &mut Answers,
    screen: &mut Screen,
) -> usize {
    if found.unnamed.is_empty() || found.restricted_by.is_some() {
        return 0;
    }
    let mut n_failed = 0;
    head("Settings", screen);
    for UnnamedVault { path, shown, program } in &found.unnamed {
        let what = format!("a vault of {program}, which kgctx reads once kgctx.toml names it");
        row(shown, &what, screen);
        let command = format!("kgctx vault add --project {}", quoted(&path.display().to_string()));
        if !answers.agree("Write it into kgctx.toml?", (command, "adds it later"), screen) {
            continue;
        }
        match add(&place.request(), path, None, NamedIn::Project) {
            Ok(Added::Written { file, .. }) => {
                row("", &format!("added to {}", file.display()), screen);
            }
            Ok(Added::Already { .. }) => {}
            Err(error) => {
                n_failed += 1;
                screen.complain_about(&[error]);
            }
        }
    }
    n_failed
}

/// A word for a shell.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-~".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Brings the index up to date, and lists the vaults.
fn read_notes(place: &PlaceArgs, screen: &mut Screen) -> Result<Vec<ListedVault>, AppError> {
    // Without any vault there is nothing to read, and `listed` says so.
    if let Ok((workspace, errors)) = Workspace::find(&place.request()) {
        screen.complain_about(&errors);
        let (_, refreshed) = during("Reading notes", |progress| {
            let mut count = |done, all| progress.count("notes", done, all);
            index(&workspace, Mode::Incremental, &mut count)
        })?;
        screen.notice(refreshed.notice.as_ref());
    }
    listed(place)
}

fn print_notes(found: &Survey, vaults: &[ListedVault], screen: &mut Screen) {
    let top = found.place.project.notes_root.as_deref();
    head("Notes", screen);
    let mut shown_vaults = Vec::new();
    for vault in vaults {
        let path = std::path::Path::new(&vault.path);
        let shown = match top.and_then(|top| path.strip_prefix(top).ok()) {
            Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Some(below) => with_slashes(below).unwrap_or_else(|| below.display().to_string()),
            None => vault.path.clone(),
        };
        let number = vault.notes.map_or("not read".to_owned(), |n| counted(n as usize, "note"));
        shown_vaults.push((shown, format!("{number:<12}  {}", vault.described())));
    }
    if vaults.is_empty() {
        shown_vaults.push(("none".to_owned(), String::new()));
    }
    if let Some(restriction) = &found.restricted_by {
        for UnnamedVault { shown, program, .. } in &found.unnamed {
            let what = format!("a vault of {program}, left out because {restriction}");
            shown_vaults.push((shown.clone(), what));
        }
    }
    rows(&shown_vaults, screen);
    let is_complete = found.restricted_by.is_none() && found.unnamed.is_empty();
    if is_complete && !vaults.is_empty() {
        let n_named = vaults.iter().filter(|vault| vault.is_named).count();
        let what = match n_named {
            0 => "The defaults find all of this; no setting is needed.",
            n if n == vaults.len() => "The settings name all of this; nothing to add.",
            _ => "The settings name what the defaults do not find; nothing to add.",
        };
        screen.line(format!("  {what}"));
    }
}

/// What is there and is no note.
fn print_others(found: &Survey, screen: &mut Screen) {
    if found.host_files.is_empty() && found.handoffs.is_empty() {
        return;
    }
    head("Also here", screen);
    let mut others = Vec::new();
    for (file, hosts) in &found.host_files {
        let (verb, itself) =
            if hosts.len() > 1 { ("read", "themselves") } else { ("reads", "itself") };
        let who = if hosts.is_empty() { &["the agent it is for"] } else { &hosts[..] };
        let what = format!("{} {verb} it by {itself}, so kgctx leaves it out", enumerated(who));
        others.push(((*file).to_owned(), what));
    }
    for WaitingHandoffs { tool, number, folder } in &found.handoffs {
        let number = counted(*number, "handoff");
        let what = format!("{number} in {}", folder.display());
        others.push((tool.title().to_owned(), what));
        let what = format!("`kgctx handoff import --from {tool}` imports them");
        others.push((String::new(), what));
    }
    rows(&others, screen);
}

/// Shows the beginning of what a session of the first host here would get, and what it costs.
fn print_context(place: &PlaceArgs, found: &Survey, screen: &mut Screen) -> Result<(), AppError> {
    let enabled = &found.place.settings.enabled;
    let host = found.hosts.first().map(|seen| seen.host);
    let of_host = host.map(|host| format!("as {} gets it", host.facts().title));
    let of_host = of_host.unwrap_or_else(|| "as `kgctx inject` prints it".to_owned());
    head(&format!("First context, {of_host}"), screen);
    if !enabled.value {
        row(
            "none",
            &format!("sessions get no context: switched off by {}", enabled.origin),
            screen,
        );
        return Ok(());
    }
    screen.flush();
    let session = Session::new("init", place.request(), host.unwrap_or(Host::Plain));
    let Injection { text, receipt, .. } =
        during("Making the context", |_| inject(&session, Recording::Off))?;
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    for line in lines.iter().take(LINES_SHOWN) {
        let is_whole = line.chars().count() <= COLUMNS_SHOWN;
        let start: String = line.chars().take(COLUMNS_SHOWN).collect();
        let end = if is_whole { "" } else { "…" };
        let line = format!("{}{end}", for_terminal::one_line(&start));
        screen.line(format!("  {} {line}", screen.paint(Style::Faint, "│")));
    }
    let more = lines.len().saturating_sub(LINES_SHOWN);
    if more > 0 {
        let more = format!("│ … and {} more", counted(more, "line"));
        screen.line(format!("  {}", screen.paint(Style::Faint, more)));
    }
    let (tokens, budget) = (thousands(receipt.used.tokens), thousands(receipt.budget.tokens));
    let ms = receipt.stages.iter().find(|stage| stage.name == "all").map_or(0.0, |stage| stage.ms);
    screen.line(format!(
        "  It costs {tokens} of {budget} tokens, once per session, and took {ms:.0} ms."
    ));
    screen.line("  `kgctx explain --dry-run` shows all of it, and why each line is there.");
    for Fault { source, reason } in &receipt.faults {
        screen.complain(&format!("kgctx: {source}: {}\n", for_terminal::one_line(reason)));
    }
    Ok(())
}

/// What to do where there are no notes.
fn print_advice(found: &Survey, screen: &mut Screen) {
    let is_project = found.place.project.notes_root.is_some();
    screen.line(match &found.unread {
        Some(unread) => {
            format!("  No notes are read: {}.", for_terminal::one_line(&unread.described()))
        }
        None => "  There are no notes yet.".to_owned(),
    });
    screen.line("  Any of these changes that:");
    if let Some(unread) = &found.unread {
        let command = format!("kgctx vault add --project {}", quoted(&unread.folder));
        row(&command, "reads them in this project", screen);
    }
    row("kgctx vault add FOLDER", "reads notes that you have elsewhere, in every project", screen);
    if is_project {
        row("docs/, adr/, notes/ …", "write markdown into a usual place of this project", screen);
    } else {
        row("cd PROJECT", "kgctx looks for notes in a project's folder", screen);
    }
    screen.line("  Handoffs between sessions work without notes, too.");
}

/// Installs into the hosts that are there. Returns how many failed.
fn install(place: &PlaceArgs, found: &Survey, answers: &mut Answers, screen: &mut Screen) -> usize {
    head("Hosts", screen);
    if found.hosts.is_empty() {
        let installable = Host::ALL.iter().filter(|host| host.facts().install.is_some());
        let titles: Vec<&str> = installable.map(|host| host.facts().title).collect();
        row("none", &format!("{} are not on the PATH", enumerated(&titles)), screen);
        row("", "`kgctx install HOST` sets one up later", screen);
    }
    let mut n_failed = 0;
    for SeenHost { host, is_set_up } in &found.hosts {
        let title = host.facts().title;
        if *is_set_up {
            row(title, "kgctx is set up there already", screen);
            continue;
        }
        let plan = plan_install(&place.request(), *host, Scope::Global, Parts::default());
        let done = plan.map_err(Failure::from).and_then(|plan| {
            row(title, "is on this machine; to install kgctx into it:", screen);
            for change in &plan.changes {
                screen.line(format!("    {}", described(change, screen)));
            }
            let question = format!("Install into {title}?");
            let later = (format!("kgctx install {host}"), "installs it later");
            if answers.agree(&question, later, screen) {
                screen.flush();
                plan.apply()?;
                row("", &format!("done; {}", when_it_works(*host)), screen);
                complain_about(&plan, *host, screen);
            }
            Ok(())
        });
        if let Err(failure) = done {
            n_failed += 1;
            let message = for_terminal::lines(&failure.message).into_owned();
            screen.complain(&format!("kgctx: {title}: {message}\n"));
        }
    }
    n_failed
}

/// From when on sessions of a host get context.
fn when_it_works(host: Host) -> String {
    match host.plugin() {
        // Plugins are loaded once.
        Some(_) => format!("new sessions get context from {}'s next start on", host.facts().title),
        None => "new sessions get context from now on".to_owned(),
    }
}

fn print_end(answers: &Answers, found: &Survey, screen: &mut Screen) {
    head("Next", screen);
    if !answers.left.is_empty() && !answers.is_terminal {
        screen.line(
            "  Nothing was changed but kgctx's own index. `kgctx init --yes` does all of this, or:",
        );
    }
    let later = |what| if answers.is_terminal { what } else { "" };
    let left = answers.left.iter().map(|(command, what)| (command.as_str(), later(*what)));
    let plain = ("kgctx inject --help", "gives a session its context without a host's plugin");
    let doctor = ("kgctx doctor", "checks everything between your notes and your sessions");
    let next = left.chain(found.hosts.is_empty().then_some(plain)).chain([doctor]);
    let next = next.map(|(command, what)| (command.to_owned(), what.to_owned()));
    rows(&next.collect::<Vec<_>>(), screen);
}
