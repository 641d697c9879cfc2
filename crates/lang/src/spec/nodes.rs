//! Access to the tree: the kind, the text and the children of a node.

use super::table::{Action, Find, Lower};
use super::walk::Walk;

impl<'t> Walk<'_, 't> {
    /// Returns the kind of a node; empty for one without a row.
    pub(crate) fn kind(&self, at: usize) -> &'static str {
        match self.tree.kind(at) {
            0 => "",
            code => self.spec.rows[code as usize - 1].kind,
        }
    }

    pub(super) fn actions(&self, at: usize) -> &'static [Action] {
        match self.tree.kind(at) {
            0 => &[],
            code => self.spec.rows[code as usize - 1].actions,
        }
    }

    /// Returns the text of a node.
    pub(crate) fn text(&self, at: usize) -> &'t str {
        self.draft.slice(self.tree.node(at).span())
    }

    /// Returns the text between two nodes.
    pub(crate) fn text_between(&self, left: usize, right: usize) -> &'t str {
        let between = self.tree.node(left).end as usize..self.tree.node(right).start as usize;
        self.draft.text.get(between).unwrap_or("")
    }

    /// Returns the parent of a node.
    pub(crate) fn parent(&self, at: usize) -> usize {
        self.tree.node(at).parent as usize
    }

    pub(super) fn is_field(&self, at: usize, field: &str) -> bool {
        match self.tree.node(at).field {
            0 => false,
            code => self.spec.fields[code as usize - 1] == field,
        }
    }

    /// Returns the first child in a field.
    pub(crate) fn child(&self, at: usize, field: &str) -> Option<usize> {
        self.tree.children(at).find(|&child| self.is_field(child, field))
    }

    /// Returns all children in a field.
    pub(crate) fn children_in(&self, at: usize, field: &'static str) -> impl Iterator<Item = usize> + '_ {
        self.tree.children(at).filter(move |&child| self.is_field(child, field))
    }

    /// Returns the first child of a kind.
    pub(crate) fn child_of(&self, at: usize, kind: &str) -> Option<usize> {
        self.tree.children(at).find(|&child| self.kind(child) == kind)
    }

    /// Returns the children of a node, without comments.
    pub(crate) fn items(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.tree.children(at).filter(|&child| !self.spec.comments.contains(&self.kind(child)))
    }

    pub(crate) fn find(&self, at: usize, find: Find) -> Option<usize> {
        match find {
            Find::Nowhere => None,
            Find::Field(field) => self.child(at, field),
            Find::ParentField(field) => self.child(self.parent(at), field),
            Find::Kind(kind) => self.child_of(at, kind),
            Find::First => self.items(at).next(),
            Find::Last => self.items(at).last(),
            Find::Grandchild(kind, inner) => self.child_of(self.child_of(at, kind)?, inner),
            Find::ChildField(kind, field) => self.child(self.child_of(at, kind)?, field),
            Find::Except(kinds) => self.items(at).find(|&item| !kinds.contains(&self.kind(item))),
        }
    }

    /// Returns the leaf that names a type or a path.
    pub(crate) fn name_node(&self, mut at: usize) -> Option<usize> {
        loop {
            let step = self.actions(at).iter().find(|one| matches!(one, Action::Leaf(_) | Action::Lower(_)))?;
            at = match step {
                Action::Leaf(_) => return Some(at),
                Action::Lower(Lower::Member(_, name) | Lower::PointerMember(_, name) | Lower::Call { name, .. }) => {
                    self.find(at, *name)?
                }
                Action::Lower(Lower::Generic(of, _) | Lower::Same(of) | Lower::List(of)) => self.find(at, *of)?,
                _ => return None,
            };
        }
    }
}
