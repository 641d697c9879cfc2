//! Background jobs: started immediately, followed by id, stopped on request.
//!
//! The record of a job is in the store, written by the holder of the write lock; this file only has the jobs of this
//! process.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use codecompass_index::{Progress, SyncOutcome, Target};
use codecompass_model::ids::content_hash;
use codecompass_store::{JobMode, JobStatus};
use codecompass_wire::ErrorData;

use crate::clock::now_ms;
use crate::error::{AppError, Code};
use crate::panics;
use crate::session::{Session, SyncObserver, SyncRequest};

/// The maximum number of unfinished jobs of one project: each has a thread, and all but one wait.
const MAX_JOBS_PER_PROJECT: usize = 32;

/// The unfinished jobs of this process.
#[derive(Default)]
pub struct Jobs {
    running: Mutex<Vec<Arc<Job>>>,
    started: AtomicU64,
}

/// A job of this process.
pub struct Job {
    pub id: String,
    pub project_id: String,
    pub target: Target,
    pub mode: JobMode,
    pub created_at: i64,
    cancel: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
    published: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct State {
    has_begun: bool,
    /// Readers see the result; what is left is cleaning up.
    has_published: bool,
    done: u64,
    total: Option<u64>,
    phase: &'static str,
    began: Option<Instant>,
    ended: Option<Result<SyncOutcome, Failure>>,
}

/// Why a job ended without publishing.
#[derive(Clone, Debug)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    /// Not a real failure: the work tree changed meanwhile, or the job was cancelled.
    pub is_transient: bool,
    /// The disk was full.
    pub is_disk_full: bool,
}

impl Jobs {
    /// Starts a job in a thread of its own. It waits while another job of this project is running. `published` is
    /// called when readers can see the result, before the cleanup; `after` is called at the end.
    pub fn start(
        self: &Arc<Self>,
        session: &Session,
        target: &Target,
        mode: JobMode,
        request: SyncRequest,
        published: impl Fn() + Send + Sync + 'static,
        after: impl FnOnce(&Job) + Send + 'static,
    ) -> Result<Arc<Job>, AppError> {
        let job = Arc::new(Job {
            id: self.new_id(),
            project_id: session.project_id.clone(),
            target: target.clone(),
            mode,
            created_at: now_ms(),
            cancel: AtomicBool::new(false),
            state: Mutex::new(State { phase: "waiting", ..State::default() }),
            changed: Condvar::new(),
            published: Box::new(published),
        });
        lock(&self.running).push(Arc::clone(&job));
        let (jobs, session, ours) = (Arc::clone(self), session.clone(), Arc::clone(&job));
        let run = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| ours.run(&session, request)));
            let failed = |error: AppError| {
                let is_passing = error.code == Code::IndexStale || ours.cancel.load(Ordering::Relaxed);
                let is_no_room = error.is_disk_full();
                Failure { code: error.code, message: error.message, is_transient: is_passing, is_disk_full: is_no_room }
            };
            let broken = || panics::panic_error("The job", Some(&session.dir));
            let ended = outcome.unwrap_or_else(|_| Err(broken())).map_err(failed);
            finish_job(&jobs, &ours, ended);
            after(&ours);
        };
        let thread = std::thread::Builder::new().name("job".into()).spawn(run);
        thread.map_err(|error| {
            lock(&self.running).retain(|known| known.id != job.id);
            AppError::new(Code::InternalError, format!("Cannot start a thread: {error}."))
        })?;
        Ok(job)
    }

    /// Refuses another job of a project if too many are waiting.
    pub fn check_room(&self, project_id: &str) -> Result<(), AppError> {
        let running = lock(&self.running);
        let mut of_project = running.iter().filter(|job| job.project_id == project_id);
        let Some(last) = of_project.nth(MAX_JOBS_PER_PROJECT - 1) else { return Ok(()) };
        let message = format!("{MAX_JOBS_PER_PROJECT} jobs of this project are running or waiting.");
        Err(AppError::new(Code::IndexInProgress, message)
            .hint("Retry when some of them are done; index_status shows the running one.")
            .data(ErrorData::job(&last.id)))
    }

    /// The first job of a project that has not published: the running one, or the next one to run.
    pub fn for_project(&self, project_id: &str) -> Option<Arc<Job>> {
        let running = lock(&self.running);
        let ours = || running.iter().filter(|job| job.project_id == project_id && !job.has_published());
        ours().find(|job| job.has_begun()).or_else(|| ours().next()).cloned()
    }

    /// The job that syncs a view and has not published it.
    pub fn for_view(&self, project_id: &str, target: &Target) -> Option<Arc<Job>> {
        let running = lock(&self.running);
        let is_ours = |job: &&Arc<Job>| job.project_id == project_id && job.target.key == target.key;
        running.iter().filter(is_ours).find(|job| !job.has_published()).cloned()
    }

    /// Whether a project has jobs, including one that is cleaning up.
    pub fn has_jobs(&self, project_id: &str) -> bool {
        lock(&self.running).iter().any(|job| job.project_id == project_id)
    }

    fn new_id(&self) -> String {
        let count = self.started.fetch_add(1, Ordering::Relaxed).to_le_bytes();
        let process = std::process::id().to_le_bytes();
        format!("{:012x}", content_hash(&[&now_ms().to_le_bytes(), &process, &count]) >> 16)
    }

    /// Whether no job is running.
    pub fn is_empty(&self) -> bool {
        lock(&self.running).is_empty()
    }

    /// Stops all jobs and waits for them, up to the given time.
    pub fn stop(&self, patience: Duration) {
        let until = Instant::now() + patience;
        let running = lock(&self.running).clone();
        running.iter().for_each(|job| job.cancel());
        for job in running {
            job.wait(until.saturating_duration_since(Instant::now()), |state| state.ended.is_some());
        }
    }
}

