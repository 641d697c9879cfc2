//! Lua.
//!
//! A module is a table: `local M = {}`, functions that are added to it (`function M.f()`, `function M:m()`, `M.f =
//! function`), and `return M` at the end. Functions in a table belong to it (`Symbol::owner`), so a value of the table,
//! or a value with it as its metatable, has them. `require` returns the value that the loaded file returns.

mod hooks;
mod modules;

use codecompass_model::{Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First};
use crate::recipe::{Do, Lower, Recipe, Row, grammar, row};
use crate::rules::{Look, Scoping};
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
    customs: Customs { test_marks: &["_spec.lua", "_test.lua"], manifests: &[".luarc.json"], ..Customs::NONE },
    grammar: grammar!(ROWS, FIELDS, &[], || tree_sitter_lua::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
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
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "lua",
    order: &[Look::Around, Look::File, Look::Library, Look::Global],
    library: include_str!("library.stubs"),
    library_file: "library.lua",
    open_library: "library",
    literals: &[(Literal::Text, "string")],
    passes: &[("assert", 0)],
    module: modules::files,
    ..Scoping::PLAIN
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
    row("function_declaration", &[Do::Hook(hooks::function)]),
    row("function_definition", &[Do::Hook(hooks::unnamed_function), Do::Lower(Lower::Hook(hooks::function_value))]),
    row("variable_declaration", &[Do::Hook(hooks::local)]),
    row("assignment_statement", &[Do::Hook(hooks::assignment)]),
    row("variable_list", &[Do::Fields]),
    row("expression_list", &[]),
    row("parameters", &[Do::Hook(hooks::parameters)]),
    row("field", &[Do::Hook(hooks::table_field)]),
    row("block", &[Do::Hook(hooks::block)]),
    row("repeat_statement", &[Do::Scope]),
    row("for_statement", &[Do::Scope]),
    row("for_generic_clause", &[Do::Hook(hooks::loop_names)]),
    row("for_numeric_clause", &[Do::Hook(hooks::loop_number)]),
    row("return_statement", &[Do::Hook(hooks::returns)]),
    row("goto_statement", &[Do::Label]),
    row("label_statement", &[Do::Label]),
    row("attribute", &[Do::Label]),
    row("function_call", &[Do::Hook(hooks::call), Do::Lower(Lower::Hook(hooks::call_value))]),
    row("arguments", &[]),
    row("dot_index_expression", &[Do::Lower(Lower::Member(field("table"), field("field")))]),
    row("method_index_expression", &[Do::Lower(Lower::Member(field("table"), field("method")))]),
    row("bracket_index_expression", &[Do::Lower(Lower::Index(field("table"), field("field")))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("binary_expression", &[Do::Lower(Lower::Hook(hooks::binary))]),
    row("unary_expression", &[]),
    row("table_constructor", &[Do::Lower(Lower::Hook(hooks::table))]),
    row("string", &[Do::Fields, Do::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("number", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("true", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("nil", &[Do::Lower(Lower::Literal(Literal::Null))]),
    row("vararg_expression", &[]),
    row("identifier", &[Do::Leaf(RefShape::Value), Do::Lower(Lower::Hook(hooks::name))]),
    row("comment", &[Do::Comment]),
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
