//! Extracts training data: reads `LABEL<tab>FOLDER` lines from standard input and prints a JSON line per symbol with
//! docs. With `--all` it prints symbols without docs as well, for evaluation.

use std::io::{BufRead, Write};
use std::path::Path;

use codecompass_embedding::{Passage, tokenize};
use codecompass_lang::{REGISTRY, extract};
use codecompass_model::SymbolKind as K;
use serde_json::json;

/// Prose files are skipped.
const PROSE: &[&str] = &[".md", ".rst", ".txt", ".adoc", ".markdown"];

const SKIPPED: &[&str] = &[".git", "node_modules", "third_party", "vendor", "target", "__pycache__"];
const MAX_FILE_BYTES: usize = 400_000;

/// The maximum number of bytes read from a folder, which is enough to learn from it.
const MAX_FOLDER_BYTES: usize = 3 << 20;

fn main() {
    let with_all = std::env::args().any(|argument| argument == "--all");
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("because standard input is text");
        let (label, root) = line.split_once('\t').expect("because each line is LABEL<tab>FOLDER");
        let mut files = Vec::new();
        walk(Path::new(root), "", &mut files);
        // Sorts by a hash of the path, so that a part of the folder represents all of it.
        files.sort_by_key(|path| (path_hash(path), path.clone()));
        let mut read = 0;
        for path in files {
            if read > MAX_FOLDER_BYTES && !with_all {
                break;
            }
            let Ok(bytes) = std::fs::read(Path::new(root).join(&path)) else { continue };
            let is_dense = bytes.len() / (bytes.iter().filter(|byte| **byte == b'\n').count() + 1) > 200;
            if bytes.len() <= MAX_FILE_BYTES && !is_dense && !bytes.contains(&0) {
                read += bytes.len();
                write_symbols(label, &path, bytes, with_all, &mut out);
            }
        }
    }
}

fn write_symbols(label: &str, path: &str, bytes: Vec<u8>, with_all: bool, out: &mut impl Write) {
    let read = extract(path, bytes);
    let is_test = REGISTRY.is_test_path(path);
    for symbol in read.facts.symbols.iter() {
        let passage = Passage::new(symbol, &read.text);
        if !is_training_kind(symbol.kind) || passage.doc.is_empty() && !with_all {
            continue;
        }
        let [head, rest] = passage.head_and_rest();
        let told = json!({
            "package": label,
            "path": path,
            "language": read.language,
            "kind": symbol.kind.as_str(),
            "name": symbol.name,
            "names": format!("{} {}", tokenized(passage.name), tokenized(passage.qualified)),
            "doc": passage.doc,
            "code": head.map(tokenized).join(" "),
            "rest": rest.map(tokenized).join(" "),
            "line": symbol.lines.start,
            "test": is_test || symbol.in_test,
        });
        serde_json::to_writer(&mut *out, &told).expect("because standard output is open");
        out.write_all(b"\n").expect("because standard output is open");
    }
}

fn path_hash(path: &str) -> u32 {
    path.bytes().fold(2_166_136_261, |hash: u32, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619))
}

fn tokenized(text: &str) -> String {
    tokenize(text).map(str::to_ascii_lowercase).collect::<Vec<_>>().join(" ")
}

fn is_training_kind(kind: K) -> bool {
    let types = matches!(kind, K::Struct | K::Class | K::Enum | K::Trait | K::Interface | K::Type | K::Union);
    types || matches!(kind, K::Fn | K::Method | K::Constructor | K::Macro | K::Property)
}

fn walk(root: &Path, inner: &str, files: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(root.join(inner)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if inner.is_empty() { name.clone() } else { format!("{inner}/{name}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !SKIPPED.contains(&name.as_str()) => walk(root, &path, files),
            Ok(kind) if kind.is_file() && !PROSE.iter().any(|end| name.ends_with(end)) => files.push(path),
            _ => {}
        }
    }
}
