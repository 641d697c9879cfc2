//! `index_status`: the indexed views, the running job, and recent jobs.

use codecompass_index::Target;
use codecompass_store::{Job, JobMode, JobStatus, SCHEMA_VERSION, SchemaStatus, Store, StoreError, ViewInfo};
use codecompass_wire::{ActiveJob, Named, RecentJob, index_status as wire, schema};

use crate::call::host::UnknownWorkspace;
use crate::tool_spec::{Effect, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional};
use codecompass_workspace::clock::{time_for, time_text};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::jobs;
use codecompass_workspace::measure::{bytes_text, count_text, count_with_noun, seconds_text};
use codecompass_workspace::metadata::{Freshness, Indexing, Metadata, schema_status};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::published_for_target;

pub const TOOL: ToolSpec = ToolSpec {
    name: "index_status",
    title: "Index status",
    description: "The index of a ref and its freshness, the running job with its progress, and recent jobs.",
    params: &[
        REF,
        optional("path_of_workspace", ParamKind::Text, "The workspace; same as --workspace")
            .cli_only()
            .flag("path")
            .value("PATH"),
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let held = call.session(UnknownWorkspace::Workspace)?;
        let target = call.target(&held)?;
        let freshness = call.freshness(&held, &target);
        let ours = held.server_job();
        answer(call.context.form, &held, &target, freshness, ours.as_deref())
            .map_err(|error| held.with_project_context(error, Some(&target.ref_name)))
    }),
};

/// The maximum number of finished jobs shown.
const MAX_RECENT_JOBS: usize = 10;

/// The data of the answer.
struct IndexStatus {
    schema: SchemaStatus,
    view: Option<ViewInfo>,
    views: Vec<ViewInfo>,
    jobs: Vec<Job>,
    disk: u64,
}

/// Answers for the view of a ref. An unreadable index is also a valid answer.
fn answer(
    form: OutputFormat,
    session: &Session,
    target: &Target,
    freshness: Freshness,
    ours: Option<&jobs::Job>,
) -> Result<Answer, AppError> {
    let status = read(session, target)?;
    let mut metadata = session.metadata(target, status.view.as_ref());
    metadata.schema = schema_status(status.schema);
    metadata.indexing = indexing(&status, target, ours);
    metadata.freshness = freshness;
    if status.view.is_none() && status.schema == SchemaStatus::NotIndexed {
        metadata.warnings.push("nothing is indexed yet; run `codecompass index`".into());
    }
    Answer::render(form, 0, StatusAnswer { session, status, ours, metadata })
}

/// The answer.
struct StatusAnswer<'r> {
    session: &'r Session,
    status: IndexStatus,
    ours: Option<&'r jobs::Job>,
    metadata: Metadata,
}

impl Render for StatusAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let Self { session, status, ours, metadata } = self;
        let (active, ended): (Vec<&Job>, Vec<&Job>) = status.jobs.iter().partition(|job| job.status.is_active());
        let view = status.view.as_ref();
        let active = active.first().map(|job| active_job(session, job));
        Ok(wire::Answer {
            project_id: session.project_id.clone(),
            repo_root: session.root(),
            index_status: metadata.indexing,
            schema_status: schema_status(status.schema),
            current_schema_version: status.schema.found_version(),
            required_schema_version: SCHEMA_VERSION,
            last_indexed_at: view.map(|view| time_text(view.indexed_at)),
            ref_name: metadata.ref_name.clone(),
            file_count: view.map_or(0, |view| view.totals.files as u64),
            symbol_count: view.map_or(0, |view| view.totals.symbols as u64),
            skipped: skipped(view),
            index_bytes: status.disk,
            active_job: active.or_else(|| ours.map(|job| queued_job(session, job))),
            recent_jobs: ended.into_iter().map(recent_job).collect(),
            metadata,
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        Ok(text(self.session, &self.status, &self.metadata, reader))
    }
}

fn read(session: &Session, target: &Target) -> Result<IndexStatus, AppError> {
    // This check records corruption that no request has met yet; the next line reports it.
    codecompass_store::readable_halves(&session.dir);
    let schema = match SchemaStatus::read(&session.dir) {
        Err(StoreError::NotRegistered(_)) => return Err(AppError::not_registered(&session.root())),
        schema => schema?,
    };
    let nothing = |schema| IndexStatus {
        schema,
        view: None,
        views: Vec::new(),
        jobs: Vec::new(),
        disk: session.dir.disk_bytes(),
    };
    if !matches!(schema, SchemaStatus::Compatible | SchemaStatus::NotIndexed) {
        return Ok(nothing(schema));
    }
    let read = || -> Result<IndexStatus, AppError> {
        let store = Store::open(&session.dir)?;
        let (view, views, jobs) = (published_for_target(&store, target)?, store.views()?, store.jobs(MAX_RECENT_JOBS)?);
        Ok(IndexStatus { view, views, jobs, ..nothing(schema) })
    };
    match read() {
        Err(error) if error.corruption().is_some() => Ok(nothing(SchemaStatus::CorruptManifest)),
        status => status,
    }
}

/// The indexing state of one view.
fn indexing(status: &IndexStatus, target: &Target, ours: Option<&jobs::Job>) -> Indexing {
    let mine = |job: &&Job| job.view.as_ref() == Some(&target.key);
    // A view indexed under the name of another branch: the missing index of this one is not a failure.
    let was_indexed = status.views.iter().any(|view| view.key == target.key);
    match (&status.view, status.jobs.iter().find(mine)) {
        (Some(_), _) => Indexing::Ready,
        (None, _) if ours.is_some_and(|job| job.target.key == target.key) => Indexing::Running,
        (None, Some(job)) if job.status.is_active() => Indexing::Running,
        (None, Some(job)) if job.status == JobStatus::Failed && !was_indexed => Indexing::Failed,
        _ => Indexing::NotIndexed,
    }
}

