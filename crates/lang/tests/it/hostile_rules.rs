//! Resolvers answer for any code: truncated, broken or cyclic, and also for invalid queries.

use std::fs;
use std::path::Path;
use std::rc::Rc;

use codecompass_lang::{LANGUAGES, extract, resolver};
use codecompass_model::{Resolution, SymbolAt, VersionId};
use codecompass_testkit::MemoryWorld;

fn world(files: &[(&str, &str)]) -> MemoryWorld {
    let mut world = MemoryWorld::new();
    for (path, text) in files {
        let extracted = extract(path, text.as_bytes().to_vec());
        world.add(path, extracted.language, &extracted.text, extracted.facts);
    }
    world
}

/// Asserts that symbols exist in the world. Symbols of stubs have ids that no file of the world has.
fn check_symbols(world: &MemoryWorld, symbols: &[SymbolAt]) {
    for symbol in symbols {
        if let Some(file) = world.files().find(|file| file.id == symbol.file) {
            assert!(
                (symbol.ordinal as usize) < file.facts.symbols.len(),
                "{}: no symbol {}",
                file.path,
                symbol.ordinal
            );
        }
    }
}

/// Asserts that a resolution names existing symbols and files.
fn check(world: &MemoryWorld, resolution: &Resolution) {
    match resolution {
        Resolution::Symbols { targets, why, .. } => {
            assert!(!targets.is_empty() && !why.is_empty(), "{resolution:?}");
            check_symbols(world, targets);
        }
        Resolution::Module(files) => {
            assert!(!files.contains(&VersionId::MAX), "a module of a file that does not exist");
        }
        Resolution::Unknown(why) => assert!(!why.is_empty(), "no reason is given"),
        Resolution::External | Resolution::Local => {}
    }
}

/// Whether a resolution names no symbol or module, as for an index out of range.
fn names_nothing(resolution: &Resolution) -> bool {
    !matches!(resolution, Resolution::Symbols { .. } | Resolution::Module(_))
}

/// Runs every query of every resolver in a world, and one with an index out of range. Every answer names symbols that
/// exist.
fn resolve_everything(world: &MemoryWorld) {
    let mut languages: Vec<&str> = world.files().map(|file| file.language.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    for rules in languages.into_iter().filter_map(|language| resolver(language, Rc::new(world))) {
        for file in world.files() {
            let references = file.facts.references.len() as u32;
            for at in 0..references {
                check(world, &rules.resolve_reference(file.id, at));
                let returned = rules.returned_call(file.id, at);
                check_symbols(world, &returned.map(|call| call.targets).unwrap_or_default());
            }
            for at in 0..file.facts.imports.len() as u32 {
                check(world, &rules.resolve_import(file.id, at));
            }
            for ordinal in 0..=file.facts.symbols.len() as u32 {
                let symbol = SymbolAt { file: file.id, ordinal };
                check_symbols(world, &rules.implementations(symbol));
                check_symbols(world, &rules.returned_functions(symbol));
            }
            assert!(names_nothing(&rules.resolve_reference(file.id, references)), "out of range");
        }
        assert!(names_nothing(&rules.resolve_reference(VersionId::MAX, 0)), "no such file");
        assert!(names_nothing(&rules.resolve_import(VersionId::MAX, 0)), "no such file");
        assert_eq!(rules.implementations(SymbolAt { file: VersionId::MAX, ordinal: 0 }), []);
    }
}

#[test]
fn truncated_code_is_resolved() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for language in LANGUAGES {
        let mut files: Vec<(String, String)> = fs::read_dir(root.join(language.name))
            .expect("because every language has fixtures")
            .flatten()
            .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
            .map(|(name, path)| (name, fs::read_to_string(path).expect("because fixtures are UTF-8 text")))
            .collect();
        files.sort();
        for (cut, (name, whole)) in files.iter().enumerate() {
            for end in (0..whole.len()).step_by(977) {
                let mut pieces = vec![(name.as_str(), whole.get(..end).unwrap_or(""))];
                let others = files.iter().enumerate().filter(|(at, _)| *at != cut);
                pieces.extend(others.map(|(_, (name, text))| (name.as_str(), text.as_str())).take(1));
                resolve_everything(&world(&pieces));
            }
        }
    }
}

