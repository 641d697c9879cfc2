//! `codecompass bench index`: indexing compared with walking, reading and parsing the same files with the same threads.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use codecompass_index::source::list_worktree;
use codecompass_index::{Progress, bench};
use codecompass_wire::commands::bench as wire;

use crate::cli::Common;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::{bytes_text, count_text, cpu_time, private_bytes};
use codecompass_workspace::session::{Session, SyncRequest};

/// The number of runs of each short stage; the fastest counts.
const ROUNDS: usize = 5;

/// The cost of a stage.
#[derive(Clone, Copy, Debug)]
struct StageCost {
    cpu: Duration,
    wall: Duration,
    /// The peak private memory during the stage, minus the amount before it.
    memory: u64,
}

pub(super) fn measure(
    data: &Path,
    common: &Common,
    path: &Path,
    threads: usize,
) -> Result<(String, wire::Indexing), AppError> {
    let mut session = Session::open_in(data, &common.session_options(), Some(path))?;
    session.config.threads = threads;
    let target = session.target(None)?;
    if !target.is_worktree() {
        return Err(AppError::new(Code::InvalidInput, "A bare repository has no work tree to measure."));
    }
    let (_, walk) = fastest(|| Ok(bench::walk(&session.workspace.root, threads)))?;
    let limits = session.limits();
    let (parsed, parse) = cost(|| Ok(bench::parse(&session.workspace, &limits, threads)?))?;
    let (_, full) = cost(|| session.sync(&target, SyncRequest::default()))?;
    let index_bytes = session.dir.disk_bytes();
    let (_, noop) = fastest(|| session.sync(&target, SyncRequest::default()))?;
    let one = single_file_sync_time(data, common, &session)?;
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64().max(1e-6);
    let rows = [("walk+stat", walk), ("walk+read+parse", parse), ("full index", full), ("no-op sync", noop)];
    let mut text = format!(
        "{}: {} files, {} lines, {}, {threads} threads\n",
        escape_control(&session.root()),
        count_text(parsed.files),
        count_text(parsed.lines),
        bytes_text(parsed.bytes)
    );
    for (name, cost) in rows {
        text += &format!(
            "  {name:<16} {:>9.1} ms wall {:>9.1} ms cpu {:>10} private\n",
            cost.wall.as_secs_f64() * 1e3,
            cost.cpu.as_secs_f64() * 1e3,
            bytes_text(cost.memory)
        );
    }
    let lines_per_second = parsed.lines as f64 / full.wall.as_secs_f64();
    text += &format!(
        "  full index over read+parse: {:.2} cpu, {:.2} wall; {} lines/s; index over source: {:.2}\n  no-op sync over walk+stat: {:.2} wall, {:.2} cpu; one changed file: {}\n",
        ratio(full.cpu, parse.cpu),
        ratio(full.wall, parse.wall),
        count_text(lines_per_second as u64),
        index_bytes as f64 / parsed.bytes.max(1) as f64,
        ratio(noop.wall, walk.wall),
        ratio(noop.cpu, walk.cpu),
        one.map_or("not measured: no files".into(), |one| format!("{:.1} ms", one.as_secs_f64() * 1e3)),
    );
    let ms = |time: Duration| (time.as_secs_f64() * 1e4).round() / 10.0;
    let stages = rows.map(|(name, cost)| wire::Stage {
        stage: name.into(),
        wall_ms: ms(cost.wall),
        cpu_ms: ms(cost.cpu),
        private_bytes: cost.memory,
    });
    let report = wire::Indexing {
        path: session.root(),
        threads,
        files: parsed.files,
        lines: parsed.lines,
        bytes: parsed.bytes,
        index_bytes,
        stages: stages.into(),
        full_over_parse_cpu: ratio(full.cpu, parse.cpu),
        full_over_parse_wall: ratio(full.wall, parse.wall),
        lines_per_second,
        index_over_source: index_bytes as f64 / parsed.bytes.max(1) as f64,
        noop_over_walk_wall: ratio(noop.wall, walk.wall),
        noop_over_walk_cpu: ratio(noop.cpu, walk.cpu),
        one_file_ms: one.map(ms),
    };
    Ok((text, report))
}

/// The median time from a known change of one file to its publication. The user's work tree is never written: the files
/// are first copied into the scratch folder, and the copy is changed.
fn single_file_sync_time(data: &Path, common: &Common, original: &Session) -> Result<Option<Duration>, AppError> {
    let copy = data.join("copy");
    let listing = list_worktree(&original.workspace, &original.limits())?;
    let Some(changing) = listing.entries.get(listing.entries.len() / 2).map(|entry| entry.path.clone()) else {
        return Ok(None);
    };
    for entry in &listing.entries {
        copy_file(&original.workspace.root.join(&entry.path), &copy.join(&entry.path)).map_err(cannot_copy)?;
    }
    let session = Session::open_in(&data.join("copy-data"), &common.session_options(), Some(&copy))?;
    let target = session.target(None)?;
    session.sync(&target, SyncRequest::default())?;
    let mut times = Vec::new();
    for round in 0..21 {
        let mut bytes = fs::read(copy.join(&changing)).map_err(cannot_copy)?;
        bytes.extend_from_slice(format!("\n{round}\n").as_bytes());
        fs::write(copy.join(&changing), bytes).map_err(cannot_copy)?;
        let (began, published) = (Instant::now(), Mutex::new(None));
        let note = |progress| {
            if progress == Progress::Published
                && let Ok(mut published) = published.lock()
            {
                *published = Some(began.elapsed());
            }
        };
        let request = SyncRequest { changed: Some(vec![changing.clone()]), ..SyncRequest::default() };
        session.sync_with_progress(&target, request, &note)?;
        times.extend(published.into_inner().ok().flatten());
    }
    times.sort();
    Ok(times.get(times.len() / 2).copied())
}

fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, fs::read(from)?)
}

fn cannot_copy(error: std::io::Error) -> AppError {
    AppError::new(Code::InternalError, format!("Cannot copy the files: {error}."))
}

fn fastest<T>(mut stage: impl FnMut() -> Result<T, AppError>) -> Result<(T, StageCost), AppError> {
    let mut best = cost(&mut stage)?;
    for _ in 1..ROUNDS {
        let next = cost(&mut stage)?;
        if next.1.wall < best.1.wall {
            best = next;
        }
    }
    Ok(best)
}

fn cost<T>(stage: impl FnOnce() -> Result<T, AppError>) -> Result<(T, StageCost), AppError> {
    let before = private_bytes().unwrap_or(0);
    let (peak, over) = (AtomicU64::new(before), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                peak.fetch_max(private_bytes().unwrap_or(0), Ordering::Relaxed);
                std::thread::park_timeout(Duration::from_millis(5));
            }
        });
        let (wall, cpu) = (Instant::now(), cpu_time());
        let outcome = stage();
        let spent = StageCost { cpu: cpu_time() - cpu, wall: wall.elapsed(), memory: 0 };
        over.store(true, Ordering::Relaxed);
        let memory = peak.load(Ordering::Relaxed);
        Ok((outcome?, StageCost { memory, ..spent }))
    })
}
