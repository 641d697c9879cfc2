//! C#.
//!
//! A namespace with a block is a symbol; a file-scoped namespace is only a prefix of qualified names:
//! `App.Web.Page.Show`. The parts of a partial type are one type. An extension method, whose first parameter is `this T
//! x`, also belongs to `T` (`Symbol::owner`), and its type omits that parameter. The parameters of a record are
//! properties. An indexer is a property named `this`. `await` returns the `Result` of a task.

mod declarations;
mod hooks;
mod repair;
mod usings;

use codecompass_model::BindingKind::{Local, TypeParam};
use codecompass_model::SymbolKind::{Class, Constructor, Enum, Fn, Interface, Method, Property, Struct, Type, Variant};
use codecompass_model::{Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::rules::{LookupStep, Namespaces, OutOfLineMembers, OuterUnits, ScopePolicy, Unit};
use crate::spec::Find::{self, ChildField, First, Kind, Last};
use crate::spec::table::Define;
use crate::spec::{Action, LanguageSpec, Lower, ModifierMeaning, Row, bind, define, grammar, row};
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "csharp",
    facts_version: 2,
    extensions: &["cs", "csx"],
    file_names: &[],
    interpreters: &["dotnet-script"],
    has_visibility: true,
    depth: Depth::Types,
    measured: "37 of forty proved calls of four repositories that were read by eye are right",
    conventions: Conventions {
        test_folders: &["unittests", "integrationtests"],
        test_infixes: &["tests.cs", "test.cs", "specs.cs"],
        manifests: &["Directory.Build.props", "packages.config"],
        reexport_files: &["assemblyinfo.cs", "globalusings.cs"],
        ..Conventions::NONE
    },
    grammar: Grammar {
        repair: Some(repair::repair),
        ..grammar!(ROWS, FIELDS, &["var", "_"], || tree_sitter_c_sharp::LANGUAGE.into())
    },
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &["modifier"],
    attributes: &["attribute_list"],
    modifier_words: &[
        ("public", ModifierMeaning::Visibility(Visibility::Public)),
        ("protected", ModifierMeaning::Visibility(Visibility::Protected)),
        ("internal", ModifierMeaning::Visibility(Visibility::Internal)),
        ("private", ModifierMeaning::Visibility(Visibility::Private)),
        ("static", ModifierMeaning::Flag(Flags::STATIC)),
        ("abstract", ModifierMeaning::Flag(Flags::ABSTRACT)),
    ],
    visibility,
    test_marks: &["Fact", "Theory", "Test", "TestCase", "TestMethod", "DataTestMethod", "TestCaseSource"],
    overloads: true,
    ..LanguageSpec::PLAIN
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

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "csharp",
    lookup_order: &[
        LookupStep::Enclosing,
        LookupStep::File,
        LookupStep::Unit,
        LookupStep::Import,
        LookupStep::Glob,
        LookupStep::Library,
    ],
    explicit_type_args_need_params: true,
    unit: Unit::Package,
    outer_units: OuterUnits::All,
    unknown_names_are_external: true,
    packages_must_exist: true,
    extensions: true,
    generic_arity_distinguishes: true,
    lists_are_iterable: true,
    indexer: Some("this"),
    decorator_ending: "Attribute",
    shared_imports: usings::implicit_imports,
    namespaces: Namespaces::TypesSeparate,
    implicit_this: true,
    out_of_line: OutOfLineMembers::ByName,
    literals: &[(Literal::Text, "String"), (Literal::Char, "char"), (Literal::Bool, "bool")],
    library: include_str!("library.stubs"),
    library_file: "library.cs",
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    root: Some("Object"),
    prelude: "System",
    iterable: Some("IEnumerable"),
    widening_order: &[
        "sbyte", "byte", "short", "ushort", "char", "int", "uint", "nint", "nuint", "long", "ulong", "float", "double",
        "decimal", "bool",
    ],
    ..ScopePolicy::PLAIN
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
const REFERS_TO_TYPE: Action = Action::Refers(Find::Field("type"), RefShape::Type);

const ROWS: &[Row] = &[
    row("using_directive", &[Action::Imports, Action::Hook(declarations::using)]),
    row("file_scoped_namespace_declaration", &[Action::Imports, Action::Hook(declarations::file_namespace)]),
    row("namespace_declaration", &[Action::Hook(declarations::namespace)]),
    row("extern_alias_directive", &[Action::Label]),
    // Types.
    row("class_declaration", &[Action::Define(class(Class)), Action::Hook(declarations::primary)]),
    row("struct_declaration", &[Action::Define(class(Struct)), Action::Hook(declarations::primary)]),
    row("record_declaration", &[Action::Define(class(Class)), Action::Hook(declarations::primary)]),
    row("interface_declaration", &[Action::Define(class(Interface))]),
    row("enum_declaration", &[Action::Define(define(Enum).body("body"))]),
    row(
        "delegate_declaration",
        &[
            REFERS_TO_TYPE,
            Action::Define(define(Type).generic("type_parameters")),
            Action::Hook(declarations::delegate),
        ],
    ),
    row("base_list", &[Action::Hook(declarations::bases)]),
    row("primary_constructor_base_type", &[Action::Lower(Lower::Same(field("type")))]),
    row(
        "enum_member_declaration",
        &[Action::Define(define(Variant).value(field("value"))), Action::Hook(declarations::constant)],
    ),
    row("modifier", &[]),
    row("attribute_list", &[]),
    row("attribute", &[Action::Refers(field("name"), RefShape::Decorator)]),
    row("attribute_argument_list", &[]),
    row("attribute_argument", &[Action::Hook(hooks::attribute_argument)]),
    row("type_parameter_list", &[]),
    row("type_parameter", &[Action::Bind(bind(TypeParam, field("name")))]),
    row("type_parameter_constraints_clause", &[Action::Hook(declarations::constraints)]),
    row("type_parameter_constraint", &[REFERS_TO_TYPE]),
    // Members.
    row(
        "method_declaration",
        &[
            Action::Refers(field("returns"), RefShape::Type),
            Action::Define(
                define(Method).params("parameters").generic("type_parameters").of_type(field("returns")).body("body"),
            ),
            Action::Hook(declarations::signature),
        ],
    ),
    row(
        "constructor_declaration",
        &[Action::Define(define(Constructor).params("parameters").body("body")), Action::Hook(declarations::signature)],
    ),
    row("constructor_initializer", &[Action::Hook(hooks::constructor_call)]),
    row("destructor_declaration", &[Action::Define(define(Method).params("parameters").body("body"))]),
    row("operator_declaration", &[REFERS_TO_TYPE, Action::Hook(declarations::unnamed_function)]),
    row("conversion_operator_declaration", &[REFERS_TO_TYPE, Action::Hook(declarations::unnamed_function)]),
    row(
        "local_function_statement",
        &[
            REFERS_TO_TYPE,
            Action::Define(
                define(Fn).params("parameters").generic("type_parameters").of_type(field("type")).body("body"),
            ),
            Action::Hook(declarations::signature),
        ],
    ),
    row(
        "property_declaration",
        &[
            REFERS_TO_TYPE,
            Action::Define(define(Property).of_type(field("type")).value(field("value")).body("accessors")),
        ],
    ),
    row(
        "event_declaration",
        &[REFERS_TO_TYPE, Action::Define(define(Property).of_type(field("type")).body("accessors"))],
    ),
    row("indexer_declaration", &[REFERS_TO_TYPE, Action::Hook(declarations::indexer)]),
    row("accessor_list", &[]),
    row("accessor_declaration", &[Action::Scope, Action::Hook(declarations::accessor)]),
    row("explicit_interface_specifier", &[Action::Refers(First, RefShape::Type)]),
    row("field_declaration", &[]),
    row("event_field_declaration", &[]),
    row("local_declaration_statement", &[]),
    row("variable_declaration", &[REFERS_TO_TYPE]),
    row("variable_declarator", &[Action::Hook(declarations::declarator)]),
    row("parameter_list", &[Action::Hook(declarations::params_array)]),
    row("bracketed_parameter_list", &[Action::Hook(declarations::params_array)]),
    row("parameter", &[REFERS_TO_TYPE, Action::Hook(declarations::parameter), Action::Bind(declarations::PARAMETER)]),
    row("implicit_parameter", &[Action::Leaf(RefShape::Value)]),
    // Blocks and local bindings.
    row("block", &[Action::Scope]),
    row("arrow_expression_clause", &[Action::Scope, Action::Lower(Lower::Same(First))]),
    row("for_statement", &[Action::Scope]),
    row("foreach_statement", &[Action::Scope, REFERS_TO_TYPE, Action::Hook(declarations::foreach)]),
    row("using_statement", &[Action::Scope]),
    row("fixed_statement", &[Action::Scope]),
    row("catch_clause", &[Action::Scope]),
    row("catch_declaration", &[REFERS_TO_TYPE, Action::Bind(bind(Local, field("name")).of_type(field("type")))]),
    row("switch_section", &[Action::Scope]),
    row("switch_expression", &[Action::Lower(Lower::Hook(hooks::switch_value))]),
    row("switch_expression_arm", &[Action::Scope, Action::Lower(Lower::Same(Last))]),
    row(
        "declaration_expression",
        &[
            REFERS_TO_TYPE,
            Action::Bind(bind(Local, field("name")).of_type(field("type"))),
            Action::Lower(Lower::Cast(field("type"))),
        ],
    ),
    row("declaration_pattern", &[REFERS_TO_TYPE, Action::Bind(bind(Local, field("name")).of_type(field("type")))]),
    row("recursive_pattern", &[REFERS_TO_TYPE, Action::Bind(bind(Local, field("name")).of_type(field("type")))]),
    row("type_pattern", &[REFERS_TO_TYPE]),
    row("var_pattern", &[Action::Bind(bind(Local, field("name")))]),
    row("list_pattern", &[Action::Bind(bind(Local, field("name")))]),
    row("property_pattern_clause", &[]),
    row("positional_pattern_clause", &[]),
    row("subpattern", &[Action::Hook(hooks::subpattern)]),
    row("tuple_pattern", &[Action::Hook(declarations::names)]),
    row("parenthesized_variable_designation", &[Action::Hook(declarations::names)]),
    row("query_expression", &[Action::Scope, Action::Hook(declarations::query)]),
    row("from_clause", &[REFERS_TO_TYPE, Action::Hook(declarations::from)]),
    row("let_clause", &[Action::Hook(declarations::let_clause)]),
    row("join_clause", &[REFERS_TO_TYPE, Action::Hook(declarations::query)]),
    row("join_into_clause", &[Action::Hook(declarations::query)]),
    row("return_statement", &[Action::Returns]),
    row("labeled_statement", &[Action::Label]),
    row("goto_statement", &[Action::Label]),
    row("preproc_if", &[Action::Hook(hooks::condition)]),
    row("preproc_elif", &[Action::Hook(hooks::condition)]),
    row("preproc_if_in_attribute_list", &[Action::Hook(hooks::condition)]),
    row("preproc_pragma", &[Action::Opaque]),
    // Expressions.
    row(
        "invocation_expression",
        &[Action::Hook(hooks::call), Action::Lower(Lower::CallOf(field("function"), field("arguments")))],
    ),
    row("argument_list", &[]),
    row("bracketed_argument_list", &[]),
    row("argument", &[Action::Hook(hooks::argument), Action::Lower(Lower::Same(Last))]),
    row("object_creation_expression", &[Action::Lower(Lower::New(field("type"), field("arguments")))]),
    row(
        "implicit_object_creation_expression",
        &[Action::Hook(hooks::implicit_new_call), Action::Lower(Lower::Hook(hooks::implicit_new))],
    ),
    row("anonymous_object_creation_expression", &[Action::Hook(hooks::anonymous_object)]),
    row("initializer_expression", &[Action::Hook(hooks::initializer)]),
    row("with_expression", &[Action::Lower(Lower::Same(First))]),
    row("with_initializer", &[Action::Hook(hooks::with_initializer)]),
    row("array_creation_expression", &[REFERS_TO_TYPE, Action::Lower(Lower::Cast(field("type")))]),
    row("stackalloc_expression", &[REFERS_TO_TYPE, Action::Lower(Lower::Cast(field("type")))]),
    row("member_access_expression", &[Action::Lower(Lower::Member(field("expression"), field("name")))]),
    row(
        "conditional_access_expression",
        &[Action::Lower(Lower::Member(field("condition"), ChildField("member_binding_expression", "name")))],
    ),
    row("member_binding_expression", &[Action::Fields]),
    row("element_access_expression", &[Action::Lower(Lower::Index(field("expression"), field("subscript")))]),
    row("element_binding_expression", &[]),
    row("cast_expression", &[REFERS_TO_TYPE, Action::Lower(Lower::Cast(field("type")))]),
    row("as_expression", &[Action::Refers(field("right"), RefShape::Type), Action::Lower(Lower::Cast(field("right")))]),
    row(
        "is_expression",
        &[Action::Refers(field("right"), RefShape::Type), Action::Lower(Lower::Literal(Literal::Bool))],
    ),
    row("is_pattern_expression", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("default_expression", &[REFERS_TO_TYPE, Action::Lower(Lower::Cast(field("type")))]),
    row("typeof_expression", &[REFERS_TO_TYPE, Action::Lower(Lower::Hook(hooks::type_of))]),
    row("sizeof_expression", &[REFERS_TO_TYPE]),
    row("refvalue_expression", &[REFERS_TO_TYPE]),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Action::Lower(Lower::Same(field("left")))]),
    row("binary_expression", &[Action::Lower(Lower::Binary)]),
    row("prefix_unary_expression", &[Action::Lower(Lower::Same(First))]),
    row("postfix_unary_expression", &[Action::Lower(Lower::Same(First))]),
    row("checked_expression", &[Action::Lower(Lower::Same(First))]),
    row("ref_expression", &[Action::Lower(Lower::Same(First))]),
    row("await_expression", &[Action::Lower(Lower::Hook(hooks::awaited))]),
    row("lambda_expression", &[REFERS_TO_TYPE, Action::Lower(Lower::Closure(field("parameters"), field("body")))]),
    row("anonymous_method_expression", &[Action::Lower(Lower::Closure(field("parameters"), Kind("block")))]),
    row("string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("verbatim_string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("raw_string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("interpolated_string_expression", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("character_literal", &[Action::Lower(Lower::Literal(Literal::Char))]),
    row("integer_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("real_literal", &[Action::Lower(Lower::Hook(hooks::number))]),
    row("boolean_literal", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("null_literal", &[Action::Lower(Lower::Literal(Literal::Null))]),
    row("this", &[Action::Lower(Lower::This)]),
    row("base", &[Action::Lower(Lower::Super)]),
    // Names and types.
    row("identifier", &[Action::Leaf(RefShape::Value)]),
    row("qualified_name", &[Action::Lower(Lower::Member(field("qualifier"), field("name")))]),
    row("alias_qualified_name", &[Action::Hook(hooks::refer_to_aliased), Action::Lower(Lower::Hook(hooks::aliased))]),
    row(
        "generic_name",
        &[Action::Hook(hooks::generic), Action::Lower(Lower::Generic(First, Kind("type_argument_list")))],
    ),
    row("type_argument_list", &[Action::Hook(hooks::type_arguments)]),
    row("nullable_type", &[REFERS_TO_TYPE, Action::Lower(Lower::Same(field("type")))]),
    row("array_type", &[REFERS_TO_TYPE, Action::Lower(Lower::List(field("type")))]),
    row("pointer_type", &[REFERS_TO_TYPE, Action::Lower(Lower::Same(field("type")))]),
    row("ref_type", &[REFERS_TO_TYPE, Action::Lower(Lower::Same(field("type")))]),
    row("scoped_type", &[REFERS_TO_TYPE, Action::Lower(Lower::Same(field("type")))]),
    row("tuple_element", &[REFERS_TO_TYPE, Action::Hook(hooks::argument)]),
    row("function_pointer_parameter", &[REFERS_TO_TYPE]),
    row("function_pointer_type", &[Action::Refers(field("returns"), RefShape::Type)]),
    row("predefined_type", &[Action::Lower(Lower::Hook(hooks::predefined))]),
    row("comment", &[Action::Comment]),
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
