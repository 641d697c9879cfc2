//! Reads and extracts files in parallel, and writes on one thread.
//!
//! Workers read, hash, extract and encode. The calling thread receives their results and passes them to the store. The
//! channel between them is short, so memory is bounded by its capacity and the store's batch, not by the size of the
//! repository.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use codecompass_lang::extract_as;
use codecompass_model::{SkipReason, VersionId};
use codecompass_store::{CachedStat, JobProgress, NewVersion, SecretRules, Stat, StoredVersion, Writer};
use rayon::prelude::*;

use crate::plan::{Plan, ViewContents, Work, find, stored_stat};
use crate::source::{
    BlobReader, Content, ContentSource, FileStat, LanguageOverrides, Refused, Repo, Root, Secrets, SourceError,
    blob_id, content_skip_reason,
};
use crate::{CONTENT_RULES, IndexError};

/// The maximum number of results that wait to be written.
const CHANNEL_CAPACITY: usize = 16;

/// The granularity of a file system's clock: an edit within this time of a read may leave the stat unchanged.
const CLOCK_GRANULARITY_NS: i64 = 20_000_000;
const COARSE_CLOCK_GRANULARITY_NS: i64 = 2_000_000_000;

/// The time limit for extracting one file; real files take a thousandth of it. The parser counts its steps, but some
/// texts make its error recovery extremely slow. A file that exceeds the limit is skipped and reported, and nothing of
/// it is stored: facts must not depend on the speed of a machine, and the next sync tries again.
const EXTRACT_TIMEOUT: Duration = Duration::from_secs(20);

/// The progress of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Listing the files.
    Listing,
    /// Reading and extracting.
    Extracting {
        /// Files done.
        done: u64,
        /// Files to do.
        total: u64,
        /// Bytes read so far.
        bytes: u64,
    },
    /// Publishing the view.
    Publishing,
    /// The view is visible to readers; cleaning up follows.
    Published,
}

/// The outcome of reading one file.
enum ReadOutcome {
    /// The bytes are already stored.
    Known(VersionId, Option<SkipReason>),
    /// The bytes are new to the store.
    New(Box<NewVersion>, Option<SkipReason>),
    /// The file was skipped, and no version can be stored.
    Unread(SkipReason),
    /// The file was deleted between listing and reading.
    Vanished,
}

struct FileResult {
    path: String,
    size: u64,
    stat: Option<Stat>,
    read: ReadOutcome,
}

/// The sources that workers read from, and the rules they apply.
pub(crate) struct ReadContext<'a> {
    /// The work tree; `None` if its folder no longer exists.
    pub(crate) root: Option<Root>,
    /// Larger files are skipped, including those that grew after they were listed.
    pub(crate) max_file_bytes: u64,
    pub(crate) repo: Option<&'a Repo>,
    pub(crate) secrets: &'a Secrets,
    pub(crate) chosen: &'a LanguageOverrides,
}

/// Counts of a pipeline run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExtractCounts {
    /// Versions that are new to the store.
    pub(crate) new: u64,
    /// Symbols in them.
    pub(crate) symbols: u64,
}

/// Creates the threads that read and extract; 0 means one per core.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool, IndexError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| IndexError::Threads(error.to_string()))
}

/// Executes the plan and returns the contents of the view.
pub(crate) fn run(
    plan: Plan,
    place: &ReadContext<'_>,
    writer: &mut Writer,
    job: &str,
    pool: &rayon::ThreadPool,
    cancel: &AtomicBool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(ViewContents, ExtractCounts), IndexError> {
    let Plan { known: mut contents, work } = plan;
    let total = work.len() as u64;
    let mut counts = ExtractCounts::default();
    if work.is_empty() {
        return Ok((contents, counts));
    }
    let first = writer.reserve(work.len() as u32)?;
    let (sender, receiver) = crossbeam_channel::bounded::<FileResult>(CHANNEL_CAPACITY);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let sender = sender;
            pool.install(|| read_all(work, first, place, cancel, &sender));
        });
        let (mut done, mut bytes) = (0, 0);
        for result in receiver {
            done += 1;
            bytes += result.size;
            apply_result(&mut contents, writer, result, &mut counts)?;
            progress(Progress::Extracting { done, total, bytes });
            if done % 512 == 0 {
                report(writer, job, contents.listed, contents.listed - (total - done), &counts)?;
            }
        }
        Ok::<(), IndexError>(())
    })?;
    if cancel.load(Ordering::Relaxed) {
        return Err(IndexError::Cancelled);
    }
    report(writer, job, contents.listed, contents.listed, &counts)?;
    Ok((contents, counts))
}

fn report(
    writer: &mut Writer,
    job: &str,
    files_total: u64,
    files_scanned: u64,
    counts: &ExtractCounts,
) -> Result<(), IndexError> {
    let progress =
        JobProgress { files_total, files_scanned, files_indexed: counts.new, symbols_extracted: counts.symbols };
    Ok(writer.report(job, codecompass_store::JobStatus::Running, progress)?)
}

