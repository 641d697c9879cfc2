//! Answers calls, independent of the transport: the tools, the workspaces of the calls, and background work.
//!
//! Nothing here knows a transport. A transport passes a connection, the name of a tool and its arguments, and gets JSON
//! or text.

mod answer_limit;
pub mod background_refresh;
mod call_request;
mod encoding;
mod host;
mod places;
mod recent;
mod recorded_call;
mod warm;
pub mod workers;
pub mod workspaces;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use codecompass_index::source::{Access, FolderHandle, real_path};
use codecompass_store::{JobMode, StoreError};
use serde_json::{Map, Value};

pub use answer_limit::AnswerLimit;
use background_refresh::BackgroundRefresh;
pub use call_request::{CallRequest, Content, NoReply, Reply};
use codecompass_tools as tools;
use codecompass_tools::bounds::MAX_TEXT;
use codecompass_tools::call::forgiving::Understood;
use codecompass_tools::call::host::{Host, UnknownWorkspace};
use codecompass_tools::call::{Call, CallOrigin, JOB_START_TIMEOUT};
use codecompass_tools::tool_spec::{Arguments, Effect, ToolCall, ToolSpec};
use codecompass_workspace::clock::now_ms;
use codecompass_workspace::config::{AnswerFormat, Config};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::history::History;
use codecompass_workspace::jobs::Jobs;
use codecompass_workspace::log;
use codecompass_workspace::measure;
use codecompass_workspace::output::{self, Answer, OutputFormat, Reader, print_stderr};
use codecompass_workspace::panics;
use codecompass_workspace::running::{Registration, RunningServer};
use codecompass_workspace::session::{self, Session, SessionOptions, SyncRequest};
use codecompass_workspace::views::{CacheCommand, SnapshotCache};
use encoding::Encoding;
use host::ServerHost;
use places::{JoinedAnswers, MAX_ANSWERING, Place, Places};
use recorded_call::RecordedCall;
use warm::WarmProgress;
use workers::{Client, QueueFull, TaskLength, Workers, nothing_to_deliver};
use workspaces::{WorkspaceGuard, Workspaces};

/// The time limit for opening a repository and for reading its references.
const OPEN_TIMEOUT: Duration = Duration::from_secs(5);

/// The size of the answers of several repositories together, unless the client has a lower limit, and the minimum for
/// each.
const DEFAULT_JOINED_BYTES: usize = 12_000;
const MIN_JOINED_BYTES: usize = 1_500;

/// A server: its options, open workspaces, jobs and threads.
pub struct Server {
    pub options: ServerOptions,
    pub data: PathBuf,
    pub started: Instant,
    pub jobs: Arc<Jobs>,
    pub workspaces: Workspaces,
    pub(crate) warm_state: WarmProgress,
    base: SessionOptions,
    /// The path of its own workspace, from the command line or its client.
    own: Mutex<Option<PathBuf>>,
    /// The folder that the process was started in, which may be renamed or removed. Opening a repository asks for the
    /// working folder, which is an error once it is gone; so a server leaves it before any thread starts, and never
    /// changes the working folder later, because it belongs to the whole process.
    start_folder: Option<FolderHandle>,
    workers: Workers,
    places: Places,
    /// The number of calls that wait for an index, and its maximum.
    waiting: AtomicUsize,
    max_waiting: usize,
    encoding: Encoding,
    /// The limits on opening repositories.
    access: Access,
    /// With `--own-workspace-only`, the first root of the server's own workspace. It must not grow: otherwise a client
    /// that removes the `.git` of its folder would be served the enclosing repository.
    first_root: OnceLock<PathBuf>,
    /// The root that background work was started for. A query about the previous root may arrive after the workspace
    /// has changed.
    has_started: Mutex<Option<PathBuf>>,
    /// Records the calls of agents, unless the user turned that off.
    history: Option<History>,
    /// Its entry among the running servers.
    listing: Mutex<Listing>,
}

/// The entry of a server among the running ones.
#[derive(Default)]
struct Listing {
    /// What to list once there is a data folder.
    waiting: Option<RunningServer>,
    _held: Option<Registration>,
}

