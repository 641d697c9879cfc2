//! Parses the arguments of macro calls that are valid Rust.
//!
//! The grammar sees the arguments of a macro call as unparsed tokens. Most of them are ordinary code: a list of
//! expressions, a block, items after a `cfg_…!`. Such a fragment is parsed again together with its brackets, which make
//! it a tuple, an array or a block, and its nodes replace the tokens. Fragments with a syntax error stay tokens, and so
//! do templates of other code (`quote!`) and the bodies of `macro_rules!`. If the arguments do not parse as a whole,
//! blocks in braces among them may.

use std::ops::Range;

use codecompass_model::Span;

use super::LANGUAGE;
use super::items;
use super::kinds::{field as f, kind as k};
use crate::parse::{self, FragmentParser};
use crate::tree::{OTHER, Tree};

/// The maximum nesting of macro calls within arguments; every level parses its text again.
const MAX_LEVELS: usize = 6;

/// The node of the brackets in a fragment: below the file and its one statement.
const BRACKETS: usize = 2;

/// Brackets in a string literal mislead the search for the beginning of a receiver.
const BRACKET_MARKS: [char; 6] = ['(', ')', '[', ']', '{', '}'];

/// Returns the tree with the arguments of macro calls as code; `None` if no arguments can be parsed.
pub(super) fn read(tree: &Tree, text: &str) -> Option<Tree> {
    let wanted = |at: usize| tree.kind(at) == k::TOKEN_TREE && tree.next(at) > at + 1;
    if !(0..tree.len()).any(|at| tree.kind(at) == k::MACRO_CALL && tree.children(at).any(wanted)) {
        return None;
    }
    parse::with_fragment_parser(&LANGUAGE, text.len(), |pieces| {
        let mut reader = ArgumentReader {
            text,
            fragments: pieces,
            out: Tree::default(),
            fragment: String::new(),
            spare: Vec::new(),
        };
        reader.copy(tree, 0..tree.len(), CopyTarget { parent: 0, level: 0, items: true });
        reader.out
    })
}

/// The destination of a copied range.
#[derive(Clone, Copy)]
struct CopyTarget {
    /// Its parent node in the new tree.
    parent: u32,
    /// The number of enclosing macro calls.
    level: usize,
    /// Whether it is in item position.
    items: bool,
}

struct ArgumentReader<'r, 'w> {
    text: &'r str,
    fragments: &'r mut FragmentParser<'w>,
    out: Tree,
    fragment: String,
    spare: Vec<Tree>,
}

impl ArgumentReader<'_, '_> {
    /// Copies a range of whole subtrees. Recurses once per level of macro calls.
    fn copy(&mut self, from: &Tree, range: Range<usize>, place: CopyTarget) {
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut tokens_until = 0;
        let mut at = range.start;
        while at < range.end {
            while let Some((closed, _)) = open.pop_if(|(_, end)| *end <= at) {
                self.out.close(closed);
            }
            let node = from.node(at);
            let next = node.next as usize;
            let parent = open.last().map_or(place.parent, |&(parent, _)| parent);
            let index = self.out.push(node, parent);
            match node.kind {
                k::MACRO_DEFINITION | k::ATTRIBUTE_ITEM | k::INNER_ATTRIBUTE => tokens_until = next,
                k::MACRO_CALL if is_template(from, at, self.text) => tokens_until = next,
                k::TOKEN_TREE if at >= tokens_until && next > at + 1 && self.arguments(from, at, index, place) => {
                    self.out.close(index);
                    at = next;
                    continue;
                }
                _ => {}
            }
            if next > at + 1 {
                open.push((index, next));
            }
            at += 1;
        }
        while let Some((closed, _)) = open.pop() {
            self.out.close(closed);
        }
    }

    /// Parses a token tree as code and copies it below the node `index`; returns `false` if it stays tokens.
    fn arguments(&mut self, from: &Tree, at: usize, index: u32, place: CopyTarget) -> bool {
        let whole = from.kind(from.node(at).parent as usize) == k::MACRO_CALL;
        let braced = self.text[from.node(at).start as usize..].starts_with('{');
        if place.level >= MAX_LEVELS || !whole && !braced || is_plain(from, at, self.text) {
            return false;
        }
        let items = place.items && is_item_position(from, at, place.level);
        let mut tree = self.spare.pop().unwrap_or_default();
        let read = self.parse(from, at, &mut tree, false)
            || items && !braced && self.parse(from, at, &mut tree, true) && has_items(&tree);
        let read = read && tree.len() > BRACKETS && (whole || items || !has_items(&tree));
        if read {
            let inner = CopyTarget { parent: index, level: place.level + 1, items };
            self.copy(&tree, BRACKETS..tree.next(BRACKETS), inner);
        }
        self.spare.push(tree);
        read
    }

