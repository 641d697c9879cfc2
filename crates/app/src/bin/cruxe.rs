//! The same program under its later name: it executes the `codecompass` binary beside it.
//!
//! It links none of our crates. A second copy of the whole program would double the build time and the size of every
//! package.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let failed = |why: &dyn std::fmt::Display| {
        let _ = writeln!(std::io::stderr(), "cruxe: {why}; build or install codecompass beside it");
        ExitCode::from(6)
    };
    let mut words = std::env::args_os();
    let called = PathBuf::from(words.next().unwrap_or_default());
    // Links are resolved: packages may put links to both programs in one folder and the programs in another. If the
    // system does not know the path (no /proc), the name of the call is used; a name without a folder is looked up as a
    // shell would.
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).unwrap_or(called);
    let program = main_binary(&own);
    let mut command = Command::new(&program);
    command.args(words);
    match exec(command) {
        Ok(code) => code,
        Err(error) => failed(&format_args!("{}: {error}", program.display())),
    }
}

fn main_binary(own: &Path) -> PathBuf {
    own.with_file_name(format!("codecompass{}", std::env::consts::EXE_SUFFIX))
}

/// Replaces this process, with its id, pipes and signals; returns only on failure.
#[cfg(unix)]
fn exec(mut command: Command) -> std::io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Returns the exit code of the child.
#[cfg(not(unix))]
fn exec(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