/// How the server was started.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub auto_index: bool,
    pub auto_workspace: bool,
    pub allowed_roots: Vec<PathBuf>,
    /// No other workspace is read for any caller.
    pub own_workspace_only: bool,
    pub no_prewarm: bool,
    pub no_watch: bool,
    /// The process makes the root its working folder.
    pub leaves_working_folder: bool,
    pub debug: bool,
    /// The offered tools; `None` offers all.
    pub tools: Option<Vec<&'static str>>,
    /// The format of answers.
    pub form: OutputFormat,
}

impl ServerOptions {
    /// The options of the explorer.
    pub fn for_explorer() -> Self {
        Self {
            auto_index: true,
            auto_workspace: false,
            allowed_roots: Vec::new(),
            own_workspace_only: false,
            no_prewarm: true,
            no_watch: false,
            leaves_working_folder: true,
            debug: false,
            tools: None,
            form: OutputFormat::Json,
        }
    }
}

/// The offered tools: `core`, `all`, or a list of names; the default depends on the format.
pub fn offered_tools(words: &[String], form: OutputFormat) -> Result<Option<Vec<&'static str>>, AppError> {
    let core = || Some(tools::CORE_TOOLS.iter().map(|(name, _)| *name).collect());
    match words {
        [] => return Ok(if form == OutputFormat::Json { None } else { core() }),
        [word] if word.trim() == "core" => return Ok(core()),
        [word] if word.trim() == "all" => return Ok(None),
        _ => {}
    }
    let name_of = |word: &String| {
        let names = tools::TOOLS.iter().map(|tool| tool.name.to_owned());
        let known = || ["core".to_owned(), "all".to_owned()].into_iter().chain(names).collect();
        let found = tools::TOOLS.iter().find(|tool| tool.name == word.trim()).map(|tool| tool.name);
        found.ok_or_else(|| tools::input::unknown_value("tools", word, known()))
    };
    words.iter().map(name_of).collect::<Result<_, _>>().map(Some)
}

/// Checks the tool list of a server that is about to be started.
pub fn check_tools(list: Option<&str>, answers: AnswerFormat) -> Result<(), AppError> {
    let words: Vec<String> = list.into_iter().flat_map(|list| list.split(',')).map(str::to_owned).collect();
    let form = if answers == AnswerFormat::Json { OutputFormat::Json } else { OutputFormat::Text(Reader::Agent) };
    offered_tools(&words, form).map(drop)
}

impl Server {
    /// Starts a server; no workspace is opened yet.
    pub fn start(base: &SessionOptions, options: ServerOptions) -> Result<Arc<Self>, AppError> {
        measure::prefer_little_memory();
        let no_threads = |error| AppError::new(Code::InternalError, format!("Cannot start threads: {error}."));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let base = SessionOptions {
            workspace: base.workspace.as_ref().map(absolute),
            config: base.config.as_ref().map(absolute),
            log_file: base.log_file.as_ref().map(absolute),
            ..base.clone()
        };
        let data = session::data_folder()?;
        let start_folder = std::env::current_dir().ok().map(FolderHandle::open);
        let own = base.workspace.clone().or_else(|| Some(start_folder.as_ref()?.first_path().to_owned()));
        // All paths are absolute from here on. If this fails, the server works as long as the folder exists.
        if options.leaves_working_folder {
            let _ = std::env::set_current_dir("/");
        }
        let variable = |name: &str| std::env::var(name).ok();
        let config = Config::load(base.config.as_deref(), &data.join("config.toml"), None, &variable)?;
        let history = History::open(&data, &config);
        let is_confined = options.own_workspace_only || !options.allowed_roots.is_empty();
        let first_root = OnceLock::new();
        if let Some((found, _)) = own.as_deref().and_then(|own| session::locate(&data, own).ok()) {
            let _ = first_root.set(found.root);
        }
        Ok(Arc::new(Self {
            access: Access::new(OPEN_TIMEOUT, is_confined.then(|| options.allowed_roots.clone())),
            first_root,
            options,
            data,
            started: Instant::now(),
            jobs: Arc::default(),
            workspaces: Workspaces::default(),
            warm_state: WarmProgress::default(),
            own: Mutex::new(own),
            start_folder,
            places: Places::default(),
            encoding: Encoding::default(),
            base,
            waiting: AtomicUsize::new(0),
            max_waiting: cores.max(4),
            // One more than a single client can use for long and short tasks.
            workers: Workers::start(cores.max(4) + 1).map_err(no_threads)?,
            has_started: Mutex::default(),
            history,
            listing: Mutex::default(),
        }))
    }

