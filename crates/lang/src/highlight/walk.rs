//! One pass over the tree of any grammar that highlights it.
//!
//! A node may apply its kind to all of itself (a string, an annotation). Then everything between its children has this
//! kind as well, except for code inside it. Elsewhere only leaves have kinds. The ancestors of a name determine what it
//! is, so each passes a role on to its children: the callee of a call is a function, and so is the last part of a path
//! that is called.

use tree_sitter::{Node, TreeCursor};

use super::node_kinds::{FieldRole, GrammarKinds, NodeKind};
use super::overrides::LanguageOverrides;
use super::{HighlightKind, HighlightSpan, SpanBuilder};
use crate::tree::MAX_DEPTH;

/// The maximum length of a name with a meaning of its own, in bytes.
const MAX_NAME_BYTES: usize = 100;

/// An ancestor of the current node.
struct Ancestor {
    kind: NodeKind,
    /// The kind of a name in its place.
    role: Option<HighlightKind>,
    /// The kind of everything directly in it.
    inside: Option<HighlightKind>,
    end: usize,
    /// Whether the walk has not left any of its children yet.
    at_first: bool,
    /// Whether its value is a function.
    has_function: bool,
}

/// Highlights a tree. The text may contain more than the parsed code, but has the same offsets.
pub(super) fn highlight_nodes(tree: &tree_sitter::Tree, text: &str, odd: &LanguageOverrides) -> Vec<HighlightSpan> {
    let kinds = GrammarKinds::new(&tree.language(), odd);
    let mut painter = SpanBuilder::new(text);
    let mut path: Vec<Ancestor> = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let kind = kinds.kind(node.kind_id());
        let above = path.last();
        let role = above.and_then(|above| role(above, kinds.field(cursor.field_id()), kind));
        let around = above.and_then(|above| above.inside);
        let is_leaf = node.child_count() == 0 || path.len() >= MAX_DEPTH;
        if is_leaf {
            let colour = match around {
                None => leaf(&node, kind, role, above, text, odd),
                Some(around) => leaf_within(around, kind),
            };
            painter.advance_to(node.start_byte(), around);
            painter.advance_to(node.end_byte(), colour);
        } else if cursor.goto_first_child() {
            let inside = inner_kind(around, kind, || whole_kind(&node, kind, above, text));
            painter.advance_to(node.start_byte(), around);
            let has_function = kind.names_its_value && is_function(&node, &kinds);
            path.push(Ancestor { kind, role, inside, end: node.end_byte(), at_first: true, has_function });
            continue;
        }
        if !advance(&mut cursor, &mut path, &mut painter) {
            return painter.spans;
        }
    }
}

/// Moves to the next node that is not below this one, and highlights the rest of the nodes that end here.
fn advance(cursor: &mut TreeCursor<'_>, path: &mut Vec<Ancestor>, painter: &mut SpanBuilder<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        let Some(left) = path.pop() else { return false };
        painter.advance_to(left.end, left.inside);
        cursor.goto_parent();
    }
    if let Some(above) = path.last_mut() {
        above.at_first = false;
    }
    true
}

/// Returns the kind of a name in the place of a child.
fn role(above: &Ancestor, field: FieldRole, child: NodeKind) -> Option<HighlightKind> {
    let kind = above.kind;
    match field {
        FieldRole::Type => Some(HighlightKind::Type),
        FieldRole::Callee | FieldRole::Target if kind.calls => Some(HighlightKind::Function),
        FieldRole::Name if kind.calls || above.has_function => Some(HighlightKind::Function),
        FieldRole::Name => kind.name_kind.or(above.role),
        FieldRole::Last if above.has_function => Some(HighlightKind::Function),
        FieldRole::Callee | FieldRole::Last => above.role,
        FieldRole::Left if kind.is_left => above.role,
        FieldRole::None if child.is_argument => None,
        FieldRole::None if kind.calls_first && above.at_first => Some(HighlightKind::Function),
        FieldRole::None if kind.is_transparent => above.role,
        FieldRole::None if kind.is_path => above.role.filter(|_| child.is_transparent),
        FieldRole::None => kind.child_kind.filter(|held| child.is_name || *held == HighlightKind::Type),
        FieldRole::Left | FieldRole::Target | FieldRole::Other => None,
    }
}

