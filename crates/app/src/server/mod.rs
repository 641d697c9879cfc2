//! What answers calls, whatever they came in by: the tools, the workspaces they are about, and the work beside them.
//!
//! Nothing here knows a transport. A transport hands in a connection, a tool's name and its arguments, and gets JSON.

pub(crate) mod desk;
pub(crate) mod jobs;
pub(crate) mod places;
mod recent;
mod upkeep;
mod warm;
mod workers;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use codecompass_index::Target;
use codecompass_store::JobMode;
use serde_json::{Map, Value};

use crate::cli::{Common, ServeArgs};
use crate::error::{AppError, Code};
use crate::output::{self, Answer, complain};
use crate::published::{Access, Published};
use crate::session::{self, Request, Session};
use crate::tools::versus::Look;
use crate::tools::{self, frame::Arguments, frame::Tool};
use desk::Desk;
use jobs::{Follower, Jobs};
use places::{Places, Unknown, Visit};
use upkeep::Care;
pub(crate) use warm::{CAPACITY as WARM_WORKSPACES, Warmth};
use workers::Workers;

/// See the module.
pub(crate) struct Server {
    pub(crate) options: Options,
    pub(crate) data: PathBuf,
    pub(crate) started: Instant,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) places: Places,
    pub(crate) warmth: Warmth,
    common: Common,
    /// The path that it was started for, and whether the folder it was started in has gone.
    own: Option<PathBuf>,
    is_astray: AtomicBool,
    workers: Workers,
    /// Whether the server's own workspace was looked after.
    own_is_begun: Mutex<bool>,
}

/// So long a job may take to begin: a folder has to be registered before anything can be said about it.
const REGISTERED: Duration = Duration::from_secs(5);

/// How the server was started.
#[derive(Clone, Debug, Default)]
pub(crate) struct Options {
    pub(crate) auto_index: bool,
    pub(crate) auto_workspace: bool,
    pub(crate) allowed_roots: Vec<PathBuf>,
    pub(crate) no_prewarm: bool,
    pub(crate) no_watch: bool,
    pub(crate) debug: bool,
    /// The tools that are offered; all without a list.
    pub(crate) tools: Option<Vec<&'static str>>,
}

impl Options {
    /// Checks the command line.
    pub(crate) fn check(args: &ServeArgs) -> Result<Self, AppError> {
        if args.auto_workspace && args.allowed_root.is_empty() {
            return Err(AppError::new(Code::InvalidInput, "--auto-workspace needs at least one --allowed-root.")
                .hint("Name the folder under which clients may open repositories."));
        }
        let real = |path: &PathBuf| {
            path.canonicalize().map_err(|error| {
                AppError::new(Code::InvalidInput, format!("--allowed-root {}: {error}.", path.display()))
            })
        };
        let name_of = |word: &String| {
            let known = || tools::TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
            let found = tools::TOOLS.iter().find(|tool| tool.name == word.trim()).map(|tool| tool.name);
            found.ok_or_else(|| tools::input::unknown("tools", word, known()))
        };
        let tools: Vec<&'static str> = args.tools.iter().map(name_of).collect::<Result<_, _>>()?;
        Ok(Self {
            auto_index: args.auto_index,
            auto_workspace: args.auto_workspace,
            allowed_roots: args.allowed_root.iter().map(real).collect::<Result<_, _>>()?,
            no_prewarm: args.no_prewarm,
            no_watch: args.no_watch,
            debug: args.debug,
            tools: (!tools.is_empty()).then_some(tools),
        })
    }
}

/// One client's line to the server, and what it has said that later calls depend on.
#[derive(Default)]
pub(crate) struct Connection {
    refs: Mutex<HashMap<PathBuf, String>>,
}

impl Connection {
    /// The ref this connection has switched to in a workspace.
    pub(crate) fn ref_of(&self, root: &Path) -> Option<String> {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner).get(root).cloned()
    }

    /// Switches.
    pub(crate) fn switch(&self, root: &Path, ref_name: String) {
        self.refs.lock().unwrap_or_else(PoisonError::into_inner).insert(root.to_owned(), ref_name);
    }
}

/// A call as a transport hands it in.
pub(crate) struct Asked {
    pub(crate) tool: &'static Tool,
    pub(crate) arguments: Map<String, Value>,
    /// None for a request that stands for itself.
    pub(crate) connection: Option<Arc<Connection>>,
    /// Who wants to hear how far the work is.
    pub(crate) follower: Option<Box<dyn Follower + Send>>,
}

/// The JSON of an answer or of an error.
pub(crate) struct Reply {
    pub(crate) json: Value,
    pub(crate) is_error: bool,
}

/// Everything a tool needs to answer.
pub(crate) struct Call<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) arguments: Arguments,
    pub(crate) connection: Option<&'a Connection>,
    pub(crate) follower: Option<&'a dyn Follower>,
    desk: &'a mut Desk,
}

