//! `codecompass index` and `codecompass sync`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use codecompass_index::{SyncOutcome, Target};
use codecompass_store::ViewInfo;
use codecompass_wire::ErrorData;
use codecompass_wire::JobStatus;
use codecompass_wire::commands::index as wire;

use crate::cli::{Common, IndexArgs, SyncArgs};
use codecompass_serve::interrupt::end_with_report;
use codecompass_tools::index_status::job_mode;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::{bytes_text, count_text, count_with_noun, seconds_text};
use codecompass_workspace::metadata::Freshness;
use codecompass_workspace::output::{Answer, print_stderr};
use codecompass_workspace::paths::PathResolver;
use codecompass_workspace::session::{Session, SessionOptions, SyncRequest};

/// The time a new job may take to record its id.
const JOB_ID_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) fn run_index(common: &Common, args: &IndexArgs) -> Result<Answer, AppError> {
    let began = Instant::now();
    let session = Session::open(&common.session_options(), args.path.as_deref())?;
    let target = session.target(args.ref_name.as_deref())?;
    let explained = |error| session.with_project_context(error, args.ref_name.as_deref());
    let request = SyncRequest { force: args.force, upgrade: true, ..SyncRequest::default() };
    end_with_report(report_interruption);
    let outcome = retry_while_locked(|| session.sync(&target, request.clone())).map_err(explained)?;
    summary(&session, &outcome, began.elapsed())
}

pub(crate) fn run_sync(common: &Common, args: &SyncArgs) -> Result<Answer, AppError> {
    let began = Instant::now();
    let session = Session::open(&common.session_options(), args.path.as_deref())?;
    let target = session.target(args.ref_name.as_deref())?;
    let changed = match args.changed.as_slice() {
        [] => None,
        paths => Some(changed_files(&session, paths)?),
    };
    let request = SyncRequest { force: args.force, changed, ..SyncRequest::default() };
    end_with_report(report_interruption);
    let outcome = match retry_while_locked(|| session.sync(&target, request.clone())) {
        Err(error) if error.code == Code::IndexInProgress => sync_after_running_job(&session, &target, request, error),
        outcome => outcome,
    };
    let outcome = outcome.map_err(|error| session.with_project_context(error, args.ref_name.as_deref()))?;
    summary(&session, &outcome, began.elapsed())
}

/// Builds the index of a git work tree that has none, or one of an older version, before a query. Returns whether the
/// query has to be answered again. Any other problem is left to the query, which reports it.
pub(crate) fn index_before_query(options: &SessionOptions, path: Option<&Path>) -> Result<bool, AppError> {
    let Ok(session) = Session::open(options, path) else { return Ok(false) };
    let is_outdated = session.is_outdated();
    if !session.vcs() || !(is_outdated || session.has_no_index()) {
        return Ok(false);
    }
    end_with_report(report_interruption);
    let why = if is_outdated { "the index is of an older version" } else { "not indexed yet" };
    print_stderr(&escape_control(&format!("{}: {why}, indexing first (--no-index refuses)", session.root())));
    let target = session.target(None)?;
    // If another process is building it, this waits for that one and finds nothing left to do.
    let request = SyncRequest { upgrade: true, wait: true, ..SyncRequest::default() };
    let synced = session.sync(&target, request);
    synced.map(|_| true).map_err(|error| session.with_project_context(error, None))
}

fn report_interruption() {
    print_stderr("Interrupted. The published index is unchanged; files that are already stored are not read again.");
}

/// Another job is running: for the same view this is reported; for another view this sync waits.
fn sync_after_running_job(
    session: &Session,
    target: &Target,
    request: SyncRequest,
    error: AppError,
) -> Result<SyncOutcome, AppError> {
    match session.active_job() {
        Some(job) if job.view.as_ref() == Some(&target.key) => Err(AppError {
            code: Code::SyncInProgress,
            message: format!("{} is already being synced by job {}.", target.ref_name, job.id),
            ..error.data(ErrorData::job(job.id))
        }),
        _ => session.sync(target, SyncRequest { wait: true, ..request }),
    }
}

