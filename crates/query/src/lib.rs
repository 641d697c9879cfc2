//! The read path: one module per kind of query.
//!
//! A request is a plain value, the answer is a plain value, and both refer to one
//! [`Snapshot`](codecompass_store::Snapshot). A query knows nothing about branches, only about the members of the
//! snapshot. This crate contains no parsing, git, clocks, environment access or JSON. The same request on the same
//! snapshot gives the same answer, byte for byte.
//!
//! # Scoring
//!
//! `score.rs` is the only scoring model: a table of named features from 0 to 1, each with a weight. [`locate()`],
//! [`search()`], [`explain`] and `ranking_reasons` are views of it. Contributions are whole millionths, so the parts of
//! an explanation add up exactly. A new signal is one line in the table and one value in `search/features.rs`.
//!
//! # Search
//!
//! [`search()`] runs in five steps:
//!
//! - `search/parsed_query.rs` and `search/terms.rs` turn the query into terms: identifiers whole and in parts, and for
//!   prose also inflections, which are looked up by common prefix. `search/report.rs` selects the salient words of a
//!   pasted report, `search/trace.rs` reads the frames of a stack trace, and `search/frames.rs` finds them in the view.
//! - `search/candidates.rs` looks the terms up in the text fields of symbols, in chunks of text and in paths. The store
//!   computes BM25 over weighted fields, term at a time, with the view's own statistics, so scores are equal to the bit
//!   whatever else is stored. Records with only the most common words of the query are dropped before ranking.
//! - `search/exact.rs` adds lines that contain a message, a key or code literally ([`grep`]), or the fixed parts of a
//!   formatted message (`search/messages.rs`).
//! - `search/best_first.rs` selects the hits, and `search/features.rs` scores them.
//! - `search/embedding.rs` re-ranks the best hits of a natural-language query.
//!
//! **The symbol is the unit.** Its name, docs and own lines count for it and for no other symbol, and a container is
//! scored by its own lines, not by its members. The file is evidence: its whole text as one document, its path, and how
//! many query words occur in it and in how many records are features of each symbol in it. A hit (`search/hit.rs`) is a
//! symbol, a snippet or a file.
//!
//! Related words match at a lower weight: inflections and abbreviations (`ctx`) at a half, synonyms at a quarter
//! (`search/synonyms.rs`; the lists are general English of programming and contain nothing from any repository).
//!
//! A query that is one quoted text (`search/quoted.rs`) is first searched literally; a query of the form `path:line`
//! returns the symbol or chunk at that line. `search/explain.rs` replays the ranking for one location and reports what
//! kept it out if it is not in the list.
//!
//! # Best-first selection
//!
//! Reading outlines is the main cost. The text index therefore stores a symbol payload (`SymbolPayload` in `store`)
//! with the terms of each symbol: its kind, length, the number of words in its name, a hash of the name, and flags.
//! That is most of the input of scoring. The kernel pops files, candidates and hits from one heap by the highest total
//! each can still have (`features::upper_bound_of_…`) and reads no more than the list needs. The proof is in the
//! comments of `search/best_first.rs`, next to a brute-force oracle.
//!
//! A further hit of a file loses score by how much it repeats the query words of the hits already taken. A longer list
//! starts with the shorter one, so pages fit together. Ties are broken by path, never by version id.
//!
//! # Embedding re-ranking
//!
//! The best eighty hits by all other features are scored by the model of `crates/embedding` and selected again by the
//! same kernel. The model gives two features: `meaning` compares the query and the symbol as wholes, `word_match` looks
//! for a counterpart of every query word. Embeddings are computed on demand from stored text and are not stored.
//! `training/` produces the model, `training/ranking` the weights of the features (the table in `score.rs`); neither is part of any
//! build.
//!
//! With an encoder of the user's ([`encoder`]), its similarity is one more feature of the same hits.
//!
//! # Name resolution policies
//!
//! [`locate()`] finds definitions by name. [`resolve_name()`] selects one of several symbols with the name, according
//! to the tool's [`AmbiguityPolicy`]: the first that `locate` finds (`read_code`, `get_code_context`, follow-ups); the
//! first if all are in one file, else `ambiguous_symbol` (`get_symbol_hierarchy`, `find_related_symbols`); or the most
//! used one, with the others listed (`find_references`, `get_call_graph`, `compare_symbol_between_commits`).
//! [`symbol_at`] returns the symbol at `path:line`. [`nearest_names`] suggests similar names.
//!
//! # Graph, caches and budget
//!
//! [`graph`] resolves references on demand through the language's `Resolver`, which sees the snapshot as a `World`.
//! Extraction records a reference for every name in code, so `graph/classify.rs` can assign each occurrence of a name
//! to one class: definition, confirmed, elsewhere, outside, unresolved. External and local need a witness; otherwise a
//! reference is unknown, and an unknown reference is never bound to a homonym. `graph/references.rs` scans every
//! occurrence of a name and of its import aliases. References, callers and the ranking by use are all derived from that
//! scan; unresolved references are listed last. `graph/dispatch.rs` finds calls through an interface or an
//! implementation, `graph/implementers.rs` what implements a type, and `graph/unused.rs` what nothing refers to.
//!
//! `ResolveCache` holds the files, resolvers and resolutions of one snapshot and outlives the graphs that fill it.
//! `ReferenceCache` holds the name scans and outlives the snapshot too, so a query that its budget cut off continues
//! when it is repeated. A `Budget` is the only access to time. It records a refused step, and `Graph::finish`, which
//! every answer calls last, reports it together with store errors.
//!
//! # Related symbols and context
//!
//! `graph/related.rs` lists related symbols in tiers: used by the symbol, using it, of its type, imported, near, in the
//! folder, in the package. `Graph::out_of_line_members` returns the members of a type outside its declaration, and
//! `Graph::owner_of_member` is the inverse; both are rules of the language. [`context()`] turns search hits into
//! symbols, each once. `get_code_context` takes them in that order, complete or as signatures, until its token budget
//! is spent.
//!
//! # Completion
//!
//! [`complete()`] continues a prefix or the beginnings of the words of a name. It compares all names of the view that have
//! the same first character, and reads only what it returns.
//!
//! # Diff
//!
//! [`diff`] compares two states of some files by their outlines and reads only files that differ. It knows nothing
//! about refs: the caller finds the two states and the renamed files. `diff/pairing.rs` matches a symbol in its file by
//! kind, qualified name and trait; then in its renamed file by the name inside it; then in other files by the full
//! name, or by name and text; then inside symbols that are matched already. Equal symbols are paired by the same text
//! first, then by order. A pair is changed if its `content_hash` differs, unless it was only regrouped
//! (`diff/drop_unchanged.rs`, which also pairs a deleted build variant with a surviving one). Doc-only changes and
//! moves are counted separately, and imports are not symbols here. `diff/facets.rs` reports which parts changed, and
//! `diff/severity.rs` how much that concerns users. Code comes before tests, then by path and line. [`line_diff`] is
//! the line diff of `compare_symbol_between_commits`.
//!
//! # Impact, follow-ups, token budgets
//!
//! [`impact`] finds the callers of changed symbols, sorts them by likelihood and compares the outgoing calls of two
//! versions of a symbol. [`followups`] chooses the next queries that an answer suggests, as typed values; `tools` words
//! them for commands or calls. [`tokens`] estimates the tokens of a text and shares a budget out.
//!
//! # Grep
//!
//! [`grep`] finds exact text. `grep/prefilter.rs` derives the words that every match must contain, and the store looks
//! them up: a word that is bounded on both sides as a term, a word that is open to the right as a prefix, any other in
//! a flat copy of each segment's dictionary. All words of one line must be in one document. Only the remaining files,
//! and files whose flags say that words do not decide, are read and matched.

mod complete;
mod context;
mod detail;
pub mod diff;
pub mod encoder;
pub mod followups;
pub mod graph;
pub mod grep;
pub mod impact;
pub mod line_diff;
mod locate;
mod nearest;
mod outline;
mod overloads;
mod resolve_name;
mod score;
mod search;
mod symbol_hit;
pub mod tokens;

pub use complete::{Completion, complete};
pub use context::{ContextItem, context, leading_lines, parse_location, select_lines};
pub use detail::{Detail, SymbolSummary, detail};
pub use locate::{LocateRequest, LocateResults, locate};
pub use nearest::nearest_names;
pub use outline::{Outline, outline};
pub use resolve_name::{AmbiguityPolicy, NameMatch, NameQuery, resolve_name, symbol_at};
pub use score::{Feature, Scores};
pub use search::{
    Explanation, HitKind, Intent, MAX_RESULTS, MissReason, QueryMode, SearchHit, SearchRequest, SearchResults,
    candidate_identifiers, defined_names, explain, salient_words, search,
};
pub use symbol_hit::SymbolHit;
