//! PHP.
//!
//! A qualified name starts with the namespace: `App\Web\Page\show`. Variables are scoped to the whole function. Each
//! assignment starts a new local binding, so the code after it sees the type of the assigned value. A trait that a
//! class uses is one of its bases. A doc comment may give the type of something without a declared type.

mod declarations;
mod docs;
mod hooks;

use codecompass_model::BindingKind::Local;
use codecompass_model::SymbolKind::{Class, Const, Enum, Interface, Property, Trait, Variant};
use codecompass_model::{Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First, Inside, Kind, Last, Up};
use crate::recipe::table::Define;
use crate::recipe::{Do, Lower, Means, Recipe, Row, bind, define, grammar, row};
use crate::rules::{Apart, Look, Outer, Scoping, Unit};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "php",
    facts_version: 1,
    extensions: &["php", "phtml"],
    file_names: &[],
    interpreters: &["php"],
    has_visibility: true,
    depth: Depth::Types,
    measured: "42 proved calls of three repositories read by eye",
    customs: Customs {
        test_marks: &["test.php", "testcase.php"],
        constructors: &["__construct"],
        manifests: &["composer.json"],
        folder_stems: &["index"],
        ..Customs::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["this", "self", "static", "parent", "class"], || tree_sitter_php::LANGUAGE_PHP
        .into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    separator: "\\",
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &[
        "visibility_modifier",
        "static_modifier",
        "abstract_modifier",
        "final_modifier",
        "readonly_modifier",
        "var_modifier",
    ],
    attributes: &["attribute_list"],
    words: &[
        ("public", Means::Seen(Visibility::Public)),
        ("protected", Means::Seen(Visibility::Protected)),
        ("private", Means::Seen(Visibility::Private)),
        ("static", Means::Flag(Flags::STATIC)),
        ("abstract", Means::Flag(Flags::ABSTRACT)),
    ],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    test_marks: &["Test"],
    calls_apart: true,
    infers: true,
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "php",
    separator: "\\",
    order: &[Look::Around, Look::File, Look::Import, Look::Unit],
    unit: Unit::Package,
    outer: Outer::Root,
    open_world: true,
    known_packages: true,
    constructor: Some("__construct"),
    apart: Apart::All,
    literals: &[(Literal::Text, "string"), (Literal::Int, "int"), (Literal::Float, "float"), (Literal::Bool, "bool")],
    widens: &["int", "float", "string", "bool", "array", "never", "false", "true"],
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &[
    "alias",
    "alternative",
    "arguments",
    "body",
    "condition",
    "default_value",
    "function",
    "left",
    "name",
    "object",
    "parameters",
    "prefix",
    "return_expression",
    "return_type",
    "right",
    "scope",
    "type",
    "value",
    "visibility",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

/// The name of a variable, without the `$`.
const VARIABLE: Find = Inside("variable_name", "name");

const ROWS: &[Row] = &[
    row("namespace_definition", &[Do::Hook(declarations::namespace)]),
    row("namespace_use_declaration", &[Do::Imports, Do::Hook(declarations::uses)]),
    row("namespace_use_clause", &[Do::Fields]),
    row("namespace_use_group", &[]),
    row("namespace_name", &[]),
    // Types.
    row("class_declaration", &[Do::Define(define(Class).body("body"))]),
    row("interface_declaration", &[Do::Define(define(Interface).body("body"))]),
    row("trait_declaration", &[Do::Define(define(Trait).body("body"))]),
    row("enum_declaration", &[Do::Define(define(Enum).body("body"))]),
    row("anonymous_class", &[Do::Hook(declarations::unnamed), Do::Lower(Lower::Hook(hooks::unnamed_class))]),
    row("base_clause", &[Do::Bases(RefShape::Extends)]),
    row("class_interface_clause", &[Do::Bases(RefShape::Implements)]),
    row("use_declaration", &[Do::Hook(declarations::traits)]),
    row("use_as_clause", &[Do::Label]),
    row("use_instead_of_clause", &[]),
    row("enum_case", &[Do::Define(define(Variant).value(field("value"))), Do::Hook(declarations::constant)]),
    row("attribute_list", &[]),
    row("attribute", &[]),
    row("visibility_modifier", &[]),
    row("static_modifier", &[]),
    row("abstract_modifier", &[]),
    row("final_modifier", &[]),
    row("readonly_modifier", &[]),
    row("var_modifier", &[]),
    // Members and functions.
    row("const_declaration", &[Do::Fields]),
    row("const_element", &[Do::Define(Define { name: First, ..define(Const).of_type(Up("type")).value(Last) })]),
    row("property_declaration", &[Do::Fields]),
    row(
        "property_element",
        &[
            Do::Define(Define { name: VARIABLE, ..define(Property).of_type(Up("type")).value(field("default_value")) }),
            Do::Hook(declarations::property_doc),
        ],
    ),
    row("property_hook", &[Do::Scope, Do::Label]),
    row("method_declaration", &[Do::Hook(declarations::function)]),
    row("function_definition", &[Do::Hook(declarations::function)]),
    row("formal_parameters", &[]),
    row("simple_parameter", &[Do::Hook(declarations::parameter), Do::Bind(declarations::PARAMETER)]),
    row("variadic_parameter", &[Do::Hook(declarations::parameter), Do::Bind(declarations::VARIADIC)]),
    row("property_promotion_parameter", &[Do::Hook(declarations::promoted), Do::Bind(declarations::PARAMETER)]),
    row("anonymous_function", &[Do::Lower(Lower::Closure(field("parameters"), field("body")))]),
    row("arrow_function", &[Do::Lower(Lower::Closure(field("parameters"), field("body")))]),
    // Statements and local bindings.
    row(
        "compound_statement",
        &[Do::In("anonymous_function", &Do::Scope), Do::In("if_statement", &Do::Hook(declarations::narrowed))],
    ),
    row("if_statement", &[Do::Fields]),
    row("assignment_expression", &[Do::Hook(declarations::assignment), Do::Lower(Lower::Same(field("right")))]),
    row(
        "reference_assignment_expression",
        &[Do::Hook(declarations::assignment), Do::Lower(Lower::Same(field("right")))],
    ),
    row(
        "augmented_assignment_expression",
        &[Do::Hook(declarations::augmented), Do::Lower(Lower::Either(&[field("left"), field("right")]))],
    ),
    row("foreach_statement", &[Do::Hook(declarations::foreach)]),
    row("pair", &[]),
    row("by_ref", &[Do::Lower(Lower::Same(First))]),
    row("list_literal", &[]),
    row("catch_clause", &[Do::Bind(bind(Local, VARIABLE).of_type(field("type")))]),
    row("type_list", &[Do::Lower(Lower::Hook(hooks::one_of))]),
    row("static_variable_declaration", &[Do::Bind(bind(Local, VARIABLE).value(field("value")))]),
    row("global_declaration", &[Do::Hook(declarations::global)]),
    row("return_statement", &[Do::Returns]),
    row("continue_statement", &[]),
    row("expression_statement", &[]),
    row("goto_statement", &[Do::Label]),
    row("named_label_statement", &[Do::Label]),
    row("include_expression", &[Do::Hook(declarations::include)]),
    row("include_once_expression", &[Do::Hook(declarations::include)]),
    row("require_expression", &[Do::Hook(declarations::include)]),
    row("require_once_expression", &[Do::Hook(declarations::include)]),
    // Expressions.
    row(
        "function_call_expression",
        &[Do::Hook(declarations::defined), Do::Lower(Lower::CallOf(field("function"), field("arguments")))],
    ),
    row(
        "member_call_expression",
        &[
            Do::Hook(hooks::own_call),
            Do::Lower(Lower::Call { of: field("object"), name: Kind("name"), args: field("arguments") }),
        ],
    ),
    row(
        "nullsafe_member_call_expression",
        &[Do::Lower(Lower::Call { of: field("object"), name: Kind("name"), args: field("arguments") })],
    ),
    row("scoped_call_expression", &[Do::Hook(hooks::scoped), Do::Lower(Lower::Hook(hooks::scoped_call))]),
    row("member_access_expression", &[Do::Lower(Lower::Member(field("object"), Kind("name")))]),
    row("nullsafe_member_access_expression", &[Do::Lower(Lower::Member(field("object"), Kind("name")))]),
    row("scoped_property_access_expression", &[Do::Hook(hooks::scoped), Do::Lower(Lower::Hook(hooks::scoped_member))]),
    row("class_constant_access_expression", &[Do::Hook(hooks::scoped), Do::Lower(Lower::Hook(hooks::scoped_member))]),
    row("arguments", &[]),
    row("argument", &[Do::Lower(Lower::Same(Last))]),
    row("object_creation_expression", &[Do::Lower(Lower::New(First, Kind("arguments")))]),
    row("subscript_expression", &[Do::Lower(Lower::Index(First, Last))]),
    row("clone_expression", &[Do::Lower(Lower::Same(First))]),
    row("error_suppression_expression", &[Do::Lower(Lower::Same(First))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Do::Lower(Lower::Either(&[field("body"), field("alternative")]))]),
    row("binary_expression", &[Do::Lower(Lower::Hook(hooks::binary))]),
    row("unary_op_expression", &[]),
    row("throw_expression", &[]),
    row("match_expression", &[Do::Lower(Lower::Hook(hooks::match_value))]),
    row("match_block", &[]),
    row("match_conditional_expression", &[Do::Lower(Lower::Same(field("return_expression")))]),
    row("match_default_expression", &[Do::Lower(Lower::Same(field("return_expression")))]),
    row("array_creation_expression", &[Do::Lower(Lower::Hook(hooks::array))]),
    row("cast_expression", &[Do::Lower(Lower::Hook(hooks::cast))]),
    row("string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("encapsed_string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("heredoc", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("nowdoc", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("integer", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Do::Lower(Lower::Literal(Literal::Float))]),
    row("boolean", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("null", &[Do::Lower(Lower::Literal(Literal::Null))]),
    // Names and types.
    row("name", &[Do::Hook(hooks::name), Do::Leaf(RefShape::Value), Do::Lower(Lower::Hook(hooks::name_value))]),
    row("variable_name", &[Do::Lower(Lower::Same(First))]),
    row("qualified_name", &[Do::Lower(Lower::Hook(hooks::qualified_value))]),
    row("relative_name", &[Do::Lower(Lower::Hook(hooks::qualified_value))]),
    row("relative_scope", &[Do::Lower(Lower::Hook(hooks::relative_scope))]),
    row("named_type", &[Do::Lower(Lower::Same(First))]),
    row("optional_type", &[Do::Lower(Lower::Same(First))]),
    row("union_type", &[Do::Lower(Lower::Hook(hooks::one_of))]),
    row("intersection_type", &[Do::Lower(Lower::Hook(hooks::one_of))]),
    row("disjunctive_normal_form_type", &[Do::Lower(Lower::Hook(hooks::one_of))]),
    row("primitive_type", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "sentinel_error",
    "program",
    "anonymous_function_use_clause",
    "argument_placeholder",
    "array_element_initializer",
    "attribute_group",
    "bottom_type",
    "break_statement",
    "case_statement",
    "cast_type",
    "colon_block",
    "declaration_list",
    "declare_directive",
    "declare_statement",
    "default_statement",
    "do_statement",
    "dynamic_variable_name",
    "echo_statement",
    "else_clause",
    "else_if_clause",
    "empty_statement",
    "enum_declaration_list",
    "escape_sequence",
    "exit_statement",
    "finally_clause",
    "for_statement",
    "function_static_declaration",
    "heredoc_body",
    "heredoc_end",
    "heredoc_start",
    "match_condition_list",
    "nowdoc_body",
    "nowdoc_string",
    "operation",
    "php_end_tag",
    "php_tag",
    "print_intrinsic",
    "property_hook_list",
    "reference_modifier",
    "sequence_expression",
    "shell_command_expression",
    "switch_block",
    "switch_statement",
    "text",
    "text_interpolation",
    "try_statement",
    "unset_statement",
    "update_expression",
    "use_list",
    "variadic_placeholder",
    "variadic_unpacking",
    "while_statement",
    "yield_expression",
];
