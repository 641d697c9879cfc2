//! What pages ask and no agent does: coloured text with links, folders, and what there is to choose from.
//!
//! They are tools like the others, answered by the same threads from the same views, but nobody is offered them.

pub(super) mod folder;
pub(super) mod source;
pub(super) mod standing;
