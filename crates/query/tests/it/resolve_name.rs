//! Name resolution by each policy, in a small project with homonyms.

use crate::support;

use std::rc::Rc;

use codecompass_lang::REGISTRY;
use codecompass_query::graph::{Budget, Graph, ReferenceCache, ResolveCache};
use codecompass_query::{
    AmbiguityPolicy, LocateRequest, NameMatch, NameQuery, SearchRequest, SymbolHit, locate, resolve_name, search,
};
use codecompass_store::Snapshot;

const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"x\"\n"),
    ("src/lib.rs", "pub mod jar;\npub mod more;\npub mod other;\n"),
    ("src/jar.rs", "pub struct Jar {\n    pub size: u32,\n}\n\nimpl Jar {\n    pub fn open(&self) {}\n}\n"),
    ("src/more.rs", "use crate::jar::Jar;\n\nimpl Jar {\n    pub fn close(&self) {}\n}\n\npub fn size() {}\n"),
    ("src/other.rs", "pub fn open() {}\n\npub fn twice() {\n    open();\n    open();\n}\n\npub fn a() { fn b() {} }\n"),
    ("tests/all.rs", "fn open() {}\nfn size() {}\n"),
    ("README.md", "# open\n\n## Usage\n\nOpen a jar.\n"),
    ("package.json", "{\n  \"size\": 1,\n  \"Size\": { \"only\": 2 }\n}\n"),
];

/// Returns a snapshot of a folder with these files.
fn indexed() -> (Rc<Snapshot>, [tempfile::TempDir; 2]) {
    let folders = [
        tempfile::tempdir().expect("because it can be created"),
        tempfile::tempdir().expect("because it can be created"),
    ];
    for (path, text) in FILES {
        let path = folders[0].path().join(path);
        std::fs::create_dir_all(path.parent().expect("because it has a parent")).expect("because it can be created");
        std::fs::write(path, text).expect("because it can be written");
    }
    let snapshot = support::indexed(&folders);
    (Rc::new(snapshot), folders)
}

fn location(hit: &SymbolHit) -> String {
    format!("{} {}:{}", hit.symbol().kind.as_str(), hit.version.path, hit.symbol().lines.start)
}

/// Formats the selected symbol and the number of others, `ambiguous` with the number of matches, or `nothing`.
fn summary(meant: &NameMatch) -> String {
    match meant {
        NameMatch::NotFound => "nothing".into(),
        NameMatch::Unique { symbol, others, .. } if others.is_empty() => location(symbol),
        NameMatch::Unique { symbol, others, .. } => format!("{} +{}", location(symbol), others.len()),
        NameMatch::Ambiguous(hits) => format!("ambiguous {}", hits.len()),
    }
}