#[test]
fn truncated_package_is_resolved() {
    let whole = include_str!("../../fixtures/go/server.go");
    let broken = include_str!("../../fixtures/go/broken.go");
    let module = ("go.mod", "module example.com/app\n\ngo 1.22\n");
    for end in (0..whole.len()).step_by(211) {
        let cut = whole.get(..end).unwrap_or("");
        resolve_everything(&world(&[module, ("a.go", cut), ("b.go", broken), ("c.go", whole)]));
    }
}

#[test]
fn truncated_manifests_are_resolved() {
    let code = "import {a} from './b'\nclass é<T extends { [k: string]: 'x' }> { f: (x: T) => T[\"ü\"] = (y) => y.é?.(`${y}`) }\n\
                const { q, r: [s] } = (await a<T>(…)) as Foo[0]['x']; q.é[s]!.m(); type X = A extends B ? (c: C) => D : E;";
    for end in (0..code.len()).filter(|&end| code.is_char_boundary(end)) {
        for text in [&code[..end], &code[end..]] {
            let opened = format!("{{{text}");
            let files = [("a.ts", text), ("b.js", text), ("package.json", text), ("tsconfig.json", &opened)];
            resolve_everything(&world(&files));
        }
    }
}

#[test]
fn cyclic_code_terminates() {
    let hostile = [
        (
            "src/lib.rs",
            "use a::*; pub mod a { pub use super::*; use super::b::*; } mod b { pub use super::a::*; }\nfn f() { g(); a::h(); self::b::i() }",
        ),
        (
            "src/loops.rs",
            "type A = B; type B = A; fn f(x: A) { x.g(); let y = y.z(); y.g(); } impl A { fn g(&self) -> A {} }",
        ),
        (
            "src/deref.rs",
            "struct D; impl Deref for D { type Target = D; } fn f(d: D) { d.x.y(); d.z() } trait T: T { fn m(&self) { self.n() } }",
        ),
        (
            "src/blanket.rs",
            "trait A { fn a(&self); } trait B { fn b(&self); } impl<T: B> A for T { fn a(&self) {} }\nimpl<T: A> B for T { fn b(&self) {} } struct S; fn f(s: S) { s.a(); s.b() }",
        ),
        (
            "A.java",
            "class A<T extends A<T>> extends B<A<T>> { T t; A a = a.b; void f() { t.t.t.g(); super.f(); this.h(x -> x.y(z -> x.z(y))); } }\nclass B<T> extends A<B<T>> { B<B<T>> b; B() { this(); } interface C extends D { } interface D extends C { void m(); } }",
        ),
        (
            "a.c",
            "#include \"a.c\"\n#define M M(M)\ntypedef struct S S; struct S { S *s; T t; }; typedef T U; typedef U T;\nint f(T *x) { int y = y; return x->s->t.u(M(x)) + f(f); }",
        ),
        (
            "a.lua",
            "local M = require('a') local N = N or N M.f = M.g function M.g() return M.f() end function M:h() return self:h():h() end\nlocal t = setmetatable(t, t) t.x.y = t return M.h(M, require 'a')",
        ),
        (
            "a.zig",
            "const A = @import(\"a.zig\"); const B = C; const C = B; pub fn f(x: B) A { return x.f().g(.h, .{ .i = .j }); }\nfn G(comptime T: type) type { return G(G(T)); } fn H(comptime T: type) type { return struct { a: H(@This()), fn b(s: *@This()) T { return s.a.b().c(); } }; }",
        ),
        (
            "A.hs",
            "module A (module A, module B, T(..), f) where\nimport A\nimport qualified A as B hiding (f)\nimport B (T(..))\ndata T = T { t :: T }\ninstance T T where f = f\nf :: f\nf = A.f B.f (B.T t) { t = t }",
        ),
        ("src/é.rs", "fn ü() { let ö = match 'é' { 'ß' => \"ä\\\"\", _ => { x.é(|ñ| ñ.ü()) } }; ö.len(); ((((( }"),
    ];
    for file in hostile {
        resolve_everything(&world(&[file]));
    }
}
