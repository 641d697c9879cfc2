//! Kotlin.
//!
//! A qualified name starts with the package: `okio.Buffer.readByte`. The grammar has almost no fields, so rows find
//! children by their kinds. A class is its own primary constructor: the parameters in its header are its type, and
//! those with `val` or `var` are properties. An extension belongs to the type that it names, wherever it is declared.
//! The members of a companion are members of the enclosing class.

mod declarations;
mod expressions;
mod narrowing;
mod repair;
mod types;

use codecompass_model::{Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First, Kind, Last};
use crate::recipe::{Do, Lower, Means, Recipe, Row, grammar, row};
use crate::rules::{Apart, Look, Parts, Scoping, Unit};
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "kotlin",
    facts_version: 1,
    extensions: &["kt", "kts"],
    file_names: &[],
    interpreters: &["kotlin"],
    has_visibility: true,
    depth: Depth::Types,
    measured: "52 of 54 proved calls of three repositories that were read by eye are right",
    customs: Customs {
        test_folders: &["androidtest", "commontest", "jvmtest", "integrationtest", "functionaltest", "testfixtures"],
        test_marks: &["test.kt", "tests.kt", "spec.kt"],
        manifests: &["build.gradle.kts", "build.gradle", "pom.xml"],
        ..Customs::NONE
    },
    grammar: Grammar {
        repair: Some(repair::repair),
        ..grammar!(ROWS, FIELDS, &[], || tree_sitter_kotlin_sg::LANGUAGE.into())
    },
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    separator: ".",
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["line_comment", "multiline_comment"],
    modifiers: &["modifiers"],
    attributes: &["annotation"],
    words: &[
        ("public", Means::Seen(Visibility::Public)),
        ("internal", Means::Seen(Visibility::Internal)),
        ("protected", Means::Seen(Visibility::Protected)),
        ("private", Means::Seen(Visibility::Private)),
        ("abstract", Means::Flag(Flags::ABSTRACT)),
    ],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    test_marks: &["Test", "ParameterizedTest", "RepeatedTest", "TestFactory"],
    overloads: true,
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "kotlin",
    order: &[Look::Around, Look::Import, Look::File, Look::Unit, Look::Glob, Look::Library],
    told_types: true,
    unit: Unit::Package,
    apart: Apart::All,
    implicit_this: true,
    parts: Parts::ByOwner,
    calls_make: true,
    calls_fields: true,
    parts_in_scope: true,
    counts_arguments: true,
    literals: &[
        (Literal::Text, "String"),
        (Literal::Int, "Int"),
        (Literal::Float, "Double"),
        (Literal::Char, "Char"),
        (Literal::Bool, "Boolean"),
    ],
    library: include_str!("library.stubs"),
    library_file: "library.kt",
    root: Some("Any"),
    open_library: "kotlin",
    iterable: Some("Iterable"),
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &["alternative", "condition", "consequence", "receiver"];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const BOOL: Do = Do::Lower(Lower::Literal(Literal::Bool));

