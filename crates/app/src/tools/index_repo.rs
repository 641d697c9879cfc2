//! `index_repo` and `sync_repo`: have a ref brought into the index, and return at once.

use std::time::Duration;

use codecompass_index::Target;
use codecompass_store::{JobMode, ViewInfo};
use serde_json::{Value, json};

use super::frame::{Effect, Kind, Tool, WORKSPACE, optional, schema};
use crate::error::{AppError, Code};
use crate::output::Answer;
use crate::published::under_its_name;
use crate::server::Call;
use crate::server::jobs::Job;
use crate::server::places::{Unknown, Visit};
use crate::session::{Request, Session};

/// So long a job may take to begin before it counts as waiting for its turn.
const SOON: Duration = Duration::from_millis(200);

/// So long a client that wants to hear how far the job is is kept on the line: progress can only be told while its
/// request is open.
const ON_THE_LINE: Duration = Duration::from_secs(1);

const WHICH: super::frame::Param = optional("ref", Kind::Text, "Branch, tag or commit. Default: the work tree");

pub(crate) const INDEX_REPO: Tool = Tool {
    name: "index_repo",
    title: "Index a repository",
    description: "Start indexing the work tree or a ref in the background; returns a job id at once. Needed once per \
                  ref, or with force after index_incompatible. index_status tells when it is published.",
    params: &[optional("force", Kind::Flag(false), "Extract everything anew"), WHICH, WORKSPACE],
    output: || output("file_count"),
    always: &["job_id", "status", "mode", "file_count"],
    effect: Effect::Indexes,
    first: false,
    call: |call| {
        let visit = call.visit(Unknown::Project)?;
        let force = call.arguments.flag("force");
        let (target, mode) = plan(call, &visit, force, true)?;
        let session = &visit.place.session;
        if !visit.is_new
            && let Some(running) = running(call, &visit)
        {
            return Err(AppError::new(Code::IndexInProgress, format!("A job is running: {running}."))
                .hint("index_status tells how far it is.")
                .data(json!({ "job_id": running })));
        }
        let request = Request { force, upgrade: true, ..Request::default() };
        let job = call.care(&visit).sync(&target, mode, request)?;
        let job = follow(call, &job)?;
        let files = view(session, &target).filter(|_| job.ended().is_some()).map(|view| view.totals.files);
        answer(&visit, job, ("file_count", json!(files)))
    },
};

pub(crate) const SYNC_REPO: Tool = Tool {
    name: "sync_repo",
    title: "Sync a repository",
    description: "Bring the index up to date with files that changed, in the background; returns a job id at once. \
                  Queries do this by themselves unless freshness_policy says otherwise.",
    params: &[optional("force", Kind::Flag(false), "Extract everything anew"), WHICH, WORKSPACE],
    output: || output("changed_files"),
    always: &["job_id", "status", "mode", "changed_files"],
    effect: Effect::Indexes,
    first: false,
    call: |call| {
        let visit = call.visit(Unknown::Workspace)?;
        let force = call.arguments.flag("force");
        let (target, mode) = plan(call, &visit, force, false)?;
        let session = &visit.place.session;
        let ours = call.server.jobs.of_view(&session.project_id, &target).map(|job| job.id.clone());
        let theirs = || session.active_job().filter(|job| job.view.as_ref() == Some(&target.key)).map(|job| job.id);
        if !visit.is_new
            && let Some(running) = ours.or_else(theirs)
        {
            let message = format!("{} is being synced already: job {running}.", target.ref_name);
            return Err(AppError::new(Code::SyncInProgress, message)
                .hint("index_status tells how far it is.")
                .data(json!({ "job_id": running })));
        }
        let job = call.care(&visit).sync(&target, mode, Request { force, ..Request::default() })?;
        let job = follow(call, &job)?;
        let changed = job.ended().and_then(Result::ok).map(|outcome| outcome.changed_files);
        answer(&visit, job, ("changed_files", json!(changed)))
    },
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

/// Which view is meant, and how much there is to do. An index that can not be read is only replaced when asked, or when
/// an older version made it and this is the tool for that.
fn plan(call: &Call<'_>, visit: &Visit, force: bool, upgrade: bool) -> Result<(Target, JobMode), AppError> {
    let session = &visit.place.session;
    let target = call.target(visit)?;
    if !session.dir.is_registered() && !visit.is_new {
        return Err(AppError::not_registered(&session.root()));
    }
    let published = match session.store() {
        Err(error) if force && error.code == Code::IndexIncompatible => None,
        Err(_) if upgrade && session.is_outdated() => None,
        store => store.map_err(|error| session.explain(error, None))?.view(&target.key)?,
    };
    let mode = if force || published.is_none() { JobMode::Full } else { JobMode::Incremental };
    Ok((target, mode))
}

/// The job of this project that is not over, here or in another process.
fn running(call: &Call<'_>, visit: &Visit) -> Option<String> {
    let session = &visit.place.session;
    let ours = call.server.jobs.of_project(&session.project_id).map(|job| job.id.clone());
    ours.or_else(|| session.active_job().map(|job| job.id))
}

/// Waits for the job to begin and, for a client that listens, tells how far it is.
fn follow<'j>(call: &Call<'_>, job: &'j Job) -> Result<&'j Job, AppError> {
    job.wait_for_turn(SOON);
    if let Some(follower) = call.follower {
        job.follow(follower, ON_THE_LINE);
    }
    match job.ended() {
        Some(Err(failure)) => Err(AppError::new(failure.code, failure.message).data(json!({ "job_id": job.id }))),
        _ => Ok(job),
    }
}

/// The view as it is published; one that can not be read yet is about to be replaced.
fn view(session: &Session, target: &Target) -> Option<ViewInfo> {
    under_its_name(&session.store().ok()?, target).ok().flatten()
}

fn answer(visit: &Visit, job: &Job, count: (&str, Value)) -> Result<Answer, AppError> {
    let session = &visit.place.session;
    let view = view(session, &job.target);
    let mut metadata = session.metadata(&job.target, view.as_ref());
    let is_over = job.ended().is_some();
    metadata.freshness = if is_over { "fresh" } else { "syncing" };
    if view.is_none() {
        metadata.indexing = "indexing";
        metadata.completeness = "partial";
    }
    Ok(Answer {
        text: String::new(),
        json: json!({
            "job_id": job.id,
            "status": job.status().as_str(),
            "mode": job.mode.as_str(),
            count.0: count.1,
            "metadata": metadata.to_json(),
        }),
        code: 0,
    })
}
