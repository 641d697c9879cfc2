//! A language as a table: rows per kind of node, and the one walk and the one lowering that read them.
//!
//! A language says, for every kind of node of its grammar that matters, what a node of that kind does: it defines a symbol,
//! opens a block, binds a local name, is an expression of some form. Walking, lowering, docs, headers, modifiers and scopes
//! are here, once. What is odd in a language is a hook: a function that a row names.
//!
//! Two laws hold over the tables (`laws`): each kind and field that a row names is in the grammar, and each named kind of the
//! grammar has a row or stands in the language's list of kinds that need none, so that nothing is forgotten in silence.

mod closures;
mod define;
#[cfg(test)]
mod laws;
mod lower;
mod nodes;
pub(crate) mod table;
mod walk;

pub(crate) use define::Definition;
pub(crate) use table::{Do, Find, Lower, Means, Recipe, Row, bind, define, grammar, row};
pub(crate) use walk::{Walk, walk};
