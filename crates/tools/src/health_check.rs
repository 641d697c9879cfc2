//! `health_check`: the state of the index, and the progress of warming and indexing.

use codecompass_index::Target;
use codecompass_model::ViewKey;
use codecompass_store::{Job, JobStatus, SCHEMA_VERSION, SchemaStatus, Store, ViewInfo};
use codecompass_wire::{ActiveJob, health_check as wire, schema};
use serde_json::Value;

use super::index_status::{active_job, queued_job};
use super::tool_spec::{Effect, ToolCall, ToolSpec, WORKSPACE};
use crate::call::Call;
use crate::call::host::{Host, HostedWorkspace, UnknownWorkspace};
use codecompass_workspace::clock::time_text;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Freshness, Indexing, MetadataText, schema_status};
use codecompass_workspace::output::{Answer, OutputFormat};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::published_for_target;

/// The maximum number of jobs searched for interrupted ones.
const MAX_JOBS: usize = 50;

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "health_check",
    title: "Health check",
    description: "Status of the server and its projects: ready, warming, indexing or error, with jobs and the fix \
                  for an unreadable index.",
    params: &[WORKSPACE],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::OnServer(answer),
};

/// The state of one project.
struct ProjectHealth {
    root: String,
    schema: SchemaStatus,
    indexing: Indexing,
    sqlite_ok: bool,
    tantivy_ok: bool,
    view: Option<ViewInfo>,
    jobs: Vec<Job>,
    active: Option<ActiveJob>,
    /// Only of a registered project.
    state: Option<wire::ProjectState>,
}

fn answer(call: &mut Call<'_>, host: &dyn Host) -> Result<Answer, AppError> {
    let asked = call.arguments.text("workspace");
    // This tool must answer for a missing or broken repository, too.
    let (place, trouble) = match call.hosted(host, UnknownWorkspace::Workspace) {
        Ok(place) => (place, None),
        Err(error) => match host.last_opened(asked.as_deref()) {
            Some(place) => (place, Some(error.message)),
            None => return Err(error),
        },
    };
    let place = &*place;
    let first = inspect(call, place)?;
    let mut projects: Vec<ProjectHealth> = Vec::new();
    if asked.is_none() {
        let is_other = |session: &Session| session.root() != first.root && session.dir.is_registered();
        for other in host.open_workspaces(&is_other) {
            projects.push(inspect(call, &*other)?);
        }
        projects.sort_by(|a, b| a.root.cmp(&b.root));
    }
    let session = place.session();
    let is_registered = session.dir.is_registered();
    let target = target(session);
    let mut metadata = session.metadata(&target, first.view.as_ref());
    metadata.schema = schema_status(first.schema);
    metadata.indexing = first.indexing;
    metadata.freshness = call.hosted_freshness(place, &target);
    if let Some(trouble) = &trouble {
        metadata.warnings.push(format!("the workspace cannot be read: {trouble}"));
    }
    let no_room = match asked {
        None => host.disk_full_messages(),
        Some(_) => place.disk_full_message().into_iter().collect(),
    };
    metadata.warnings.extend(no_room.iter().cloned());
    if let Some(why) = place.unwatched_reason() {
        metadata.warnings.push(format!("the work tree is not watched, so every query checks all files: {why}"));
    }
    if !is_registered {
        metadata.warnings.push("this workspace is not registered; run `codecompass index`".into());
    }
    let all = || std::iter::once(&first).chain(&projects);
    let health = host.health();
    let status = match () {
        () if trouble.is_some() || !no_room.is_empty() || all().any(|project| project.is_broken()) => {
            wire::Status::Error
        }
        () if matches!(health.warm_status, "pending" | "warming") => wire::Status::Warming,
        () if all().any(|project| project.active.is_some()) => wire::Status::Indexing,
        () => wire::Status::Ready,
    };
    if call.context.form != OutputFormat::Json {
        let mut text = format!("{}\n", status.as_str());
        for project in all() {
            let (root, indexing) = (escape_control(&project.root), project.indexing.as_str());
            text += &format!("{root}: {indexing}, schema {}\n", project.schema.as_str());
        }
        return Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code: 0 });
    }
    let (available, missing): (Vec<_>, Vec<_>) =
        codecompass_lang::check_grammars().into_iter().partition(|(_, outcome)| outcome.is_ok());
    let names = |list: Vec<(&'static str, _)>| list.into_iter().map(|(name, _)| name.into()).collect();
    let answer = wire::Answer {
        status,
        version: env!("CARGO_PKG_VERSION").into(),
        uptime_seconds: health.uptime.as_secs(),
        tantivy_ok: first.tantivy_ok,
        sqlite_ok: first.sqlite_ok,
        grammars: wire::Grammars { available: names(available), missing: names(missing) },
        language_support: support(),
        active_job: all().find_map(|project| project.active.clone()),
        interrupted_recovery_report: all().find_map(recovery_report),
        workspace_warmset: wire::Warmset {
            enabled: health.warms,
            capacity: health.warm_capacity,
            members: health.warm_members,
        },
        prewarm_status: health.warm_status.into(),
        startup_checks: wire::StartupChecks { index: startup(&first) },
        projects: all().filter_map(|project| project.state.clone()).collect(),
        metadata,
    };
    Answer::from_wire(&answer, 0)
}

