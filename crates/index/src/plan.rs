//! Plans a sync: each file of a listing is either known or has to be read.
//!
//! A [`Plan`] lists the work. [`ViewContents`] holds what is known of a view: first what the plan knew, then also the
//! results of the pipeline.

use std::collections::HashMap;

use codecompass_model::{BlobId, SkipReason, VersionId};
use codecompass_store::{CachedStat, RoaringBitmap, Stat, StoredVersion, Writer};

use crate::source::{ContentSource, Entry, FileStat, LanguageOverrides, Listing, Secrets, Skips};
use crate::{IndexError, is_current};

/// The files of a view, divided into known files and files to read.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// Contents known without reading.
    pub(crate) known: ViewContents,
    /// Files to read.
    pub(crate) work: Vec<Work>,
}

/// The contents of a view.
#[derive(Debug, Default)]
pub(crate) struct ViewContents {
    /// Versions in the view.
    pub(crate) members: RoaringBitmap,
    /// Versions that are excluded because of their content.
    pub(crate) skipped: RoaringBitmap,
    /// Skipped files, with reasons.
    pub(crate) skips: Skips,
    /// Stats of files on disk to cache.
    pub(crate) seen: Vec<(String, CachedStat)>,
    /// Paths to remove from the stat cache.
    pub(crate) gone: Vec<String>,
    /// Files that were to be read and have no version.
    pub(crate) unread: Vec<(String, SkipReason)>,
    /// The number of files in the listing.
    pub(crate) listed: u64,
}

/// A file to read.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) entry: Entry,
    /// Stored versions of the same path whose bytes may equal those of the file.
    pub(crate) known: Vec<StoredVersion>,
}

/// With more uncached files than this, stored versions are looked up in one bulk query.
const BULK_LOOKUP_THRESHOLD: usize = 200;

/// The stored state that a plan is made against.
pub(crate) struct Planner<'w> {
    pub(crate) writer: &'w Writer,
    /// The cached stats of the work tree's files; empty for git objects.
    pub(crate) cache: HashMap<String, CachedStat>,
    /// The versions that the previous view recorded as skipped.
    pub(crate) skipped: RoaringBitmap,
    /// Whether the previous view was made with the same extraction key, so that its contents are current.
    pub(crate) same_extraction: bool,
    /// Versions below this one do not count as known. Excludes all of them when everything is extracted again.
    pub(crate) since: VersionId,
    /// The current rules about secrets.
    pub(crate) secrets: &'w Secrets,
    /// The current language overrides.
    pub(crate) chosen: &'w LanguageOverrides,
    /// Results of earlier reads in the same job.
    pub(crate) earlier: EarlierReads,
}

/// Results of reading files, by path: the stat at listing time, and the outcome.
#[derive(Debug, Default)]
pub(crate) struct EarlierReads(HashMap<String, (Stat, Result<CachedStat, SkipReason>)>);

impl EarlierReads {
    /// Combines the listed stats with the outcome of reading these files.
    pub(crate) fn new(mut listed: HashMap<String, Stat>, read: ViewContents) -> Self {
        let seen = read.seen.into_iter().map(|(path, cached)| (path, Ok(cached)));
        let unread = read.unread.into_iter().map(|(path, reason)| (path, Err(reason)));
        let of = |(path, found)| {
            let stat = listed.remove(&path)?;
            Some((path, (stat, found)))
        };
        Self(seen.chain(unread).filter_map(of).collect())
    }

    /// Returns the outcome of reading a file, if it still has the stat it was listed with. The next sync decides
    /// whether that stat can be trusted later: reading the file again now would not detect an edit any better.
    fn take_unchanged(&mut self, entry: &Entry) -> Option<Result<CachedStat, SkipReason>> {
        let (listed, found) = self.0.remove(&entry.path)?;
        (stat_of(entry) == Some(listed)).then_some(found)
    }
}

/// Returns the stat that a file on disk was listed with.
pub(crate) fn stat_of(entry: &Entry) -> Option<Stat> {
    match &entry.source {
        ContentSource::File { stat, .. } => Some(stored_stat(*stat)),
        ContentSource::Blob(_) => None,
    }
}

