//! Shared resolution: the index of a file's facts, the cache of a resolver, and the resolver of all languages that are
//! tables.
//!
//! The engine is demand-driven: a reference leads to a name or to the type of its receiver, the type to its members,
//! members to types of other files, and no further than necessary. A language provides a [`ScopePolicy`]: a lookup
//! order and a few more policies. References without evidence stay unknown; the members of a receiver with an external
//! type are external.
//!
//! `engine` receives the query and `resolutions` answers it: with `names` for bare names, with `values` (`calls`,
//! `typing`, `apply`, `implicit_receivers`) and `members` (`out_of_line`, `visibility`) for names after a receiver,
//! with `overloads` and `constructors` where several symbols match. `units` (`namespaces`, `modules`) determine which
//! other files a file sees, `stubs` hold the library.

mod apply;
mod calls;
mod constructors;
mod engine;
mod implementations;
mod implicit_receivers;
pub(crate) mod index;
mod members;
pub(crate) mod memo;
pub(crate) mod modules;
mod names;
mod namespaces;
mod out_of_line;
mod overloads;
mod platforms;
mod resolutions;
mod scope_policy;
mod stubs;
mod types;
mod typing;
mod units;
mod values;
mod visibility;

pub(crate) use engine::{is_type, resolver};
pub(crate) use scope_policy::{LookupStep, Namespaces, OutOfLineMembers, OuterUnits, ScopePolicy, Unit};
