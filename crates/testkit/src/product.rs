//! The only interface to the tested program: a command line goes in, text and an exit code come out.
//!
//! The testkit does not link the product. It uses a [`Product`], so the same cases run against the real
//! [`ProductBinary`], against a server with a client, and, in the testkit's own tests, against a fake with known
//! faults.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Debug builds of the product abort at their n-th write point when this variable is n, counted from 1.
pub const KILL_AT_WRITE: &str = "CODECOMPASS_KILL_AT_WRITE";

/// The variable that names the product's data directory.
pub const HOME: &str = "CODECOMPASS_HOME";

/// Variables of the caller's environment that the product inherits: without them nothing starts, or coverage data is
/// lost.
const INHERITED_ENV: &[&str] = &["PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "RUST_BACKTRACE", "LLVM_PROFILE_FILE"];

/// One run of the product.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The arguments after the program's name.
    pub args: &'a [String],
    /// The directory it runs in.
    pub cwd: &'a Path,
    /// The data directory, `CODECOMPASS_HOME`.
    pub home: &'a Path,
    /// Additional variables.
    pub env: &'a [(String, String)],
}

/// The output of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// The exit code; `None` when a signal ended the process.
    pub code: Option<i32>,
}

impl Reply {
    /// Whether the process was aborted and did not exit by itself.
    pub fn was_aborted(&self) -> bool {
        matches!(self.code, None | Some(134))
    }

    /// Whether it exited with code 0.
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }
}

/// Answers command lines. It is shared between threads because cases run in parallel.
pub trait Product: Sync {
    /// Runs one command line to completion.
    fn call(&self, call: &Call<'_>) -> Reply;
}

/// The product as a program on disk, run in an environment isolated from the developer's machine.
#[derive(Debug)]
pub struct ProductBinary {
    program: PathBuf,
    user: TempDir,
}

impl ProductBinary {
    /// Uses the program at this path, usually `env!("CARGO_BIN_EXE_codecompass")`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let user = TempDir::new().expect("because a temporary folder can be created for the empty user home");
        Self { program: program.into(), user }
    }
}

impl Product for ProductBinary {
    fn call(&self, call: &Call<'_>) -> Reply {
        let inherited = INHERITED_ENV.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
        let output = Command::new(&self.program)
            .args(call.args)
            .current_dir(call.cwd)
            .env_clear()
            .envs(inherited)
            .env("HOME", self.user.path())
            .env("LC_ALL", "C.UTF-8")
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env(HOME, call.home)
            .envs(call.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("cannot run {}: {error}", self.program.display()));
        Reply {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }
}
