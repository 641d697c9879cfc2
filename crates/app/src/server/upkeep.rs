//! How a server keeps its views fresh: others do the work while it answers.
//!
//! With a watch on the work tree, a look at all files holds for as long as nothing happens, and what happens is brought
//! in without anyone asking. Without one, every question looks for itself, because nobody else does; where that takes
//! long, the answer is called stale. A `strict` question always looks, however long it takes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use codecompass_index::{Change, Freshness, Outcome, Target, Watch, freshness, touches};
use codecompass_model::ViewKey;
use codecompass_store::{JobMode, Store, ViewInfo};
use serde_json::json;

use super::Server;
use super::jobs::{Failure, Job};
use super::places::Place;
use crate::error::{AppError, Code};
use crate::metadata;
use crate::session::{Request, Session};
use crate::views::{At, BRIEFLY, Upkeep, others_end};

/// So long what is known to be stale is not looked at again.
const REUSED: Duration = Duration::from_secs(1);

/// So long a question that is not strict looks at the files; what is not found fresh by then is stale.
const LOOK: Duration = Duration::from_millis(100);

/// So long a question about a commit waits for it to be brought in.
const ON_DEMAND: Duration = Duration::from_secs(20);

/// A burst of edits is one change: it ends with so much silence, or after so long.
const QUIET: Duration = Duration::from_millis(60);
const BURST: Duration = Duration::from_millis(400);

/// What is known of a work tree's freshness.
#[derive(Default)]
pub(crate) struct Attention {
    look: Mutex<Option<Look>>,
    watching: Mutex<Watching>,
    /// What the last job said when there was no room for what it had to write.
    no_room: Mutex<Option<String>>,
}

/// What a look at all files found.
#[derive(Clone)]
struct Look {
    at: Instant,
    ref_name: String,
    commit: Option<String>,
    generation: i64,
    /// The watch's mark before the look.
    mark: Option<u64>,
    found: Freshness,
}

#[derive(Default)]
enum Watching {
    #[default]
    Not,
    Starting,
    On(Arc<Watch>),
    /// The system does not allow it, for this reason: looks are all there is.
    Impossible(String),
}

impl Attention {
    fn watch(&self) -> Option<Arc<Watch>> {
        match &*lock(&self.watching) {
            Watching::On(watch) => Some(Arc::clone(watch)),
            _ => None,
        }
    }

    /// The watch's mark; none when nobody watches, or nobody can tell what happened since.
    fn mark(&self) -> Option<u64> {
        self.watch()?.mark()
    }

    /// Why the work tree is not watched, if the system does not allow it.
    pub(crate) fn why_not_watched(&self) -> Option<String> {
        match &*lock(&self.watching) {
            Watching::Impossible(why) => Some(why.clone()),
            _ => None,
        }
    }

    /// What was said of a disk without room, as long as no job has found some.
    pub(crate) fn no_room(&self) -> Option<String> {
        lock(&self.no_room).clone()
    }

    /// Takes note of whether a job found room for what it had to write. That there is none is said once.
    fn note_room(&self, server: &Server, ended: Option<Result<Outcome, Failure>>) {
        let told = match ended {
            Some(Ok(_)) => None,
            Some(Err(failure)) if failure.is_no_room => Some(failure.message),
            _ => return,
        };
        let was_told = std::mem::replace(&mut *lock(&self.no_room), told.clone()).is_some();
        if let Some(message) = told.filter(|_| !was_told) {
            server.log(0, || format!("error: {message} Answers stay as they are until there is room."));
        }
    }

    /// What an earlier look found, if it still holds for this view. Only a watch can vouch that it is still fresh.
    fn remembered(&self, target: &Target, view: &ViewInfo, mark: Option<u64>) -> Option<Freshness> {
        let look = lock(&self.look).clone()?;
        let same_name = look.ref_name == target.ref_name && look.commit == target.commit;
        let same = same_name && look.generation == view.generation && look.mark == mark;
        let holds = match look.found {
            Freshness::Fresh => mark.is_some(),
            Freshness::Stale { .. } => look.at.elapsed() < REUSED,
        };
        (same && holds).then_some(look.found)
    }

    fn remember(&self, target: &Target, view: &ViewInfo, mark: Option<u64>, found: &Freshness) {
        *lock(&self.look) = Some(Look {
            at: Instant::now(),
            ref_name: target.ref_name.clone(),
            commit: target.commit.clone(),
            generation: view.generation,
            mark,
            found: found.clone(),
        });
    }

    /// Whether everything before this mark is known to be indexed.
    fn is_settled_at(&self, mark: u64) -> bool {
        lock(&self.look).as_ref().is_some_and(|look| look.mark == Some(mark) && look.found == Freshness::Fresh)
    }
}

impl Drop for Attention {
    fn drop(&mut self) {
        if let Some(watch) = self.watch() {
            watch.close();
        }
    }
}

