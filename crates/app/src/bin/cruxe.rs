//! The same program under its later name: it becomes the `codecompass` that lies beside it.
//!
//! It links nothing of ours. A second copy of the whole program would take as long to build, and as much room in every package,
//! as the first.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let failed = |why: &dyn std::fmt::Display| {
        let _ = writeln!(
            std::io::stderr(),
            "cruxe: {why}; build or install codecompass, which cruxe stands for, beside it"
        );
        ExitCode::from(6)
    };
    let mut words = std::env::args_os();
    let called = PathBuf::from(words.next().unwrap_or_default());
    // Links are followed: packages put links to both in one folder, and what they lead to in another. Where the system does not
    // tell (no /proc), it is as it was called; a name without a folder is looked up as a shell would.
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

/// It takes over this very process, with its id, its pipes and its signals, and comes back only if it can not.
#[cfg(unix)]
fn exec(mut command: Command) -> std::io::Result<ExitCode> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

/// Its exit code is ours.
#[cfg(not(unix))]
fn become_it(mut command: Command) -> std::io::Result<ExitCode> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