fn finish_job(jobs: &Jobs, job: &Job, ended: Result<SyncOutcome, Failure>) {
    lock(&jobs.running).retain(|known| known.id != job.id);
    lock(&job.state).ended = Some(ended);
    job.changed.notify_all();
}

impl Job {
    fn run(&self, session: &Session, request: SyncRequest) -> Result<SyncOutcome, AppError> {
        let following = SyncObserver {
            job_id: Some(&self.id),
            progress: &|progress| self.note(progress),
            cancel: &self.cancel,
            started: &|_| self.begin(),
        };
        session.sync_observed(&self.target, SyncRequest { wait: true, ..request }, &following)
    }

    fn begin(&self) {
        let mut state = lock(&self.state);
        state.has_begun = true;
        state.began = Some(Instant::now());
        state.phase = "listing";
        self.changed.notify_all();
    }

    fn note(&self, progress: Progress) {
        let mut state = lock(&self.state);
        match progress {
            Progress::Listing => state.phase = "listing",
            Progress::Extracting { done, total, .. } => {
                state.phase = "indexing";
                (state.done, state.total) = (done.max(state.done), Some(total));
            }
            Progress::Publishing => state.phase = "publishing",
            Progress::Published => {
                state.phase = "cleaning up";
                state.has_published = true;
            }
        }
        self.changed.notify_all();
        drop(state);
        if matches!(progress, Progress::Published) {
            (self.published)();
        }
    }

    /// Asks the job to stop; the last published state stays.
    pub fn cancel(&self) {
        self.cancel.store(true, Ordering::Relaxed);
    }

    /// Whether the job is running or over, not waiting.
    pub fn has_begun(&self) -> bool {
        lock(&self.state).has_begun
    }

    /// Whether readers see the result, though the job may still be cleaning up.
    pub fn has_published(&self) -> bool {
        lock(&self.state).has_published
    }

    /// The status of the job.
    pub fn status(&self) -> JobStatus {
        let state = lock(&self.state);
        match (&state.ended, state.has_begun) {
            (Some(Ok(_)), _) => JobStatus::Published,
            (Some(Err(_)), _) => JobStatus::Failed,
            (None, true) => JobStatus::Running,
            (None, false) => JobStatus::Queued,
        }
    }

    /// The result, if the job is over.
    pub fn ended(&self) -> Option<Result<SyncOutcome, Failure>> {
        lock(&self.state).ended.clone()
    }

    /// Waits until the job has begun or is over; returns whether that happened in time.
    pub fn wait_for_turn(&self, patience: Duration) -> bool {
        self.wait(patience, |state| state.has_begun || state.ended.is_some())
    }

    /// Waits until the job is over; returns whether that happened in time.
    pub fn wait_for_end(&self, patience: Duration) -> bool {
        self.wait(patience, |state| state.ended.is_some())
    }

    /// Reports progress repeatedly until the job or the time is over, or the caller disconnects, which stops the job.
    pub fn report_progress(&self, follower: &dyn ProgressListener, patience: Duration) {
        let until = Instant::now() + patience;
        let mut last = None;
        loop {
            let (step, over) = {
                let state = lock(&self.state);
                ((state.phase, state.done, state.total), state.ended.is_some())
            };
            if last != Some(step) {
                last = Some(step);
                follower.progress(step.0, step.1, step.2);
            }
            if follower.is_disconnected() {
                self.cancel();
                return;
            }
            if over || Instant::now() >= until {
                return;
            }
            let state = lock(&self.state);
            drop(self.changed.wait_timeout(state, PROGRESS_INTERVAL));
        }
    }

    /// Waits until readers see the result, the job fails, or the caller waits no longer; returns whether one of the
    /// first two happened. A caller that leaves does not stop the job: others need it, too.
    pub fn wait_until_published(&self, wait: &IndexWait<'_>) -> bool {
        let mut last = None;
        loop {
            let state = lock(&self.state);
            let (step, is_done) =
                ((state.phase, state.done, state.total), state.has_published || state.ended.is_some());
            drop(state);
            if let Some(listener) = wait.listener.filter(|_| last != Some(step)) {
                last = Some(step);
                listener.progress(step.0, step.1, step.2);
            }
            let left = wait.remaining();
            if is_done || left.is_zero() || wait.is_cancelled() {
                return is_done;
            }
            let state = lock(&self.state);
            let is_same = |state: &mut State| !state.has_published && state.ended.is_none();
            drop(self.changed.wait_timeout_while(state, left.min(PROGRESS_INTERVAL), is_same));
        }
    }

