//! Tools for pages only: highlighted text with links, folders, and the available refs and work trees.
//!
//! They are tools like the others, answered by the same threads from the same views, but agents are not offered them.

pub(super) mod folder;
pub(super) mod index_state;
pub(super) mod source;
