//! Checks the facts of the fixtures against the expectations in their comments.
//!
//! Each file of `fixtures/<language>/` may begin with `path: …` in a comment, the path it is extracted under, and with
//! `complete`, which means that every named symbol has an expectation. The expectations:
//!
//! - `def <kind> <qualified name>`, or `def use <name> = <qualified name>`: a symbol is named here;
//! - `signature …`, `visibility <common word> <source text>`, `lines a-b`, `outer <line>`, `trait …`, `parent <kind>
//!   <qualified name>`: properties of the symbol named here (`-` for none);
//! - `test yes` or `test no`: whether it is test code by its text;
//! - `doc …`, `annotation …`, `value …`: its doc, type and value, on one line (`-` for none);
//! - `bind <kind> <name>[: <type>][ = <value>][ at <part>]`: a local binding is declared on this line;
//! - `local <the same>`: the reference here resolves to that local binding, or begins with it (`-` for none); `local`
//!   alone: it resolves to some local binding;
//! - `ref <shape> <name> [of <qualifier>] [in <qualified name>]`: a reference is here;
//! - `import <module> <name or *> [as <alias>]`, `reexport …`, `import-type …`, `dynamic-import …`, `require …`: an
//!   import is on this line;
//! - `nothing`: no reference is here. Bare occurrences (`binds`, `import`, `mention`) do not count and never need an
//!   expectation.

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_lang::{Extracted, LANGUAGES, extract};
use codecompass_model::{Binding, ExprId, Import, Reference, Symbol, ValuePart};
use codecompass_testkit::expectation::{Expectation, expectations};

#[test]
fn fixtures_meet_their_expectations() {
    let mut broken = Vec::new();
    for file in fixture_files() {
        broken.extend(check(&file));
    }
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn every_language_has_fixtures() {
    let files = fixture_files();
    for language in LANGUAGES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(language.name);
        assert!(files.iter().any(|file| file.starts_with(&folder)), "{} has no fixtures", language.name);
    }
}

fn fixture_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files: Vec<PathBuf> = LANGUAGES
        .iter()
        .flat_map(|language| fs::read_dir(root.join(language.name)).into_iter().flatten().flatten())
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files.dedup();
    files
}

/// Returns the unmet expectations of a file.
fn check(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).expect("because fixtures are UTF-8 text");
    let comment = ["//", "--"].into_iter().find(|mark| text.starts_with(mark)).unwrap_or("#");
    let marker = |word: &str| {
        text.lines().take(3).find_map(|line| line.strip_prefix(comment)?.trim().strip_prefix(word)).map(str::trim)
    };
    let name = file.file_name().and_then(|name| name.to_str()).expect("because a fixture has a UTF-8 name");
    let extracted = extract(marker("path:").unwrap_or(name), text.clone().into_bytes());
    let given = expectations(&text, comment);
    let mut broken: Vec<String> = given
        .iter()
        .filter_map(|promise| check_expectation(&extracted, promise).err().map(|why| (promise, why)))
        .map(|(promise, why)| format!("{}:{}: {}\n    but: {why}", file.display(), promise.line, promise.text))
        .collect();
    if marker("complete").is_some() {
        broken.extend(
            unexpected_symbols(&extracted, &given).map(|symbol| format!("{}: unexpected {symbol}", file.display())),
        );
    }
    broken
}

fn unexpected_symbols<'e>(extracted: &'e Extracted, given: &'e [Expectation]) -> impl Iterator<Item = String> + 'e {
    let place = |symbol: &Symbol| (symbol.name_line, column(extracted, symbol.name_span.start));
    extracted
        .facts
        .symbols
        .iter()
        .filter(move |symbol| !given.iter().any(|promise| (promise.line, promise.column) == place(symbol)))
        .filter(|symbol| symbol.name_span.start < symbol.name_span.end && !is_first_column(extracted, symbol))
        .map(|symbol| format!("{} {} in line {}", symbol.kind, symbol.qualified_name, symbol.name_line))
}

