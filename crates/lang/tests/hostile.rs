//! Extraction is total: whatever the bytes, it ends soon and the facts hold together.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use codecompass_lang::{
    Extracted, LANGUAGES, check_grammars, extract, facts_key, facts_version, language_names, parse_only,
};
use codecompass_model::{ProblemKind, Span};

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files: Vec<_> = LANGUAGES
        .iter()
        .flat_map(|language| fs::read_dir(root.join(language.name)).expect("every language has fixtures").flatten())
        .map(|entry| (entry.path().display().to_string(), fs::read(entry.path()).expect("a fixture can be read")))
        .collect();
    files.sort();
    files.dedup();
    files.push(("notes.md".into(), "# A\n\ntext text\n\n## B\n\nmore\n".repeat(60).into_bytes()));
    files.push(("long.txt".into(), "x".repeat(5000).into_bytes()));
    files
}

fn check(path: &str, bytes: Vec<u8>) -> Extracted {
    let extracted = extract(path, bytes);
    check_symbols(path, &extracted);
    check_references(path, &extracted);
    check_chunks(path, &extracted);
    extracted
}

fn check_symbols(path: &str, extracted: &Extracted) {
    let (text, facts) = (extracted.text.as_str(), &extracted.facts);
    let whole = |span: Span| span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some();
    let mut seen = HashSet::new();
    let mut last = 0;
    for (index, symbol) in facts.symbols.iter().enumerate() {
        assert!(whole(symbol.span) && whole(symbol.name_span), "{path}: {symbol:?}");
        assert!(symbol.outer_start <= symbol.span.start && text.is_char_boundary(symbol.outer_start as usize));
        assert!(symbol.parent.is_none_or(|parent| (parent as usize) < index), "{path}: {symbol:?}");
        assert!(symbol.span.start >= last, "{path}: out of order: {symbol:?}");
        last = symbol.span.start;
        let line = |offset: u32| 1 + text[..offset as usize].matches('\n').count() as u32;
        assert_eq!(symbol.lines.start, line(symbol.span.start), "{path}: {symbol:?}");
        assert!(symbol.lines.start <= symbol.lines.end && symbol.lines.end <= facts.lines, "{path}: {symbol:?}");
        assert_eq!(symbol.name_line, line(symbol.name_span.start), "{path}: {symbol:?}");
        assert!(!symbol.name.is_empty() && !symbol.signature.contains('\n'), "{path}: {symbol:?}");
        let identity = (symbol.kind, &symbol.qualified_name, &symbol.impl_trait, symbol.ordinal);
        assert!(seen.insert(identity), "{path}: not unique: {symbol:?}");
    }
}

fn check_references(path: &str, extracted: &Extracted) {
    let facts = &extracted.facts;
    let lines: Vec<&str> = extracted.text.split('\n').collect();
    let mut last = (0, 0);
    for reference in &facts.references {
        let name = &facts.names[reference.name as usize];
        let rest = lines[reference.line as usize - 1].get(reference.column as usize..);
        assert!(rest.is_some_and(|rest| rest.starts_with(name.as_str())), "{path}: {name} {reference:?}");
        assert!(reference.qualifier.is_none_or(|qualifier| (qualifier as usize) < facts.names.len()));
        assert!(reference.symbol.is_none_or(|symbol| (symbol as usize) < facts.symbols.len()));
        assert!((reference.line, reference.column) >= last, "{path}: out of order: {name} {reference:?}");
        last = (reference.line, reference.column);
    }
    for import in &facts.imports {
        assert!(import.line >= 1 && import.line <= facts.lines, "{path}: {import:?}");
    }
}

