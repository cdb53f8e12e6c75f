//! The calls of Windows that the standard library lacks. The only code of kgctx that is not checked by the compiler alone: it
//! passes no memory of others, and each handle is closed where it was opened.

#![expect(unsafe_code, reason = "the standard library has no safe call for these")]

use std::ffi::c_void;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::process::Child;
use std::ptr;

use windows_sys::Win32::Foundation::{
    CloseHandle, ERROR_INVALID_PARAMETER, FILETIME, GetLastError, HANDLE, HANDLE_FLAG_INHERIT,
    INVALID_HANDLE_VALUE, SetHandleInformation, WAIT_OBJECT_0,
};
use windows_sys::Win32::System::Console::{
    ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode, GetStdHandle, STD_ERROR_HANDLE,
    STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, SetConsoleMode,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation,
    SetInformationJobObject, TerminateJobObject,
};
use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE,
    WaitForSingleObject,
};

/// Milliseconds since the machine started.
pub(super) fn tick_ms() -> u64 {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { GetTickCount64() }
}

/// Keeps the pipes of this process to itself: otherwise every process that it starts holds them open, too.
pub(super) fn keep_own_pipes() {
    for which in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the handles are this process's own and are only marked; a missing one is an error, which changes nothing.
        unsafe { SetHandleInformation(GetStdHandle(which), HANDLE_FLAG_INHERIT, 0) };
    }
}

/// Makes the console understand codes for colours. Returns whether it does.
pub(super) fn understand_codes() -> bool {
    // SAFETY: the handle is this process's own; one that is no console is an error.
    unsafe {
        let console = GetStdHandle(STD_OUTPUT_HANDLE);
        let mut mode = 0;
        GetConsoleMode(console, &mut mode) != 0
            && SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0
    }
}

/// A handle that is closed when it is dropped.
#[derive(Debug)]
struct Owned(HANDLE);

// SAFETY: handles of processes and jobs may be used by any thread.
unsafe impl Send for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: only this value has the handle.
        unsafe { CloseHandle(self.0) };
    }
}

/// A process, held so that its number stays its own.
pub(super) struct HeldProcess(Owned);

/// Why a process could not be opened.
pub(super) enum NotOpened {
    Missing,
    Denied,
}

impl HeldProcess {
    pub(super) fn open(pid: u32) -> Result<HeldProcess, NotOpened> {
        let access = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
        // SAFETY: it takes numbers alone; the handle is checked.
        let handle = unsafe { OpenProcess(access, 0, pid) };
        if !handle.is_null() {
            return Ok(HeldProcess(Owned(handle)));
        }
        // SAFETY: it takes nothing.
        match unsafe { GetLastError() } {
            ERROR_INVALID_PARAMETER => Err(NotOpened::Missing),
            _ => Err(NotOpened::Denied),
        }
    }

    /// A process that has ended is there as long as somebody holds it.
    pub(super) fn has_ended(&self) -> bool {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(self.0.0, 0) == WAIT_OBJECT_0 }
    }

    /// When it started, in units of 100 ns; 0 if unknown.
    pub(super) fn started(&self) -> i64 {
        let [mut started, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
        // SAFETY: the handle is open, and the four values outlive the call.
        let known =
            unsafe { GetProcessTimes(self.0.0, &mut started, &mut ended, &mut kernel, &mut user) };
        match known {
            0 => 0,
            _ => i64::from(started.dwHighDateTime) << 32 | i64::from(started.dwLowDateTime),
        }
    }
}

/// A process in the system's list.
pub(super) struct ListedProcess {
    pub(super) pid: u32,
    pub(super) parent: u32,
    /// The name of its program's file.
    pub(super) name: String,
}

/// All processes as they are now; empty if the system does not tell.
pub(super) fn processes() -> Vec<ListedProcess> {
    // SAFETY: it takes numbers alone; the handle is checked.
    let list = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    if list == INVALID_HANDLE_VALUE {
        return Vec::new();
    }
    let list = Owned(list);
    let mut entry = PROCESSENTRY32W {
        dwSize: u32::try_from(size_of::<PROCESSENTRY32W>()).unwrap_or_default(),
        ..PROCESSENTRY32W::default()
    };
    let mut processes = Vec::new();
    // SAFETY: the list is open, and the entry outlives the call and has its size.
    let mut is_there = unsafe { Process32FirstW(list.0, &mut entry) };
    while is_there != 0 {
        let name = entry.szExeFile.split(|unit| *unit == 0).next().unwrap_or_default();
        processes.push(ListedProcess {
            pid: entry.th32ProcessID,
            parent: entry.th32ParentProcessID,
            name: String::from_utf16_lossy(name),
        });
        // SAFETY: as above.
        is_there = unsafe { Process32NextW(list.0, &mut entry) };
    }
    processes
}

/// A program with all that it starts. They end with the last process that holds the job, however that ends.
#[derive(Debug)]
pub(super) struct Job(Owned);

impl Job {
    pub(super) fn new() -> io::Result<Job> {
        // SAFETY: neither rights nor a name are given, which is allowed; the handle is checked.
        let handle = unsafe { CreateJobObjectW(ptr::null(), ptr::null()) };
        if handle.is_null() {
            return Err(io::Error::last_os_error());
        }
        let job = Job(Owned(handle));
        job.limit(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)?;
        Ok(job)
    }

    pub(super) fn add(&self, child: &Child) -> io::Result<()> {
        // SAFETY: both handles are open.
        succeeded(unsafe { AssignProcessToJobObject(self.0.0, child.as_raw_handle()) })
    }

    /// Ends all of them.
    pub(super) fn end(&self) {
        // SAFETY: the handle is open.
        unsafe { TerminateJobObject(self.0.0, 1) };
    }

    /// Lets those that are left go on.
    pub(super) fn let_go(&self) -> io::Result<()> {
        self.limit(0)
    }

    fn limit(&self, flags: u32) -> io::Result<()> {
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        let size = u32::try_from(size_of_val(&limits)).unwrap_or_default();
        let limits: *const c_void = ptr::from_ref(&limits).cast();
        // SAFETY: the handle is open; the limits outlive the call and have the given size.
        succeeded(unsafe {
            SetInformationJobObject(self.0.0, JobObjectExtendedLimitInformation, limits, size)
        })
    }
}

fn succeeded(code: i32) -> io::Result<()> {
    if code == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