/// A name in the first columns cannot be marked, because the comment marker is there.
fn is_first_column(extracted: &Extracted, symbol: &Symbol) -> bool {
    column(extracted, symbol.name_span.start) < 2
}

fn check_expectation(extracted: &Extracted, promise: &Expectation) -> Result<(), String> {
    let (word, rest) = promise.text.split_once(' ').unwrap_or((&promise.text, ""));
    match word {
        "def" => same(&symbol_at(extracted, promise).map(definition)?, rest),
        "signature" => same(&symbol_at(extracted, promise)?.signature, rest),
        "visibility" => same(&visibility(symbol_at(extracted, promise)?), rest),
        "lines" => same(&lines(symbol_at(extracted, promise)?), rest),
        "outer" => same(&line_of(extracted, symbol_at(extracted, promise)?.outer_start).to_string(), rest),
        "trait" => same(symbol_at(extracted, promise)?.impl_trait.as_deref().unwrap_or("-"), rest),
        "test" => same(if symbol_at(extracted, promise)?.in_test { "yes" } else { "no" }, rest),
        "parent" => same(&parent(extracted, symbol_at(extracted, promise)?), rest),
        "doc" => same(&doc(extracted, symbol_at(extracted, promise)?), rest),
        "annotation" => same(&shown_or_none(extracted, symbol_at(extracted, promise)?.annotation), rest),
        "value" => same(&shown_or_none(extracted, symbol_at(extracted, promise)?.value), rest),
        "bind" => expect_one_of(bindings_at(extracted, promise), rest),
        "local" if rest.is_empty() => bound(extracted, promise),
        "local" => expect_one_of(locals_at(extracted, promise), rest),
        "ref" => expect_one_of(references_at(extracted, promise), rest),
        "nothing" => {
            let uses = references_at(extracted, promise).into_iter().filter(|found| !is_bare(found));
            same(&uses.collect::<Vec<_>>().join(" and "), "")
        }
        "import" | "reexport" | "import-type" | "dynamic-import" | "require" => {
            expect_one_of(imports_at(extracted, promise), &promise.text)
        }
        _ => Err("unknown kind of expectation".to_owned()),
    }
}

/// Returns whether a reference only states that a name occurs there.
fn is_bare(found: &str) -> bool {
    ["binds ", "import ", "mention "].iter().any(|shape| found.starts_with(shape))
}

fn same(found: &str, promised: &str) -> Result<(), String> {
    if found == promised { Ok(()) } else { Err(format!("found {found:?}")) }
}

fn expect_one_of(found: Vec<String>, promised: &str) -> Result<(), String> {
    if found.iter().any(|found| found == promised) { Ok(()) } else { Err(format!("found {found:?}")) }
}

fn symbol_at<'e>(extracted: &'e Extracted, promise: &Expectation) -> Result<&'e Symbol, String> {
    let here = |symbol: &&Symbol| {
        (symbol.name_line, column(extracted, symbol.name_span.start)) == (promise.line, promise.column)
    };
    extracted.facts.symbols.iter().find(here).ok_or_else(|| "no symbol is named here".to_owned())
}

fn definition(symbol: &Symbol) -> String {
    let named = if symbol.kind.as_str() == "use" { format!("{} = ", symbol.name) } else { String::new() };
    format!("{} {named}{}", symbol.kind, symbol.qualified_name)
}

fn visibility(symbol: &Symbol) -> String {
    let common = symbol.visibility.map_or("-", |visibility| visibility.as_str());
    format!("{common} {}", symbol.visibility_text.as_deref().unwrap_or("-"))
}

fn lines(symbol: &Symbol) -> String {
    format!("{}-{}", symbol.lines.start, symbol.lines.end)
}

fn parent(extracted: &Extracted, symbol: &Symbol) -> String {
    let parent = symbol.parent.map(|parent| &extracted.facts.symbols[parent as usize]);
    parent.map_or("-".to_owned(), |parent| format!("{} {}", parent.kind, parent.qualified_name))
}