    /// Lists this server among the running ones, now or as soon as there is a data folder.
    pub(crate) fn register(&self, transport: &str) {
        let repository = self.own_path().map(|path| path.display().to_string()).unwrap_or_default();
        let server =
            RunningServer { pid: std::process::id(), transport: transport.to_owned(), repository, started: now_ms() };
        self.listing().waiting = Some(server);
        self.list_if_possible();
    }

    /// Lists this server if it waits for a data folder that now exists.
    fn list_if_possible(&self) {
        let mut listing = self.listing();
        if let Some(server) = &listing.waiting
            && let Some(registration) = Registration::new(&self.data, server)
        {
            *listing = Listing { waiting: None, _held: Some(registration) };
        }
    }

    /// Removes this server from the running ones.
    pub(crate) fn unregister(&self) {
        *self.listing() = Listing::default();
    }

    fn listing(&self) -> MutexGuard<'_, Listing> {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts background work: indexing the server's own workspace if requested, and warming.
    pub fn start_background_work(self: &Arc<Self>) {
        let server = Arc::clone(self);
        self.run_on_worker(move |_| {
            if server.index_repositories() {
                return;
            }
            let own = server.workspaces.acquire(&server, None, UnknownWorkspace::Project);
            if let Ok(visit) = &own {
                let (root, data) = (visit.workspace.session.root(), server.data.display().to_string());
                server.log(1, || format!("serving {root} with data in {data}"));
            }
            if let Err(error) = own.and_then(|visit| server.index_own(&visit))
                && server.options.auto_index
            {
                server.log(0, || format!("error: {}", error.message));
            }
            server.list_if_possible();
        });
        self.prewarm();
    }

    /// Whether its own workspace is fixed; otherwise it is the folder that the server was started in until its client
    /// names another one. With `--own-workspace-only` the client may not do that.
    pub fn has_own_workspace(&self) -> bool {
        self.base.workspace.is_some() || self.options.own_workspace_only
    }

