//! A tool call, made by a client of the server or by the command line.
//!
//! A tool gets everything it needs from the call (arguments, workspace, published view, two states to compare) and does
//! not know which of the two makes it. A server keeps stores open and syncs in other threads; a command does everything
//! inline.

pub mod bounds;
pub mod forgiving;
pub mod host;
pub mod input;
pub mod ref_compare;
pub mod tool_spec;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use codecompass_encoder::{Settings, UserEncoder};
use codecompass_index::Target;
use codecompass_query::graph::ResolveCache;
use codecompass_store::Snapshot;
use serde_json::Value;

use codecompass_wire::ErrorData;
use codecompass_workspace::clock::now_ms;
use codecompass_workspace::config::{Config, FreshnessPolicy};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::jobs::{IndexWait, IndexingEstimate, Job, ProgressListener};
use codecompass_workspace::long_strings::Long;
use codecompass_workspace::metadata::{Completeness, Freshness, Metadata};
use codecompass_workspace::output::{Answer, OutputFormat, Printer, Reader};
use codecompass_workspace::paths::PathResolver;
use codecompass_workspace::session::{Session, SessionOptions};
use codecompass_workspace::time_limit::TimeLimit;
use codecompass_workspace::views::{Access, InlineRefresh, Published, Refresh, SnapshotCache, TargetView};
use host::{Connection, Host, HostedWorkspace, OfferedTools, UnknownWorkspace};
pub use ref_compare::RefComparer;
use tool_spec::{Arguments, ToolCall, ToolFn, ToolSpec};

/// The time limit for a job to start: a folder must be registered before anything can be reported about it.
pub const JOB_START_TIMEOUT: Duration = Duration::from_secs(5);

/// The time limit of server calls about one view. Only the first calls after a start come near it: what they read is
/// cached. A client waits much longer for an answer, and a second call for the rest costs its model more than a second.
pub const SERVER_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// The time limit of server calls that compare two views, and of scans of files for JSON answers: a scan for an
/// expression may need all of it, however often it is repeated.
const SERVER_SCAN_TIMEOUT: Duration = Duration::from_millis(350);

/// The time limit of a command: the user waits for it, but wants the complete answer.
pub(crate) const COMMAND_ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// What is known about the caller and its wishes. The transport creates it, and it stays the same up to the query.
pub struct CallContext {
    /// The format of the answer.
    pub form: OutputFormat,
    /// `None` for a stateless request and for a command.
    pub connection: Option<Arc<Connection>>,
    /// Receives the progress of jobs.
    pub listener: Option<Box<dyn ProgressListener + Send>>,
    /// Set when the answer is no longer wanted.
    pub cancel: Arc<AtomicBool>,
    /// A time limit instead of the default.
    pub time_limit: Option<Duration>,
    /// Whether an explorer page makes the call. If so, a ref that was never indexed is synced on demand, as for calls
    /// with text output.
    pub by_page: bool,
    /// When the call began to wait for an index; for several workspaces it waits once.
    pub wait_began: OnceLock<Instant>,
}

impl CallContext {
    /// A call without a connection, with the default limits.
    pub fn new(form: OutputFormat) -> Self {
        Self {
            form,
            connection: None,
            listener: None,
            cancel: Arc::default(),
            time_limit: None,
            by_page: false,
            wait_began: OnceLock::new(),
        }
    }
}

/// One call of a tool.
pub struct Call<'a> {
    pub arguments: Arguments,
    pub context: &'a CallContext,
    pub origin: CallOrigin<'a>,
    pub cache: &'a mut SnapshotCache,
    /// Where a command prints results as they are found.
    pub printer: Option<&'a Printer>,
    /// The maximum size of the answer in bytes, if the client has a lower limit than the configuration.
    pub max_bytes: Option<usize>,
}

