//! Zig.
//!
//! A file is a structure, and so is the value of `struct {…}`: types are values, and a constant with such a value names
//! the type. Pointers, optionals and error unions have the members of their underlying type, so types are lowered
//! without them.

mod containers;
mod expected;
mod hooks;
mod modules;
mod values;

use codecompass_model::{BindingKind, Literal, RefShape, SymbolKind, Visibility};

use crate::customs::Customs;
use crate::recipe::Find::{self, First, Last};
use crate::recipe::{Do, Lower, Means, Recipe, Row, bind, grammar, row};
use crate::rules::{Look, Scoping};
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
    customs: Customs {
        test_marks: &["_test.zig", "_tests.zig"],
        manifests: &["build.zig", "build.zig.zon"],
        folder_stems: &["root"],
        ..Customs::NONE
    },
    grammar: grammar!(ROWS, FIELDS, &["_"], || tree_sitter_zig::LANGUAGE.into()),
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    modifiers: &["pub"],
    words: &[("pub", Means::Seen(Visibility::Public))],
    visibility,
    infers: true,
    begin: |walk| {
        let module = modules::name(walk.draft.path);
        walk.draft.set_prefix(module);
        walk.draft.types_are_values();
    },
    ..Recipe::PLAIN
};

/// The default visibility without `pub`: the file. Fields are visible wherever the type is.
fn visibility(kind: SymbolKind, _: Option<SymbolKind>) -> Option<Visibility> {
    let is_open = matches!(kind, SymbolKind::Field | SymbolKind::Variant);
    Some(if is_open { Visibility::Public } else { Visibility::Private })
}

static SCOPING: Scoping = Scoping {
    language: "zig",
    order: &[Look::Around, Look::File],
    types_are_values: true,
    types_enclose: true,
    // Slices and arrays have members of their own (`len`): they have a root type, which no file declares.
    root: Some("anyopaque"),
    widens: &[
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
    module: modules::files,
    ..Scoping::PLAIN
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
    row("variable_declaration", &[Do::Fields, Do::Hook(hooks::variable)]),
    row("function_declaration", &[Do::Fields, Do::Hook(hooks::function)]),
    row("container_field", &[Do::Fields, Do::Hook(containers::member)]),
    row("test_declaration", &[Do::Hook(containers::test)]),
    row("comptime_declaration", &[Do::Hook(hooks::block)]),
    row("using_namespace_declaration", &[Do::Hook(containers::using)]),
    row("parameters", &[]),
    row("parameter", &[Do::Bind(bind(BindingKind::Param, field("name")).of_type(field("type")))]),
    row("struct_declaration", &[Do::Hook(containers::open), Do::Lower(Lower::Hook(containers::inline))]),
    row("union_declaration", &[Do::Hook(containers::open), Do::Lower(Lower::Hook(containers::inline))]),
    row("enum_declaration", &[Do::Hook(containers::open), Do::Lower(Lower::Hook(containers::inline))]),
    row("opaque_declaration", &[Do::Hook(containers::open), Do::Lower(Lower::Hook(containers::inline))]),
    row("error_set_declaration", &[Do::Hook(containers::errors), Do::Lower(Lower::Hook(containers::inline))]),
    row("source_file", &[]),
    row("pub", &[]),
    // Blocks.
    row("block", &[Do::Scope]),
    row("if_statement", &[Do::Fields, Do::Scope]),
    row("if_expression", &[Do::Fields, Do::Scope, Do::Lower(Lower::Hook(values::branches))]),
    row("if_type_expression", &[Do::Fields, Do::Scope, Do::Lower(Lower::Hook(values::branches))]),
    row("else_clause", &[Do::Fields, Do::Scope]),
    row("while_statement", &[Do::Fields, Do::Scope]),
    row("while_expression", &[Do::Fields, Do::Scope]),
    row("for_statement", &[Do::Fields, Do::Scope]),
    row("for_expression", &[Do::Fields, Do::Scope]),
    row("switch_expression", &[Do::Lower(Lower::Hook(values::cases))]),
    row("switch_case", &[Do::Scope]),
    row("errdefer_statement", &[Do::Scope]),
    row("payload", &[Do::Hook(hooks::payload)]),
    row("return_expression", &[Do::Returns]),
    row("block_label", &[Do::Label]),
    row("break_label", &[Do::Label]),
    // Expressions.
    row("call_expression", &[Do::Fields, Do::Hook(hooks::call), Do::Lower(Lower::Hook(values::call))]),
    row("builtin_function", &[Do::Hook(hooks::builtin), Do::Lower(Lower::Hook(values::builtin))]),
    row("builtin_identifier", &[]),
    row("arguments", &[]),
    row("field_expression", &[Do::Hook(expected::literal), Do::Lower(Lower::Member(field("object"), field("member")))]),
    row("struct_initializer", &[Do::Lower(Lower::New(First, Find::Nowhere))]),
    row("anonymous_struct_initializer", &[]),
    row("initializer_list", &[]),
    row("field_initializer", &[]),
    row("assignment_expression", &[Do::Fields]),
    row("index_expression", &[Do::Fields, Do::Lower(Lower::Hook(values::index))]),
    row("range_expression", &[]),
    row("dereference_expression", &[Do::Lower(Lower::Same(First))]),
    row("null_coercion_expression", &[Do::Lower(Lower::Same(First))]),
    row("parenthesized_expression", &[Do::Lower(Lower::Same(First))]),
    row("try_expression", &[Do::Lower(Lower::Same(First))]),
    row("catch_expression", &[Do::Scope, Do::Lower(Lower::Same(First))]),
    row("comptime_expression", &[Do::Lower(Lower::Same(First))]),
    row("nosuspend_expression", &[Do::Lower(Lower::Same(First))]),
    row("await_expression", &[Do::Lower(Lower::Same(First))]),
    row("unary_expression", &[Do::Lower(Lower::Same(field("argument")))]),
    row("binary_expression", &[Do::Fields, Do::Lower(Lower::Hook(values::binary))]),
    row("error_type", &[Do::Hook(containers::error)]),
    row("string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("string_content", &[]),
    row("multiline_string", &[Do::Lower(Lower::Literal(Literal::Text))]),
    row("character", &[Do::Lower(Lower::Literal(Literal::Char))]),
    row("integer", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("float", &[Do::Lower(Lower::Literal(Literal::Float))]),
    row("boolean", &[Do::Lower(Lower::Literal(Literal::Bool))]),
    // Types.
    row("builtin_type", &[Do::Lower(Lower::Hook(values::builtin_type))]),
    row("pointer_type", &[Do::Lower(Lower::Hook(values::pointer))]),
    row("nullable_type", &[Do::Lower(Lower::Same(Last))]),
    row("error_union_type", &[Do::Fields, Do::Lower(Lower::Same(field("ok")))]),
    row("slice_type", &[Do::Lower(Lower::List(Last))]),
    row("array_type", &[Do::Lower(Lower::List(Last))]),
    row("comptime_type_expression", &[Do::Lower(Lower::Same(First))]),
    row("function_signature", &[Do::Fields, Do::Scope, Do::Lower(Lower::Hook(values::function_type))]),
    row("identifier", &[Do::Hook(hooks::nameless), Do::Leaf(RefShape::Value)]),
    row("comment", &[Do::Comment]),
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
