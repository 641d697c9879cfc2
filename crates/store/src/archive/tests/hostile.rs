//! Hostile and corrupt archives are refused, and nothing changes.

use std::fs;
use std::io::Read;
use std::path::Path;

use rusqlite::Connection;
use tar::EntryType;

use super::Project;
use crate::StoreError;

/// One parsed entry.
struct TestEntry {
    name: String,
    kind: EntryType,
    bytes: Vec<u8>,
    /// Overrides the true size.
    size: Option<u64>,
}

/// A parsed archive.
struct TestArchive {
    items: Vec<TestEntry>,
    /// The bytes after the last entry.
    tail: Vec<u8>,
}

impl TestArchive {
    fn read(path: &Path) -> Self {
        let bytes = fs::read(path).expect("because it was just written");
        let plain = zstd::decode_all(bytes.as_slice()).expect("because it is intact");
        let mut archive = tar::Archive::new(plain.as_slice());
        let mut items = Vec::new();
        for entry in archive.entries().expect("because it is a tar") {
            let mut entry = entry.expect("because it is intact");
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("because it is intact");
            items.push(TestEntry { name, kind: EntryType::Regular, bytes, size: None });
        }
        Self { items, tail: vec![0; 1024] }
    }

    fn item(&mut self, name: &str) -> &mut TestEntry {
        self.items.iter_mut().find(|item| item.name == name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    fn push(&mut self, name: &str, kind: EntryType) {
        self.items.push(TestEntry { name: name.to_owned(), kind, bytes: Vec::new(), size: None });
    }

    /// Edits the text of the manifest.
    fn edit_manifest(&mut self, from: &str, to: &str) {
        let text = String::from_utf8(self.items[0].bytes.clone()).expect("because a manifest is text");
        assert!(text.contains(from), "no {from} in {text}");
        self.items[0].bytes = text.replacen(from, to, 1).into_bytes();
    }

    /// Updates the manifest to match the entries.
    fn rewrite_manifest(&mut self) {
        let text = String::from_utf8(self.items[0].bytes.clone()).expect("because a manifest is text");
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with("file ")).map(str::to_owned).collect();
        for item in &self.items[1..] {
            lines.push(format!("file {} {} {}", item.bytes.len(), blake3::hash(&item.bytes).to_hex(), item.name));
        }
        self.items[0].bytes = (lines.join("\n") + "\n").into_bytes();
    }

    /// Edits the database and updates the manifest.
    fn edit_database(&mut self, folder: &Path, statement: &str) {
        let path = folder.join("changed.db");
        fs::write(&path, &self.item("store.db").bytes).expect("because it can be written");
        let connection = Connection::open(&path).expect("because it is a database");
        connection.execute_batch(statement).expect("because it can be changed");
        drop(connection);
        self.item("store.db").bytes = fs::read(&path).expect("because it exists");
        self.rewrite_manifest();
    }

    fn write(&self, path: &Path) {
        let mut plain = Vec::new();
        for item in &self.items {
            let mut header = tar::Header::new_ustar();
            // Bypasses the checks of the library, as an attacker would.
            let field = &mut header.as_old_mut().name;
            field[..item.name.len()].copy_from_slice(item.name.as_bytes());
            header.set_entry_type(item.kind);
            header.set_mode(0o644);
            header.set_size(item.size.unwrap_or(item.bytes.len() as u64));
            header.set_cksum();
            plain.extend_from_slice(header.as_bytes());
            plain.extend_from_slice(&item.bytes);
            plain.resize(plain.len().next_multiple_of(512), 0);
        }
        plain.extend_from_slice(&self.tail);
        fs::write(path, zstd::encode_all(plain.as_slice(), 3).expect("because it fits in memory"))
            .expect("because it can be written");
    }
}

/// Edits a valid archive and expects the import to refuse it for this reason without any change.
#[track_caller]
fn assert_refused(because: &str, change: impl FnOnce(&mut TestArchive, &Path)) {
    let project = Project::indexed();
    let path = project.export("a.tar.zst");
    let mut parts = TestArchive::read(&path);
    change(&mut parts, project.folder.path());
    parts.write(&path);
    let before = project.file_contents();
    match project.import(&path) {
        Err(StoreError::Archive(why)) => assert!(why.contains(because), "refused because {why}"),
        other => panic!("expected refusal: {because}: {other:?}"),
    }
    assert!(project.file_contents() == before, "the project changed");
}

#[test]
fn unchanged_archive_is_accepted() {
    let project = Project::indexed();
    let path = project.export("a.tar.zst");
    let mut parts = TestArchive::read(&path);
    parts.rewrite_manifest();
    parts.write(&path);
    project.import(&path).expect("because the archive is valid");
}

#[test]
fn path_traversal_is_refused() {
    assert_refused("/tmp/evil is an absolute path", |parts, _| parts.push("/tmp/evil", EntryType::Regular));
    assert_refused("text/../../evil leads out of the archive", |parts, _| {
        parts.item("text/meta.json").name = "text/../../evil".into();
    });
    assert_refused("leads out of the archive", |parts, _| {
        parts.item("text/meta.json").name = "../../evil".into();
        parts.rewrite_manifest();
    });
    assert_refused("absolute", |parts, _| {
        parts.item("text/meta.json").name = "/evil".into();
        parts.rewrite_manifest();
    });
    assert_refused("not part of an index", |parts, _| {
        parts.item("text/meta.json").name = "write.lock".into();
        parts.rewrite_manifest();
    });
    // Tantivy deletes the files that this file lists.
    assert_refused("not part of an index", |parts, _| {
        parts.items[2].name = "text/.managed.json".into();
        parts.rewrite_manifest();
    });
    assert_refused("a file in its database has the path ../evil", |parts, folder| {
        parts.edit_database(folder, "UPDATE file_versions SET path = '../evil' WHERE path = 'beta.txt'");
    });
}

#[test]
fn special_entries_are_refused() {
    assert_refused("text/meta.json is a link", |parts, _| parts.item("text/meta.json").kind = EntryType::Symlink);
    assert_refused("text/meta.json is a link", |parts, _| parts.item("text/meta.json").kind = EntryType::Link);
    assert_refused("store.db is not a regular file", |parts, _| parts.item("store.db").kind = EntryType::Directory);
    assert_refused("is not a regular file", |parts, _| parts.item("store.db").kind = EntryType::Fifo);
    assert_refused("is not a regular file", |parts, _| parts.item("store.db").kind = EntryType::GNULongName);
    assert_refused("is not a regular file", |parts, _| parts.item("manifest").kind = EntryType::XHeader);
}

#[test]
fn duplicate_missing_and_unlisted_entries_are_refused() {
    assert_refused("store.db occurs twice", |parts, _| {
        let bytes = parts.item("store.db").bytes.clone();
        parts.items.insert(2, TestEntry { name: "store.db".into(), kind: EntryType::Regular, bytes, size: None });
    });
    assert_refused("store.db occurs twice", |parts, _| {
        let bytes = parts.item("store.db").bytes.clone();
        parts.items.insert(2, TestEntry { name: "store.db".into(), kind: EntryType::Regular, bytes, size: None });
        parts.rewrite_manifest();
    });
    assert_refused("more.txt is not listed", |parts, _| parts.push("more.txt", EntryType::Regular));
    assert_refused("text/meta.json is missing", |parts, _| parts.items.truncate(parts.items.len() - 1));
    assert_refused("store.db is missing or out of order", |parts, _| drop(parts.items.remove(1)));
    assert_refused("does not begin with the database", |parts, _| parts.items[0].bytes = header_only(parts));
    assert_refused("does not begin with a manifest", |parts, _| drop(parts.items.remove(0)));
}

fn header_only(parts: &TestArchive) -> Vec<u8> {
    let text = String::from_utf8(parts.items[0].bytes.clone()).expect("because a manifest is text");
    text.lines().take(3).map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

#[test]
fn wrong_checksums_and_sizes_are_refused() {
    assert_refused("store.db has a wrong checksum", |parts, _| parts.item("store.db").bytes[5000] ^= 1);
    assert_refused("text/meta.json has a wrong checksum", |parts, _| parts.item("text/meta.json").bytes[0] ^= 1);
    assert_refused("its manifest says", |parts, _| parts.item("text/meta.json").bytes.push(b' '));
    assert_refused("its manifest says", |parts, _| parts.item("text/meta.json").size = Some(1 << 40));
    assert_refused("a line that cannot be parsed", |parts, _| parts.edit_manifest("\nfile ", "\nfile x"));
    assert_refused("a line that cannot be parsed", |parts, _| parts.edit_manifest("\nfile ", "\nother "));
}

#[test]
fn bombs_are_refused_before_unpacking() {
    assert_refused("it declares", |parts, _| {
        let size = parts.item("store.db").bytes.len();
        parts.edit_manifest(&format!("file {size} "), &format!("file {} ", 1_u64 << 50));
    });
    assert_refused("it declares", |parts, _| {
        let size = parts.item("store.db").bytes.len();
        parts.edit_manifest(&format!("file {size} "), &format!("file {} ", u64::MAX));
    });
    assert_refused("it declares", |parts, _| {
        parts.item("store.db").bytes = vec![0; 80 << 20];
        parts.rewrite_manifest();
    });
    assert_refused("its manifest says", |parts, _| parts.item("store.db").bytes = vec![0; 80 << 20]);
    assert_refused("its manifest is too long", |parts, _| parts.items[0].bytes.resize(2 << 20, b'\n'));
    assert_refused("data after its last entry", |parts, _| parts.tail = vec![0; 80 << 20]);
}

#[test]
fn foreign_database_or_text_index_is_refused() {
    let trigger = "CREATE TRIGGER evil AFTER INSERT ON workspaces BEGIN DELETE FROM branch_state; END";
    assert_refused("unexpected tables", |parts, folder| parts.edit_database(folder, trigger));
    assert_refused("which is not stored", |parts, folder| {
        parts.edit_database(folder, "DELETE FROM file_versions WHERE path = 'beta.txt'");
    });
    assert_refused("its database is corrupt", |parts, folder| {
        parts.edit_database(folder, "UPDATE branch_state SET members = x'00'");
    });
    assert_refused("its database is corrupt", |parts, folder| {
        parts.edit_database(folder, "UPDATE branch_state SET view = 'nonsense' WHERE view = 'ref:feat'");
    });
    assert_refused("its database is corrupt", |parts, folder| parts.edit_database(folder, "UPDATE meta SET value = 1"));
    assert_refused("its database is corrupt", |parts, _| {
        parts.item("store.db").bytes = b"not a database, but long enough to be one".repeat(100);
        parts.rewrite_manifest();
    });
    assert_refused("its text index is corrupt", |parts, _| {
        parts.item("text/meta.json").bytes = b"{}".to_vec();
        parts.rewrite_manifest();
    });
    assert_refused("its text index is corrupt", |parts, _| {
        let at =
            parts.items.iter().position(|item| item.name.ends_with(".idx")).expect("because a segment has postings");
        parts.items[at].bytes[1] ^= 1;
        parts.rewrite_manifest();
    });
}

#[test]
fn other_format_and_schema_versions_are_reported() {
    for (from, to, expected) in [
        ("codecompass-state 1", "codecompass-state 2", ("format", 2, 1)),
        ("codecompass-state 1", "codecompass-state 0", ("format", 0, 1)),
        ("schema 10", "schema 11", ("schema", 11, 10)),
        ("schema 10", "schema 09", ("schema", 9, 10)),
    ] {
        let project = Project::indexed();
        let path = project.export("a.tar.zst");
        let mut parts = TestArchive::read(&path);
        parts.edit_manifest(from, to);
        parts.write(&path);
        let before = project.file_contents();
        match project.import(&path) {
            Err(StoreError::ArchiveVersion { what, found, required }) => assert_eq!((what, found, required), expected),
            other => panic!("{to}: {other:?}"),
        }
        assert!(project.file_contents() == before, "the project changed");
    }
}

#[test]
fn truncated_flipped_and_foreign_files_are_refused() {
    let project = Project::indexed();
    let path = project.export("a.tar.zst");
    let whole = fs::read(&path).expect("because it was just written");
    let before = project.file_contents();
    let harmed = project.path("harmed");
    let expect_refused = |what: &str, bytes: &[u8]| {
        fs::write(&harmed, bytes).expect("because it can be written");
        let told = project.import(&harmed);
        assert!(matches!(told, Err(StoreError::Archive(_))), "{what}: {told:?}");
    };
    for length in (0..whole.len()).step_by(whole.len() / 24).chain([whole.len() - 1]) {
        expect_refused(&format!("truncated after {length} bytes"), &whole[..length]);
    }
    for place in (0..whole.len()).step_by(whole.len() / 24).chain([whole.len() - 1]) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        expect_refused(&format!("flipped at {place}"), &bytes);
    }
    expect_refused("text", b"hello");
    expect_refused("an empty stream", &zstd::encode_all(&b""[..], 3).expect("because it fits"));
    expect_refused("another tar", &zstd::encode_all(&[0_u8; 1024][..], 3).expect("because it fits"));
    assert!(matches!(project.import(project.folder.path()), Err(StoreError::Archive(_))), "a folder");
    assert!(matches!(project.import(&project.path("nothing")), Err(StoreError::Io { .. })), "a missing file");
    assert!(project.file_contents() == before, "the project changed");
}
