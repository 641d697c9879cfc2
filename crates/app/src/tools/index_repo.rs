//! `index_repo` and `sync_repo`: start indexing a ref, and return at once.

use std::time::Duration;

use codecompass_index::Target;
use codecompass_store::{JobMode, ViewInfo};
use codecompass_wire::ErrorData;
use serde_json::{Value, json};

use super::tool_spec::{Effect, Output, ParamKind, ToolCall, ToolSpec, WORKSPACE, optional, schema};
use crate::call::Call;
use crate::call::host::{HostedWorkspace, Served, UnknownWorkspace};
use crate::error::{AppError, Code};
use crate::escape::escape_control;
use crate::jobs::Job;
use crate::metadata::{Completeness, Freshness, Indexing, MetadataText};
use crate::output::{Answer, OutputFormat};
use crate::session::{self, Session, SyncRequest};
use crate::views::published_for_target;

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
    output: Output::Listed(|| output("file_count"), &["job_id", "status", "mode", "file_count"]),
    effect: Effect::Indexes,
    first: false,
    call: ToolCall::OnServer(|call, served| {
        let place = &*call.hosted(served, UnknownWorkspace::Project)?;
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
        let job = wait_for_start(served, &job)?;
        let files = view(session, &target).filter(|_| job.ended().is_some()).map(|view| view.totals.files);
        answer(call.form, session, job, ("file_count", json!(files)))
    }),
};

pub(crate) const SYNC_REPO: ToolSpec = ToolSpec {
    name: "sync_repo",
    title: "Sync a repository",
    description: "Update the index with changed files, in the background; returns a job id at once. \
                  Queries do this themselves, depending on freshness_policy.",
    params: &[optional("force", ParamKind::Flag(false), "Extract everything again"), REF_PARAM, WORKSPACE],
    output: Output::Listed(|| output("changed_files"), &["job_id", "status", "mode", "changed_files"]),
    effect: Effect::Indexes,
    first: false,
    call: ToolCall::OnServer(|call, served| {
        let place = &*call.hosted(served, UnknownWorkspace::Workspace)?;
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
        let job = wait_for_start(served, &job)?;
        let changed = job.ended().and_then(Result::ok).map(|outcome| outcome.changed_files);
        answer(call.form, session, job, ("changed_files", json!(changed)))
    }),
};

fn output(count: &str) -> Value {
    let status = ["queued", "running", "validating", "published", "failed", "interrupted"];
    json!({
        "job_id": schema::text(),
        "status": schema::one_of(&status),
        "mode": schema::one_of(&["full", "incremental"]),
        count: schema::count_or_null(),
    })
}

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
fn wait_for_start<'j>(served: Served<'_>, job: &'j Job) -> Result<&'j Job, AppError> {
    job.wait_for_turn(TURN_TIMEOUT);
    if let Some(listener) = served.listener {
        job.report_progress(listener, PROGRESS_TIMEOUT);
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

fn answer(form: OutputFormat, session: &Session, job: &Job, count: (&str, Value)) -> Result<Answer, AppError> {
    let view = view(session, &job.target);
    let mut metadata = session.metadata(&job.target, view.as_ref());
    let is_over = job.ended().is_some();
    metadata.freshness = if is_over { Freshness::Fresh } else { Freshness::Syncing };
    if view.is_none() {
        metadata.indexing = Indexing::Running;
        metadata.completeness = Completeness::Partial;
    }
    let (status, mode) = (job.status().as_str(), job.mode.as_str());
    if form != OutputFormat::Json {
        let files = count.1.as_u64().map(|files| format!(", {files} files")).unwrap_or_default();
        let text = format!("job {} of {}: {mode}, {status}{files}\n", job.id, escape_control(&job.target.ref_name));
        return Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code: 0 });
    }
    let json = json!({
        "job_id": job.id,
        "status": status,
        "mode": mode,
        count.0: count.1,
        "metadata": metadata.to_json(),
    });
    Ok(Answer { text: String::new(), json, code: 0 })
}
