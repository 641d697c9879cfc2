//! Distinguishes symbols of one file: an ordinal among equals, and a hash of each symbol's own text.

use codecompass_model::{Span, Symbol, ids};

use crate::interner::FastMap;

/// Numbers the symbols with equal kind, qualified name and trait.
pub(crate) fn assign_ordinals(symbols: &mut [Symbol]) {
    let mut seen: FastMap<(u8, &str, Option<&str>), u32> = FastMap::default();
    let mut ordinals = Vec::with_capacity(symbols.len());
    for symbol in symbols.iter() {
        let key = (symbol.kind.index(), symbol.qualified_name.as_str(), symbol.impl_trait.as_deref());
        let next = seen.entry(key).or_insert(0);
        ordinals.push(*next);
        *next += 1;
    }
    for (symbol, ordinal) in symbols.iter_mut().zip(ordinals) {
        symbol.ordinal = ordinal;
    }
}

/// Hashes each symbol's attributes and own text: its span without its children and their docs and attributes.
pub(crate) fn hash_contents(text: &str, symbols: &mut [Symbol], attributes: &[(u32, Span)]) {
    let (first_child, next_sibling) = child_links(symbols);
    let mut attributes = attributes.iter().peekable();
    let mut own = Vec::new();
    for index in 0..symbols.len() {
        own.clear();
        while let Some((_, span)) = attributes.next_if(|(symbol, _)| *symbol as usize == index) {
            append_lines(&mut own, span.text(text));
        }
        let span = symbols[index].span;
        let mut from = span.start;
        let mut child = first_child[index];
        while let Some(symbol) = symbols.get(child as usize) {
            append_lines(&mut own, Span { start: from, end: symbol.outer_start.max(from) }.text(text));
            from = from.max(symbol.span.end);
            child = next_sibling[child as usize];
        }
        append_lines(&mut own, Span { start: from, end: span.end.max(from) }.text(text));
        symbols[index].content_hash = ids::content_hash(&[&own]);
    }
}

/// Returns the first child and the next sibling of every symbol; `u32::MAX` where there is none.
fn child_links(symbols: &[Symbol]) -> (Vec<u32>, Vec<u32>) {
    let mut first_child = vec![u32::MAX; symbols.len()];
    let mut next_sibling = vec![u32::MAX; symbols.len()];
    for (index, symbol) in symbols.iter().enumerate().rev() {
        if let Some(parent) = symbol.parent {
            next_sibling[index] = std::mem::replace(&mut first_child[parent as usize], index as u32);
        }
    }
    (first_child, next_sibling)
}

/// Appends the lines of a text without insignificant parts: trailing white space, line-end style, and lines with only
/// the commas and semicolons between removed children.
fn append_lines(own: &mut Vec<u8>, text: &str) {
    for line in text.split('\n') {
        let line = line.trim_end();
        if !line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b',' | b';')) {
            own.extend_from_slice(line.as_bytes());
            own.push(b'\n');
        }
    }
}
