//! A program and its children on Windows: one job.

use std::io;
use std::os::windows::process::CommandExt;
use std::process::{Child, Command, ExitStatus};

use crate::system::windows::Job;

/// Otherwise a window opens for a moment where this process has none.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// A program and its children, in one job.
pub(in crate::system::process) struct Group {
    pub(in crate::system::process) child: Child,
    job: Job,
    is_reaped: bool,
}

impl Group {
    /// Starts a program. It ends when this process does, however that ends.
    pub(in crate::system::process) fn start(mut command: Command) -> io::Result<Group> {
        let job = Job::new()?;
        let child = command.creation_flags(CREATE_NO_WINDOW).spawn()?;
        let group = Group { child, job, is_reaped: false };
        // A child that it has started before this is not in the job.
        group.job.add(&group.child)?;
        Ok(group)
    }

    /// Whether the program has ended, and with success.
    pub(in crate::system::process) fn has_ended_well(&mut self) -> io::Result<Option<bool>> {
        Ok(self.child.try_wait()?.map(|status| status.success()))
    }

    pub(in crate::system::process) fn kill(&mut self) -> io::Result<ExitStatus> {
        self.job.end();
        // It is not in the job if that failed.
        let _ = self.child.kill();
        self.reap()
    }

    /// Leaves the children of a program that has ended alone.
    pub(in crate::system::process) fn leave(&mut self) -> io::Result<ExitStatus> {
        self.job.let_go()?;
        self.reap()
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        let status = self.child.wait()?;
        self.is_reaped = true;
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
