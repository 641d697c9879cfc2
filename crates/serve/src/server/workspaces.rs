//! The open workspaces of a server: which one a call uses, which may be opened, and which is closed when there are too
//! many.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use codecompass_index::source::real_path;
use codecompass_wire::ErrorData;

use super::background_refresh::WatchState;
use super::{Server, recent};
use codecompass_tools::call::host::UnknownWorkspace;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::session::{self, Session};

/// The maximum number of workspaces opened by requests. Each costs a watch on every folder, and memory for its index.
const MAX_REQUESTED_WORKSPACES: usize = 10;

/// The maximum number of cached spellings of workspaces, and the maximum length of each.
const MAX_SPELLINGS: usize = 256;
const MAX_SPELLING_BYTES: usize = 4096;

/// An open workspace.
pub(crate) struct OpenWorkspace {
    pub(crate) session: Session,
    pub(crate) watch_state: WatchState,
    /// Whether it is open because a request named it. This also holds if it was registered before: a workspace that was
    /// closed to stay within the limit is registered when it is requested again. It is `false` for the server's own.
    by_request: bool,
    requests: AtomicUsize,
    used: Mutex<Instant>,
}

impl OpenWorkspace {
    fn new(session: Session, by_request: bool) -> Self {
        Self {
            session,
            watch_state: WatchState::default(),
            by_request,
            requests: AtomicUsize::new(0),
            used: Mutex::new(Instant::now()),
        }
    }

    /// Whether the folder is still the workspace that was opened.
    pub(crate) fn is_in_place(&self) -> bool {
        self.session.workspace.is_in_place()
    }

