//! How a server keeps its views fresh: background jobs sync while it answers.
//!
//! With a watch on the work tree, a comparison of all files stays valid until an event arrives, and changes are synced
//! without a request. Without a watch every query compares the files itself; if that takes too long, the answer is
//! reported as stale. A `strict` query always compares, however long it takes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use codecompass_index::{Change, Freshness, SyncOutcome, Target, Watch, any_changed, freshness};
use codecompass_model::ViewKey;
use codecompass_store::{JobMode, Store, ViewInfo};
use codecompass_wire::ErrorData;

use super::workspaces::OpenWorkspace;
use super::{Server, recent};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::jobs::{Failure, IndexWait, Job};
use codecompass_workspace::metadata;
use codecompass_workspace::session::{SYNC_WAIT_TIMEOUT, Session, SyncRequest};
use codecompass_workspace::views::{Refresh, TargetView, wait_for_first_index_elsewhere, wait_for_other_process};

/// How long a stale result is reused before files are compared again.
const STALE_REUSE_TIME: Duration = Duration::from_secs(1);

/// The time limit of the file comparison of a query that is not strict; a view not found fresh by then is stale.
const COMPARE_TIMEOUT: Duration = Duration::from_millis(100);

/// How long a query about a commit waits for it to be synced.
const COMMIT_SYNC_TIMEOUT: Duration = Duration::from_secs(20);

/// A burst of edits is one change: it ends after this quiet period, or after the maximum duration.
const QUIET_PERIOD: Duration = Duration::from_millis(60);
const MAX_BURST: Duration = Duration::from_millis(400);

/// The known freshness of a work tree.
#[derive(Default)]
pub(crate) struct WatchState {
    last_comparison: Mutex<Option<Comparison>>,
    status: Mutex<WatchStatus>,
    /// The message of the last job if the disk was full.
    disk_full: Mutex<Option<String>>,
}

/// The result of a comparison of all files.
#[derive(Clone)]
struct Comparison {
    at: Instant,
    ref_name: String,
    commit: Option<String>,
    generation: i64,
    /// The event count of the watch before the comparison.
    event_count: Option<u64>,
    found: Freshness,
}

#[derive(Default)]
enum WatchStatus {
    #[default]
    Inactive,
    Starting,
    Active(Arc<Watch>),
    /// The system does not allow a watch, for this reason: files are compared instead.
    Unavailable(String),
}

impl WatchState {
    fn watch(&self) -> Option<Arc<Watch>> {
        match &*lock(&self.status) {
            WatchStatus::Active(watch) => Some(Arc::clone(watch)),
            _ => None,
        }
    }

    /// The event count of the watch; `None` without a watch, or if events were lost.
    fn event_count(&self) -> Option<u64> {
        self.watch()?.event_count()
    }

    /// Why the work tree is not watched, if the system does not allow it.
    pub(crate) fn unavailable_reason(&self) -> Option<String> {
        match &*lock(&self.status) {
            WatchStatus::Unavailable(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// The message about a full disk, until a job could write again.
    pub(crate) fn disk_full_message(&self) -> Option<String> {
        lock(&self.disk_full).clone()
    }

    /// Records whether a job found the disk full. A full disk is reported once.
    fn note_disk_space(&self, server: &Server, ended: Option<Result<SyncOutcome, Failure>>) {
        let told = match ended {
            Some(Ok(_)) => None,
            Some(Err(failure)) if failure.is_disk_full => Some(failure.message),
            _ => return,
        };
        let was_told = std::mem::replace(&mut *lock(&self.disk_full), told.clone()).is_some();
        if let Some(message) = told.filter(|_| !was_told) {
            server.log(0, || format!("error: {message} Answers are not updated until there is space."));
        }
    }

    /// The result of an earlier comparison, if it is still valid for this view. Only a watch can confirm that a view is
    /// still fresh.
    fn cached_comparison(&self, target: &Target, view: &ViewInfo, mark: Option<u64>) -> Option<Freshness> {
        let look = lock(&self.last_comparison).clone()?;
        let same_name = look.ref_name == target.ref_name && look.commit == target.commit;
        let same = same_name && look.generation == view.generation && look.event_count == mark;
        let holds = match look.found {
            Freshness::Fresh => mark.is_some(),
            Freshness::Stale { .. } => look.at.elapsed() < STALE_REUSE_TIME,
        };
        (same && holds).then_some(look.found)
    }

    fn cache_comparison(&self, target: &Target, view: &ViewInfo, mark: Option<u64>, found: &Freshness) {
        *lock(&self.last_comparison) = Some(Comparison {
            at: Instant::now(),
            ref_name: target.ref_name.clone(),
            commit: target.commit.clone(),
            generation: view.generation,
            event_count: mark,
            found: found.clone(),
        });
    }

    /// Whether everything before this event count is known to be indexed.
    fn is_synced_at(&self, mark: u64) -> bool {
        lock(&self.last_comparison)
            .as_ref()
            .is_some_and(|look| look.event_count == Some(mark) && look.found == Freshness::Fresh)
    }
}

impl Drop for WatchState {
    fn drop(&mut self) {
        if let Some(watch) = self.watch() {
            watch.close();
        }
    }
}

/// The background refresh of one open workspace.
pub(crate) struct BackgroundRefresh<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) workspace: &'a Arc<OpenWorkspace>,
    /// How long the call waits for an index that it needs; `None` if it does not wait.
    pub(crate) wait: Option<&'a IndexWait<'a>>,
}

impl BackgroundRefresh<'_> {
    /// Starts a job that syncs a view, unless one is running.
    pub(crate) fn sync(&self, target: &Target, mode: JobMode, request: SyncRequest) -> Result<Arc<Job>, AppError> {
        let session = &self.workspace.session;
        if let Some(job) = self.server.jobs.for_view(&session.project_id, target) {
            return Ok(job);
        }
        self.server.jobs.check_room(&session.project_id)?;
        self.start(target, mode, request)
    }