/// The upkeep of one place of a server.
pub(crate) struct Care<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) place: &'a Arc<Place>,
}

impl Care<'_> {
    /// Starts a job that brings a view up to date, unless one is under way.
    pub(crate) fn sync(&self, target: &Target, mode: JobMode, request: Request) -> Result<Arc<Job>, AppError> {
        let session = &self.place.session;
        if let Some(job) = self.server.jobs.of_view(&session.project_id, target) {
            return Ok(job);
        }
        self.server.jobs.check_room(&session.project_id)?;
        self.start(target, mode, request)
    }

    /// Starts a job.
    pub(crate) fn start(&self, target: &Target, mode: JobMode, request: Request) -> Result<Arc<Job>, AppError> {
        let is_whole = request.changed.is_none();
        let mark = self.place.attention.mark();
        let place = Arc::downgrade(self.place);
        let server = Arc::downgrade(self.server);
        let (whose, project) = (Arc::downgrade(self.server), self.place.session.dir.root().to_owned());
        let published = move || {
            if let Some(server) = whose.upgrade() {
                server.let_go(&project);
            }
        };
        let after = move |job: &Job| {
            if let (Some(place), Some(server)) = (place.upgrade(), server.upgrade()) {
                place.attention.note_room(&server, job.ended());
                match job.ended() {
                    Some(Ok(outcome)) if is_whole => settled(&place, &outcome.target, mark),
                    Some(Err(failure)) if failure.is_no_room => {}
                    Some(Err(failure)) => {
                        let level = u8::from(failure.is_passing);
                        server.log(level, || format!("job {} failed: {}", job.id, failure.message));
                    }
                    _ => {}
                }
            }
        };
        self.server.jobs.start(&self.place.session, target, mode, request, published, after)
    }

    /// Whether what is checked out is still what it was.
    fn is_still(&self, at: &At<'_>) -> bool {
        at.session.target(None).is_ok_and(|now| now.ref_name == at.target.ref_name)
    }

    /// Has the work tree watched from now on, if it is not already.
    pub(crate) fn watch(&self) {
        let mut watching = lock(&self.place.attention.watching);
        if self.server.options.no_watch || !matches!(*watching, Watching::Not) {
            return;
        }
        *watching = Watching::Starting;
        drop(watching);
        let (server, place) = (Arc::downgrade(self.server), Arc::downgrade(self.place));
        let thread = std::thread::Builder::new().name("watch".into());
        if let Err(error) = thread.spawn(move || attend(&server, &place)) {
            *lock(&self.place.attention.watching) = Watching::Impossible(error.to_string());
        }
    }
}

impl Upkeep for Care<'_> {
    fn attend(&self) {
        self.watch();
    }

    fn compare(&self, at: &At<'_>, store: &Store, view: &ViewInfo, closely: bool) -> Result<Freshness, AppError> {
        let attention = &self.place.attention;
        let deadline = (!closely).then(|| Instant::now() + LOOK);
        let look = || Ok(freshness(store, &at.session.workspace, at.target, view, &at.session.limits(), deadline)?);
        if !at.target.is_worktree() {
            return look();
        }
        let mark = attention.mark();
        if !closely && let Some(found) = attention.remembered(at.target, view, mark) {
            return Ok(found);
        }
        let found = look()?;
        attention.remember(at.target, view, mark, &found);
        Ok(found)
    }

    fn renew(&self, at: &At<'_>) -> Result<metadata::Freshness, AppError> {
        let is_running = self.server.jobs.of_view(&at.session.project_id, at.target).is_some();
        self.sync(at.target, JobMode::Incremental, Request::default())?;
        Ok(if is_running { metadata::Freshness::Syncing } else { metadata::Freshness::Stale })
    }

    fn follow(&self, at: &At<'_>) -> Result<(), AppError> {
        let until = Instant::now() + BRIEFLY;
        loop {
            // The job that is under way may be one for what was checked out before: then there has to be another.
            let job = self.sync(at.target, JobMode::Incremental, Request::default())?;
            let is_over = job.wait_for_end(until.saturating_duration_since(Instant::now()));
            match job.ended() {
                Some(Ok(outcome)) if outcome.target.ref_name == at.target.ref_name => return Ok(()),
                Some(Err(failure)) if !failure.is_passing => return Err(AppError::new(failure.code, failure.message)),
                _ if is_over && Instant::now() < until && self.is_still(at) => {}
                _ => return Ok(()),
            }
        }
    }

    fn settle(&self, at: &At<'_>) -> bool {
        if let Some(job) = self.server.jobs.of_view(&at.session.project_id, at.target) {
            return job.wait_for_end(BRIEFLY);
        }
        others_end(at)
    }

    fn make(&self, at: &At<'_>) -> Result<(), AppError> {
        let job = self.sync(at.target, JobMode::Full, Request::default())?;
        let name = &at.target.ref_name;
        job.wait_for_end(ON_DEMAND);
        match job.ended() {
            Some(Ok(_)) => Ok(()),
            Some(Err(failure)) => Err(AppError::new(failure.code, failure.message)),
            None => Err(AppError::new(Code::RefNotIndexed, format!("{name} is being brought in by job {}.", job.id))
                .hint("It is large; ask again when index_status shows the job as published.")
                .advice("It is large; ask again in a moment. `codecompass status` shows how far it is.")
                .data(json!({ "ref": name, "job_id": job.id }))),
        }
    }

    fn is_busy(&self, session: &Session) -> bool {
        self.server.jobs.of_project(&session.project_id).is_some() || session.active_job().is_some()
    }
}

