//! Rules for the workspace: which crate may depend on which, what must not occur, and that every file states its
//! purpose.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::module_graph::{Graph, cyclic_components, read_graph, shortest_cycle};

/// The normal dependencies that each crate may have, without `codecompass-`. To add one, give the reason here.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &["blake3", "serde"]),
    (
        "lang",
        &[
            "model",
            "tree-sitter",
            "tree-sitter-zig",
            "tree-sitter-haskell",
            "tree-sitter-php",
            "tree-sitter-c-sharp",
            "tree-sitter-cpp",
            "tree-sitter-elixir",
            "tree-sitter-bash",
            "tree-sitter-c",
            "tree-sitter-go",
            "tree-sitter-java",
            "tree-sitter-javascript",
            "tree-sitter-kotlin-sg",
            "tree-sitter-lua",
            "tree-sitter-python",
            "tree-sitter-ruby",
            "tree-sitter-rust",
            "tree-sitter-scala",
            "tree-sitter-swift",
            "tree-sitter-typescript",
        ],
    ),
    ("embedding", &["model"]),
    (
        "store",
        &[
            "blake3",
            "memchr",
            "model",
            "postcard",
            "regex-syntax",
            "roaring",
            "rusqlite",
            "serde",
            "tantivy",
            "tar",
            "thiserror",
            "zstd",
        ],
    ),
    (
        "index",
        &[
            "crossbeam-channel",
            "dunce",
            "gix",
            "ignore",
            "lang",
            "memchr",
            "model",
            "notify",
            "rayon",
            "store",
            "thiserror",
        ],
    ),
    ("query", &["embedding", "memchr", "model", "regex-automata", "regex-syntax", "store"]),
    ("encoder", &["query", "serde", "serde_json", "store", "ureq"]),
    (
        "workspace",
        &[
            "index",
            "indicatif",
            "jiff",
            "lang",
            "libc",
            "libmimalloc-sys",
            "model",
            "query",
            "serde",
            "serde_json",
            "store",
            "strsim",
            "toml",
            "wire",
        ],
    ),
    (
        "tools",
        &["encoder", "globset", "index", "lang", "model", "query", "serde", "serde_json", "store", "wire", "workspace"],
    ),
    (
        "serve",
        &[
            "axum",
            "encoder",
            "getrandom",
            "http-body",
            "index",
            "lang",
            "model",
            "query",
            "rmcp",
            "serde_json",
            "store",
            "tokio",
            "tools",
            "wire",
            "workspace",
        ],
    ),
    ("setup", &["globset", "index", "model", "query", "saphyr-parser", "serde_json", "store", "toml", "workspace"]),
    (
        "explorer",
        &[
            "http",
            "lang",
            "maud",
            "model",
            "query",
            "serde",
            "serde_json",
            "serve",
            "store",
            "tools",
            "wire",
            "workspace",
        ],
    ),
    (
        "app",
        &[
            "clap",
            "clap_complete",
            "clap_mangen",
            "explorer",
            "index",
            "lang",
            "mimalloc",
            "model",
            "query",
            "serde",
            "serde_json",
            "serve",
            "setup",
            "store",
            "toml",
            "tools",
            "wire",
            "workspace",
        ],
    ),
    ("wire", &["schemars", "serde", "serde_json"]),
    ("testkit", &["model", "serde_json", "tempfile"]),
];

/// Words that must not occur in the sources of some crates, with the reason.
const FORBIDDEN: &[(&str, &[&str], &str)] = &[
    ("std::env", LIBRARIES, "libraries do not read the environment"),
    ("println!", PRODUCT, "answers go through workspace::output"),
    ("SystemTime", &["model", "lang", "store", "query"], "only the outer crates read the clock"),
    ("Instant", &["model", "lang", "store"], "facts depend on steps, not on time"),
    ("std::fs", &["model", "lang", "query"], "these crates do no input or output"),
    ("serde_json", LIBRARIES, "only the outer crates use JSON"),
    (
        "rusqlite",
        &["model", "lang", "index", "query", "workspace", "tools", "serve", "setup", "explorer", "app"],
        "only `store` uses SQL",
    ),
    (
        "tree_sitter",
        &["model", "store", "index", "query", "workspace", "tools", "serve", "setup", "explorer", "app"],
        "only `lang` parses syntax",
    ),
    (
        "gix::",
        &["model", "lang", "store", "query", "workspace", "tools", "serve", "setup", "explorer", "app"],
        "only `index` uses git",
    ),
];

/// The file of the product that may start a process, and the program's alias, which only runs the main program.
const LAUNCHERS: [&str; 2] = ["app/src/bin/cruxe.rs", "workspace/src/launch.rs"];