#[test]
fn policies() {
    let (snapshot, _folders) = indexed();
    let memory = ResolveCache::new(Rc::clone(&snapshot), REGISTRY, Rc::<ReferenceCache>::default());
    let graph = Graph::new(&memory, Budget::new(&|| false));
    let callable = |kind: codecompass_model::SymbolKind| kind != codecompass_model::SymbolKind::Field;
    let any = AmbiguityPolicy::MostUsed { graph: &graph, prefers: |_| true };
    let calls = AmbiguityPolicy::MostUsed { graph: &graph, prefers: callable };
    let (first, one_file) = (AmbiguityPolicy::First { others: 1 }, AmbiguityPolicy::OneFile);
    let table: &[(&str, Option<&str>, AmbiguityPolicy<'_>, &str)] = &[
        ("nobody", None, first, "nothing"),
        ("nobody", None, one_file, "nothing"),
        ("nobody", None, any, "nothing"),
        // The struct, and blocks of it in two files: the struct is selected.
        ("Jar", None, one_file, "struct src/jar.rs:1"),
        ("Jar", None, any, "struct src/jar.rs:1"),
        ("Jar", None, first, "struct src/jar.rs:1 +1"),
        // In a file with only a block, the block is selected.
        ("Jar", Some("src/more.rs"), one_file, "impl src/more.rs:3"),
        ("Jar", Some("src/more.rs"), any, "impl src/more.rs:3"),
        ("Jar", Some("src/lib.rs"), any, "nothing"),
        // Three functions: those in tests rank lower, and the called one of the others is selected.
        ("open", None, one_file, "ambiguous 3"),
        ("open", None, any, "fn src/other.rs:1 +2"),
        ("open", Some("src/jar.rs"), one_file, "fn src/jar.rs:6"),
        ("Jar::open", None, one_file, "fn src/jar.rs:6"),
        // A field and two functions.
        ("size", None, any, "field src/jar.rs:2 +2"),
        ("size", None, calls, "fn src/more.rs:7 +1"),
        // A heading and a key with the names of code are not selected, unless the file is given or nothing else has the
        // name.
        ("open", Some("README.md"), any, "section README.md:1"),
        ("Usage", None, one_file, "section README.md:3"),
        ("Size.only", None, first, "key package.json:3"),
        ("Size", None, one_file, "ambiguous 3"),
    ];
    for (name, path, policy, expected) in table {
        let wanted = NameQuery { name, languages: REGISTRY, language: None, path: *path };
        let found = resolve_name(&snapshot, &wanted, *policy).expect("because it is readable");
        assert_eq!(summary(&found), *expected, "{name} in {path:?}");
        if let NameMatch::Unique { symbol, .. } = &found {
            let id = symbol.id().to_string();
            let by_id =
                resolve_name(&snapshot, &NameQuery { name: &id, ..wanted }, *policy).expect("because it is readable");
            assert_eq!(summary(&by_id), location(symbol), "an id identifies one symbol");
        }
    }
}

#[test]
fn line_resolves_to_declared_or_enclosing_symbol() {
    let (snapshot, _folders) = indexed();
    let named = |path: &str, line, end| {
        let version = snapshot.version_at(path).expect("because it is readable").expect("because it exists");
        let outline = snapshot.outline(version.id).expect("because it is stored");
        codecompass_query::symbol_at(&outline.symbols, line, end).map(|at| outline.symbols[at as usize].name.clone())
    };
    for (path, line, end, expected) in [
        ("src/jar.rs", 1, None, Some("Jar")),
        ("src/jar.rs", 2, None, Some("size")),
        ("src/jar.rs", 3, None, Some("Jar")),
        ("src/jar.rs", 4, None, None),
        ("src/other.rs", 4, None, Some("twice")),
        // Two on one line: the outer one.
        ("src/other.rs", 8, None, Some("a")),
        ("src/other.rs", 8, Some(8), Some("a")),
    ] {
        assert_eq!(named(path, line, end).as_deref(), expected, "{path}:{line}");
    }
}

/// Returns all symbols with a name, in order.
fn located(snapshot: &Snapshot, name: &str, kinds: &[codecompass_model::SymbolKind]) -> Vec<String> {
    let question = LocateRequest { name, languages: REGISTRY, kinds, language: None, offset: 0, limit: 50 };
    locate(snapshot, &question).expect("because it is readable").hits.iter().map(location).collect()
}

#[test]
fn landmarks_rank_below_code_unless_requested() {
    use codecompass_model::SymbolKind::{Key, Section};
    let (snapshot, _folders) = indexed();
    let open = ["fn src/jar.rs:6", "fn src/other.rs:1", "fn tests/all.rs:1", "section README.md:1"];
    assert_eq!(located(&snapshot, "open", &[]), open);
    assert_eq!(located(&snapshot, "open", &[Section]), ["section README.md:1"]);
    assert_eq!(located(&snapshot, "size", &[Key]), ["key package.json:2"]);
    assert_eq!(located(&snapshot, "size", &[]).last().map(String::as_str), Some("key package.json:2"));
}

#[test]
fn kind_filter_finds_landmarks_by_words() {
    use codecompass_model::SymbolKind::Section;
    let (snapshot, _folders) = indexed();
    let question = SearchRequest { kinds: &[Section], ..SearchRequest::new("usage of a jar", REGISTRY, 10) };
    let places = search(&snapshot, &question).expect("because it is readable").hits;
    let names: Vec<&str> = places.iter().filter_map(|place| place.symbol().map(|one| one.name.as_str())).collect();
    assert_eq!(names, ["Usage"]);
    let places =
        search(&snapshot, &SearchRequest::new("usage of a jar", REGISTRY, 10)).expect("because it is readable").hits;
    assert!(places.iter().all(|place| place.symbol().is_none_or(|symbol| !symbol.kind.is_landmark())));
}
