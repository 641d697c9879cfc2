//! What an archive says about itself, in lines that people can read as well.
//!
//! ```text
//! codecompass-state 1
//! schema 3
//! generation 7
//! facts 9c1d…
//! file 1376256 af13…  store.db
//! ```

use super::{DATABASE, FORMAT_VERSION};
use crate::{Result, SCHEMA_VERSION, StoreError};

/// No manifest is longer.
pub(super) const LONGEST: u64 = 1 << 20;

/// No archive may unpack to more than this.
const MOST_BYTES: u64 = 64 << 30;

/// Nor to more than so many times its own size: most of what is in it is compressed already. Small ones have room.
const MOST_TIMES: u64 = 100;
const ALWAYS_ALLOWED: u64 = 64 << 20;

const FIRST_WORD: &str = "codecompass-state";

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) generation: i64,
    /// The extractions that the views stand on.
    pub(super) facts_keys: Vec<u64>,
    pub(super) files: Vec<Listed>,
}

/// A file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) name: String,
    pub(super) size: u64,
    /// BLAKE3 of its bytes.
    pub(super) checksum: blake3::Hash,
}

impl Manifest {
    pub(super) fn to_text(&self) -> String {
        let mut text =
            format!("{FIRST_WORD} {FORMAT_VERSION}\nschema {SCHEMA_VERSION}\ngeneration {}\n", self.generation);
        for key in &self.facts_keys {
            text += &format!("facts {key:016x}\n");
        }
        for file in &self.files {
            text += &format!("file {} {} {}\n", file.size, file.checksum.to_hex(), file.name);
        }
        text
    }

    /// Reads a manifest. Another version of the format or the schema is [`StoreError::ArchiveVersion`].
    pub(super) fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let mut number = |word: &str| {
            let (found, value) = lines.next()?.split_once(' ')?;
            (found == word).then(|| value.parse::<i64>().ok())?
        };
        let format = number(FIRST_WORD).ok_or_else(|| refused("it is no state of codecompass"))?;
        expect_version("format", format, FORMAT_VERSION)?;
        let schema = number("schema").ok_or_else(|| refused("its manifest names no schema version"))?;
        expect_version("schema", schema, SCHEMA_VERSION)?;
        let generation = number("generation").filter(|generation| *generation >= 0);
        let generation = generation.ok_or_else(|| refused("its manifest names no generation"))?;
        let mut manifest = Self { generation, facts_keys: Vec::new(), files: Vec::new() };
        for line in lines {
            let unreadable = || refused(format!("its manifest has a line that can not be read: {line}"));
            match line.split_once(' ').ok_or_else(unreadable)? {
                ("facts", key) => manifest.facts_keys.push(u64::from_str_radix(key, 16).map_err(|_| unreadable())?),
                ("file", rest) => manifest.files.push(read_file(rest).ok_or_else(unreadable)?),
                _ => return Err(unreadable()),
            }
        }
        manifest.check_names()?;
        Ok(manifest)
    }

    fn check_names(&self) -> Result<()> {
        self.files.iter().try_for_each(|file| check_name(&file.name))?;
        if self.files.first().is_none_or(|file| file.name != DATABASE) {
            return Err(refused("its manifest does not begin with the database"));
        }
        match self.files.windows(2).find(|pair| pair[0].name >= pair[1].name) {
            Some(pair) if pair[0].name == pair[1].name => return Err(twice(&pair[0].name)),
            Some(pair) => return Err(refused(format!("its manifest lists {} out of order", pair[1].name))),
            None => {}
        }
        match self.files[1..].iter().find(|file| !is_text_file(&file.name)) {
            Some(file) => Err(refused(format!("its manifest lists {}, which is no part of an index", file.name))),
            None => Ok(()),
        }
    }

    /// How much is to be unpacked; an error when an archive of this size can not mean it.
    pub(super) fn unpacked_bytes(&self, archive_bytes: u64) -> Result<u64> {
        let total = self.files.iter().try_fold(0_u64, |sum, file| sum.checked_add(file.size)).unwrap_or(u64::MAX);
        let most = archive_bytes.saturating_mul(MOST_TIMES).saturating_add(ALWAYS_ALLOWED).min(MOST_BYTES);
        match total <= most {
            true => Ok(total),
            false => {
                Err(refused(format!("it declares {total} bytes, more than the {most} that one of its size can hold")))
            }
        }
    }
}

fn expect_version(what: &'static str, found: i64, required: i64) -> Result<()> {
    if found == required { Ok(()) } else { Err(StoreError::ArchiveVersion { what, found, required }) }
}

fn read_file(line: &str) -> Option<Listed> {
    let (size, rest) = line.split_once(' ')?;
    let (checksum, name) = rest.split_once(' ')?;
    let checksum = blake3::Hash::from_hex(checksum).ok()?;
    Some(Listed { name: name.to_owned(), size: size.parse().ok()?, checksum })
}

/// Tantivy's files are called by numbers and letters. Its own files with a dot first are not taken from anyone.
fn is_text_file(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.';
    name.strip_prefix("text/")
        .is_some_and(|name| !name.is_empty() && !name.starts_with('.') && name.chars().all(is_plain))
}

/// Refuses a name that could lead anywhere but into the folder it is unpacked to.
pub(super) fn check_name(name: &str) -> Result<()> {
    let is_absolute = name.starts_with(['/', '\\']) || name.contains(':');
    if is_absolute {
        return Err(refused(format!("{name} is an absolute name")));
    }
    match name.split(['/', '\\']).any(|part| part == ".." || part == "." || part.is_empty()) {
        true => Err(refused(format!("{name} is a name that leads elsewhere"))),
        false => Ok(()),
    }
}

pub(super) fn refused(why: impl Into<String>) -> StoreError {
    StoreError::Archive(why.into())
}

pub(super) fn twice(name: &str) -> StoreError {
    refused(format!("{name} stands in it twice"))
}
