//! The segment for an `impl` block in the qualified names of its items.
//!
//! Items of a type of the file are found under the type's own name: `Store::first`, also for an `impl Store<u8>`. A
//! type from elsewhere is no shared namespace: `impl Schedule for Arc<Handle>` and `impl Link for Arc<Entry>` have
//! nothing in common but the pointer. So its type arguments are part of the name if they are concrete: `Arc<Handle>`,
//! but `Box` for an `impl<T> Read for Box<T>`.

use std::collections::HashSet;

use super::kinds::{field as f, kind as k};
use super::walk::Walk;
use crate::text;

/// The maximum length of a type with its arguments. A longer type is represented by its name alone.
const MAX_TYPE_BYTES: usize = 120;

/// The types that a file declares, collected on first use.
pub(super) type DeclaredTypes<'t> = Option<HashSet<&'t str>>;

/// Returns the segment of qualified names for an `impl` block if it differs from the name of its type.
pub(super) fn segment(walk: &mut Walk<'_, '_>, at: usize, name: &str) -> Option<String> {
    let tree = walk.tree;
    let of = walk.draft.slice(tree.node(tree.child(at, f::TYPE)?).span());
    if !of.contains('<') || of.len() > MAX_TYPE_BYTES || is_declared(walk, name) {
        return None;
    }
    let parameters = tree.child_of_kind(at, k::TYPE_PARAMETERS);
    let names = parameters.into_iter().flat_map(|list| tree.children(list)).filter_map(|one| tree.child(one, f::NAME));
    let own: Vec<&str> = names.map(|name| walk.draft.slice(tree.node(name).span())).collect();
    let whole = drop_own_params(&last_names(of), &own);
    let start = whole.find(name).filter(|&start| whole[start + name.len()..].starts_with('<'))?;
    Some(whole[start..].to_owned())
}

fn is_declared(walk: &mut Walk<'_, '_>, name: &str) -> bool {
    let (tree, draft) = (walk.tree, &walk.draft);
    let declared = walk.declared.get_or_insert_with(|| {
        let is_type = |&at: &usize| matches!(tree.kind(at), k::STRUCT | k::ENUM | k::UNION | k::TYPE | k::TRAIT);
        let names = (0..tree.len()).filter(is_type).filter_map(|at| tree.child(at, f::NAME));
        names.map(|name| draft.slice(tree.node(name).span())).collect()
    });
    declared.contains(name)
}

/// Returns a type with the last names of its paths, without lifetimes and white space.
fn last_names(of: &str) -> String {
    let mut out = String::new();
    let mut rest = of;
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if word > 0 {
            // `dyn A` stays two words.
            if out.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
                out.push(' ');
            }
            out.push_str(&rest[..word]);
            rest = &rest[word..];
        } else if let Some(after) = rest.strip_prefix("::") {
            out.truncate(text::last_word(&out));
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\'') {
            let lifetime = after.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(after.len());
            rest = after[lifetime..].trim_start().trim_start_matches(',');
        } else {
            if !c.is_whitespace() {
                out.push(c);
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// Returns a type without the arguments that are parameters of the `impl` itself.
fn drop_own_params(of: &str, own: &[&str]) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in of.chars() {
        if !matches!(c, '<' | '>' | ',') {
            word.push(c);
            continue;
        }
        if own.contains(&word.trim_start_matches(['&', '*'])) {
            word.clear();
        }
        out.push_str(&word);
        word.clear();
        match c {
            ',' if out.ends_with(['<', ',']) => {}
            '>' => {
                out.truncate(out.trim_end_matches(',').len());
                if out.ends_with('<') {
                    out.pop();
                } else {
                    out.push('>');
                }
            }
            other => out.push(other),
        }
    }
    out + &word
}

#[cfg(test)]
mod tests {
    use super::{drop_own_params, last_names};

    #[test]
    fn concrete_type_arguments_are_kept() {
        let table = [
            ("Arc<Handle>", "Arc<Handle>"),
            ("std::sync::Arc<super::Handle>", "Arc<Handle>"),
            ("&'a mut Box<T>", "&mut Box"),
            ("Map<K, Vec<T>>", "Map<Vec>"),
            ("Map<String, T>", "Map<String>"),
            ("Map<T, String>", "Map<String>"),
            ("Cow<'a, str>", "Cow<str>"),
            ("Pin<Box<dyn a::Read + Send>>", "Pin<Box<dyn Read+Send>>"),
            ("Box<[T]>", "Box<[T]>"),
        ];
        for (of, expected) in table {
            assert_eq!(drop_own_params(&last_names(of), &["T", "K"]), expected, "{of}");
        }
    }
}
