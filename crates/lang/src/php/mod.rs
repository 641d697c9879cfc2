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
use codecompass_model::{CallSyntax, Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::conventions::Conventions;
use crate::rules::{LookupStep, Namespaces, OuterUnits, ScopePolicy, Unit};
use crate::spec::Find::{self, First, Grandchild, Kind, Last, ParentField};
use crate::spec::table::Define;
use crate::spec::{Action, LanguageSpec, Lower, ModifierMeaning, Row, bind, define, grammar, row};
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
    conventions: Conventions {
        test_infixes: &["test.php", "testcase.php"],
        constructors: &["__construct"],
        manifests: &["composer.json"],
        folder_stems: &["index"],
        ..Conventions::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["this", "self", "static", "parent", "class"], || tree_sitter_php::LANGUAGE_PHP
        .into()),
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
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
    modifier_words: &[
        ("public", ModifierMeaning::Visibility(Visibility::Public)),
        ("protected", ModifierMeaning::Visibility(Visibility::Protected)),
        ("private", ModifierMeaning::Visibility(Visibility::Private)),
        ("static", ModifierMeaning::Flag(Flags::STATIC)),
        ("abstract", ModifierMeaning::Flag(Flags::ABSTRACT)),
    ],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    test_marks: &["Test"],
    calls_skip_locals: true,
    infers: true,
    ..LanguageSpec::PLAIN
};

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "php",
    call_syntax: CallSyntax::STRICT,
    separator: "\\",
    lookup_order: &[LookupStep::Enclosing, LookupStep::File, LookupStep::Import, LookupStep::Unit],
    unit: Unit::Package,
    outer_units: OuterUnits::Root,
    unknown_names_are_external: true,
    packages_must_exist: true,
    constructor: Some("__construct"),
    namespaces: Namespaces::AllSeparate,
    literals: &[(Literal::Text, "string"), (Literal::Int, "int"), (Literal::Float, "float"), (Literal::Bool, "bool")],
    widening_order: &["int", "float", "string", "bool", "array", "never", "false", "true"],
    ..ScopePolicy::PLAIN
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
const VARIABLE: Find = Grandchild("variable_name", "name");

