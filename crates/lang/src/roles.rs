//! Roles that outer nodes assign to a leaf before the walk reaches it.

use codecompass_model::RefShape;

/// The role of a name at a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// No node has assigned a role.
    Unset,
    /// The name declares something and refers to nothing.
    Declares,
    /// The name refers to something with this shape.
    Refers(RefShape),
}

/// The roles of all nodes of a tree.
pub(crate) struct Roles(Vec<Role>);

impl Roles {
    pub(crate) fn new(nodes: usize) -> Self {
        Self(vec![Role::Unset; nodes])
    }

    /// Assigns a role to a node. The first role wins: it comes from further up, where more is known.
    pub(crate) fn mark(&mut self, node: Option<usize>, role: Role) {
        if let Some(open) = node.and_then(|node| self.0.get_mut(node)).filter(|role| **role == Role::Unset) {
            *open = role;
        }
    }

    /// Returns the role of a node.
    pub(crate) fn get(&self, node: usize) -> Role {
        self.0[node]
    }
}
