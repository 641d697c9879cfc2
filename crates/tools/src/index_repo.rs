//! `index_repo` and `sync_repo`: start indexing a ref, and return at once.

use std::time::Duration;

use codecompass_index::Target;
use codecompass_store::{JobMode, JobStatus, ViewInfo};
use codecompass_wire::{ErrorData, index_repo, schema, sync_repo};

use super::index_status::{job_mode, job_status};
use super::tool_spec::{Effect, ParamKind, ToolCall, ToolSpec, WORKSPACE, optional};
use crate::call::host::{HostedWorkspace, UnknownWorkspace};
use crate::call::{Call, CallContext};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::jobs::Job;
use codecompass_workspace::metadata::{Completeness, Freshness, Indexing, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, Reader, Render};
use codecompass_workspace::session::{self, Session, SyncRequest};
use codecompass_workspace::views::published_for_target;

/// The time a job may take to start before it counts as queued.
const TURN_TIMEOUT: Duration = Duration::from_millis(200);

/// How long a request with a progress listener stays open: progress can be reported only during the request.
const PROGRESS_TIMEOUT: Duration = Duration::from_secs(1);

const REF_PARAM: super::tool_spec::Param =
    optional("ref", ParamKind::Text, "Branch, tag or commit. Default: the work tree");

pub(crate) const INDEX_REPO: ToolSpec = ToolSpec {
    name: "index_repo",
    title: "Index a repository",
    description: "Start indexing the work tree or a ref in the background; returns a job id at once. Needed once per \
                  ref, or with force after index_incompatible. index_status shows when it is published.",
    params: &[optional("force", ParamKind::Flag(false), "Extract everything again"), REF_PARAM, WORKSPACE],
    output: schema::<index_repo::Answer>,
    effect: Effect::Indexes,
    first: false,
    call: ToolCall::OnServer(|call, host| {
        let place = &*call.hosted(host, UnknownWorkspace::Project)?;
        let force = call.arguments.flag("force");
        let (target, mode) = plan(call, place, force, true)?;
        let session = place.session();
        if !place.is_new()
            && let Some(running) = running_job(place)
        {
            return Err(session::job_in_progress(&running.id, running.stored.as_ref())
                .hint("index_status shows its progress.")
                .advice("Retry when it has finished; `codecompass status` shows its progress."));
        }
        let request = SyncRequest { force, upgrade: true, ..SyncRequest::default() };
        let job = place.sync(&target, mode, request)?;
        let job = wait_for_start(call.context, &job)?;
        let files = view(session, &target).filter(|_| job.ended().is_some()).map(|view| view.totals.files as u64);
        Answer::render(call.context.form, 0, IndexAnswer(JobReport::new(session, job, files)))
    }),
};

pub(crate) const SYNC_REPO: ToolSpec = ToolSpec {
    name: "sync_repo",
    title: "Sync a repository",
    description: "Update the index with changed files, in the background; returns a job id at once. \
                  Queries do this themselves, depending on freshness_policy.",
    params: &[optional("force", ParamKind::Flag(false), "Extract everything again"), REF_PARAM, WORKSPACE],
    output: schema::<sync_repo::Answer>,
    effect: Effect::Indexes,
    first: false,
    call: ToolCall::OnServer(|call, host| {
        let place = &*call.hosted(host, UnknownWorkspace::Workspace)?;
        let force = call.arguments.flag("force");
        let (target, mode) = plan(call, place, force, false)?;
        let session = place.session();
        let ours = place.job_for_view(&target).map(|job| job.id.clone());
        let theirs = || session.active_job().filter(|job| job.view.as_ref() == Some(&target.key)).map(|job| job.id);
        if !place.is_new()
            && let Some(running) = ours.or_else(theirs)
        {
            let message = format!("{} is already being synced by job {running}.", target.ref_name);
            return Err(AppError::new(Code::SyncInProgress, message)
                .hint("index_status shows its progress.")
                .advice("Retry when it has finished; `codecompass status` shows its progress.")
                .data(ErrorData::job(running)));
        }
        let job = place.sync(&target, mode, SyncRequest { force, ..SyncRequest::default() })?;
        let job = wait_for_start(call.context, &job)?;
        let changed = job.ended().and_then(Result::ok).map(|outcome| outcome.changed_files);
        Answer::render(call.context.form, 0, SyncAnswer(JobReport::new(session, job, changed)))
    }),
};

