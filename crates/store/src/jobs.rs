//! Jobs: running, finished and interrupted index runs.
//!
//! Only the process that holds the write lock writes a job, so an active job while the lock is free was interrupted.

use codecompass_model::ViewKey;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::Result;

/// The maximum number of finished jobs that are kept.
const MAX_ENDED_JOBS: i64 = 50;

/// The status of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// Waiting for its turn.
    Queued,
    /// Reading and extracting files.
    Running,
    /// Checking the result before it is published.
    Validating,
    /// Done: readers see its view.
    Published,
    /// Ended by an error; the last published state stays in use.
    Failed,
    /// Its process ended early; the last published state stays in use.
    Interrupted,
}

impl JobStatus {
    const ALL: [JobStatus; 6] = [
        JobStatus::Queued,
        JobStatus::Running,
        JobStatus::Validating,
        JobStatus::Published,
        JobStatus::Failed,
        JobStatus::Interrupted,
    ];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            JobStatus::Queued => "queued",
            JobStatus::Running => "running",
            JobStatus::Validating => "validating",
            JobStatus::Published => "published",
            JobStatus::Failed => "failed",
            JobStatus::Interrupted => "interrupted",
        }
    }

    /// Whether the job has not ended.
    pub const fn is_active(self) -> bool {
        matches!(self, JobStatus::Queued | JobStatus::Running | JobStatus::Validating)
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// The scope of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobMode {
    /// A first index, or a forced one.
    Full,
    /// Changed files only.
    Incremental,
}

impl JobMode {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            JobMode::Full => "full",
            JobMode::Incremental => "incremental",
        }
    }
}

/// The counters of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobProgress {
    /// Files to check; 0 before the number is known.
    pub files_total: u64,
    /// Files checked.
    pub files_scanned: u64,
    /// Files extracted.
    pub files_indexed: u64,
    /// Symbols found in them.
    pub symbols_extracted: u64,
}

/// A recorded job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// The view it builds.
    pub view: Option<ViewKey>,
    /// The ref it is for.
    pub ref_name: String,
    /// Its scope.
    pub mode: JobMode,
    /// Its status.
    pub status: JobStatus,
    /// The number of files that differ from the previous view; known once it has ended.
    pub changed_files: Option<u64>,
    /// Its counters.
    pub progress: JobProgress,
    /// The reason of a failure.
    pub error: Option<String>,
    /// When it started, in milliseconds since 1970.
    pub created_at: i64,
    /// When it ended.
    pub finished_at: Option<i64>,
}

pub(crate) fn start(
    connection: &Connection,
    id: &str,
    view: &ViewKey,
    ref_name: &str,
    mode: JobMode,
    now: i64,
) -> Result<()> {
    connection.execute(
        "INSERT INTO jobs (job_id, view, ref, mode, status, files_total, files_scanned, files_indexed,
         symbols_extracted, created_at) VALUES (?1, ?2, ?3, ?4, 'running', 0, 0, 0, 0, ?5)",
        params![id, view.encode(), ref_name, mode.as_str(), now],
    )?;
    connection.execute("DELETE FROM jobs WHERE number <= (SELECT max(number) FROM jobs) - ?1", [MAX_ENDED_JOBS])?;
    Ok(())
}

pub(crate) fn update(connection: &Connection, id: &str, status: JobStatus, progress: JobProgress) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET status = ?2, files_total = ?3, files_scanned = ?4, files_indexed = ?5,
             symbols_extracted = ?6 WHERE job_id = ?1",
        )?
        .execute(params![
            id,
            status.as_str(),
            progress.files_total as i64,
            progress.files_scanned as i64,
            progress.files_indexed as i64,
            progress.symbols_extracted as i64,
        ])?;
    Ok(())
}

pub(crate) fn end(
    connection: &Connection,
    id: &str,
    status: JobStatus,
    changed_files: Option<u64>,
    error: Option<&str>,
    now: i64,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET status = ?2, changed_files = ?3, error = ?4, finished_at = ?5 WHERE job_id = ?1",
        )?
        .execute(params![id, status.as_str(), changed_files.map(|count| count as i64), error, now])?;
    Ok(())
}

/// Marks the jobs of a dead process. The caller must hold the write lock and call this before it starts its own job.
pub(crate) fn mark_interrupted(connection: &Connection, now: i64) -> Result<usize> {
    Ok(connection.execute(
        "UPDATE jobs SET status = 'interrupted', finished_at = ?1
         WHERE status IN ('queued', 'running', 'validating')",
        [now],
    )?)
}

/// Returns the newest jobs first.
pub(crate) fn recent(connection: &Connection, limit: usize) -> Result<Vec<Job>> {
    let mut select = connection.prepare_cached(
        "SELECT job_id, view, ref, mode, status, changed_files, files_total, files_scanned, files_indexed,
         symbols_extracted, error, created_at, finished_at FROM jobs ORDER BY number DESC LIMIT ?1",
    )?;
    let rows = select.query_map([limit as i64], job_row)?;
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?)
}

/// Returns the next job number, which is part of a job's id.
pub(crate) fn next_number(connection: &Connection) -> Result<i64> {
    let last: Option<i64> =
        connection.query_row("SELECT max(number) FROM jobs", [], |row| row.get(0)).optional()?.flatten();
    Ok(last.unwrap_or(0).saturating_add(1))
}

fn job_row(row: &Row<'_>) -> rusqlite::Result<Job> {
    let count = |at: usize| row.get::<_, i64>(at).map(|count| count as u64);
    Ok(Job {
        id: row.get(0)?,
        view: ViewKey::decode(row.get_ref(1)?.as_str()?),
        ref_name: row.get(2)?,
        mode: if row.get_ref(3)?.as_str()? == "full" { JobMode::Full } else { JobMode::Incremental },
        status: JobStatus::parse(row.get_ref(4)?.as_str()?).unwrap_or(JobStatus::Failed),
        changed_files: row.get::<_, Option<i64>>(5)?.map(|count| count as u64),
        progress: JobProgress {
            files_total: count(6)?,
            files_scanned: count(7)?,
            files_indexed: count(8)?,
            symbols_extracted: count(9)?,
        },
        error: row.get(10)?,
        created_at: row.get(11)?,
        finished_at: row.get(12)?,
    })
}