/// Ends early when the receiver is gone or the caller cancelled.
fn read_all(
    work: Vec<Work>,
    first: VersionId,
    place: &ReadContext<'_>,
    cancel: &AtomicBool,
    sender: &crossbeam_channel::Sender<FileResult>,
) {
    let reader = || place.repo.map(Repo::reader);
    // An error here only means that the receiver stopped, and it reports why.
    let _ = work.into_par_iter().enumerate().try_for_each_init(reader, |reader, (at, work)| {
        if cancel.load(Ordering::Relaxed) {
            return Err(());
        }
        let id = first + at as VersionId;
        sender.send(read_one(work, id, place, reader.as_mut())).map_err(drop)
    });
}

fn apply_result(
    contents: &mut ViewContents,
    writer: &mut Writer,
    done: FileResult,
    counts: &mut ExtractCounts,
) -> Result<(), IndexError> {
    let id = match done.read {
        ReadOutcome::Known(id, skip) => {
            contents.add_version(id, skip, &done.path);
            id
        }
        ReadOutcome::New(version, skip) => {
            let id = version.id();
            counts.new += u64::from(skip.is_none());
            counts.symbols += version.symbol_count() as u64;
            contents.add_version(id, skip, &done.path);
            writer.add(*version)?;
            id
        }
        ReadOutcome::Unread(reason) => {
            contents.add_skip(reason, done.path);
            return Ok(());
        }
        ReadOutcome::Vanished => {
            contents.gone.push(done.path);
            return Ok(());
        }
    };
    if let Some(stat) = done.stat {
        contents.seen.push((done.path, CachedStat { stat, version: id }));
    }
    Ok(())
}

fn read_one(work: Work, id: VersionId, from: &ReadContext<'_>, reader: Option<&mut BlobReader>) -> FileResult {
    let Work { entry, known } = work;
    let (path, size) = (entry.path, entry.size);
    let (bytes, stat) = match entry.source {
        ContentSource::Blob(blob) => (read_blob(reader, &blob), None),
        ContentSource::File { stat, .. } => read_file(from, &path, stat),
    };
    let read = match bytes {
        Ok(bytes) => read_bytes(bytes, id, &path, &known, from),
        Err(None) => ReadOutcome::Vanished,
        Err(Some(reason)) => ReadOutcome::Unread(reason),
    };
    FileResult { path, size, stat, read }
}

fn read_blob(reader: Option<&mut BlobReader>, blob: &codecompass_model::BlobId) -> Result<Vec<u8>, Option<SkipReason>> {
    let reader = reader.ok_or(Some(SkipReason::Unreadable))?;
    reader.read(blob).map_err(|error| match error {
        SourceError::MissingObject { .. } => Some(SkipReason::MissingObject),
        _ => Some(SkipReason::Unreadable),
    })
}

/// Returns the bytes, and the stat to cache. That stat never matches if the file may change without changing its stat,
/// or if the opened file is not the listed one.
fn read_file(
    from: &ReadContext<'_>,
    path: &str,
    listed: FileStat,
) -> (Result<Vec<u8>, Option<SkipReason>>, Option<Stat>) {
    let started = now_ns();
    let read = from.root.as_ref().ok_or(Refused::Missing).and_then(|root| root.read(path, from.max_file_bytes));
    let stat = stored_stat(listed);
    let blur = if stat.mtime % 1_000_000_000 == 0 { COARSE_CLOCK_GRANULARITY_NS } else { CLOCK_GRANULARITY_NS };
    let is_same = |content: &Content| content.stat == listed && content.bytes.len() as u64 == listed.size;
    let settled = stat.mtime.max(stat.ctime) < started - blur;
    let stat = if read.as_ref().is_ok_and(is_same) && settled { stat } else { Stat { mtime: i64::MIN, ..stat } };
    (read.map(|content| content.bytes).map_err(skip_reason), Some(stat))
}

/// Returns why a listed file is skipped now; `None` if it was deleted.
fn skip_reason(refused: Refused) -> Option<SkipReason> {
    match refused {
        Refused::Missing => None,
        Refused::Link => Some(SkipReason::Symlink),
        Refused::NotAFile => Some(SkipReason::NotAFile),
        Refused::TooLarge => Some(SkipReason::TooLarge),
        Refused::Unreadable => Some(SkipReason::Unreadable),
    }
}

fn now_ns() -> i64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos() as i64)
}

fn read_bytes(
    bytes: Vec<u8>,
    id: VersionId,
    path: &str,
    known: &[StoredVersion],
    from: &ReadContext<'_>,
) -> ReadOutcome {
    let blob = blob_id(&bytes);
    if let Some(found) = find(known, blob) {
        return ReadOutcome::Known(found.id, found.skip);
    }
    let size = bytes.len() as u64;
    let skipped = |reason| {
        let version = NewVersion::skipped(id, path.to_owned(), blob, size, CONTENT_RULES, reason);
        ReadOutcome::New(Box::new(version), Some(reason))
    };
    if let Some(reason) = content_skip_reason(path, &bytes) {
        return skipped(reason);
    }
    let began = Instant::now();
    let go_on = || began.elapsed() < EXTRACT_TIMEOUT;
    let Some(extracted) = extract_as(path, bytes, from.chosen.language_for(path), &go_on) else {
        return ReadOutcome::Unread(SkipReason::TooSlow);
    };
    if from.secrets.has_secret(path, extracted.language, &extracted.text) {
        return skipped(SkipReason::Secret);
    }
    let language = (extracted.language, extracted.facts_version);
    let version = NewVersion::new(id, path.to_owned(), blob, size, language, &extracted.facts, &extracted.text);
    ReadOutcome::New(Box::new(version), None)
}
