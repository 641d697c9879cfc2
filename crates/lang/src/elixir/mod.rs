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

use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::rules::{LookupStep, Namespaces, OutOfLineMembers, ScopePolicy, Unit};
use crate::spec::{Action, LanguageSpec, Lower, Row, grammar, row};
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
    conventions: Conventions { test_infixes: &["_test.exs"], manifests: &["mix.exs"], ..Conventions::NONE },
    grammar: grammar!(ROWS, FIELDS, WORDS, || tree_sitter_elixir::LANGUAGE.into()),
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    calls_skip_locals: true,
    overloads: true,
    ..LanguageSpec::PLAIN
};

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "elixir",
    lookup_order: &[LookupStep::Enclosing, LookupStep::Import, LookupStep::Glob, LookupStep::Library],
    unit: Unit::Package,
    namespaces: Namespaces::AllSeparate,
    implicit_this: true,
    out_of_line: OutOfLineMembers::ByName,
    closed_types: true,
    using_macros: &["__using__", "using"],
    arity_distinguishes: true,
    library: include_str!("library.stubs"),
    library_file: "library.ex",
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    prelude: "Kernel",
    ..ScopePolicy::PLAIN
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
    row("call", &[Action::Hook(calls::call), Action::Lower(Lower::Hook(calls::value))]),
    row("unary_operator", &[Action::Hook(calls::unary)]),
    row("binary_operator", &[Action::Hook(calls::binary), Action::Lower(Lower::Hook(calls::value))]),
    row("dot", &[Action::Fields, Action::Lower(Lower::Hook(modules::value))]),
    row(
        "identifier",
        &[Action::Hook(calls::name), Action::Lower(Lower::Hook(modules::value)), Action::Leaf(RefShape::Value)],
    ),
    row("alias", &[Action::Hook(modules::name), Action::Lower(Lower::Hook(modules::value))]),
    row("atom", &[Action::Lower(Lower::Hook(modules::value))]),
    row("keyword", &[Action::Hook(modules::key)]),
    row("map", &[Action::Lower(Lower::Hook(modules::struct_literal))]),
    row("struct", &[]),
    row("map_content", &[]),
    row("arguments", &[]),
    row("keywords", &[]),
    row("pair", &[Action::Fields]),
    row("list", &[]),
    row("tuple", &[]),
    row("bitstring", &[]),
    row("block", &[]),
    row("stab_clause", &[Action::Hook(patterns::clause)]),
    row("do_block", &[Action::Scope]),
    row("else_block", &[Action::Scope]),
    row("rescue_block", &[Action::Scope]),
    row("catch_block", &[Action::Scope]),
    row("after_block", &[Action::Scope]),
    row("anonymous_function", &[Action::Scope]),
    row("access_call", &[]),
    row("sigil", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("quoted_content", &[]),
    row("interpolation", &[]),
    row("integer", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Action::Lower(Lower::Literal(Literal::Float))]),
    row("boolean", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("nil", &[Action::Lower(Lower::Literal(Literal::Null))]),
    // These have no names, but they count as arguments.
    row("char", &[]),
    row("charlist", &[]),
    row("quoted_atom", &[]),
    row("operator_identifier", &[]),
    row("comment", &[Action::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &["source", "body", "escape_sequence", "quoted_keyword", "sigil_modifiers", "sigil_name"];