    /// Starts a job.
    pub(crate) fn start(&self, target: &Target, mode: JobMode, request: SyncRequest) -> Result<Arc<Job>, AppError> {
        let is_whole = request.changed.is_none();
        let mark = self.workspace.watch_state.event_count();
        let place = Arc::downgrade(self.workspace);
        let server = Arc::downgrade(self.server);
        let (whose, project) = (Arc::downgrade(self.server), self.workspace.session.dir.root().to_owned());
        let root = self.workspace.session.workspace.root.clone();
        let published = move || {
            if let Some(server) = whose.upgrade() {
                recent::note_if_new(&server.data, &root);
                server.evict_outdated(&project);
            }
        };
        let after = move |job: &Job| {
            if let (Some(place), Some(server)) = (place.upgrade(), server.upgrade()) {
                place.watch_state.note_disk_space(&server, job.ended());
                match job.ended() {
                    Some(Ok(outcome)) if is_whole => mark_synced(&place, &outcome.target, mark),
                    Some(Err(failure)) if failure.is_disk_full => {}
                    Some(Err(failure)) => {
                        let level = u8::from(failure.is_transient);
                        server.log(level, || format!("job {} failed: {}", job.id, failure.message));
                    }
                    _ => {}
                }
            }
        };
        self.server.jobs.start(&self.workspace.session, target, mode, request, published, after)
    }

    /// Waits until a job has published or failed, if the call may wait. A few threads are never used for waiting.
    fn wait_for(&self, job: &Job) -> bool {
        let Some(wait) = self.wait else { return false };
        let Some(_slot) = WaitSlot::take(&self.server.waiting, self.server.max_waiting) else { return false };
        job.wait_until_published(wait)
    }

    /// [`Refresh::follow_checkout`] for a call that waits: ends as soon as the view is published under its name.
    fn follow_checkout_waiting(&self, at: &TargetView<'_>, wait: &IndexWait<'_>) -> Result<(), AppError> {
        loop {
            let job = self.sync(at.target, JobMode::Incremental, SyncRequest::default())?;
            let is_over = self.wait_for(&job);
            if let Some(Err(failure)) = job.ended().filter(|_| is_over)
                && !failure.is_transient
            {
                return Err(AppError::new(failure.code, failure.message));
            }
            let view = at.session.store()?.view(&at.target.key)?;
            let is_there = is_over && view.is_some_and(|view| view.ref_name == at.target.ref_name);
            if is_there || !is_over || wait.remaining().is_zero() || !self.is_head_unchanged(at) {
                return Ok(());
            }
        }
    }

    /// Whether the checked-out ref is unchanged.
    fn is_head_unchanged(&self, at: &TargetView<'_>) -> bool {
        at.session.target(None).is_ok_and(|now| now.ref_name == at.target.ref_name)
    }

    /// Starts to watch the work tree, unless it is watched already.
    pub(crate) fn watch(&self) {
        let mut watching = lock(&self.workspace.watch_state.status);
        if self.server.options.no_watch || !matches!(*watching, WatchStatus::Inactive) {
            return;
        }
        *watching = WatchStatus::Starting;
        drop(watching);
        let (server, place) = (Arc::downgrade(self.server), Arc::downgrade(self.workspace));
        let thread = std::thread::Builder::new().name("watch".into());
        if let Err(error) = thread.spawn(move || run_watch(&server, &place)) {
            *lock(&self.workspace.watch_state.status) = WatchStatus::Unavailable(error.to_string());
        }
    }
}

