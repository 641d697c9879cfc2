//! Ruby.
//!
//! Classes and modules may be reopened anywhere: all declarations of one qualified name are one type. Constants are
//! looked up in the enclosing scopes, then in the whole program. A call without a receiver is a call of the object's
//! own method. `X.new` constructs a value of `X` and runs `initialize`. Definitions made by a call (`attr_reader`,
//! `define_method`, `alias_method`, `X = Struct.new`) are ordinary symbols.

mod calls;
mod hooks;
mod locals;
mod requires;

use codecompass_model::{Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First};
use crate::recipe::{Do, Lower, Recipe, Row, grammar, row};
use crate::rules::{Look, Parts, Scoping, Unit};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "ruby",
    facts_version: 1,
    extensions: &["rb", "rake", "gemspec", "ru"],
    file_names: &["Rakefile", "Gemfile"],
    interpreters: &["ruby"],
    has_visibility: true,
    depth: Depth::Scopes,
    measured: "39 of 42 proved calls of three repositories that were read by eye are right",
    customs: Customs {
        test_folders: &["step_definitions"],
        test_beginnings: &["test_"],
        test_marks: &["_spec.rb", "_test.rb"],
        constructors: &["initialize"],
        manifests: &["Gemfile", "Rakefile"],
        ..Customs::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["__method__", "__dir__"], || tree_sitter_ruby::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    separator: "::",
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    infers: true,
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "ruby",
    separator: "::",
    order: &[Look::Around, Look::File, Look::Unit, Look::Library],
    unit: Unit::Program,
    implicit_this: true,
    parts: Parts::ByName,
    sides: true,
    maker: Some(("new", "initialize")),
    literals: &[(Literal::Text, "String"), (Literal::Int, "Integer"), (Literal::Float, "Float")],
    library: include_str!("library.stubs"),
    library_file: "library.rb",
    module: requires::files,
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &[
    "alias",
    "alternative",
    "arguments",
    "block",
    "body",
    "clauses",
    "condition",
    "consequence",
    "key",
    "left",
    "locals",
    "method",
    "name",
    "object",
    "operator",
    "parameters",
    "pattern",
    "receiver",
    "right",
    "scope",
    "superclass",
    "value",
    "variable",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const ROWS: &[Row] = &[
    // Declarations.
    row("class", &[Do::Hook(hooks::class)]),
    row("module", &[Do::Hook(hooks::class)]),
    row("singleton_class", &[Do::Hook(hooks::singleton_class)]),
    row("superclass", &[Do::Hook(hooks::superclass)]),
    row("method", &[Do::Hook(hooks::method)]),
    row("singleton_method", &[Do::Hook(hooks::method)]),
    row("setter", &[Do::Fields]),
    row("operator", &[]),
    row("alias", &[Do::Hook(hooks::alias)]),
    row("undef", &[Do::Label]),
    row("body_statement", &[]),
    // Parameters and local bindings.
    row("method_parameters", &[Do::Hook(locals::parameters)]),
    row("block_parameters", &[Do::Hook(locals::parameters)]),
    row("lambda_parameters", &[Do::Hook(locals::parameters)]),
    row("destructured_parameter", &[Do::Hook(locals::parameters)]),
    row("optional_parameter", &[Do::Hook(locals::parameter)]),
    row("keyword_parameter", &[Do::Hook(locals::parameter)]),
    row("splat_parameter", &[Do::Hook(locals::parameter)]),
    row("hash_splat_parameter", &[Do::Hook(locals::parameter)]),
    row("block_parameter", &[Do::Hook(locals::parameter)]),
    row("assignment", &[Do::Hook(locals::assignment), Do::Lower(Lower::Same(field("right")))]),
    row("operator_assignment", &[Do::Hook(locals::assignment), Do::Lower(Lower::Same(field("left")))]),
    row("left_assignment_list", &[Do::Hook(locals::targets)]),
    row("destructured_left_assignment", &[Do::Hook(locals::targets)]),
    row("rest_assignment", &[Do::Hook(locals::targets)]),
    row("for", &[Do::Hook(locals::loop_name)]),
    row("exception_variable", &[Do::Hook(locals::targets)]),
    row("exceptions", &[]),
    row("rescue", &[Do::Hook(locals::rescue)]),
    row("in_clause", &[Do::Hook(locals::matched)]),
    row("match_pattern", &[Do::Hook(locals::matched)]),
    row("test_pattern", &[Do::Hook(locals::matched)]),
    row("variable_reference_pattern", &[]),
    row("block", &[Do::Hook(locals::block)]),
    row("do_block", &[Do::Hook(locals::block)]),
    row("block_body", &[]),
    row("lambda", &[Do::Scope]),
    row("return", &[Do::Hook(hooks::returns)]),
    // Expressions.
    row("call", &[Do::Hook(calls::call), Do::Lower(Lower::Hook(calls::call_value))]),
    row("argument_list", &[]),
    row("block_argument", &[]),
    row("pair", &[Do::Fields]),
    row("element_reference", &[Do::Fields]),
    row("scope_resolution", &[Do::Hook(calls::scope), Do::Lower(Lower::Hook(calls::scope_value))]),
    row("parenthesized_statements", &[Do::Lower(Lower::Same(Find::Last))]),
    row("conditional", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("if", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("unless", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("then", &[Do::Lower(Lower::Same(Find::Last))]),
    row("else", &[Do::Lower(Lower::Same(Find::Last))]),
    row("begin", &[Do::Lower(Lower::Same(Find::Last))]),
    row("binary", &[Do::Lower(Lower::Hook(calls::binary))]),
    row("string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("simple_symbol", &[Do::Lower(Lower::Hook(calls::symbol))]),
    row("array", &[Do::Lower(Lower::Hook(calls::array))]),
    row("hash", &[Do::Lower(Lower::Hook(calls::array))]),
    row("integer", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Do::Lower(Lower::Literal(Literal::Float))]),
    row("true", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("nil", &[Do::Lower(Lower::Literal(Literal::Null))]),
    row("self", &[Do::Lower(Lower::This)]),
    row("super", &[Do::Hook(calls::super_call), Do::Lower(Lower::Super)]),
    // Names.
    row("identifier", &[Do::Hook(calls::name), Do::Leaf(RefShape::Value), Do::Lower(Lower::Hook(calls::name_value))]),
    row("constant", &[Do::Leaf(RefShape::Value)]),
    row("instance_variable", &[Do::Leaf(RefShape::Value)]),
    row("class_variable", &[Do::Leaf(RefShape::Value)]),
    row("comment", &[Do::Comment]),
    row("program", &[Do::Lower(Lower::Same(First))]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "alternative_pattern",
    "array_pattern",
    "as_pattern",
    "bare_string",
    "bare_symbol",
    "begin_block",
    "break",
    "case",
    "case_match",
    "chained_string",
    "character",
    "complex",
    "delimited_symbol",
    "do",
    "elsif",
    "empty_statement",
    "encoding",
    "end_block",
    "ensure",
    "escape_sequence",
    "expression_reference_pattern",
    "file",
    "find_pattern",
    "forward_argument",
    "forward_parameter",
    "global_variable",
    "hash_key_symbol",
    "hash_pattern",
    "hash_splat_argument",
    "hash_splat_nil",
    "heredoc_beginning",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "if_guard",
    "if_modifier",
    "in",
    "interpolation",
    "keyword_pattern",
    "line",
    "next",
    "parenthesized_pattern",
    "pattern",
    "range",
    "rational",
    "redo",
    "regex",
    "rescue_modifier",
    "retry",
    "right_assignment_list",
    "splat_argument",
    "string_array",
    "subshell",
    "symbol_array",
    "unary",
    "uninterpreted",
    "unless_guard",
    "unless_modifier",
    "until",
    "until_modifier",
    "when",
    "while",
    "while_modifier",
    "yield",
];