/// Retries while another writer has no recorded job: it has just started or is about to end.
fn retry_while_locked(attempt: impl Fn() -> Result<SyncOutcome, AppError>) -> Result<SyncOutcome, AppError> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if error.code == Code::IndexInProgress
                    && !matches!(error.details.data, ErrorData::Job { job_id: Some(_), .. })
                    && began.elapsed() < JOB_ID_TIMEOUT =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

/// Changed files as paths of the index.
fn changed_files(session: &Session, given: &[PathBuf]) -> Result<Vec<String>, AppError> {
    let paths = PathResolver::from_working_folder(session);
    let mut changed = Vec::new();
    for path in given {
        let wrong = || AppError::new(Code::InvalidInput, format!("{} is not UTF-8.", path.display()));
        changed.extend(paths.resolve_on_disk("changed", path.to_str().ok_or_else(wrong)?)?);
    }
    Ok(changed)
}

fn summary(session: &Session, outcome: &SyncOutcome, took: Duration) -> Result<Answer, AppError> {
    let store = session.store()?;
    let view = store
        .view(&outcome.target.key)?
        .ok_or_else(|| AppError::new(Code::InternalError, "The view that was just published is missing."))?;
    let disk = session.dir.disk_bytes();
    let mut metadata = session.metadata(&outcome.target, Some(&view));
    metadata.freshness = Freshness::Fresh;
    let text = summary_text(outcome, &view, disk, took, &metadata.warnings);
    let answer = wire::Answer {
        job_id: outcome.job_id.clone(),
        status: JobStatus::Published,
        mode: job_mode(outcome.mode),
        file_count: view.totals.files as u64,
        changed_files: outcome.changed_files,
        extracted_files: outcome.extracted,
        symbol_count: view.totals.symbols as u64,
        line_count: view.totals.lines as u64,
        source_bytes: view.totals.bytes as u64,
        skipped: outcome.skips.iter().map(|(reason, count, _)| (reason.as_str().into(), count)).collect(),
        index_bytes: disk,
        generation: outcome.generation,
        duration_ms: took.as_millis() as u64,
        metadata,
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

fn summary_text(outcome: &SyncOutcome, view: &ViewInfo, disk: u64, took: Duration, warnings: &[String]) -> String {
    let totals = view.totals;
    let commit = view.commit.as_deref().map(|commit| format!(" at {}", &commit[..commit.len().min(12)]));
    let place = if outcome.target.is_worktree() { "work tree" } else { "git" };
    let mut text = format!(
        "Indexed {} ({place}{}) in {}: {} changed, {} extracted\n  {}, {}, {}, {} of source\n",
        escape_control(&outcome.target.ref_name),
        commit.unwrap_or_default(),
        seconds_text(took),
        count_with_noun(outcome.changed_files, "file"),
        count_text(outcome.extracted),
        count_with_noun(totals.files as u64, "file"),
        count_with_noun(totals.lines as u64, "line"),
        count_with_noun(totals.symbols as u64, "symbol"),
        bytes_text(totals.bytes as u64),
    );
    if outcome.skips.total() > 0 {
        text += &format!("  {} skipped:\n", count_text(outcome.skips.total()));
        for (reason, count, examples) in outcome.skips.iter() {
            let example = examples.first().map(|path| escape_control(path).into_owned()).unwrap_or_default();
            text += &format!(
                "    {:>7} {} ({example}{})\n",
                count_text(count),
                reason.phrase(),
                if count > 1 { ", …" } else { "" }
            );
        }
    }
    text += &format!("  index {}, generation {}\n", bytes_text(disk), outcome.generation);
    for warning in warnings {
        text += &format!("  warning: {}\n", escape_control(warning));
    }
    text
}