/// Returns the kind of everything directly in a node with children.
fn inner_kind(
    around: Option<HighlightKind>,
    kind: NodeKind,
    whole: impl FnOnce() -> Option<HighlightKind>,
) -> Option<HighlightKind> {
    match around {
        None => whole(),
        // A node with children that is not part of a string literal is code inside it.
        Some(HighlightKind::Text | HighlightKind::Doc)
            if !kind.is_text && kind.whole != Some(HighlightKind::Comment) =>
        {
            None
        }
        Some(HighlightKind::Attribute) if kind.is_argument => None,
        Some(around) => leaf_within(around, kind),
    }
}

/// Returns the kind of a leaf inside a node with a kind.
fn leaf_within(around: HighlightKind, kind: NodeKind) -> Option<HighlightKind> {
    match (around, kind.whole) {
        (HighlightKind::Attribute, Some(own @ (HighlightKind::Text | HighlightKind::Comment))) => Some(own),
        (HighlightKind::Text, _) if kind.is_code => None,
        _ => Some(around),
    }
}

/// Returns the kind that a node applies to all of itself.
fn whole_kind(node: &Node<'_>, kind: NodeKind, above: Option<&Ancestor>, text: &str) -> Option<HighlightKind> {
    let own = kind.whole?;
    let is_doc = match own {
        HighlightKind::Comment => is_doc(text.get(node.byte_range()).unwrap_or_default()),
        HighlightKind::Text => above.is_some_and(|above| above.kind.holds_docs),
        _ => false,
    };
    Some(if is_doc { HighlightKind::Doc } else { own })
}

/// Returns whether a comment has the syntax of docs.
fn is_doc(comment: &str) -> bool {
    const MARKS: &[&str] = &["///", "//!", "/**", "/*!", "---", "-- |", "-- ^", "{-|"];
    let Some(rest) = MARKS.iter().find_map(|mark| comment.strip_prefix(mark)) else { return false };
    // A row of such characters is a separator line, and `/**/` is an empty comment.
    !rest.starts_with(['/', '*', '-'])
}

/// Returns the kind of a leaf in code.
fn leaf(
    node: &Node<'_>,
    kind: NodeKind,
    role: Option<HighlightKind>,
    above: Option<&Ancestor>,
    text: &str,
    odd: &LanguageOverrides,
) -> Option<HighlightKind> {
    let own = whole_kind(node, kind, above, text);
    if !node.is_named() || !(kind.is_name || kind.word.is_some()) {
        return own;
    }
    let name = text.get(node.byte_range()).filter(|name| name.len() <= MAX_NAME_BYTES)?;
    if kind.word.is_some() {
        return own.or(kind.word.filter(|_| name.starts_with(|c: char| c.is_ascii_alphabetic())));
    }
    // Compares bytes, because offsets of a repaired text may be inside a character of this one.
    let bytes = text.as_bytes();
    let is_signed = || {
        odd.attribute_sign.is_some()
            && node.start_byte().checked_sub(1).and_then(|at| bytes.get(at).copied()) == odd.attribute_sign
    };
    let is_called = || {
        above.is_some_and(|above| above.kind.holds_unparsed) && matches!(bytes.get(node.end_byte()), Some(b'(' | b'!'))
    };
    match odd.word(name) {
        _ if is_signed() => Some(HighlightKind::Attribute),
        Some(known) => Some(known),
        None if is_called() => Some(HighlightKind::Function),
        None => own.or(role).or_else(|| kind_by_case(name, odd).filter(|_| kind.is_classified_by_case)),
    }
}

/// Returns the kind of a name by letter case: all capitals are a constant, a capital first letter is a type.
fn kind_by_case(name: &str, odd: &LanguageOverrides) -> Option<HighlightKind> {
    let has_small = name.chars().any(char::is_lowercase);
    let is_capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    match is_capital {
        true if has_small && odd.types_are_capitalised => Some(HighlightKind::Type),
        true if !has_small && name.len() > 1 => Some(HighlightKind::Constant),
        _ => None,
    }
}

/// Returns whether the value of a node is a function.
fn is_function(node: &Node<'_>, kinds: &GrammarKinds) -> bool {
    node.child_by_field_name("value").is_some_and(|value| kinds.kind(value.kind_id()).is_function)
}
