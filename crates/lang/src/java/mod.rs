//! Java.
//!
//! A qualified name starts with the package clause: `org.junit.Assert.fail`. The components of a record are its fields.
//! The methods of an anonymous class are nested in the enclosing method and have the base types of the class.

mod hooks;

use codecompass_model::BindingKind::{Local, Param, TypeParam};
use codecompass_model::SymbolKind::{Class, Const, Constructor, Enum, Field, Interface, Method, Variant};
use codecompass_model::{Flags, Literal, Part, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First, Kind, Last, Up};
use crate::recipe::{Do, Lower, Means, Recipe, Row, bind, define, grammar, row};
use crate::rules::{Apart, Look, Scoping, Unit};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "java",
    facts_version: 1,
    extensions: &["java"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls .992 / .9997 on junit4 and .993 / .999 on jsoup, against javac",
    customs: Customs {
        test_folders: &["androidtest", "integrationtest", "testfixtures"],
        test_marks: &["test.java", "tests.java", "testcase.java"],
        manifests: &["pom.xml", "build.gradle", "build.gradle.kts"],
        passing_on: &["package-info.java", "module-info.java"],
        ..Customs::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["var"], || tree_sitter_java::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["line_comment", "block_comment"],
    modifiers: &["modifiers"],
    attributes: &["annotation", "marker_annotation"],
    words: &[
        ("public", Means::Seen(Visibility::Public)),
        ("protected", Means::Seen(Visibility::Protected)),
        ("private", Means::Seen(Visibility::Private)),
        ("static", Means::Flag(Flags::STATIC)),
        ("abstract", Means::Flag(Flags::ABSTRACT)),
    ],
    visibility,
    test_marks: &["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "Theory"],
    inferred: &["var"],
    keywords: &[
        "class",
        "else",
        "enum",
        "extends",
        "for",
        "if",
        "implements",
        "interface",
        "new",
        "return",
        "switch",
        "while",
    ],
    calls_apart: true,
    overloads: true,
    ..Recipe::PLAIN
};

/// The default visibility without a modifier: the package; in an interface, public.
fn visibility(kind: SymbolKind, around: Option<SymbolKind>) -> Option<Visibility> {
    let is_public = around == Some(Interface) || kind == Variant;
    Some(if is_public { Visibility::Public } else { Visibility::Internal })
}

static SCOPING: Scoping = Scoping {
    language: "java",
    order: &[Look::Around, Look::File, Look::Import, Look::Unit, Look::Glob, Look::Library],
    told_types: true,
    unit: Unit::Package,
    apart: Apart::All,
    implicit_this: true,
    literals: &[
        (Literal::Text, "String"),
        (Literal::Int, "int"),
        (Literal::Float, "double"),
        (Literal::Char, "char"),
        (Literal::Bool, "boolean"),
    ],
    library: include_str!("library.stubs"),
    library_file: "library.java",
    root: Some("Object"),
    open_library: "java.lang",
    iterable: Some("Iterable"),
    lists_have: &[("length", "int")],
    boxes: &[
        ("int", "Integer"),
        ("long", "Long"),
        ("double", "Double"),
        ("float", "Float"),
        ("boolean", "Boolean"),
        ("char", "Character"),
        ("byte", "Byte"),
        ("short", "Short"),
    ],
    widens: &["byte", "short", "char", "int", "long", "float", "double"],
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &[
    "alternative",
    "arguments",
    "array",
    "body",
    "condition",
    "consequence",
    "constructor",
    "element",
    "field",
    "index",
    "interfaces",
    "key",
    "left",
    "name",
    "object",
    "operand",
    "parameters",
    "pattern",
    "resources",
    "right",
    "scope",
    "superclass",
    "type",
    "type_parameters",
    "value",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const ROWS: &[Row] = &[
    row("package_declaration", &[Do::Imports, Do::Hook(hooks::package)]),
    row("import_declaration", &[Do::Imports, Do::Hook(hooks::import)]),
    row("asterisk", &[]),
    // Types.
    row("class_declaration", &[Do::Define(define(Class).generic("type_parameters").body("body"))]),
    row(
        "record_declaration",
        &[Do::Define(define(Class).generic("type_parameters").body("body")), Do::Hook(hooks::record)],
    ),
    row("enum_declaration", &[Do::Define(define(Enum).body("body")), Do::Hook(hooks::enumeration)]),
    row("interface_declaration", &[Do::Define(define(Interface).generic("type_parameters").body("body"))]),
    row("annotation_type_declaration", &[Do::Define(define(Interface).body("body"))]),
    row("superclass", &[Do::Bases(RefShape::Extends)]),
    row("super_interfaces", &[Do::Bases(RefShape::Implements)]),
    row("extends_interfaces", &[Do::Bases(RefShape::Extends)]),
    row(
        "class_body",
        &[
            Do::In("object_creation_expression", &Do::Hook(hooks::unnamed)),
            Do::In("enum_constant", &Do::Hook(hooks::constant_body)),
        ],
    ),
    row("enum_constant", &[Do::Define(define(Variant).body("body")), Do::Hook(hooks::constant)]),
    row("modifiers", &[]),
    row("annotation", &[Do::Refers(field("name"), RefShape::Decorator)]),
    row("marker_annotation", &[Do::Refers(field("name"), RefShape::Decorator)]),
    row("element_value_pair", &[Do::Hook(hooks::element)]),
    // Members.
    row(
        "method_declaration",
        &[Do::Define(
            define(Method).params("parameters").generic("type_parameters").of_type(field("type")).body("body"),
        )],
    ),
    row(
        "constructor_declaration",
        &[Do::Define(define(Constructor).params("parameters").generic("type_parameters").body("body"))],
    ),
    row("compact_constructor_declaration", &[Do::Define(define(Constructor).body("body")), Do::Hook(hooks::compact)]),
    row("annotation_type_element_declaration", &[Do::Define(define(Method).of_type(field("type")))]),
    row("field_declaration", &[Do::Fields]),
    row("constant_declaration", &[Do::Fields]),
    row("local_variable_declaration", &[Do::Fields]),
    row(
        "variable_declarator",
        &[
            Do::In("field_declaration", &Do::Define(define(Field).of_type(Up("type")).value(field("value")))),
            Do::In("constant_declaration", &Do::Define(define(Const).of_type(Up("type")).value(field("value")))),
            Do::In(
                "local_variable_declaration",
                &Do::Bind(bind(Local, field("name")).of_type(Up("type")).value(field("value"))),
            ),
        ],
    ),
    row("formal_parameters", &[]),
    row("formal_parameter", &[Do::Bind(bind(Param, field("name")).of_type(field("type")))]),
    row(
        "spread_parameter",
        &[Do::Bind(
            bind(Param, Find::Within("variable_declarator", "name"))
                .of_type(Find::Beside(&["modifiers", "annotation", "marker_annotation"]))
                .variadic(),
        )],
    ),
    row("catch_formal_parameter", &[Do::Bind(bind(Param, field("name")).of_type(Kind("catch_type")))]),
    row("catch_type", &[Do::Lower(Lower::Same(First))]),
    row("type_parameters", &[]),
    row("type_parameter", &[Do::Bind(bind(TypeParam, Kind("type_identifier")).of_type(Kind("type_bound")))]),
    row("type_bound", &[Do::Lower(Lower::Same(First))]),
    // Blocks and local bindings.
    row("block", &[Do::Scope]),
    row("constructor_body", &[Do::Scope]),
    row("static_initializer", &[Do::Scope]),
    row("for_statement", &[Do::Scope]),
    row(
        "enhanced_for_statement",
        &[
            Do::Scope,
            Do::Bind(bind(Local, field("name")).of_type(field("type")).value(field("value")).part(Part::Element)),
        ],
    ),
    row("try_with_resources_statement", &[Do::Scope]),
    row("resource", &[Do::Bind(bind(Local, field("name")).of_type(field("type")).value(field("value")))]),
    row("catch_clause", &[Do::Scope]),
    row("switch_rule", &[Do::Scope]),
    row("switch_block_statement_group", &[Do::Scope]),
    row("record_pattern", &[Do::Refers(First, RefShape::Type)]),
    row("switch_expression", &[Do::Fields]),
    row("switch_label", &[Do::Hook(hooks::label)]),
    row("type_pattern", &[Do::Bind(bind(Local, Last).of_type(First))]),
    row("record_pattern_component", &[Do::Bind(bind(Local, Last).of_type(First))]),
    row("return_statement", &[Do::Returns]),
    row("yield_statement", &[]),
    row("labeled_statement", &[Do::Label]),
    row("break_statement", &[Do::Label]),
    row("continue_statement", &[Do::Label]),
    // Expressions.
    row(
        "method_invocation",
        &[Do::Lower(Lower::Call { of: field("object"), name: field("name"), args: field("arguments") })],
    ),
    row("object_creation_expression", &[Do::Lower(Lower::New(field("type"), field("arguments")))]),
    row("explicit_constructor_invocation", &[Do::Hook(hooks::constructor_call)]),
    row("argument_list", &[]),
    row("field_access", &[Do::Lower(Lower::Hook(hooks::field_access)), Do::Hook(hooks::refer_to_field)]),
    row("method_reference", &[Do::Lower(Lower::Hook(hooks::method_reference)), Do::Hook(hooks::refer_to_method)]),
    row("array_access", &[Do::Lower(Lower::Index(field("array"), field("index")))]),
    row("array_creation_expression", &[Do::Lower(Lower::NewList(field("type")))]),
    row("cast_expression", &[Do::Lower(Lower::Cast(field("type")))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("ternary_expression", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Do::Lower(Lower::Same(field("left")))]),
    row(
        "instanceof_expression",
        &[Do::Bind(bind(Local, field("name")).of_type(field("right"))), Do::Lower(Lower::Literal(Literal::Bool))],
    ),
    row("binary_expression", &[Do::Lower(Lower::Binary)]),
    row("unary_expression", &[Do::Lower(Lower::Same(field("operand")))]),
    row("update_expression", &[Do::Lower(Lower::Same(First))]),
    row("lambda_expression", &[Do::Lower(Lower::Closure(field("parameters"), field("body")))]),
    row("inferred_parameters", &[]),
    row("class_literal", &[Do::Lower(Lower::Hook(hooks::class_literal))]),
    row("string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("character_literal", &[Do::Lower(Lower::Literal(Literal::Char))]),
    row("decimal_integer_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("hex_integer_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("octal_integer_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("binary_integer_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("decimal_floating_point_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("hex_floating_point_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("true", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("null_literal", &[Do::Lower(Lower::Literal(Literal::Null))]),
    row("this", &[Do::Lower(Lower::This)]),
    row("super", &[Do::Lower(Lower::Super)]),
    // Names and types.
    row("identifier", &[Do::Leaf(RefShape::Value)]),
    row("type_identifier", &[Do::Leaf(RefShape::Type)]),
    row("scoped_identifier", &[Do::Lower(Lower::Member(field("scope"), field("name")))]),
    row("scoped_type_identifier", &[Do::Lower(Lower::Member(First, Last))]),
    row("generic_type", &[Do::Lower(Lower::Generic(First, Kind("type_arguments")))]),
    row("type_arguments", &[]),
    row("wildcard", &[Do::Lower(Lower::Hook(hooks::wildcard))]),
    row("annotated_type", &[Do::Lower(Lower::Same(Last))]),
    row("array_type", &[Do::Lower(Lower::Hook(hooks::array))]),
    row("dimensions", &[]),
    row("integral_type", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("floating_point_type", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("boolean_type", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("void_type", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("line_comment", &[Do::Comment]),
    row("block_comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "program",
    "annotation_argument_list",
    "annotation_type_body",
    "array_initializer",
    "assert_statement",
    "dimensions_expr",
    "do_statement",
    "element_value_array_initializer",
    "enum_body",
    "enum_body_declarations",
    "escape_sequence",
    "exports_module_directive",
    "expression_statement",
    "finally_clause",
    "guard",
    "if_statement",
    "interface_body",
    "module_body",
    "module_declaration",
    "multiline_string_fragment",
    "opens_module_directive",
    "pattern",
    "permits",
    "provides_module_directive",
    "receiver_parameter",
    "record_pattern_body",
    "requires_modifier",
    "requires_module_directive",
    "resource_specification",
    "string_fragment",
    "string_interpolation",
    "switch_block",
    "synchronized_statement",
    "template_expression",
    "throw_statement",
    "throws",
    "try_statement",
    "type_list",
    "underscore_pattern",
    "uses_module_directive",
    "while_statement",
];