fn doc(extracted: &Extracted, symbol: &Symbol) -> String {
    let words = symbol.doc.map_or("-", |doc| doc.text(&extracted.text));
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shown_or_none(extracted: &Extracted, expr: Option<ExprId>) -> String {
    expr.map_or_else(|| "-".to_owned(), |expr| extracted.facts.render_expr(expr))
}

fn binding(extracted: &Extracted, binding: &Binding) -> String {
    let name = |index: u32| extracted.facts.names[index as usize].as_str();
    let shown = |expr: ExprId| extracted.facts.render_expr(expr);
    let annotation = binding.annotation.map(|of| format!(": {}", shown(of))).unwrap_or_default();
    let value = binding.value.map(|value| format!(" = {}", shown(value))).unwrap_or_default();
    let part = match binding.part {
        ValuePart::Whole => String::new(),
        ValuePart::Element => " at element".to_owned(),
        ValuePart::Payload => " at payload".to_owned(),
        ValuePart::Index(index) => format!(" at {index}"),
        ValuePart::Field(field) => format!(" at field {}", name(field)),
        ValuePart::Inside => " at inside".to_owned(),
    };
    format!("{} {}{annotation}{value}{part}", binding.kind.as_str(), name(binding.name))
}

fn bound(extracted: &Extracted, promise: &Expectation) -> Result<(), String> {
    match locals_at(extracted, promise).iter().any(|local| local != "-") {
        true => Ok(()),
        false => Err("no local name is meant here".to_owned()),
    }
}

fn bindings_at(extracted: &Extracted, promise: &Expectation) -> Vec<String> {
    let here = extracted.facts.bindings.iter().filter(|binding| binding.line == promise.line);
    here.map(|found| binding(extracted, found)).collect()
}

fn locals_at(extracted: &Extracted, promise: &Expectation) -> Vec<String> {
    let here = |reference: &&Reference| (reference.line, reference.column) == (promise.line, promise.column);
    let facts = &extracted.facts;
    let meant =
        |reference: &Reference| reference.binding.map(|found| binding(extracted, &facts.bindings[found as usize]));
    facts.references.iter().filter(here).map(|found| meant(found).unwrap_or_else(|| "-".to_owned())).collect()
}

fn references_at(extracted: &Extracted, promise: &Expectation) -> Vec<String> {
    let facts = &extracted.facts;
    let here = |reference: &&Reference| (reference.line, reference.column) == (promise.line, promise.column);
    let show = |reference: &Reference| {
        let name = |index: u32| facts.names[index as usize].as_str();
        let of =
            reference.qualifier.map(|qualifier| format!(" of {}", facts.render_expr(qualifier))).unwrap_or_default();
        let symbol = reference.symbol.map(|symbol| &facts.symbols[symbol as usize].qualified_name);
        let within = symbol.map(|symbol| format!(" in {symbol}")).unwrap_or_default();
        format!("{} {}{of}{within}", reference.shape.as_str(), name(reference.name))
    };
    facts.references.iter().filter(here).map(show).collect()
}

fn imports_at(extracted: &Extracted, promise: &Expectation) -> Vec<String> {
    let show = |import: &Import| {
        let word = if import.reexport { "reexport" } else { import.form.as_str() };
        let name = import.name.as_deref().or(import.glob.then_some("*"));
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        let alias = import.alias.as_deref().map(|alias| format!(" as {alias}")).unwrap_or_default();
        format!("{word} {}{name}{alias}", import.module)
    };
    extracted.facts.imports.iter().filter(|import| import.line == promise.line).map(show).collect()
}

fn line_of(extracted: &Extracted, offset: u32) -> u32 {
    1 + extracted.text[..offset as usize].matches('\n').count() as u32
}

fn column(extracted: &Extracted, offset: u32) -> u32 {
    let before = &extracted.text[..offset as usize];
    (before.len() - before.rfind('\n').map_or(0, |newline| newline + 1)) as u32
}
