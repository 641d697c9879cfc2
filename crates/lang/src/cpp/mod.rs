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
use codecompass_model::{CallSyntax, Literal, RefShape, Visibility};

use crate::c::hooks as c;
use crate::c::includes;
use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::rules::{LookupStep, Namespaces, OutOfLineMembers, ScopePolicy, Unit};
use crate::spec::Find::{self, First};
use crate::spec::{Action, LanguageSpec, Lower, ModifierMeaning, Row, define, grammar, row};
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "cpp",
    facts_version: 3,
    extensions: &["cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "tpp"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "forty proved calls of four repositories read by eye",
    conventions: Conventions {
        test_infixes: &["_test.cc", "_test.cpp", "_tests.cpp", "_unittest.cc", ".tests.cpp"],
        manifests: &["CMakeLists.txt", "meson.build", "conanfile.txt"],
        ..Conventions::NONE
    },
    grammar: Grammar {
        repair: Some(repair::repair),
        ..grammar!(ROWS, FIELDS, paths::CASTS, || tree_sitter_cpp::LANGUAGE.into())
    },
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    separator: "::",
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifier_words: &[
        ("public", ModifierMeaning::Visibility(Visibility::Public)),
        ("protected", ModifierMeaning::Visibility(Visibility::Protected)),
        ("private", ModifierMeaning::Visibility(Visibility::Private)),
    ],
    visibility,
    overloads: true,
    begin: |walk| walk.draft.types_are_values(),
    ..LanguageSpec::PLAIN
};

