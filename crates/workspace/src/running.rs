//! The running servers of this user: each holds a locked file in the data folder while it runs.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use codecompass_store::private;
use serde::{Deserialize, Serialize};

const FOLDER: &str = "servers";

/// A running server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningServer {
    /// The id of its process.
    pub pid: u32,
    /// How it was started: `stdio`, `http` or `pages`.
    pub transport: String,
    /// Its own workspace.
    pub repository: String,
    /// Milliseconds since 1970.
    pub started: i64,
}

/// The file of this server, removed when it ends.
#[derive(Debug)]
pub struct Registration {
    path: PathBuf,
    _locked: File,
}

impl Registration {
    /// Registers a server; `None` if there is no data folder yet, or it cannot be written: a server works without.
    pub fn new(data: &Path, server: &RunningServer) -> Option<Self> {
        if !data.is_dir() {
            return None;
        }
        let folder = data.join(FOLDER);
        private::create_folder(&folder).ok()?;
        let path = folder.join(server.pid.to_string());
        let mut file = private::options().write(true).create(true).truncate(true).open(&path).ok()?;
        file.try_lock().ok()?;
        file.write_all(serde_json::to_string(server).ok()?.as_bytes()).ok()?;
        Some(Self { path, _locked: file })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // A file that stays is removed by the next listing.
        let _ = fs::remove_file(&self.path);
    }
}

/// The running servers, by process id. Files of servers that were killed are removed.
pub fn list(data: &Path) -> Vec<RunningServer> {
    let mut servers: Vec<RunningServer> = Vec::new();
    for entry in fs::read_dir(data.join(FOLDER)).into_iter().flatten().flatten() {
        let Ok(mut file) = File::open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
            continue;
        }
        let mut text = String::new();
        if file.read_to_string(&mut text).is_ok() {
            servers.extend(serde_json::from_str::<RunningServer>(&text).ok());
        }
    }
    servers.sort_by_key(|server| server.pid);
    servers
}

/// The private memory of a process in bytes, if the system reports it.
pub fn memory_bytes(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}