impl Refresh for BackgroundRefresh<'_> {
    fn ensure_watched(&self) {
        self.watch();
    }

    fn compare(
        &self,
        at: &TargetView<'_>,
        store: &Store,
        view: &ViewInfo,
        closely: bool,
    ) -> Result<Freshness, AppError> {
        let attention = &self.workspace.watch_state;
        let deadline = (!closely).then(|| Instant::now() + COMPARE_TIMEOUT);
        let look = || Ok(freshness(store, &at.session.workspace, at.target, view, &at.session.limits(), deadline)?);
        if !at.target.is_worktree() {
            return look();
        }
        let mark = attention.event_count();
        if !closely && let Some(found) = attention.cached_comparison(at.target, view, mark) {
            return Ok(found);
        }
        let found = look()?;
        attention.cache_comparison(at.target, view, mark, &found);
        Ok(found)
    }

    fn refresh(&self, at: &TargetView<'_>) -> Result<metadata::Freshness, AppError> {
        let is_running = self.server.jobs.for_view(&at.session.project_id, at.target).is_some();
        self.sync(at.target, JobMode::Incremental, SyncRequest::default())?;
        Ok(if is_running { metadata::Freshness::Syncing } else { metadata::Freshness::Stale })
    }

    fn follow_checkout(&self, at: &TargetView<'_>) -> Result<(), AppError> {
        if let Some(wait) = self.wait {
            return self.follow_checkout_waiting(at, wait);
        }
        let until = Instant::now() + SYNC_WAIT_TIMEOUT;
        loop {
            // The running job may be for the ref that was checked out before: then another one is needed.
            let job = self.sync(at.target, JobMode::Incremental, SyncRequest::default())?;
            let is_over = job.wait_for_end(until.saturating_duration_since(Instant::now()));
            match job.ended() {
                Some(Ok(outcome)) if outcome.target.ref_name == at.target.ref_name => return Ok(()),
                Some(Err(failure)) if !failure.is_transient => {
                    return Err(AppError::new(failure.code, failure.message));
                }
                _ if is_over && Instant::now() < until && self.is_head_unchanged(at) => {}
                _ => return Ok(()),
            }
        }
    }

    fn waits_for_sync(&self, at: &TargetView<'_>, is_known: bool) -> bool {
        let is_running = || self.server.jobs.for_view(&at.session.project_id, at.target).is_some();
        self.wait.is_some_and(|wait| !wait.remaining().is_zero()) && (is_known || is_running())
    }

    fn wait_for_first_index(&self, at: &TargetView<'_>) -> bool {
        let Some(wait) = self.wait else { return false };
        let project = &at.session.project_id;
        let job = self.server.jobs.for_view(project, at.target).or_else(|| self.server.jobs.for_project(project));
        match job {
            Some(job) => self.wait_for(&job),
            None => {
                let slot = WaitSlot::take(&self.server.waiting, self.server.max_waiting);
                slot.is_some() && wait_for_first_index_elsewhere(at, wait)
            }
        }
    }

    fn wait_for_sync(&self, at: &TargetView<'_>) -> bool {
        if let Some(job) = self.server.jobs.for_view(&at.session.project_id, at.target) {
            return job.wait_for_end(SYNC_WAIT_TIMEOUT);
        }
        wait_for_other_process(at)
    }

    fn create_views(&self, at: &TargetView<'_>, also: &[Target]) -> Result<(), AppError> {
        let job = self.sync(at.target, JobMode::Full, SyncRequest { also: also.to_vec(), ..SyncRequest::default() })?;
        let name = &at.target.ref_name;
        match self.wait {
            Some(_) => drop(self.wait_for(&job)),
            None => drop(job.wait_for_end(COMMIT_SYNC_TIMEOUT)),
        }
        match job.ended() {
            Some(Ok(_)) => Ok(()),
            None if job.has_published() => Ok(()),
            Some(Err(failure)) => Err(AppError::new(failure.code, failure.message)),
            None => Err(AppError::new(Code::RefNotIndexed, format!("{name} is being indexed by job {}.", job.id))
                .hint("Retry when index_status shows the job as published.")
                .advice("Retry in a moment; `codecompass status` shows the progress.")
                .data(ErrorData::Ref {
                    ref_name: name.to_owned(),
                    call: None,
                    command: None,
                    job_id: Some(job.id.clone()),
                })),
        }
    }

    fn has_active_job(&self, session: &Session) -> bool {
        self.server.jobs.for_project(&session.project_id).is_some() || session.active_job().is_some()
    }
}

/// A place among the calls that wait. There are fewer than threads, so that other calls are still answered.
struct WaitSlot<'a>(&'a AtomicUsize);