/// The caller of a tool.
pub enum CallOrigin<'a> {
    Server(&'a dyn Host),
    Command(&'a SessionOptions),
}

/// The workspace of a call.
pub enum CallSession {
    Hosted(Box<dyn HostedWorkspace>),
    Opened(Box<Session>),
}

impl CallSession {
    /// The job of this project that only the server knows.
    pub(crate) fn server_job(&self) -> Option<Arc<Job>> {
        match self {
            CallSession::Hosted(place) => place.job_for_project(),
            CallSession::Opened(_) => None,
        }
    }

    /// Whether a job of this process syncs a view.
    pub(crate) fn is_syncing(&self, target: &Target) -> bool {
        matches!(self, CallSession::Hosted(place) if place.job_for_view(target).is_some())
    }
}

impl std::ops::Deref for CallSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            CallSession::Hosted(place) => place.session(),
            CallSession::Opened(session) => session,
        }
    }
}

/// The context in which a query about one view is answered.
pub struct QueryContext<'s> {
    pub paths: PathResolver<'s>,
    /// The configuration, with the limits of this call applied.
    pub config: Config,
    pub published: Published,
    pub form: OutputFormat,
    /// The time limit of the answer.
    pub time_limit: TimeLimit,
    /// The time limit of a scan of files for it.
    pub scan_time_limit: TimeLimit,
    /// Where a command prints results as they are found.
    pub printer: Option<&'s Printer>,
    /// The tools that the caller has.
    pub offered: OfferedTools,
    /// The data folder.
    pub data: PathBuf,
}

impl QueryContext<'_> {
    /// The published snapshot, if there is one.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.published.snapshot.as_deref()
    }

    /// The snapshot with its resolve cache; without one, an error that says what to do.
    pub fn resolve_cache(&self) -> Result<&ResolveCache, AppError> {
        let missing = || AppError::index_not_ready().with_metadata(self.published.metadata.clone());
        self.published.resolve_cache.as_deref().ok_or_else(missing)
    }

    /// The encoder of the user, if one is configured. A problem with the settings is a warning.
    pub fn encoder(&self, metadata: &mut Metadata) -> Option<Arc<UserEncoder>> {
        let settings = encoder_settings(&self.config)?;
        let opened = codecompass_encoder::shared(&settings, &self.data);
        opened.map_err(|problem| metadata.warnings.push(problem)).ok()
    }

    /// The metadata of the answer, with warnings about changed arguments.
    pub fn metadata(&self, warnings: &[String]) -> Metadata {
        let mut metadata = self.published.metadata.clone();
        metadata.warnings.extend(warnings.iter().cloned());
        metadata
    }

    /// The maximum size of the answer in bytes.
    pub fn max_bytes(&self) -> usize {
        self.form.max_bytes(&self.config)
    }

    /// Adds the metadata of the view to an error.
    pub fn with_view_context(&self, error: AppError) -> AppError {
        if error.details.metadata.is_some() { error } else { error.with_metadata(self.published.metadata.clone()) }
    }
}

/// What the configuration says about an encoder.
pub fn encoder_settings(config: &Config) -> Option<Settings> {
    (!config.embeddings_url.is_empty()).then(|| Settings {
        url: config.embeddings_url.clone(),
        model: config.embeddings_model.clone(),
        allow_remote: config.embeddings_remote,
    })
}

impl<'a> Call<'a> {
    /// Runs a tool for a command.
    pub fn run(&mut self, tool: ToolFn) -> Result<Answer, AppError> {
        let long = Long::from_values(self.arguments.values());
        tool(self).map_err(|error| error.shorten(long))
    }

    /// The tools that the caller has.
    fn offered(&self) -> OfferedTools {
        match &self.origin {
            CallOrigin::Server(host) => OfferedTools(Some(host.offered_tools())),
            CallOrigin::Command(_) => OfferedTools::default(),
        }
    }

    /// Runs a tool on a server.
    pub fn run_served(&mut self, tool: &ToolSpec, host: &'a dyn Host) -> Result<Answer, AppError> {
        let long = Long::from_values(self.arguments.values());
        let answer = match tool.call {
            ToolCall::Anywhere(call) => call(self),
            ToolCall::OnServer(call) => call(self, host),
        };
        match answer {
            // The call waited as long as it may: an agent needs to know when to ask again, not what went wrong.
            Err(error) if self.is_agent() && is_about_missing_index(&error) => match self.indexing_estimate(host) {
                Some(estimate) => Ok(Answer { text: estimate.text(), json: Value::Null, code: error.exit_code() }),
                None => Err(error.shorten(long)),
            },
            answer => answer.map_err(|error| error.shorten(long)),
        }
    }

