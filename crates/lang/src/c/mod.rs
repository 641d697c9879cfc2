//! C.
//!
//! A declaration is read from the inside out: `int (*f)(void)` is a pointer to a function, `int *f(void)` a function;
//! see `declarators`. A function that is only declared is a prototype. Its definition is found through the includes, or
//! by its name, which the whole program shares unless it is `static`.

pub(crate) mod declarators;
pub(crate) mod hooks;
pub(crate) mod includes;
mod macros;

use codecompass_model::SymbolKind::{Enum, Union, Variant};
use codecompass_model::{CallSyntax, Flags, Literal, RefShape, SymbolKind, Visibility};

use crate::conventions::Conventions;
use crate::rules::{LookupStep, Namespaces, ScopePolicy, Unit};
use crate::spec::Find::{self, First, Last};
use crate::spec::{Action, LanguageSpec, Lower, ModifierMeaning, Row, define, grammar, row};
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "c",
    facts_version: 2,
    extensions: &["c", "h"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "calls .9997 / 1.0 on tmux and .997 / .998 on jansson, against libclang",
    conventions: Conventions { manifests: &["CMakeLists.txt", "configure.ac", "meson.build"], ..Conventions::NONE },
    grammar: Grammar { repair: Some(macros::repair), ..grammar!(ROWS, FIELDS, &[], || tree_sitter_c::LANGUAGE.into()) },
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &["storage_class_specifier"],
    modifier_words: &[
        ("static", ModifierMeaning::Visibility(Visibility::Private)),
        ("static", ModifierMeaning::Flag(Flags::FILE_ONLY)),
    ],
    visibility: |_: SymbolKind, _| Some(Visibility::Public),
    keywords: hooks::KEYWORDS,
    ..LanguageSpec::PLAIN
};

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "c",
    call_syntax: CallSyntax::STRICT,
    interop: &["cpp"],
    lookup_order: &[LookupStep::Enclosing, LookupStep::File, LookupStep::Unit, LookupStep::Global],
    unit: Unit::Include,
    namespaces: Namespaces::TypesSeparate,
    literals: &[(Literal::Int, "int"), (Literal::Float, "double"), (Literal::Char, "char"), (Literal::Bool, "int")],
    widening_order: &["char", "short", "int", "long", "float", "double", "_Bool", "bool", "signed", "unsigned"],
    resolve_module: includes::resolve_include,
    ..ScopePolicy::PLAIN
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
    row("function_definition", &[Action::Hook(hooks::function)]),
    row("declaration", &[Action::Hook(hooks::declaration)]),
    row("field_declaration", &[Action::Hook(hooks::fields)]),
    row("type_definition", &[Action::Hook(hooks::type_definition)]),
    row("parameter_declaration", &[Action::Hook(hooks::parameter)]),
    row("parameter_list", &[Action::Hook(hooks::old_parameters)]),
    row("variadic_parameter", &[]),
    row("struct_specifier", &[Action::Hook(hooks::structure), Action::Lower(Lower::Hook(hooks::tagged))]),
    row("union_specifier", &[Action::Hook(hooks::structure), Action::Lower(Lower::Hook(hooks::tagged))]),
    row("enum_specifier", &[Action::Hook(hooks::structure), Action::Lower(Lower::Hook(hooks::tagged))]),
    row("field_declaration_list", &[]),
    row("enumerator_list", &[]),
    row("enumerator", &[Action::Define(define(Variant).value(field("value")))]),
    row("storage_class_specifier", &[]),
    row("type_qualifier", &[]),
    row("init_declarator", &[Action::Fields]),
    row("function_declarator", &[Action::Fields]),
    row("pointer_declarator", &[Action::Fields]),
    row("array_declarator", &[Action::Fields]),
    row("parenthesized_declarator", &[]),
    row("attributed_declarator", &[]),
    row("abstract_pointer_declarator", &[Action::Fields]),
    row("abstract_array_declarator", &[Action::Fields]),
    row("abstract_function_declarator", &[Action::Fields]),
    row("abstract_parenthesized_declarator", &[]),
    // The preprocessor.
    row("preproc_include", &[Action::Hook(hooks::include)]),
    row("preproc_def", &[Action::Hook(hooks::macro_definition)]),
    row("preproc_function_def", &[Action::Hook(hooks::macro_definition)]),
    row("preproc_params", &[]),
    row("preproc_arg", &[Action::Opaque, Action::Hook(hooks::macro_text)]),
    row("preproc_ifdef", &[Action::Fields]),
    // Blocks.
    row("compound_statement", &[Action::Scope]),
    row("for_statement", &[Action::Scope]),
    // Expressions.
    row(
        "call_expression",
        &[
            Action::In("function_declarator", &Action::Refers(field("function"), RefShape::Value)),
            Action::Lower(Lower::CallOf(field("function"), field("arguments"))),
        ],
    ),
    row("argument_list", &[]),
    row("field_expression", &[Action::Lower(Lower::Member(field("argument"), field("field")))]),
    row("subscript_expression", &[Action::Lower(Lower::Index(field("argument"), field("index")))]),
    row("pointer_expression", &[Action::Lower(Lower::Hook(hooks::pointer))]),
    row("cast_expression", &[Action::Lower(Lower::Cast(field("type")))]),
    row("compound_literal_expression", &[Action::Lower(Lower::Cast(field("type")))]),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("conditional_expression", &[Action::Lower(Lower::Either(&[field("consequence"), field("alternative")]))]),
    row("assignment_expression", &[Action::Lower(Lower::Same(field("left")))]),
    row("comma_expression", &[Action::Lower(Lower::Same(field("right")))]),
    row("binary_expression", &[Action::Lower(Lower::Binary)]),
    row("unary_expression", &[Action::Lower(Lower::Same(field("argument")))]),
    row("update_expression", &[Action::Lower(Lower::Same(field("argument")))]),
    row("extension_expression", &[Action::Lower(Lower::Same(First))]),
    row("initializer_list", &[]),
    row("initializer_pair", &[Action::Hook(hooks::designated)]),
    row("field_designator", &[]),
    row("offsetof_expression", &[Action::Hook(hooks::offset), Action::Lower(Lower::Literal(Literal::Int))]),
    row("sizeof_expression", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("alignof_expression", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("number_literal", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("char_literal", &[Action::Lower(Lower::Literal(Literal::Char))]),
    row("string_literal", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("concatenated_string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("system_lib_string", &[]),
    row("true", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("false", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    row("null", &[Action::Lower(Lower::Literal(Literal::Null))]),
    // Names and types.
    row("identifier", &[Action::Leaf(RefShape::Value)]),
    row("field_identifier", &[Action::Leaf(RefShape::Member)]),
    row("type_identifier", &[Action::Leaf(RefShape::Type)]),
    row("primitive_type", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("sized_type_specifier", &[Action::Lower(Lower::Hook(hooks::primitive))]),
    row("type_descriptor", &[Action::Lower(Lower::Hook(hooks::described_type))]),
    row("macro_type_specifier", &[Action::Refers(field("name"), RefShape::Call), Action::Lower(Lower::Same(Last))]),
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
fn kind_of_tag(node: &str) -> SymbolKind {
    match node {
        "union_specifier" => Union,
        "enum_specifier" => Enum,
        _ => SymbolKind::Struct,
    }
}
