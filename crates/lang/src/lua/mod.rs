//! Lua.
//!
//! A module is a table: `local M = {}`, functions that are added to it (`function M.f()`, `function M:m()`, `M.f =
//! function`), and `return M` at the end. Functions in a table belong to it (`Symbol::owner`), so a value of the table,
//! or a value with it as its metatable, has them. `require` returns the value that the loaded file returns.

mod hooks;
mod modules;

use codecompass_model::{Literal, RefShape, SymbolKind, Visibility};

use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::rules::{LookupStep, ScopePolicy};
use crate::spec::Find::{self, First};
use crate::spec::{Action, LanguageSpec, Lower, Row, grammar, row};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "lua",
    facts_version: 1,
    extensions: &["lua"],
    file_names: &[],
    interpreters: &["lua", "luajit", "texlua"],
    has_visibility: false,
    depth: Depth::Types,
    measured: "forty proved calls of five repositories read by eye",
    conventions: Conventions {
        test_infixes: &["_spec.lua", "_test.lua"],
        manifests: &[".luarc.json"],
        ..Conventions::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &[], || tree_sitter_lua::LANGUAGE.into()),
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    infers: true,
    begin: |walk| {
        let module = modules::name(walk.draft.path);
        walk.draft.set_prefix(module);
    },
    ..LanguageSpec::PLAIN
};

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "lua",
    lookup_order: &[LookupStep::Enclosing, LookupStep::File, LookupStep::Library, LookupStep::Global],
    library: include_str!("library.stubs"),
    library_file: "library.lua",
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    prelude: "library",
    literals: &[(Literal::Text, "string")],
    identity_functions: &[("assert", 0)],
    resolve_module: modules::resolve_module,
    ..ScopePolicy::PLAIN
};

const FIELDS: &[&str] = &[
    "arguments",
    "body",
    "clause",
    "content",
    "field",
    "left",
    "method",
    "name",
    "parameters",
    "right",
    "table",
    "value",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const ROWS: &[Row] = &[
    row("function_declaration", &[Action::Hook(hooks::function)]),
    row(
        "function_definition",
        &[Action::Hook(hooks::unnamed_function), Action::Lower(Lower::Hook(hooks::function_value))],
    ),
    row("variable_declaration", &[Action::Hook(hooks::local)]),
    row("assignment_statement", &[Action::Hook(hooks::assignment)]),
    row("variable_list", &[Action::Fields]),
    row("expression_list", &[]),
    row("parameters", &[Action::Hook(hooks::parameters)]),
    row("field", &[Action::Hook(hooks::table_field)]),
    row("block", &[Action::Hook(hooks::block)]),
    row("repeat_statement", &[Action::Scope]),
    row("for_statement", &[Action::Scope]),
    row("for_generic_clause", &[Action::Hook(hooks::loop_names)]),
    row("for_numeric_clause", &[Action::Hook(hooks::loop_number)]),
    row("return_statement", &[Action::Hook(hooks::returns)]),
    row("goto_statement", &[Action::Label]),
    row("label_statement", &[Action::Label]),
    row("attribute", &[Action::Label]),
    row("function_call", &[Action::Hook(hooks::call), Action::Lower(Lower::Hook(hooks::call_value))]),
    row("arguments", &[]),
    row("dot_index_expression", &[Action::Lower(Lower::Member(field("table"), field("field")))]),
    row("method_index_expression", &[Action::Lower(Lower::Member(field("table"), field("method")))]),
    row("bracket_index_expression", &[Action::Lower(Lower::Index(field("table"), field("field")))]),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("binary_expression", &[Action::Lower(Lower::Hook(hooks::binary))]),
    row("unary_expression", &[]),
    row("table_constructor", &[Action::Lower(Lower::Hook(hooks::table))]),
    row("string", &[Action::Fields, Action::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("number", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("true", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("nil", &[Action::Lower(Lower::Literal(Literal::Null))]),
    row("vararg_expression", &[]),
    row("identifier", &[Action::Leaf(RefShape::Value), Action::Lower(Lower::Hook(hooks::name))]),
    row("comment", &[Action::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "chunk",
    "break_statement",
    "comment_content",
    "do_statement",
    "else_statement",
    "elseif_statement",
    "empty_statement",
    "escape_sequence",
    "hash_bang_line",
    "if_statement",
    "implicit_variable_declaration",
    "while_statement",
];
