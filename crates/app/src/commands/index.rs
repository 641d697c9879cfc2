//! `codecompass index` and `codecompass sync`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use codecompass_index::{Outcome, Target};
use codecompass_store::ViewInfo;
use serde_json::{Map, Value, json};

use crate::cli::{Common, IndexArgs, SyncArgs};
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::measure::{bytes_text, count_text, counted, seconds_text};
use crate::metadata::Freshness;
use crate::output::Answer;
use crate::paths::Paths;
use crate::session::{Request, Session};

/// The time a new job may take to record its id.
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) fn run_index(common: &Common, args: &IndexArgs) -> Result<Answer, AppError> {
    let began = Instant::now();
    let session = Session::open(common, args.path.as_deref())?;
    let target = session.target(args.ref_name.as_deref())?;
    let explained = |error| session.explain(error, args.ref_name.as_deref());
    let request = Request { force: args.force, upgrade: true, ..Request::default() };
    let outcome = when_free(|| session.sync(&target, request.clone())).map_err(explained)?;
    summary(&session, &outcome, began.elapsed())
}

pub(crate) fn run_sync(common: &Common, args: &SyncArgs) -> Result<Answer, AppError> {
    let began = Instant::now();
    let session = Session::open(common, args.path.as_deref())?;
    let target = session.target(args.ref_name.as_deref())?;
    let changed = match args.changed.as_slice() {
        [] => None,
        paths => Some(changed_files(&session, paths)?),
    };
    let request = Request { force: args.force, changed, ..Request::default() };
    let outcome = match when_free(|| session.sync(&target, request.clone())) {
        Err(error) if error.code == Code::IndexInProgress => sync_behind(&session, &target, request, error),
        outcome => outcome,
    };
    let outcome = outcome.map_err(|error| session.explain(error, args.ref_name.as_deref()))?;
    summary(&session, &outcome, began.elapsed())
}

/// Another job is running: for the same view this is reported; for another view this sync waits.
fn sync_behind(session: &Session, target: &Target, request: Request, error: AppError) -> Result<Outcome, AppError> {
    match session.active_job() {
        Some(job) if job.view.as_ref() == Some(&target.key) => Err(AppError {
            code: Code::SyncInProgress,
            message: format!("{} is already being synced by job {}.", target.ref_name, job.id),
            ..error.data(json!({ "job_id": job.id }))
        }),
        _ => session.sync(target, Request { wait: true, ..request }),
    }
}

/// Retries while another writer has no recorded job: it has just started or is about to end.
fn when_free(attempt: impl Fn() -> Result<Outcome, AppError>) -> Result<Outcome, AppError> {
    let began = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if error.code == Code::IndexInProgress
                    && error.more.data["job_id"].is_null()
                    && began.elapsed() < PATIENCE =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

/// Changed files as paths of the index.
fn changed_files(session: &Session, given: &[PathBuf]) -> Result<Vec<String>, AppError> {
    let paths = Paths::from_here(session);
    let mut changed = Vec::new();
    for path in given {
        let wrong = || AppError::new(Code::InvalidInput, format!("{} is not UTF-8.", path.display()));
        changed.extend(paths.on_disk("changed", path.to_str().ok_or_else(wrong)?)?);
    }
    Ok(changed)
}

fn summary(session: &Session, outcome: &Outcome, took: Duration) -> Result<Answer, AppError> {
    let store = session.store()?;
    let view = store
        .view(&outcome.target.key)?
        .ok_or_else(|| AppError::new(Code::InternalError, "The view that was just published is missing."))?;
    let disk = session.dir.disk_bytes();
    let mut metadata = session.metadata(&outcome.target, Some(&view));
    metadata.freshness = Freshness::Fresh;
    let json = json!({
        "job_id": outcome.job_id,
        "status": "published",
        "mode": outcome.mode.as_str(),
        "file_count": view.totals.files,
        "changed_files": outcome.changed_files,
        "extracted_files": outcome.extracted,
        "symbol_count": view.totals.symbols,
        "line_count": view.totals.lines,
        "source_bytes": view.totals.bytes,
        "skipped": skipped_json(outcome),
        "index_bytes": disk,
        "generation": outcome.generation,
        "duration_ms": took.as_millis() as u64,
        "metadata": metadata.to_json(),
    });
    Ok(Answer { text: summary_text(outcome, &view, disk, took, &metadata.warnings), json, code: 0 })
}

fn summary_text(outcome: &Outcome, view: &ViewInfo, disk: u64, took: Duration, warnings: &[String]) -> String {
    let totals = view.totals;
    let commit = view.commit.as_deref().map(|commit| format!(" at {}", &commit[..commit.len().min(12)]));
    let place = if outcome.target.is_worktree() { "work tree" } else { "git" };
    let mut text = format!(
        "Indexed {} ({place}{}) in {}: {} changed, {} extracted\n  {}, {}, {}, {} of source\n",
        shown(&outcome.target.ref_name),
        commit.unwrap_or_default(),
        seconds_text(took),
        counted(outcome.changed_files, "file"),
        count_text(outcome.extracted),
        counted(totals.files as u64, "file"),
        counted(totals.lines as u64, "line"),
        counted(totals.symbols as u64, "symbol"),
        bytes_text(totals.bytes as u64),
    );
    if outcome.skips.total() > 0 {
        text += &format!("  {} skipped:\n", count_text(outcome.skips.total()));
        for (reason, count, examples) in outcome.skips.iter() {
            let example = examples.first().map(|path| shown(path).into_owned()).unwrap_or_default();
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
        text += &format!("  warning: {}\n", shown(warning));
    }
    text
}

fn skipped_json(outcome: &Outcome) -> Value {
    let mut skipped = Map::new();
    for (reason, count, _) in outcome.skips.iter() {
        skipped.insert(reason.as_str().into(), json!(count));
    }
    Value::Object(skipped)
}
