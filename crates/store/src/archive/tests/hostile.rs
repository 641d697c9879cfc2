//! Hostile and corrupt archives are refused, and nothing changes.

use std::fs;
use std::io::Read;
use std::path::Path;

use rusqlite::Connection;
use tar::EntryType;

use super::Project;
use crate::StoreError;

/// One parsed entry.
struct Item {
    name: String,
    kind: EntryType,
    bytes: Vec<u8>,
    /// Overrides the true size.
    size: Option<u64>,
}

/// A parsed archive.
struct Parts {
    items: Vec<Item>,
    /// The bytes after the last entry.
    tail: Vec<u8>,
}

impl Parts {
    fn of(path: &Path) -> Self {
        let bytes = fs::read(path).expect("because it was just written");
        let plain = zstd::decode_all(bytes.as_slice()).expect("because it is intact");
        let mut archive = tar::Archive::new(plain.as_slice());
        let mut items = Vec::new();
        for entry in archive.entries().expect("because it is a tar") {
            let mut entry = entry.expect("because it is intact");
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("because it is intact");
            items.push(Item { name, kind: EntryType::Regular, bytes, size: None });
        }
        Self { items, tail: vec![0; 1024] }
    }

    fn item(&mut self, name: &str) -> &mut Item {
        self.items.iter_mut().find(|item| item.name == name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    fn push(&mut self, name: &str, kind: EntryType) {
        self.items.push(Item { name: name.to_owned(), kind, bytes: Vec::new(), size: None });
    }

    /// Edits the text of the manifest.
    fn manifest(&mut self, from: &str, to: &str) {
        let text = String::from_utf8(self.items[0].bytes.clone()).expect("because a manifest is text");
        assert!(text.contains(from), "no {from} in {text}");
        self.items[0].bytes = text.replacen(from, to, 1).into_bytes();
    }

    /// Updates the manifest to match the entries.
    fn listed_again(&mut self) {
        let text = String::from_utf8(self.items[0].bytes.clone()).expect("because a manifest is text");
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with("file ")).map(str::to_owned).collect();
        for item in &self.items[1..] {
            lines.push(format!("file {} {} {}", item.bytes.len(), blake3::hash(&item.bytes).to_hex(), item.name));
        }
        self.items[0].bytes = (lines.join("\n") + "\n").into_bytes();
    }

    /// Edits the database and updates the manifest.
    fn database(&mut self, folder: &Path, statement: &str) {
        let path = folder.join("changed.db");
        fs::write(&path, &self.item("store.db").bytes).expect("because it can be written");
        let connection = Connection::open(&path).expect("because it is a database");
        connection.execute_batch(statement).expect("because it can be changed");
        drop(connection);
        self.item("store.db").bytes = fs::read(&path).expect("because it exists");
        self.listed_again();
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
fn refused(because: &str, change: impl FnOnce(&mut Parts, &Path)) {
    let project = Project::indexed();
    let path = project.export("a.tar.zst");
    let mut parts = Parts::of(&path);
    change(&mut parts, project.folder.path());
    parts.write(&path);
    let before = project.picture();
    match project.import(&path) {
        Err(StoreError::Archive(why)) => assert!(why.contains(because), "refused because {why}"),
        other => panic!("expected refusal: {because}: {other:?}"),
    }
    assert!(project.picture() == before, "the project changed");
}

#[test]
fn an_archive_that_is_put_together_again_as_it_was_is_taken() {
    let project = Project::indexed();
    let path = project.export("a.tar.zst");
    let mut parts = Parts::of(&path);
    parts.listed_again();
    parts.write(&path);
    project.import(&path).expect("because the archive is valid");
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    refused("/tmp/evil is an absolute path", |parts, _| parts.push("/tmp/evil", EntryType::Regular));
    refused("text/../../evil leads out of the archive", |parts, _| {
        parts.item("text/meta.json").name = "text/../../evil".into();
    });
    refused("leads out of the archive", |parts, _| {
        parts.item("text/meta.json").name = "../../evil".into();
        parts.listed_again();
    });
    refused("absolute", |parts, _| {
        parts.item("text/meta.json").name = "/evil".into();
        parts.listed_again();
    });
    refused("not part of an index", |parts, _| {
        parts.item("text/meta.json").name = "write.lock".into();
        parts.listed_again();
    });
    // Tantivy deletes the files that this file lists.
    refused("not part of an index", |parts, _| {
        parts.items[2].name = "text/.managed.json".into();
        parts.listed_again();
    });
    refused("a file in its database has the path ../evil", |parts, folder| {
        parts.database(folder, "UPDATE file_versions SET path = '../evil' WHERE path = 'beta.txt'");
    });
}

#[test]
fn links_folders_and_other_special_entries_are_refused() {
    refused("text/meta.json is a link", |parts, _| parts.item("text/meta.json").kind = EntryType::Symlink);
    refused("text/meta.json is a link", |parts, _| parts.item("text/meta.json").kind = EntryType::Link);
    refused("store.db is not a regular file", |parts, _| parts.item("store.db").kind = EntryType::Directory);
    refused("is not a regular file", |parts, _| parts.item("store.db").kind = EntryType::Fifo);
    refused("is not a regular file", |parts, _| parts.item("store.db").kind = EntryType::GNULongName);
    refused("is not a regular file", |parts, _| parts.item("manifest").kind = EntryType::XHeader);
}

#[test]
fn entries_that_are_double_missing_or_not_listed_are_refused() {
    refused("store.db occurs twice", |parts, _| {
        let bytes = parts.item("store.db").bytes.clone();
        parts.items.insert(2, Item { name: "store.db".into(), kind: EntryType::Regular, bytes, size: None });
    });
    refused("store.db occurs twice", |parts, _| {
        let bytes = parts.item("store.db").bytes.clone();
        parts.items.insert(2, Item { name: "store.db".into(), kind: EntryType::Regular, bytes, size: None });
        parts.listed_again();
    });
    refused("more.txt is not listed", |parts, _| parts.push("more.txt", EntryType::Regular));
    refused("text/meta.json is missing", |parts, _| parts.items.truncate(parts.items.len() - 1));
    refused("store.db is missing or out of order", |parts, _| drop(parts.items.remove(1)));
    refused("does not begin with the database", |parts, _| parts.items[0].bytes = header_only(parts));
    refused("does not begin with a manifest", |parts, _| drop(parts.items.remove(0)));
}

fn header_only(parts: &Parts) -> Vec<u8> {
    let text = String::from_utf8(parts.items[0].bytes.clone()).expect("because a manifest is text");
    text.lines().take(3).map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

#[test]
fn wrong_checksums_and_sizes_are_refused() {
    refused("store.db has a wrong checksum", |parts, _| parts.item("store.db").bytes[5000] ^= 1);
    refused("text/meta.json has a wrong checksum", |parts, _| parts.item("text/meta.json").bytes[0] ^= 1);
    refused("its manifest says", |parts, _| parts.item("text/meta.json").bytes.push(b' '));
    refused("its manifest says", |parts, _| parts.item("text/meta.json").size = Some(1 << 40));
    refused("a line that cannot be parsed", |parts, _| parts.manifest("\nfile ", "\nfile x"));
    refused("a line that cannot be parsed", |parts, _| parts.manifest("\nfile ", "\nother "));
}

#[test]
fn bombs_are_refused_before_they_are_unpacked() {
    refused("it declares", |parts, _| {
        let size = parts.item("store.db").bytes.len();
        parts.manifest(&format!("file {size} "), &format!("file {} ", 1_u64 << 50));
    });
    refused("it declares", |parts, _| {
        let size = parts.item("store.db").bytes.len();
        parts.manifest(&format!("file {size} "), &format!("file {} ", u64::MAX));
    });
    refused("it declares", |parts, _| {
        parts.item("store.db").bytes = vec![0; 80 << 20];
        parts.listed_again();
    });
    refused("its manifest says", |parts, _| parts.item("store.db").bytes = vec![0; 80 << 20]);
    refused("its manifest is too long", |parts, _| parts.items[0].bytes.resize(2 << 20, b'\n'));
    refused("data after its last entry", |parts, _| parts.tail = vec![0; 80 << 20]);
}

#[test]
fn a_database_or_text_index_that_is_none_of_ours_is_refused() {
    let trigger = "CREATE TRIGGER evil AFTER INSERT ON workspaces BEGIN DELETE FROM branch_state; END";
    refused("unexpected tables", |parts, folder| parts.database(folder, trigger));
    refused("which is not stored", |parts, folder| {
        parts.database(folder, "DELETE FROM file_versions WHERE path = 'beta.txt'");
    });
    refused("its database is corrupt", |parts, folder| {
        parts.database(folder, "UPDATE branch_state SET members = x'00'");
    });
    refused("its database is corrupt", |parts, folder| {
        parts.database(folder, "UPDATE branch_state SET view = 'nonsense' WHERE view = 'ref:feat'");
    });
    refused("its database is corrupt", |parts, folder| parts.database(folder, "UPDATE meta SET value = 1"));
    refused("its database is corrupt", |parts, _| {
        parts.item("store.db").bytes = b"not a database, but long enough to be one".repeat(100);
        parts.listed_again();
    });
    refused("its text index is corrupt", |parts, _| {
        parts.item("text/meta.json").bytes = b"{}".to_vec();
        parts.listed_again();
    });
    refused("its text index is corrupt", |parts, _| {
        let at =
            parts.items.iter().position(|item| item.name.ends_with(".idx")).expect("because a segment has postings");
        parts.items[at].bytes[1] ^= 1;
        parts.listed_again();
    });
}

#[test]
fn other_versions_of_the_format_or_the_schema_are_told_apart() {
    for (from, to, expected) in [
        ("codecompass-state 1", "codecompass-state 2", ("format", 2, 1)),
        ("codecompass-state 1", "codecompass-state 0", ("format", 0, 1)),
        ("schema 10", "schema 11", ("schema", 11, 10)),
        ("schema 10", "schema 09", ("schema", 9, 10)),
    ] {
        let project = Project::indexed();
        let path = project.export("a.tar.zst");
        let mut parts = Parts::of(&path);
        parts.manifest(from, to);
        parts.write(&path);
        let before = project.picture();
        match project.import(&path) {
            Err(StoreError::ArchiveVersion { what, found, required }) => assert_eq!((what, found, required), expected),
            other => panic!("{to}: {other:?}"),
        }
        assert!(project.picture() == before, "the project changed");
    }
}

#[test]
fn what_is_cut_off_flipped_or_no_archive_at_all_is_refused() {
    let project = Project::indexed();
    let path = project.export("a.tar.zst");
    let whole = fs::read(&path).expect("because it was just written");
    let before = project.picture();
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
    assert!(project.picture() == before, "the project changed");
}
