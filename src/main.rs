//! The `kgctx` program: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    kgctx::cli::run(std::env::args_os())
}