fn check_chunks(path: &str, extracted: &Extracted) {
    let (text, facts) = (extracted.text.as_str(), &extracted.facts);
    let (mut byte, mut line) = (0, 1);
    for chunk in &facts.chunks {
        assert_eq!((chunk.span.start, chunk.lines.start), (byte, line), "{path}: {chunk:?}");
        assert!(chunk.span.end > chunk.span.start && chunk.symbol.is_none_or(|s| (s as usize) < facts.symbols.len()));
        let piece = chunk.span.text(text);
        assert_eq!(piece.lines().count() as u32, chunk.lines.end - chunk.lines.start + 1, "{path}: {chunk:?}");
        assert!(piece.len() <= 1500 || piece.lines().count() == 1, "{path}: {} bytes in {chunk:?}", piece.len());
        (byte, line) = (chunk.span.end, chunk.lines.end + 1);
    }
    assert_eq!(byte as usize, text.len(), "{path}: chunks do not cover the text");
    assert_eq!(line - 1, facts.lines, "{path}");
}

#[test]
fn facts_hold_together_for_whole_and_for_cut_files() {
    for (path, bytes) in fixtures() {
        check(&path, bytes.clone());
        for end in (0..bytes.len()).step_by(37) {
            check(&path, bytes[..end].to_vec());
            check(&path, bytes[end..].to_vec());
        }
    }
}

#[test]
fn facts_hold_together_for_mutilated_files() {
    let scraps: [&[u8]; 12] =
        [b"{", b"}", b"(", b"\"", b"'", b"\n\n", b"\0", b"\xff\xfe", "é😀".as_bytes(), b"/*", b"\r\n", b"use a::{b, "];
    for (path, original) in fixtures() {
        let mut dice = Dice(original.len() as u64);
        for _ in 0..150 {
            let mut bytes = original.clone();
            for _ in 0..1 + dice.below(4) {
                let from = dice.below(bytes.len());
                let to = (from + dice.below(200)).min(bytes.len());
                match dice.below(3) {
                    0 => drop(bytes.drain(from..to)),
                    1 => drop(bytes.splice(from..from, scraps[dice.below(scraps.len())].iter().copied())),
                    _ => drop(
                        bytes.splice(from..from, original[from.min(original.len())..to.min(original.len())].to_vec()),
                    ),
                }
            }
            check(&path, bytes);
        }
    }
}

#[test]
fn random_bytes_are_a_file_like_any_other() {
    let mut dice = Dice(7);
    for path in ["a.rs", "a.py", "a.go", "a.ts", "a.tsx", "a.js", "a.md", "a"] {
        for length in [0, 1, 2, 50, 3000] {
            let bytes: Vec<u8> = (0..length).map(|_| dice.below(256) as u8).collect();
            check(path, bytes);
        }
    }
}

