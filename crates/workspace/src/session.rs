//! A session: one workspace, the store of its project, and its configuration.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use codecompass_index::source::{Access, Limits, Listing, Located, Secrets, Workspace, list_worktree, real_path};
use codecompass_index::{Freshness as Compared, IndexError, Progress, SyncOptions, SyncOutcome, Target, freshness};
use codecompass_model::ids::project_id;
use codecompass_store::{
    Job, ProjectDir, SchemaStatus, SecretRules, Store, StoreError, Tuning, VersionCache, ViewInfo, WritePoint, private,
    remove_secrets,
};
use codecompass_wire::{ErrorData, JobProgress};

use crate::clock::now_ms;
use crate::config::Config;
use crate::data_location;
use crate::error::{AppError, Code};
use crate::log;
use crate::metadata::{
    Completeness, Freshness, Indexing, Metadata, Protocol, SchemaStatus as WireSchemaStatus, schema_status,
};
use crate::output::print_stderr;
use crate::progress::ProgressMeter;

/// How often to check whether another writer has ended.
const WRITER_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The time limit of the freshness check whose result only appears in an error.
const FRESHNESS_TIMEOUT: Duration = Duration::from_millis(100);

/// How long a request waits for a running sync, and for the sync of another branch.
pub const SYNC_WAIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The options of a process that its sessions depend on.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// Any path in the workspace; the current folder if there is none.
    pub workspace: Option<PathBuf>,
    /// A configuration file instead of the user's.
    pub config: Option<PathBuf>,
    /// Whether standard output is for machines.
    pub as_json: bool,
    pub verbose: u8,
    pub log_file: Option<PathBuf>,
}

/// The decoded file versions of this process, shared by its threads and projects.
pub static VERSION_CACHE: LazyLock<Arc<VersionCache>> = LazyLock::new(Arc::default);

/// An opened workspace with its data folder and configuration.
#[derive(Clone)]
pub struct Session {
    pub config: Config,
    /// The rules for secrets in this workspace.
    pub secrets: Secrets,
    pub workspace: Workspace,
    pub dir: ProjectDir,
    pub project_id: String,
    data: PathBuf,
    as_json: bool,
    verbose: u8,
    log_file: Option<PathBuf>,
}

impl Session {
    /// Opens the workspace of the command line. Nothing is registered or written.
    pub fn open(options: &SessionOptions, path: Option<&Path>) -> Result<Self, AppError> {
        let data = data_folder()?;
        Self::open_in(&data, options, path)
    }

    /// Opens a workspace with its data in the given folder.
    pub fn open_in(data: &Path, options: &SessionOptions, path: Option<&Path>) -> Result<Self, AppError> {
        Self::open_with(&Access::default(), data, options, path)
    }

    /// The same under the limits of a server.
    pub fn open_with(
        access: &Access,
        data: &Path,
        options: &SessionOptions,
        path: Option<&Path>,
    ) -> Result<Self, AppError> {
        let asked = path.or(options.workspace.as_deref()).unwrap_or(Path::new("."));
        let home = std::env::home_dir();
        let mut workspace = access.discover(asked, home.as_deref())?;
        if workspace.repo.is_none()
            && let Some(folder) = registered_above(&workspace.root, data)
        {
            workspace = access.discover(&folder, home.as_deref())?;
        }
        let project_id = project_id(workspace.project_key().as_os_str().as_encoded_bytes());
        let variable = |name: &str| std::env::var(name).ok();
        let root = Some(workspace.root.as_path());
        let config = Config::load(options.config.as_deref(), &data.join("config.toml"), root, &variable)?;
        let secrets = Secrets::with_allowed(&config.allow_secret_paths)?;
        let dir = project_dir(data, &project_id);
        VERSION_CACHE.set_max_bytes((config.cache_mib as usize) << 20);
        Ok(Self {
            config,
            secrets,
            workspace,
            dir,
            project_id,
            data: data.to_owned(),
            as_json: options.as_json,
            verbose: options.verbose,
            log_file: options.log_file.clone(),
        })
    }

    /// The folder of all data.
    pub fn data_folder(&self) -> &Path {
        &self.data
    }

    /// The root of the workspace for display.
    pub fn root(&self) -> String {
        self.workspace.root.display().to_string()
    }

    /// Whether the workspace is under version control.
    pub fn vcs(&self) -> bool {
        self.workspace.repo.is_some()
    }

    /// The default branch of the repository, if there is one.
    pub fn default_branch(&self) -> Option<String> {
        self.workspace.repo.as_ref()?.default_branch().ok().flatten()
    }

