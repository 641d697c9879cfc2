//! Java.
//!
//! A qualified name starts with the package clause: `org.junit.Assert.fail`. The components of a record are its fields.
//! The methods of an anonymous class are nested in the enclosing method and have the base types of the class.

mod hooks;

use codecompass_model::BindingKind::{Local, Param, TypeParam};
use codecompass_model::SymbolKind::{Class, Const, Constructor, Enum, Field, Interface, Method, Variant};
use codecompass_model::{Flags, Literal, RefShape, SymbolKind, ValuePart, Visibility};

use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::rules::{LookupStep, Namespaces, ScopePolicy, Unit};
use crate::spec::Find::{self, First, Kind, Last, ParentField};
use crate::spec::{Action, LanguageSpec, Lower, ModifierMeaning, Row, bind, define, grammar, row};
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
    conventions: Conventions {
        test_folders: &["androidtest", "integrationtest", "testfixtures"],
        test_infixes: &["test.java", "tests.java", "testcase.java"],
        manifests: &["pom.xml", "build.gradle", "build.gradle.kts"],
        reexport_files: &["package-info.java", "module-info.java"],
        ..Conventions::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["var"], || tree_sitter_java::LANGUAGE.into()),
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["line_comment", "block_comment"],
    modifiers: &["modifiers"],
    attributes: &["annotation", "marker_annotation"],
    modifier_words: &[
        ("public", ModifierMeaning::Visibility(Visibility::Public)),
        ("protected", ModifierMeaning::Visibility(Visibility::Protected)),
        ("private", ModifierMeaning::Visibility(Visibility::Private)),
        ("static", ModifierMeaning::Flag(Flags::STATIC)),
        ("abstract", ModifierMeaning::Flag(Flags::ABSTRACT)),
    ],
    visibility,
    test_marks: &["Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "Theory"],
    inferred_types: &["var"],
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
    calls_skip_locals: true,
    overloads: true,
    ..LanguageSpec::PLAIN
};

