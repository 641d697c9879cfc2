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

use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::rules::{LookupStep, OutOfLineMembers, ScopePolicy, Unit};
use crate::spec::Find::{self, First};
use crate::spec::{Action, LanguageSpec, Lower, Row, grammar, row};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "ruby",
    facts_version: 2,
    extensions: &["rb", "rake", "gemspec", "ru"],
    file_names: &["Rakefile", "Gemfile"],
    interpreters: &["ruby"],
    has_visibility: true,
    depth: Depth::Scopes,
    measured: "39 of 42 proved calls of three repositories that were read by eye are right",
    conventions: Conventions {
        test_folders: &["step_definitions"],
        test_prefixes: &["test_"],
        test_infixes: &["_spec.rb", "_test.rb"],
        constructors: &["initialize"],
        manifests: &["Gemfile", "Rakefile"],
        ..Conventions::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["__method__", "__dir__"], || tree_sitter_ruby::LANGUAGE.into()),
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    separator: "::",
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    infers: true,
    ..LanguageSpec::PLAIN
};

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "ruby",
    separator: "::",
    lookup_order: &[LookupStep::Enclosing, LookupStep::File, LookupStep::Unit, LookupStep::Library],
    unit: Unit::Program,
    implicit_this: true,
    out_of_line: OutOfLineMembers::ByName,
    separates_static_members: true,
    factory: Some(("new", "initialize")),
    literals: &[(Literal::Text, "String"), (Literal::Int, "Integer"), (Literal::Float, "Float")],
    library: include_str!("library.stubs"),
    library_file: "library.rb",
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    resolve_module: requires::resolve_require,
    ..ScopePolicy::PLAIN
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
    row("class", &[Action::Hook(hooks::class)]),
    row("module", &[Action::Hook(hooks::class)]),
    row("singleton_class", &[Action::Hook(hooks::singleton_class)]),
    row("superclass", &[Action::Hook(hooks::superclass)]),
    row("method", &[Action::Hook(hooks::method)]),
    row("singleton_method", &[Action::Hook(hooks::method)]),
    row("setter", &[Action::Fields]),
    row("operator", &[]),
    row("alias", &[Action::Hook(hooks::alias)]),
    row("undef", &[Action::Label]),
    row("body_statement", &[]),
    // Parameters and local bindings.
    row("method_parameters", &[Action::Hook(locals::parameters)]),
    row("block_parameters", &[Action::Hook(locals::parameters)]),
    row("lambda_parameters", &[Action::Hook(locals::parameters)]),
    row("destructured_parameter", &[Action::Hook(locals::parameters)]),
    row("optional_parameter", &[Action::Hook(locals::parameter)]),
    row("keyword_parameter", &[Action::Hook(locals::parameter)]),
    row("splat_parameter", &[Action::Hook(locals::parameter)]),
    row("hash_splat_parameter", &[Action::Hook(locals::parameter)]),
    row("block_parameter", &[Action::Hook(locals::parameter)]),
    row("assignment", &[Action::Hook(locals::assignment), Action::Lower(Lower::Same(field("right")))]),
    row("operator_assignment", &[Action::Hook(locals::assignment), Action::Lower(Lower::Same(field("left")))]),
    row("left_assignment_list", &[Action::Hook(locals::targets)]),
    row("destructured_left_assignment", &[Action::Hook(locals::targets)]),
    row("rest_assignment", &[Action::Hook(locals::targets)]),
    row("for", &[Action::Hook(locals::loop_name)]),
    row("exception_variable", &[Action::Hook(locals::targets)]),
    row("exceptions", &[]),
    row("rescue", &[Action::Hook(locals::rescue)]),
    row("in_clause", &[Action::Hook(locals::bind_pattern)]),
    row("match_pattern", &[Action::Hook(locals::bind_pattern)]),
    row("test_pattern", &[Action::Hook(locals::bind_pattern)]),
    row("variable_reference_pattern", &[]),
    row("block", &[Action::Hook(locals::block)]),
    row("do_block", &[Action::Hook(locals::block)]),
    row("block_body", &[]),
    row("lambda", &[Action::Scope]),
    row("return", &[Action::Hook(hooks::returns)]),
    // Expressions.
    row("call", &[Action::Hook(calls::call), Action::Lower(Lower::Hook(calls::call_value))]),
    row("argument_list", &[]),
    row("block_argument", &[]),
    row("pair", &[Action::Fields]),
    row("element_reference", &[Action::Fields]),
    row("scope_resolution", &[Action::Hook(calls::scope), Action::Lower(Lower::Hook(calls::scope_value))]),
    row("parenthesized_statements", &[Action::Lower(Lower::Same(Find::Last))]),
    row("conditional", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("if", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("unless", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("then", &[Action::Lower(Lower::Same(Find::Last))]),
    row("else", &[Action::Lower(Lower::Same(Find::Last))]),
    row("begin", &[Action::Lower(Lower::Same(Find::Last))]),
    row("binary", &[Action::Lower(Lower::Hook(calls::binary))]),
    row("string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("simple_symbol", &[Action::Lower(Lower::Hook(calls::symbol))]),
    row("array", &[Action::Lower(Lower::Hook(calls::array))]),
    row("hash", &[Action::Lower(Lower::Hook(calls::array))]),
    row("integer", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Action::Lower(Lower::Literal(Literal::Float))]),
    row("true", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("nil", &[Action::Lower(Lower::Literal(Literal::Null))]),
    row("self", &[Action::Lower(Lower::This)]),
    row("super", &[Action::Hook(calls::super_call), Action::Lower(Lower::Super)]),
    // Names.
    row(
        "identifier",
        &[Action::Hook(calls::name), Action::Leaf(RefShape::Value), Action::Lower(Lower::Hook(calls::name_value))],
    ),
    row("constant", &[Action::Leaf(RefShape::Value)]),
    row("instance_variable", &[Action::Leaf(RefShape::Value)]),
    row("class_variable", &[Action::Leaf(RefShape::Value)]),
    row("comment", &[Action::Comment]),
    row("program", &[Action::Lower(Lower::Same(First))]),
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
