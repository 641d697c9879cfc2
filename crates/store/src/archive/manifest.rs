//! The manifest of an archive, in lines that people can read as well.
//!
//! ```text
//! codecompass-state 1
//! schema 10
//! generation 7
//! facts 9c1d…
//! file 1376256 af13… store.db
//! ```

use super::{DATABASE, FORMAT_VERSION};
use crate::{Result, SCHEMA_VERSION, StoreError};

/// The maximum size of a manifest.
pub(super) const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The maximum total size of an unpacked archive.
const MAX_UNPACKED_BYTES: u64 = 64 << 30;

/// The maximum ratio of unpacked to archive size: most of the content is compressed already. Small archives have a
/// minimum.
const MAX_UNPACK_RATIO: u64 = 100;
const MIN_UNPACK_LIMIT: u64 = 64 << 20;

const MAGIC: &str = "codecompass-state";

/// The content of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) generation: i64,
    /// The keys of the extractions that the views are based on.
    pub(super) facts_keys: Vec<u64>,
    pub(super) files: Vec<ManifestEntry>,
}

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ManifestEntry {
    pub(super) name: String,
    pub(super) size: u64,
    /// The BLAKE3 checksum of its bytes.
    pub(super) checksum: blake3::Hash,
}

impl Manifest {
    pub(super) fn to_text(&self) -> String {
        let mut text = format!("{MAGIC} {FORMAT_VERSION}\nschema {SCHEMA_VERSION}\ngeneration {}\n", self.generation);
        for key in &self.facts_keys {
            text += &format!("facts {key:016x}\n");
        }
        for file in &self.files {
            text += &format!("file {} {} {}\n", file.size, file.checksum.to_hex(), file.name);
        }
        text
    }

    /// Parses a manifest. Another version of the format or the schema is [`StoreError::ArchiveVersion`].
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let mut number = |word: &str| {
            let (found, value) = lines.next()?.split_once(' ')?;
            (found == word).then(|| value.parse::<i64>().ok())?
        };
        let format = number(MAGIC).ok_or_else(|| invalid_archive("it is not a codecompass archive"))?;
        expect_version("format", format, FORMAT_VERSION)?;
        let schema = number("schema").ok_or_else(|| invalid_archive("its manifest has no schema version"))?;
        expect_version("schema", schema, SCHEMA_VERSION)?;
        let generation = number("generation").filter(|generation| *generation >= 0);
        let generation = generation.ok_or_else(|| invalid_archive("its manifest has no generation"))?;
        let mut manifest = Self { generation, facts_keys: Vec::new(), files: Vec::new() };
        for line in lines {
            let unreadable = || invalid_archive(format!("its manifest has a line that cannot be parsed: {line}"));
            match line.split_once(' ').ok_or_else(unreadable)? {
                ("facts", key) => manifest.facts_keys.push(u64::from_str_radix(key, 16).map_err(|_| unreadable())?),
                ("file", rest) => manifest.files.push(parse_entry(rest).ok_or_else(unreadable)?),
                _ => return Err(unreadable()),
            }
        }
        manifest.check_names()?;
        Ok(manifest)
    }

    fn check_names(&self) -> Result<()> {
        self.files.iter().try_for_each(|file| check_name(&file.name))?;
        if self.files.first().is_none_or(|file| file.name != DATABASE) {
            return Err(invalid_archive("its manifest does not begin with the database"));
        }
        match self.files.windows(2).find(|pair| pair[0].name >= pair[1].name) {
            Some(pair) if pair[0].name == pair[1].name => return Err(duplicate_entry(&pair[0].name)),
            Some(pair) => return Err(invalid_archive(format!("its manifest lists {} out of order", pair[1].name))),
            None => {}
        }
        match self.files[1..].iter().find(|file| !is_text_file(&file.name)) {
            Some(file) => {
                Err(invalid_archive(format!("its manifest lists {}, which is not part of an index", file.name)))
            }
            None => Ok(()),
        }
    }

    /// Returns the total size to unpack; an error if it is implausible for an archive of this size.
    pub(super) fn unpacked_bytes(&self, archive_bytes: u64) -> Result<u64> {
        let total = self.files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.size)).unwrap_or(u64::MAX);
        let most =
            archive_bytes.saturating_mul(MAX_UNPACK_RATIO).saturating_add(MIN_UNPACK_LIMIT).min(MAX_UNPACKED_BYTES);
        match total <= most {
            true => Ok(total),
            false => Err(invalid_archive(format!(
                "it declares {total} bytes, but the limit for an archive of its size is {most}"
            ))),
        }
    }
}

fn expect_version(what: &'static str, found: i64, required: i64) -> Result<()> {
    if found == required { Ok(()) } else { Err(StoreError::ArchiveVersion { what, found, required }) }
}

fn parse_entry(line: &str) -> Option<ManifestEntry> {
    let (size, rest) = line.split_once(' ')?;
    let (checksum, name) = rest.split_once(' ')?;
    let checksum = blake3::Hash::from_hex(checksum).ok()?;
    Some(ManifestEntry { name: name.to_owned(), size: size.parse().ok()?, checksum })
}

/// Whether this is the name of a Tantivy file: letters, digits and dots. Files with a leading dot are never accepted.
fn is_text_file(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.';
    name.strip_prefix("text/")
        .is_some_and(|name| !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain))
}

/// Refuses a name that could lead out of the target folder.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_absolute = name.starts_with(['/', '\\']) || name.contains(':');
    if is_absolute {
        return Err(invalid_archive(format!("{name} is an absolute path")));
    }
    match name.split(['/', '\\']).any(|part| part == ".." || part == "." || part.is_empty()) {
        true => Err(invalid_archive(format!("{name} leads out of the archive"))),
        false => Ok(()),
    }
}

pub(super) fn invalid_archive(why: impl Into<String>) -> StoreError {
    StoreError::Archive(why.into())
}

pub(super) fn duplicate_entry(name: &str) -> StoreError {
    invalid_archive(format!("{name} occurs twice"))
}
