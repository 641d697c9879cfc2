//! Rules that languages share: where a file's facts are looked up, what is remembered, and, for the languages that are tables,
//! whom their references mean.
//!
//! The engine is demand-driven: a reference leads to a name or to the type of what stands before it, that to members, those
//! to types of other files, and no further than it has to. A language gives it a [`Scoping`]: an order of looks and a few
//! policies. What nobody can tell stays unknown; a receiver that is known to be from outside makes its members external.
//!
//! `engine` takes the question and `meanings` answers it: by `names` for what stands alone, by `values` (`calls`, `typing`,
//! `applied`, `implied`) and `members` (`parts`, `sight`) for what stands behind something, by `overloads` and `makers` where
//! several could be meant. `units` (`namespaces`, `modules`) know what else a file sees, `stubs` the library.

mod applied;
mod calls;
mod engine;
mod implementing;
mod implied;
pub(crate) mod index;
mod makers;
mod meanings;
mod members;
pub(crate) mod memo;
pub(crate) mod modules;
mod names;
mod namespaces;
mod overloads;
mod parts;
mod scoping;
mod sight;
mod stubs;
mod types;
mod typing;
mod units;
mod values;

pub(crate) use engine::{is_type, resolver};
pub(crate) use scoping::{Apart, Look, Outer, Parts, Scoping, Unit};
