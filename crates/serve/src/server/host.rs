//! The server as the host of calls.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use codecompass_index::Target;
use codecompass_store::JobMode;

use super::Server;
use super::background_refresh::BackgroundRefresh;
use super::warm::MAX_WARM_WORKSPACES;
use super::workspaces::{OpenWorkspace, WorkspaceGuard};
use codecompass_tools::call::JOB_START_TIMEOUT;
use codecompass_tools::call::host::{Host, HostHealth, HostedWorkspace, UnknownWorkspace};
use codecompass_workspace::error::AppError;
use codecompass_workspace::jobs::{IndexWait, Job};
use codecompass_workspace::session::{Session, SyncRequest};
use codecompass_workspace::views::Refresh;

/// A workspace of a server during a call.
struct ServedWorkspace {
    server: Arc<Server>,
    guard: WorkspaceGuard,
}

impl ServedWorkspace {
    fn boxed(server: &Arc<Server>, guard: WorkspaceGuard) -> Box<dyn HostedWorkspace> {
        Box::new(Self { server: Arc::clone(server), guard })
    }

    fn background<'a>(&'a self, wait: Option<&'a IndexWait<'a>>) -> BackgroundRefresh<'a> {
        BackgroundRefresh { server: &self.server, workspace: &self.guard.workspace, wait }
    }
}

/// The server as the host of a call.
pub(super) struct ServerHost<'a> {
    server: &'a Arc<Server>,
    /// The roots of the workspaces that the call opened.
    opened: RefCell<Vec<String>>,
}

impl<'a> ServerHost<'a> {
    pub(super) fn new(server: &'a Arc<Server>) -> Self {
        Self { server, opened: RefCell::default() }
    }

    /// Returns the roots of the workspaces that the call opened, in order.
    pub(super) fn into_opened(self) -> Vec<String> {
        self.opened.into_inner()
    }
}

impl Host for ServerHost<'_> {
    fn open(&self, asked: Option<&str>, unknown: UnknownWorkspace) -> Result<Box<dyn HostedWorkspace>, AppError> {
        let guard = self.server.workspaces.acquire(self.server, asked, unknown)?;
        let root = guard.workspace.session.root();
        let mut opened = self.opened.borrow_mut();
        if !opened.contains(&root) {
            opened.push(root);
        }
        drop(opened);
        if guard.is_new {
            let target = guard.workspace.session.target(None)?;
            let background = BackgroundRefresh { server: self.server, workspace: &guard.workspace, wait: None };
            background.sync(&target, JobMode::Full, SyncRequest::default())?.wait_for_turn(JOB_START_TIMEOUT);
        } else if asked.is_none() {
            self.server.index_own(&guard)?;
        }
        self.server.encode_in_background(&guard.workspace.session);
        Ok(ServedWorkspace::boxed(self.server, guard))
    }

    fn last_opened(&self, asked: Option<&str>) -> Option<Box<dyn HostedWorkspace>> {
        self.server.workspaces.last_acquired(asked).map(|guard| ServedWorkspace::boxed(self.server, guard))
    }

    fn open_workspaces(&self, is_wanted: &dyn Fn(&Session) -> bool) -> Vec<Box<dyn HostedWorkspace>> {
        let wanted = self.server.workspaces.all().into_iter().filter(|place| is_wanted(&place.session));
        let open = |place: Arc<OpenWorkspace>| match place.is_in_place() {
            true => Some(self.server.workspaces.peek(&place)),
            false => self
                .server
                .workspaces
                .acquire(self.server, Some(&place.session.root()), UnknownWorkspace::Workspace)
                .ok(),
        };
        wanted.filter_map(open).map(|guard| ServedWorkspace::boxed(self.server, guard)).collect()
    }

    fn disk_full_messages(&self) -> Vec<String> {
        self.server.workspaces.all().iter().filter_map(|place| place.watch_state.disk_full_message()).collect()
    }

    fn client_folder(&self, root: &Path) -> Option<PathBuf> {
        self.server.client_folder(root)
    }

    fn offered_tools(&self) -> Vec<&'static str> {
        self.server.tools().map(|tool| tool.name).collect()
    }

    fn is_debugging(&self) -> bool {
        self.server.options.debug
    }

    fn health(&self) -> HostHealth {
        HostHealth {
            uptime: self.server.started.elapsed(),
            warms: !self.server.options.no_prewarm,
            warm_capacity: MAX_WARM_WORKSPACES,
            warm_members: self.server.warm_state.members(),
            warm_status: self.server.warm_state.status(),
        }
    }
}

impl HostedWorkspace for ServedWorkspace {
    fn session(&self) -> &Session {
        &self.guard.workspace.session
    }

    fn is_new(&self) -> bool {
        self.guard.is_new
    }

    fn refresh<'a>(&'a self, wait: Option<&'a IndexWait<'a>>) -> Box<dyn Refresh + 'a> {
        Box::new(self.background(wait))
    }

    fn sync(&self, target: &Target, mode: JobMode, request: SyncRequest) -> Result<Arc<Job>, AppError> {
        self.background(None).sync(target, mode, request)
    }

    fn job_for_view(&self, target: &Target) -> Option<Arc<Job>> {
        self.server.jobs.for_view(&self.session().project_id, target)
    }

    fn job_for_project(&self) -> Option<Arc<Job>> {
        self.server.jobs.for_project(&self.session().project_id)
    }

    fn disk_full_message(&self) -> Option<String> {
        self.guard.workspace.watch_state.disk_full_message()
    }

    fn unwatched_reason(&self) -> Option<String> {
        self.guard.workspace.watch_state.unavailable_reason()
    }
}
