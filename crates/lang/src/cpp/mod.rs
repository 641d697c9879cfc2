//! C++.
//!
//! Declarators, includes and the preprocessor are shared with C. A qualified name consists of the enclosing namespaces
//! and types: `leveldb::DB::Get`. This also holds for a member defined outside its class; its declaration inside the
//! class is a prototype, which ranks after the definition. Unnamed and inline namespaces are not part of a qualified
//! name.

mod classes;
mod functions;
mod hooks;
mod paths;
mod repair;

use codecompass_model::SymbolKind::{self, Class, Struct, Union, Variant};
use codecompass_model::{Literal, RefShape, Visibility};

use crate::c::hooks as c;
use crate::c::includes;
use crate::customs::Customs;
use crate::recipe::Find::{self, First};
use crate::recipe::{Do, Lower, Means, Recipe, Row, define, grammar, row};
use crate::rules::{Apart, Look, Parts, Scoping, Unit};
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "cpp",
    facts_version: 1,
    extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tpp"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "forty proved calls of four repositories read by eye",
    customs: Customs {
        test_marks: &["_test.cc", "_test.cpp", "_tests.cpp", "_unittest.cc", ".tests.cpp"],
        manifests: &["CMakeLists.txt", "meson.build", "conanfile.txt"],
        ..Customs::NONE
    },
    grammar: Grammar {
        repair: Some(repair::repair),
        ..grammar!(ROWS, FIELDS, paths::CASTS, || tree_sitter_cpp::LANGUAGE.into())
    },
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    separator: "::",
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    words: &[
        ("public", Means::Seen(Visibility::Public)),
        ("protected", Means::Seen(Visibility::Protected)),
        ("private", Means::Seen(Visibility::Private)),
    ],
    visibility,
    overloads: true,
    begin: |walk| walk.draft.types_are_values(),
    ..Recipe::PLAIN
};

/// Members of a class are private without an access specifier.
fn visibility(kind: SymbolKind, around: Option<SymbolKind>) -> Option<Visibility> {
    let is_private = around == Some(Class) && kind != Variant;
    Some(if is_private { Visibility::Private } else { Visibility::Public })
}