    /// How far the job is.
    pub fn estimate(&self) -> IndexingEstimate {
        let state = lock(&self.state);
        let elapsed = state.began.map(|began| began.elapsed()).unwrap_or_default();
        IndexingEstimate::new(state.done, state.total.unwrap_or_default(), elapsed)
    }

    fn wait(&self, patience: Duration, enough: impl Fn(&State) -> bool) -> bool {
        let state = lock(&self.state);
        let waited = self.changed.wait_timeout_while(state, patience, |state| !enough(state));
        waited.map(|(_, timeout)| !timeout.timed_out()).unwrap_or(false)
    }
}

/// The time between two progress reports.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(50);

/// How long a call waits for an index, and where progress is reported.
pub struct IndexWait<'a> {
    time: Duration,
    /// The start of the first wait: what a call waits for, it waits for in this time altogether.
    began: &'a OnceLock<Instant>,
    listener: Option<&'a dyn ProgressListener>,
    cancel: &'a AtomicBool,
}

impl<'a> IndexWait<'a> {
    pub fn new(
        time: Duration,
        began: &'a OnceLock<Instant>,
        listener: Option<&'a dyn ProgressListener>,
        cancel: &'a AtomicBool,
    ) -> Self {
        Self { time, began, listener, cancel }
    }

    /// The time left.
    pub fn remaining(&self) -> Duration {
        self.time.saturating_sub(self.began.get_or_init(Instant::now).elapsed())
    }

    /// Whether the call has waited and no time is left.
    pub fn is_over(&self) -> bool {
        self.began.get().is_some_and(|began| began.elapsed() >= self.time)
    }

    /// Whether the answer is no longer wanted.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// How far an index is, and when it will be complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexingEstimate {
    pub percent: u64,
    /// The remaining time in seconds, at least 1.
    pub seconds: u64,
}

/// The share of the time that extraction takes; publishing takes the rest.
const EXTRACTION_PERCENT: u64 = 95;

/// The remaining seconds if nothing is known.
const DEFAULT_SECONDS: u64 = 5;

impl IndexingEstimate {
    /// Estimates from the files that are done.
    pub fn new(done: u64, total: u64, elapsed: Duration) -> Self {
        let percent = (done.min(total) * EXTRACTION_PERCENT).checked_div(total).unwrap_or_default();
        let left = elapsed.as_secs_f64() * (100 - percent) as f64 / percent.max(1) as f64;
        let seconds = if percent == 0 { DEFAULT_SECONDS } else { (left.ceil() as u64).max(1) };
        Self { percent, seconds }
    }

    /// The line for an agent that has to ask again.
    pub fn text(self) -> String {
        format!("indexing, {} %, ask again in about {} s\n", self.percent, self.seconds)
    }
}

/// Receives the progress of a job.
pub trait ProgressListener {
    fn progress(&self, phase: &'static str, done: u64, total: Option<u64>);
    /// Whether the listener has gone.
    fn is_disconnected(&self) -> bool;
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use codecompass_model::ViewKey;

    use super::*;

    #[test]
    fn estimates_extrapolate_from_the_files_that_are_done() {
        let estimate = |done, total, seconds| {
            let IndexingEstimate { percent, seconds } =
                IndexingEstimate::new(done, total, Duration::from_secs(seconds));
            (percent, seconds)
        };
        assert_eq!(estimate(0, 0, 3), (0, 5), "nothing is known");
        assert_eq!(estimate(0, 1000, 3), (0, 5));
        assert_eq!(estimate(400, 1000, 4), (38, 7));
        assert_eq!(estimate(1000, 1000, 10), (95, 1), "it is not published yet");
        assert_eq!(estimate(1200, 1000, 0), (95, 1));
    }

    #[test]
    fn published_job_does_not_block_the_next_one() {
        let target = Target { key: ViewKey::Ref("main".into()), ref_name: "main".into(), commit: None };
        let job = Arc::new(Job {
            id: "1".into(),
            project_id: "p".into(),
            target: target.clone(),
            mode: JobMode::Full,
            created_at: 0,
            cancel: AtomicBool::new(false),
            state: Mutex::default(),
            changed: Condvar::new(),
            published: Box::new(|| ()),
        });
        let jobs = Jobs::default();
        lock(&jobs.running).push(Arc::clone(&job));
        job.begin();
        assert!(jobs.for_view("p", &target).is_some() && jobs.for_project("p").is_some());
        job.note(Progress::Published);
        assert!(jobs.for_view("p", &target).is_none() && jobs.for_project("p").is_none());
        assert!(jobs.has_jobs("p"), "it is still cleaning up");
    }
}
