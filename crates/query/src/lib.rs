//! The read path: one file per question.
//!
//! A question is a plain value, the answer is a plain value, and between them stands one
//! [`Snapshot`](codecompass_store::Snapshot): no query knows about branches, only about the snapshot's members.
//!
//! What is absent: parsing, git, clocks, the environment, JSON. The same question on the same snapshot gives the same
//! answer, byte for byte.

mod context;
mod detail;
pub mod diff;
pub mod graph;
pub mod grep;
mod hit;
pub mod lines;
mod locate;
mod meant;
mod nearest;
mod outline;
mod score;
mod search;

pub use context::{Piece, above, context, lines_of, place_of};
pub use detail::{Detail, Mention, detail};
pub use hit::SymbolHit;
pub use locate::{Locate, Located, locate};
pub use meant::{Meant, Policy, Wanted, meant, symbol_at};
pub use nearest::nearest_names;
pub use outline::{Outline, outline};
pub use score::{Feature, Scores};
pub use search::{
    CLOSELY, Explained, Found, Intent, Mode, Place, Search, What, Why, explain, identifiers, known_names, search,
    telling_words,
};
