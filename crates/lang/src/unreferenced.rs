//! Adds a reference for every name in the code that a walk did not report.
//!
//! Counts of a name's occurrences must not depend on which occurrences a walk uses. So after the walk, all leaves that
//! are names are visited once more. Each is a symbol's own name, already a reference, or becomes one here. Names in
//! broken code, in attributes and in macro arguments are such leaves, too.

use codecompass_model::{FileFacts, RefShape, Span, SymbolKind};

use crate::lines::LineStarts;
use crate::tree::{Grammar, Tree};

/// A name without a reference.
pub(crate) struct UnreferencedName {
    pub(crate) name: Span,
    pub(crate) shape: RefShape,
    /// The local binding that is declared here.
    pub(crate) binding: Option<u32>,
    /// The innermost enclosing symbol.
    pub(crate) symbol: Option<u32>,
}

/// Returns the start offsets of all names, and the names that are neither a symbol's own nor a reference yet, both in
/// source order. `bound` lists where local bindings are declared.
pub(crate) fn unreferenced_names(
    tree: &Tree,
    grammar: &Grammar,
    text: &str,
    facts: &FileFacts,
    lines: &LineStarts,
    mut bound: Vec<(u32, Option<u32>)>,
) -> (Vec<u32>, Vec<UnreferencedName>) {
    let mut known: Vec<u32> =
        facts.references.iter().map(|reference| lines.start(reference.line) + reference.column).collect();
    known.extend(facts.symbols.iter().filter(|symbol| declares_name(symbol.kind)).map(|symbol| symbol.name_span.start));
    known.sort_unstable();
    bound.sort_unstable();
    let used = facts.symbols.iter().filter(|symbol| symbol.kind == SymbolKind::Use);
    let mut imported: Vec<u32> = used.map(|symbol| symbol.name_span.start).collect();
    imported.sort_unstable();
    let (mut leaves, mut rest) = (Vec::new(), Vec::new());
    let mut import_end = 0;
    let mut around = EnclosingSymbols { facts, next: 0, open: Vec::new() };
    let mut end = 0;
    for at in 0..tree.len() {
        let node = tree.node(at);
        if grammar.imports.contains(&node.kind) {
            import_end = import_end.max(node.next as usize);
        }
        let is_leaf = grammar.names.contains(&node.kind) && node.next as usize == at + 1;
        let name = node.span();
        // Broken code can contain a name twice, once in a node that the parser invented.
        if !is_leaf || name.start < end || name.start == name.end || grammar.words.contains(&name.text(text)) {
            continue;
        }
        end = name.end;
        leaves.push(name.start);
        if known.binary_search(&name.start).is_ok() {
            continue;
        }
        let declared = bound.partition_point(|(start, _)| *start < name.start);
        let declared = bound.get(declared).filter(|(start, _)| *start == name.start);
        let shape = match declared {
            _ if at < import_end || imported.binary_search(&name.start).is_ok() => RefShape::Import,
            Some(_) => RefShape::Binds,
            None => RefShape::Mention,
        };
        let binding = declared.and_then(|(_, binding)| *binding);
        rest.push(UnreferencedName { name, shape, binding, symbol: around.at(name.start) });
    }
    rest.extend(blanked_names(tree, facts));
    (leaves, rest)
}

/// Returns the names in the text that was blanked before it was parsed.
fn blanked_names<'n>(tree: &'n Tree, facts: &'n FileFacts) -> impl Iterator<Item = UnreferencedName> + 'n {
    let mut around = EnclosingSymbols { facts, next: 0, open: Vec::new() };
    let words = tree.blanked_words.iter().filter(|(name, _)| name.start < name.end);
    words.map(move |&(name, shape)| UnreferencedName { name, shape, binding: None, symbol: around.at(name.start) })
}

/// Returns whether symbols of this kind declare their name; the others refer to something else by it.
fn declares_name(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Use | SymbolKind::Impl)
}

/// Finds the innermost enclosing symbol of offsets in source order.
struct EnclosingSymbols<'f> {
    facts: &'f FileFacts,
    next: usize,
    open: Vec<u32>,
}

