//! C#.
//!
//! A namespace with a block is a symbol; a file-scoped namespace is only a prefix of qualified names:
//! `App.Web.Page.Show`. The parts of a partial type are one type. An extension method, whose first parameter is `this T
//! x`, also belongs to `T` (`Symbol::owner`), and its type omits that parameter. The parameters of a record are
//! properties. An indexer is a property named `this`. `await` returns the `Result` of a task.

mod declarations;
mod hooks;
mod usings;

use codecompass_model::BindingKind::{Local, TypeParam};
use codecompass_model::SymbolKind::{Class, Constructor, Enum, Fn, Interface, Method, Property, Struct, Type, Variant};
use codecompass_model::{Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First, Kind, Last, Within};
use crate::recipe::table::Define;
use crate::recipe::{Do, Lower, Means, Recipe, Row, bind, define, grammar, row};
use crate::rules::{Apart, Look, Outer, Parts, Scoping, Unit};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "csharp",
    facts_version: 1,
    extensions: &["cs", "csx"],
    file_names: &[],
    interpreters: &["dotnet-script"],
    has_visibility: true,
    depth: Depth::Types,
    measured: "37 of forty proved calls of four repositories that were read by eye are right",
    customs: Customs {
        test_folders: &["unittests", "integrationtests"],
        test_marks: &["tests.cs", "test.cs", "specs.cs"],
        manifests: &["Directory.Build.props", "packages.config"],
        passing_on: &["assemblyinfo.cs", "globalusings.cs"],
        ..Customs::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["var", "_"], || tree_sitter_c_sharp::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &["modifier"],
    attributes: &["attribute_list"],
    words: &[
        ("public", Means::Seen(Visibility::Public)),
        ("protected", Means::Seen(Visibility::Protected)),
        ("internal", Means::Seen(Visibility::Internal)),
        ("private", Means::Seen(Visibility::Private)),
        ("static", Means::Flag(Flags::STATIC)),
        ("abstract", Means::Flag(Flags::ABSTRACT)),
    ],
    visibility,
    test_marks: &["Fact", "Theory", "Test", "TestCase", "TestMethod", "DataTestMethod", "TestCaseSource"],
    overloads: true,
    ..Recipe::PLAIN
};

/// The default visibility without a modifier: private for members, internal to the assembly for top-level types.
fn visibility(kind: SymbolKind, around: Option<SymbolKind>) -> Option<Visibility> {
    Some(match around {
        _ if kind == Variant => Visibility::Public,
        Some(Interface) | Some(Enum) => Visibility::Public,
        Some(SymbolKind::Namespace) | None => Visibility::Internal,
        _ => Visibility::Private,
    })
}

