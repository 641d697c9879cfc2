//! Whom Python references mean, as claims at the end of the lines that make them.
//!
//! `#> name = meaning; …` speaks of the references, or else the imports, of that name on its line. A meaning is a
//! qualified name (several with `|`), `module PATH`, `external`, `local` or `unknown`; a guess ends in `?`.

use std::rc::Rc;

use codecompass_lang::{extract, resolver};
use codecompass_model::{Confidence, Meaning, Resolver, SourceFile, SymbolAt, World};
use codecompass_testkit::MemoryWorld;

/// The files of a text: each begins with a line `== path`.
fn world(text: &str) -> MemoryWorld {
    let mut world = MemoryWorld::new();
    for file in text.split("\n== ").skip(1) {
        let (path, content) = file.split_once('\n').unwrap_or((file, ""));
        let extracted = extract(path, content.as_bytes().to_vec());
        world.add(path, extracted.language, &extracted.text, extracted.facts);
    }
    world
}

fn show(world: &MemoryWorld, meaning: &Meaning) -> String {
    let name = |at: &SymbolAt| {
        let file = world.file(at.file).expect("a target is in the view");
        file.facts.symbols[at.place as usize].qualified_name.clone()
    };
    match meaning {
        Meaning::Symbols { targets, confidence, .. } => {
            let mut names: Vec<String> = targets.iter().map(name).collect();
            names.dedup();
            let mark = if *confidence == Confidence::Heuristic { "?" } else { "" };
            names.join(" | ") + mark
        }
        Meaning::Module(files) => {
            let paths = files.iter().map(|id| world.file(*id).expect("a module has files").path.clone());
            format!("module {}", paths.collect::<Vec<_>>().join(" "))
        }
        Meaning::External => "external".into(),
        Meaning::Local => "local".into(),
        Meaning::Unknown(_) => "unknown".into(),
    }
}

/// What is said about a name on a line.
fn said(world: &MemoryWorld, rules: &dyn Resolver, file: &SourceFile, line: u32, name: &str) -> String {
    let facts = &file.facts;
    let mut all: Vec<String> = Vec::new();
    for (at, reference) in facts.references.iter().enumerate() {
        if reference.line == line && facts.names[reference.name as usize] == name {
            all.push(show(world, &rules.reference(file.id, at as u32)));
        }
    }
    if all.is_empty() {
        for (at, import) in facts.imports.iter().enumerate().filter(|(_, import)| import.line == line) {
            if import.name.as_deref().unwrap_or(&import.module) == name {
                all.push(show(world, &rules.import(file.id, at as u32)));
            }
        }
    }
    all.dedup();
    all.join(", ")
}

fn check(text: &str) {
    let world = world(text);
    let rules = resolver("python", Rc::new(&world)).expect("Python has rules");
    let mut wrong = Vec::new();
    let mut claims = 0;
    for file in world.files() {
        let content = world.text(file.id).expect("a file has a text");
        for (line, code) in (1..).zip(content.lines()) {
            let Some((_, said_here)) = code.split_once("#> ") else { continue };
            for claim in said_here.split("; ") {
                let (name, expected) = claim.split_once(" = ").expect("a claim is `name = meaning`");
                let got = said(&world, &*rules, file, line, name.trim());
                claims += 1;
                if got != expected.trim() {
                    wrong.push(format!("{}:{line} {name}: {got:?}, not {expected:?}", file.path));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {claims} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn imports_find_modules_and_what_modules_pass_on() {
    check(include_str!("python_resolve/imports.txt"));
}

#[test]
fn names_are_looked_up_in_their_scopes() {
    check(include_str!("python_resolve/scopes.txt"));
}

#[test]
fn members_are_found_through_types() {
    check(include_str!("python_resolve/members.txt"));
}

#[test]
fn types_come_from_annotations_values_and_returns() {
    check(include_str!("python_resolve/types.txt"));
}

#[test]
fn what_leads_in_circles_ends() {
    check(include_str!("python_resolve/circles.txt"));
}

#[test]
fn a_method_knows_those_that_override_it() {
    let text = "
== app/base.py
class Field:
    def clean(self, value):
        return value

    def __init__(self):
        pass

class Other:
    def clean(self, value):
        return None

== app/fields.py
from app import base

class Char(base.Field):
    def clean(self, value):
        return str(value)

    def __init__(self):
        pass

class Slug(Char):
    def clean(self, value):
        return value.lower()
";
    let world = world(text);
    let rules = resolver("python", Rc::new(&world)).expect("Python has rules");
    let places = |name: &str, at: usize| -> Vec<String> {
        rules.implementations(world.symbols_named(name)[at]).into_iter().map(|at| world.place(at)).collect()
    };
    assert_eq!(places("clean", 0), ["app/fields.py:4", "app/fields.py:11"]);
    assert_eq!(places("clean", 1), [""; 0]);
    assert_eq!(places("clean", 2), ["app/fields.py:11"]);
    assert_eq!(places("__init__", 0), [""; 0]);
}
