//! C.
//!
//! A declaration is read from the inside out: `int (*f)(void)` is a pointer to a function, `int *f(void)` a function;
//! see `declarators`. A function that is only declared is a prototype. Its definition is found through the includes, or
//! by its name, which the whole program shares unless it is `static`.

pub(crate) mod declarators;
pub(crate) mod hooks;
pub(crate) mod includes;

use codecompass_model::SymbolKind::{Enum, Union, Variant};
use codecompass_model::{Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First, Last};
use crate::recipe::{Do, Lower, Means, Recipe, Row, define, grammar, row};
use crate::rules::{Apart, Look, Scoping, Unit};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "c",
    facts_version: 1,
    extensions: &["c", "h"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls .9995 / .994 on tmux and .997 / .993 on jansson, against libclang",
    customs: Customs { manifests: &["CMakeLists.txt", "configure.ac", "meson.build"], ..Customs::NONE },
    grammar: grammar!(ROWS, FIELDS, &[], || tree_sitter_c::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &["storage_class_specifier"],
    words: &[("static", Means::Seen(Visibility::Private)), ("static", Means::Flag(Flags::FILE_ONLY))],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    keywords: hooks::KEYWORDS,
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "c",
    kin: &["cpp"],
    order: &[Look::Around, Look::File, Look::Unit, Look::Global],
    unit: Unit::Include,
    apart: Apart::Types,
    literals: &[(Literal::Int, "int"), (Literal::Float, "double"), (Literal::Char, "char"), (Literal::Bool, "int")],
    widens: &["char", "short", "int", "long", "float", "double", "_Bool", "bool", "signed", "unsigned"],
    module: includes::files,
    ..Scoping::PLAIN
};

const FIELDS: &[&str] = &[
    "alternative",
    "argument",
    "arguments",
    "body",
    "consequence",
    "declarator",
    "designator",
    "field",
    "function",
    "index",
    "left",
    "name",
    "parameters",
    "path",
    "right",
    "type",
    "value",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const ROWS: &[Row] = &[
    // Declarations.
    row("function_definition", &[Do::Hook(hooks::function)]),
    row("declaration", &[Do::Hook(hooks::declaration)]),
    row("field_declaration", &[Do::Hook(hooks::fields)]),
    row("type_definition", &[Do::Hook(hooks::type_definition)]),
    row("parameter_declaration", &[Do::Hook(hooks::parameter)]),
    row("parameter_list", &[Do::Hook(hooks::old_parameters)]),
    row("variadic_parameter", &[]),
    row("struct_specifier", &[Do::Hook(hooks::structure), Do::Lower(Lower::Hook(hooks::tagged))]),
    row("union_specifier", &[Do::Hook(hooks::structure), Do::Lower(Lower::Hook(hooks::tagged))]),
    row("enum_specifier", &[Do::Hook(hooks::structure), Do::Lower(Lower::Hook(hooks::tagged))]),
    row("field_declaration_list", &[]),
    row("enumerator_list", &[]),
    row("enumerator", &[Do::Define(define(Variant).value(field("value")))]),
    row("storage_class_specifier", &[]),
    row("type_qualifier", &[]),
    row("init_declarator", &[Do::Fields]),
    row("function_declarator", &[Do::Fields]),
    row("pointer_declarator", &[Do::Fields]),
    row("array_declarator", &[Do::Fields]),
    row("parenthesized_declarator", &[]),
    row("attributed_declarator", &[]),
    row("abstract_pointer_declarator", &[Do::Fields]),
    row("abstract_array_declarator", &[Do::Fields]),
    row("abstract_function_declarator", &[Do::Fields]),
    row("abstract_parenthesized_declarator", &[]),
    // The preprocessor.
    row("preproc_include", &[Do::Hook(hooks::include)]),
    row("preproc_def", &[Do::Hook(hooks::macro_definition)]),
    row("preproc_function_def", &[Do::Hook(hooks::macro_definition)]),
    row("preproc_params", &[]),
    row("preproc_arg", &[Do::Opaque, Do::Hook(hooks::macro_text)]),
    row("preproc_ifdef", &[Do::Fields]),
    // Blocks.
    row("compound_statement", &[Do::Scope]),
    row("for_statement", &[Do::Scope]),
    // Expressions.
    row(
        "call_expression",
        &[
            Do::In("function_declarator", &Do::Refers(field("function"), RefShape::Value)),
            Do::Lower(Lower::CallOf(field("function"), field("arguments"))),
        ],
    ),
    row("argument_list", &[]),
    row("field_expression", &[Do::Lower(Lower::Member(field("argument"), field("field")))]),
    row("subscript_expression", &[Do::Lower(Lower::Index(field("argument"), field("index")))]),
    row("pointer_expression", &[Do::Lower(Lower::Hook(hooks::pointer))]),
    row("cast_expression", &[Do::Lower(Lower::Cast(field("type")))]),
    row("compound_literal_expression", &[Do::Lower(Lower::Cast(field("type")))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Do::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Do::Lower(Lower::Same(field("left")))]),
    row("comma_expression", &[Do::Lower(Lower::Same(field("right")))]),
    row("binary_expression", &[Do::Lower(Lower::Binary)]),
    row("unary_expression", &[Do::Lower(Lower::Same(field("argument")))]),
    row("update_expression", &[Do::Lower(Lower::Same(field("argument")))]),
    row("extension_expression", &[Do::Lower(Lower::Same(First))]),
    row("initializer_list", &[]),
    row("initializer_pair", &[Do::Hook(hooks::designated)]),
    row("field_designator", &[]),
    row("offsetof_expression", &[Do::Hook(hooks::offset), Do::Lower(Lower::Literal(Literal::Int))]),
    row("sizeof_expression", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("alignof_expression", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("number_literal", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("char_literal", &[Do::Lower(Lower::Literal(Literal::Char))]),
    row("string_literal", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("concatenated_string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("system_lib_string", &[]),
    row("true", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    row("null", &[Do::Lower(Lower::Literal(Literal::Null))]),
    // Names and types.
    row("identifier", &[Do::Leaf(RefShape::Value)]),
    row("field_identifier", &[Do::Leaf(RefShape::Member)]),
    row("type_identifier", &[Do::Leaf(RefShape::Type)]),
    row("primitive_type", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("sized_type_specifier", &[Do::Lower(Lower::Hook(hooks::primitive))]),
    row("type_descriptor", &[Do::Lower(Lower::Hook(hooks::described_type))]),
    row("macro_type_specifier", &[Do::Refers(field("name"), RefShape::Call), Do::Lower(Lower::Same(Last))]),
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
    "bitfield_clause",
    "break_statement",
    "case_statement",
    "character",
    "continue_statement",
    "declaration_list",
    "do_statement",
    "else_clause",
    "escape_sequence",
    "expression_statement",
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
    "if_statement",
    "labeled_statement",
    "linkage_specification",
    "ms_based_modifier",
    "ms_call_modifier",
    "ms_declspec_modifier",
    "ms_pointer_modifier",
    "ms_restrict_modifier",
    "ms_signed_ptr_modifier",
    "ms_unaligned_ptr_modifier",
    "ms_unsigned_ptr_modifier",
    "preproc_call",
    "preproc_defined",
    "preproc_directive",
    "preproc_elif",
    "preproc_elifdef",
    "preproc_else",
    "preproc_if",
    "return_statement",
    "seh_except_clause",
    "seh_finally_clause",
    "seh_leave_statement",
    "seh_try_statement",
    "statement_identifier",
    "string_content",
    "subscript_designator",
    "subscript_range_designator",
    "switch_statement",
    "while_statement",
];

/// The symbol kind for the keyword before the name.
fn kind_of(node: &str) -> SymbolKind {
    match node {
        "union_specifier" => Union,
        "enum_specifier" => Enum,
        _ => SymbolKind::Struct,
    }
}
