//! A database that was changed by other means: every reader reports it, and the doctor finds it.

use crate::support;

use codecompass_store::{Result, Store, StoreError};
use codecompass_testkit::Repository;
use rusqlite::Connection;
use support::{Project, dump};

fn indexed() -> (Repository, Project) {
    let repo = Repository::new();
    repo.write("src/a.rs", "pub fn alpha() {\n    beta()\n}\n").write("src/b.rs", "pub fn beta() {}\n");
    repo.commit("first");
    let project = Project::new(repo.root());
    project.sync(None);
    (repo, project)
}

fn tamper(project: &Project, sql: &str) {
    let database = Connection::open(project.epoch().join("store.db")).expect("the store can be opened");
    let changed = database.execute(sql, []).unwrap_or_else(|error| panic!("{sql}: {error}"));
    assert!(changed > 0, "{sql} changes something");
}

/// Reads everything that queries and syncs use.
fn read_everything(project: &Project) -> Result<()> {
    let store = Store::open(&project.dir())?;
    store.views()?;
    store.generation()?;
    store.cached_stats(&project.workspace.root.to_string_lossy())?;
    let snapshot = store.snapshot(&project.target(None).key)?;
    for name in ["alpha", "beta"] {
        snapshot.symbols_named(name)?;
        snapshot.names_like(name)?;
        snapshot.references_named(name)?;
    }
    for version in snapshot.versions()? {
        snapshot.version_at(&version.path)?;
        snapshot.outline(version.id)?;
        snapshot.facts(version.id)?;
        snapshot.text(version.id)?;
        store.stored_version(version.id)?;
    }
    store.symbol_count(snapshot.members())?;
    Ok(())
}

#[test]
fn every_answer_column_is_checksummed() {
    let numbers = |table: &str, columns: &str| -> Vec<String> {
        let one = |column: &str| format!("UPDATE {table} SET {column} = {column} + 1");
        columns.split(' ').map(one).collect()
    };
    let texts = |table: &str, columns: &str| -> Vec<String> {
        let one = |column: &str| format!("UPDATE {table} SET {column} = {column} || 'x'");
        columns.split(' ').map(one).collect()
    };
    let blobs = |table: &str, column: &str| {
        let flip = format!("CAST(substr({column}, 1, 6) || 'x' || substr({column}, 8) AS BLOB)");
        format!("UPDATE {table} SET {column} = {flip} WHERE length({column}) > 8")
    };
    let counts = "piece_docs piece_tokens symbol_docs name_tokens doc_tokens own_tokens file_tokens digest";
    let mut changes = vec![
        blobs("file_versions", "blob"),
        blobs("outlines", "body"),
        blobs("facts", "body"),
        blobs("texts", "body"),
        "UPDATE name_refs SET list = CAST(list || 'x' AS BLOB)".into(),
        "UPDATE name_refs SET first_fv = first_fv + 1".into(),
        blobs("branch_state", "members"),
        blobs("branch_state", "edited"),
        "UPDATE symbol_relations SET id = id + 1048576 * 7".into(),
        "UPDATE meta SET value = value + 1 WHERE key = 'generation'".into(),
    ];
    changes.extend(numbers("file_versions", "size lines symbols problems"));
    changes.extend(numbers("file_versions", counts));
    changes.extend(texts("file_versions", "path language"));
    changes.extend(numbers("symbol_relations", "kind marks line_start"));
    changes.extend(numbers("branch_state", "generation file_count symbol_count line_count byte_count indexed_at"));
    changes.extend(numbers("branch_state", counts));
    changes.extend(texts("branch_state", "ref commit_id"));
    changes.push("UPDATE branch_state SET skips = CAST(skips || 'x' AS BLOB)".into());
    changes.extend(numbers("stat_cache", "size mtime ctime inode fv"));
    changes.extend(texts("stat_cache", "path"));
    for change in changes {
        let (_repo, project) = indexed();
        read_everything(&project).expect("the store is intact");
        tamper(&project, &change);
        let told = read_everything(&project);
        assert!(matches!(told, Err(StoreError::Corrupt(_))), "{change}: {told:?}");
        let found = codecompass_store::find_corruption(&project.dir());
        assert!(found.as_deref().is_some_and(|what| what.starts_with("store.db: ")), "{change}: {found:?}");
    }
}

#[test]
fn doctor_finds_and_force_fixes_hidden_corruption() {
    for change in [
        "UPDATE symbol_relations SET symbol_key = symbol_key + 1",
        "UPDATE symbol_relations SET stable_key = stable_key + 1",
        "DELETE FROM symbol_relations WHERE name = 'beta'",
        "UPDATE file_versions SET facts_version = facts_version + 1",
        "DELETE FROM texts WHERE fv = 1",
        "UPDATE jobs SET mode = CAST(x'ff' AS TEXT)",
    ] {
        let (_repo, project) = indexed();
        let right = dump(&project, None);
        tamper(&project, change);
        let found = project.health().sqlite;
        assert!(found.is_err(), "{change}: {found:?}");
        project.sync_forced();
        project.check_health();
        assert_eq!(dump(&project, None), right, "{change}");
    }
}