impl<'a> WaitSlot<'a> {
    fn take(waiting: &'a AtomicUsize, most: usize) -> Option<Self> {
        let slot = Self(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < most).then_some(slot)
    }
}

impl Drop for WaitSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Records that the view of a work tree includes every change up to this event count of the watcher.
fn mark_synced(place: &OpenWorkspace, target: &Target, mark: Option<u64>) {
    if !matches!(target.key, ViewKey::Worktree(_)) {
        return;
    }
    let view = place.session.store().and_then(|store| Ok(store.view(&target.key)?));
    if let Ok(Some(view)) = view {
        place.watch_state.cache_comparison(target, &view, mark, &Freshness::Fresh);
    }
}

/// Watches a work tree and syncs changes while the workspace is open.
fn run_watch(server: &Weak<Server>, place: &Weak<OpenWorkspace>) {
    let watch = {
        let (Some(server), Some(place)) = (server.upgrade(), place.upgrade()) else { return };
        let session = &place.session;
        match Watch::start(&session.workspace, &session.limits(), max_watched_folders()) {
            Ok(watch) => {
                let watch = Arc::new(watch);
                *lock(&place.watch_state.status) = WatchStatus::Active(Arc::clone(&watch));
                server.log(1, || format!("watching {}", session.root()));
                watch
            }
            Err(error) => {
                server
                    .log(0, || format!("warning: {}: {error}; every query compares all files instead", session.root()));
                *lock(&place.watch_state.status) = WatchStatus::Unavailable(error.to_string());
                return;
            }
        }
    };
    // Changes from before the watch are synced first.
    let mut change = Some(Change { since: 0, event_count: 0, paths: None });
    while let Some(happened) = change {
        let (Some(server), Some(place)) = (server.upgrade(), place.upgrade()) else { return };
        if let Err(error) =
            sync_changes(&BackgroundRefresh { server: &server, workspace: &place, wait: None }, &happened)
        {
            server.log(1, || format!("{}: {}", place.session.root(), error.message));
        }
        drop((server, place));
        change = watch.wait_for_change(QUIET_PERIOD, MAX_BURST);
    }
    // The watch ended, for example because the folder was removed: the next query may start a new one.
    if let Some(place) = place.upgrade() {
        *lock(&place.watch_state.status) = WatchStatus::Inactive;
    }
}

/// The maximum number of watched folders. Tests lower it to see what happens at the system's limit.
fn max_watched_folders() -> usize {
    let asked = || std::env::var("CODECOMPASS_WATCH_FOLDERS").ok()?.parse().ok();
    cfg!(debug_assertions).then(asked).flatten().unwrap_or(Watch::MAX_FOLDERS)
}

/// Syncs a change if it concerns indexed files.
fn sync_changes(care: &BackgroundRefresh<'_>, change: &Change) -> Result<(), AppError> {
    let place = care.workspace;
    let session = &place.session;
    let target = session.target(None)?;
    let store = match session.store() {
        Err(error) if error.code == Code::ProjectNotFound => return Ok(()),
        store => store?,
    };
    let Some(view) = store.view(&target.key)? else { return Ok(()) };
    // Changes during a job are synced by the next one.
    if let Some(job) = care.server.jobs.for_view(&session.project_id, &target) {
        job.wait_for_end(Duration::from_secs(600));
    }
    let same_name = view.ref_name == target.ref_name && view.commit == target.commit;
    let is_settled = place.watch_state.is_synced_at(change.since) && same_name;
    let paths = change.paths.clone().filter(|_| is_settled);
    if let Some(paths) = &paths
        && !any_changed(&store, &session.workspace, paths, &session.limits())?
    {
        place.watch_state.cache_comparison(&target, &view, Some(change.event_count), &Freshness::Fresh);
        return Ok(());
    }
    let known = freshness_without_paths(care, &store, &target, &view, paths.is_none())?;
    if known == Some(Freshness::Fresh) {
        place.watch_state.cache_comparison(&target, &view, Some(change.event_count), &Freshness::Fresh);
        return Ok(());
    }
    let job = care.start(&target, JobMode::Incremental, SyncRequest { changed: paths, ..SyncRequest::default() })?;
    if job.wait_for_end(Duration::from_secs(600))
        && let Some(Ok(outcome)) = job.ended()
    {
        mark_synced(place, &outcome.target, Some(change.event_count));
    }
    Ok(())
}

/// Compares all files if the changed paths are unknown.
fn freshness_without_paths(
    care: &BackgroundRefresh<'_>,
    store: &Store,
    target: &Target,
    view: &ViewInfo,
    is_needed: bool,
) -> Result<Option<Freshness>, AppError> {
    let session = &care.workspace.session;
    let look = || freshness(store, &session.workspace, target, view, &session.limits(), None);
    Ok(is_needed.then(look).transpose()?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
