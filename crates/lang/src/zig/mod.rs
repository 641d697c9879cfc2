//! Zig.
//!
//! A file is a structure, and so is the value of `struct {…}`: types are values, and a constant with such a value names
//! the type. Pointers, optionals and error unions have the members of their underlying type, so types are lowered
//! without them.

mod containers;
mod expected_types;
mod hooks;
mod modules;
mod values;

use codecompass_model::{BindingKind, Literal, RefShape, SymbolKind, Visibility};

use crate::conventions::Conventions;
use crate::rules::{LookupStep, ScopePolicy};
use crate::spec::Find::{self, First, Last};
use crate::spec::{Action, LanguageSpec, Lower, ModifierMeaning, Row, bind, grammar, row};
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "zig",
    facts_version: 1,
    extensions: &["zig"],
    file_names: &[],
    interpreters: &[],
    has_visibility: true,
    depth: Depth::Types,
    measured: "forty proved calls of five repositories read by eye",
    conventions: Conventions {
        test_infixes: &["_test.zig", "_tests.zig"],
        manifests: &["build.zig", "build.zig.zon"],
        folder_stems: &["root"],
        ..Conventions::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["_"], || tree_sitter_zig::LANGUAGE.into()),
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &["pub"],
    modifier_words: &[("pub", ModifierMeaning::Visibility(Visibility::Public))],
    visibility,
    infers: true,
    begin: |walk| {
        let module = modules::name(walk.draft.path);
        walk.draft.set_prefix(module);
        walk.draft.types_are_values();
    },
    ..LanguageSpec::PLAIN
};

/// The default visibility without `pub`: the file. Fields are visible wherever the type is.
fn visibility(kind: SymbolKind, _: Option<SymbolKind>) -> Option<Visibility> {
    let is_open = matches!(kind, SymbolKind::Field | SymbolKind::Variant);
    Some(if is_open { Visibility::Public } else { Visibility::Private })
}

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "zig",
    lookup_order: &[LookupStep::Enclosing, LookupStep::File],
    types_are_values: true,
    types_are_scopes: true,
    // Slices and arrays have members of their own (`len`): they have a root type, which no file declares.
    root: Some("anyopaque"),
    widening_order: &[
        "bool",
        "u8",
        "i8",
        "u16",
        "i16",
        "u21",
        "u32",
        "i32",
        "u64",
        "i64",
        "u128",
        "i128",
        "usize",
        "isize",
        "f32",
        "f64",
        "comptime_int",
        "comptime_float",
        "c_int",
        "c_uint",
        "c_char",
        "c_long",
        "c_ulong",
        "noreturn",
    ],
    resolve_module: modules::resolve_module,
    ..ScopePolicy::PLAIN
};

const FIELDS: &[&str] = &[
    "alternative",
    "argument",
    "body",
    "condition",
    "function",
    "index",
    "left",
    "member",
    "name",
    "object",
    "ok",
    "right",
    "type",
];

const fn field(name: &'static str) -> Find {
    Find::Field(name)
}