    fn last_used(&self) -> Instant {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open workspace during a request about it.
pub(crate) struct WorkspaceGuard {
    pub(crate) workspace: Arc<OpenWorkspace>,
    /// The workspace was registered by this request.
    pub(crate) is_new: bool,
}

impl WorkspaceGuard {
    fn new(place: &Arc<OpenWorkspace>, is_new: bool) -> Self {
        place.requests.fetch_add(1, Ordering::Relaxed);
        *place.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Self { workspace: Arc::clone(place), is_new }
    }
}

impl Drop for WorkspaceGuard {
    fn drop(&mut self) {
        self.workspace.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The open workspaces.
#[derive(Default)]
pub struct Workspaces {
    open: Mutex<WorkspaceTable>,
}

#[derive(Default)]
struct WorkspaceTable {
    workspaces: HashMap<PathBuf, Arc<OpenWorkspace>>,
    /// The requested path and the root it resolved to: resolving it again costs more than many answers.
    by_request_path: HashMap<Option<String>, PathBuf>,
}

impl WorkspaceTable {
    /// The workspace that the same path resolved to before, unless it has changed on disk.
    fn resolved_before(&self, asked: Option<&str>) -> Option<&Arc<OpenWorkspace>> {
        let place = self.workspaces.get(self.by_request_path.get(&asked.map(str::to_owned))?)?;
        place.is_in_place().then_some(place)
    }

    /// Caches the root of a requested path. If there are too many spellings, all but that of the server's own workspace
    /// are dropped.
    fn remember(&mut self, asked: Option<&str>, root: PathBuf) {
        if asked.is_some_and(|asked| asked.len() > MAX_SPELLING_BYTES) {
            return;
        }
        if self.by_request_path.len() >= MAX_SPELLINGS {
            self.by_request_path.retain(|asked, _| asked.is_none());
        }
        self.by_request_path.insert(asked.map(str::to_owned), root);
    }
}

impl Workspaces {
    /// The workspace of a call. It need not be registered if it is the server's own.
    pub(crate) fn acquire(
        &self,
        server: &Server,
        asked: Option<&str>,
        unknown: UnknownWorkspace,
    ) -> Result<WorkspaceGuard, AppError> {
        if let Some(place) = self.lock().resolved_before(asked) {
            return Ok(WorkspaceGuard::new(place, false));
        }
        let visit = self.find_or_open(server, asked, unknown)?;
        let root = visit.workspace.session.workspace.root.clone();
        self.lock().remember(asked, root);
        Ok(visit)
    }

    /// The workspace that the same path resolved to before, even if it has changed since.
    pub(crate) fn last_acquired(&self, asked: Option<&str>) -> Option<WorkspaceGuard> {
        let open = self.lock();
        let place = open.workspaces.get(open.by_request_path.get(&asked.map(str::to_owned))?)?;
        Some(WorkspaceGuard::new(place, false))
    }

    /// Resets the server's own workspace. The previous one is closed unless it is in use.
    pub(crate) fn reset_own(&self) {
        let mut open = self.lock();
        let Some(root) = open.by_request_path.remove(&None) else { return };
        let is_unused = |place: &Arc<OpenWorkspace>| !place.by_request && place.requests.load(Ordering::Relaxed) == 0;
        if open.workspaces.get(&root).is_some_and(is_unused) {
            open.by_request_path.retain(|_, meant| *meant != root);
            let closed = open.workspaces.remove(&root);
            // Its watch is stopped outside of the lock.
            drop(open);
            drop(closed);
        }
    }

    fn find_or_open(
        &self,
        server: &Server,
        asked: Option<&str>,
        unknown: UnknownWorkspace,
    ) -> Result<WorkspaceGuard, AppError> {
        let Some(asked) = asked else {
            let session = server.open_session(None)?;
            return Ok(self.insert(server, session, false, false));
        };
        let missing = || match unknown {
            UnknownWorkspace::Workspace => AppError::workspace_not_registered(asked),
            UnknownWorkspace::Project => AppError::not_registered(asked),
        };
        if server.options.own_workspace_only {
            return self.find_own_workspace(server, asked);
        }
        // Nothing below the path is opened before the path is known to be allowed.
        let outside = || if server.options.auto_workspace { not_allowed(asked) } else { missing() };
        let path = Path::new(asked);
        if !path.is_absolute() {
            return Err(missing());
        }
        let real = real_path(path).map_err(|_| outside())?;
        let is_allowed = |path: &Path| {
            server.options.auto_workspace && server.allowed_roots().iter().any(|root| path.starts_with(root))
        };
        let (found, is_registered) = match session::locate(&server.data, &real) {
            Ok(found) => found,
            Err(error) if is_allowed(&real) => return Err(error),
            Err(_) => return Err(outside()),
        };
        let is_own = server.own_root().is_some_and(|own| own == found.root);
        if !is_registered && !is_own && !is_allowed(&found.root) && !server.places.is_granted(&found.root) {
            return Err(outside());
        }
        let session = server.open_session(Some(&real))?;
        if is_registered || is_own {
            // A registered workspace is opened even above the limit; excess workspaces are closed when their requests
            // are done.
            let _ = if is_own { Ok(()) } else { self.make_room(server, &session.workspace.root) };
            return Ok(self.insert(server, session, !is_own, false));
        }
        self.make_room(server, &session.workspace.root)?;
        Ok(self.insert(server, session, true, true))
    }

    /// An open workspace for a report about it, which does not count as use.
    pub(crate) fn peek(&self, place: &Arc<OpenWorkspace>) -> WorkspaceGuard {
        place.requests.fetch_add(1, Ordering::Relaxed);
        WorkspaceGuard { workspace: Arc::clone(place), is_new: false }
    }

    /// The server's own workspace, if the path names it. The error does not reveal whether another workspace exists.
    fn find_own_workspace(&self, server: &Server, asked: &str) -> Result<WorkspaceGuard, AppError> {
        let own = server.open_session(None)?;
        let real = Path::new(asked).is_absolute().then(|| real_path(Path::new(asked)).ok()).flatten();
        let is_below = real.is_some_and(|real| real.starts_with(&own.workspace.root));
        let is_own =
            || session::locate(&server.data, Path::new(asked)).is_ok_and(|(at, _)| at.root == own.workspace.root);
        match is_below && is_own() {
            true => Ok(self.insert(server, own, false, false)),
            false => Err(AppError::new(Code::WorkspaceNotAllowed, "This server answers for its own workspace only.")
                .hint("Omit `workspace`, or start another server there.")
                .data(ErrorData::workspace(asked))),
        }
    }

    /// The open workspaces.
    pub(crate) fn all(&self) -> Vec<Arc<OpenWorkspace>> {
        self.lock().workspaces.values().cloned().collect()
    }

    fn insert(&self, server: &Server, session: Session, by_request: bool, is_new: bool) -> WorkspaceGuard {
        let mut open = self.lock();
        let root = session.workspace.root.clone();
        if let Some(place) = open.workspaces.get(&root).filter(|place| place.is_in_place()) {
            return WorkspaceGuard::new(place, false);
        }
        let place = Arc::new(OpenWorkspace::new(session, by_request));
        open.workspaces.insert(root.clone(), Arc::clone(&place));
        drop(open);
        recent::note(&server.data, &root);
        WorkspaceGuard::new(&place, is_new)
    }

    /// Makes room for one more requested workspace, if it is not open already.
    fn make_room(&self, server: &Server, root: &Path) -> Result<(), AppError> {
        if self.lock().workspaces.contains_key(root) || self.close_excess(server, MAX_REQUESTED_WORKSPACES - 1) {
            return Ok(());
        }
        let message = format!("{MAX_REQUESTED_WORKSPACES} workspaces are open by request, and all of them are in use.");
        Err(AppError::new(Code::WorkspaceLimitExceeded, message)
            .hint("Retry when their jobs are done.")
            .data(ErrorData::Limit { limit: MAX_REQUESTED_WORKSPACES }))
    }

    /// Closes workspaces above the limit, unless they are in use.
    pub(crate) fn enforce_limit(&self, server: &Server) {
        self.close_excess(server, MAX_REQUESTED_WORKSPACES);
    }

    /// Closes the least recently requested workspaces among those opened by a request and not in use, until at most
    /// `most` are left; returns whether that succeeded.
    fn close_excess(&self, server: &Server, most: usize) -> bool {
        let mut closed = Vec::new();
        let is_done = {
            let mut open = self.lock();
            let is_idle = |place: &&Arc<OpenWorkspace>| {
                place.requests.load(Ordering::Relaxed) == 0 && !server.jobs.has_jobs(&place.session.project_id)
            };
            loop {
                let by_request = || open.workspaces.values().filter(|place| place.by_request);
                if by_request().count() <= most {
                    break true;
                }
                let oldest = by_request().filter(is_idle).min_by_key(|place| place.last_used());
                let Some(root) = oldest.map(|place| place.session.workspace.root.clone()) else { break false };
                closed.extend(open.workspaces.remove(&root));
                open.by_request_path.retain(|_, meant| *meant != root);
            }
        };
        // Outside of the lock: closing a workspace stops its watch and evicts its index from the threads.
        for place in &closed {
            server.log(1, || format!("closed {} to make room", place.session.root()));
            // Another worktree of the same project may be open.
            let project = place.session.dir.root();
            if !self.lock().workspaces.values().any(|other| other.session.dir.root() == project) {
                server.evict_project(project);
            }
        }
        is_done
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, WorkspaceTable> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_allowed(asked: &str) -> AppError {
    AppError::new(Code::WorkspaceNotAllowed, format!("The workspace {asked} is not under an allowed root."))
        .hint("Start the server with --allowed-root for a folder that contains it.")
        .data(ErrorData::workspace(asked))
}