#[test]
fn deep_nesting_ends() {
    let depth = 10_000;
    let nested = |open: &str, close: &str| open.repeat(depth) + &close.repeat(depth);
    let rust = [
        format!("fn f() {{ {} }}", nested("(", ")")),
        format!("fn f() {{ {} }}", nested("[", "]")),
        format!("fn f() {nested}", nested = nested("{", "}")),
        nested("mod m {", "}"),
        nested("fn f() {", "}"),
        format!("use {};", nested("a::{", "}")),
        format!("m!{{ {} }}", nested("(", ")")),
        nested("m!(|x| ", ")"),
        nested("m!{ if x ", "}"),
        nested("m!{ fn f() {} ", "}"),
        "m!(a | b => { c d });\n".repeat(depth),
        "m!(|x| \"{x}\" (x, y {); }\n".repeat(depth),
        format!("fn f(({}): ({})) {{}}", "x, ".repeat(depth), "T, ".repeat(depth)),
        format!("fn f() {{ println!({}) }}", "\"{a} {b}\", c = d, ".repeat(depth)),
        format!("fn f() {{ println!(\"{}\", {}) }}", "{a}".repeat(depth), "c = d, ".repeat(depth)),
        format!("fn f<{}>() where {} {{}}", "T, ".repeat(depth), "U: V, ".repeat(depth)),
        format!("fn f({}x{}: T) {{}}", "(".repeat(depth), ",)".repeat(depth)),
        format!("fn f() {{ a{} }}", ".b()".repeat(depth)),
        format!("type T = {};", nested("Vec<", ">")),
        "(".repeat(depth),
        "impl X for Y {".repeat(depth),
    ];
    let python = [
        nested("(", ")"),
        nested("[", "]"),
        format!("x = {}", nested("f(", ")")),
        format!("x = 1{}", " + 1".repeat(depth)),
        format!("a{}", ".b()".repeat(depth)),
        (0..1000).map(|n| format!("{}def f():\n", " ".repeat(n))).collect(),
    ];
    let go = [
        format!("package p; func f() {{ {} }}", nested("(", ")")),
        format!("package p; func f() {nested}", nested = nested("{", "}")),
        format!("package p; func f() {{ {} }}", nested("func() {", "}()")),
        format!("package p; var x = {}", nested("T{{", "}}")),
        format!("package p; type T {}", nested("struct { a ", "}")),
        format!("package p; type T {}int", "[]*map[K]".repeat(depth)),
        format!("package p; func f() {{ a{} }}", ".b()".repeat(depth)),
        format!("package p; func f() {{ {} }}", "switch x := y.(type) { case T:".repeat(depth)),
        "func (a T) f(".repeat(depth),
        "if x := y; x {".repeat(depth),
    ];
    for text in go {
        check("deep.go", text.into_bytes());
    }
    let typescript = [
        nested("(", ")"),
        nested("[", "]"),
        nested("{", "}"),
        nested("function f() {", "}"),
        nested("() => {", "}"),
        nested("class A { m() {", "} }"),
        nested("namespace N {", "}"),
        format!("const x = {}", nested("{a: ", "}")),
        format!("const {} = y", nested("{a: ", "}")),
        format!("x{}", ".y()".repeat(depth)),
        format!("x = {}1", "y = ".repeat(depth)),
        format!("type T = {}", nested("A<", ">")),
        format!("type T = {} never", "A extends infer B ? C : ".repeat(depth)),
        format!("x = {}", nested("<A>", "</A>")),
        format!("x = {}", "`${".repeat(depth)),
        format!("var {};", (0..2000).map(|n| format!("a{n} = a{}", n / 2)).collect::<Vec<_>>().join(", ")),
    ];
    for text in rust {
        check("src/deep.rs", text.into_bytes());
    }
    for text in typescript {
        for path in ["src/deep.ts", "src/deep.tsx", "deep.js"] {
            check(path, text.clone().into_bytes());
        }
    }
    for text in python {
        check("deep.py", text.into_bytes());
    }
}

#[test]
fn too_much_nesting_is_a_problem_as_data() {
    let text = "mod m {".repeat(200) + &"}".repeat(200);
    let extracted = check("src/deep.rs", text.into_bytes());
    assert!(extracted.facts.problems.iter().any(|problem| problem.kind == ProblemKind::TooDeep));
    assert!(!extracted.facts.symbols.is_empty());
}

#[test]
fn bytes_that_are_no_text_and_broken_syntax_are_problems_as_data() {
    let extracted = check("a.rs", b"fn a() {}\nfn b\xff() {}\n".to_vec());
    let kinds: Vec<_> = extracted.facts.problems.iter().map(|problem| (problem.kind, problem.line)).collect();
    assert_eq!(kinds, [(ProblemKind::Syntax, 2), (ProblemKind::NotUtf8, 2)]);
    assert_eq!(extracted.text, "fn a() {}\nfn b\u{fffd}() {}\n");
}

#[test]
fn the_registry_answers_for_every_language() {
    for name in language_names() {
        assert!(facts_version(name).is_some(), "{name}");
    }
    assert_eq!(facts_version("klingon"), None);
    assert_eq!(facts_key(), facts_key());
    for language in LANGUAGES {
        assert_eq!(facts_version(language.name), Some(language.facts_version), "{}", language.name);
    }
    let mut checked = HashSet::new();
    for (name, loaded) in check_grammars() {
        assert_eq!(loaded, Ok(()), "{name}");
        assert!(checked.insert(name), "{name} is listed twice");
    }
    assert!(parse_only("a.rs", b"fn a() {}") > 5);
    assert_eq!(parse_only("a.md", b"two words"), 2);
}