impl Server {
    /// A server that has not opened anything yet.
    pub(crate) fn start(common: &Common, options: Options) -> Result<Arc<Self>, AppError> {
        let no_threads = |error| AppError::new(Code::InternalError, format!("No threads can be started: {error}."));
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        let config = common.config.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        Ok(Arc::new(Self {
            options,
            data: session::data_folder()?,
            started: Instant::now(),
            jobs: Arc::default(),
            places: Places::default(),
            warmth: Warmth::default(),
            own: std::path::absolute(common.workspace.as_deref().unwrap_or(Path::new("."))).ok(),
            is_astray: AtomicBool::new(false),
            common: Common { config, ..common.clone() },
            workers: Workers::start(cores.max(4)).map_err(no_threads)?,
            own_is_begun: Mutex::default(),
        }))
    }

    /// Begins what runs beside the answers: indexing the server's own workspace if asked to, and warming.
    pub(crate) fn begin(self: &Arc<Self>) {
        let server = Arc::clone(self);
        self.beside(move |_| {
            let own = server.places.visit(&server, None, Unknown::Project);
            if let Err(error) = own.and_then(|visit| server.index_own(&visit))
                && server.options.auto_index
            {
                server.log(0, || format!("error: {}", error.message));
            }
        });
        self.prewarm();
    }

    /// Has the server's own workspace indexed, if that was asked for and never done, or done by an older version. What
    /// comes after may rely on its being registered.
    fn index_own(self: &Arc<Self>, visit: &Visit) -> Result<(), AppError> {
        let mut is_begun = self.own_is_begun.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.options.auto_index || *is_begun {
            return Ok(());
        }
        *is_begun = true;
        let session = &visit.place.session;
        let target = session.target(None)?;
        let is_readable = session.dir.is_registered() && !session.is_outdated();
        if is_readable && session.store()?.view(&target.key)?.is_some() {
            return Ok(());
        }
        let request = Request { upgrade: true, ..Request::default() };
        let job = Care { server: self, place: &visit.place }.sync(&target, JobMode::Full, request)?;
        job.wait_for_turn(REGISTERED);
        Ok(())
    }

    /// The tools that are offered.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        let is_offered = |tool: &&Tool| self.options.tools.as_ref().is_none_or(|names| names.contains(&tool.name));
        tools::TOOLS.iter().filter(is_offered)
    }

    /// Answers a call on a thread of its own and hands the reply to `done`.
    pub(crate) fn answer(self: &Arc<Self>, asked: Asked, done: impl FnOnce(Reply) + Send + 'static) {
        let server = Arc::clone(self);
        let about = asked.arguments.get("workspace").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.workers.submit(&about, move |desk| done(server.answer_now(asked, desk)));
    }

    /// Answers a call on this thread.
    fn answer_now(self: &Arc<Self>, asked: Asked, desk: &mut Desk) -> Reply {
        let began = Instant::now();
        let Asked { tool, arguments, connection, follower } = asked;
        let workspace = arguments.get("workspace").and_then(Value::as_str).map(str::to_owned);
        let result = catch_unwind(AssertUnwindSafe(|| {
            let arguments = Arguments::check(tool, arguments)?;
            let follower = follower.as_ref().map(|follower| &**follower as &dyn Follower);
            let mut call =
                Call { server: self, arguments, connection: connection.as_deref(), follower, desk: &mut *desk };
            (tool.call)(&mut call)
        }));
        let reply = match result {
            Ok(Ok(mut answer)) => {
                self.keep_offered(&mut answer.json);
                Reply { json: answer.json, is_error: false }
            }
            Ok(Err(error)) => {
                let error = self.explained(error, workspace.as_deref());
                Reply { json: output::error_json(&error), is_error: true }
            }
            Err(_) => {
                desk.clear();
                let error = AppError::new(Code::InternalError, format!("{} broke down.", tool.name))
                    .hint("The server's log on standard error has the details.");
                Reply { json: output::error_json(&error), is_error: true }
            }
        };
        self.log(2, || format!("{} in {:.1} ms", tool.name, began.elapsed().as_secs_f64() * 1000.0));
        reply
    }

    /// Nobody is told to call what is not offered.
    fn keep_offered(&self, answer: &mut Value) {
        let Some(names) = &self.options.tools else { return };
        if let Some(suggestions) = answer.get_mut("suggestions").and_then(Value::as_array_mut) {
            suggestions.retain(|suggestion| names.iter().any(|name| suggestion["tool"] == *name));
        }
    }

    /// An error with what is known of the project that was asked, also when it came before anybody looked.
    fn explained(&self, error: AppError, workspace: Option<&str>) -> AppError {
        let is_explained = error.more.metadata.is_some();
        match self.places.visit(self, workspace, Unknown::Workspace) {
            Ok(visit) if !is_explained && !visit.is_new => visit.place.session.explain(error, None),
            _ => error,
        }
    }

    /// Runs something on a thread that answers.
    pub(crate) fn beside(&self, task: impl FnOnce(&mut Desk) + Send + 'static) {
        self.workers.submit("", task);
    }

    /// A line on standard error for those who asked to hear more.
    pub(crate) fn log(&self, level: u8, line: impl FnOnce() -> String) {
        if self.common.verbose >= level {
            complain(&crate::escape::shown(&line()));
        }
    }

    /// Stops all work, but waits no longer than that for it.
    pub(crate) fn stop(&self, patience: Duration) {
        if !self.jobs.is_empty() {
            self.jobs.stop(patience);
        }
    }

    /// The workspace at a path; the server's own without one. Nothing is registered.
    fn open_session(&self, path: Option<&Path>) -> Result<Session, AppError> {
        // From a working folder that was removed nothing can be opened, not even what has an absolute path.
        if std::env::current_dir().is_err() && std::env::set_current_dir("/").is_ok() {
            self.is_astray.store(true, Ordering::Relaxed);
        }
        // Our own workspace is what lies at its path; where nothing does, it was moved, and the working folder with it.
        let is_own = |own: &&Path| own.is_dir() || self.is_astray.load(Ordering::Relaxed);
        let own = self.own.as_deref().filter(is_own);
        Session::open_in(&self.data, &self.common, path.or(own))
    }

    fn allowed_roots(&self) -> &[PathBuf] {
        &self.options.allowed_roots
    }
}

