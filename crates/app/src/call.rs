//! A call of a tool, whoever makes it: a client of the server, or the command line.
//!
//! A tool asks the call for what it needs (its arguments, the workspace, the published view, two states to compare) and
//! never learns which of the two it is answering. A server keeps stores open and has others sync; a command does
//! everything at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use codecompass_index::Target;
use codecompass_query::graph::Memory;
use codecompass_store::{JobMode, Snapshot};

use crate::cli::Common;
use crate::config::{Config, FreshnessPolicy};
use crate::error::AppError;
use crate::metadata::{Freshness, Metadata};
use crate::output::{Answer, Form, Printer, Reader};
use crate::paths::Paths;
use crate::patience::Patience;
use crate::server::jobs::{self, Follower};
use crate::server::places::{Unknown, Visit};
use crate::server::upkeep::Care;
use crate::server::{Connection, Server};
use crate::session::{Request, Session};
use crate::tools::bounds::Long;
use crate::tools::frame::{Arguments, Tool};
use crate::tools::input;
use crate::tools::versus::Look;
use crate::views::{Access, At, AtOnce, Desk, Published, Upkeep};

/// So long a job may take to begin: a folder has to be registered before anything can be said about it.
pub(crate) const REGISTERED: Duration = Duration::from_secs(5);

/// So long an answer of the server may take that resolves calls.
pub(crate) const SERVED: Duration = Duration::from_millis(350);

/// So long a command may take: somebody waits for it, but wants all of it.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// See the module.
pub(crate) struct Call<'a> {
    pub(crate) arguments: Arguments,
    /// How the answer is laid out.
    pub(crate) form: Form,
    pub(crate) host: Host<'a>,
    pub(crate) desk: &'a mut Desk,
    /// Set when nobody wants the answer any more.
    pub(crate) gone: Arc<AtomicBool>,
    /// Where a command prints what it finds, as it finds it.
    pub(crate) printer: Option<&'a Printer>,
}

/// Who makes it.
pub(crate) enum Host<'a> {
    Server(Served<'a>),
    Command(&'a Common),
}

/// A client of the server.
#[derive(Clone, Copy)]
pub(crate) struct Served<'a> {
    pub(crate) server: &'a Arc<Server>,
    pub(crate) connection: Option<&'a Connection>,
    pub(crate) follower: Option<&'a dyn Follower>,
    /// See [`Asked`](crate::server::Asked).
    pub(crate) by_page: bool,
    pub(crate) time: Option<Duration>,
}

/// A workspace that a call is about.
pub(crate) enum Held {
    Visited(Visit),
    Opened(Box<Session>),
}

impl Held {
    /// What a client's call is about; a tool that has no command holds nothing else.
    pub(crate) fn visit(&self) -> Result<&Visit, AppError> {
        match self {
            Held::Visited(visit) => Ok(visit),
            Held::Opened(_) => Err(AppError::internal("This tool needs a server.")),
        }
    }
}

impl std::ops::Deref for Held {
    type Target = Session;

    fn deref(&self) -> &Session {
        match self {
            Held::Visited(visit) => &visit.place.session,
            Held::Opened(session) => session,
        }
    }
}

/// What a question about one view is answered from.
pub(crate) struct Inquiry<'s> {
    pub(crate) paths: Paths<'s>,
    /// With the bounds that hold for this call.
    pub(crate) config: Config,
    pub(crate) published: Published,
    pub(crate) form: Form,
    /// So long it may take.
    pub(crate) patience: Patience,
    /// For somebody at a command line, where to print what is found.
    pub(crate) printer: Option<&'s Printer>,
}

impl Inquiry<'_> {
    /// What is published, if anything is.
    pub(crate) fn snapshot(&self) -> Option<&Snapshot> {
        self.published.snapshot.as_deref()
    }

    /// The same with what was resolved in it so far; an error that says what to do when there is none.
    pub(crate) fn memory(&self) -> Result<&Memory, AppError> {
        let missing = || AppError::index_not_ready().about(self.published.metadata.clone());
        self.published.memory.as_deref().ok_or_else(missing)
    }

    /// What the answer says about itself, and what was changed of the question.
    pub(crate) fn metadata(&self, warnings: &[String]) -> Metadata {
        let mut metadata = self.published.metadata.clone();
        metadata.warnings.extend(warnings.iter().cloned());
        metadata
    }

    /// How many bytes the answer may have.
    pub(crate) fn room(&self) -> usize {
        self.form.room(&self.config)
    }

    /// An error with what is known of the view.
    pub(crate) fn explained(&self, error: AppError) -> AppError {
        if error.more.metadata.is_some() { error } else { error.about(self.published.metadata.clone()) }
    }
}

