//! The vocabulary of CodeCompass: the types that the other crates exchange.
//!
//! The crate is a leaf. It has no input or output, no SQL, no JSON, no ranking and no clock, and all of its functions
//! are pure. It derives serde's traits because `store` encodes facts, and a second definition of every type would be
//! the alternative; no format is defined here.
//!
//! # Facts
//!
//! [`FileFacts`] is the narrow interface between extraction and everything after it. It depends on a path and bytes and
//! on nothing else, so it is computed once per file version and never becomes stale. It holds:
//!
//! - the names of the file, interned; references and expressions use indices into them;
//! - symbols in source order, parents before children, and references in source order;
//! - imports, local bindings, the text outside symbols in chunks, and problems;
//! - for languages with overloads, the arguments of calls ([`FileFacts::calls`]);
//! - the references that resolve to a symbol of an enclosing block ([`FileFacts::block_targets`]);
//! - for a file that is loaded for its value, that value ([`FileFacts::value`]).
//!
//! The target of a reference is not a fact. The store keeps what is written (a call of `get` on `self.client`, inside
//! `Loader::run`), and a [`Resolver`] finds the target at query time, against one view. A resolution therefore cannot
//! become stale or leak between branches.
//!
//! # Expressions
//!
//! [`Expr`] is the structure of an expression or a type without its syntax. Equal expressions share one entry per file,
//! and operands come first. Receivers, declared types, values, bases and owners are such expressions. A name in one
//! records the local name or block symbol it refers to ([`LexicalTarget`]), so the value of an expression depends on
//! its file alone and is computed once per view. A macro and its calls are expressions, too ([`MacroRule`],
//! [`MacroCall`]), so that rules can expand a call in another file. Languages without lowering provide text ([`Expr::Text`]) that their
//! rules parse.
//!
//! [`Symbol::signature`] is for people. Rules read `flags`, `bases`, `owner` and, where they still parse text,
//! `header`.
//!
//! # Ids
//!
//! [`ids`] defines `symbol_id` (path, kind, qualified name, impl trait, ordinal) and `symbol_stable_id` (the language
//! in place of the path). Both are pure functions and equal in every clone. [`SymbolKind`] and [`SkipReason`] are
//! stored by number: append, never insert.
//!
//! # Languages
//!
//! [`Languages`] answers questions about languages, and [`Resolver`] resolves names in one. `lang` implements both
//! (`lang::REGISTRY`) and callers receive the implementation as a value, so `query` names no language. No language
//! name, constructor, manifest or test convention occurs outside `lang`; the tidy test enforces this.
//!
//! [`Languages::is_test`] is the only definition of test code. Either the path says so (folders such as `tests` and
//! `__tests__`, names such as `test_x.py`, `x_test.go`, `x.spec.ts`, `tests.rs`), or extraction has marked the
//! enclosing symbol ([`Symbol::in_test`], which children inherit): a test block, `#[test]` and equivalents of any
//! crate, `#[cfg(test)]`. The path conventions of all languages apply to every path, because people use them across
//! languages. A Python function is a test by its file alone.

mod blob;
mod expr;
mod expr_id;
mod facts;
mod file_exprs;
mod heap_size;
pub mod ids;
mod kind;
mod languages;
mod macros;
mod owner;
mod resolve;
mod span;
mod view;
mod visibility;

pub use blob::BlobId;
pub use expr::{Expr, FuncExpr, LexicalTarget, Literal, ValuePart, Wrap};
pub use expr_id::ExprId;
pub use facts::{
    Binding, BindingKind, Chunk, FileFacts, Flags, Import, ImportForm, Problem, ProblemKind, RefShape, Reference,
    Symbol,
};
pub use kind::SymbolKind;
pub use languages::Languages;
pub use macros::{Fragment, MacroCall, MacroPart, MacroRule, MacroToken, MacroTree};
pub use owner::{LineOwners, first_line, has_landmarks};
pub use resolve::{CallSyntax, Confidence, Resolution, Resolver, ReturnedCall, SourceFile, SymbolAt, World};
pub use span::{Lines, Span};
pub use view::{SkipReason, VersionId, ViewKey};
pub use visibility::Visibility;
