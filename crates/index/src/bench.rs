//! Baselines for indexing benchmarks: the minimum work that any tool would have to do.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use ignore::{WalkBuilder, WalkState};
use rayon::prelude::*;

use crate::IndexError;
use crate::source::{Limits, Workspace, list_worktree};

/// Walks a tree without ignore rules, skipping only `.git`, and stats every file. Returns the number of files.
pub fn walk(root: &Path, threads: usize) -> u64 {
    let files = AtomicU64::new(0);
    let walker = WalkBuilder::new(root)
        .standard_filters(false)
        .threads(threads)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build_parallel();
    walker.run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.metadata().is_ok_and(|metadata| metadata.is_file())
            {
                files.fetch_add(1, Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    files.into_inner()
}

/// Walks a tree with the rules of ignore files, reads every file and searches it for bytes: the minimum work of a
/// search without an index. Returns the number of files that contain them.
pub fn scan(root: &Path, wanted: &[u8], threads: usize) -> u64 {
    let files = AtomicU64::new(0);
    let finder = memchr::memmem::Finder::new(wanted);
    WalkBuilder::new(root).threads(threads).build_parallel().run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
                && std::fs::read(entry.path()).is_ok_and(|bytes| finder.find(&bytes).is_some())
            {
                files.fetch_add(1, Ordering::Relaxed);
            }
            WalkState::Continue
        })
    });
    files.into_inner()
}

/// Counts of files that were read and parsed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseStats {
    /// The number of files.
    pub files: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Their number of lines.
    pub lines: u64,
    /// Nodes or tokens; counted so that nothing is optimised away.
    pub units: u64,
}

/// Lists the files that an index would read, reads them, parses those with a grammar and splits the others into words.
/// Stores nothing.
pub fn parse(workspace: &Workspace, limits: &Limits, threads: usize) -> Result<ParseStats, IndexError> {
    let listing = list_worktree(workspace, limits)?;
    let pool = crate::pipeline::pool(threads)?;
    let one = |entry: crate::source::Entry| -> ParseStats {
        let Ok(bytes) = std::fs::read(workspace.root.join(&entry.path)) else {
            return ParseStats::default();
        };
        if crate::source::content_skip_reason(&entry.path, &bytes).is_some() {
            return ParseStats::default();
        }
        ParseStats {
            files: 1,
            bytes: bytes.len() as u64,
            lines: bytes.iter().filter(|&&byte| byte == b'\n').count() as u64,
            units: codecompass_lang::parse_only(&entry.path, &bytes) as u64,
        }
    };
    let sum = |a: ParseStats, b: ParseStats| ParseStats {
        files: a.files + b.files,
        bytes: a.bytes + b.bytes,
        lines: a.lines + b.lines,
        units: a.units + b.units,
    };
    Ok(pool.install(|| listing.entries.into_par_iter().map(one).reduce(ParseStats::default, sum)))
}