/// The target view and the mode of the job. An unreadable index is replaced only on request, or when an older version
/// wrote it and the tool may upgrade it.
fn plan(
    call: &Call<'_>,
    place: &dyn HostedWorkspace,
    force: bool,
    upgrade: bool,
) -> Result<(Target, JobMode), AppError> {
    let session = place.session();
    let target = call.target(session)?;
    if !session.dir.is_registered() && !place.is_new() {
        return Err(AppError::not_registered(&session.root()));
    }
    let published = match session.store() {
        Err(error) if force && error.code == Code::IndexIncompatible => None,
        Err(_) if upgrade && session.is_outdated() => None,
        store => store.map_err(|error| session.with_project_context(error, None))?.view(&target.key)?,
    };
    let mode = if force || published.is_none() { JobMode::Full } else { JobMode::Incremental };
    Ok((target, mode))
}

/// The unfinished job of this project, in this or another process.
fn running_job(place: &dyn HostedWorkspace) -> Option<RunningJob> {
    let session = place.session();
    let ours = place.job_for_project().map(|job| job.id.clone());
    let stored = session.active_job();
    let id = ours.or_else(|| stored.as_ref().map(|job| job.id.clone()));
    let stored = stored.filter(|job| Some(&job.id) == id.as_ref());
    id.map(|id| RunningJob { id, stored })
}

/// An unfinished job.
struct RunningJob {
    id: String,
    /// Its stored record, if there is one.
    stored: Option<codecompass_store::Job>,
}

/// Waits for the job to start and reports progress to a listening client.
fn wait_for_start<'j>(context: &CallContext, job: &'j Job) -> Result<&'j Job, AppError> {
    job.wait_for_turn(TURN_TIMEOUT);
    if let Some(listener) = &context.listener {
        job.report_progress(&**listener, PROGRESS_TIMEOUT);
    }
    match job.ended() {
        Some(Err(failure)) => Err(AppError::new(failure.code, failure.message).data(ErrorData::job(&job.id))),
        _ => Ok(job),
    }
}

/// The published view; an unreadable one is about to be replaced.
fn view(session: &Session, target: &Target) -> Option<ViewInfo> {
    published_for_target(&session.store().ok()?, target).ok().flatten()
}

/// What both tools report about a job.
struct JobReport {
    id: String,
    ref_name: String,
    status: JobStatus,
    mode: JobMode,
    files: Option<u64>,
    metadata: Metadata,
}

impl JobReport {
    fn new(session: &Session, job: &Job, files: Option<u64>) -> Self {
        let view = view(session, &job.target);
        let mut metadata = session.metadata(&job.target, view.as_ref());
        let is_over = job.ended().is_some();
        metadata.freshness = if is_over { Freshness::Fresh } else { Freshness::Syncing };
        if view.is_none() {
            metadata.indexing = Indexing::Running;
            metadata.completeness = Completeness::Partial;
        }
        let (id, ref_name) = (job.id.clone(), job.target.ref_name.clone());
        Self { id, ref_name, status: job.status(), mode: job.mode, files, metadata }
    }

    fn text(&self) -> String {
        let files = self.files.map(|files| format!(", {files} files")).unwrap_or_default();
        let (ref_name, mode, status) = (escape_control(&self.ref_name), self.mode.as_str(), self.status.as_str());
        format!("job {} of {ref_name}: {mode}, {status}{files}\n", self.id) + &self.metadata.notes()
    }
}

/// The answer of `index_repo`.
struct IndexAnswer(JobReport);

impl Render for IndexAnswer {
    type Wire = index_repo::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        Ok(index_repo::Answer {
            job_id: self.0.id,
            status: job_status(self.0.status),
            mode: job_mode(self.0.mode),
            file_count: self.0.files,
            metadata: self.0.metadata,
        })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        Ok(self.0.text())
    }
}

/// The answer of `sync_repo`.
struct SyncAnswer(JobReport);

impl Render for SyncAnswer {
    type Wire = sync_repo::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        Ok(sync_repo::Answer {
            job_id: self.0.id,
            status: job_status(self.0.status),
            mode: job_mode(self.0.mode),
            changed_files: self.0.files,
            metadata: self.0.metadata,
        })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        Ok(self.0.text())
    }
}
