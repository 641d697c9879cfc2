//! What a sync has to do: every file of a listing is either known, or has to be read.
//!
//! A [`Plan`] is what is to be done; [`Contents`] is what is known of a view, and grows from what the plan knew to what the
//! pipeline makes of it.

use std::collections::HashMap;

use codecompass_model::{BlobId, SkipReason, VersionId};
use codecompass_store::{CachedStat, RoaringBitmap, Stat, StoredVersion, Writer};

use crate::source::{ContentSource, Entry, FileStat, LanguageOverrides, Listing, Secrets, Skips};
use crate::{IndexError, is_current};

/// The files of a view, sorted into what is known and what has to be read.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// What is known without reading.
    pub(crate) known: ViewContents,
    /// Files that have to be read.
    pub(crate) work: Vec<Work>,
}

/// What is in a view.
#[derive(Debug, Default)]
pub(crate) struct ViewContents {
    /// Versions that are in the view.
    pub(crate) members: RoaringBitmap,
    /// Versions that their content keeps out of it.
    pub(crate) skipped: RoaringBitmap,
    /// What was left out, and why.
    pub(crate) skips: Skips,
    /// What is to be remembered of files on disk.
    pub(crate) seen: Vec<(String, CachedStat)>,
    /// Paths of which nothing is to be remembered any more.
    pub(crate) gone: Vec<String>,
    /// Files that were to be read and left no version behind.
    pub(crate) unread: Vec<(String, SkipReason)>,
    /// How many files the listing has.
    pub(crate) listed: u64,
}

/// A file that has to be read.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) entry: Entry,
    /// Stored versions of the same path that its bytes may turn out to be.
    pub(crate) known: Vec<StoredVersion>,
}

/// More files than this that nobody remembers are looked up all at once.
const BULK_LOOKUP_THRESHOLD: usize = 200;

/// What a plan is made against.
pub(crate) struct Planner<'w> {
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
    /// The languages that are chosen for paths now.
    pub(crate) chosen: &'w LanguageOverrides,
    /// What reading files came to earlier in the same job.
    pub(crate) earlier: EarlierReads,
}

/// What reading files came to, by path: the stat with which each was listed, and what is known since.
#[derive(Debug, Default)]
pub(crate) struct EarlierReads(HashMap<String, (Stat, Result<CachedStat, SkipReason>)>);

impl EarlierReads {
    /// Of files that were listed with these stats, what is known after they were read.
    pub(crate) fn new(mut listed: HashMap<String, Stat>, read: ViewContents) -> Self {
        let seen = read.seen.into_iter().map(|(path, cached)| (path, Ok(cached)));
        let unread = read.unread.into_iter().map(|(path, reason)| (path, Err(reason)));
        let of = |(path, found)| {
            let stat = listed.remove(&path)?;
            Some((path, (stat, found)))
        };
        Self(seen.chain(unread).filter_map(of).collect())
    }

    /// What reading a file came to, if it still has the stat it was listed with. Whether that stat can be trusted later on
    /// is for the next sync to say: to read it again now would show one that was edited since no better.
    fn take_unchanged(&mut self, entry: &Entry) -> Option<Result<CachedStat, SkipReason>> {
        let (listed, found) = self.0.remove(&entry.path)?;
        (stat_of(entry) == Some(listed)).then_some(found)
    }
}

/// The stat that a file on disk was listed with.
pub(crate) fn stat_of(entry: &Entry) -> Option<Stat> {
    match &entry.source {
        ContentSource::File { stat, .. } => Some(stored_stat(*stat)),
        ContentSource::Blob(_) => None,
    }
}

impl Planner<'_> {
    /// Sorts the files of a listing.
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

    /// The version a work-tree file still has, if its stat says so.
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

    /// Takes in what reading a file came to.
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

    /// Whether what is stored of a version still holds. What was kept out for a secret in it is read again once the user
    /// asks for its path.
    fn is_still_valid(&self, known: &StoredVersion, path: &str) -> bool {
        let is_asked_for = known.skip == Some(SkipReason::Secret) && self.secrets.is_allowed(path);
        is_current(known, self.chosen.language_for(path)) && !is_asked_for
    }
}

impl ViewContents {
    /// Puts a version where it belongs.
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

    /// Leaves out a file that no version can stand for.
    pub(crate) fn add_skip(&mut self, reason: SkipReason, path: String) {
        self.skips.add(reason, &path);
        self.gone.push(path.clone());
        self.unread.push((path, reason));
    }
}

/// The stored version a file is, as far as that can be told without reading it. The id in git's index names the bytes
/// git would store; where they differ from the bytes on disk (line-end conversion, filters), so does the size.
fn match_without_reading<'k>(entry: &Entry, known: &'k [StoredVersion]) -> Option<&'k StoredVersion> {
    let (blob, size) = match &entry.source {
        ContentSource::Blob(blob) => (Some(*blob), None),
        ContentSource::File { index_blob, .. } => (*index_blob, Some(entry.size)),
    };
    find(known, blob?).filter(|found| size.is_none_or(|size| size == found.size))
}

/// The stored version with these bytes.
pub(crate) fn find(known: &[StoredVersion], blob: BlobId) -> Option<&StoredVersion> {
    known.iter().find(|known| known.blob == blob)
}

/// A listing's stat as the store keeps it.
pub(crate) fn stored_stat(stat: FileStat) -> Stat {
    Stat { size: stat.size, mtime: stat.mtime_ns, ctime: stat.ctime_ns, inode: stat.inode }
}
