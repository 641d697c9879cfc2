//! Secret removal: deletes newly recognised secrets from every view, with their text, facts and words.
//!
//! Callers define secrets ([`SecretRules`]). A store records the rules of its last scan. A caller with other rules
//! scans it again before anything is read or written. Secrets are left out of a compact copy, so that not a word of
//! them remains, and one switch makes the copy the store.

use codecompass_model::VersionId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, TransactionBehavior, params};

use crate::clean::{self, Taken};
use crate::layout::Scratch;
use crate::writer::Parts;
use crate::{Missing, ProjectDir, Result, Snapshot, Store, Tuning, WritePoint, Writer, codec, schema, views};

/// The definition of a secret.
pub trait SecretRules {
    /// A number that identifies all of the rules; never 0.
    fn key(&self) -> i64;
    /// Whether a path is the name of a secret.
    fn is_named(&self, path: &str) -> bool;
    /// Whether files of this language can contain a secret; texts of other languages are not read.
    fn is_read(&self, language: &str) -> bool;
    /// Whether a file with this path, language and text contains a secret.
    fn is_held(&self, path: &str, language: &str, text: &str) -> bool;
}

/// The versions that a compact copy leaves out.
pub(crate) struct Without {
    versions: RoaringBitmap,
    key: i64,
    /// The rules differ from those before. Files that the old rules excluded may be missing now, so every view must be
    /// listed again.
    is_change: bool,
}

impl Store {
    /// Whether the store contains no secrets. If it was scanned with these rules, this is known; otherwise it is
    /// scanned.
    pub fn has_no_secrets(&self, rules: &dyn SecretRules) -> Result<bool> {
        let connection = self.connection();
        Ok(known_rules(connection)? == rules.key() || find(connection, rules)?.is_empty())
    }

    /// Whether the last scan used rules with this key.
    pub fn is_looked_through(&self, key: i64) -> Result<bool> {
        Ok(known_rules(self.connection())? == key)
    }
}

impl Snapshot {
    /// Whether the content was scanned with rules with this key.
    pub fn is_looked_through(&self, key: i64) -> Result<bool> {
        Ok(known_rules(&self.connection)? == key)
    }
}

/// Removes all secrets. [`StoreError::Locked`](crate::StoreError::Locked) during another write.
pub fn remove_secrets(dir: &ProjectDir, rules: &dyn SecretRules, point: Option<WritePoint>, now: i64) -> Result<()> {
    Writer::open(dir, Missing::Fail, false, Tuning::default(), point, now)?.without_secrets(rules, now).map(drop)
}

impl Writer {
    /// Returns the writer of a store without secrets under these rules.
    pub fn without_secrets(mut self, rules: &dyn SecretRules, now: i64) -> Result<Self> {
        let known = known_rules(self.connection())?;
        if known == rules.key() {
            return Ok(self);
        }
        let versions = find(self.connection(), rules)?;
        let without = Without { versions, key: rules.key(), is_change: known != 0 };
        if without.versions.is_empty() {
            self.at("note rules");
            let transaction = self.connection().transaction_with_behavior(TransactionBehavior::Immediate)?;
            settle(&transaction, &without)?;
            transaction.commit()?;
            return Ok(self);
        }
        let all = views::all(self.connection())?.into_iter().map(|view| (view.clone(), view.key)).collect::<Vec<_>>();
        self.at("create epoch");
        let epoch = Scratch::new(self.dir())?;
        let taken = Taken { views: &all, local_without: Some(&[]), without: Some(&without) };
        clean::copy(self.epoch(), epoch.path(), &taken)?;
        self.at("switch epoch");
        self.dir().switch_to(epoch.path())?;
        epoch.keep();
        self.at("sweep");
        let Parts { dir, lock, tuning, point } = self.into_parts();
        Writer::with_lock(&dir, lock, Missing::Fail, tuning, point, now)
    }
}

/// Returns the key of the rules of the last scan; 0 if the store was never scanned.
pub(crate) fn known_rules(connection: &Connection) -> Result<i64> {
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
            Ok(rules.is_held(&path, &language, &codec::decode_text(&body)?))
        };
        if rules.is_named(&path) || (rules.is_read(&language) && is_held()?) {
            found.insert(id);
        }
    }
    Ok(found)
}

/// Removes versions from all views, before the content of the views is copied.
pub(crate) fn take_out(connection: &Connection, without: &Without) -> Result<()> {
    for view in views::all(connection)? {
        let Some(held) = views::bitmaps(connection, &view.key)? else { continue };
        if held.members.is_disjoint(&without.versions) {
            continue;
        }
        connection.execute(
            // No extraction has this key, so the next request for the view lists it again.
            "UPDATE branch_state SET members = ?2, edited = ?3, facts_key = 0 WHERE view = ?1",
            params![
                view.key.encode(),
                codec::encode_bitmap(&(&held.members - &without.versions)),
                codec::encode_bitmap(&(&held.edited - &without.versions)),
            ],
        )?;
    }
    Ok(())
}

/// Recomputes the totals of views and records the rules. Readers notice the change by the generation.
pub(crate) fn settle(connection: &Connection, without: &Without) -> Result<()> {
    if without.is_change || !without.versions.is_empty() {
        let generation = schema::meta(connection, "generation")? + 1;
        for view in views::all(connection)?.into_iter().filter(|_| without.is_change) {
            let renew = "UPDATE branch_state SET facts_key = 0, generation = ?2 WHERE view = ?1";
            connection.execute(renew, params![view.key.encode(), generation])?;
            views::seal(connection, &view.key)?;
        }
        views::count_anew(connection, generation)?;
        schema::set_meta(connection, "generation", generation)?;
    }
    schema::set_meta(connection, "secret_rules", without.key)
}