/// Members of a class are private without an access specifier.
fn visibility(kind: SymbolKind, around: Option<SymbolKind>) -> Option<Visibility> {
    let is_private = around == Some(Class) && kind != Variant;
    Some(if is_private { Visibility::Private } else { Visibility::Public })
}

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "cpp",
    call_syntax: CallSyntax { member_calls_reach_functions: false, ..CallSyntax::OPEN },
    interop: &["c"],
    separator: "::",
    lookup_order: &[LookupStep::Enclosing, LookupStep::Unit],
    unit: Unit::Namespace,
    namespaces: Namespaces::TypesSeparate,
    implicit_this: true,
    out_of_line: OutOfLineMembers::ByOwner,
    calls_construct: true,
    operators: true,
    literals: &[(Literal::Int, "int"), (Literal::Float, "double"), (Literal::Char, "char"), (Literal::Bool, "bool")],
    library: include_str!("library.stubs"),
    library_file: "library.cc",
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    widening_order: &[
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
    resolve_module: includes::resolve_include,
    ..ScopePolicy::PLAIN
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
    row("namespace_definition", &[Action::Hook(hooks::namespace)]),
    row("nested_namespace_specifier", &[Action::Lower(Lower::Hook(paths::nested))]),
    row("namespace_alias_definition", &[Action::Hook(hooks::namespace_alias)]),
    row("using_declaration", &[Action::Imports, Action::Hook(hooks::using)]),
    row("namespace_identifier", &[Action::Leaf(RefShape::Type), Action::Lower(Lower::Hook(paths::scope))]),
    // Declarations.
    row("template_declaration", &[Action::Hook(hooks::template)]),
    row("template_parameter_list", &[]),
    row("type_parameter_declaration", &[]),
    row("optional_type_parameter_declaration", &[Action::Fields]),
    row("variadic_type_parameter_declaration", &[]),
    row("template_template_parameter_declaration", &[]),
    row("function_definition", &[Action::Hook(functions::function)]),
    row("declaration", &[Action::Hook(functions::declaration)]),
    row("friend_declaration", &[]),
    row("field_declaration", &[Action::Hook(classes::fields)]),
    row("type_definition", &[Action::Hook(c::type_definition)]),
    row("alias_declaration", &[Action::Hook(hooks::alias)]),
    row("concept_definition", &[Action::Hook(hooks::concept)]),
    row("parameter_declaration", &[Action::Hook(functions::parameter)]),
    row("optional_parameter_declaration", &[Action::Hook(functions::parameter)]),
    row("variadic_parameter_declaration", &[Action::Hook(functions::parameter)]),
    row("parameter_list", &[]),
    row("class_specifier", &[Action::Hook(classes::class), Action::Lower(Lower::Hook(classes::named_type))]),
    row("struct_specifier", &[Action::Hook(classes::class), Action::Lower(Lower::Hook(classes::named_type))]),
    row("union_specifier", &[Action::Hook(classes::class), Action::Lower(Lower::Hook(classes::named_type))]),
    row("enum_specifier", &[Action::Hook(classes::class), Action::Lower(Lower::Hook(classes::named_type))]),
    row("base_class_clause", &[Action::Hook(classes::bases)]),
    row("field_declaration_list", &[Action::Hook(classes::body)]),
    row(
        "access_specifier",
        &[
            Action::In("field_declaration_list", &Action::Hook(classes::section)),
            Action::In("preproc_ifdef", &Action::Hook(classes::section)),
            Action::In("preproc_if", &Action::Hook(classes::section)),
        ],
    ),
    row("enumerator_list", &[]),
    row("enumerator", &[Action::Define(define(Variant).value(field("value"))), Action::Hook(classes::constant)]),
    row("storage_class_specifier", &[]),
    row("type_qualifier", &[]),
    row("init_declarator", &[Action::Lower(Lower::Hook(functions::declared_value))]),
    row("function_declarator", &[Action::Lower(Lower::Hook(functions::declared_value))]),
    row("pointer_declarator", &[Action::Fields]),
    row("pointer_type_declarator", &[Action::Fields]),
    row("array_declarator", &[Action::Fields]),
    row("reference_declarator", &[]),
    row("variadic_declarator", &[]),
    row("structured_binding_declarator", &[]),
    row("parenthesized_declarator", &[]),
    row("attributed_declarator", &[]),
    row("abstract_pointer_declarator", &[Action::Fields]),
    row("abstract_array_declarator", &[Action::Fields]),
    row("abstract_function_declarator", &[Action::Fields]),
    row("abstract_parenthesized_declarator", &[]),
    row("abstract_reference_declarator", &[]),
    row("trailing_return_type", &[]),
    row("operator_name", &[]),
    row("operator_cast", &[Action::Fields]),
    row("destructor_name", &[Action::Hook(paths::destructor)]),
    row("field_initializer_list", &[]),
    row("default_method_clause", &[]),
    row("delete_method_clause", &[]),
    row("pure_virtual_clause", &[]),
    row("linkage_specification", &[Action::Fields]),
    // The preprocessor.
    row("preproc_include", &[Action::Hook(c::include)]),
    row("preproc_def", &[Action::Hook(c::macro_definition)]),
    row("preproc_function_def", &[Action::Hook(c::macro_definition)]),
    row("preproc_params", &[]),
    row("preproc_arg", &[Action::Opaque, Action::Hook(hooks::macro_text)]),
    row("preproc_ifdef", &[Action::Fields]),
    row("preproc_if", &[]),
    // Blocks.
    row("compound_statement", &[Action::Scope]),
    row("expression_statement", &[Action::Hook(functions::test_block)]),
    row("for_statement", &[Action::Scope]),
    row("for_range_loop", &[Action::Scope, Action::Hook(hooks::range_loop)]),
    row("if_statement", &[Action::Scope]),
    row("while_statement", &[Action::Scope]),
    row("switch_statement", &[Action::Scope]),
    row("catch_clause", &[Action::Scope]),
    row("requires_expression", &[Action::Scope, Action::Lower(Lower::Literal(Literal::Bool))]),
    row("return_statement", &[Action::Returns]),
    row("labeled_statement", &[]),
    // Expressions.
    row(
        "call_expression",
        &[Action::Hook(paths::call), Action::Lower(Lower::CallOf(field("function"), field("arguments")))],
    ),
    row("new_expression", &[Action::Hook(paths::construct), Action::Lower(Lower::Hook(paths::new_value))]),
    row("argument_list", &[]),
    row(
        "field_expression",
        &[Action::Hook(paths::field), Action::Lower(Lower::PointerMember(field("argument"), field("field")))],
    ),
    row("subscript_expression", &[Action::Lower(Lower::Index(field("argument"), field("indices")))]),
    row("subscript_argument_list", &[Action::Lower(Lower::Same(First))]),
    row("pointer_expression", &[Action::Lower(Lower::Hook(c::pointer))]),
    row("cast_expression", &[Action::Lower(Lower::Cast(field("type")))]),
    row(
        "compound_literal_expression",
        &[Action::Hook(paths::construct), Action::Lower(Lower::Hook(paths::literal_value))],
    ),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Action::Lower(Lower::Same(field("left")))]),
    row("comma_expression", &[Action::Lower(Lower::Same(field("right")))]),
    row("binary_expression", &[Action::Lower(Lower::Binary)]),
    row("unary_expression", &[Action::Lower(Lower::Same(field("argument")))]),
    row("update_expression", &[Action::Lower(Lower::Same(field("argument")))]),
    row("extension_expression", &[Action::Lower(Lower::Same(First))]),
    row("parameter_pack_expansion", &[Action::Lower(Lower::Same(First))]),
    row("co_await_expression", &[Action::Fields]),
    row(
        "lambda_expression",
        &[Action::Lower(Lower::Closure(Find::ChildField("abstract_function_declarator", "parameters"), field("body")))],
    ),
    row("lambda_capture_initializer", &[Action::Hook(hooks::capture)]),
    row("initializer_list", &[]),
    row("initializer_pair", &[Action::Hook(c::designated)]),
    row("field_designator", &[]),
    row("offsetof_expression", &[Action::Hook(c::offset), Action::Lower(Lower::Literal(Literal::Int))]),
    row("sizeof_expression", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("alignof_expression", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("number_literal", &[Action::Lower(Lower::Hook(paths::number))]),
    row("char_literal", &[Action::Lower(Lower::Literal(Literal::Char))]),
    row("string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("raw_string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("concatenated_string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("system_lib_string", &[]),
    row("true", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("null", &[Action::Lower(Lower::Literal(Literal::Null))]),
    row("this", &[Action::Lower(Lower::Hook(paths::this))]),
    // Names and types.
    row("identifier", &[Action::Leaf(RefShape::Value)]),
    row("field_identifier", &[Action::Leaf(RefShape::Member)]),
    row("type_identifier", &[Action::Leaf(RefShape::Type)]),
    row("qualified_identifier", &[Action::Hook(paths::qualified), Action::Lower(Lower::Hook(paths::path))]),
    row("template_type", &[Action::Lower(Lower::Hook(paths::template_with_args))]),
    row("template_function", &[Action::Hook(paths::cast), Action::Lower(Lower::Hook(paths::template_with_args))]),
    row("template_method", &[Action::Lower(Lower::Generic(field("name"), field("arguments")))]),
    row("template_argument_list", &[]),
    row("dependent_name", &[Action::Lower(Lower::Same(First))]),
    row("dependent_type", &[Action::Lower(Lower::Same(First))]),
    row("placeholder_type_specifier", &[]),
    row("primitive_type", &[Action::Lower(Lower::Hook(c::primitive))]),
    row("sized_type_specifier", &[Action::Lower(Lower::Hook(c::primitive))]),
    row("type_descriptor", &[Action::Lower(Lower::Hook(c::described_type))]),
    row("comment", &[Action::Comment]),
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
fn kind_of_class_key(node: &str) -> SymbolKind {
    match node {
        "class_specifier" => Class,
        "union_specifier" => Union,
        "enum_specifier" => SymbolKind::Enum,
        _ => Struct,
    }
}
