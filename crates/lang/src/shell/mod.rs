//! The shell: Bash and compatible shells.
//!
//! A script consists of words. The first word of a command is a function if one has that name, else a builtin or a
//! program. All code in one shell shares functions and variables, so a sourced file is a part of the file that sources
//! it. `local` names are scoped to their function. A definition in another file of the view is a guess, made only if it
//! is the only one.

mod bats;
mod hooks;
mod sources;
mod variables;

use codecompass_model::{Literal, RefShape, SymbolKind};

use crate::customs::Customs;
use crate::recipe::{Do, Lower, Recipe, Row, grammar, row};
use crate::rules::{Apart, Look, Scoping, Unit};
use crate::tree::Grammar;
use crate::{Depth, Language, Rules, Walk};

/// The registry entry of the language.
pub(crate) const LANGUAGE: Language = Language {
    name: "shell",
    facts_version: 1,
    extensions: &["sh", "bash", "zsh", "ksh", "bats"],
    file_names: &[".bashrc", ".zshrc", ".profile"],
    interpreters: &["sh", "bash", "zsh", "dash", "ksh", "bats"],
    has_visibility: false,
    depth: Depth::Scopes,
    measured: "forty proved calls read by eye",
    customs: Customs { test_marks: &[".bats"], ..Customs::NONE },
    grammar: Grammar {
        repair: Some(bats::as_functions),
        retries: true,
        ..grammar!(ROWS, FIELDS, POSITIONS, || tree_sitter_bash::LANGUAGE.into())
    },
    walk: Walk::Table(&RECIPE),
    rules: Rules::Shared(&SCOPING),
};

static RECIPE: Recipe = Recipe {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| None,
    calls_apart: true,
    ..Recipe::PLAIN
};

static SCOPING: Scoping = Scoping {
    language: "shell",
    order: &[Look::Around, Look::File, Look::Unit, Look::Library, Look::Global],
    unit: Unit::Include,
    apart: Apart::All,
    calls_outside: true,
    folders: false,
    library: include_str!("library.stubs"),
    library_file: "library.sh",
    module: sources::files,
    ..Scoping::PLAIN
};

/// The positional parameters of a function look like variables.
const POSITIONS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

const FIELDS: &[&str] = &["argument", "body", "name", "value", "variable"];

const ROWS: &[Row] = &[
    row("function_definition", &[Do::Hook(hooks::function)]),
    row("command", &[Do::Fields]),
    row("command_name", &[Do::Hook(hooks::command)]),
    row("word", &[Do::Hook(hooks::word)]),
    row("concatenation", &[]),
    row("declaration_command", &[Do::Fields]),
    row("variable_assignment", &[Do::Hook(variables::assignment)]),
    row("variable_name", &[Do::Hook(variables::name), Do::Leaf(RefShape::Value)]),
    row("subscript", &[Do::Fields]),
    row("for_statement", &[Do::Hook(variables::loop_name)]),
    row("unset_command", &[]),
    // Assignments in these are dropped after them.
    row("subshell", &[Do::Scope]),
    row("command_substitution", &[Do::Scope]),
    row("process_substitution", &[Do::Scope]),
    row("simple_expansion", &[]),
    row("expansion", &[]),
    row("string", &[Do::Hook(hooks::quoted), Do::Lower(Lower::Literal(Literal::Text))]),
    row("raw_string", &[Do::Hook(hooks::quoted), Do::Lower(Lower::Literal(Literal::Text))]),
    row("number", &[Do::Lower(Lower::Literal(Literal::Int))]),
    row("array", &[]),
    row("compound_statement", &[]),
    row("comment", &[Do::Comment]),
];

/// Node kinds without actions of their own: only their children count.
const IGNORED: &[&str] = &[
    "program",
    "ansi_c_string",
    "arithmetic_expansion",
    "binary_expression",
    "brace_expression",
    "c_style_for_statement",
    "case_item",
    "case_statement",
    "do_group",
    "elif_clause",
    "else_clause",
    "extglob_pattern",
    "file_descriptor",
    "file_redirect",
    "heredoc_body",
    "heredoc_content",
    "heredoc_end",
    "heredoc_redirect",
    "heredoc_start",
    "herestring_redirect",
    "if_statement",
    "list",
    "negated_command",
    "parenthesized_expression",
    "pipeline",
    "postfix_expression",
    "redirected_statement",
    "regex",
    "special_variable_name",
    "string_content",
    "ternary_expression",
    "test_command",
    "test_operator",
    "translated_string",
    "unary_expression",
    "variable_assignments",
    "while_statement",
];
