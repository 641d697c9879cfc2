//! A language as a table: rows per node kind, and the one walk and the one lowering that read them.
//!
//! For every relevant node kind of its grammar, a language states the actions of such a node: it defines a symbol,
//! opens a block, binds a local name, is an expression of some form. Walking, lowering, docs, headers, modifiers and
//! scopes are implemented here, once. Exceptions of a language are hooks: functions that a row names.
//!
//! Two laws hold for the tables (`laws`): each kind and field in a row exists in the grammar, and each named kind of
//! the grammar has a row or is in the language's list of ignored kinds, so that none is missed silently.

mod closures;
mod define;
#[cfg(test)]
mod laws;
mod lower;
mod nodes;
pub(crate) mod table;
mod walk;

pub(crate) use define::Definition;
pub(crate) use table::{Action, Find, LanguageSpec, Lower, ModifierMeaning, Row, bind, define, grammar, row};
pub(crate) use walk::{Walk, walk};
