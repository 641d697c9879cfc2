//! Resolves every reference of a folder without a store: `edges FOLDER [calls|refs|defs|all|unknown|counts]`.
//!
//! `calls`, `refs` and `defs` print JSON lines that a scorer compares with a compiler's results; `all` prints every
//! reference with its resolution; `unknown` lists the unresolved references with the reason; `counts` sums up. It is
//! the tool for work on a language's resolver.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use std::rc::Rc;

use codecompass_lang::{extract, resolver};
use codecompass_model::{RefShape, Resolution, SourceFile, SymbolKind, World};
use codecompass_testkit::MemoryWorld;
use serde_json::json;

const SKIPPED: &[&str] = &[".git", "node_modules", "vendor", "target", "__pycache__"];

fn main() {
    let mut args = std::env::args().skip(1);
    let root = args.next().expect("edges FOLDER [calls|refs|defs|all|unknown|counts]");
    let what = args.next().unwrap_or_else(|| "calls".into());
    let mut files = Vec::new();
    walk(Path::new(&root), "", &mut files);
    files.sort();
    let mut world = MemoryWorld::new();
    for path in &files {
        if let Ok(bytes) = std::fs::read(Path::new(&root).join(path))
            && bytes.len() < 1 << 20
            && !bytes.contains(&0)
        {
            let extracted = extract(path, bytes);
            world.add(path, extracted.language, &extracted.text, extracted.facts);
        }
    }
    let mut out = std::io::stdout().lock();
    if what == "defs" {
        return definitions(&world, &mut out);
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let languages: Vec<String> = world.files().map(|file| file.language.clone()).collect();
    let mut done = Vec::new();
    for language in languages {
        if done.contains(&language) {
            continue;
        }
        done.push(language.clone());
        let Some(resolver) = resolver(&language, Rc::new(&world)) else { continue };
        for file in world.files().filter(|file| file.language == language) {
            for (at, reference) in file.facts.references.iter().enumerate() {
                let meaning = resolver.resolve_reference(file.id, at as u32);
                let name = &file.facts.names[reference.name as usize];
                let is_call = is_call(reference.shape);
                match (&meaning, what.as_str()) {
                    (Resolution::Symbols { targets, confidence, why }, "calls" | "refs") => {
                        for target in targets {
                            let to = world.file(target.file).expect("because a target is in the world");
                            let symbol = &to.facts.symbols[target.ordinal as usize];
                            if what == "calls" && is_call && symbol.kind != SymbolKind::Module {
                                let line = json!({
                                    "from_path": file.path, "from_line": from_line(file, reference.symbol),
                                    "to_path": to.path, "to_line": symbol.name_line.max(symbol.lines.start),
                                    "site_line": reference.line, "site_col": reference.column, "to_name": name,
                                    "edge_type": "calls", "confidence": confidence.as_str(), "why": why,
                                });
                                writeln!(out, "{line}").expect("stdout is writable");
                            }
                            if what == "refs" {
                                let line = json!({
                                    "path": file.path, "line": reference.line, "col": reference.column, "name": name,
                                    "to_path": to.path, "to_line": symbol.name_line.max(symbol.lines.start),
                                    "confidence": confidence.as_str(),
                                });
                                writeln!(out, "{line}").expect("stdout is writable");
                            }
                        }
                    }
                    (_, "all") => {
                        let qualifier = reference.qualifier.map_or_else(String::new, |at| file.facts.render_expr(at));
                        let place = format!("{}:{}:{}", file.path, reference.line, reference.column);
                        let to: Vec<String> = meaning.targets().iter().map(|&at| world.location(at)).collect();
                        let line = json!({
                            "place": place, "shape": reference.shape.as_str(), "name": name, "of": qualifier,
                            "means": describe(&meaning), "to": to,
                        });
                        writeln!(out, "{line}").expect("stdout is writable");
                    }
                    (Resolution::Unknown(why), "unknown") => {
                        let qualifier = reference.qualifier.map_or_else(String::new, |at| file.facts.render_expr(at));
                        let shape = reference.shape.as_str();
                        let place = format!("{}:{}:{}", file.path, reference.line, reference.column);
                        writeln!(out, "{place} {shape} {name} on {qualifier:?}: {why}").expect("stdout is writable");
                    }
                    _ => {}
                }
                let kind = describe(&meaning);
                *counts.entry(format!("{language} {} {kind}", if is_call { "call" } else { "other" })).or_default() +=
                    1;
            }
        }
    }
    if what == "counts" {
        for (kind, count) in counts {
            writeln!(out, "{count:>8} {kind}").expect("stdout is writable");
        }
    }
}

fn definitions(world: &MemoryWorld, out: &mut impl Write) {
    for file in world.files() {
        for symbol in file.facts.symbols.iter().filter(|symbol| symbol.kind != SymbolKind::Use) {
            let line = json!({
                "path": file.path, "line": symbol.name_line.max(symbol.lines.start), "name": symbol.name,
                "kind": symbol.kind.as_str(), "qualified": symbol.qualified_name,
            });
            writeln!(out, "{line}").expect("stdout is writable");
        }
    }
}

/// Renders a resolution without its targets.
fn describe(meaning: &Resolution) -> String {
    match meaning {
        Resolution::Symbols { confidence, why, .. } => format!("{} ({why})", confidence.as_str()),
        Resolution::Module(_) => "module".into(),
        Resolution::External => "external".into(),
        Resolution::Local => "local".into(),
        Resolution::Unknown(why) => format!("unknown ({why})"),
    }
}

fn is_call(shape: RefShape) -> bool {
    use RefShape::{Call, Construct, Decorator, Jsx, MacroCall, MemberCall, PathCall, SelfCall};
    matches!(shape, Call | PathCall | SelfCall | MemberCall | MacroCall | Construct | Decorator | Jsx)
}

/// Returns the line of the nearest enclosing function of a reference; 0 at file level.
fn from_line(file: &SourceFile, mut symbol: Option<u32>) -> u32 {
    while let Some(at) = symbol {
        let around = &file.facts.symbols[at as usize];
        if matches!(around.kind, SymbolKind::Fn | SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Macro) {
            return around.name_line.max(around.lines.start);
        }
        symbol = around.parent;
    }
    0
}

fn walk(root: &Path, below: &str, files: &mut Vec<String>) {
    let entries = std::fs::read_dir(root.join(below)).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !SKIPPED.contains(&name.as_str()) => walk(root, &path, files),
            Ok(kind) if kind.is_file() => files.push(path),
            _ => {}
        }
    }
}