static SCOPING: Scoping = Scoping {
    language: "cpp",
    kin: &["c"],
    separator: "::",
    order: &[Look::Around, Look::Unit],
    unit: Unit::Namespace,
    apart: Apart::Types,
    implicit_this: true,
    parts: Parts::ByOwner,
    calls_make: true,
    operators: true,
    literals: &[(Literal::Int, "int"), (Literal::Float, "double"), (Literal::Char, "char"), (Literal::Bool, "bool")],
    library: include_str!("library.stubs"),
    library_file: "library.cc",
    widens: &[
        "bool",
        "char",
        "int8_t",
        "uint8_t",
        "short",
        "int16_t",
        "uint16_t",
        "int",
        "int32_t",
        "uint32_t",
        "long",
        "ssize_t",
        "size_t",
        "int64_t",
        "uint64_t",
        "intptr_t",
        "uintptr_t",
        "ptrdiff_t",
        "float",
        "double",
        "signed",
        "unsigned",
        "wchar_t",
        "char16_t",
        "char32_t",
    ],
    module: includes::files,
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &[
    "alternative",
    "argument",
    "arguments",
    "body",
    "captures",
    "consequence",
    "declarator",
    "default_value",
    "designator",
    "field",
    "function",
    "indices",
    "left",
    "name",
    "parameters",
    "path",
    "right",
    "scope",
    "type",
    "value",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const ROWS: &[Row] = &[
    // Namespaces.
    row("namespace_definition", &[Do::Hook(hooks::namespace)]),
    row("nested_namespace_specifier", &[Do::Lower(Lower::Hook(paths::nested))]),
    row("namespace_alias_definition", &[Do::Hook(hooks::namespace_alias)]),
    row("using_declaration", &[Do::Imports, Do::Hook(hooks::using)]),
    row("namespace_identifier", &[Do::Leaf(RefShape::Type), Do::Lower(Lower::Hook(paths::scope))]),
    // Declarations.
    row("template_declaration", &[Do::Hook(hooks::template)]),
    row("template_parameter_list", &[]),
    row("type_parameter_declaration", &[]),
    row("optional_type_parameter_declaration", &[Do::Fields]),
    row("variadic_type_parameter_declaration", &[]),
    row("template_template_parameter_declaration", &[]),
    row("function_definition", &[Do::Hook(functions::function)]),
    row("declaration", &[Do::Hook(functions::declaration)]),
    row("friend_declaration", &[]),
    row("field_declaration", &[Do::Hook(classes::fields)]),
    row("type_definition", &[Do::Hook(c::type_definition)]),
    row("alias_declaration", &[Do::Hook(hooks::alias)]),
    row("concept_definition", &[Do::Hook(hooks::concept)]),
    row("parameter_declaration", &[Do::Hook(functions::parameter)]),
    row("optional_parameter_declaration", &[Do::Hook(functions::parameter)]),
    row("variadic_parameter_declaration", &[Do::Hook(functions::parameter)]),
    row("parameter_list", &[]),
    row("class_specifier", &[Do::Hook(classes::class), Do::Lower(Lower::Hook(classes::named_type))]),
    row("struct_specifier", &[Do::Hook(classes::class), Do::Lower(Lower::Hook(classes::named_type))]),
    row("union_specifier", &[Do::Hook(classes::class), Do::Lower(Lower::Hook(classes::named_type))]),
    row("enum_specifier", &[Do::Hook(classes::class), Do::Lower(Lower::Hook(classes::named_type))]),
    row("base_class_clause", &[Do::Hook(classes::bases)]),
    row("field_declaration_list", &[Do::Hook(classes::body)]),
    row(
        "access_specifier",
        &[
            Do::In("field_declaration_list", &Do::Hook(classes::section)),
            Do::In("preproc_ifdef", &Do::Hook(classes::section)),
            Do::In("preproc_if", &Do::Hook(classes::section)),
        ],
    ),
    row("enumerator_list", &[]),
    row("enumerator", &[Do::Define(define(Variant).value(field("value"))), Do::Hook(classes::constant)]),
    row("storage_class_specifier", &[]),
    row("type_qualifier", &[]),
    row("init_declarator", &[Do::Lower(Lower::Hook(functions::made))]),
    row("function_declarator", &[Do::Lower(Lower::Hook(functions::made))]),
    row("pointer_declarator", &[Do::Fields]),
    row("pointer_type_declarator", &[Do::Fields]),
    row("array_declarator", &[Do::Fields]),
    row("reference_declarator", &[]),
    row("variadic_declarator", &[]),
    row("structured_binding_declarator", &[]),
    row("parenthesized_declarator", &[]),
    row("attributed_declarator", &[]),
    row("abstract_pointer_declarator", &[Do::Fields]),
    row("abstract_array_declarator", &[Do::Fields]),
    row("abstract_function_declarator", &[Do::Fields]),
    row("abstract_parenthesized_declarator", &[]),
    row("abstract_reference_declarator", &[]),
    row("trailing_return_type", &[]),
    row("operator_name", &[]),
    row("operator_cast", &[Do::Fields]),
    row("destructor_name", &[Do::Hook(paths::destructor)]),
    row("field_initializer_list", &[]),
    row("default_method_clause", &[]),
    row("delete_method_clause", &[]),
    row("pure_virtual_clause", &[]),
    row("linkage_specification", &[Do::Fields]),
    // The preprocessor.
    row("preproc_include", &[Do::Hook(c::include)]),
    row("preproc_def", &[Do::Hook(c::macro_definition)]),
    row("preproc_function_def", &[Do::Hook(c::macro_definition)]),
    row("preproc_params", &[]),
    row("preproc_arg", &[Do::Opaque, Do::Hook(hooks::macro_text)]),
    row("preproc_ifdef", &[Do::Fields]),
    row("preproc_if", &[]),
    // Blocks.
    row("compound_statement", &[Do::Scope]),
    row("expression_statement", &[Do::Hook(functions::test_block)]),
    row("for_statement", &[Do::Scope]),
    row("for_range_loop", &[Do::Scope, Do::Hook(hooks::range_loop)]),
    row("if_statement", &[Do::Scope]),
    row("while_statement", &[Do::Scope]),
    row("switch_statement", &[Do::Scope]),
    row("catch_clause", &[Do::Scope]),
    row("requires_expression", &[Do::Scope, Do::Lower(Lower::Literal(Literal::Bool))]),
    row("return_statement", &[Do::Returns]),
    row("labeled_statement", &[]),
    // Expressions.
    row("call_expression", &[Do::Hook(paths::call), Do::Lower(Lower::CallOf(field("function"), field("arguments")))]),
    row("new_expression", &[Do::Hook(paths::made), Do::Lower(Lower::Hook(paths::new_value))]),
    row("argument_list", &[]),
    row("field_expression", &[Do::Hook(paths::field), Do::Lower(Lower::Pointed(field("argument"), field("field")))]),
    row("subscript_expression", &[Do::Lower(Lower::Index(field("argument"), field("indices")))]),
    row("subscript_argument_list", &[Do::Lower(Lower::Same(First))]),
    row("pointer_expression", &[Do::Lower(Lower::Hook(c::pointer))]),
    row("cast_expression", &[Do::Lower(Lower::Cast(field("type")))]),
    row("compound_literal_expression", &[Do::Hook(paths::made), Do::Lower(Lower::Hook(paths::literal_value))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Do::Lower(Lower::Same(field("left")))]),
    row("comma_expression", &[Do::Lower(Lower::Same(field("right")))]),
    row("binary_expression", &[Do::Lower(Lower::Binary)]),
    row("unary_expression", &[Do::Lower(Lower::Same(field("argument")))]),
    row("update_expression", &[Do::Lower(Lower::Same(field("argument")))]),
    row("extension_expression", &[Do::Lower(Lower::Same(First))]),
    row("parameter_pack_expansion", &[Do::Lower(Lower::Same(First))]),
    row("co_await_expression", &[Do::Fields]),
    row(
        "lambda_expression",
        &[Do::Lower(Lower::Closure(Find::Within("abstract_function_declarator", "parameters"), field("body")))],
    ),
    row("lambda_capture_initializer", &[Do::Hook(hooks::capture)]),
    row("initializer_list", &[]),
    row("initializer_pair", &[Do::Hook(c::designated)]),
    row("field_designator", &[]),
    row("offsetof_expression", &[Do::Hook(c::offset), Do::Lower(Lower::Literal(Literal::Int))]),
    row("sizeof_expression", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("alignof_expression", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("number_literal", &[Do::Lower(Lower::Hook(paths::number))]),
    row("char_literal", &[Do::Lower(Lower::Literal(Literal::Char))]),
    row("string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("raw_string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("concatenated_string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("system_lib_string", &[]),
    row("true", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("null", &[Do::Lower(Lower::Literal(Literal::Null))]),
    row("this", &[Do::Lower(Lower::Hook(paths::this))]),
    // Names and types.
    row("identifier", &[Do::Leaf(RefShape::Value)]),
    row("field_identifier", &[Do::Leaf(RefShape::Member)]),
    row("type_identifier", &[Do::Leaf(RefShape::Type)]),
    row("qualified_identifier", &[Do::Hook(paths::qualified), Do::Lower(Lower::Hook(paths::path))]),
    row("template_type", &[Do::Lower(Lower::Hook(paths::applied))]),
    row("template_function", &[Do::Hook(paths::cast), Do::Lower(Lower::Hook(paths::applied))]),
    row("template_method", &[Do::Lower(Lower::Generic(field("name"), field("arguments")))]),
    row("template_argument_list", &[]),
    row("dependent_name", &[Do::Lower(Lower::Same(First))]),
    row("dependent_type", &[Do::Lower(Lower::Same(First))]),
    row("placeholder_type_specifier", &[]),
    row("primitive_type", &[Do::Lower(Lower::Hook(c::primitive))]),
    row("sized_type_specifier", &[Do::Lower(Lower::Hook(c::primitive))]),
    row("type_descriptor", &[Do::Lower(Lower::Hook(c::described_type))]),
    row("comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "translation_unit",
    "alignas_qualifier",
    "attribute",
    "attribute_declaration",
    "attribute_specifier",
    "attributed_statement",
    "auto",
    "bitfield_clause",
    "break_statement",
    "case_statement",
    "character",
    "co_return_statement",
    "co_yield_statement",
    "compound_requirement",
    "condition_clause",
    "constraint_conjunction",
    "constraint_disjunction",
    "continue_statement",
    "declaration_list",
    "decltype",
    "delete_expression",
    "do_statement",
    "else_clause",
    "escape_sequence",
    "explicit_function_specifier",
    "field_initializer",
    "fold_expression",
    "generic_expression",
    "gnu_asm_clobber_list",
    "gnu_asm_expression",
    "gnu_asm_goto_list",
    "gnu_asm_input_operand",
    "gnu_asm_input_operand_list",
    "gnu_asm_output_operand",
    "gnu_asm_output_operand_list",
    "gnu_asm_qualifier",
    "goto_statement",
    "init_statement",
    "lambda_capture_specifier",
    "lambda_default_capture",
    "literal_suffix",
    "ms_based_modifier",
    "ms_call_modifier",
    "ms_declspec_modifier",
    "ms_pointer_modifier",
    "ms_restrict_modifier",
    "ms_signed_ptr_modifier",
    "ms_unaligned_ptr_modifier",
    "ms_unsigned_ptr_modifier",
    "new_declarator",
    "noexcept",
    "preproc_call",
    "preproc_defined",
    "preproc_directive",
    "preproc_elif",
    "preproc_elifdef",
    "preproc_else",
    "raw_string_content",
    "raw_string_delimiter",
    "ref_qualifier",
    "requirement_seq",
    "requires_clause",
    "seh_except_clause",
    "seh_finally_clause",
    "seh_leave_statement",
    "seh_try_statement",
    "simple_requirement",
    "statement_identifier",
    "static_assert_declaration",
    "subscript_designator",
    "subscript_range_designator",
    "template_instantiation",
    "throw_specifier",
    "throw_statement",
    "try_statement",
    "type_requirement",
    "user_defined_literal",
    "virtual_specifier",
];

/// The symbol kind for the class key before the name.
fn kind_of(node: &str) -> SymbolKind {
    match node {
        "class_specifier" => Class,
        "union_specifier" => Union,
        "enum_specifier" => SymbolKind::Enum,
        _ => Struct,
    }
}