    /// Opens the store; if it is missing or unreadable, the error says what to do. Nothing is read from it before
    /// everything that counts as a secret has been removed.
    pub fn store(&self) -> Result<Store, AppError> {
        let store = self.open_any_store()?;
        if store.is_scanned_with(self.secrets.key())? {
            return Ok(store);
        }
        let until = Instant::now() + SYNC_WAIT_TIMEOUT;
        loop {
            match remove_secrets(&self.dir, &self.secrets, kill_point(), now_ms()) {
                Ok(()) => return self.open_any_store(),
                Err(StoreError::Locked) if Instant::now() < until => std::thread::sleep(WRITER_POLL_INTERVAL),
                // A read-only store may be used if there is nothing to remove.
                Err(_) if store.has_no_secrets(&self.secrets)? => return Ok(store),
                Err(StoreError::Locked) => return Err(self.busy_error()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn open_any_store(&self) -> Result<Store, AppError> {
        match Store::open(&self.dir) {
            Err(StoreError::NotRegistered(_)) => Err(AppError::not_registered(&self.root())),
            opened => Ok(opened?),
        }
    }

    /// Whether an older version of this program made the index: it can be rebuilt without asking.
    pub fn is_outdated(&self) -> bool {
        Store::open(&self.dir).is_err_and(|error| error.is_outdated())
    }

    /// Whether nothing of the project was ever published.
    pub fn has_no_index(&self) -> bool {
        match Store::open(&self.dir) {
            Ok(store) => store.views().is_ok_and(|views| views.is_empty()),
            Err(error) => matches!(error, StoreError::NotRegistered(_)),
        }
    }

    /// The view of a ref in this workspace.
    pub fn target(&self, ref_name: Option<&str>) -> Result<Target, AppError> {
        Ok(Target::resolve(&self.workspace, ref_name)?)
    }

    /// The limits of every listing. Our own data is never source, wherever it is.
    pub fn limits(&self) -> Limits {
        let mut extra_ignore = self.config.ignore.clone();
        let data = real_path(&self.data).unwrap_or_else(|_| self.data.clone());
        if let Ok(inside) = data.strip_prefix(&self.workspace.root)
            && let Some(inside) = inside.to_str()
        {
            extra_ignore.push(format!("/{}/", inside.replace('\\', "/")));
        }
        let allowed_secrets = self.config.allow_secret_paths.clone();
        let languages = self.config.languages.clone();
        Limits { max_file_bytes: self.config.max_file_kib << 10, extra_ignore, allowed_secrets, languages }
    }

    /// Logs a line at this verbosity.
    pub fn log_verbose(&self, level: u8, line: impl FnOnce() -> String) {
        if self.verbose < level && self.log_file.is_none() {
            return;
        }
        let line = line();
        log::append(self.log_file.as_deref(), &line);
        if self.verbose >= level {
            print_stderr(&crate::escape::escape_control(&line));
        }
    }

    /// Syncs a view, with progress on standard error.
    pub fn sync(&self, target: &Target, request: SyncRequest) -> Result<SyncOutcome, AppError> {
        self.log_verbose(1, || format!("{} of {} into {}", target.ref_name, self.root(), self.dir.root().display()));
        let meter = ProgressMeter::new(self.as_json);
        let outcome = self.sync_with_progress(target, request, &|progress| meter.show(progress));
        meter.clear();
        if let Ok(outcome) = &outcome {
            self.log_verbose(1, || {
                format!("job {}: {} mode, garbage: {:?}", outcome.job_id, outcome.mode.as_str(), outcome.garbage)
            });
            for (reason, count, examples) in outcome.skips.iter() {
                self.log_verbose(1, || format!("skipped {count}: {}: {}", reason.phrase(), examples.join(", ")));
            }
        }
        outcome
    }

    /// Syncs a view and reports progress to the caller.
    pub fn sync_with_progress(
        &self,
        target: &Target,
        request: SyncRequest,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<SyncOutcome, AppError> {
        let started = |job: &str| self.log_verbose(2, || format!("job {job} started"));
        let following = SyncObserver { job_id: None, progress, cancel: &AtomicBool::new(false), started: &started };
        self.sync_observed(target, request, &following)
    }

    /// Syncs a view for an observer, which may stop it.
    pub(crate) fn sync_observed(
        &self,
        target: &Target,
        request: SyncRequest,
        following: &SyncObserver<'_>,
    ) -> Result<SyncOutcome, AppError> {
        let text_heap = (self.config.memory_mib << 20) * 6 / 10;
        let options = SyncOptions {
            force: request.force,
            upgrade: request.upgrade,
            wait: request.wait,
            changed: request.changed,
            also: request.also,
            limits: self.limits(),
            threads: self.config.threads,
            tuning: Tuning {
                text_threads: 1,
                text_heap_bytes: text_heap as usize,
                batch_bytes: ((self.config.memory_mib << 20) - text_heap) as usize,
            },
            point: kill_point(),
            job_id: following.job_id,
            progress: following.progress,
            cancel: following.cancel,
            started: following.started,
        };
        match codecompass_index::sync(&self.dir, &self.workspace, target, &options) {
            Err(IndexError::Store(StoreError::Locked)) => Err(self.busy_error()),
            Err(IndexError::Store(StoreError::DiskFull(_))) => {
                let source = list_worktree(&self.workspace, &self.limits()).ok().map(|listing| listing_bytes(&listing));
                Err(AppError::disk_full(self.dir.root(), source.map(|source| self.disk_bytes_needed(source))))
            }
            outcome => Ok(outcome?),
        }
    }

    /// An estimate of the disk space in bytes that the next sync needs for a source of this size: a complete index
    /// takes up to twice its source, and merging the text index and checkpointing the log need space beside the
    /// existing data.
    pub fn disk_bytes_needed(&self, source: u64) -> u64 {
        const MIN_BYTES: u64 = 16 << 20;
        let stored = self.dir.disk_bytes();
        source.saturating_mul(2).saturating_sub(stored) + stored / 4 + MIN_BYTES
    }

    /// The active job, if there is one.
    pub fn active_job(&self) -> Option<Job> {
        let jobs = Store::open(&self.dir).and_then(|store| store.jobs(1)).ok()?;
        jobs.into_iter().find(|job| job.status.is_active())
    }

    fn busy_error(&self) -> AppError {
        let error = match self.active_job() {
            Some(job) => job_in_progress(&job.id, Some(&job)),
            None => AppError::new(Code::IndexInProgress, "Another process is indexing this project.")
                .data(ErrorData::Job { job_id: None, progress: None }),
        };
        error.hint("Wait for it to end; `codecompass status` shows the progress.")
    }

    /// Adds the metadata of this project to an error.
    pub fn with_project_context(&self, error: AppError, ref_name: Option<&str>) -> AppError {
        let asked = ref_name.map(str::to_owned);
        let target = self.target(None).ok();
        let mut metadata = Metadata { vcs_protocol: self.vcs().then_some(Protocol::V1), ..Metadata::unknown() };
        if let Some(name) = asked.or(target.map(|target| target.ref_name)) {
            metadata.ref_name = name;
        }
        if let Ok(status) = SchemaStatus::read(&self.dir) {
            metadata.schema = schema_status(status);
            metadata.indexing = if status == SchemaStatus::Compatible { Indexing::Ready } else { Indexing::NotIndexed };
        }
        // A missing ref cannot be stale; the work tree is checked instead.
        if error.code == Code::RefNotIndexed && self.is_fresh() {
            metadata.freshness = Freshness::Fresh;
        }
        error.with_metadata(metadata)
    }

    /// Whether the indexed work tree is up to date, as far as a short check shows.
    fn is_fresh(&self) -> bool {
        let look = || -> Result<bool, AppError> {
            let (target, store) = (self.target(None)?, self.store()?);
            let Some(view) = store.view(&target.key)? else { return Ok(false) };
            let until = Instant::now() + FRESHNESS_TIMEOUT;
            let found = freshness(&store, &self.workspace, &target, &view, &self.limits(), Some(until))?;
            Ok(found == Compared::Fresh)
        };
        look().unwrap_or_default()
    }

    /// The metadata of an answer from a view.
    pub fn metadata(&self, target: &Target, view: Option<&ViewInfo>) -> Metadata {
        let mut metadata = Metadata {
            vcs_protocol: self.vcs().then_some(Protocol::V1),
            ref_name: target.ref_name.clone(),
            warnings: self.config.warnings.clone(),
            ..Metadata::unknown()
        };
        if view.is_none()
            && let Ok(status) = SchemaStatus::read(&self.dir)
        {
            metadata.schema = schema_status(status);
        }
        if let Some(view) = view {
            metadata.schema = WireSchemaStatus::Compatible;
            metadata.indexing = Indexing::Ready;
            metadata.indexed_commit = view.commit.clone();
            if view.facts_key != codecompass_index::extraction_key(&self.limits()) {
                metadata.completeness = Completeness::Partial;
                metadata.warnings.push(
                    "indexed by an older version of this program, or with other languages; `codecompass sync` fixes it"
                        .into(),
                );
            }
        }
        metadata
    }
}

/// The total size of the files of a listing in bytes.
pub fn listing_bytes(listing: &Listing) -> u64 {
    listing.entries.iter().map(|entry| entry.size).sum()
}

/// The error for a conflicting job, with its id and progress.
pub fn job_in_progress(id: &str, job: Option<&Job>) -> AppError {
    let Some(job) = job else {
        return AppError::new(Code::IndexInProgress, format!("A job is running: {id}.")).data(ErrorData::job(id));
    };
    let progress = job.progress;
    let far = match progress.files_total {
        0 => String::new(),
        total => format!(", {} of {total} files", progress.files_scanned),
    };
    let mode = job.mode.as_str();
    let message = format!("A job is running for {}: {id}, {mode}{far}.", job.ref_name);
    AppError::new(Code::IndexInProgress, message).data(ErrorData::Job {
        job_id: Some(id.to_owned()),
        progress: Some(JobProgress {
            ref_name: job.ref_name.clone(),
            mode: mode.into(),
            files_scanned: progress.files_scanned,
            files_total: progress.files_total,
        }),
    })
}

/// The options of [`Session::sync`].
#[derive(Clone, Debug, Default)]
pub struct SyncRequest {
    pub force: bool,
    /// Rebuild an index that an older version of this program made.
    pub upgrade: bool,
    pub wait: bool,
    pub changed: Option<Vec<String>>,
    /// Further commits that the same job brings in.
    pub also: Vec<Target>,
}

/// The observer of a sync.
pub(crate) struct SyncObserver<'a> {
    /// The id for the job.
    pub(crate) job_id: Option<&'a str>,
    /// Called on progress.
    pub(crate) progress: &'a (dyn Fn(Progress) + Sync),
    /// Set to stop the sync.
    pub(crate) cancel: &'a AtomicBool,
    /// Called once the job has started.
    pub(crate) started: &'a (dyn Fn(&str) + Sync),
}

/// The workspace at a path, and whether it is registered. Nothing in it is opened.
pub fn locate(data: &Path, path: &Path) -> Result<(Located, bool), AppError> {
    let home = std::env::home_dir();
    let mut found = Workspace::locate(path, home.as_deref())?;
    if !found.is_repository
        && let Some(folder) = registered_above(&found.root, data)
    {
        found = Workspace::locate(&folder, home.as_deref())?;
    }
    let is_registered = is_registered(data, &found.project_key);
    Ok((found, is_registered))
}

/// The nearest registered parent folder of a plain folder that is not registered itself.
fn registered_above(folder: &Path, data: &Path) -> Option<PathBuf> {
    let nearest = folder.ancestors().find(|folder| is_registered(data, folder))?;
    (nearest != folder).then(|| nearest.to_owned())
}

fn is_registered(data: &Path, project_key: &Path) -> bool {
    project_dir(data, &project_id(project_key.as_os_str().as_encoded_bytes())).is_registered()
}

fn project_dir(data: &Path, project_id: &str) -> ProjectDir {
    ProjectDir::new(data.join("projects").join(project_id)).with_cache(&VERSION_CACHE)
}

/// The folder of all data: `$CODECOMPASS_HOME`, or the platform's data folder.
pub fn data_folder() -> Result<PathBuf, AppError> {
    let found = data_location::find()
        .map_err(|error| AppError::new(Code::InvalidInput, format!("{}: {error}.", data_location::VARIABLE)))?;
    found.ok_or_else(|| {
        AppError::new(Code::InvalidInput, "No data folder is known.").hint("Set CODECOMPASS_HOME to an absolute path.")
    })
}

/// Removes the access of other users to a data folder that an earlier version created with it.
pub fn tighten_data_folder() {
    const NAMES: [&str; 8] =
        ["projects", "worktrees", "setup", "setup.lock", "config.toml", "recent", "http-token", "servers"];
    const BEGINNINGS: [&str; 4] = ["recent.", "explore-", "bench-", "history."];
    let is_ours = |name: &str| NAMES.contains(&name) || BEGINNINGS.iter().any(|begin| name.starts_with(begin));
    if let Ok(data) = data_folder() {
        private::tighten(&data, is_ours);
    }
}

/// Ends the process at its n-th durable write, for tests. Not in release builds.
pub fn kill_point() -> Option<WritePoint> {
    if !cfg!(debug_assertions) {
        return None;
    }
    let at: u64 = std::env::var("CODECOMPASS_KILL_AT_WRITE").ok()?.parse().ok()?;
    let count = AtomicU64::new(0);
    Some(Arc::new(move |_| {
        if count.fetch_add(1, Ordering::Relaxed) + 1 == at {
            std::process::abort();
        }
    }))
}