/// The default visibility without a modifier: the package; in an interface, public.
fn visibility(kind: SymbolKind, around: Option<SymbolKind>) -> Option<Visibility> {
    let is_public = around == Some(Interface) || kind == Variant;
    Some(if is_public { Visibility::Public } else { Visibility::Internal })
}

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "java",
    arity_is_fixed: true,
    lookup_order: &[
        LookupStep::Enclosing,
        LookupStep::File,
        LookupStep::Import,
        LookupStep::Unit,
        LookupStep::Glob,
        LookupStep::Library,
    ],
    explicit_type_args_need_params: true,
    unit: Unit::Package,
    namespaces: Namespaces::AllSeparate,
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
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    root: Some("Object"),
    prelude: "java.lang",
    iterable: Some("Iterable"),
    list_members: &[("length", "int")],
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
    widening_order: &["byte", "short", "char", "int", "long", "float", "double"],
    ..ScopePolicy::PLAIN
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
    row("package_declaration", &[Action::Imports, Action::Hook(hooks::package)]),
    row("import_declaration", &[Action::Imports, Action::Hook(hooks::import)]),
    row("asterisk", &[]),
    // Types.
    row("class_declaration", &[Action::Define(define(Class).generic("type_parameters").body("body"))]),
    row(
        "record_declaration",
        &[Action::Define(define(Class).generic("type_parameters").body("body")), Action::Hook(hooks::record)],
    ),
    row("enum_declaration", &[Action::Define(define(Enum).body("body")), Action::Hook(hooks::enumeration)]),
    row("interface_declaration", &[Action::Define(define(Interface).generic("type_parameters").body("body"))]),
    row("annotation_type_declaration", &[Action::Define(define(Interface).body("body"))]),
    row("superclass", &[Action::Bases(RefShape::Extends)]),
    row("super_interfaces", &[Action::Bases(RefShape::Implements)]),
    row("extends_interfaces", &[Action::Bases(RefShape::Extends)]),
    row(
        "class_body",
        &[
            Action::In("object_creation_expression", &Action::Hook(hooks::anonymous_class)),
            Action::In("enum_constant", &Action::Hook(hooks::constant_body)),
        ],
    ),
    row("enum_constant", &[Action::Define(define(Variant).body("body")), Action::Hook(hooks::constant)]),
    row("modifiers", &[]),
    row("annotation", &[Action::Refers(field("name"), RefShape::Decorator)]),
    row("marker_annotation", &[Action::Refers(field("name"), RefShape::Decorator)]),
    row("element_value_pair", &[Action::Hook(hooks::element)]),
    // Members.
    row(
        "method_declaration",
        &[Action::Define(
            define(Method).params("parameters").generic("type_parameters").of_type(field("type")).body("body"),
        )],
    ),
    row(
        "constructor_declaration",
        &[Action::Define(define(Constructor).params("parameters").generic("type_parameters").body("body"))],
    ),
    row(
        "compact_constructor_declaration",
        &[Action::Define(define(Constructor).body("body")), Action::Hook(hooks::compact_constructor)],
    ),
    row("annotation_type_element_declaration", &[Action::Define(define(Method).of_type(field("type")))]),
    row("field_declaration", &[Action::Fields]),
    row("constant_declaration", &[Action::Fields]),
    row("local_variable_declaration", &[Action::Fields]),
    row(
        "variable_declarator",
        &[
            Action::In(
                "field_declaration",
                &Action::Define(define(Field).of_type(ParentField("type")).value(field("value"))),
            ),
            Action::In(
                "constant_declaration",
                &Action::Define(define(Const).of_type(ParentField("type")).value(field("value"))),
            ),
            Action::In(
                "local_variable_declaration",
                &Action::Bind(bind(Local, field("name")).of_type(ParentField("type")).value(field("value"))),
            ),
        ],
    ),
    row("formal_parameters", &[]),
    row("formal_parameter", &[Action::Bind(bind(Param, field("name")).of_type(field("type")))]),
    row(
        "spread_parameter",
        &[Action::Bind(
            bind(Param, Find::ChildField("variable_declarator", "name"))
                .of_type(Find::Except(&["modifiers", "annotation", "marker_annotation"]))
                .variadic(),
        )],
    ),
    row("catch_formal_parameter", &[Action::Bind(bind(Param, field("name")).of_type(Kind("catch_type")))]),
    row("catch_type", &[Action::Lower(Lower::Same(First))]),
    row("type_parameters", &[]),
    row("type_parameter", &[Action::Bind(bind(TypeParam, Kind("type_identifier")).of_type(Kind("type_bound")))]),
    row("type_bound", &[Action::Lower(Lower::Same(First))]),
    // Blocks and local bindings.
    row("block", &[Action::Scope]),
    row("constructor_body", &[Action::Scope]),
    row("static_initializer", &[Action::Scope]),
    row("for_statement", &[Action::Scope]),
    row(
        "enhanced_for_statement",
        &[
            Action::Scope,
            Action::Bind(
                bind(Local, field("name")).of_type(field("type")).value(field("value")).part(ValuePart::Element),
            ),
        ],
    ),
    row("try_with_resources_statement", &[Action::Scope]),
    row("resource", &[Action::Bind(bind(Local, field("name")).of_type(field("type")).value(field("value")))]),
    row("catch_clause", &[Action::Scope]),
    row("switch_rule", &[Action::Scope]),
    row("switch_block_statement_group", &[Action::Scope]),
    row("record_pattern", &[Action::Refers(First, RefShape::Type)]),
    row("switch_expression", &[Action::Fields]),
    row("switch_label", &[Action::Hook(hooks::label)]),
    row("type_pattern", &[Action::Bind(bind(Local, Last).of_type(First))]),
    row("record_pattern_component", &[Action::Bind(bind(Local, Last).of_type(First))]),
    row("return_statement", &[Action::Returns]),
    row("yield_statement", &[]),
    row("labeled_statement", &[Action::Label]),
    row("break_statement", &[Action::Label]),
    row("continue_statement", &[Action::Label]),
    // Expressions.
    row(
        "method_invocation",
        &[Action::Lower(Lower::Call { of: field("object"), name: field("name"), args: field("arguments") })],
    ),
    row("object_creation_expression", &[Action::Lower(Lower::New(field("type"), field("arguments")))]),
    row("explicit_constructor_invocation", &[Action::Hook(hooks::constructor_call)]),
    row("argument_list", &[]),
    row("field_access", &[Action::Lower(Lower::Hook(hooks::field_access)), Action::Hook(hooks::refer_to_field)]),
    row(
        "method_reference",
        &[Action::Lower(Lower::Hook(hooks::method_reference)), Action::Hook(hooks::refer_to_method)],
    ),
    row("array_access", &[Action::Lower(Lower::Index(field("array"), field("index")))]),
    row("array_creation_expression", &[Action::Lower(Lower::NewList(field("type")))]),
    row("cast_expression", &[Action::Lower(Lower::Cast(field("type")))]),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("ternary_expression", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Action::Lower(Lower::Same(field("left")))]),
    row(
        "instanceof_expression",
        &[
            Action::Bind(bind(Local, field("name")).of_type(field("right"))),
            Action::Lower(Lower::Literal(Literal::Bool)),
        ],
    ),
    row("binary_expression", &[Action::Lower(Lower::Binary)]),
    row("unary_expression", &[Action::Lower(Lower::Same(field("operand")))]),
    row("update_expression", &[Action::Lower(Lower::Same(First))]),
    row("lambda_expression", &[Action::Lower(Lower::Closure(field("parameters"), field("body")))]),
    row("inferred_parameters", &[]),
    row("class_literal", &[Action::Lower(Lower::Hook(hooks::class_literal))]),
    row("string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("character_literal", &[Action::Lower(Lower::Literal(Literal::Char))]),
    row("decimal_integer_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("hex_integer_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("octal_integer_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("binary_integer_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("decimal_floating_point_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("hex_floating_point_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("true", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("null_literal", &[Action::Lower(Lower::Literal(Literal::Null))]),
    row("this", &[Action::Lower(Lower::This)]),
    row("super", &[Action::Lower(Lower::Super)]),
    // Names and types.
    row("identifier", &[Action::Leaf(RefShape::Value)]),
    row("type_identifier", &[Action::Leaf(RefShape::Type)]),
    row("scoped_identifier", &[Action::Lower(Lower::Member(field("scope"), field("name")))]),
    row("scoped_type_identifier", &[Action::Lower(Lower::Member(First, Last))]),
    row("generic_type", &[Action::Lower(Lower::Generic(First, Kind("type_arguments")))]),
    row("type_arguments", &[]),
    row("wildcard", &[Action::Lower(Lower::Hook(hooks::wildcard))]),
    row("annotated_type", &[Action::Lower(Lower::Same(Last))]),
    row("array_type", &[Action::Lower(Lower::Hook(hooks::array))]),
    row("dimensions", &[]),
    row("integral_type", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("floating_point_type", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("boolean_type", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("void_type", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("line_comment", &[Action::Comment]),
    row("block_comment", &[Action::Comment]),
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