    /// Whether a model reads the answer.
    fn is_agent(&self) -> bool {
        self.context.form == OutputFormat::Text(Reader::Agent)
    }

    /// How far the job of the project is, if there is one.
    fn indexing_estimate(&self, host: &dyn Host) -> Option<IndexingEstimate> {
        let place = self.hosted(host, UnknownWorkspace::Workspace).ok()?;
        let own = place.job_for_project().map(|job| job.estimate());
        own.or_else(|| place.session().active_job().map(|job| estimate_of_other_process(&job)))
    }

    /// How long the call waits for an index or a sync that it needs. JSON answers follow the contracts, which do not
    /// wait, and a command does the work itself.
    fn index_wait(&self, session: &Session) -> Option<IndexWait<'a>> {
        let context = self.context;
        let time = Duration::from_secs(session.config.wait_seconds);
        let listener = context.listener.as_deref().map(|listener| listener as &dyn ProgressListener);
        let is_waiting = self.is_agent() && !self.is_command() && !time.is_zero();
        is_waiting.then(|| IndexWait::new(time, &context.wait_began, listener, &context.cancel))
    }

    /// Whether a server's developers want details.
    pub fn is_debugging(&self) -> bool {
        matches!(&self.origin, CallOrigin::Server(host) if host.is_debugging())
    }

    /// Whether the command line makes the call.
    pub(crate) fn is_command(&self) -> bool {
        matches!(self.origin, CallOrigin::Command(_))
    }

    /// The time limit of an answer about two views.
    pub fn time_limit(&self) -> TimeLimit {
        self.time_limit_on_server(SERVER_SCAN_TIMEOUT)
    }

    fn time_limit_on_server(&self, on_server: Duration) -> TimeLimit {
        let default = if self.is_command() { COMMAND_ANSWER_TIMEOUT } else { on_server };
        TimeLimit::new(self.context.time_limit.unwrap_or(default), &self.context.cancel).with_max_steps(max_steps())
    }

    /// The workspace of the call.
    pub fn session(&mut self, unknown: UnknownWorkspace) -> Result<CallSession, AppError> {
        match &self.origin {
            CallOrigin::Server(host) => self.hosted(*host, unknown).map(CallSession::Hosted),
            CallOrigin::Command(options) => {
                let path = self.arguments.text_if_known("path_of_workspace").map(std::path::PathBuf::from);
                Ok(CallSession::Opened(Box::new(Session::open(options, path.as_deref())?)))
            }
        }
    }

    /// The workspace of a call on a server.
    pub(crate) fn hosted(
        &self,
        host: &dyn Host,
        unknown: UnknownWorkspace,
    ) -> Result<Box<dyn HostedWorkspace>, AppError> {
        host.open(self.arguments.text("workspace").as_deref(), unknown)
    }

    /// The ref of the call: the named one, or the one that its connection switched to.
    pub fn ref_name(&self, session: &Session) -> Option<String> {
        let named = self.arguments.text_if_known("ref");
        named.or_else(|| self.context.connection.as_ref()?.switched_ref(&session.workspace.root))
    }

    /// The view of the call.
    pub fn target(&self, session: &Session) -> Result<Target, AppError> {
        let ref_name = self.ref_name(session);
        session.target(ref_name.as_deref()).map_err(|error| session.with_project_context(error, ref_name.as_deref()))
    }

    /// The folders that relative paths start at. In JSON answers that is the root, as the contracts say.
    fn paths<'s>(&self, session: &'s Session) -> PathResolver<'s> {
        let host = match &self.origin {
            CallOrigin::Command(_) => return PathResolver::from_working_folder(session).forgiving(true),
            CallOrigin::Server(host) => host,
        };
        let is_agent = self.is_agent();
        let folder = is_agent.then(|| host.client_folder(&session.workspace.root)).flatten();
        let paths = match folder {
            Some(folder) => PathResolver::from_client_folder(session, &folder),
            None => PathResolver::from_root(session),
        };
        paths.forgiving(is_agent)
    }

    /// The configuration, with the limits of this call applied.
    fn config(&self, session: &Session) -> Config {
        let mut config = session.config.clone();
        if self.arguments.is_given("all") {
            config.max_response_bytes = usize::MAX;
        }
        config.max_response_bytes = config.max_response_bytes.min(self.max_bytes.unwrap_or(usize::MAX));
        config
    }

    /// Answers a query about one view: finds the published snapshot and passes it to `answer`.
    pub fn answer_query(
        &mut self,
        answer: impl FnOnce(&QueryContext<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        self.answer_view(false, answer)
    }

    /// The same from the published state as it is, whatever changed since: for answers while a user types. A command
    /// syncs first, unless an option forbids it.
    pub fn answer_as_published(
        &mut self,
        answer: impl FnOnce(&QueryContext<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let is_unchecked = !self.is_command() || self.arguments.is_given("no_sync");
        if is_unchecked && self.is_command() {
            self.cache.expect_no_text();
        }
        self.answer_view(is_unchecked, answer)
    }

    fn answer_view(
        &mut self,
        is_unchecked: bool,
        answer: impl FnOnce(&QueryContext<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let held = self.session(UnknownWorkspace::Workspace)?;
        let wait = self.index_wait(&held);
        let mut published = self.published(&held, wait.as_ref(), is_unchecked)?;
        let is_missing = published.snapshot.is_none();
        if is_missing && (self.is_command() || self.context.form != OutputFormat::Json) {
            published.metadata.completeness = Completeness::Partial;
            if self.context.form != OutputFormat::Json {
                return Err(AppError::index_not_ready().with_metadata(published.metadata));
            }
        }
        if let Some(printer) = self.printer {
            printer.link_paths_to(&held.workspace.root);
        }
        let is_behind = published.metadata.freshness != Freshness::Fresh && wait.is_some_and(|wait| wait.is_over());
        let inquiry = QueryContext {
            paths: self.paths(&held),
            config: self.config(&held),
            published,
            form: self.context.form,
            time_limit: self.time_limit_on_server(SERVER_ANSWER_TIMEOUT),
            scan_time_limit: match self.context.form {
                OutputFormat::Json => self.time_limit_on_server(SERVER_SCAN_TIMEOUT),
                OutputFormat::Text(_) => self.time_limit_on_server(SERVER_ANSWER_TIMEOUT),
            },
            printer: self.printer.filter(|_| self.context.form == OutputFormat::Text(Reader::Person)),
            offered: self.offered(),
            data: held.data_folder().to_owned(),
        };
        let mut answer = answer(&inquiry)?;
        if is_missing && self.is_command() {
            answer.code = Code::IndexNotReady.exit_code();
        }
        if let (true, Some(job)) = (is_behind, held.server_job()) {
            answer.text.insert_str(0, &job.estimate().text());
        }
        Ok(answer)
    }

    /// The published view that a query of this call is answered from.
    fn published(
        &mut self,
        held: &CallSession,
        wait: Option<&IndexWait<'_>>,
        is_unchecked: bool,
    ) -> Result<Published, AppError> {
        let policy = self.policy()?;
        let ref_name = self.ref_name(held);
        let access = Access {
            ref_name: ref_name.as_deref(),
            policy,
            no_sync: self.arguments.is_given("no_sync"),
            is_unchecked,
            index: self.arguments.is_given("index"),
            syncs_missing_refs: self.syncs_missing_refs(held),
            ..Access::default()
        };
        let CallSession::Hosted(place) = held else {
            return Published::find(held, access, &InlineRefresh, self.cache);
        };
        let mut published = Published::find(held, access, &*place.refresh(wait), self.cache)?;
        if place.is_new() && self.context.form == OutputFormat::Json {
            let note = "this workspace was registered by this call and is being indexed; retry in a moment";
            published.metadata.warnings.push(note.into());
        }
        Ok(published)
    }

    fn policy(&self) -> Result<Option<FreshnessPolicy>, AppError> {
        input::policy(self.arguments.text_if_known("freshness_policy").as_deref())
    }

    /// Whether a branch or tag that was never indexed is synced when it is requested.
    fn syncs_missing_refs(&self, session: &Session) -> bool {
        let is_wanted = self.context.form != OutputFormat::Json || self.is_command() || self.context.by_page;
        let wanted = session.config.auto_refs.unwrap_or(is_wanted);
        wanted && !self.arguments.is_given("no_sync")
    }

    /// Answers a query about two refs.
    pub fn compare(
        &mut self,
        unknown: UnknownWorkspace,
        answer: impl FnOnce(&mut RefComparer<'_>, &PathResolver<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let held = self.session(unknown)?;
        let head = self.ref_name(&held);
        let wait = self.index_wait(&held);
        let hosted = match &held {
            CallSession::Hosted(place) => Some(place.refresh(wait.as_ref())),
            CallSession::Opened(_) => None,
        };
        let refresh = hosted.as_deref().unwrap_or(&InlineRefresh);
        // Commands compare refs by name, whatever the configuration says about other queries.
        let brings_names = self.is_command() || self.syncs_missing_refs(&held);
        let config = self.config(&held);
        let (form, paths) = (self.context.form, self.paths(&held));
        let mut look = RefComparer {
            session: &held,
            refresh,
            cache: self.cache,
            syncs_missing_refs: brings_names,
            head,
            config,
            form,
        };
        answer(&mut look, &paths).map_err(|error| look.with_project_context(error))
    }

    /// The freshness of a view, for tools that only report it.
    pub fn freshness(&mut self, held: &CallSession, target: &Target) -> Freshness {
        match held {
            CallSession::Hosted(place) => self.hosted_freshness(&**place, target),
            CallSession::Opened(session) if session.active_job().is_some() => Freshness::Syncing,
            CallSession::Opened(session) => self.compare_with_source(session, target, &InlineRefresh),
        }
    }

    /// The same for a workspace of a server.
    pub(crate) fn hosted_freshness(&mut self, place: &dyn HostedWorkspace, target: &Target) -> Freshness {
        let refresh = place.refresh(None);
        refresh.ensure_watched();
        match place.job_for_view(target) {
            Some(_) => Freshness::Syncing,
            None => self.compare_with_source(place.session(), target, &*refresh),
        }
    }

    fn compare_with_source(&mut self, session: &Session, target: &Target, upkeep: &dyn Refresh) -> Freshness {
        let Ok(store) = self.cache.store(session) else { return Freshness::Stale };
        let Ok(Some(view)) = store.view(&target.key) else { return Freshness::Stale };
        match upkeep.compare(&TargetView { session, target }, store, &view, false) {
            Ok(codecompass_index::Freshness::Fresh) => Freshness::Fresh,
            _ => Freshness::Stale,
        }
    }
}

/// Whether an error says that the index is missing or behind, as it is while a job is running.
fn is_about_missing_index(error: &AppError) -> bool {
    match error.code {
        Code::IndexNotReady | Code::IndexStale | Code::ProjectNotFound | Code::IndexIncompatible => true,
        Code::RefNotIndexed => matches!(&error.details.data, ErrorData::Ref { job_id: Some(_), .. }),
        _ => false,
    }
}

/// How far a job of another process is, as far as it has written that down.
fn estimate_of_other_process(job: &codecompass_store::Job) -> IndexingEstimate {
    let elapsed = now_ms().saturating_sub(job.created_at).max(0);
    IndexingEstimate::new(
        job.progress.files_scanned,
        job.progress.files_total,
        Duration::from_millis(elapsed.unsigned_abs()),
    )
}

/// The number of steps after which a query ends as if its time were up. Only tests limit it.
fn max_steps() -> Option<u64> {
    let asked = || std::env::var("CODECOMPASS_ANSWER_STEPS").ok()?.parse().ok();
    cfg!(debug_assertions).then(asked).flatten()
}
