//! The syntax tree as a flat array in source order.
//!
//! One walk with tree-sitter's cursor copies the nodes that a language uses. After that a subtree is a range of
//! indices, the next sibling is one addition away, and no query crosses into C. Leaves that the language does not use
//! are dropped.

use codecompass_model::{RefShape, Span};

use crate::preprocessor::Repair;

/// The kind of nodes that the language has no code for, and the field of children without one.
pub(crate) const OTHER: u8 = 0;

/// The maximum depth of the tree. Only generated or hostile texts exceed it; deeper nodes are not visited.
pub(crate) const MAX_DEPTH: usize = 4000;

/// The parts of a grammar that a language uses.
pub(crate) struct Grammar {
    /// Loads the grammar.
    pub(crate) load: fn() -> tree_sitter::Language,
    /// Names of node kinds; the code of a kind is its position plus one.
    pub(crate) kinds: &'static [&'static str],
    /// Names of fields; the code of a field is its position plus one.
    pub(crate) fields: &'static [&'static str],
    /// The kinds with recorded fields of their children.
    pub(crate) fielded: &'static [u8],
    /// The kinds with children that are not visited.
    pub(crate) opaque: &'static [u8],
    /// The kinds of leaves that are names.
    pub(crate) names: &'static [u8],
    /// The kinds of statements with names that are imported or name the file's package.
    pub(crate) imports: &'static [u8],
    /// Words that look like names but are not: `self`, `_`.
    pub(crate) words: &'static [&'static str],
    /// Rewrites code that the grammar misreads, without moving a byte.
    pub(crate) repair: Option<fn(&str) -> Option<Repair>>,
    /// Whether a text that still has errors after its repair is also parsed unrepaired, because the repair may have
    /// been wrong.
    pub(crate) retries: bool,
}

/// Declares codes for names: a constant for each, and the list `NAMES` for the [`Grammar`]. Some are listed only to
/// keep leaves of that kind.
macro_rules! codes {
    ($($code:ident = $name:literal,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, dead_code)]
        #[repr(u8)]
        enum Position { _Other, $($code,)* }

        $(#[allow(dead_code)] pub(crate) const $code: u8 = Position::$code as u8;)*

        pub(crate) const NAMES: &[&str] = &[$($name,)*];
    };
}
pub(crate) use codes;

/// A [`Grammar`] translated to tree-sitter's ids.
pub(crate) struct Tables {
    kinds: Vec<u8>,
    fields: Vec<u8>,
    fielded: [bool; 256],
    opaque: [bool; 256],
}

impl Tables {
    pub(crate) fn new(grammar: &Grammar, loaded: &tree_sitter::Language) -> Self {
        let code = |names: &[&str], name: Option<&str>| {
            let at = name.and_then(|name| names.iter().position(|known| *known == name));
            at.map_or(OTHER, |at| at as u8 + 1)
        };
        let kind = |id: usize| code(grammar.kinds, loaded.node_kind_for_id(id as u16));
        let field = |id: usize| code(grammar.fields, loaded.field_name_for_id(id as u16));
        let set = |codes: &[u8]| std::array::from_fn(|code| codes.contains(&(code as u8)));
        Self {
            kinds: (0..loaded.node_kind_count()).map(kind).collect(),
            fields: (0..=loaded.field_count()).map(field).collect(),
            fielded: set(grammar.fielded),
            opaque: set(grammar.opaque),
        }
    }

    fn kind(&self, id: u16) -> u8 {
        self.kinds.get(id as usize).copied().unwrap_or(OTHER)
    }

    fn field(&self, id: Option<std::num::NonZeroU16>) -> u8 {
        id.and_then(|id| self.fields.get(id.get() as usize)).copied().unwrap_or(OTHER)
    }
}

/// A node. Its subtree is the range of indices from its own to `next`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) parent: u32,
    pub(crate) next: u32,
    pub(crate) kind: u8,
    pub(crate) field: u8,
}

impl Node {
    pub(crate) fn span(&self) -> Span {
        Span { start: self.start, end: self.end }
    }
}

/// The number of occurrences of a problem, and the offset of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProblemCount {
    pub(crate) count: u32,
    pub(crate) first: u32,
}

impl ProblemCount {
    pub(crate) fn record(&mut self, offset: u32) {
        if self.count == 0 {
            self.first = offset;
        }
        self.count += 1;
    }
}

/// The tree. It is refilled for each file, so that its memory is allocated once.
#[derive(Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    path: Vec<u32>,
    /// Positions where the parser skipped or invented tokens.
    pub(crate) errors: ProblemCount,
    /// Nodes with children that are too deep.
    pub(crate) too_deep: ProblemCount,
    /// Names in the text that was blanked before it was parsed.
    pub(crate) blanked_words: Vec<(Span, RefShape)>,
    /// Where declarations begin that follow blanked macros.
    pub(crate) starts: Vec<(u32, u32)>,
}