impl EnclosingSymbols<'_> {
    fn at(&mut self, place: u32) -> Option<u32> {
        let symbols = &self.facts.symbols;
        while symbols.get(self.next).is_some_and(|symbol| symbol.outer_start.min(symbol.span.start) <= place) {
            self.open.push(self.next as u32);
            self.next += 1;
        }
        while self.open.last().is_some_and(|&symbol| symbols[symbol as usize].span.end <= place) {
            self.open.pop();
        }
        let mut open = self.open.iter().rev().copied();
        open.find(|&symbol| {
            let symbol = &symbols[symbol as usize];
            symbol.kind != SymbolKind::Use && symbol.span.end > place
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::declares_name;
    use crate::{LANGUAGES, Language, extract, parse};

    /// Returns the positions of names according to the grammar itself: line and column of each.
    fn names_of(language: &Language, text: &str) -> BTreeSet<(u32, u32)> {
        let grammar = &language.grammar;
        let is_one_of =
            |codes: &[u8], kind: &str| codes.iter().any(|&code| grammar.kinds.get(code as usize - 1) == Some(&kind));
        let mut names = BTreeSet::new();
        parse::with_tree(language, text, |tree| {
            let mut open = vec![tree.root_node()];
            while let Some(node) = open.pop() {
                if is_one_of(grammar.opaque, node.kind()) {
                    continue;
                }
                open.extend((0..node.child_count()).filter_map(|at| node.child(at)));
                let word = &text[node.byte_range()];
                let is_leaf = node.child_count() == 0 && is_one_of(grammar.names, node.kind());
                if is_leaf && !word.is_empty() && !grammar.words.contains(&word) {
                    let place = node.start_position();
                    names.insert((place.row as u32 + 1, place.column as u32));
                }
            }
        });
        names
    }

    /// Fixtures by path and text.
    macro_rules! fixtures {
        ($($path:literal,)*) => { &[$(($path, include_str!(concat!("../fixtures/", $path))),)*] };
    }

    const FIXTURES: &[(&str, &str)] = fixtures![
        "c/broken.c",
        "c/queue.c",
        "c/queue.h",
        "elixir/broken.ex",
        "elixir/store_test.exs",
        "elixir/tour.ex",
        "cpp/broken.cc",
        "cpp/tour.cc",
        "csharp/Shop.cs",
        "csharp/broken.cs",
        "php/Shop.php",
        "php/broken.php",
        "go/broken.go",
        "go/server.go",
        "java/Shop.java",
        "java/broken.java",
        "haskell/Broken.hs",
        "haskell/Tour.hs",
        "javascript/app.js",
        "javascript/broken.jsx",
        "javascript/modern.mjs",
        "kotlin/broken.kt",
        "kotlin/shop.kt",
        "lua/broken.lua",
        "lua/store.lua",
        "python/broken.py",
        "python/fields.py",
        "python/models.py",
        "python/scopes.py",
        "ruby/broken.rb",
        "ruby/cart.rb",
        "rust/broken.rs",
        "rust/items.rs",
        "rust/jwt.rs",
        "rust/locals.rs",
        "rust/macros.rs",
        "rust/torn.rs",
        "scala/broken.scala",
        "scala/shop.scala",
        "shell/broken.sh",
        "shell/tests.bats",
        "shell/tour.sh",
        "svelte/Counter.svelte",
        "swift/Shop.swift",
        "swift/broken.swift",
        "typescript/broken.ts",
        "typescript/calls.ts",
        "typescript/cart.ts",
        "typescript/view.tsx",
        "vue/Cart.vue",
        "zig/broken.zig",
        "zig/tour.zig",
    ];

    #[test]
    fn every_name_is_a_symbol_or_reference() {
        let mut checked = 0;
        for (path, text) in FIXTURES {
            let ending = path.rsplit('.').next().unwrap_or_default();
            let Some(language) = LANGUAGES.iter().find(|language| language.extensions.contains(&ending)) else {
                continue;
            };
            let code = match language.walk {
                crate::Walk::Embedded { code, .. } => code(text),
                _ => (*text).to_owned(),
            };
            // A text that is repaired before it is parsed has another tree.
            if language.grammar.repair.is_some_and(|repair| repair(&code).is_some()) {
                continue;
            }
            let facts = extract(path, text.as_bytes().to_vec()).facts;
            let own = facts.symbols.iter().filter(|symbol| declares_name(symbol.kind));
            let own = own.map(|symbol| (symbol.name_line, symbol.name_column));
            let referred = facts.references.iter().filter(|reference| reference.is_name);
            let told: BTreeSet<(u32, u32)> =
                own.chain(referred.map(|reference| (reference.line, reference.column))).collect();
            let names = names_of(language, &code);
            let missed: Vec<_> = names.difference(&told).collect();
            assert!(missed.is_empty(), "{path}: names without a symbol or reference at {missed:?}");
            checked += names.len();
        }
        assert!(checked > 1000, "only {checked} names were checked");
    }
}
