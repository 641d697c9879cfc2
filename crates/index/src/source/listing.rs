//! Plain data types for the listing of a source.

use codecompass_model::{BlobId, SkipReason};
use rayon::slice::ParallelSliceMut;

use super::{FileStat, LanguageOverrides, Secrets, SourceError};

/// The maximum number of example paths per skip reason.
const MAX_EXAMPLES: usize = 5;

/// The files of a source, and the skipped ones.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The files, sorted by path.
    pub entries: Vec<Entry>,
    /// Skipped files and folders, by reason.
    pub skips: Skips,
    /// The folders that were walked, in no order; the root is the empty path. Only for a full listing of a work tree.
    pub folders: Vec<String>,
}

impl Listing {
    /// Merges partial listings, in any order.
    pub(super) fn from_parts(parts: Vec<Listing>) -> Self {
        let mut whole = Listing {
            entries: Vec::with_capacity(parts.iter().map(|part| part.entries.len()).sum()),
            ..Listing::default()
        };
        for part in parts {
            whole.entries.extend(part.entries);
            whole.folders.extend(part.folders);
            whole.skips.merge(part.skips);
        }
        whole.entries.par_sort_unstable_by(|a, b| a.path.cmp(&b.path));
        whole
    }
}

/// One file of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the root, with `/`.
    pub path: String,
    /// In bytes, as stored in the source.
    pub size: u64,
    /// The location of the bytes.
    pub source: ContentSource,
}

/// The location of a file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentSource {
    /// In the repository's objects.
    Blob(BlobId),
    /// On disk.
    File {
        /// The file's stat.
        stat: FileStat,
        /// The blob that git's index records for it: only if the index's stat data match and are older than the index
        /// itself. Read the text from git by this id rather than from disk: with end-of-line conversion or filters the
        /// two differ, and the id names only the blob's bytes.
        index_blob: Option<BlobId>,
    },
}

/// Size limits, and rules from the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Larger files are skipped.
    pub max_file_bytes: u64,
    /// gitignore lines of the configuration, relative to the root. They override only the built-in folder rules.
    pub extra_ignore: Vec<String>,
    /// gitignore lines, relative to the root: matching files are listed although they may hold secrets. Only the user's
    /// own configuration can set them.
    pub allowed_secrets: Vec<String>,
    /// gitignore lines, relative to the root, with the language of matching files; the first match wins.
    pub languages: Vec<(String, String)>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_file_bytes: 1 << 20, extra_ignore: Vec::new(), allowed_secrets: Vec::new(), languages: Vec::new() }
    }
}

impl Limits {
    /// Returns the rules about secrets.
    pub fn secrets(&self) -> Result<Secrets, SourceError> {
        Secrets::with_allowed(&self.allowed_secrets)
    }

    /// Returns the language overrides.
    pub fn language_overrides(&self) -> Result<LanguageOverrides, SourceError> {
        LanguageOverrides::new(&self.languages)
    }
}

/// Skipped files and folders: counts per reason, with the first paths in order as examples. A folder counts once,
/// regardless of its contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skips {
    /// Only the reasons that occurred, in the order of [`SkipReason`].
    by_reason: Vec<(SkipReason, u64, Vec<String>)>,
}

impl Skips {
    /// Counts one file or folder.
    pub fn add(&mut self, reason: SkipReason, path: &str) {
        let (_, count, examples) = self.slot(reason);
        *count += 1;
        keep_smallest(examples, path);
    }

    /// Adds counts and examples that were stored before.
    pub fn add_counted(&mut self, reason: SkipReason, count: u64, paths: &[String]) {
        let (_, sum, examples) = self.slot(reason);
        *sum += count;
        paths.iter().for_each(|path| keep_smallest(examples, path));
    }

    /// Adds the counts and examples of `other`.
    pub fn merge(&mut self, other: Skips) {
        for (reason, count, paths) in other.by_reason {
            self.add_counted(reason, count, &paths);
        }
    }

    /// Returns reason, count and example paths, for each reason that occurred.
    pub fn iter(&self) -> impl Iterator<Item = (SkipReason, u64, &[String])> {
        self.by_reason.iter().map(|(reason, count, examples)| (*reason, *count, examples.as_slice()))
    }

    /// Returns how often this reason occurred.
    pub fn count(&self, reason: SkipReason) -> u64 {
        self.iter().find(|(r, ..)| *r == reason).map_or(0, |(_, count, _)| count)
    }

    /// Returns the number of skipped files and folders.
    pub fn total(&self) -> u64 {
        self.iter().map(|(_, count, _)| count).sum()
    }

    fn slot(&mut self, reason: SkipReason) -> &mut (SkipReason, u64, Vec<String>) {
        let at = match self.by_reason.binary_search_by_key(&reason, |(r, ..)| *r) {
            Ok(at) => at,
            Err(at) => {
                self.by_reason.insert(at, (reason, 0, Vec::new()));
                at
            }
        };
        &mut self.by_reason[at]
    }
}

/// Keeps the smallest paths, so that the examples do not depend on the order of a parallel walk.
fn keep_smallest(examples: &mut Vec<String>, path: &str) {
    let at = examples.partition_point(|seen| seen.as_str() < path);
    if at < MAX_EXAMPLES && examples.get(at).is_none_or(|seen| seen != path) {
        examples.insert(at, path.to_owned());
        examples.truncate(MAX_EXAMPLES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_are_independent_of_order() {
        let paths: Vec<String> = (0..9).map(|i| format!("f{i}")).collect();
        let mut forward = Skips::default();
        paths.iter().for_each(|path| forward.add(SkipReason::Secret, path));
        forward.add(SkipReason::Ignored, "x");
        let (mut left, mut right) = (Skips::default(), Skips::default());
        left.add(SkipReason::Ignored, "x");
        for (i, path) in paths.iter().rev().enumerate() {
            let half = if i % 2 == 0 { &mut left } else { &mut right };
            half.add(SkipReason::Secret, path);
        }
        left.merge(right);
        assert_eq!(left, forward);
        assert_eq!(left.total(), 10);
        assert_eq!(left.count(SkipReason::Secret), 9);
        let secrets = left.iter().find(|(r, ..)| *r == SkipReason::Secret).expect("there are some");
        assert_eq!(secrets.2, ["f0", "f1", "f2", "f3", "f4"]);
    }
}
