//! Elixir.
//!
//! Everything is a call: `defmodule`, `def` and `alias` are no more syntax than `if` is. So there are few rows, and
//! hooks distinguish calls by their first word. A module is identified by its full name, which aliases shorten. Aliases
//! are block-scoped, so the walk expands a short name where it finds it, and the facts store the full name
//! (`Expr::Module`). Functions with the same name and different arities are different functions; several clauses are
//! one function.

mod attributes;
mod calls;
mod definitions;
mod imports;
mod modules;
mod patterns;

use codecompass_model::{Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::{Do, Lower, Recipe, Row, grammar, row};
use crate::rules::{Apart, Look, Parts, Scoping, Unit};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "elixir",
    facts_version: 1,
    extensions: &["ex", "exs"],
    file_names: &[],
    interpreters: &["elixir"],
    has_visibility: true,
    depth: Depth::Scopes,
    measured: "forty proved calls read by eye",
    customs: Customs { test_marks: &["_test.exs"], manifests: &["mix.exs"], ..Customs::NONE },
    grammar: grammar!(ROWS, FIELDS, WORDS, || tree_sitter_elixir::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    calls_apart: true,
    overloads: true,
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "elixir",
    order: &[Look::Around, Look::Import, Look::Glob, Look::Library],
    unit: Unit::Package,
    apart: Apart::All,
    implicit_this: true,
    parts: Parts::ByName,
    closed_types: true,
    using: &["__using__", "using"],
    by_arity: true,
    library: include_str!("library.stubs"),
    library_file: "library.ex",
    open_library: "Kernel",
    ..Scoping::PLAIN
};

/// Words that look like names but belong to the language.
const WORDS: &[&str] = &[
    "_",
    "...",
    "__MODULE__",
    "__ENV__",
    "__CALLER__",
    "__DIR__",
    "__STACKTRACE__",
    "alias",
    "import",
    "require",
    "use",
    "def",
    "defp",
    "defmacro",
    "defmacrop",
    "defguard",
    "defguardp",
    "defdelegate",
    "defmodule",
    "defprotocol",
    "defimpl",
    "defstruct",
    "defexception",
    "unquote",
    "unquote_splicing",
];

const FIELDS: &[&str] = &["key", "left", "operand", "right", "target", "value"];

const ROWS: &[Row] = &[
    row("call", &[Do::Hook(calls::call), Do::Lower(Lower::Hook(calls::value))]),
    row("unary_operator", &[Do::Hook(calls::unary)]),
    row("binary_operator", &[Do::Hook(calls::binary), Do::Lower(Lower::Hook(calls::value))]),
    row("dot", &[Do::Fields, Do::Lower(Lower::Hook(modules::value))]),
    row("identifier", &[Do::Hook(calls::name), Do::Lower(Lower::Hook(modules::value)), Do::Leaf(RefShape::Value)]),
    row("alias", &[Do::Hook(modules::name), Do::Lower(Lower::Hook(modules::value))]),
    row("atom", &[Do::Lower(Lower::Hook(modules::value))]),
    row("keyword", &[Do::Hook(modules::key)]),
    row("map", &[Do::Lower(Lower::Hook(modules::made))]),
    row("struct", &[]),
    row("map_content", &[]),
    row("arguments", &[]),
    row("keywords", &[]),
    row("pair", &[Do::Fields]),
    row("list", &[]),
    row("tuple", &[]),
    row("bitstring", &[]),
    row("block", &[]),
    row("stab_clause", &[Do::Hook(patterns::clause)]),
    row("do_block", &[Do::Scope]),
    row("else_block", &[Do::Scope]),
    row("rescue_block", &[Do::Scope]),
    row("catch_block", &[Do::Scope]),
    row("after_block", &[Do::Scope]),
    row("anonymous_function", &[Do::Scope]),
    row("access_call", &[]),
    row("sigil", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("quoted_content", &[]),
    row("interpolation", &[]),
    row("integer", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Do::Lower(Lower::Literal(Literal::Float))]),
    row("boolean", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("nil", &[Do::Lower(Lower::Literal(Literal::Null))]),
    // These have no names, but they count as arguments.
    row("char", &[]),
    row("charlist", &[]),
    row("quoted_atom", &[]),
    row("operator_identifier", &[]),
    row("comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &["source", "body", "escape_sequence", "quoted_keyword", "sigil_modifiers", "sigil_name"];
