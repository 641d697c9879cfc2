//! Extraction is total: for any bytes it ends soon with valid facts.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use codecompass_lang::{
    Extracted, LANGUAGES, check_grammars, extract, extract_while, facts_key, facts_version, language_names, parse_only,
};
use codecompass_model::ProblemKind;
use codecompass_testkit::check_facts;

/// Pseudo-random numbers that are equal in every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let folders = LANGUAGES.iter().map(|language| language.name).chain(["landmarks"]);
    let mut files: Vec<_> = folders
        .flat_map(|folder| fs::read_dir(root.join(folder)).expect("because every language has fixtures").flatten())
        .map(|entry| (entry.path().display().to_string(), fs::read(entry.path()).expect("because fixtures exist")))
        .collect();
    files.sort();
    files.dedup();
    files.push(("notes.md".into(), "# A\n\ntext text\n\n## B\n\nmore\n".repeat(60).into_bytes()));
    files.push(("long.txt".into(), "x".repeat(5000).into_bytes()));
    files
}

fn check(path: &str, bytes: Vec<u8>) -> Extracted {
    let extracted = extract(path, bytes);
    check_facts(path, &extracted.text, &extracted.facts);
    extracted
}

#[test]
fn facts_are_valid_for_truncated_files() {
    for (path, bytes) in fixtures() {
        check(&path, bytes.clone());
        for end in (0..bytes.len()).step_by(37) {
            check(&path, bytes[..end].to_vec());
            check(&path, bytes[end..].to_vec());
        }
    }
}

/// Every format with a landmark reader has a fixture with landmarks.
#[test]
fn landmark_fixtures_have_landmarks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/landmarks");
    let mut languages = HashSet::new();
    for entry in fs::read_dir(root).expect("because the folder exists").flatten() {
        let path = entry.path().display().to_string();
        let extracted = check(&path, fs::read(entry.path()).expect("because fixtures exist"));
        assert!(extracted.facts.symbols.len() > 1, "{path}");
        assert!(extracted.facts.references.is_empty() && extracted.facts.problems.is_empty(), "{path}");
        assert!(facts_version(extracted.language) > facts_version("text"), "{path}");
        languages.insert(extracted.language);
    }
    let plain = language_names().into_iter().filter(|name| LANGUAGES.iter().all(|known| known.name != *name));
    let read: HashSet<&str> = plain.filter(|name| facts_version(name) > facts_version("text")).collect();
    assert_eq!(languages, read);
}

/// Landmarks do not change how a text is split into chunks.
#[test]
fn landmarks_do_not_change_chunks() {
    for (path, bytes) in fixtures().into_iter().filter(|(path, _)| path.contains("/landmarks/")) {
        let plain = extract("a.txt", bytes.clone());
        assert_eq!(extract(&path, bytes).facts.chunks, plain.facts.chunks, "{path}");
    }
}

/// Deep, wide and long texts of every format end soon, and have at most the maximum number of landmarks.
#[test]
fn hostile_texts_have_bounded_landmarks() {
    let names = [
        "a.md",
        "a.rst",
        "a.adoc",
        "a.json",
        "a.yaml",
        "a.toml",
        "a.sql",
        "a.proto",
        "a.tf",
        "Dockerfile",
        "Makefile",
        "a.css",
        "a.scss",
        "a.less",
    ];
    let scraps = [
        "{",
        "}",
        "[",
        "(",
        "\"",
        "'",
        "`",
        "$a$",
        "/*",
        "//",
        "#",
        "# a\n",
        "a\n---\n",
        "a: ",
        "a:\n",
        "  a:\n",
        "a = [\n",
        "[a]\n",
        "create table a (",
        "create function a() begin ",
        "message A {",
        "rpc A(",
        "a \"b\" {",
        "x = <<A\n",
        "FROM a AS b\n",
        "a: b\n\tc\n",
        ".a, ",
        ".a { ",
        "#{",
        "<!--",
        "\"a\": {",
        "\"a\": 1, ",
        "---\n",
        "-",
        "=",
        "\\",
        "\n",
        " ",
        "é",
    ];
    let started = std::time::Instant::now();
    for name in names {
        for scrap in scraps {
            let symbols = check(name, scrap.repeat(60_000 / scrap.len()).into_bytes()).facts.symbols;
            assert!(symbols.len() <= 5_000, "{name} {scrap:?}: {}", symbols.len());
        }
        let long = ["a".repeat(1 << 20), "{ ".repeat(1 << 19), "a: { \"".repeat(1 << 18)];
        long.into_iter().for_each(|text| drop(check(name, text.into_bytes())));
    }
    assert!(started.elapsed().as_secs() < 120, "{:?}", started.elapsed());
}

