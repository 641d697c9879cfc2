//! What nodes higher up know about a leaf before the walk reaches it.

use codecompass_model::RefShape;

/// What a name at a leaf does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Nobody has said anything.
    Open,
    /// It declares something and refers to nothing.
    Declares,
    /// It refers to something in this way.
    Refers(RefShape),
}

/// The roles of all nodes of a tree.
pub(crate) struct Roles(Vec<Role>);

impl Roles {
    pub(crate) fn new(nodes: usize) -> Self {
        Self(vec![Role::Open; nodes])
    }

    /// Gives a node a role. The first one counts: it comes from further up and knows more.
    pub(crate) fn mark(&mut self, node: Option<usize>, role: Role) {
        if let Some(open) = node.and_then(|node| self.0.get_mut(node)).filter(|role| **role == Role::Open) {
            *open = role;
        }
    }

    /// The role of a node.
    pub(crate) fn of(&self, node: usize) -> Role {
        self.0[node]
    }
}
