//! The floors that indexing is measured against: what any tool would have to do.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use ignore::{WalkBuilder, WalkState};
use rayon::prelude::*;

use crate::IndexError;
use crate::source::{Limits, Workspace, list_worktree};

/// Walks a tree with no rules but to stay out of `.git`, and asks for the status of every file. Gives their number.
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

/// Walks a tree with the rules of ignore files, reads every file, and looks for bytes in it: what a search without an
/// index has to do at least. Gives the number of files that hold them.
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

/// What was read and parsed.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseStats {
    /// Files.
    pub files: u64,
    /// Bytes in them.
    pub bytes: u64,
    /// Lines in them.
    pub lines: u64,
    /// Nodes or tokens, so that nothing is optimised away.
    pub units: u64,
}

/// Lists the files that an index would read, reads them, parses those with a grammar and splits the others into
/// words; keeps nothing.
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