const ROWS: &[Row] = &[
    // Declarations.
    row("variable_declaration", &[Action::Fields, Action::Hook(hooks::variable)]),
    row("function_declaration", &[Action::Fields, Action::Hook(hooks::function)]),
    row("container_field", &[Action::Fields, Action::Hook(containers::member)]),
    row("test_declaration", &[Action::Hook(containers::test)]),
    row("comptime_declaration", &[Action::Hook(hooks::block)]),
    row("using_namespace_declaration", &[Action::Hook(containers::using)]),
    row("parameters", &[]),
    row("parameter", &[Action::Bind(bind(BindingKind::Param, field("name")).of_type(field("type")))]),
    row("struct_declaration", &[Action::Hook(containers::open), Action::Lower(Lower::Hook(containers::inline))]),
    row("union_declaration", &[Action::Hook(containers::open), Action::Lower(Lower::Hook(containers::inline))]),
    row("enum_declaration", &[Action::Hook(containers::open), Action::Lower(Lower::Hook(containers::inline))]),
    row("opaque_declaration", &[Action::Hook(containers::open), Action::Lower(Lower::Hook(containers::inline))]),
    row("error_set_declaration", &[Action::Hook(containers::errors), Action::Lower(Lower::Hook(containers::inline))]),
    row("source_file", &[]),
    row("pub", &[]),
    // Blocks.
    row("block", &[Action::Scope]),
    row("if_statement", &[Action::Fields, Action::Scope]),
    row("if_expression", &[Action::Fields, Action::Scope, Action::Lower(Lower::Hook(values::branches))]),
    row("if_type_expression", &[Action::Fields, Action::Scope, Action::Lower(Lower::Hook(values::branches))]),
    row("else_clause", &[Action::Fields, Action::Scope]),
    row("while_statement", &[Action::Fields, Action::Scope]),
    row("while_expression", &[Action::Fields, Action::Scope]),
    row("for_statement", &[Action::Fields, Action::Scope]),
    row("for_expression", &[Action::Fields, Action::Scope]),
    row("switch_expression", &[Action::Lower(Lower::Hook(values::cases))]),
    row("switch_case", &[Action::Scope]),
    row("errdefer_statement", &[Action::Scope]),
    row("payload", &[Action::Hook(hooks::payload)]),
    row("return_expression", &[Action::Returns]),
    row("block_label", &[Action::Label]),
    row("break_label", &[Action::Label]),
    // Expressions.
    row("call_expression", &[Action::Fields, Action::Hook(hooks::call), Action::Lower(Lower::Hook(values::call))]),
    row("builtin_function", &[Action::Hook(hooks::builtin), Action::Lower(Lower::Hook(values::builtin))]),
    row("builtin_identifier", &[]),
    row("arguments", &[]),
    row(
        "field_expression",
        &[Action::Hook(expected_types::literal), Action::Lower(Lower::Member(field("object"), field("member")))],
    ),
    row("struct_initializer", &[Action::Lower(Lower::New(First, Find::Nowhere))]),
    row("anonymous_struct_initializer", &[]),
    row("initializer_list", &[]),
    row("field_initializer", &[]),
    row("assignment_expression", &[Action::Fields]),
    row("index_expression", &[Action::Fields, Action::Lower(Lower::Hook(values::index))]),
    row("range_expression", &[]),
    row("dereference_expression", &[Action::Lower(Lower::Same(First))]),
    row("null_coercion_expression", &[Action::Lower(Lower::Same(First))]),
    row("parenthesized_expression", &[Action::Lower(Lower::Same(First))]),
    row("try_expression", &[Action::Lower(Lower::Same(First))]),
    row("catch_expression", &[Action::Scope, Action::Lower(Lower::Same(First))]),
    row("comptime_expression", &[Action::Lower(Lower::Same(First))]),
    row("nosuspend_expression", &[Action::Lower(Lower::Same(First))]),
    row("await_expression", &[Action::Lower(Lower::Same(First))]),
    row("unary_expression", &[Action::Lower(Lower::Same(field("argument")))]),
    row("binary_expression", &[Action::Fields, Action::Lower(Lower::Hook(values::binary))]),
    row("error_type", &[Action::Hook(containers::error)]),
    row("string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("multiline_string", &[Action::Lower(Lower::Literal(Literal::Text))]),
    row("character", &[Action::Lower(Lower::Literal(Literal::Char))]),
    row("integer", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Action::Lower(Lower::Literal(Literal::Float))]),
    row("boolean", &[Action::Lower(Lower::Literal(Literal::Bool))]),
    // Types.
    row("builtin_type", &[Action::Lower(Lower::Hook(values::builtin_type))]),
    row("pointer_type", &[Action::Lower(Lower::Hook(values::pointer))]),
    row("nullable_type", &[Action::Lower(Lower::Same(Last))]),
    row("error_union_type", &[Action::Fields, Action::Lower(Lower::Same(field("ok")))]),
    row("slice_type", &[Action::Lower(Lower::List(Last))]),
    row("array_type", &[Action::Lower(Lower::List(Last))]),
    row("comptime_type_expression", &[Action::Lower(Lower::Same(First))]),
    row("function_signature", &[Action::Fields, Action::Scope, Action::Lower(Lower::Hook(values::function_type))]),
    row("identifier", &[Action::Hook(hooks::discard), Action::Leaf(RefShape::Value)]),
    row("comment", &[Action::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "address_space",
    "anyframe_type",
    "asm_clobbers",
    "asm_expression",
    "asm_input",
    "asm_input_item",
    "asm_output",
    "asm_output_item",
    "async_expression",
    "block_expression",
    "break_expression",
    "byte_alignment",
    "calling_convention",
    "character_content",
    "comptime_statement",
    "continue_expression",
    "defer_statement",
    "escape_sequence",
    "expression_statement",
    "labeled_statement",
    "labeled_type_expression",
    "link_section",
    "nosuspend_statement",
    "resume_expression",
    "suspend_statement",
];