    /// Makes the folder of its only client the server's own workspace.
    pub(crate) fn adopt_workspace(self: &Arc<Self>, folder: PathBuf) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
        self.workspaces.reset_own();
        self.start_background_work();
    }

    /// Indexes the server's own workspace if that was requested and was never done, or done by an older version.
    /// Afterwards the workspace is registered.
    pub(crate) fn index_own(self: &Arc<Self>, visit: &WorkspaceGuard) -> Result<(), AppError> {
        let session = &visit.workspace.session;
        let mut begun = self.has_started.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.options.auto_index || begun.as_ref() == Some(&session.workspace.root) {
            return Ok(());
        }
        *begun = Some(session.workspace.root.clone());
        self.index_if_missing(visit)
    }

    /// Indexes a workspace if that was never done, or done by an older version.
    fn index_if_missing(self: &Arc<Self>, visit: &WorkspaceGuard) -> Result<(), AppError> {
        let session = &visit.workspace.session;
        let target = session.target(None)?;
        let is_readable = session.dir.is_registered() && !session.is_outdated();
        if is_readable && session.store()?.view(&target.key)?.is_some() {
            return Ok(());
        }
        let request = SyncRequest { upgrade: true, ..SyncRequest::default() };
        let job = BackgroundRefresh { server: self, workspace: &visit.workspace, wait: None }.sync(
            &target,
            JobMode::Full,
            request,
        )?;
        job.wait_for_turn(JOB_START_TIMEOUT);
        Ok(())
    }

    /// The offered tools.
    pub fn tools(&self) -> impl Iterator<Item = &'static ToolSpec> {
        let is_offered = |tool: &&ToolSpec| self.options.tools.as_ref().is_none_or(|names| names.contains(&tool.name));
        tools::TOOLS.iter().filter(is_offered)
    }

    /// Answers a call on a worker thread and passes the reply to `done`. Nothing happens if the answer is no longer
    /// wanted when the call's turn comes.
    pub fn answer(
        self: &Arc<Self>,
        asked: CallRequest,
        done: impl FnOnce(Reply) + Send + 'static,
    ) -> Result<(), QueueFull> {
        let server = Arc::clone(self);
        let about = asked.arguments.get("workspace").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (client, length, gone) = (asked.client, asked.length(), Arc::clone(&asked.context.cancel));
        let call = self.history.as_ref().and_then(|_| RecordedCall::new(&asked));
        self.workers.submit(client, &about, length, &gone, move |desk| {
            let reply = server.answer_now(asked, desk);
            server.list_if_possible();
            if let (Some(history), Some(call)) = (&server.history, call) {
                call.record(history, &reply, server.own_path().as_deref());
            }
            Box::new(move || done(reply))
        })
    }

    /// Answers a call on this thread.
    fn answer_now(self: &Arc<Self>, asked: CallRequest, desk: &mut SnapshotCache) -> Reply {
        let began = Instant::now();
        let CallRequest {
            tool,
            mut arguments,
            client,
            client_name: _,
            answer_limit,
            client_folders,
            client_root,
            context,
        } = asked;
        let (form, gone) = (context.form, &context.cancel);
        desk.set_cancel_flag(gone);
        let mut understood_note = String::new();
        if form != OutputFormat::Json {
            let understood = Understood::new(tool, arguments);
            understood_note = understood.note();
            arguments = understood.values;
        }
        // Only a call that changes nothing may be repeated, or be about another workspace than it names.
        let is_text_query = form != OutputFormat::Json && tool.effect == Effect::Reads;
        let is_about_code = is_text_query && matches!(tool.call, ToolCall::Anywhere(_));
        let place = match is_about_code {
            true => self.place_of(&mut arguments, &client_folders),
            false => Place::AsAsked,
        };
        if let Place::Workspace(root) = &place {
            arguments.insert("workspace".to_owned(), root.to_string_lossy().into());
        }
        let workspace = arguments.get("workspace").and_then(Value::as_str).filter(|path| path.len() <= MAX_TEXT);
        let workspace = workspace.map(str::to_owned);
        let host = ServerHost::new(self);
        let mut run = |arguments: Map<String, Value>, limit: Option<AnswerLimit>, max_bytes: Option<usize>| {
            let arguments = Arguments::check(tool, form, arguments)?;
            let mut call = Call {
                arguments,
                context: &context,
                origin: CallOrigin::Server(&host),
                cache: &mut *desk,
                printer: None,
                max_bytes,
            };
            // A call that was cancelled in the queue is not answered.
            if gone.load(Ordering::Relaxed) {
                return Err(StoreError::Cancelled.into());
            }
            run_within(limit.filter(|_| is_text_query), &mut call, tool, &host)
        };
        let result = catch_unwind(AssertUnwindSafe(|| match &place {
            Place::Repositories(folder, repositories) => {
                let (asked, not_asked) = repositories.split_at(repositories.len().min(MAX_ANSWERING));
                let mut joined = JoinedAnswers::default();
                let each = answer_limit.map_or(DEFAULT_JOINED_BYTES, |limit| limit.first_bytes()) / asked.len().max(1);
                for repository in asked {
                    let mut arguments = arguments.clone();
                    if let Some(root) = &repository.root {
                        arguments.insert("workspace".to_owned(), root.to_string_lossy().into());
                    }
                    let answer = run(arguments, None, Some(each.max(MIN_JOINED_BYTES)));
                    joined.add(&repository.name, answer, || self.is_indexing(repository.root.as_deref()))?;
                }
                Ok(joined.finish(folder, not_asked))
            }
            _ => run(arguments, answer_limit, None),
        }));
        if gone.load(Ordering::Relaxed) {
            // A cancelled call may leave incomplete results in the cache.
            desk.clear();
        }
        // The next call has a cancel flag of its own.
        desk.set_cancel_flag(&Arc::default());
        self.workspaces.enforce_limit(self);
        let reply = match result {
            Ok(Ok(answer)) => {
                let content = match form {
                    OutputFormat::Json => Content::Json(answer.json),
                    OutputFormat::Text(_) => {
                        // Over HTTP, the client does not work in the server's folder.
                        let is_own = workspace.is_none() && client == Client::Pipe;
                        let connection = context.connection.as_deref();
                        let own = connection.filter(|_| is_own && matches!(place, Place::AsAsked));
                        let note = own.and_then(|connection| self.folder_note(connection)).unwrap_or_default();
                        let reported: Vec<PathBuf> = client_folders.into_iter().chain(client_root).collect();
                        let about = connection.and_then(|connection| match &place {
                            Place::Workspace(root) => self.place_note(Some(root), &reported, connection),
                            Place::AsAsked if is_own => self.place_note(None, &reported, connection),
                            _ => None,
                        });
                        let text = output::map_warnings(&output::strip_style(&answer.text), &output::for_agent);
                        Content::Text(about.unwrap_or_default() + &note + &understood_note + &text)
                    }
                };
                Reply { content, is_error: false, found: answer.code == 0, repositories: Vec::new() }
            }
            Ok(Err(error)) => {
                let error = self.with_project_context(error, workspace.as_deref());
                // Unreadable data may be cached as missing.
                if error.corruption().is_some() {
                    desk.clear();
                }
                error_reply(form, &error)
            }
            Err(_) => {
                desk.clear();
                let visit = self.workspaces.acquire(self, workspace.as_deref(), UnknownWorkspace::Workspace).ok();
                let error = panics::panic_error(tool.name, visit.as_ref().map(|visit| &visit.workspace.session.dir));
                error_reply(form, &self.with_project_context(error, workspace.as_deref()))
            }
        };
        self.log(2, || format!("{} in {:.1} ms", tool.name, began.elapsed().as_secs_f64() * 1000.0));
        Reply { repositories: host.into_opened(), ..reply }
    }

    /// Adds the metadata of the project to an error, also if it occurred before the project was opened.
    fn with_project_context(&self, error: AppError, workspace: Option<&str>) -> AppError {
        let is_explained = error.details.metadata.is_some();
        let visit = self.workspaces.acquire(self, workspace, UnknownWorkspace::Workspace);
        if let (Some(damage), Ok(visit)) = (error.corruption(), &visit) {
            visit.workspace.session.dir.note_corruption(damage);
        }
        match visit {
            Ok(visit) if !is_explained && !visit.is_new => visit.workspace.session.with_project_context(error, None),
            _ => error,
        }
    }

    /// Runs a task on a worker thread.
    pub(crate) fn run_on_worker(&self, task: impl FnOnce(&mut SnapshotCache) + Send + 'static) {
        let run = |cache: &mut SnapshotCache| {
            task(cache);
            nothing_to_deliver()
        };
        let submitted = self.workers.submit(Client::Server, "", TaskLength::Long, &Arc::default(), run);
        debug_assert!(submitted.is_ok(), "the queue is not bounded for the server itself");
    }

    /// Makes all threads evict snapshots of older generations of a project than the one just published, so that its log
    /// can be reset and its garbage collected. A busy thread does so when it is done, and is not waited for.
    pub(crate) fn evict_outdated(&self, project: &Path) {
        const EVICT_TIMEOUT: Duration = Duration::from_millis(200);
        self.workers.broadcast(&CacheCommand::EvictOutdated(project.to_owned()), EVICT_TIMEOUT);
    }

    /// Makes all threads evict a closed project.
    fn evict_project(&self, project: &Path) {
        self.workers.broadcast(&CacheCommand::EvictProject(project.to_owned()), Duration::ZERO);
    }

    /// Logs a line to standard error at this verbosity.
    pub fn log(&self, level: u8, line: impl FnOnce() -> String) {
        let log_file = self.base.log_file.as_deref();
        if self.base.verbose < level && log_file.is_none() {
            return;
        }
        let line = line();
        log::append(log_file, &line);
        if self.base.verbose >= level {
            print_stderr(&codecompass_workspace::escape::escape_control(&line));
        }
    }

    /// Changes the workspace because its only client moved to another folder.
    pub(crate) fn move_to(self: &Arc<Self>, folder: PathBuf) {
        *self.has_started.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.adopt_workspace(folder);
    }

    /// Stops all work and waits for it, up to the given time.
    pub fn stop(&self, patience: Duration) {
        if !self.jobs.is_empty() {
            self.jobs.stop(patience);
        }
    }

    /// Opens the workspace at a path, or the server's own. Nothing is registered.
    fn open_session(&self, path: Option<&Path>) -> Result<Session, AppError> {
        let session = Session::open_with(&self.access, &self.data, &self.base, path.or(self.own_path().as_deref()))?;
        if path.is_none() {
            self.keep_to_first_root(&session.workspace.root)?;
        }
        Ok(session)
    }

    /// The path of the server's own workspace. If the folder is gone, it may have been moved with the folder that the
    /// server was started in.
    fn own_path(&self) -> Option<PathBuf> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        if own.is_dir() || self.base.workspace.is_some() {
            return Some(own);
        }
        Some(self.start_folder.as_ref().and_then(FolderHandle::current_path).unwrap_or(own))
    }

    /// The folder of this workspace that the client works in, if it is not the root.
    pub(crate) fn client_folder(&self, root: &Path) -> Option<PathBuf> {
        let folder = real_path(&self.own_path()?).ok()?;
        (folder != root && folder.starts_with(root)).then_some(folder)
    }

    /// A line for the first text answer of a connection whose client works in a subfolder. Answers name paths from the
    /// root, and an agent would otherwise take them for paths from its own folder.
    fn folder_note(&self, connection: &codecompass_tools::call::host::Connection) -> Option<String> {
        let visit = self.workspaces.last_acquired(None)?;
        let root = &visit.workspace.session.workspace.root;
        let folder = self.client_folder(root)?;
        if connection.has_folder_note.swap(true, Ordering::Relaxed) {
            return None;
        }
        let inside = folder.strip_prefix(root).ok()?;
        let note =
            format!("Paths are relative to {}, not to {}/, where this client works.", root.display(), inside.display());
        Some(escape_control(&note).into_owned() + "\n")
    }

    /// The root of the server's own workspace, found without opening anything.
    fn own_root(&self) -> Option<PathBuf> {
        let (found, _) = session::locate(&self.data, &self.own_path()?).ok()?;
        Some(found.root)
    }

    /// Refuses a root outside the first root of the server's own workspace, with `--own-workspace-only`.
    fn keep_to_first_root(&self, root: &Path) -> Result<(), AppError> {
        if !self.options.own_workspace_only || root.starts_with(self.first_root.get_or_init(|| root.to_owned())) {
            return Ok(());
        }
        let message = "This server answers for its own workspace only, and that workspace has moved.";
        Err(AppError::new(Code::WorkspaceNotAllowed, message).hint("Restart the server."))
    }

    fn allowed_roots(&self) -> &[PathBuf] {
        &self.options.allowed_roots
    }
}

/// Runs a call so that the text of its answer stays within a limit.
fn run_within<'a>(
    limit: Option<AnswerLimit>,
    call: &mut Call<'a>,
    tool: &ToolSpec,
    host: &'a dyn Host,
) -> Result<Answer, AppError> {
    let Some(limit) = limit else { return call.run_served(tool, host) };
    let mut bytes = limit.first_bytes();
    for _ in 1..answer_limit::MAX_ATTEMPTS {
        call.max_bytes = Some(bytes);
        let answer = call.run_served(tool, host)?;
        match limit.next_bytes(bytes, &output::strip_style(&answer.text)) {
            None => return Ok(answer),
            Some(next) => bytes = next,
        }
    }
    call.max_bytes = Some(bytes);
    let answer = call.run_served(tool, host)?;
    Ok(Answer { text: limit.cut(output::strip_style(&answer.text)), ..answer })
}

fn error_reply(form: OutputFormat, error: &AppError) -> Reply {
    let content = match form {
        OutputFormat::Json => Content::Json(output::error_json(error)),
        OutputFormat::Text(_) => Content::Text(output::error_text(error)),
    };
    Reply { content, is_error: true, found: false, repositories: Vec::new() }
}