impl ProjectHealth {
    fn is_broken(&self) -> bool {
        self.indexing == Indexing::Failed
            || !self.sqlite_ok
            || !self.tantivy_ok
            || matches!(self.schema, SchemaStatus::ReindexRequired { .. } | SchemaStatus::CorruptManifest)
    }
}

/// The work tree, even if its checked-out commit is unknown.
fn target(session: &Session) -> Target {
    let key = ViewKey::Worktree(session.workspace.root.to_string_lossy().into_owned());
    session.target(None).unwrap_or_else(|_| Target { key, ref_name: "HEAD".into(), commit: None })
}

fn inspect(call: &mut Call<'_>, place: &dyn HostedWorkspace) -> Result<ProjectHealth, AppError> {
    let session = place.session();
    let target = target(session);
    let is_registered = session.dir.is_registered();
    let (sqlite_ok, tantivy_ok) =
        if is_registered { codecompass_store::readable_halves(&session.dir) } else { (true, true) };
    let schema = if is_registered { SchemaStatus::read(&session.dir)? } else { SchemaStatus::NotIndexed };
    let store = if is_registered { Store::open(&session.dir).ok() } else { None };
    let view = store.as_ref().and_then(|store| published_for_target(store, &target).ok().flatten());
    let was_indexed = store.as_ref().is_some_and(|store| store.view(&target.key).is_ok_and(|view| view.is_some()));
    let jobs = store.as_ref().and_then(|store| store.jobs(MAX_JOBS).ok()).unwrap_or_default();
    let ours = place.job_for_project();
    let active = jobs.iter().find(|job| job.status.is_active()).map(|job| active_job(session, job));
    let active = active.or_else(|| ours.as_deref().map(|job| queued_job(session, job)));
    let last = jobs.iter().find(|job| job.view.as_ref() == Some(&target.key));
    let indexing = match (&view, last) {
        (None, Some(job)) if job.status == JobStatus::Failed && active.is_none() && !was_indexed => Indexing::Failed,
        (None, _) if active.is_some() => Indexing::Running,
        (None, _) => Indexing::NotIndexed,
        (Some(_), _) => Indexing::Ready,
    };
    let freshness = call.hosted_freshness(place, &target);
    let state = || project_state(session, schema, indexing, freshness, view.as_ref(), &target.ref_name);
    let state = is_registered.then(state);
    Ok(ProjectHealth { root: session.root(), schema, indexing, sqlite_ok, tantivy_ok, view, jobs, active, state })
}

fn project_state(
    session: &Session,
    schema: SchemaStatus,
    indexing: Indexing,
    freshness: Freshness,
    view: Option<&ViewInfo>,
    ref_name: &str,
) -> wire::ProjectState {
    wire::ProjectState {
        project_id: session.project_id.clone(),
        repo_root: session.root(),
        index_status: indexing,
        schema_status: schema_status(schema),
        current_schema_version: schema.found_version(),
        required_schema_version: SCHEMA_VERSION,
        freshness_status: freshness,
        last_indexed_at: view.map(|view| time_text(view.indexed_at)),
        ref_name: ref_name.to_owned(),
        file_count: view.map_or(0, |view| view.totals.files as u64),
        symbol_count: view.map_or(0, |view| view.totals.symbols as u64),
    }
}

fn startup(project: &ProjectHealth) -> wire::IndexCheck {
    let message = match project.schema {
        SchemaStatus::Compatible => None,
        SchemaStatus::NotIndexed => Some("Nothing is indexed yet. Run `codecompass index`, or call index_repo."),
        SchemaStatus::ReindexRequired { found } if found < SCHEMA_VERSION => {
            Some("An older version wrote the index. Run `codecompass index`, or call index_repo, to rebuild it.")
        }
        SchemaStatus::ReindexRequired { .. } => {
            Some("A newer version wrote the index. Upgrade codecompass, or run `codecompass index --force`.")
        }
        SchemaStatus::CorruptManifest => Some("The index is corrupt. Run `codecompass index --force`."),
    };
    wire::IndexCheck {
        status: schema_status(project.schema),
        current_schema_version: project.schema.found_version(),
        required_schema_version: SCHEMA_VERSION,
        message: message.map(Into::into),
    }
}

/// The level of support per language.
fn support() -> wire::LanguageSupport {
    let names = codecompass_lang::language_names().into_iter().filter(|name| codecompass_lang::has_rules(name));
    wire::LanguageSupport {
        references_and_calls: names.map(Into::into).collect(),
        text_only: "every other language".into(),
    }
}

/// The jobs interrupted since the last success, if any.
fn recovery_report(project: &ProjectHealth) -> Option<wire::RecoveryReport> {
    let since = project.jobs.iter().take_while(|job| job.status != JobStatus::Published);
    let cut: Vec<&Job> = since.filter(|job| job.status == JobStatus::Interrupted).collect();
    let last = cut.first()?;
    Some(wire::RecoveryReport {
        detected: true,
        interrupted_jobs: cut.len(),
        last_interrupted_at: time_text(last.finished_at.unwrap_or(last.created_at)),
        recommended_action: "sync_repo".into(),
    })
}