const ROWS: &[Row] = &[
    row("package_header", &[Do::Imports, Do::Hook(declarations::package)]),
    row("import_header", &[Do::Imports, Do::Hook(declarations::import)]),
    row("import_alias", &[]),
    row("wildcard_import", &[]),
    row("identifier", &[]),
    // Declarations.
    row("class_declaration", &[Do::Hook(declarations::class)]),
    row("object_declaration", &[Do::Hook(declarations::class)]),
    row("companion_object", &[Do::Hook(declarations::companion)]),
    row("primary_constructor", &[]),
    row("class_parameter", &[Do::Hook(declarations::class_parameter)]),
    row("delegation_specifier", &[Do::Hook(declarations::base)]),
    row("constructor_invocation", &[Do::Hook(declarations::annotation)]),
    row("explicit_delegation", &[]),
    row("class_body", &[Do::In("object_literal", &Do::Hook(declarations::unnamed))]),
    row("enum_class_body", &[]),
    row("enum_entry", &[Do::Hook(declarations::entry)]),
    row("secondary_constructor", &[Do::Hook(declarations::constructor)]),
    row("constructor", &[]),
    row("constructor_delegation_call", &[Do::Hook(declarations::constructor_call)]),
    row("anonymous_initializer", &[Do::Scope]),
    row("function_declaration", &[Do::Hook(declarations::function)]),
    row("function_value_parameters", &[]),
    row("parameter", &[Do::Hook(declarations::parameter)]),
    row("parameter_modifiers", &[]),
    row("parameter_with_optional_type", &[Do::Hook(declarations::parameter)]),
    row("function_body", &[]),
    row("property_declaration", &[Do::Hook(declarations::property)]),
    row("destructuring_declaration", &[Do::Hook(declarations::property)]),
    row("property_delegate", &[Do::Lower(Lower::Hook(expressions::delegate))]),
    row("variable_declaration", &[]),
    row("multi_variable_declaration", &[]),
    row("binding_pattern_kind", &[]),
    row("getter", &[Do::Hook(declarations::accessor)]),
    row("setter", &[Do::Hook(declarations::accessor)]),
    row("type_alias", &[Do::Hook(declarations::alias)]),
    row("type_parameters", &[]),
    row("type_parameter", &[]),
    row("type_parameter_modifiers", &[]),
    row("type_constraints", &[]),
    row("type_constraint", &[]),
    row("modifiers", &[]),
    row("annotation", &[Do::Hook(declarations::annotation)]),
    row("receiver_type", &[Do::Lower(Lower::Same(Last))]),
    // Statements.
    row("statements", &[Do::In("try_expression", &Do::Scope), Do::Lower(Lower::Same(Last))]),
    row("control_structure_body", &[Do::Hook(narrowing::body), Do::Lower(Lower::Same(Last))]),
    row("for_statement", &[Do::Hook(expressions::for_loop)]),
    row("catch_block", &[Do::Hook(expressions::catch), Do::Lower(Lower::Same(Last))]),
    row("finally_block", &[Do::Scope]),
    row("when_subject", &[Do::Hook(expressions::subject)]),
    row("when_entry", &[Do::Hook(narrowing::entry), Do::Lower(Lower::Same(Kind("control_structure_body")))]),
    row("when_condition", &[]),
    row("type_test", &[]),
    row("assignment", &[]),
    row("jump_expression", &[]),
    // Expressions.
    row(
        "call_expression",
        &[
            Do::Hook(expressions::unnamed_call),
            Do::Lower(Lower::CallWith(First, Find::Inside("call_suffix", "type_arguments"), expressions::arguments)),
        ],
    ),
    row("call_suffix", &[]),
    row("value_arguments", &[]),
    row("value_argument", &[Do::Hook(expressions::argument)]),
    row("annotated_lambda", &[]),
    row("lambda_literal", &[Do::Hook(expressions::lambda)]),
    row("lambda_parameters", &[]),
    row("anonymous_function", &[Do::Hook(expressions::function)]),
    row("object_literal", &[Do::Lower(Lower::Hook(expressions::object))]),
    row(
        "navigation_expression",
        &[Do::Lower(Lower::Member(First, Find::Inside("navigation_suffix", "simple_identifier")))],
    ),
    row("navigation_suffix", &[Do::Hook(expressions::refer_behind), Do::Lower(Lower::Hook(expressions::suffix))]),
    row("directly_assignable_expression", &[Do::Lower(Lower::Same(Last))]),
    row("indexing_expression", &[Do::Lower(Lower::Hook(expressions::index))]),
    row("indexing_suffix", &[]),
    row(
        "callable_reference",
        &[Do::Hook(expressions::refer_to_callable), Do::Lower(Lower::Hook(expressions::callable))],
    ),
    row("infix_expression", &[Do::Hook(expressions::refer_infix), Do::Lower(Lower::Hook(expressions::infix))]),
    row("as_expression", &[Do::Lower(Lower::Cast(Last))]),
    row("check_expression", &[BOOL]),
    row("comparison_expression", &[BOOL]),
    row("equality_expression", &[BOOL]),
    row("conjunction_expression", &[Do::Hook(narrowing::both), BOOL]),
    row("disjunction_expression", &[BOOL]),
    row("additive_expression", &[Do::Lower(Lower::Binary)]),
    row("multiplicative_expression", &[Do::Lower(Lower::Binary)]),
    row("elvis_expression", &[Do::Lower(Lower::Either(&[First, Last]))]),
    row("postfix_expression", &[Do::Lower(Lower::Same(First))]),
    row("prefix_expression", &[Do::Lower(Lower::Same(Last))]),
    row("spread_expression", &[Do::Lower(Lower::Same(First))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row(
        "if_expression",
        &[Do::Hook(narrowing::guard), Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))],
    ),
    row("when_expression", &[Do::Scope, Do::Lower(Lower::Hook(expressions::when))]),
    row("try_expression", &[Do::Lower(Lower::Either(&[First, Kind("catch_block")]))]),
    row("this_expression", &[Do::Lower(Lower::Hook(expressions::this))]),
    row("super_expression", &[Do::Lower(Lower::Super)]),
    row("string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("character_literal", &[Do::Lower(Lower::Literal(Literal::Char))]),
    row("boolean_literal", &[BOOL]),
    row("integer_literal", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("hex_literal", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("bin_literal", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("long_literal", &[Do::Lower(Lower::Hook(expressions::long))]),
    row("real_literal", &[Do::Lower(Lower::Literal(Literal::Float))]),
    row("null_literal", &[Do::Lower(Lower::Literal(Literal::Null))]),
    // Names and types.
    row("simple_identifier", &[Do::Leaf(RefShape::Value)]),
    row("interpolated_identifier", &[Do::Leaf(RefShape::Value)]),
    row("type_identifier", &[Do::Leaf(RefShape::Type), Do::Lower(Lower::Hook(types::type_name))]),
    row("user_type", &[Do::Hook(types::refer_to_type), Do::Lower(Lower::Hook(types::user_type))]),
    row("type_arguments", &[]),
    row("type_projection", &[Do::Lower(Lower::Same(Last))]),
    row("type_projection_modifiers", &[]),
    row("type_modifiers", &[]),
    row("nullable_type", &[Do::Lower(Lower::Same(First))]),
    row("not_nullable_type", &[Do::Lower(Lower::Same(Last))]),
    row("parenthesized_type", &[Do::Lower(Lower::Same(Last))]),
    row("parenthesized_user_type", &[Do::Lower(Lower::Same(Last))]),
    row("function_type", &[Do::Lower(Lower::Hook(types::function_type))]),
    row("function_type_parameters", &[]),
    row("line_comment", &[Do::Comment]),
    row("multiline_comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "source_file",
    "character_escape_seq",
    "class_modifier",
    "collection_literal",
    "do_while_statement",
    "file_annotation",
    "function_modifier",
    "guard_condition",
    "import_list",
    "inheritance_modifier",
    "interpolated_expression",
    "interpolation_expression_end",
    "interpolation_expression_start",
    "interpolation_identifier_start",
    "label",
    "member_modifier",
    "parameter_modifier",
    "platform_modifier",
    "property_modifier",
    "quest",
    "range_expression",
    "range_test",
    "reification_modifier",
    "shebang_line",
    "string_content",
    "unsigned_literal",
    "use_site_target",
    "variance_modifier",
    "visibility_modifier",
    "while_statement",
];
