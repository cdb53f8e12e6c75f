//! A program and its children on Unix: one process group.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::system::process::reaper;

/// A program and its children, in one process group.
pub(in crate::system::process) struct Group {
    pub(in crate::system::process) child: Child,
    is_reaped: bool,
}

impl Group {
    /// Starts a program. It ends when this process does, however that ends.
    pub(in crate::system::process) fn start(mut command: Command) -> io::Result<Group> {
        command.process_group(0);
        reaper::start();
        let group = Group { child: command.spawn()?, is_reaped: false };
        reaper::watch(group.id());
        Ok(group)
    }

    fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Whether the program has ended, and with success. Does not reap it, because another group
    /// could then get its id.
    pub(in crate::system::process) fn has_ended_well(&self) -> io::Result<Option<bool>> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(self.id()), how)?;
        Ok(ended.map(|status| status.exit_status() == Some(0)))
    }

    pub(in crate::system::process) fn kill(&mut self) -> io::Result<ExitStatus> {
        // It may have just ended.
        let _ = kill_process_group(self.id(), Signal::KILL);
        let _ = self.child.kill();
        self.reap()
    }

    /// Leaves the children of a program that has ended alone.
    pub(in crate::system::process) fn leave(&mut self) -> io::Result<ExitStatus> {
        self.reap()
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        self.is_reaped = true;
        reaper::release(self.id());
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            let _ = self.kill();
        }
    }
}