/// Takes note that a view shows all that had happened before a mark.
fn settled(place: &Place, target: &Target, mark: Option<u64>) {
    if !matches!(target.key, ViewKey::Worktree(_)) {
        return;
    }
    let view = place.session.store().and_then(|store| Ok(store.view(&target.key)?));
    if let Ok(Some(view)) = view {
        place.attention.remember(target, &view, mark, &Freshness::Fresh);
    }
}

/// Watches a work tree and brings in what happens, for as long as the place is open.
fn attend(server: &Weak<Server>, place: &Weak<Place>) {
    let watch = {
        let (Some(server), Some(place)) = (server.upgrade(), place.upgrade()) else { return };
        let session = &place.session;
        match Watch::start(&session.workspace, &session.limits(), most_folders()) {
            Ok(watch) => {
                let watch = Arc::new(watch);
                *lock(&place.attention.watching) = Watching::On(Arc::clone(&watch));
                server.log(1, || format!("watching {}", session.root()));
                watch
            }
            Err(error) => {
                server.log(0, || {
                    format!("warning: {}: {error}; every question looks at all files instead", session.root())
                });
                *lock(&place.attention.watching) = Watching::Impossible(error.to_string());
                return;
            }
        }
    };
    // What happened before it began is brought in first.
    let mut change = Some(Change { since: 0, mark: 0, paths: None });
    while let Some(happened) = change {
        let (Some(server), Some(place)) = (server.upgrade(), place.upgrade()) else { return };
        if let Err(error) = bring_in(&Care { server: &server, place: &place }, &happened) {
            server.log(1, || format!("{}: {}", place.session.root(), error.message));
        }
        drop((server, place));
        change = watch.take(QUIET, BURST);
    }
    // It could not go on, because the folder has gone, say: the next question may begin a new one.
    if let Some(place) = place.upgrade() {
        *lock(&place.attention.watching) = Watching::Not;
    }
}

/// How many folders are watched at most. Tests make it few, to see what happens where the system allows no more.
fn most_folders() -> usize {
    let asked = || std::env::var("CODECOMPASS_WATCH_FOLDERS").ok()?.parse().ok();
    cfg!(debug_assertions).then(asked).flatten().unwrap_or(Watch::MOST_FOLDERS)
}

/// Brings in what happened, if it concerns what is indexed.
fn bring_in(care: &Care<'_>, change: &Change) -> Result<(), AppError> {
    let place = care.place;
    let session = &place.session;
    let target = session.target(None)?;
    let store = match session.store() {
        Err(error) if error.code == Code::ProjectNotFound => return Ok(()),
        store => store?,
    };
    let Some(view) = store.view(&target.key)? else { return Ok(()) };
    // What happens while a job runs is brought in by the next one.
    if let Some(job) = care.server.jobs.of_view(&session.project_id, &target) {
        job.wait_for_end(Duration::from_secs(600));
    }
    let same_name = view.ref_name == target.ref_name && view.commit == target.commit;
    let is_settled = place.attention.is_settled_at(change.since) && same_name;
    let paths = change.paths.clone().filter(|_| is_settled);
    if let Some(paths) = &paths
        && !touches(&store, &session.workspace, paths, &session.limits())?
    {
        place.attention.remember(&target, &view, Some(change.mark), &Freshness::Fresh);
        return Ok(());
    }
    let known = freshness_without_paths(care, &store, &target, &view, paths.is_none())?;
    if known == Some(Freshness::Fresh) {
        place.attention.remember(&target, &view, Some(change.mark), &Freshness::Fresh);
        return Ok(());
    }
    let job = care.start(&target, JobMode::Incremental, Request { changed: paths, ..Request::default() })?;
    if job.wait_for_end(Duration::from_secs(600))
        && let Some(Ok(outcome)) = job.ended()
    {
        settled(place, &outcome.target, Some(change.mark));
    }
    Ok(())
}

/// A look at all files, when nobody knows which ones to look at.
fn freshness_without_paths(
    care: &Care<'_>,
    store: &Store,
    target: &Target,
    view: &ViewInfo,
    is_needed: bool,
) -> Result<Option<Freshness>, AppError> {
    let session = &care.place.session;
    let look = || freshness(store, &session.workspace, target, view, &session.limits(), None);
    Ok(is_needed.then(look).transpose()?)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