impl Tree {
    /// Copies a parsed tree. Its text starts at this offset of the file.
    pub(crate) fn fill(&mut self, parsed: &tree_sitter::Tree, tables: &Tables, offset: u32) {
        self.clear();
        let broken = parsed.root_node().has_error();
        let mut cursor = parsed.walk();
        let mut fielded = false;
        loop {
            let node = cursor.node();
            let kind = tables.kind(node.kind_id());
            let field = if fielded { tables.field(cursor.field_id()) } else { OTHER };
            let (start, end) = (offset + node.start_byte() as u32, offset + node.end_byte() as u32);
            if broken && (node.is_error() || node.is_missing()) {
                self.errors.record(start);
            }
            let index = self.nodes.len() as u32;
            let parent = self.path.last().copied().unwrap_or(0);
            self.nodes.push(Node { start, end, parent, next: index + 1, kind, field });
            if !tables.opaque[kind as usize] && self.descend(&mut cursor, index) {
                fielded = tables.fielded[kind as usize];
                continue;
            }
            if kind == OTHER {
                self.nodes.pop();
            }
            if !self.advance(&mut cursor) {
                return;
            }
            let parent = self.path.last().map_or(OTHER, |&parent| self.nodes[parent as usize].kind);
            fielded = tables.fielded[parent as usize];
        }
    }

    /// Adds what a repair blanked in the text of the tree.
    pub(crate) fn add_blanked(&mut self, repair: Repair) {
        (self.blanked_words, self.starts) = (repair.words, repair.starts);
    }

    /// Returns where the declaration begins whose first parsed byte is at this offset.
    pub(crate) fn start_of(&self, parsed: u32) -> u32 {
        let found = self.starts.binary_search_by_key(&parsed, |(parsed, _)| *parsed);
        found.map_or(parsed, |at| self.starts[at].1)
    }

    fn descend(&mut self, cursor: &mut tree_sitter::TreeCursor<'_>, index: u32) -> bool {
        if self.path.len() >= MAX_DEPTH {
            if cursor.node().child_count() > 0 {
                self.too_deep.record(self.nodes[index as usize].start);
            }
            return false;
        }
        let inside = cursor.goto_first_child();
        if inside {
            self.path.push(index);
        }
        inside
    }

    /// Moves to the next node that is not below this one, and closes the subtrees that end here.
    fn advance(&mut self, cursor: &mut tree_sitter::TreeCursor<'_>) -> bool {
        while !cursor.goto_next_sibling() {
            let Some(closed) = self.path.pop() else {
                return false;
            };
            self.nodes[closed as usize].next = self.nodes.len() as u32;
            cursor.goto_parent();
        }
        true
    }

    /// Removes all nodes.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.path.clear();
        self.blanked_words.clear();
        self.starts.clear();
        (self.errors, self.too_deep) = Default::default();
    }

    /// Adds a node below `parent`, a leaf until it is closed. Returns its index.
    pub(crate) fn push(&mut self, node: Node, parent: u32) -> u32 {
        let index = self.nodes.len() as u32;
        self.nodes.push(Node { parent, next: index + 1, ..node });
        index
    }

    /// Makes all nodes added since this one its descendants.
    pub(crate) fn close(&mut self, index: u32) {
        self.nodes[index as usize].next = self.nodes.len() as u32;
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node(&self, index: usize) -> Node {
        self.nodes[index]
    }

    pub(crate) fn kind(&self, index: usize) -> u8 {
        self.nodes[index].kind
    }

    pub(crate) fn next(&self, index: usize) -> usize {
        self.nodes[index].next as usize
    }

    /// Returns the children that were kept.
    pub(crate) fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.next(index);
        let first = (index + 1 < end).then_some(index + 1);
        std::iter::successors(first, move |&child| Some(self.next(child)).filter(|&next| next < end))
    }

    /// Returns the first child in a field.
    pub(crate) fn child(&self, index: usize, field: u8) -> Option<usize> {
        self.children(index).find(|&child| self.nodes[child].field == field)
    }

    /// Returns the first child of a kind.
    pub(crate) fn child_of_kind(&self, index: usize, kind: u8) -> Option<usize> {
        self.children(index).find(|&child| self.nodes[child].kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use crate::LANGUAGES;

    #[test]
    fn listed_names_are_in_the_grammar() {
        for language in LANGUAGES {
            // Grammars that share a walk share their lists; each name must be in one of them.
            let kin = LANGUAGES.iter().filter(|other| other.grammar.kinds == language.grammar.kinds);
            let loaded: Vec<_> = kin.map(|other| (other.grammar.load)()).collect();
            for kind in language.grammar.kinds {
                let has = |grammar: &tree_sitter::Language| {
                    (0..grammar.node_kind_count()).any(|id| grammar.node_kind_for_id(id as u16) == Some(kind))
                };
                assert!(loaded.iter().any(has), "{} has no node {kind}", language.name);
            }
            for field in language.grammar.fields {
                let has = |grammar: &tree_sitter::Language| grammar.field_id_for_name(field).is_some();
                assert!(loaded.iter().any(has), "{} has no field {field}", language.name);
            }
            assert!(language.grammar.kinds.len() < 255 && language.grammar.fields.len() < 255);
        }
    }
}
