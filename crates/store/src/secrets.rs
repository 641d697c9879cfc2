//! Secret removal: deletes newly recognised secrets from every view, with their text, facts and words.
//!
//! Callers define secrets ([`SecretRules`]). A store records the rules of its last scan. A caller with other rules
//! scans it again before anything is read or written. Secrets are left out of a compact copy, so that not a word of
//! them remains, and one switch makes the copy the store.

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, TransactionBehavior};

use crate::compact::{self, CompactOptions};
use crate::layout::Scratch;
use crate::secret_removal::{SecretRemoval, record_scan};
use crate::writer::WriterParts;
use crate::{OnMissing, ProjectDir, Result, Snapshot, Store, Tuning, WritePoint, Writer, codec, schema, views};

/// The definition of a secret.
pub trait SecretRules {
    /// A number that identifies all of the rules; never 0.
    fn key(&self) -> i64;
    /// Whether a path is the name of a secret.
    fn is_secret_path(&self, path: &str) -> bool;
    /// Whether files of this language can contain a secret; texts of other languages are not read.
    fn scans_language(&self, language: &str) -> bool;
    /// Whether a file with this path, language and text contains a secret.
    fn has_secret(&self, path: &str, language: &str, text: &str) -> bool;
}

impl Store {
    /// Whether the store contains no secrets. If it was scanned with these rules, this is known; otherwise it is
    /// scanned.
    pub fn has_no_secrets(&self, rules: &dyn SecretRules) -> Result<bool> {
        let connection = self.connection();
        Ok(scanned_rules_key(connection)? == rules.key() || find(connection, rules)?.is_empty())
    }

    /// Whether the last scan used rules with this key.
    pub fn is_scanned_with(&self, key: i64) -> Result<bool> {
        Ok(scanned_rules_key(self.connection())? == key)
    }
}

impl Snapshot {
    /// Whether the content was scanned with rules with this key.
    pub fn is_scanned_with(&self, key: i64) -> Result<bool> {
        Ok(scanned_rules_key(&self.connection)? == key)
    }
}

/// Removes all secrets. [`StoreError::Locked`](crate::StoreError::Locked) during another write.
pub fn remove_secrets(dir: &ProjectDir, rules: &dyn SecretRules, point: Option<WritePoint>, now: i64) -> Result<()> {
    Writer::open(dir, OnMissing::Fail, false, Tuning::default(), point, now)?.without_secrets(rules, now).map(drop)
}

impl Writer {
    /// Returns the writer of a store without secrets under these rules.
    pub fn without_secrets(mut self, rules: &dyn SecretRules, now: i64) -> Result<Self> {
        let known = scanned_rules_key(self.connection())?;
        if known == rules.key() {
            return Ok(self);
        }
        let versions = find(self.connection(), rules)?;
        let without = SecretRemoval { versions, key: rules.key(), rules_changed: known != 0 };
        if without.versions.is_empty() {
            self.reach_write_point("note rules");
            let transaction = self.connection().transaction_with_behavior(TransactionBehavior::Immediate)?;
            record_scan(&transaction, &without)?;
            transaction.commit()?;
            return Ok(self);
        }
        let all = views::all(self.connection())?.into_iter().map(|view| (view.clone(), view.key)).collect::<Vec<_>>();
        self.reach_write_point("create epoch");
        let epoch = Scratch::new(self.dir())?;
        let taken = CompactOptions { views: &all, local_except_roots: Some(&[]), exclude: Some(&without) };
        compact::compact_into(self.epoch(), epoch.path(), &taken)?;
        self.reach_write_point("switch epoch");
        self.dir().switch_to(epoch.path())?;
        epoch.keep();
        self.reach_write_point("sweep");
        let WriterParts { dir, lock, tuning, point } = self.release_files();
        Writer::with_lock(&dir, lock, OnMissing::Fail, tuning, point, now)
    }
}

/// Returns the key of the rules of the last scan; 0 if the store was never scanned.
pub(crate) fn scanned_rules_key(connection: &Connection) -> Result<i64> {
    Ok(schema::meta_if_set(connection, "secret_rules")?.unwrap_or_default())
}

/// Returns the stored versions that are secrets.
fn find(connection: &Connection, rules: &dyn SecretRules) -> Result<RoaringBitmap> {
    let mut select =
        connection.prepare("SELECT fv, path, language FROM file_versions WHERE skip IS NULL ORDER BY fv")?;
    let mut text = connection.prepare("SELECT body FROM texts WHERE fv = ?1")?;
    let mut rows = select.query([])?;
    let mut found = RoaringBitmap::new();
    while let Some(row) = rows.next()? {
        let (id, path, language): (VersionId, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let mut is_held = || -> Result<bool> {
            let body: Vec<u8> = text.query_row([id], |row| row.get(0))?;
            Ok(rules.has_secret(&path, &language, &codec::decode_text(&body)?))
        };
        if rules.is_secret_path(&path) || (rules.scans_language(&language) && is_held()?) {
            found.insert(id);
        }
    }
    Ok(found)
}