/// Small files that fuzzing found, each under the extension it was found with.
#[test]
fn facts_are_valid_for_fuzz_findings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/fuzz");
    for entry in fs::read_dir(folder).expect("because the folder of fuzz findings exists").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        check(&format!("src/{name}"), fs::read(entry.path()).expect("because findings are readable"));
    }
}

#[test]
fn facts_are_valid_for_mutated_files() {
    let scraps: [&[u8]; 12] =
        [b"{", b"}", b"(", b"\"", b"'", b"\n\n", b"\0", b"\xff\xfe", "é😀".as_bytes(), b"/*", b"\r\n", b"use a::{b, "];
    for (path, original) in fixtures() {
        let mut dice = Rng(original.len() as u64);
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
fn random_bytes_are_extracted() {
    let mut dice = Rng(7);
    let known = LANGUAGES.iter().filter_map(|language| language.extensions.first());
    let paths = known
        .map(|extension| format!("a.{extension}"))
        .chain(["a.md", "a.json", "a.yaml", "a.sql", "a.proto", "a.tf", "a.css", "a"].map(str::to_owned));
    for path in paths {
        let path = path.as_str();
        for length in [0, 1, 2, 50, 3000] {
            let bytes: Vec<u8> = (0..length).map(|_| dice.below(256) as u8).collect();
            check(path, bytes);
        }
    }
}

#[test]
fn deep_nesting_terminates() {
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
    let shell = [
        nested("f() { ", "; }"),
        nested("$(", ")"),
        nested("if x; then ", "; fi;"),
        format!("a{}", "=$b".repeat(depth)),
        format!("declare {}", "-x a=1 ".repeat(depth)),
        "${a:-".repeat(depth),
        "case x in a) ".repeat(depth),
        "@test \"a {\n".repeat(depth),
        "@test \"a\" {\n".repeat(depth),
    ];
    for text in shell {
        check("deep.bats", text.into_bytes());
    }
    let elixir = [
        nested("defmodule A do ", " end"),
        nested("def f(x) do ", " end"),
        format!("x = {}", nested("fn x -> ", " end")),
        format!("{} = 1", nested("{a = ", "}")),
        format!("{}x", "x = ".repeat(depth)),
        format!("x{}", " |> f(y)".repeat(depth)),
        format!("a{}", ".b".repeat(depth)),
        format!("@spec f({}) :: a", nested("(a -> ", ")")),
        "alias A.B, as: C\n%C{a: C.d(1)}\n".repeat(depth),
        "@doc \"a\"\n".repeat(depth),
        "alias A.{".repeat(depth),
        "%A{a | b: ".repeat(depth),
        "with {:ok, a} <- b do".repeat(depth),
    ];
    for text in elixir {
        check("deep.ex", text.into_bytes());
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
    let java = [
        format!("class A {{ void f() {{ {}; }} }}", nested("(", ")")),
        format!("class A {{ void f() {nested} }}", nested = nested("{", "}")),
        nested("class A {", "}"),
        nested("class A { void f() { new B() {", "}; } }"),
        format!("class A {{ Object o = {}1; }}", "x -> ".repeat(depth)),
        format!("class A {{ Object o = {}; }}", nested("f(", ")")),
        format!("class A {{ Object o = a{}; }}", ".b()".repeat(depth)),
        format!("class A {{ Object o = a{}; }}", " + b".repeat(depth)),
        format!("class A {{ {}int{} x; }}", "List<".repeat(depth), ">".repeat(depth)),
        format!("class A {{ Object o = {}1; }}", "x ? y : ".repeat(depth)),
        format!("import a{};", ".b".repeat(depth)),
        format!("@A({}) class B {{}}", nested("@C(", ")")),
        "void f(int a, ".repeat(depth),
        "switch (x) { case A a -> ".repeat(depth),
    ];
    let c = [
        format!("void f() {{ {}; }}", nested("(", ")")),
        format!("void f() {nested}", nested = nested("{", "}")),
        format!("int {}x{};", "(*".repeat(depth), ")()".repeat(depth)),
        format!("int {}x;", "*".repeat(depth)),
        format!("int x{};", "[1]".repeat(depth)),
        format!("struct A {}", nested("{ struct {", "} a; }")),
        format!("int x = {};", nested("{", "}")),
        format!("void f() {{ a{}; }}", "->b".repeat(depth)),
        format!("void f() {{ a{}; }}", "()".repeat(depth)),
        format!("#define A {}", "B(".repeat(depth)),
        format!("#define A({}) x", "a, ".repeat(depth)),
        "#if A\n".repeat(depth),
        "#if A\n{\n#else\nf(\n".repeat(depth),
        "#if A\n}\n#else\n)\n#endif\n".repeat(depth),
        format!("void f(void) {{\n{}", "ABC(\n".repeat(depth)),
        "API_MACRO(a) ".repeat(depth),
        format!("int f({}int x);", "API_IN int a, ".repeat(depth)),
        "#define A \\\n".repeat(depth),
        "typedef struct {".repeat(depth),
        "int f(int (*g)(".repeat(depth),
    ];
    let cpp = [
        nested("namespace a {", "}"),
        nested("namespace {", "}"),
        nested("class A {", "};"),
        nested("template <class T> class A {", "};"),
        format!("{} void f() {{}}", "template <class T> ".repeat(depth)),
        format!("void a{}() {{}}", "::b".repeat(depth)),
        format!("void f() {{ a{}(); }}", "::b".repeat(depth)),
        format!("void f() {{ a{}; }}", "->b()".repeat(depth)),
        format!("void f() {{ {} }}", nested("[](int a) {", "};")),
        format!("{}int{} x;", "A<".repeat(depth), ">".repeat(depth)),
        format!("int {}x;", "a, ".repeat(depth)),
        format!("void f({}int z) {{}}", "int a = 1, ".repeat(depth)),
        "TEST(A, B) {".repeat(depth),
        "TEST_CASE(\"a\") {".repeat(depth),
        "class MY_API ".repeat(depth),
        "R\"a(".repeat(depth),
        "#if A\na(,\n#else\n".repeat(depth),
        "using a::b::".repeat(depth),
    ];
    let csharp = [
        format!("class A {{ void F() {{ {}; }} }}", nested("(", ")")),
        format!("class A {{ void F() {nested} }}", nested = nested("{", "}")),
        nested("namespace A {", "}"),
        nested("class A {", "}"),
        format!("class A {{ object o = {}1; }}", "x => ".repeat(depth)),
        format!("class A {{ object o = a{}; }}", ".B()".repeat(depth)),
        format!("class A {{ object o = a{}; }}", "?.B<C>()".repeat(depth)),
        format!("class A {{ {}int{} x; }}", "List<".repeat(depth), ">".repeat(depth)),
        format!("class A {{ object o = {}; }}", nested("new B { C = ", "}")),
        format!("class A {{ bool F() => x is {}; }}", nested("{ A: ", "}")),
        "enum A { #if B\n".repeat(depth),
        "#if A\nclass B {\n#else\n@\"\n".repeat(depth),
        "using A = B<".repeat(depth),
        "int P { set { value".repeat(depth),
    ];
    for text in csharp {
        check("deep.cs", text.into_bytes());
    }
    let php = [
        format!("<?php {};", nested("(", ")")),
        format!("<?php {}", nested("{", "}")),
        format!("<?php {}", nested("function f() {", "}")),
        format!("<?php $x = {}1;", "fn($a) => ".repeat(depth)),
        format!("<?php $x{};", "->b()".repeat(depth)),
        format!("<?php $x = A{};", "::b()".repeat(depth)),
        format!("<?php $x = {}1;", "$y = ".repeat(depth)),
        format!("<?php {} = 1;", nested("[$a, ", "]")),
        format!("<?php {}", "if ($x instanceof A && ".repeat(depth)),
        format!("<?php {}", nested("if ($x instanceof A) {", "}")),
        format!("<?php {}", nested("new class { function f() {", "} };")),
        format!("<?php use A{};", "\\B".repeat(depth)),
        "<?php /** @var A".repeat(depth),
    ];
    for text in php {
        check("deep.php", text.into_bytes());
    }
    let lua = [
        format!("x = {}", nested("(", ")")),
        format!("x = {}", nested("{", "}")),
        format!("x = {}", nested("{ a = ", "}")),
        nested("do ", " end "),
        nested("function f() ", " end "),
        format!("x = {}1", "function() return ".repeat(depth)),
        format!("x = a{}", ".b".repeat(depth)),
        format!("x = a{}", ":b()".repeat(depth)),
        format!("x = a{}", " or b".repeat(depth)),
        format!("x = a{}", " .. b".repeat(depth)),
        format!("local {} = 1", "a, ".repeat(depth)),
        "if x then ".repeat(depth),
        "local function f(".repeat(depth),
        "x = [[".repeat(depth),
    ];
    let zig = [
        format!("const x = {};", nested("(", ")")),
        format!("const x = {};", nested("struct { const y = ", "; }")),
        nested("fn f() void { ", " } "),
        format!("fn f() void {{ {} }}", nested("if (a) |x| { ", " }")),
        format!("const x = a{};", ".b".repeat(depth)),
        format!("const x = a{};", ".b()".repeat(depth)),
        format!("const x = a{};", " orelse b".repeat(depth)),
        format!("const x: A = {}1", ".{ .a = ".repeat(depth)),
        format!("fn f() void {{ switch (a) {{ {} => {{}} }} }}", ".a, ".repeat(depth)),
        format!("fn f() void {{ g({}); }}", ".a, ".repeat(depth)),
        "fn f() type { return struct { a: @This(), ".repeat(depth),
        "const x = @import(".repeat(depth),
    ];
    let haskell = [
        format!("x = {}", nested("(", ")")),
        format!("x = {}", nested("[", "]")),
        format!("f {} = 1", nested("(Just ", ")")),
        format!("x = {}1", "\\y -> ".repeat(depth)),
        format!("x = a{}", " + b".repeat(depth)),
        format!("x = f{}", " a".repeat(depth)),
        format!("x :: {}a", "a -> ".repeat(depth)),
        format!("x = {}1", "let y = 1 in ".repeat(depth)),
        "f x = 1\n".repeat(depth),
        "f :: Int\n".repeat(depth),
        format!("module A ({}) where", "module B, ".repeat(depth)),
        format!("import A ({})", "T(..), ".repeat(depth)),
        "x = do { y <- ".repeat(depth),
        "class A a where { instance B ".repeat(depth),
    ];
    let swift = [
        format!("func f() {{ {} }}", nested("(", ")")),
        format!("func f() {{ {} }}", nested("{ $0 ", "}")),
        nested("class A { func f() {", "} }"),
        nested("extension A.B { struct C {", "} }"),
        format!("let a = b{}", ".c()".repeat(depth)),
        format!("let a = b{}", " { $0 }".repeat(depth)),
        format!("let a = f({}1)", ".b, ".repeat(depth)),
        format!("let a: {}Int{}", "[A<".repeat(depth), ">]".repeat(depth)),
        format!("let {} = 1", "a, b: T = 1, ".repeat(depth)),
        format!("if {} {{}}", "let a = b, case .c(let d) = e, ".repeat(depth)),
        "switch a { case .b(let c): ".repeat(depth),
        "guard let a else { ".repeat(depth),
    ];
    let ruby = [
        nested("module A\n", "end\n"),
        nested("class A::B < C\n def f\n", "end\n end\n"),
        format!("x = {}", nested("f(", ")")),
        format!("a{}", ".b { |c| c }".repeat(depth)),
        format!("{}1", "@a = b = ".repeat(depth)),
        format!("x = {}1", "a ? b : ".repeat(depth)),
        format!("case x\nin {} then y\nend", nested("{a: [b, ", "]}")),
        "if x then y = 1\n".repeat(depth),
        "a, (b, *c) = ".repeat(depth),
        "class << self; attr_reader :a\n".repeat(depth),
        "\"#{".repeat(depth),
    ];
    let kotlin = [
        format!("fun f() {{ {} }}", nested("(", ")")),
        format!("fun f() {nested}", nested = nested("{", "}")),
        nested("class A {", "}"),
        nested("fun f() { object : B() {", "} }"),
        format!("val x = a{}", ".b { it }".repeat(depth)),
        format!("val x = a{}", " ?: b".repeat(depth)),
        format!("val x: {}Int{} = 1", "List<".repeat(depth), ">".repeat(depth)),
        format!("val x: {}", "(A) -> ".repeat(depth)),
        "if (x is A && ".repeat(depth),
        "when (x) { is A -> ".repeat(depth),
    ];
    let scala = [
        format!("object A {{ def f = {} }}", nested("(", ")")),
        format!("object A {{ def f = {nested} }}", nested = nested("{", "}")),
        nested("class A {", "}"),
        nested("object A { new B {", "} }"),
        format!("object A {{ val x = a{} }}", ".b(_.c)".repeat(depth)),
        format!("object A {{ val x = a{} }}", " op b".repeat(depth)),
        format!("object A {{ type T = {}Int{} }}", "List[".repeat(depth), "]".repeat(depth)),
        "x match { case A(".repeat(depth),
        "import a.{b, ".repeat(depth),
        "package a {".repeat(depth),
    ];
    let tables = [
        ("Deep.java", &java[..]),
        ("deep.c", &c[..]),
        ("deep.cc", &cpp[..]),
        ("deep.lua", &lua[..]),
        ("deep.zig", &zig[..]),
        ("Deep.hs", &haskell[..]),
        ("deep.swift", &swift[..]),
        ("deep.rb", &ruby[..]),
        ("deep.kt", &kotlin[..]),
        ("deep.scala", &scala[..]),
    ];
    for (path, texts) in tables {
        for text in texts {
            check(path, text.clone().into_bytes());
        }
    }
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

/// Each of these steps reads to the end of the text: few steps, but quadratic.
#[test]
fn rereading_exhausts_the_budget() {
    for (path, unit) in [("a.js", "/["), ("a.py", "\\\n"), ("a.rs", "#!")] {
        let extracted = check(path, unit.repeat(1 << 15).into_bytes());
        let kinds: Vec<_> = extracted.facts.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::TimeLimit], "{path}");
    }
}

#[test]
fn cancellation_returns_none() {
    let text = "pub fn f(x: u32) -> u32 { x + 1 }\n".repeat(50);
    let asked = std::cell::Cell::new(0);
    let go_on = |most: u32| {
        asked.set(0);
        let go_on = || {
            asked.set(asked.get() + 1);
            asked.get() <= most
        };
        extract_while("a.rs", text.clone().into_bytes(), &go_on)
    };
    let whole = go_on(u32::MAX).expect("because nothing cancels it");
    assert_eq!(whole.facts, extract("a.rs", text.clone().into_bytes()).facts);
    assert!(asked.get() > 3, "it is polled during the parse");
    for most in 0..3 {
        assert!(go_on(most).is_none());
        assert_eq!(asked.get(), most + 1, "it is not polled again after it returned false");
    }
}

#[test]
fn deep_nesting_is_reported() {
    let text = "mod m {".repeat(200) + &"}".repeat(200);
    let extracted = check("src/deep.rs", text.into_bytes());
    assert!(extracted.facts.problems.iter().any(|problem| problem.kind == ProblemKind::TooDeep));
    assert!(!extracted.facts.symbols.is_empty());
}

#[test]
fn invalid_utf8_and_syntax_errors_are_reported() {
    let extracted = check("a.rs", b"fn a() {}\nfn b\xff() {}\n".to_vec());
    let kinds: Vec<_> = extracted.facts.problems.iter().map(|problem| (problem.kind, problem.line)).collect();
    assert_eq!(kinds, [(ProblemKind::Syntax, 2), (ProblemKind::NotUtf8, 2)]);
    assert_eq!(extracted.text, "fn a() {}\nfn b\u{fffd}() {}\n");
}

#[test]
fn registry_covers_every_language() {
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
