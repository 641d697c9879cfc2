//! What a sync has to do: every file of a listing is either known, or has to be read.

use std::collections::HashMap;

use codecompass_model::{BlobId, SkipReason, VersionId};
use codecompass_store::{CachedStat, KnownVersion, RoaringBitmap, Stat, Writer};

use crate::source::{Entry, FileStat, Listing, Place, Secrets, Skips};
use crate::{IndexError, is_current};

/// The files of a view, sorted into what is known and what has to be read.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Versions that are in the view.
    pub(crate) members: RoaringBitmap,
    /// Versions that their content keeps out of it.
    pub(crate) skipped: RoaringBitmap,
    /// What was left out, and why.
    pub(crate) skips: Skips,
    /// Files that have to be read.
    pub(crate) work: Vec<Work>,
    /// What is to be remembered of files that were recognised without reading.
    pub(crate) seen: Vec<(String, CachedStat)>,
    /// Remembered paths that the listing does not have.
    pub(crate) gone: Vec<String>,
    /// How many files the listing has.
    pub(crate) listed: u64,
}

/// A file that has to be read.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) entry: Entry,
    /// Stored versions of the same path that its bytes may turn out to be.
    pub(crate) known: Vec<KnownVersion>,
}

/// More files than this that nobody remembers are looked up all at once.
const MANY: usize = 200;

/// What a plan is made against.
pub(crate) struct Known<'w> {
    pub(crate) writer: &'w Writer,
    /// What is remembered of the work tree's files; empty for git objects.
    pub(crate) cache: HashMap<String, CachedStat>,
    /// The versions the view before remembered as skipped.
    pub(crate) skipped: RoaringBitmap,
    /// Whether the view before was made by the same extraction, so that what it holds is current.
    pub(crate) same_extraction: bool,
    /// Versions below this one do not count as known: all of them do when everything is extracted anew.
    pub(crate) since: VersionId,
    /// What counts as a secret now.
    pub(crate) secrets: &'w Secrets,
}

impl Known<'_> {
    /// Sorts the files of a listing.
    pub(crate) fn plan(mut self, listing: Listing) -> Result<Plan, IndexError> {
        let nothing_stored = self.writer.is_empty()?;
        let strangers = listing.entries.iter().filter(|entry| !self.cache.contains_key(&entry.path)).count();
        let mut all = match strangers > MANY && !nothing_stored {
            true => Some(self.writer.known_by_path()?),
            false => None,
        };
        let mut plan = Plan { skips: listing.skips, listed: listing.entries.len() as u64, ..Plan::default() };
        for entry in listing.entries {
            let cached = self.cache.remove(&entry.path);
            if let Some(version) = self.unchanged(&entry, cached)? {
                self.take(&mut plan, version, &entry.path)?;
                continue;
            }
            let known = match &mut all {
                _ if nothing_stored => Vec::new(),
                Some(all) => all.remove(&entry.path).unwrap_or_default(),
                None => self.writer.known(&entry.path)?,
            };
            let known = self.current(known, &entry.path);
            match recognise(&entry, &known) {
                Some(found) => {
                    let (id, skip) = (found.id, found.skip);
                    plan.put(id, skip, &entry.path);
                    if let Place::File { stat, .. } = entry.place {
                        plan.seen.push((entry.path, CachedStat { stat: stored_stat(stat), version: id }));
                    }
                }
                None => plan.work.push(Work { entry, known }),
            }
        }
        plan.gone = self.cache.into_keys().collect();
        Ok(plan)
    }

    /// The version a work-tree file still has, if its stat says so.
    fn unchanged(&self, entry: &Entry, cached: Option<CachedStat>) -> Result<Option<VersionId>, IndexError> {
        let (Place::File { stat, .. }, Some(cached)) = (&entry.place, cached) else {
            return Ok(None);
        };
        if cached.version < self.since || stored_stat(*stat) != cached.stat {
            return Ok(None);
        }
        if self.same_extraction {
            return Ok(Some(cached.version));
        }
        Ok(self
            .writer
            .known_by_id(cached.version)?
            .filter(|known| self.holds(known, &entry.path))
            .map(|known| known.id))
    }

    fn take(&self, plan: &mut Plan, version: VersionId, path: &str) -> Result<(), IndexError> {
        let skip = match self.skipped.contains(version) || !self.same_extraction {
            true => self.writer.known_by_id(version)?.and_then(|known| known.skip),
            false => None,
        };
        plan.put(version, skip, path);
        Ok(())
    }

    fn current(&self, mut known: Vec<KnownVersion>, path: &str) -> Vec<KnownVersion> {
        known.retain(|known| known.id >= self.since && self.holds(known, path));
        known
    }

    /// Whether what is stored of a version still holds. What was kept out for a secret in it is read again once the user
    /// asks for its path.
    fn holds(&self, known: &KnownVersion, path: &str) -> bool {
        let is_asked_for = known.skip == Some(SkipReason::Secret) && self.secrets.is_allowed(path);
        is_current(known) && !is_asked_for
    }
}

impl Plan {
    /// Puts a version where it belongs.
    pub(crate) fn put(&mut self, version: VersionId, skip: Option<SkipReason>, path: &str) {
        match skip {
            None => {
                self.members.insert(version);
            }
            Some(reason) => {
                self.skipped.insert(version);
                self.skips.add(reason, path);
            }
        }
    }
}

/// The stored version a file is, as far as that can be told without reading it. The id in git's index names the bytes
/// git would store; where they differ from the bytes on disk (line-end conversion, filters), so does the size.
fn recognise<'k>(entry: &Entry, known: &'k [KnownVersion]) -> Option<&'k KnownVersion> {
    let (blob, size) = match &entry.place {
        Place::Blob(blob) => (Some(*blob), None),
        Place::File { index_blob, .. } => (*index_blob, Some(entry.size)),
    };
    find(known, blob?).filter(|found| size.is_none_or(|size| size == found.size))
}

/// The stored version with these bytes.
pub(crate) fn find(known: &[KnownVersion], blob: BlobId) -> Option<&KnownVersion> {
    known.iter().find(|known| known.blob == blob)
}

/// A listing's stat as the store keeps it.
pub(crate) fn stored_stat(stat: FileStat) -> Stat {
    Stat { size: stat.size, mtime: stat.mtime_ns, ctime: stat.ctime_ns, inode: stat.inode }
}
