//! The dependencies between the top-level modules of a crate, read from its sources.
//!
//! A reference is a path that starts with `crate`, `super` or `self`, in a `use` or in an expression. A name that the
//! crate root re-exports belongs to the module that it comes from. The root itself is a node, because an item defined
//! there can close a cycle, too; its re-exports are no dependencies. Comments, literals and items under `cfg(test)` do
//! not count. Paths made by macros of other crates are not seen.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// The name of the crate root in a graph.
pub(crate) const ROOT: &str = "lib";

/// The dependencies of each module, each with the first place that needs it.
pub(crate) type Graph = BTreeMap<String, BTreeMap<String, String>>;

/// A token that matters to paths and items.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `::`
    PathSeparator,
    Punctuation(char),
}

impl Token {
    fn is(&self, c: char) -> bool {
        *self == Token::Punctuation(c)
    }

    fn word(&self) -> Option<&str> {
        match self {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// A token and its line, from 1.
type Placed = (Token, usize);

/// Splits a source into tokens, without comments, lifetimes and literals.
struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl Lexer<'_> {
    fn tokens(source: &str) -> Vec<Placed> {
        let mut lexer = Lexer { rest: source, line: 1 };
        let mut tokens = Vec::new();
        while !lexer.rest.is_empty() {
            let line = lexer.line;
            tokens.extend(lexer.next().map(|token| (token, line)));
        }
        tokens
    }

    /// Removes `bytes` bytes and returns them.
    fn take(&mut self, bytes: usize) -> &str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    fn next(&mut self) -> Option<Token> {
        let first = self.rest.chars().next()?;
        if self.rest.starts_with("//") {
            self.take(self.rest.find('\n').unwrap_or(self.rest.len()));
        } else if self.rest.starts_with("/*") {
            self.block_comment();
        } else if self.rest.starts_with("::") {
            self.take(2);
            return Some(Token::PathSeparator);
        } else if first == '"' {
            self.string();
        } else if first == '\'' {
            self.character_or_lifetime();
        } else if first.is_alphanumeric() || first == '_' {
            return self.word();
        } else {
            self.take(first.len_utf8());
            return (!first.is_whitespace()).then_some(Token::Punctuation(first));
        }
        None
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        loop {
            match self.rest {
                rest if rest.starts_with("/*") => depth += 1,
                rest if rest.starts_with("*/") => depth -= 1,
                "" => return,
                rest => {
                    self.take(rest.chars().next().map_or(0, char::len_utf8));
                    continue;
                }
            }
            self.take(2);
            if depth == 0 {
                return;
            }
        }
    }

    /// Removes a literal with escapes, which starts with its quote.
    fn string(&mut self) {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|&(_, c)| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        self.take(end.map_or(self.rest.len(), |(at, _)| at + 1));
    }

    /// Removes a raw literal, which starts with its hashes or its quote.
    fn raw_string(&mut self) {
        let hashes = self.rest.bytes().take_while(|&byte| byte == b'#').count();
        let end = format!("\"{}", "#".repeat(hashes));
        let body = hashes + 1;
        let length = self.rest.get(body..).and_then(|text| text.find(&end)).map(|at| body + at + end.len());
        self.take(length.unwrap_or(self.rest.len()));
    }

    fn character_or_lifetime(&mut self) {
        let mut after = self.rest.chars().skip(1);
        let (first, second) = (after.next(), after.next());
        if first == Some('\\') {
            // The character after the backslash may be a quote.
            let end = self.rest.get(3..).and_then(|text| text.find('\''));
            self.take(end.map_or(self.rest.len(), |at| at + 4));
        } else if second == Some('\'') {
            self.take(2 + first.map_or(0, char::len_utf8));
        } else {
            self.take(1);
            self.word();
        }
    }

    /// Returns a word. Removes a number, and a literal with a prefix.
    fn word(&mut self) -> Option<Token> {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let word = self.take(end).to_owned();
        let raw_text = self.rest.trim_start_matches('#').starts_with('"');
        match word.as_str() {
            "r" | "br" | "cr" if raw_text => self.raw_string(),
            "b" | "c" if self.rest.starts_with('"') => self.string(),
            "b" if self.rest.starts_with('\'') => self.character_or_lifetime(),
            "r" if self.rest.starts_with('#') => {
                self.take(1);
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {}
            _ => return Some(Token::Word(word)),
        }
        None
    }
}

/// Returns the position after the bracket that closes the one at `open`.
fn after_group(tokens: &[Placed], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, (token, _)) in tokens.iter().enumerate().skip(open) {
        if ['(', '[', '{'].iter().any(|&c| token.is(c)) {
            depth += 1;
        } else if [')', ']', '}'].iter().any(|&c| token.is(c)) {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

/// Whether the inside of an attribute is `cfg(test)` or `cfg(all(test, …))`.
fn is_test_only(attribute: &[Placed]) -> bool {
    let words: Vec<&str> = attribute.iter().filter_map(|(token, _)| token.word()).take(3).collect();
    matches!(words[..], ["cfg", "test", ..] | ["cfg", "all", "test"])
}

/// Returns the position after the item or field at `start`.
fn after_item(tokens: &[Placed], start: usize) -> usize {
    let is = |at: usize, c: char| tokens.get(at).is_some_and(|(token, _)| token.is(c));
    let word = |at: usize| tokens.get(at).and_then(|(token, _)| token.word()).unwrap_or_default();
    let mut at = start;
    if word(at) == "pub" {
        at = if is(at + 1, '(') { after_group(tokens, at + 1) } else { at + 1 };
    }
    let constant = word(at) == "const" && !["fn", "unsafe", "async", "extern"].contains(&word(at + 1));
    let ends_in_semicolon = constant || ["use", "type", "static", "let"].contains(&word(at));
    let is_item = ["fn", "mod", "struct", "enum", "union", "trait", "impl", "unsafe", "async", "extern", "const"]
        .contains(&word(at));
    let ends_in_comma = !is_item && !ends_in_semicolon;
    while at < tokens.len() {
        if is(at, ';') || is(at, ',') && ends_in_comma {
            return at + 1;
        } else if ['(', '[', '{'].iter().any(|&c| is(at, c)) {
            let closes_item = is(at, '{') && !ends_in_semicolon;
            at = after_group(tokens, at);
            if closes_item {
                return at;
            }
        } else if [')', ']', '}'].iter().any(|&c| is(at, c)) {
            return at;
        } else {
            at += 1;
        }
    }
    at
}

/// Returns the tokens of a source without attributes and without items that exist only in tests.
fn product_tokens(source: &str) -> Vec<Placed> {
    let tokens = Lexer::tokens(source);
    let mut kept = Vec::new();
    let mut at = 0;
    let mut is_test = false;
    while at < tokens.len() {
        let is = |at: usize, c: char| tokens.get(at).is_some_and(|(token, _)| token.is(c));
        let inner = is(at, '#') && is(at + 1, '!') && is(at + 2, '[');
        if is(at, '#') && is(at + 1, '[') || inner {
            let open = at + 1 + usize::from(inner);
            let end = after_group(&tokens, open);
            let test_only = is_test_only(&tokens[open..end]);
            if inner && test_only {
                return Vec::new();
            }
            is_test |= test_only;
            at = end;
        } else if is_test {
            at = after_item(&tokens, at);
            is_test = false;
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// A path of an import or expression: its segments, and the name that an import gives it.
#[derive(Debug, PartialEq, Eq)]
struct PathUse {
    segments: Vec<String>,
    name: String,
    line: usize,
}

/// Collects the paths of the tree at `at`, which follow `prefix`. Returns the position after it.
fn path_tree(tokens: &[Placed], mut at: usize, prefix: &[String], found: &mut Vec<PathUse>) -> usize {
    let mut segments = prefix.to_vec();
    let mut line = 0;
    while let Some((token, here)) = tokens.get(at) {
        line = *here;
        match token {
            Token::Word(word) => segments.push(word.clone()),
            Token::Punctuation('*') => segments.push("*".to_owned()),
            Token::Punctuation('{') => {
                at += 1;
                while tokens.get(at).is_some_and(|(token, _)| !token.is('}')) {
                    let end = path_tree(tokens, at, &segments, found);
                    at = if tokens.get(end).is_some_and(|(token, _)| token.is(',')) { end + 1 } else { end };
                    if at == end && !tokens.get(at).is_some_and(|(token, _)| token.is('}')) {
                        return at;
                    }
                }
                return at + 1;
            }
            _ => break,
        }
        at += 1;
        if tokens.get(at).is_none_or(|(token, _)| *token != Token::PathSeparator) {
            break;
        }
        at += 1;
    }
    let word = |at: usize| tokens.get(at).and_then(|(token, _)| token.word());
    let mut name = segments.iter().rev().find(|one| *one != "self").cloned().unwrap_or_default();
    if let (Some("as"), Some(alias)) = (word(at), word(at + 1)) {
        name = alias.to_owned();
        at += 2;
    }
    found.push(PathUse { segments, name, line });
    at
}

/// One file of a crate: its module path, and the tokens of its product code.
struct Module {
    path: Vec<String>,
    file: PathBuf,
    tokens: Vec<Placed>,
}

/// Returns the modules that a file declares in other files, as paths below it.
fn declared(tokens: &[Placed]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut inline: Vec<(String, usize)> = Vec::new();
    let mut depth = 0usize;
    for (at, (token, _)) in tokens.iter().enumerate() {
        let next = |n: usize| tokens.get(at + n).map(|(token, _)| token);
        if token.is('{') {
            depth += 1;
        } else if token.is('}') {
            depth = depth.saturating_sub(1);
            inline.retain(|(_, outside)| *outside < depth);
        } else if let (Some("mod"), Some(Token::Word(name)), Some(Token::Punctuation(end))) =
            (token.word(), next(1), next(2))
        {
            match end {
                '{' => inline.push((name.clone(), depth)),
                ';' => {
                    let outer = inline.iter().map(|(name, _)| name.clone());
                    found.push(outer.chain([name.clone()]).collect());
                }
                _ => {}
            }
        }
    }
    found
}

/// Reads the modules of a crate, following `mod` declarations from the root. `read` returns the text of a file.
fn modules(folder: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<Module> {
    let mut found = Vec::new();
    let mut open = VecDeque::from([(Vec::new(), folder.join("lib.rs"))]);
    while let Some((path, file)) = open.pop_front() {
        let text = read(&file).unwrap_or_else(|| panic!("{} does not exist", file.display()));
        let tokens = product_tokens(&text);
        for child in declared(&tokens) {
            let child: Vec<String> = path.iter().cloned().chain(child).collect();
            let beside = folder.join(child.join("/"));
            let files = [beside.with_extension("rs"), beside.join("mod.rs")];
            let file = files.into_iter().find(|file| read(file).is_some());
            open.push_back((child, file.unwrap_or_else(|| panic!("{} has no file", beside.display()))));
        }
        found.push(Module { path, file, tokens });
    }
    found
}

/// The names of the crate root: its modules, and the modules from which it imports each other name.
struct Names {
    modules: BTreeSet<String>,
    imported: BTreeMap<String, String>,
}

impl Names {
    fn new(root: &Module) -> Names {
        let words = root.tokens.windows(2).filter(|pair| pair[0].0.word() == Some("mod"));
        let modules: BTreeSet<String> = words.filter_map(|pair| pair[1].0.word()).map(str::to_owned).collect();
        let mut imported = BTreeMap::new();
        for (at, _) in root.tokens.iter().enumerate().filter(|(_, (token, _))| token.word() == Some("use")) {
            let mut paths = Vec::new();
            path_tree(&root.tokens, at + 1, &[], &mut paths);
            for path in paths {
                let mut segments = path.segments.iter().skip_while(|one| ["crate", "self"].contains(&one.as_str()));
                if let Some(module) = segments.next().filter(|one| modules.contains(*one)) {
                    assert_ne!(path.name, "*", "line {}: list the names of {module}", path.line);
                    imported.insert(path.name, module.clone());
                }
            }
        }
        Names { modules, imported }
    }

    /// Returns the node of an absolute path without `crate`.
    fn node(&self, path: &[String]) -> String {
        let Some(first) = path.first().filter(|first| *first != "self") else { return ROOT.to_owned() };
        match self.imported.get(first) {
            _ if self.modules.contains(first) => first.clone(),
            Some(module) => module.clone(),
            None => ROOT.to_owned(),
        }
    }
}

/// Returns the dependencies of the code of one file: from, to and line of each.
fn edges(module: &Module, names: &Names) -> Vec<(String, String, usize)> {
    let tokens = &module.tokens;
    let mut found = Vec::new();
    let mut here = module.path.clone();
    let mut inline: Vec<usize> = Vec::new();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some((token, line)) = tokens.get(at) {
        let next_is = |n: usize, wanted: Token| tokens.get(at + n).is_some_and(|(token, _)| *token == wanted);
        let after_path = at > 0 && (tokens[at - 1].0 == Token::PathSeparator || tokens[at - 1].0.is('.'));
        let from = here.first().cloned().unwrap_or_else(|| ROOT.to_owned());
        if token.is('{') {
            depth += 1;
        } else if token.is('}') {
            depth = depth.saturating_sub(1);
            if inline.last() == Some(&depth) {
                inline.pop();
                here.pop();
            }
        } else if let Some(word) = token.word() {
            let starts_path = next_is(1, Token::PathSeparator) && !after_path;
            let name = tokens.get(at + 1).and_then(|(token, _)| token.word());
            if let (true, "mod", Some(name)) = (next_is(2, Token::Punctuation('{')), word, name) {
                here.push(name.to_owned());
                inline.push(depth);
            } else if from == ROOT && word == "pub" && name == Some("use") {
                at = after_item(tokens, at);
                continue;
            } else if starts_path && ["crate", "super", "self"].contains(&word) {
                let mut paths = Vec::new();
                path_tree(tokens, at, &[], &mut paths);
                for path in paths {
                    found.push((from.clone(), names.node(&absolute(&here, &path.segments)), path.line));
                }
            } else if from == ROOT && starts_path && names.modules.contains(word) {
                found.push((from, word.to_owned(), *line));
            }
        }
        at += 1;
    }
    found
}

/// Returns a path that starts with `crate`, `super` or `self` as seen from the root, without `crate`.
fn absolute(here: &[String], path: &[String]) -> Vec<String> {
    let mut base = here.to_vec();
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "crate" => base.clear(),
            "super" => drop(base.pop()),
            "self" => {}
            _ => break,
        }
        rest = after;
    }
    base.extend_from_slice(rest);
    base
}

/// Reads the graph of the crate whose sources are in `folder`.
pub(crate) fn read_graph(folder: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Graph {
    let modules = modules(folder, read);
    let names = Names::new(modules.first().expect("a crate has a root"));
    let nodes = names.modules.iter().map(String::as_str).chain([ROOT]);
    let mut graph: Graph = nodes.map(|name| (name.to_owned(), BTreeMap::new())).collect();
    for module in &modules {
        let file = module.file.strip_prefix(folder).unwrap_or(&module.file).display();
        for (from, to, line) in edges(module, &names).into_iter().filter(|(from, to, _)| from != to) {
            graph.entry(from).or_default().entry(to).or_insert_with(|| format!("{file}:{line}"));
        }
    }
    graph
}

/// Returns a shortest path from `from` to itself; its first module is not repeated.
pub(crate) fn shortest_cycle(graph: &Graph, from: &str) -> Option<Vec<String>> {
    let mut paths = VecDeque::from([vec![from.to_owned()]]);
    let mut seen = BTreeSet::new();
    while let Some(path) = paths.pop_front() {
        for next in path.last().and_then(|last| graph.get(last)).into_iter().flat_map(BTreeMap::keys) {
            if next == from {
                return Some(path);
            } else if seen.insert(next.clone()) {
                paths.push_back(path.iter().chain([next]).cloned().collect());
            }
        }
    }
    None
}

/// Returns the modules that `from` reaches, directly or not.
fn reached(graph: &Graph, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(module) = open.pop() {
        for next in graph.get(&module).into_iter().flat_map(BTreeMap::keys) {
            if found.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    found
}

/// Returns the sets of modules that depend on each other.
pub(crate) fn cyclic_components(graph: &Graph) -> BTreeSet<BTreeSet<String>> {
    let reach: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|one| (one, reached(graph, one))).collect();
    let in_cycle = reach.iter().filter(|(module, reached)| reached.contains(**module));
    in_cycle
        .map(|(module, reached)| reached.iter().filter(|other| reach[*other].contains(*module)).cloned().collect())
        .collect()
}

/// Returns the graph of a crate given as file names and texts.
fn graph_of(files: &[(&str, &str)]) -> Graph {
    let read = |path: &Path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned());
    read_graph(Path::new(""), &read)
}

/// Returns the dependencies of a module `a` with this text in a crate with modules `a`, `b` and `c`.
fn dependencies_of(text: &str) -> Vec<String> {
    let root = "mod a;\nmod b;\nmod c;\npub use b::{B, inner::Deep as Renamed};\nuse crate::c::C;\npub struct Own;";
    let graph = graph_of(&[("lib.rs", root), ("a.rs", text), ("b.rs", ""), ("c.rs", "")]);
    graph["a"].keys().cloned().collect()
}

#[test]
fn references_are_found() {
    for (text, expected) in [
        ("use crate::b;", vec!["b"]),
        ("use crate::b::X;", vec!["b"]),
        ("use crate::{b::{X, self, y::*}, c as other};", vec!["b", "c"]),
        ("use super::b::X;", vec!["b"]),
        ("use super::{self as root, c};", vec!["c", "lib"]),
        ("fn f() -> crate::b::X { super::c::make::<u8>() }", vec!["b", "c"]),
        ("mod inner { use super::super::b; use crate::c; }", vec!["b", "c"]),
        ("mod inner { use super::b; }\nuse self::inner::X;", vec![]),
        ("mod inner { mod deep {} }\nuse super::b;", vec!["b"]),
        ("use crate::B;", vec!["b"]),
        ("use crate::{Renamed, C};", vec!["b", "c"]),
        ("use super::C;", vec!["c"]),
        ("use crate::Own;", vec!["lib"]),
        ("use crate::a::X;\npub(crate) fn f(x: other::b::X) {}", vec![]),
        ("macro_rules! m { () => { $crate::b::f() } }", vec!["b"]),
    ] {
        assert_eq!(dependencies_of(text), expected, "{text}");
    }
}

#[test]
fn comments_literals_and_tests_do_not_count() {
    for text in [
        "// crate::b::X\n/// [`crate::b`]\n//! crate::b",
        "/* crate::b /* crate::b */ crate::b::X */",
        r#"const A: &str = "crate::b::X \" crate::b::X";"#,
        r###"const A: &str = r#"" crate::b::X"#;"###,
        r###"const A: &[u8] = br##"crate::b"# crate::b"##;"###,
        r#"const A: [char; 3] = ['"', '\'', '\u{22}']; const B: u8 = b'"'; // crate::b"#,
        "#[cfg(test)]\nuse crate::b::{X, Y};",
        "#[cfg(test)]\nmod tests { use crate::b; fn f() { { super::super::c::f() } } }",
        "#[cfg(all(test, unix))]\n#[allow(dead_code)]\npub(crate) const fn f(x: [u8; 2]) -> crate::b::X {}",
        "#[cfg(test)]\nconst A: fn() = { crate::b::f };",
        "struct A { #[cfg(test)] x: crate::b::X, y: u8 }",
        "fn f() { #[cfg(test)] crate::b::f(); }",
        "#![cfg(test)]\nuse crate::b;",
        "#[doc = \"x\"]\n#[derive(crate::b::X)]\nstruct A;",
    ] {
        assert_eq!(dependencies_of(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn what_follows_skipped_parts_counts() {
    for text in [
        "/* /* */ */ use crate::b;",
        "const A: &str = r#\"\"\"#; use crate::b;",
        "const A: &str = \"\\\\\"; use crate::b;",
        "fn f<'a>(x: &'a str, c: char) -> bool { c == '\\'' || c == '\"' } use crate::b;",
        "fn f<'a>(x: &'a u8, r#b: u8) {} use crate::b; // '",
        "#[cfg(test)]\nuse crate::c::{X, Y};\nuse crate::b;",
        "#[cfg(test)]\nmod tests {}\nuse crate::b;",
        "#[cfg(test)]\nmod tests;\nuse crate::b;",
        "struct A { #[cfg(test)] x: Vec<u8>, y: crate::b::X }",
        "fn f() { match x { #[cfg(test)] X => {} Y => crate::b::f() } }",
        "#[cfg(not(test))]\nuse crate::b;",
        "#[cfg(any(test, unix))]\nuse crate::b;",
    ] {
        assert_eq!(dependencies_of(text), ["b"], "{text}");
    }
}

#[test]
fn the_root_has_dependencies_but_not_by_reexports() {
    let root = "pub mod a;\nmod b;\nmod c;\npub use a::A;\nuse b::B;\nfn f() { c::f(); x.a::<u8>(); }";
    let graph = graph_of(&[("lib.rs", root), ("a.rs", ""), ("b.rs", ""), ("c.rs", "")]);
    assert_eq!(graph[ROOT].keys().collect::<Vec<_>>(), ["b", "c"]);
    assert_eq!(graph[ROOT]["c"], "lib.rs:6");
}

#[test]
fn files_of_a_module_count_for_it() {
    let graph = graph_of(&[
        ("lib.rs", "mod a;\nmod b;\nmod c { pub(crate) use super::a::X; }"),
        ("a/mod.rs", "mod inner;\n#[cfg(test)]\nmod tests;"),
        ("a/inner.rs", "use super::Y;\n\nuse crate::b::X;"),
        ("b.rs", "mod inner;"),
        ("b/inner.rs", "use super::super::c;"),
    ]);
    assert_eq!(graph["a"]["b"], "a/inner.rs:3");
    assert_eq!(graph["b"].keys().collect::<Vec<_>>(), ["c"]);
    assert_eq!(graph["c"].keys().collect::<Vec<_>>(), ["a"]);
    let all: BTreeSet<String> = ["a", "b", "c"].map(str::to_owned).into();
    assert_eq!(cyclic_components(&graph), [all].into());
}

#[test]
fn components_and_their_shortest_cycles_are_found() {
    let rows = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "b"), ("d", "a"), ("e", "f"), ("f", "e")];
    let mut graph = Graph::new();
    for (from, to) in rows {
        graph.entry(from.to_owned()).or_default().insert(to.to_owned(), "x.rs:1".to_owned());
    }
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(cyclic_components(&graph), [set(&["a", "b", "c"]), set(&["e", "f"])].into());
    assert_eq!(shortest_cycle(&graph, "a").expect("it is in a cycle"), ["a", "b", "c"]);
    assert_eq!(shortest_cycle(&graph, "b").expect("it is in a cycle"), ["b", "c"]);
    assert_eq!(shortest_cycle(&graph, "d"), None);
}