/// APIs that start a process.
const PROCESS_APIS: &[&str] = &[
    "process::Command",
    "process::Child",
    "process::Stdio",
    "process::*",
    "process as",
    "tokio::process",
    "CommandExt",
    "libc::exec",
    "libc::fork",
    "libc::vfork",
    "libc::system",
    "libc::popen",
    "posix_spawn",
];

/// Modules of a folder. Each may use those before it, and none after it.
const LAYERS: &[(&str, &[&str])] =
    &[("query/src/search", &["evidence", "parsed_query", "exact", "candidates", "hit", "features"])];

/// Dependencies that cost much build time or code. Each has one owner among the crates.
const HEAVY: &[&str] = &[
    "axum",
    "clap",
    "gix",
    "ignore",
    "indicatif",
    "jiff",
    "maud",
    "notify",
    "rmcp",
    "rusqlite",
    "saphyr-parser",
    "schemars",
    "tantivy",
    "tokio",
    "tree-sitter",
    "ureq",
    "zstd",
];

/// The crates that handle languages generically and name none.
const LANGUAGE_AGNOSTIC_CRATES: &[&str] =
    &["model", "store", "index", "query", "encoder", "wire", "workspace", "tools", "serve", "setup", "explorer", "app"];

/// The properties of a language with distinctive words: its name, and names with a special role in it. The other
/// properties have common words (`main`, `index`).
const LANGUAGE_PROPERTIES: &[&str] = &[
    "name",
    "constructors",
    "manifests",
    "reexport_files",
    "test_prefixes",
    "test_infixes",
    "test_folders",
    "test_marks",
];

