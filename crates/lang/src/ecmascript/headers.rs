//! Reads symbol headers during extraction, because the resolver does not read the displayed signature.

use codecompass_model::{Flags, SymbolKind};

use super::resolve::split;

/// Returns the flags that the words of a header imply.
pub(super) fn flags(header: &str, name: &str) -> Flags {
    let before = header.find(name).map_or("", |end| &header[..end]);
    let has = |words: &str, word: &str| words.split_whitespace().any(|one| one == word);
    let start = split::split_top_level(header, true, "(").into_iter().next().unwrap_or("");
    Flags::STATIC.when(has(before, "static"))
        | Flags::ASYNC.when(start.split(' ').any(|word| word == "async"))
        | Flags::MODULE_ITSELF.when(is_module_itself(header))
}

/// Handles `module.exports = function named() {}`, which is listed under its own name.
fn is_module_itself(header: &str) -> bool {
    header.split_once("module.exports =").is_some_and(|(before, _)| before.is_empty() || before.ends_with("= "))
}

/// Returns whether the resolver needs the header of such a symbol.
pub(super) fn needs_header(kind: SymbolKind) -> bool {
    use SymbolKind::{Enum, Module, Namespace, Test, Use, Variant};
    !matches!(kind, Enum | Module | Namespace | Test | Use | Variant)
}

/// Returns the part of a header after the symbol's name.
pub(super) fn after_name<'h>(header: &'h str, name: &str) -> &'h str {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let found = header
        .match_indices(name)
        .find(|(at, name)| !header[..*at].ends_with(is_part) && !header[at + name.len()..].starts_with(is_part));
    let rest = found.map_or("", |(at, name)| &header[at + name.len()..]);
    // `const X = class Y extends Z`: the class follows the `=`.
    let Some(class) = rest.trim_start().strip_prefix("= class") else { return rest.trim_start() };
    match split::word(class.trim_start()) {
        ("extends", _) => class.trim_start(),
        (_, rest) => rest.trim_start(),
    }
}
