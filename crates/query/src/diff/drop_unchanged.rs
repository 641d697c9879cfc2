//! Removes apparent changes: declarations that were only regrouped, and deleted build variants that have a surviving
//! one.

use std::rc::Rc;

use codecompass_model::{Span, Symbol, SymbolKind};
use codecompass_store::{Result, Snapshot};

use super::facets::{attributes, own_spans};
use super::{FileSide, Pair, SymbolChange, SymbolSide};

/// A symbol of the later state with the name of a deleted symbol.
#[derive(Debug)]
pub struct BuildVariant {
    /// The index of the pair whose symbol was deleted.
    pair: usize,
    file: FileSide,
    ordinal: u32,
}

/// Finds, for deleted symbols, another symbol with the same name, kind and trait in the later state: in the same file,
/// or in the same folder where a language has one namespace for the files of a folder. Both were variants of one symbol
/// (`#[cfg]`, `f_linux.go`, an `if` on the platform, an overload), so that symbol was not deleted.
pub fn variants(pairs: &[Pair<'_>], after: &Snapshot) -> Result<Vec<BuildVariant>> {
    let mut found = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        if let (Some(gone), None) = (pair.before, pair.after)
            && has_variants(gone)
            && let Some((file, place)) = surviving_variant(gone, after)?
        {
            found.push(BuildVariant { pair: at, file, ordinal: place });
        }
    }
    Ok(found)
}

/// Updates the pairs with the surviving variants and marks the regrouped declarations.
pub fn drop_unchanged<'f>(
    pairs: &mut [Pair<'f>],
    variants: &'f [BuildVariant],
    before: &Snapshot,
    after: &Snapshot,
) -> Result<()> {
    for variant in variants {
        pairs[variant.pair].after = Some(SymbolSide { file: &variant.file, ordinal: variant.ordinal });
    }
    for pair in
        pairs.iter_mut().filter(|pair| pair.change() == Some(SymbolChange::Modified) && !pair.has_new_signature())
    {
        if let (Some(old), Some(new)) = (pair.before, pair.after) {
            let texts = (before.text(old.file.version.id)?, after.text(new.file.version.id)?);
            pair.is_regrouped = is_regrouped((old, &texts.0), (new, &texts.1));
        }
    }
    Ok(())
}

fn has_variants(gone: SymbolSide<'_>) -> bool {
    use SymbolKind::{Class, Const, Constructor, Enum, Fn, Interface, Macro, Method, Static, Struct, Type};
    let (symbol, file) = (gone.symbol(), gone.file);
    let may_vary = matches!(
        symbol.kind,
        Class | Const | Constructor | Enum | Fn | Interface | Macro | Method | Static | Struct | Type
    );
    may_vary && !file.languages.is_repeatable_function(&file.version.language, &symbol.name)
}

fn surviving_variant(gone: SymbolSide<'_>, after: &Snapshot) -> Result<Option<(FileSide, u32)>> {
    let (symbol, path) = (gone.symbol(), gone.path());
    let (is_test, languages) = (gone.is_test(), gone.file.languages);
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let mut near = Vec::new();
    for row in after.symbols_named(&symbol.name)?.into_iter().filter(|row| row.kind == symbol.kind) {
        let Some(version) = after.version(row.version)? else { continue };
        if version.language == gone.file.version.language && folder(&version.path) == folder(path) {
            near.push((version.path != path, Rc::clone(&version), row.ordinal));
        }
    }
    near.sort_by(|a, b| (a.0, &a.1.path, a.2).cmp(&(b.0, &b.1.path, b.2)));
    for (_, version, place) in near {
        let file = FileSide::from_version(after, languages, version)?;
        let is_it = |one: &Symbol| {
            let has_its_name = one.qualified_name == symbol.qualified_name && one.impl_trait == symbol.impl_trait;
            has_its_name && languages.is_test(&file.version.path, one.in_test) == is_test
        };
        if file.outline.symbols.get(place as usize).is_some_and(is_it) {
            return Ok(Some((file, place)));
        }
    }
    Ok(None)
}

/// Whether a declaration has the same text except for indentation, alignment, and keywords that a group states once for
/// all its declarations.
fn is_regrouped(before: (SymbolSide<'_>, &str), after: (SymbolSide<'_>, &str)) -> bool {
    let own = |(entry, text): (SymbolSide<'_>, &str)| {
        let spans = own_spans(&entry.file.outline.symbols, entry.ordinal).into_iter();
        let pieces: Vec<&str> = spans.map(|(start, end)| Span { start, end }.text(text)).collect();
        normalize_layout(&pieces.join("\n"))
    };
    let has_same_attributes = attributes(before.0.symbol(), before.1) == attributes(after.0.symbol(), after.1);
    has_same_attributes
        && own(before).zip(own(after)).is_some_and(|(old, new)| strip_keywords(&old) == strip_keywords(&new))
}

/// Removes the indentation that all lines share and collapses alignment to single spaces. Returns `None` for a text
/// with a multi-line string, in which white space is significant.
fn normalize_layout(text: &str) -> Option<String> {
    if text.contains('`') || text.contains("\"\"\"") || text.contains("'''") {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let shared = text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(indent).min().unwrap_or(0);
    let mut leveled = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        let line = if number == 0 { line.trim_start() } else { line.get(shared..).unwrap_or_default() };
        let (lead, rest) = line.split_at(indent(line));
        let rest = match rest.contains(['"', '\'']) {
            true => rest.trim_end().to_owned(),
            false => rest.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        if !rest.trim_matches([',', ';']).is_empty() {
            leveled += lead;
            leveled += &rest;
            leveled.push('\n');
        }
    }
    Some(leveled)
}

/// Removes the leading keywords of a declaration. Its header, which is unchanged, includes them.
fn strip_keywords(text: &str) -> &str {
    const KEYWORDS: [&str; 7] = ["export ", "declare ", "const ", "let ", "static ", "type ", "var "];
    let mut rest = text;
    while let Some(next) = KEYWORDS.iter().find_map(|word| rest.strip_prefix(word)) {
        rest = next;
    }
    rest.trim_end_matches([',', ';', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_differences_are_normalized() {
        let same = |one: &str, other: &str| {
            normalize_layout(one)
                .zip(normalize_layout(other))
                .is_some_and(|(a, b)| strip_keywords(&a) == strip_keywords(&b))
        };
        for (one, other, expected) in [
            ("var one = 1", "one = 1", true),
            ("x int", "x      int", true),
            ("Foo struct {\n\tx int\n}", "type Foo struct {\n\t\tx int\n\t}", true),
            ("export const a = 1", "a = 1,", true),
            ("def f():\n    if a:\n        b()", "def f():\n        if a:\n            b()", true),
            ("def f():\n    if a:\n        b()", "def f():\n    if a:\n    b()", false),
            ("a = \"x y\"", "a = \"x  y\"", false),
            ("a = `x y`", "a = `x y`", false),
            ("a = 1", "a = 2", false),
            ("a = 1", "b = 1", false),
        ] {
            assert_eq!(same(one, other), expected, "{one} and {other}");
        }
    }
}