impl<'a> Call<'a> {
    /// Asks a tool. An error does not repeat long arguments.
    pub(crate) fn run(&mut self, tool: &Tool) -> Result<Answer, AppError> {
        let long = Long::of(&self.arguments);
        (tool.call)(self).map_err(|error| long.shortened(error))
    }

    /// The client of the server that calls; a tool that has no command is called by nobody else.
    pub(crate) fn served(&self) -> Result<Served<'a>, AppError> {
        match &self.host {
            Host::Server(served) => Ok(*served),
            Host::Command(_) => Err(AppError::internal("This tool needs a server.")),
        }
    }

    /// Whether the command line calls.
    pub(crate) fn is_command(&self) -> bool {
        matches!(self.host, Host::Command(_))
    }

    /// So long the answer may take.
    pub(crate) fn patience(&self) -> Patience {
        let time = match &self.host {
            Host::Command(_) => PATIENCE,
            Host::Server(served) => served.time.unwrap_or(SERVED),
        };
        Patience::new(time, &self.gone)
    }

    /// The workspace that the call is about.
    pub(crate) fn session(&mut self, unknown: Unknown) -> Result<Held, AppError> {
        match &self.host {
            Host::Server(_) => self.visit(unknown).map(Held::Visited),
            Host::Command(common) => {
                let path = self.arguments.given("path_of_workspace").map(std::path::PathBuf::from);
                Ok(Held::Opened(Box::new(Session::open(common, path.as_deref())?)))
            }
        }
    }

    /// The workspace that a client's call is about.
    fn visit(&mut self, unknown: Unknown) -> Result<Visit, AppError> {
        let server = self.served()?.server;
        let asked = self.arguments.text("workspace");
        let visit = server.places.visit(server, asked.as_deref(), unknown)?;
        if visit.is_new {
            let care = Care { server, place: &visit.place };
            let target = visit.place.session.target(None)?;
            let job = care.sync(&target, JobMode::Full, Request::default())?;
            job.wait_for_turn(REGISTERED);
        } else if asked.is_none() {
            server.index_own(&visit)?;
        }
        Ok(visit)
    }

    /// The ref that the call is about: the one it names, or the one its connection has switched to.
    pub(crate) fn ref_name(&self, session: &Session) -> Option<String> {
        let named = self.arguments.given("ref");
        let connection = match &self.host {
            Host::Server(served) => served.connection,
            Host::Command(_) => None,
        };
        named.or_else(|| connection?.ref_of(&session.workspace.root))
    }

    /// The view that the call is about.
    pub(crate) fn target(&self, session: &Session) -> Result<Target, AppError> {
        let ref_name = self.ref_name(session);
        session.target(ref_name.as_deref()).map_err(|error| session.explain(error, ref_name.as_deref()))
    }

    /// Where paths begin.
    fn paths<'s>(&self, session: &'s Session) -> Paths<'s> {
        if self.is_command() { Paths::from_here(session) } else { Paths::from_root(session) }
    }

    /// The configuration, with what this call may hold.
    fn config(&self, session: &Session) -> Config {
        let mut config = session.config.clone();
        if self.arguments.is_given("all") {
            config.max_response_bytes = usize::MAX;
        }
        config
    }

    /// Answers a question about one view: finds what is published and lets `answer` do the rest.
    pub(crate) fn inquire(
        &mut self,
        answer: impl FnOnce(&Inquiry<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let held = self.session(Unknown::Workspace)?;
        let published = self.published(&held)?;
        let inquiry = Inquiry {
            paths: self.paths(&held),
            config: self.config(&held),
            published,
            form: self.form,
            patience: self.patience(),
            printer: self.printer.filter(|_| self.form == Form::Text(Reader::Person)),
        };
        answer(&inquiry)
    }

    /// What a question of this call is answered from.
    fn published(&mut self, held: &Held) -> Result<Published, AppError> {
        let policy = self.policy()?;
        let ref_name = self.ref_name(held);
        let access = Access {
            ref_name: ref_name.as_deref(),
            policy,
            no_sync: self.arguments.is_given("no_sync"),
            index: self.arguments.is_given("index"),
            brings_names: self.brings_names(held),
            ..Access::default()
        };
        match (held, &self.host) {
            (Held::Visited(visit), Host::Server(served)) => {
                let care = Care { server: served.server, place: &visit.place };
                let mut published = Published::find(held, access, &care, self.desk)?;
                if visit.is_new {
                    let note = "this workspace was registered by this call and is being indexed; ask again in a moment";
                    published.metadata.warnings.push(note.into());
                }
                Ok(published)
            }
            _ => Published::find(held, access, &AtOnce, self.desk),
        }
    }

    fn policy(&self) -> Result<Option<FreshnessPolicy>, AppError> {
        input::policy(self.arguments.given("freshness_policy").as_deref())
    }

    /// Whether a branch or tag that was never indexed is brought in when somebody asks for it.
    fn brings_names(&self, session: &Session) -> bool {
        let by_page = matches!(self.host, Host::Server(Served { by_page: true, .. }));
        let is_wanted = self.form != Form::Json || self.is_command() || by_page;
        let wanted = session.config.auto_refs.unwrap_or(is_wanted);
        wanted && !self.arguments.is_given("no_sync")
    }

    /// Answers a question about two refs.
    pub(crate) fn compare(
        &mut self,
        unknown: Unknown,
        answer: impl FnOnce(&mut Look<'_>, &Paths<'_>) -> Result<Answer, AppError>,
    ) -> Result<Answer, AppError> {
        let held = self.session(unknown)?;
        let head = self.ref_name(&held);
        let care = match (&held, &self.host) {
            (Held::Visited(visit), Host::Server(served)) => Some(Care { server: served.server, place: &visit.place }),
            _ => None,
        };
        let upkeep: &dyn Upkeep = care.as_ref().map_or(&AtOnce, |care| care);
        // Comparing by name is what the commands are for, whatever the configuration says about other questions.
        let brings_names = self.is_command() || self.brings_names(&held);
        let config = self.config(&held);
        let (form, paths) = (self.form, self.paths(&held));
        let mut look = Look { session: &held, upkeep, desk: self.desk, brings_names, head, config, form };
        answer(&mut look, &paths).map_err(|error| look.explained(error))
    }

    /// How fresh a view is, for tools that only report.
    pub(crate) fn freshness(&mut self, held: &Held, target: &Target) -> Freshness {
        match (held, &self.host) {
            (Held::Visited(visit), Host::Server(served)) => {
                let care = Care { server: served.server, place: &visit.place };
                care.attend();
                match served.server.jobs.of_view(&held.project_id, target) {
                    Some(_) => Freshness::Syncing,
                    None => self.compared(held, target, &Care { server: served.server, place: &visit.place }),
                }
            }
            _ if held.active_job().is_some() => Freshness::Syncing,
            _ => self.compared(held, target, &AtOnce),
        }
    }

    fn compared(&mut self, session: &Session, target: &Target, upkeep: &dyn Upkeep) -> Freshness {
        let Ok(store) = self.desk.store(session) else { return Freshness::Stale };
        let Ok(Some(view)) = store.view(&target.key) else { return Freshness::Stale };
        match upkeep.compare(&At { session, target }, store, &view, false) {
            Ok(codecompass_index::Freshness::Fresh) => Freshness::Fresh,
            _ => Freshness::Stale,
        }
    }

    /// Who looks after the views of a workspace.
    pub(crate) fn care<'s>(&self, visit: &'s Visit) -> Result<Care<'s>, AppError>
    where
        'a: 's,
    {
        Ok(Care { server: self.served()?.server, place: &visit.place })
    }

    /// The job of this project that only the server knows of.
    pub(crate) fn own_job(&self, session: &Session) -> Option<Arc<jobs::Job>> {
        match &self.host {
            Host::Server(served) => served.server.jobs.of_project(&session.project_id),
            Host::Command(_) => None,
        }
    }
}
