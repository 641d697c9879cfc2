//! The vocabulary of CodeCompass.
//!
//! Everything the other crates say to each other is said in these types: what a file states about itself
//! ([`FileFacts`]), how a symbol is named for ever ([`ids`]), which bytes are meant ([`BlobId`], [`VersionId`]), and
//! which set of file versions an answer is about ([`ViewKey`]), whom a reference means in it ([`Resolver`], [`World`]), and
//! what is known of languages ([`Languages`]).
//!
//! What is absent: input and output of any kind, SQL, JSON, ranking, clocks. All functions here are pure.

mod blob;
mod expr;
mod facts;
pub mod ids;
mod kind;
mod languages;
mod owner;
mod resolve;
mod view;
mod visibility;

pub use blob::BlobId;
pub use expr::{Expr, ExprId, FuncExpr, Literal, Seen, Wrap};
pub use facts::{
    Binding, BindingKind, Chunk, FileFacts, Flags, Import, ImportForm, Lines, Part, Problem, ProblemKind, RefShape,
    Reference, Span, Symbol,
};
pub use kind::SymbolKind;
pub use languages::Languages;
pub use owner::{Owners, first_line, has_landmarks};
pub use resolve::{Confidence, Meaning, Reached, Resolver, SourceFile, SymbolAt, World};
pub use view::{SkipReason, VersionId, ViewKey};
pub use visibility::Visibility;