fn skipped(view: Option<&ViewInfo>) -> Named<u64> {
    let skips = view.into_iter().flat_map(|view| &view.skips);
    skips.map(|skip| (skip.reason.as_str().into(), skip.count)).collect()
}

/// The running job with its counters.
pub fn active_job(session: &Session, job: &Job) -> ActiveJob {
    let progress = job.progress;
    let share = match progress.files_total {
        0 => 0.0,
        total => (progress.files_scanned as f64 * 1000.0 / total as f64).round() / 10.0,
    };
    ActiveJob {
        job_id: job.id.clone(),
        project_id: session.project_id.clone(),
        ref_name: job.ref_name.clone(),
        mode: job_mode(job.mode),
        status: job_status(job.status),
        changed_files: job.changed_files,
        files_scanned: progress.files_scanned,
        files_indexed: progress.files_indexed,
        symbols_extracted: progress.symbols_extracted,
        estimated_completion_pct: share,
        started_at: time_text(job.created_at),
    }
}

/// A job of this process that is queued, or has no record yet.
pub(crate) fn queued_job(session: &Session, job: &jobs::Job) -> ActiveJob {
    ActiveJob {
        job_id: job.id.clone(),
        project_id: session.project_id.clone(),
        ref_name: job.target.ref_name.clone(),
        mode: job_mode(job.mode),
        status: job_status(job.status()),
        changed_files: None,
        files_scanned: 0,
        files_indexed: 0,
        symbols_extracted: 0,
        estimated_completion_pct: 0.0,
        started_at: time_text(job.created_at),
    }
}

fn recent_job(job: &Job) -> RecentJob {
    RecentJob {
        job_id: job.id.clone(),
        ref_name: job.ref_name.clone(),
        mode: job_mode(job.mode),
        status: job_status(job.status),
        changed_files: job.changed_files,
        duration_ms: job.finished_at.map(|end| end.saturating_sub(job.created_at)),
        created_at: time_text(job.created_at),
        error: job.error.clone(),
    }
}

/// The word for the state of a job.
pub(crate) fn job_status(status: JobStatus) -> codecompass_wire::JobStatus {
    match status {
        JobStatus::Queued => codecompass_wire::JobStatus::Queued,
        JobStatus::Running => codecompass_wire::JobStatus::Running,
        JobStatus::Validating => codecompass_wire::JobStatus::Validating,
        JobStatus::Published => codecompass_wire::JobStatus::Published,
        JobStatus::Failed => codecompass_wire::JobStatus::Failed,
        JobStatus::Interrupted => codecompass_wire::JobStatus::Interrupted,
    }
}

/// The word for the scope of a job.
pub fn job_mode(mode: JobMode) -> codecompass_wire::JobMode {
    match mode {
        JobMode::Full => codecompass_wire::JobMode::Full,
        JobMode::Incremental => codecompass_wire::JobMode::Incremental,
    }
}

fn text(session: &Session, status: &IndexStatus, metadata: &Metadata, reader: Reader) -> String {
    let mut text = format!("{} (project {})\n", escape_control(&session.root()), session.project_id);
    match &status.view {
        Some(view) => {
            text += &format!(
                "  {}: {}, {}; {}, {}, {}, indexed {}\n",
                escape_control(&metadata.ref_name),
                metadata.indexing.as_str(),
                metadata.freshness.as_str(),
                count_with_noun(view.totals.files as u64, "file"),
                count_with_noun(view.totals.lines as u64, "line"),
                count_with_noun(view.totals.symbols as u64, "symbol"),
                time_for(reader, view.indexed_at),
            );
        }
        None => text += &format!("  {}: {}\n", escape_control(&metadata.ref_name), metadata.indexing.as_str()),
    }
    let others = status.views.iter().filter(|view| Some(&view.key) != status.view.as_ref().map(|view| &view.key));
    for view in others {
        text += &format!(
            "  {}: {}, indexed {}\n",
            escape_control(&view.key.encode()),
            count_with_noun(view.totals.files as u64, "file"),
            time_for(reader, view.indexed_at)
        );
    }
    text += &format!("  index {}, schema {}\n", bytes_text(status.disk), status.schema.as_str());
    for job in &status.jobs {
        text += &job_text(job);
    }
    for warning in &metadata.warnings {
        text += &format!("  warning: {}\n", escape_control(warning));
    }
    text
}

fn job_text(job: &Job) -> String {
    let took = job.finished_at.map(|end| end.saturating_sub(job.created_at).max(0) as u64);
    let took = took.map(|ms| format!(" in {}", seconds_text(std::time::Duration::from_millis(ms))));
    let changed = match (job.status.is_active(), job.changed_files) {
        (true, _) => {
            let total = count_with_noun(job.progress.files_total, "file");
            format!(", {} of {total}", count_text(job.progress.files_scanned))
        }
        (false, Some(changed)) => format!(", {} changed", count_with_noun(changed, "file")),
        (false, None) => String::new(),
    };
    format!(
        "  job {} {} {} {}{}{changed}{}\n",
        job.id,
        escape_control(&job.ref_name),
        job.mode.as_str(),
        job.status.as_str(),
        took.unwrap_or_default(),
        job.error.as_deref().map(|error| format!(": {}", escape_control(error))).unwrap_or_default(),
    )
}