impl Planner<'_> {
    /// Divides the files of a listing.
    pub(crate) fn plan(mut self, listing: Listing) -> Result<Plan, IndexError> {
        let nothing_stored = self.writer.is_empty()?;
        let strangers = listing.entries.iter().filter(|entry| !self.cache.contains_key(&entry.path)).count();
        let mut all = match strangers > BULK_LOOKUP_THRESHOLD && !nothing_stored {
            true => Some(self.writer.versions_by_path()?),
            false => None,
        };
        let mut work = Vec::new();
        let mut contents =
            ViewContents { skips: listing.skips, listed: listing.entries.len() as u64, ..ViewContents::default() };
        for entry in listing.entries {
            let cached = self.cache.remove(&entry.path);
            if let Some(found) = self.earlier.take_unchanged(&entry) {
                self.apply_earlier(&mut contents, entry.path, found)?;
                continue;
            }
            if let Some(version) = self.unchanged(&entry, cached)? {
                self.apply_version(&mut contents, version, &entry.path)?;
                continue;
            }
            let known = match &mut all {
                _ if nothing_stored => Vec::new(),
                Some(all) => all.remove(&entry.path).unwrap_or_default(),
                None => self.writer.versions_at_path(&entry.path)?,
            };
            let known = self.current(known, &entry.path);
            match match_without_reading(&entry, &known) {
                Some(found) => {
                    let (id, skip) = (found.id, found.skip);
                    contents.add_version(id, skip, &entry.path);
                    if let Some(stat) = stat_of(&entry) {
                        contents.seen.push((entry.path, CachedStat { stat, version: id }));
                    }
                }
                None => work.push(Work { entry, known }),
            }
        }
        contents.gone.extend(self.cache.into_keys());
        Ok(Plan { known: contents, work })
    }

    /// Returns the version that a work-tree file still has, according to its stat.
    fn unchanged(&self, entry: &Entry, cached: Option<CachedStat>) -> Result<Option<VersionId>, IndexError> {
        let (ContentSource::File { stat, .. }, Some(cached)) = (&entry.source, cached) else {
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
            .version_by_id(cached.version)?
            .filter(|known| self.is_still_valid(known, &entry.path))
            .map(|known| known.id))
    }

    /// Adds the outcome of an earlier read.
    fn apply_earlier(
        &self,
        contents: &mut ViewContents,
        path: String,
        found: Result<CachedStat, SkipReason>,
    ) -> Result<(), IndexError> {
        match found {
            Ok(cached) => {
                let skip = self.writer.version_by_id(cached.version)?.and_then(|known| known.skip);
                contents.add_version(cached.version, skip, &path);
                contents.seen.push((path, cached));
            }
            Err(reason) => contents.add_skip(reason, path),
        }
        Ok(())
    }

    fn apply_version(&self, contents: &mut ViewContents, version: VersionId, path: &str) -> Result<(), IndexError> {
        let skip = match self.skipped.contains(version) || !self.same_extraction {
            true => self.writer.version_by_id(version)?.and_then(|known| known.skip),
            false => None,
        };
        contents.add_version(version, skip, path);
        Ok(())
    }

    fn current(&self, mut known: Vec<StoredVersion>, path: &str) -> Vec<StoredVersion> {
        known.retain(|known| known.id >= self.since && self.is_still_valid(known, path));
        known
    }

    /// Whether a stored version is still valid. A version that was excluded because of a secret is read again once the
    /// user allows its path.
    fn is_still_valid(&self, known: &StoredVersion, path: &str) -> bool {
        let is_asked_for = known.skip == Some(SkipReason::Secret) && self.secrets.is_allowed(path);
        is_current(known, self.chosen.language_for(path)) && !is_asked_for
    }
}

impl ViewContents {
    /// Adds a version to the members or to the skipped versions.
    pub(crate) fn add_version(&mut self, version: VersionId, skip: Option<SkipReason>, path: &str) {
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

    /// Skips a file that has no version.
    pub(crate) fn add_skip(&mut self, reason: SkipReason, path: String) {
        self.skips.add(reason, &path);
        self.gone.push(path.clone());
        self.unread.push((path, reason));
    }
}

/// Returns the stored version of a file, as far as it can be determined without reading. The id in git's index names
/// the bytes that git would store; if they differ from the bytes on disk (line-end conversion, filters), the sizes
/// differ as well.
fn match_without_reading<'k>(entry: &Entry, known: &'k [StoredVersion]) -> Option<&'k StoredVersion> {
    let (blob, size) = match &entry.source {
        ContentSource::Blob(blob) => (Some(*blob), None),
        ContentSource::File { index_blob, .. } => (*index_blob, Some(entry.size)),
    };
    find(known, blob?).filter(|found| size.is_none_or(|size| size == found.size))
}

/// Returns the stored version with these bytes.
pub(crate) fn find(known: &[StoredVersion], blob: BlobId) -> Option<&StoredVersion> {
    known.iter().find(|known| known.blob == blob)
}

/// Converts a listing's stat to the store's form.
pub(crate) fn stored_stat(stat: FileStat) -> Stat {
    Stat { size: stat.size, mtime: stat.mtime_ns, ctime: stat.ctime_ns, inode: stat.inode }
}