static SCOPING: Scoping = Scoping {
    language: "csharp",
    order: &[Look::Around, Look::File, Look::Unit, Look::Import, Look::Glob, Look::Library],
    told_types: true,
    unit: Unit::Package,
    outer: Outer::All,
    open_world: true,
    known_packages: true,
    extensions: true,
    generics_apart: true,
    lists_iterate: true,
    indexer: Some("this"),
    decorator_ending: "Attribute",
    shared_imports: usings::shared,
    apart: Apart::Types,
    implicit_this: true,
    parts: Parts::ByName,
    literals: &[(Literal::Text, "String"), (Literal::Char, "char"), (Literal::Bool, "bool")],
    library: include_str!("library.stubs"),
    library_file: "library.cs",
    root: Some("Object"),
    open_library: "System",
    iterable: Some("IEnumerable"),
    widens: &[
        "sbyte", "byte", "short", "ushort", "char", "int", "uint", "nint", "nuint", "long", "ulong", "float", "double",
        "decimal", "bool",
    ],
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &[
    "accessors",
    "alias",
    "alternative",
    "arguments",
    "body",
    "condition",
    "consequence",
    "expression",
    "function",
    "initializer",
    "left",
    "name",
    "parameters",
    "pattern",
    "qualifier",
    "returns",
    "right",
    "subscript",
    "type",
    "type_parameters",
    "value",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

/// A type; its type parameters have no field in the grammar.
const fn class(kind: SymbolKind) -> Define {
    Define { type_params: Kind("type_parameter_list"), ..define(kind).body("body") }
}

/// The type in a field is a reference.
const TYPED: Do = Do::Refers(Find::Field("type"), RefShape::Type);

const ROWS: &[Row] = &[
    row("using_directive", &[Do::Imports, Do::Hook(declarations::using)]),
    row("file_scoped_namespace_declaration", &[Do::Imports, Do::Hook(declarations::file_namespace)]),
    row("namespace_declaration", &[Do::Hook(declarations::namespace)]),
    row("extern_alias_directive", &[Do::Label]),
    // Types.
    row("class_declaration", &[Do::Define(class(Class)), Do::Hook(declarations::primary)]),
    row("struct_declaration", &[Do::Define(class(Struct)), Do::Hook(declarations::primary)]),
    row("record_declaration", &[Do::Define(class(Class)), Do::Hook(declarations::primary)]),
    row("interface_declaration", &[Do::Define(class(Interface))]),
    row("enum_declaration", &[Do::Define(define(Enum).body("body"))]),
    row(
        "delegate_declaration",
        &[TYPED, Do::Define(define(Type).generic("type_parameters")), Do::Hook(declarations::delegate)],
    ),
    row("base_list", &[Do::Hook(declarations::bases)]),
    row("primary_constructor_base_type", &[Do::Lower(Lower::Same(field("type")))]),
    row(
        "enum_member_declaration",
        &[Do::Define(define(Variant).value(field("value"))), Do::Hook(declarations::constant)],
    ),
    row("modifier", &[]),
    row("attribute_list", &[]),
    row("attribute", &[Do::Refers(field("name"), RefShape::Decorator)]),
    row("attribute_argument_list", &[]),
    row("attribute_argument", &[Do::Hook(hooks::attribute_argument)]),
    row("type_parameter_list", &[]),
    row("type_parameter", &[Do::Bind(bind(TypeParam, field("name")))]),
    row("type_parameter_constraints_clause", &[Do::Hook(declarations::constraints)]),
    row("type_parameter_constraint", &[TYPED]),
    // Members.
    row(
        "method_declaration",
        &[
            Do::Refers(field("returns"), RefShape::Type),
            Do::Define(
                define(Method).params("parameters").generic("type_parameters").of_type(field("returns")).body("body"),
            ),
            Do::Hook(declarations::signature),
        ],
    ),
    row(
        "constructor_declaration",
        &[Do::Define(define(Constructor).params("parameters").body("body")), Do::Hook(declarations::signature)],
    ),
    row("constructor_initializer", &[Do::Hook(hooks::constructor_call)]),
    row("destructor_declaration", &[Do::Define(define(Method).params("parameters").body("body"))]),
    row("operator_declaration", &[TYPED, Do::Hook(declarations::unnamed_function)]),
    row("conversion_operator_declaration", &[TYPED, Do::Hook(declarations::unnamed_function)]),
    row(
        "local_function_statement",
        &[
            TYPED,
            Do::Define(define(Fn).params("parameters").generic("type_parameters").of_type(field("type")).body("body")),
            Do::Hook(declarations::signature),
        ],
    ),
    row(
        "property_declaration",
        &[TYPED, Do::Define(define(Property).of_type(field("type")).value(field("value")).body("accessors"))],
    ),
    row("event_declaration", &[TYPED, Do::Define(define(Property).of_type(field("type")).body("accessors"))]),
    row("indexer_declaration", &[TYPED, Do::Hook(declarations::indexer)]),
    row("accessor_list", &[]),
    row("accessor_declaration", &[Do::Scope, Do::Hook(declarations::accessor)]),
    row("explicit_interface_specifier", &[Do::Refers(First, RefShape::Type)]),
    row("field_declaration", &[]),
    row("event_field_declaration", &[]),
    row("local_declaration_statement", &[]),
    row("variable_declaration", &[TYPED]),
    row("variable_declarator", &[Do::Hook(declarations::declarator)]),
    row("parameter_list", &[Do::Hook(declarations::any_number)]),
    row("bracketed_parameter_list", &[Do::Hook(declarations::any_number)]),
    row("parameter", &[TYPED, Do::Hook(declarations::parameter), Do::Bind(declarations::PARAMETER)]),
    row("implicit_parameter", &[Do::Leaf(RefShape::Value)]),
    // Blocks and local bindings.
    row("block", &[Do::Scope]),
    row("arrow_expression_clause", &[Do::Scope, Do::Lower(Lower::Same(First))]),
    row("for_statement", &[Do::Scope]),
    row("foreach_statement", &[Do::Scope, TYPED, Do::Hook(declarations::foreach)]),
    row("using_statement", &[Do::Scope]),
    row("fixed_statement", &[Do::Scope]),
    row("catch_clause", &[Do::Scope]),
    row("catch_declaration", &[TYPED, Do::Bind(bind(Local, field("name")).of_type(field("type")))]),
    row("switch_section", &[Do::Scope]),
    row("switch_expression", &[Do::Lower(Lower::Hook(hooks::switch_value))]),
    row("switch_expression_arm", &[Do::Scope, Do::Lower(Lower::Same(Last))]),
    row(
        "declaration_expression",
        &[TYPED, Do::Bind(bind(Local, field("name")).of_type(field("type"))), Do::Lower(Lower::Cast(field("type")))],
    ),
    row("declaration_pattern", &[TYPED, Do::Bind(bind(Local, field("name")).of_type(field("type")))]),
    row("recursive_pattern", &[TYPED, Do::Bind(bind(Local, field("name")).of_type(field("type")))]),
    row("type_pattern", &[TYPED]),
    row("var_pattern", &[Do::Bind(bind(Local, field("name")))]),
    row("list_pattern", &[Do::Bind(bind(Local, field("name")))]),
    row("property_pattern_clause", &[]),
    row("positional_pattern_clause", &[]),
    row("subpattern", &[Do::Hook(hooks::subpattern)]),
    row("tuple_pattern", &[Do::Hook(declarations::names)]),
    row("parenthesized_variable_designation", &[Do::Hook(declarations::names)]),
    row("query_expression", &[Do::Scope, Do::Hook(declarations::query)]),
    row("from_clause", &[TYPED, Do::Hook(declarations::from)]),
    row("let_clause", &[Do::Hook(declarations::let_clause)]),
    row("join_clause", &[TYPED, Do::Hook(declarations::query)]),
    row("join_into_clause", &[Do::Hook(declarations::query)]),
    row("return_statement", &[Do::Returns]),
    row("labeled_statement", &[Do::Label]),
    row("goto_statement", &[Do::Label]),
    row("preproc_if", &[Do::Hook(hooks::condition)]),
    row("preproc_elif", &[Do::Hook(hooks::condition)]),
    row("preproc_if_in_attribute_list", &[Do::Hook(hooks::condition)]),
    row("preproc_pragma", &[Do::Opaque]),
    // Expressions.
    row(
        "invocation_expression",
        &[Do::Hook(hooks::call), Do::Lower(Lower::CallOf(field("function"), field("arguments")))],
    ),
    row("argument_list", &[]),
    row("bracketed_argument_list", &[]),
    row("argument", &[Do::Hook(hooks::argument), Do::Lower(Lower::Same(Last))]),
    row("object_creation_expression", &[Do::Lower(Lower::New(field("type"), field("arguments")))]),
    row(
        "implicit_object_creation_expression",
        &[Do::Hook(hooks::call_of_wanted), Do::Lower(Lower::Hook(hooks::new_of_wanted))],
    ),
    row("anonymous_object_creation_expression", &[Do::Hook(hooks::unnamed_object)]),
    row("initializer_expression", &[Do::Hook(hooks::initializer)]),
    row("with_expression", &[Do::Lower(Lower::Same(First))]),
    row("with_initializer", &[Do::Hook(hooks::with_initializer)]),
    row("array_creation_expression", &[TYPED, Do::Lower(Lower::Cast(field("type")))]),
    row("stackalloc_expression", &[TYPED, Do::Lower(Lower::Cast(field("type")))]),
    row("member_access_expression", &[Do::Lower(Lower::Member(field("expression"), field("name")))]),
    row(
        "conditional_access_expression",
        &[Do::Lower(Lower::Member(field("condition"), Within("member_binding_expression", "name")))],
    ),
    row("member_binding_expression", &[Do::Fields]),
    row("element_access_expression", &[Do::Lower(Lower::Index(field("expression"), field("subscript")))]),
    row("element_binding_expression", &[]),
    row("cast_expression", &[TYPED, Do::Lower(Lower::Cast(field("type")))]),
    row("as_expression", &[Do::Refers(field("right"), RefShape::Type), Do::Lower(Lower::Cast(field("right")))]),
    row("is_expression", &[Do::Refers(field("right"), RefShape::Type), Do::Lower(Lower::Literal(Literal::Bool))]),
    row("is_pattern_expression", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("default_expression", &[TYPED, Do::Lower(Lower::Cast(field("type")))]),
    row("typeof_expression", &[TYPED, Do::Lower(Lower::Hook(hooks::type_of))]),
    row("sizeof_expression", &[TYPED]),
    row("refvalue_expression", &[TYPED]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Do::Lower(Lower::Same(field("left")))]),
    row("binary_expression", &[Do::Lower(Lower::Binary)]),
    row("prefix_unary_expression", &[Do::Lower(Lower::Same(First))]),
    row("postfix_unary_expression", &[Do::Lower(Lower::Same(First))]),
    row("checked_expression", &[Do::Lower(Lower::Same(First))]),
    row("ref_expression", &[Do::Lower(Lower::Same(First))]),
    row("await_expression", &[Do::Lower(Lower::Hook(hooks::awaited))]),
    row("lambda_expression", &[TYPED, Do::Lower(Lower::Closure(field("parameters"), field("body")))]),
    row("anonymous_method_expression", &[Do::Lower(Lower::Closure(field("parameters"), Kind("block")))]),
    row("string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("verbatim_string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("raw_string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("interpolated_string_expression", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("character_literal", &[Do::Lower(Lower::Literal(Literal::Char))]),
    row("integer_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("real_literal", &[Do::Lower(Lower::Hook(hooks::number))]),
    row("boolean_literal", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("null_literal", &[Do::Lower(Lower::Literal(Literal::Null))]),
    row("this", &[Do::Lower(Lower::This)]),
    row("base", &[Do::Lower(Lower::Super)]),
    // Names and types.
    row("identifier", &[Do::Leaf(RefShape::Value)]),
    row("qualified_name", &[Do::Lower(Lower::Member(field("qualifier"), field("name")))]),
    row("alias_qualified_name", &[Do::Hook(hooks::refer_to_aliased), Do::Lower(Lower::Hook(hooks::aliased))]),
    row("generic_name", &[Do::Hook(hooks::generic), Do::Lower(Lower::Generic(First, Kind("type_argument_list")))]),
    row("type_argument_list", &[Do::Hook(hooks::type_arguments)]),
    row("nullable_type", &[TYPED, Do::Lower(Lower::Same(field("type")))]),
    row("array_type", &[TYPED, Do::Lower(Lower::List(field("type")))]),
    row("pointer_type", &[TYPED, Do::Lower(Lower::Same(field("type")))]),
    row("ref_type", &[TYPED, Do::Lower(Lower::Same(field("type")))]),
    row("scoped_type", &[TYPED, Do::Lower(Lower::Same(field("type")))]),
    row("tuple_element", &[TYPED, Do::Hook(hooks::argument)]),
    row("function_pointer_parameter", &[TYPED]),
    row("function_pointer_type", &[Do::Refers(field("returns"), RefShape::Type)]),
    row("predefined_type", &[Do::Lower(Lower::Hook(hooks::predefined))]),
    row("comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "compilation_unit",
    "and_pattern",
    "array_rank_specifier",
    "attribute_target_specifier",
    "break_statement",
    "calling_convention",
    "catch_filter_clause",
    "character_literal_content",
    "checked_statement",
    "collection_element",
    "collection_expression",
    "constant_pattern",
    "constructor_constraint",
    "continue_statement",
    "declaration_list",
    "discard",
    "do_statement",
    "empty_statement",
    "enum_member_declaration_list",
    "escape_sequence",
    "expression_element",
    "expression_statement",
    "finally_clause",
    "global_attribute",
    "global_statement",
    "group_clause",
    "if_statement",
    "implicit_array_creation_expression",
    "implicit_stackalloc_expression",
    "implicit_type",
    "interpolation",
    "interpolation_alignment_clause",
    "interpolation_brace",
    "interpolation_format_clause",
    "interpolation_quote",
    "interpolation_start",
    "lock_statement",
    "makeref_expression",
    "negated_pattern",
    "or_pattern",
    "order_by_clause",
    "parenthesized_pattern",
    "preproc_arg",
    "preproc_define",
    "preproc_else",
    "preproc_endregion",
    "preproc_error",
    "preproc_line",
    "preproc_nullable",
    "preproc_region",
    "preproc_undef",
    "preproc_warning",
    "range_expression",
    "raw_string_content",
    "raw_string_end",
    "raw_string_start",
    "reftype_expression",
    "relational_pattern",
    "select_clause",
    "shebang_directive",
    "spread_element",
    "string_content",
    "string_literal_content",
    "string_literal_encoding",
    "switch_body",
    "switch_statement",
    "throw_expression",
    "throw_statement",
    "try_statement",
    "tuple_expression",
    "tuple_type",
    "unary_expression",
    "unsafe_statement",
    "when_clause",
    "where_clause",
    "while_statement",
    "yield_statement",
];
