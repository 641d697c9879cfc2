//! How much a change of a symbol concerns its users.

use std::collections::HashMap;

use codecompass_model::{Symbol, SymbolKind, Visibility};

use super::{Pair, SymbolChange};

/// How much a change concerns users of the symbol, most first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Users may break: the symbol was deleted or hidden, or its parameters, its result or its type changed.
    Breaking,
    /// The header changed for no user outside the file, or in a way that users do not notice: a private symbol, a
    /// renamed type parameter, a new value.
    Minor,
    /// The header is the same.
    None,
}

impl Pair<'_> {
    /// Classifies the change. A header that differs in its layout only is the same.
    pub fn severity(&self) -> Severity {
        match (self.before, self.after) {
            (None, _) => Severity::None,
            (Some(before), None) if is_private(before.symbol()) => Severity::Minor,
            (Some(_), None) => Severity::Breaking,
            (Some(before), Some(after)) if self.change() == Some(SymbolChange::Modified) => {
                changed_header(before.symbol(), after.symbol())
            }
            _ => Severity::None,
        }
    }
}

fn is_private(symbol: &Symbol) -> bool {
    symbol.visibility == Some(Visibility::Private)
}

fn changed_header(before: &Symbol, after: &Symbol) -> Severity {
    let (old, new) = (header_tokens(&before.signature), header_tokens(&after.signature));
    match () {
        _ if is_private(before) && old == new && before.kind == after.kind => Severity::None,
        _ if is_private(before) => Severity::Minor,
        _ if is_private(after) => Severity::Breaking,
        _ if before.kind != after.kind => Severity::Breaking,
        _ if old == new => Severity::None,
        _ if has_only_new_value(before.kind, &old, &new) || is_type_parameter_rename(&old, &new) => Severity::Minor,
        _ => Severity::Breaking,
    }
}

/// Splits a header into words and single signs, without white space and without a comma before a closing bracket.
fn header_tokens(header: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let mut tokens: Vec<&str> = Vec::new();
    let mut rest = header.trim();
    while let Some(first) = rest.chars().next() {
        let end = match is_word(first) {
            true => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let token = &rest[..end];
        if matches!(token, ")" | "]" | "}" | ">") && tokens.last() == Some(&",") {
            tokens.pop();
        }
        tokens.push(token);
        rest = rest[end..].trim_start();
    }
    tokens
}

/// Whether two headers of values differ only after the equals sign.
fn has_only_new_value(kind: SymbolKind, old: &[&str], new: &[&str]) -> bool {
    use SymbolKind::{Const, Field, Property, Static, Var};
    fn declared<'t, 'h>(tokens: &'t [&'h str]) -> Option<&'t [&'h str]> {
        tokens.iter().position(|token| *token == "=").map(|at| &tokens[..at])
    }
    let is_value = matches!(kind, Const | Field | Property | Static | Var);
    is_value && declared(old).is_some() && declared(old) == declared(new)
}

/// Whether two headers differ only in the names of their type parameters.
fn is_type_parameter_rename(old: &[&str], new: &[&str]) -> bool {
    if old.len() != new.len() {
        return false;
    }
    let (declared_before, declared_after) = (type_parameters(old), type_parameters(new));
    let mut renamed: HashMap<&str, &str> = HashMap::new();
    for (a, b) in old.iter().zip(new) {
        let is_parameter = declared_before.contains(a) && declared_after.contains(b);
        if a != b && !is_parameter || is_parameter && *renamed.entry(a).or_insert(b) != *b {
            return false;
        }
    }
    let distinct: std::collections::HashSet<&&str> = renamed.values().collect();
    distinct.len() == renamed.len()
}

/// Returns the names in the first list in angle or square brackets before the parameters: each first word
/// of an item.
fn type_parameters<'t>(tokens: &[&'t str]) -> Vec<&'t str> {
    let Some(open) = tokens.iter().position(|token| matches!(*token, "<" | "[" | "(")) else { return Vec::new() };
    if tokens[open] == "(" {
        return Vec::new();
    }
    let mut names = Vec::new();
    let (mut depth, mut is_first) = (0usize, true);
    for token in &tokens[open..] {
        match *token {
            "<" | "[" | "(" | "{" => depth += 1,
            ">" | "]" | ")" | "}" => depth = depth.saturating_sub(1),
            "," if depth == 1 => is_first = true,
            // Modifiers and lifetimes precede the name.
            "'" | "const" | "in" | "out" | "reified" | "typename" | "class" => {}
            word if depth == 1 && is_first => {
                names.push(word);
                is_first = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// Joins a deleted and an added symbol with one name in one file to a change of its kind: an arrow function that became
/// a constant, an interface that became a type.
pub fn join_changed_kinds<'f>(changes: &[Pair<'f>]) -> Vec<Pair<'f>> {
    type Key<'f> = (&'f str, &'f str);
    fn key<'f>(pair: &Pair<'f>) -> Key<'f> {
        (pair.latest().path(), &pair.latest().symbol().qualified_name)
    }
    let mut sides: HashMap<Key<'f>, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (at, pair) in changes.iter().enumerate().filter(|(_, pair)| !pair.is_landmark()) {
        match pair.change() {
            Some(SymbolChange::Deleted) => sides.entry(key(pair)).or_default().0.push(at),
            Some(SymbolChange::Added) => sides.entry(key(pair)).or_default().1.push(at),
            _ => {}
        }
    }
    let mut joined = HashMap::new();
    let mut gone = std::collections::HashSet::new();
    for (deleted, added) in sides.into_values() {
        if let ([old], [new]) = (deleted.as_slice(), added.as_slice())
            && changes[*old].before.is_some_and(|old| can_change_kind(old.symbol().kind))
            && changes[*new].after.is_some_and(|new| can_change_kind(new.symbol().kind))
        {
            joined.insert(*new, changes[*old].before);
            gone.insert(*old);
        }
    }
    let kept = changes.iter().enumerate().filter(|(at, _)| !gone.contains(at));
    kept.map(|(at, pair)| Pair { before: joined.get(&at).copied().unwrap_or(pair.before), ..*pair }).collect()
}

/// Whether a symbol keeps its identity as another kind. An `impl` shares the name of its type.
fn can_change_kind(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Impl | SymbolKind::Use | SymbolKind::Module | SymbolKind::Namespace | SymbolKind::Test)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_type_parameters_are_recognised() {
        for (old, new, expected) in [
            ("fn map<T, R>(x: T) -> R", "fn map<A, B>(x: A) -> B", true),
            ("function use<TData = unknown>(a: TData): TData", "function use<T = unknown>(a: T): T", true),
            ("func Map[T any](x T) T", "func Map[E any](x E) E", true),
            ("fn map<T, R>(x: T) -> R", "fn map<A, B>(x: B) -> A", false),
            ("fn map<T>(x: T)", "fn map<T>(x: T, y: u8)", false),
            ("fn map(x: T)", "fn map(x: U)", false),
            ("fn f<T>(a: u8)", "fn f<T>(b: u8)", false),
        ] {
            let is_rename = is_type_parameter_rename(&header_tokens(old), &header_tokens(new));
            assert_eq!(is_rename, expected, "{old} / {new}");
        }
    }

    #[test]
    fn layout_is_no_change() {
        assert_eq!(header_tokens("f( a, b, )"), header_tokens("f(a, b)"));
        assert_ne!(header_tokens("f(a, b)"), header_tokens("f(a)"));
    }
}
