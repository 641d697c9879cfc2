//! What calls need from a server: its open workspaces and jobs, and what it knows about its client.
//!
//! A tool that reports or changes the state of a server gets a [`Host`] as an argument, so it cannot be called without
//! one.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecompass_index::Target;
use codecompass_store::JobMode;

use codecompass_workspace::error::AppError;
use codecompass_workspace::jobs::{IndexWait, Job};
use codecompass_workspace::session::{Session, SyncRequest};
use codecompass_workspace::views::Refresh;

/// A server that calls are made on.
pub trait Host {
    /// The workspace of a call. A new one is being indexed when this returns.
    fn open(&self, asked: Option<&str>, unknown: UnknownWorkspace) -> Result<Box<dyn HostedWorkspace>, AppError>;

    /// The workspace that the same path resolved to before, even if it cannot be opened now.
    fn last_opened(&self, asked: Option<&str>) -> Option<Box<dyn HostedWorkspace>>;

    /// The open workspaces that are wanted for a report, which does not count as use.
    fn open_workspaces(&self, is_wanted: &dyn Fn(&Session) -> bool) -> Vec<Box<dyn HostedWorkspace>>;

    /// The messages of all open workspaces whose disk is full.
    fn disk_full_messages(&self) -> Vec<String>;

    /// The folder of a workspace that the client works in, if it is not the root.
    fn client_folder(&self, root: &Path) -> Option<PathBuf>;

    /// The names of the offered tools.
    fn offered_tools(&self) -> Vec<&'static str>;

    /// Whether answers include details for developers of this program.
    fn is_debugging(&self) -> bool;

    /// The state of the server itself.
    fn health(&self) -> HostHealth;
}

/// A workspace that a host keeps open while this exists.
pub trait HostedWorkspace {
    fn session(&self) -> &Session;

    /// Whether this call registered it.
    fn is_new(&self) -> bool;

    /// How its views are kept fresh, and how long this call waits for that.
    fn refresh<'a>(&'a self, wait: Option<&'a IndexWait<'a>>) -> Box<dyn Refresh + 'a>;

    /// Starts a job that syncs a view, unless one is running.
    fn sync(&self, target: &Target, mode: JobMode, request: SyncRequest) -> Result<Arc<Job>, AppError>;

    /// The job that syncs a view.
    fn job_for_view(&self, target: &Target) -> Option<Arc<Job>>;

    /// The unfinished job of its project.
    fn job_for_project(&self) -> Option<Arc<Job>>;

    /// The message about a full disk, until a job could write again.
    fn disk_full_message(&self) -> Option<String>;

    /// Why its work tree is not watched, if the system does not allow it.
    fn unwatched_reason(&self) -> Option<String>;
}

/// The state of a host.
pub struct HostHealth {
    pub uptime: Duration,
    /// Whether recently used workspaces are warmed, and how many at most.
    pub warms: bool,
    pub warm_capacity: usize,
    pub warm_members: Vec<String>,
    /// `pending`, `warming`, `complete`, `failed` or `skipped`.
    pub warm_status: &'static str,
}

/// The tools that the caller has; by default all of them.
#[derive(Clone, Debug, Default)]
pub struct OfferedTools(pub Option<Vec<&'static str>>);

impl OfferedTools {
    /// Whether a tool is among them.
    pub fn includes(&self, tool: &str) -> bool {
        self.0.as_ref().is_none_or(|names| names.contains(&tool))
    }
}

/// The error for an unknown workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownWorkspace {
    /// `workspace_not_registered`.
    Workspace,
    /// `project_not_found`.
    Project,
}

/// The maximum number of workspaces in which a connection has switched refs, and the maximum length of such a ref.
const MAX_SWITCHES: usize = 256;
const MAX_REF_BYTES: usize = 4096;

/// The connection of one client, with its state that later calls depend on.
pub struct Connection {
    /// The unique number of the connection in this process.
    pub number: u64,
    refs: Mutex<HashMap<PathBuf, String>>,
    /// Whether an answer has said that the client works in a subfolder.
    pub has_folder_note: AtomicBool,
    /// The root that the last answer was for, if it was noted.
    answered_root: Mutex<Option<PathBuf>>,
    /// The folders that the client reported and that were not answered for.
    other_folders: Mutex<HashSet<PathBuf>>,
}

impl Default for Connection {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self {
            number,
            refs: Mutex::default(),
            has_folder_note: AtomicBool::new(false),
            answered_root: Mutex::default(),
            other_folders: Mutex::default(),
        }
    }
}

impl Connection {
    /// Notes the root that an answer is for. Returns whether the client should be informed: it is not the server's own
    /// workspace, or not any longer, and the last answer was for another one.
    pub fn answers_for(&self, root: &Path, is_own: bool) -> bool {
        let mut last = self.answered_root.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = last.as_deref() == Some(root) || (last.is_none() && is_own);
        *last = Some(root.to_owned());
        !is_known
    }

    /// Notes a folder that the client reported and that was not answered for. Returns whether it is the first time.
    pub fn reports_other_folder(&self, folder: &Path) -> bool {
        let mut others = self.other_folders.lock().unwrap_or_else(PoisonError::into_inner);
        others.len() < MAX_SWITCHES && others.insert(folder.to_owned())
    }

    /// The ref that this connection switched to in a workspace.
    pub(crate) fn switched_ref(&self, root: &Path) -> Option<String> {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner).get(root).cloned()
    }

    /// Switches the ref. Returns `false` if the maximum number of switches is reached.
    #[must_use]
    pub(crate) fn switch(&self, root: &Path, ref_name: String) -> bool {
        let mut refs = self.refs.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = ref_name.len() <= MAX_REF_BYTES && (refs.len() < MAX_SWITCHES || refs.contains_key(root));
        if has_room {
            refs.insert(root.to_owned(), ref_name);
        }
        has_room
    }
}