impl Call<'_> {
    /// The workspace that the call is about.
    pub(crate) fn visit(&mut self, unknown: Unknown) -> Result<Visit, AppError> {
        let asked = self.arguments.text("workspace");
        let visit = self.server.places.visit(self.server, asked.as_deref(), unknown)?;
        if visit.is_new {
            let care = Care { server: self.server, place: &visit.place };
            let target = visit.place.session.target(None)?;
            let job = care.sync(&target, JobMode::Full, Request::default())?;
            job.wait_for_turn(REGISTERED);
        } else if asked.is_none() {
            self.server.index_own(&visit)?;
        }
        Ok(visit)
    }

    /// The ref that the call is about: the one it names, or the one its connection has switched to.
    pub(crate) fn ref_name(&self, visit: &Visit) -> Option<String> {
        let named = self.arguments.has("ref").then(|| self.arguments.text("ref")).flatten();
        let switched = || self.connection?.ref_of(&visit.place.session.workspace.root);
        named.or_else(switched)
    }

    /// The view that the call is about.
    pub(crate) fn target(&self, visit: &Visit) -> Result<Target, AppError> {
        let session = &visit.place.session;
        let ref_name = self.ref_name(visit);
        session.target(ref_name.as_deref()).map_err(|error| session.explain(error, ref_name.as_deref()))
    }

    /// What a query of this call is answered from.
    pub(crate) fn published(&mut self, visit: &Visit) -> Result<Published, AppError> {
        let policy = match self.arguments.has("freshness_policy") {
            true => tools::input::policy(self.arguments.text("freshness_policy").as_deref())?,
            false => None,
        };
        let ref_name = self.ref_name(visit);
        let access = Access { ref_name: ref_name.as_deref(), policy, ..Access::default() };
        let care = Care { server: self.server, place: &visit.place };
        let mut published = Published::find(&visit.place.session, access, &care, self.desk)?;
        if visit.is_new {
            let note = "this workspace was registered by this call and is being indexed; ask again in a moment";
            published.metadata.warnings.push(note.into());
        }
        Ok(published)
    }

    /// Answers a query tool: finds what is published and lets `answer` do the rest.
    pub(crate) fn query(
        &mut self,
        answer: impl FnOnce(&Session, Published) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let visit = self.visit(Unknown::Workspace)?;
        let published = self.published(&visit)?;
        answer(&visit.place.session, published)
    }

    /// Answers a tool about two refs.
    pub(crate) fn compare(
        &mut self,
        unknown: Unknown,
        answer: impl FnOnce(&mut Look<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let visit = self.visit(unknown)?;
        let head = self.ref_name(&visit);
        let care = Care { server: self.server, place: &visit.place };
        let session = &visit.place.session;
        let mut look = Look { session, upkeep: &care, desk: self.desk, brings_names: false, head };
        answer(&mut look).map_err(|error| look.explained(error))
    }

    /// The upkeep of a place.
    pub(crate) fn care<'s>(&'s self, visit: &'s Visit) -> Care<'s> {
        Care { server: self.server, place: &visit.place }
    }

    /// How fresh a view is, for tools that only report.
    pub(crate) fn freshness(&mut self, visit: &Visit, target: &Target) -> &'static str {
        use crate::published::{At, Upkeep};
        let care = Care { server: self.server, place: &visit.place };
        let session = &visit.place.session;
        care.attend();
        if self.server.jobs.of_view(&session.project_id, target).is_some() {
            return "syncing";
        }
        let Ok(store) = self.desk.store(session) else { return "stale" };
        let Ok(Some(view)) = store.view(&target.key) else { return "stale" };
        match care.compare(&At { session, target }, store, &view, false) {
            Ok(codecompass_index::Freshness::Fresh) => "fresh",
            _ => "stale",
        }
    }
}