const LIBRARIES: &[&str] = &["model", "lang", "store", "index", "query"];
const PRODUCT: &[&str] =
    &["model", "lang", "store", "index", "query", "wire", "workspace", "tools", "serve", "setup", "explorer", "app"];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in crates/").to_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the names under `[dependencies]`.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.lines().skip_while(|line| line.trim() != "[dependencies]").skip(1);
    section
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split(['=', '.']).next())
        .map(|name| name.trim().trim_start_matches("codecompass-").to_owned())
        .filter(|name| !name.is_empty() && !name.starts_with('#'))
        .collect()
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "fixtures" && name != "target") {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn crates_use_only_allowed_dependencies() {
    let mut wrong = Vec::new();
    for entry in fs::read_dir(crates()).expect("the folder of crates exists").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some((_, allowed)) = ALLOWED.iter().find(|(known, _)| *known == name) else {
            wrong.push(format!("crate {name} has no line in ALLOWED"));
            continue;
        };
        let used = dependencies(&read(&entry.path().join("Cargo.toml")));
        assert!(!used.is_empty(), "{name}: no dependencies were found, so the test reads the manifest wrongly");
        wrong
            .extend(used.iter().filter(|one| !allowed.contains(&one.as_str())).map(|one| format!("{name} uses {one}")));
        wrong.extend(
            allowed.iter().filter(|one| !used.contains(**one)).map(|one| format!("{name} does not need {one}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_file_has_a_module_doc() {
    let mut files = Vec::new();
    rust_files(&crates(), &mut files);
    assert!(files.len() > 50, "only {} files were found", files.len());
    let silent: Vec<String> =
        files.iter().filter(|path| !read(path).starts_with("//! ")).map(|path| path.display().to_string()).collect();
    assert!(silent.is_empty(), "no module doc in the first line of:\n{}", silent.join("\n"));
}

#[test]
fn forbidden_words_are_absent() {
    let mut found = Vec::new();
    for (word, names, reason) in FORBIDDEN {
        for name in *names {
            let mut files = Vec::new();
            rust_files(&crates().join(name).join("src"), &mut files);
            let has = |path: &&PathBuf| {
                read(path).lines().any(|line| line.contains(word) && !line.trim_start().starts_with("//"))
            };
            found.extend(files.iter().filter(has).map(|path| format!("{}: {word} ({reason})", path.display())));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Whether a source names an API that starts a process, also in a list of imports.
fn can_start_a_process(text: &str) -> bool {
    let code: String = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join(" ");
    let lists = code.split("process::{").skip(1).filter_map(|rest| rest.split('}').next());
    let mut imported = lists.flat_map(|list| list.split(',')).map(str::trim);
    PROCESS_APIS.iter().any(|word| code.contains(word)) || imported.any(|name| name.starts_with("Command"))
}

#[test]
fn only_one_file_starts_processes() {
    let mut found = Vec::new();
    for name in PRODUCT {
        let mut files = Vec::new();
        rust_files(&crates().join(name).join("src"), &mut files);
        found.extend(files.into_iter().filter(|path| can_start_a_process(&read(path))));
    }
    found.sort();
    assert_eq!(found, LAUNCHERS.map(|file| crates().join(file)), "only the launcher may start anything");
    assert!(can_start_a_process("use std::process::{self, Command};") && can_start_a_process("std::process::Command"));
    assert!(!can_start_a_process("use std::process::{ExitCode, abort};\n// std::process::Command\nclap::Command"));
}

/// Returns the quoted texts of a line.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}

/// Returns the distinctive words of the languages in `lang`: their names, tests, constructors and manifests.
fn words_of_languages() -> BTreeSet<String> {
    let mut told = BTreeSet::new();
    for entry in fs::read_dir(crates().join("lang/src")).expect("the folder exists").flatten() {
        let Ok(text) = fs::read_to_string(entry.path().join("mod.rs")) else { continue };
        for field in LANGUAGE_PROPERTIES {
            let mark = format!(" {field}: ");
            let values = text.split(&mark).skip(1);
            // A row of a table may have a field of the same name that is not a string.
            for value in values.filter(|value| value.starts_with(['"', '&'])) {
                let end = if value.starts_with("&[") { ']' } else { ',' };
                told.extend(value.split(end).take(1).flat_map(quoted).map(str::to_owned));
            }
        }
    }
    told
}

/// Words of a language with another common use: a method of MCP.
const AMBIGUOUS_WORDS: &[&str] = &["initialize"];

/// Words of a language in a file that uses them for something else: the package around a client's program.
const OTHER_USES: &[(&str, &str)] = &[("setup/src/clients/mod.rs", "package.json")];

/// Returns the code of a source without its tests and comments.
fn product(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn only_lang_names_languages() {
    let told = words_of_languages();
    for word in ["go", "rust", "python", "__init__", "Cargo.toml", "setup.cfg", "_tests.", "conftest", ".d.ts"] {
        assert!(told.contains(word), "{word} is not among {told:?}, so the test reads `lang` wrongly");
    }
    let mut found = Vec::new();
    for name in LANGUAGE_AGNOSTIC_CRATES {
        let mut files = Vec::new();
        rust_files(&crates().join(name).join("src"), &mut files);
        for path in files {
            let text = read(&path);
            let is_told = |word: &&str| told.contains(*word) && !AMBIGUOUS_WORDS.contains(word);
            let is_other = |word: &str| OTHER_USES.iter().any(|(file, other)| path.ends_with(file) && *other == word);
            let words = product(&text).flat_map(quoted).filter(is_told).filter(|word| !is_other(word));
            found.extend(words.map(|word| format!("{}: {word:?}", path.display())));
        }
    }
    assert!(found.is_empty(), "ask `codecompass_model::Languages` instead of naming these:\n{}", found.join("\n"));
}

/// Returns the words in the imports from sibling modules.
fn sibling_imports(text: &str) -> BTreeSet<&str> {
    let imports = text.split("use super::").skip(1).filter_map(|rest| rest.split(';').next());
    imports.flat_map(|import| import.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
}

#[test]
fn layers_use_each_other_in_one_direction() {
    for (folder, layers) in LAYERS {
        for (at, layer) in layers.iter().enumerate() {
            let text = read(&crates().join(folder).join(layer).with_extension("rs"));
            let used = sibling_imports(&text);
            let after = layers[at + 1..].iter().filter(|later| used.contains(**later)).collect::<Vec<_>>();
            assert!(after.is_empty(), "{folder}: {layer} uses {after:?}, which come after it");
            let is_last = at + 1 == layers.len();
            let uses_some = layers[..at].iter().any(|one| used.contains(one));
            assert!(uses_some || !is_last, "{folder}: {layer} uses nothing, so the test reads imports wrongly");
        }
    }
}

#[test]
fn heavy_dependencies_have_one_owner() {
    for dependency in HEAVY {
        let owners: Vec<&str> =
            ALLOWED.iter().filter(|(_, allowed)| allowed.contains(dependency)).map(|(name, _)| *name).collect();
        assert_eq!(owners.len(), 1, "{dependency} is used by {owners:?}");
    }
}

/// Returns the shortest cycle among some modules, with the place of each reference.
fn describe_cycle(graph: &Graph, modules: &BTreeSet<String>) -> String {
    let cycles = modules.iter().filter_map(|module| shortest_cycle(graph, module));
    let cycle = cycles.min_by_key(Vec::len).expect("the modules form a cycle");
    let next = cycle.iter().cycle().skip(1);
    let steps = cycle.iter().zip(next).map(|(from, to)| format!("{from} uses {to} ({})", graph[from][to]));
    steps.collect::<Vec<_>>().join(", ")
}

#[test]
fn modules_do_not_form_cycles() {
    let mut wrong = Vec::new();
    for (name, _) in ALLOWED {
        let graph = read_graph(&crates().join(name).join("src"), &|path| fs::read_to_string(path).ok());
        assert!(graph.values().any(|used| !used.is_empty()), "{name}: no references were found");
        for cycle in cyclic_components(&graph) {
            wrong.push(format!("{name}: {cycle:?} form a cycle: {}", describe_cycle(&graph, &cycle)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