    /// Parses a token tree with its brackets, or with braces in their place.
    fn parse(&mut self, from: &Tree, at: usize, tree: &mut Tree, as_items: bool) -> bool {
        let span = from.node(at).span();
        let text = span.text(self.text);
        let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or("");
        self.fragment.clear();
        if as_items {
            self.fragment.extend(["{", inner, "}"]);
        } else {
            self.fragment.extend([text, ";"]);
        }
        // The grammar rejects an empty parameter list, which some macros require.
        while let Some(at) = self.fragment.find("impl<>") {
            self.fragment.replace_range(at + 4..at + 6, "  ");
        }
        self.fragments.parse(&self.fragment, span.start, tree)
    }
}

/// Returns whether a macro's arguments are a template for other code.
fn is_template(tree: &Tree, at: usize, text: &str) -> bool {
    tree.child(at, f::MACRO).is_some_and(|name| tree.node(name).span().text(text).contains("quote"))
}

/// Returns whether unparsed tokens are as informative as code: names, calls, members and paths, without anything that
/// declares names, nests macros or spans several lines. This holds for most assertions and avoids parsing them again.
fn is_plain(tree: &Tree, at: usize, text: &str) -> bool {
    let mut from = tree.node(at).start;
    let mut after_text = false;
    for inner in at + 1..tree.next(at) {
        let node = tree.node(inner);
        if node.kind == k::TOKEN_TREE {
            continue;
        }
        let gap = Span { start: from, end: node.start }.text(text);
        let is_text = matches!(node.kind, k::STRING | k::RAW_STRING | k::CHAR);
        let brackets = is_text && node.parent as usize != at && node.span().text(text).contains(BRACKET_MARKS);
        if brackets || after_text && gap.starts_with('.') || !is_plain_gap(gap.as_bytes()) {
            return false;
        }
        after_text = is_text;
        from = node.end;
    }
    is_plain_gap(Span { start: from, end: tree.node(at).end }.text(text).as_bytes())
}

/// Returns whether the tokens between names are punctuation, numbers and truth values that need no grammar.
fn is_plain_gap(gap: &[u8]) -> bool {
    let mut at = 0;
    while at < gap.len() {
        let (byte, next) = (gap[at], gap.get(at + 1).copied().unwrap_or(0));
        let before = if at > 0 { gap[at - 1] } else { 0 };
        let word = gap[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        let plain = match byte {
            b'|' | b'{' | b'<' | b'#' => false,
            b'.' => next != b'.' && !before.is_ascii_whitespace(),
            b'!' => !matches!(next, b'(' | b'[' | b' '),
            b'=' => next == b'=' || matches!(before, b'=' | b'!' | b'>'),
            b'a'..=b'z' | b'A'..=b'Z' => matches!(&gap[at..at + word], b"true" | b"false" | b"mut"),
            _ => true,
        };
        if !plain {
            return false;
        }
        at += word.max(1);
    }
    true
}

/// Returns whether a token tree belongs to a macro call in item position: in the file, a module, an `impl` or a trait,
/// or in the braces of a fragment.
fn is_item_position(tree: &Tree, at: usize, level: usize) -> bool {
    let mut at = tree.node(at).parent as usize;
    while tree.kind(at) == k::TOKEN_TREE {
        at = tree.node(at).parent as usize;
    }
    loop {
        at = tree.node(at).parent as usize;
        match tree.kind(at) {
            k::MOD | k::IMPL | k::TRAIT => return true,
            k::BLOCK if at == BRACKETS && level > 0 => return true,
            OTHER if at == 0 => return level == 0,
            OTHER | k::EXPRESSION_STATEMENT => {}
            _ => return false,
        }
    }
}

/// Returns whether items are directly in the brackets of a fragment.
fn has_items(tree: &Tree) -> bool {
    tree.len() > BRACKETS && tree.children(BRACKETS).any(|child| items::kind(tree.kind(child)).is_some())
}
