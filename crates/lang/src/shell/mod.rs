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

use crate::conventions::Conventions;
use crate::extraction::library_facts;
use crate::preprocessor::Repair;
use crate::rules::{LookupStep, Namespaces, ScopePolicy, Unit};
use crate::spec::{Action, LanguageSpec, Lower, Row, grammar, row};
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
    conventions: Conventions { test_infixes: &[".bats"], ..Conventions::NONE },
    grammar: Grammar {
        repair: Some(|text| bats::as_functions(text).map(Repair::from)),
        retries: true,
        ..grammar!(ROWS, FIELDS, POSITIONAL_PARAMETERS, || tree_sitter_bash::LANGUAGE.into())
    },
    walk: Walk::Table(&SPEC),
    rules: Rules::Shared(&SCOPE_POLICY),
};

static SPEC: LanguageSpec = LanguageSpec {
    rows: ROWS,
    fields: FIELDS,
    ignored: IGNORED,
    comments: &["comment"],
    visibility: |_: SymbolKind, _| None,
    calls_skip_locals: true,
    ..LanguageSpec::PLAIN
};

static SCOPE_POLICY: ScopePolicy = ScopePolicy {
    language: "shell",
    lookup_order: &[LookupStep::Enclosing, LookupStep::File, LookupStep::Unit, LookupStep::Library, LookupStep::Global],
    unit: Unit::Include,
    namespaces: Namespaces::AllSeparate,
    unknown_calls_are_external: true,
    folders_are_programs: false,
    library: include_str!("library.stubs"),
    library_file: "library.sh",
    extract_library: |path, text| library_facts(&LANGUAGE, path, text),
    resolve_module: sources::resolve_source,
    ..ScopePolicy::PLAIN
};

/// The positional parameters of a function look like variables.
const POSITIONAL_PARAMETERS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"];

const FIELDS: &[&str] = &["argument", "body", "name", "value", "variable"];

const ROWS: &[Row] = &[
    row("function_definition", &[Action::Hook(hooks::function)]),
    row("command", &[Action::Fields]),
    row("command_name", &[Action::Hook(hooks::command)]),
    row("word", &[Action::Hook(hooks::word)]),
    row("concatenation", &[]),
    row("declaration_command", &[Action::Fields]),
    row("variable_assignment", &[Action::Hook(variables::assignment)]),
    row("variable_name", &[Action::Hook(variables::name), Action::Leaf(RefShape::Value)]),
    row("subscript", &[Action::Fields]),
    row("for_statement", &[Action::Hook(variables::loop_name)]),
    row("unset_command", &[]),
    // Assignments in these are dropped after them.
    row("subshell", &[Action::Scope]),
    row("command_substitution", &[Action::Scope]),
    row("process_substitution", &[Action::Scope]),
    row("simple_expansion", &[]),
    row("expansion", &[]),
    row("string", &[Action::Hook(hooks::quoted), Action::Lower(Lower::Literal(Literal::Text))]),
    row("raw_string", &[Action::Hook(hooks::quoted), Action::Lower(Lower::Literal(Literal::Text))]),
    row("number", &[Action::Lower(Lower::Literal(Literal::Int))]),
    row("array", &[]),
    row("compound_statement", &[]),
    row("comment", &[Action::Comment]),
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
