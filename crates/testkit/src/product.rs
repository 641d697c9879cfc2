//! The one door to what is tested: a command line goes in, text and an exit code come out.
//!
//! The testkit does not link the product. It knows it as a [`Product`], so the same cases run against the real
//! [`Binary`], against a server behind a client, and, in the testkit's own tests, against a fake with known faults.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// Debug builds of the product abort at their n-th write point when this variable holds n, counted from 1.
pub const KILL_AT_WRITE: &str = "CODECOMPASS_KILL_AT_WRITE";

/// The variable that names the product's data directory.
pub const HOME: &str = "CODECOMPASS_HOME";

/// What of the caller's environment a product may see: without it nothing starts, or its coverage is lost.
const INHERITED: &[&str] = &["PATH", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "RUST_BACKTRACE", "LLVM_PROFILE_FILE"];

/// One run of the product.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The arguments after the program's name.
    pub args: &'a [String],
    /// The directory it runs in.
    pub cwd: &'a Path,
    /// Its data directory, `CODECOMPASS_HOME`.
    pub home: &'a Path,
    /// Further variables.
    pub env: &'a [(String, String)],
}

/// What a run left behind.
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
    /// Whether the process was ended by an abort rather than by its own decision.
    pub fn died(&self) -> bool {
        matches!(self.code, None | Some(134))
    }

    /// Whether it ended with exit code 0.
    pub fn succeeded(&self) -> bool {
        self.code == Some(0)
    }
}

/// Something that answers command lines. Shared between threads, because cases run side by side.
pub trait Product: Sync {
    /// Runs one command line to its end.
    fn call(&self, call: &Call<'_>) -> Reply;
}

/// The product as a program on disk, run with an environment that holds nothing of the developer's machine.
#[derive(Debug)]
pub struct Binary {
    program: PathBuf,
    user: TempDir,
}

impl Binary {
    /// The program at this path, usually `env!("CARGO_BIN_EXE_codecompass")`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let user = TempDir::new().expect("a temp folder can be made for the empty user home");
        Self { program: program.into(), user }
    }
}

impl Product for Binary {
    fn call(&self, call: &Call<'_>) -> Reply {
        let inherited = INHERITED.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
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
            .unwrap_or_else(|error| panic!("can not run {}: {error}", self.program.display()));
        Reply {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            code: output.status.code(),
        }
    }
}