const ROWS: &[Row] = &[
    row("namespace_definition", &[Action::Hook(declarations::namespace)]),
    row("namespace_use_declaration", &[Action::Imports, Action::Hook(declarations::uses)]),
    row("namespace_use_clause", &[Action::Fields]),
    row("namespace_use_group", &[]),
    row("namespace_name", &[]),
    // Types.
    row("class_declaration", &[Action::Define(define(Class).body("body"))]),
    row("interface_declaration", &[Action::Define(define(Interface).body("body"))]),
    row("trait_declaration", &[Action::Define(define(Trait).body("body"))]),
    row("enum_declaration", &[Action::Define(define(Enum).body("body"))]),
    row(
        "anonymous_class",
        &[Action::Hook(declarations::anonymous_class), Action::Lower(Lower::Hook(hooks::anonymous_class))],
    ),
    row("base_clause", &[Action::Bases(RefShape::Extends)]),
    row("class_interface_clause", &[Action::Bases(RefShape::Implements)]),
    row("use_declaration", &[Action::Hook(declarations::traits)]),
    row("use_as_clause", &[Action::Label]),
    row("use_instead_of_clause", &[]),
    row("enum_case", &[Action::Define(define(Variant).value(field("value"))), Action::Hook(declarations::constant)]),
    row("attribute_list", &[]),
    row("attribute", &[]),
    row("visibility_modifier", &[]),
    row("static_modifier", &[]),
    row("abstract_modifier", &[]),
    row("final_modifier", &[]),
    row("readonly_modifier", &[]),
    row("var_modifier", &[]),
    // Members and functions.
    row("const_declaration", &[Action::Fields]),
    row(
        "const_element",
        &[Action::Define(Define { name: First, ..define(Const).of_type(ParentField("type")).value(Last) })],
    ),
    row("property_declaration", &[Action::Fields]),
    row(
        "property_element",
        &[
            Action::Define(Define {
                name: VARIABLE,
                ..define(Property).of_type(ParentField("type")).value(field("default_value"))
            }),
            Action::Hook(declarations::property_doc),
        ],
    ),
    row("property_hook", &[Action::Scope, Action::Label]),
    row("method_declaration", &[Action::Hook(declarations::function)]),
    row("function_definition", &[Action::Hook(declarations::function)]),
    row("formal_parameters", &[]),
    row("simple_parameter", &[Action::Hook(declarations::parameter), Action::Bind(declarations::PARAMETER)]),
    row("variadic_parameter", &[Action::Hook(declarations::parameter), Action::Bind(declarations::VARIADIC)]),
    row("property_promotion_parameter", &[Action::Hook(declarations::promoted), Action::Bind(declarations::PARAMETER)]),
    row("anonymous_function", &[Action::Lower(Lower::Closure(field("parameters"), field("body")))]),
    row("arrow_function", &[Action::Lower(Lower::Closure(field("parameters"), field("body")))]),
    // Statements and local bindings.
    row(
        "compound_statement",
        &[
            Action::In("anonymous_function", &Action::Scope),
            Action::In("if_statement", &Action::Hook(declarations::narrowed)),
        ],
    ),
    row("if_statement", &[Action::Fields]),
    row("assignment_expression", &[Action::Hook(declarations::assignment), Action::Lower(Lower::Same(field("right")))]),
    row(
        "reference_assignment_expression",
        &[Action::Hook(declarations::assignment), Action::Lower(Lower::Same(field("right")))],
    ),
    row(
        "augmented_assignment_expression",
        &[Action::Hook(declarations::augmented), Action::Lower(Lower::Either(&[field("left"), field("right")]))],
    ),
    row("foreach_statement", &[Action::Hook(declarations::foreach)]),
    row("pair", &[]),
    row("by_ref", &[Action::Lower(Lower::Same(First))]),
    row("list_literal", &[]),
    row("catch_clause", &[Action::Bind(bind(Local, VARIABLE).of_type(field("type")))]),
    row("type_list", &[Action::Lower(Lower::Hook(hooks::one_of))]),
    row("static_variable_declaration", &[Action::Bind(bind(Local, VARIABLE).value(field("value")))]),
    row("global_declaration", &[Action::Hook(declarations::global)]),
    row("return_statement", &[Action::Returns]),
    row("continue_statement", &[]),
    row("expression_statement", &[]),
    row("goto_statement", &[Action::Label]),
    row("named_label_statement", &[Action::Label]),
    row("include_expression", &[Action::Hook(declarations::include)]),
    row("include_once_expression", &[Action::Hook(declarations::include)]),
    row("require_expression", &[Action::Hook(declarations::include)]),
    row("require_once_expression", &[Action::Hook(declarations::include)]),
    // Expressions.
    row(
        "function_call_expression",
        &[Action::Hook(declarations::define_call), Action::Lower(Lower::CallOf(field("function"), field("arguments")))],
    ),
    row(
        "member_call_expression",
        &[
            Action::Hook(hooks::this_call),
            Action::Lower(Lower::Call { of: field("object"), name: Kind("name"), args: field("arguments") }),
        ],
    ),
    row(
        "nullsafe_member_call_expression",
        &[Action::Lower(Lower::Call { of: field("object"), name: Kind("name"), args: field("arguments") })],
    ),
    row("scoped_call_expression", &[Action::Hook(hooks::scoped), Action::Lower(Lower::Hook(hooks::scoped_call))]),
    row("member_access_expression", &[Action::Lower(Lower::Member(field("object"), Kind("name")))]),
    row("nullsafe_member_access_expression", &[Action::Lower(Lower::Member(field("object"), Kind("name")))]),
    row(
        "scoped_property_access_expression",
        &[Action::Hook(hooks::scoped), Action::Lower(Lower::Hook(hooks::scoped_member))],
    ),
    row(
        "class_constant_access_expression",
        &[Action::Hook(hooks::scoped), Action::Lower(Lower::Hook(hooks::scoped_member))],
    ),
    row("arguments", &[]),
    row("argument", &[Action::Lower(Lower::Same(Last))]),
    row("object_creation_expression", &[Action::Lower(Lower::New(First, Kind("arguments")))]),
    row("subscript_expression", &[Action::Lower(Lower::Index(First, Last))]),
    row("clone_expression", &[Action::Lower(Lower::Same(First))]),
    row("error_suppression_expression", &[Action::Lower(Lower::Same(First))]),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Action::Lower(Lower::Either(&[field("body"), field("alternative")]))]),
    row("binary_expression", &[Action::Lower(Lower::Hook(hooks::binary))]),
    row("unary_op_expression", &[]),
    row("throw_expression", &[]),
    row("match_expression", &[Action::Lower(Lower::Hook(hooks::match_value))]),
    row("match_block", &[]),
    row("match_conditional_expression", &[Action::Lower(Lower::Same(field("return_expression")))]),
    row("match_default_expression", &[Action::Lower(Lower::Same(field("return_expression")))]),
    row("array_creation_expression", &[Action::Lower(Lower::Hook(hooks::array))]),
    row("cast_expression", &[Action::Lower(Lower::Hook(hooks::cast))]),
    row("string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("encapsed_string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("heredoc", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("nowdoc", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("integer", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Action::Lower(Lower::Literal(Literal::Float))]),
    row("boolean", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("null", &[Action::Lower(Lower::Literal(Literal::Null))]),
    // Names and types.
    row(
        "name",
        &[Action::Hook(hooks::name), Action::Leaf(RefShape::Value), Action::Lower(Lower::Hook(hooks::name_value))],
    ),
    row("variable_name", &[Action::Lower(Lower::Same(First))]),
    row("qualified_name", &[Action::Lower(Lower::Hook(hooks::qualified_value))]),
    row("relative_name", &[Action::Lower(Lower::Hook(hooks::qualified_value))]),
    row("relative_scope", &[Action::Lower(Lower::Hook(hooks::relative_scope))]),
    row("named_type", &[Action::Lower(Lower::Same(First))]),
    row("optional_type", &[Action::Lower(Lower::Same(First))]),
    row("union_type", &[Action::Lower(Lower::Hook(hooks::one_of))]),
    row("intersection_type", &[Action::Lower(Lower::Hook(hooks::one_of))]),
    row("disjunctive_normal_form_type", &[Action::Lower(Lower::Hook(hooks::one_of))]),
    row("primitive_type", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("comment", &[Action::Comment]),
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
