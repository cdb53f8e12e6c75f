//! Runs a program in the foreground of this terminal, as a shell would: nothing is copied or changed between the two. Keys
//! that end or stop programs reach both; this process stays until the program has ended.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::{MissedTickBehavior, interval};

use crate::system::process::ending;
use crate::system::process::identity::Process;
use crate::system::process::terminal::Terminal;

pub const IS_SUPPORTED: bool = true;

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    status: ExitStatus,
    /// Who ended it.
    pub by: EndedBy,
    /// Whether it could not leave the terminal in order.
    is_killed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedBy {
    /// Itself, or whoever does not concern us.
    Itself,
    /// A signal to this process, which was passed on.
    Signal,
    /// The one who looked after it.
    Us,
}

impl End {
    /// The exit code, as shells have it.
    pub fn code(&self) -> u8 {
        let code =
            self.status.code().or_else(|| ending::signal(self.status).map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
    }
}

/// Looks after a program while it runs.
pub struct Watch<'a> {
    pub every: Duration,
    /// Whether to end the program now, which runs in this process, too.
    pub is_over: &'a mut dyn FnMut(Option<&Terminal>) -> Option<Process>,
    /// The time to end by itself.
    pub grace: Duration,
}

/// Runs a command (the program, then its arguments) with one more variable until it ends, and restores the terminal then.
/// If the folder is gone, it runs in that of this process.
pub fn run(
    command: &[OsString],
    folder: Option<&Path>,
    (name, value): (&str, String),
    watch: Option<Watch<'_>>,
) -> io::Result<End> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).env(name, value);
    if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    let terminal = Terminal::of_process();
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let end = runtime.block_on(look_after(&mut command, watch, terminal.as_ref()))?;
    if let Some(terminal) = terminal {
        terminal.restore(end.is_killed || ending::signal(end.status).is_some());
    }
    Ok(end)
}

async fn look_after(
    command: &mut Command,
    watch: Option<Watch<'_>>,
    terminal: Option<&Terminal>,
) -> io::Result<End> {
    // Before the program starts, so that no signal ends this process alone. The program itself does not inherit this.
    let mut ended = signal(SignalKind::child())?;
    let (mut interrupt, mut quit) = (signal(SignalKind::interrupt())?, signal(SignalKind::quit())?);
    let (mut terminate, mut hangup) =
        (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    let every = watch.as_ref().map_or(Duration::from_secs(3_600), |watch| watch.every);
    let mut tick = interval(every);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (child, by) = (command.spawn()?, EndedBy::Itself);
    let mut ending = Ending { child, watch, until: None, by, is_killed: false };
    loop {
        if let Some(status) = ending.child.try_wait()? {
            return Ok(End { status, by: ending.by, is_killed: ending.is_killed });
        }
        tokio::select! {
            _ = ended.recv() => {}
            // The terminal has sent it to the program, too.
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
            _ = terminate.recv() => ending.pass_on(Signal::TERM),
            _ = hangup.recv() => ending.pass_on(Signal::HUP),
            _ = tick.tick() => ending.look(terminal),
        }
    }
}

/// A program, and how far its end is.
struct Ending<'a> {
    child: Child,
    watch: Option<Watch<'a>>,
    /// When it is killed, and which process of it besides the first.
    until: Option<(Instant, Process)>,
    by: EndedBy,
    is_killed: bool,
}

impl Ending<'_> {
    fn pass_on(&mut self, signal: Signal) {
        if self.by == EndedBy::Itself {
            self.by = EndedBy::Signal;
        }
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    fn look(&mut self, terminal: Option<&Terminal>) {
        let Some(watch) = &mut self.watch else { return };
        match self.until {
            Some((until, _)) if Instant::now() < until => {}
            Some((_, process)) => {
                self.is_killed = true;
                process.send(Signal::KILL);
                let _ = self.child.kill();
            }
            None if self.by != EndedBy::Itself => {}
            None => {
                if let Some(process) = (watch.is_over)(terminal) {
                    process.send(Signal::TERM);
                    self.until = Some((Instant::now() + watch.grace, process));
                    self.by = EndedBy::Us;
                }
            }
        }
    }
}
