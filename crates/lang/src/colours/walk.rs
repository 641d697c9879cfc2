//! One pass over the tree of any grammar that highlights it.
//!
//! A node may apply its kind to all of itself (a string, an annotation). Then everything between its children has this
//! kind as well, except for code inside it. Elsewhere only leaves have kinds. The ancestors of a name determine what it
//! is, so each passes a role on to its children: the callee of a call is a function, and so is the last part of a path
//! that is called.

use tree_sitter::{Node, TreeCursor};

use super::kinds::{Field, Kind, Kinds};
use super::table::Odd;
use super::{Colour, Coloured, Painter};
use crate::tree::MAX_DEPTH;

/// The maximum length of a name with a meaning of its own, in bytes.
const LONGEST_NAME: usize = 100;

/// An ancestor of the current node.
struct Level {
    kind: Kind,
    /// The kind of a name in its place.
    role: Option<Colour>,
    /// The kind of everything directly in it.
    inside: Option<Colour>,
    end: usize,
    /// Whether the walk has not left any of its children yet.
    at_first: bool,
    /// Whether its value is a function.
    has_function: bool,
}

/// Highlights a tree. The text may contain more than the parsed code, but has the same offsets.
pub(super) fn colours(tree: &tree_sitter::Tree, text: &str, odd: &Odd) -> Vec<Coloured> {
    let kinds = Kinds::new(&tree.language(), odd);
    let mut painter = Painter::new(text);
    let mut path: Vec<Level> = Vec::new();
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
            painter.to(node.start_byte(), around);
            painter.to(node.end_byte(), colour);
        } else if cursor.goto_first_child() {
            let inside = inside(around, kind, || whole(&node, kind, above, text));
            painter.to(node.start_byte(), around);
            let has_function = kind.is_valued && is_function(&node, &kinds);
            path.push(Level { kind, role, inside, end: node.end_byte(), at_first: true, has_function });
            continue;
        }
        if !advance(&mut cursor, &mut path, &mut painter) {
            return painter.done;
        }
    }
}

/// Moves to the next node that is not below this one, and highlights the rest of the nodes that end here.
fn advance(cursor: &mut TreeCursor<'_>, path: &mut Vec<Level>, painter: &mut Painter<'_>) -> bool {
    while !cursor.goto_next_sibling() {
        let Some(left) = path.pop() else { return false };
        painter.to(left.end, left.inside);
        cursor.goto_parent();
    }
    if let Some(above) = path.last_mut() {
        above.at_first = false;
    }
    true
}

/// Returns the kind of a name in the place of a child.
fn role(above: &Level, field: Field, child: Kind) -> Option<Colour> {
    let kind = above.kind;
    match field {
        Field::Type => Some(Colour::Type),
        Field::Callee | Field::Target if kind.calls => Some(Colour::Function),
        Field::Name if kind.calls || above.has_function => Some(Colour::Function),
        Field::Name => kind.names.or(above.role),
        Field::Last if above.has_function => Some(Colour::Function),
        Field::Callee | Field::Last => above.role,
        Field::Left if kind.is_left => above.role,
        Field::None if child.is_argument => None,
        Field::None if kind.calls_first && above.at_first => Some(Colour::Function),
        Field::None if kind.passes => above.role,
        Field::None if kind.is_path => above.role.filter(|_| child.passes),
        Field::None => kind.holds.filter(|held| child.is_name || *held == Colour::Type),
        Field::Left | Field::Target | Field::Other => None,
    }
}

/// Returns the kind of everything directly in a node with children.
fn inside(around: Option<Colour>, kind: Kind, whole: impl FnOnce() -> Option<Colour>) -> Option<Colour> {
    match around {
        None => whole(),
        // A node with children that is not part of a string literal is code inside it.
        Some(Colour::Text | Colour::Doc) if !kind.is_text && kind.whole != Some(Colour::Comment) => None,
        Some(Colour::Attribute) if kind.is_argument => None,
        Some(around) => leaf_within(around, kind),
    }
}

/// Returns the kind of a leaf inside a node with a kind.
fn leaf_within(around: Colour, kind: Kind) -> Option<Colour> {
    match (around, kind.whole) {
        (Colour::Attribute, Some(own @ (Colour::Text | Colour::Comment))) => Some(own),
        (Colour::Text, _) if kind.is_code => None,
        _ => Some(around),
    }
}

/// Returns the kind that a node applies to all of itself.
fn whole(node: &Node<'_>, kind: Kind, above: Option<&Level>, text: &str) -> Option<Colour> {
    let own = kind.whole?;
    let is_doc = match own {
        Colour::Comment => is_doc(text.get(node.byte_range()).unwrap_or_default()),
        Colour::Text => above.is_some_and(|above| above.kind.documents),
        _ => false,
    };
    Some(if is_doc { Colour::Doc } else { own })
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
    kind: Kind,
    role: Option<Colour>,
    above: Option<&Level>,
    text: &str,
    odd: &Odd,
) -> Option<Colour> {
    let own = whole(node, kind, above, text);
    if !node.is_named() || !(kind.is_name || kind.word.is_some()) {
        return own;
    }
    let name = text.get(node.byte_range()).filter(|name| name.len() <= LONGEST_NAME)?;
    if kind.word.is_some() {
        return own.or(kind.word.filter(|_| name.starts_with(|c: char| c.is_ascii_alphabetic())));
    }
    // Compares bytes, because offsets of a repaired text may be inside a character of this one.
    let bytes = text.as_bytes();
    let is_signed =
        || odd.sign.is_some() && node.start_byte().checked_sub(1).and_then(|at| bytes.get(at).copied()) == odd.sign;
    let is_called =
        || above.is_some_and(|above| above.kind.is_loose) && matches!(bytes.get(node.end_byte()), Some(b'(' | b'!'));
    match odd.word(name) {
        _ if is_signed() => Some(Colour::Attribute),
        Some(known) => Some(known),
        None if is_called() => Some(Colour::Function),
        None => own.or(role).or_else(|| looks(name, odd).filter(|_| kind.has_looks)),
    }
}

/// Returns the kind of a name by letter case: all capitals are a constant, a capital first letter is a type.
fn looks(name: &str, odd: &Odd) -> Option<Colour> {
    let has_small = name.chars().any(char::is_lowercase);
    let is_capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    match is_capital {
        true if has_small && odd.capitals => Some(Colour::Type),
        true if !has_small && name.len() > 1 => Some(Colour::Constant),
        _ => None,
    }
}

/// Returns whether the value of a node is a function.
fn is_function(node: &Node<'_>, kinds: &Kinds) -> bool {
    node.child_by_field_name("value").is_some_and(|value| kinds.kind(value.kind_id()).is_function)
}
