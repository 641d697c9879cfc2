//! Derives highlight kinds from the names of node kinds.
//!
//! Grammar authors use similar names: `line_comment`, `raw_string_literal`, `type_identifier`, `method_declaration`. So
//! the words of a kind's name decide, for all grammars at once. A language where a kind means something else overrides
//! it in its row of the table.

use super::HighlightKind;
use super::overrides::LanguageOverrides;

/// Words of kinds that are string literals.
const TEXTS: &[&str] =
    &["char", "character", "charlist", "heredoc", "nowdoc", "quasiquote", "regex", "rune", "sigil", "str", "string"];

/// Words of kinds that contain such a word but are more than a string literal.
const AROUND_TEXTS: &[&str] = &["chained", "concatenated", "interpolation", "redirect"];

/// Kinds that are string literals but have none of these words.
const OTHER_TEXTS: &[&str] = &["quoted_atom", "quoted_keyword", "template_literal_type"];

/// Words of kinds that are comments.
const COMMENTS: &[&str] = &["comment", "haddock", "shebang"];

/// Kinds that are annotations. Their arguments are code.
const ATTRIBUTES: &[&str] = &[
    "annotation",
    "attribute",
    "attribute_declaration",
    "attribute_item",
    "attribute_list",
    "attribute_specifier",
    "cpp",
    "decorator",
    "file_annotation",
    "global_attribute",
    "inner_attribute_item",
    "marker_annotation",
    "ms_declspec_modifier",
    "php_end_tag",
    "php_tag",
    "pragma",
    "preproc_directive",
];

/// Kinds that are numbers, and words of number literals.
const NUMBERS: &[&str] = &["complex", "float", "integer", "number", "rational"];
const NUMBER_LITERALS: &[&str] = &[
    "bin",
    "binary",
    "decimal",
    "float",
    "floating",
    "hex",
    "imaginary",
    "int",
    "integer",
    "long",
    "number",
    "oct",
    "octal",
    "real",
    "unsigned",
];

/// Kinds and words that are values.
const CONSTANTS: &[&str] = &[
    "NULL",
    "atom",
    "boolean",
    "boolean_literal",
    "false",
    "iota",
    "nil",
    "nil_literal",
    "none",
    "null",
    "null_literal",
    "nullptr",
    "simple_symbol",
    "true",
    "undefined",
];

/// Kinds that are types as a whole.
const TYPES: &[&str] = &[
    "boolean_type",
    "bottom_type",
    "builtin_type",
    "cast_type",
    "floating_point_type",
    "integral_type",
    "predefined_type",
    "primitive_type",
    "sized_type_specifier",
    "type_identifier",
    "void_type",
];

/// Kinds of leaves that are keywords if they are words, and last words of such kinds.
const KEYWORDS: &[&str] =
    &["auto", "crate", "else", "import", "relative_scope", "self", "super", "this", "this_type", "throws"];
const KEYWORD_ENDS: &[&str] = &["expression", "keyword", "modifier", "operator", "qualifier", "specifier", "statement"];

/// Last words of the kinds of leaves that are names, and words of those whose letter case says nothing.
const NAMES: &[&str] = &["constant", "constructor", "identifier", "name", "variable", "word"];
const PLAIN_NAMES: &[&str] = &["field", "key", "label", "property", "statement", "word"];

/// Words of kinds with the name of a function or a type.
const FUNCTIONS: &[&str] = &["constructor", "function", "macro", "method"];
const CLASSES: &[&str] =
    &["annotation", "class", "enum", "interface", "object", "protocol", "record", "struct", "trait", "union"];
const DECLARED: &[&str] = &["declaration", "definition", "element", "item", "statement"];

/// Kinds whose children without a field are types if they are names, besides kinds with the word `type`.
const TYPE_HOLDERS: &[&str] = &[
    "base_clause",
    "base_list",
    "class_heritage",
    "class_interface_clause",
    "extends_clause",
    "implements_clause",
    "inheritance_specifier",
    "instance_expression",
    "object_creation_expression",
    "super_interfaces",
    "superclass",
];

/// Last words of kinds with the word `type` that contain other things.
const NON_TYPE_HOLDERS: &[&str] =
    &["alias", "case", "declaration", "definition", "expression", "identifier", "item", "query", "spec", "statement"];

/// Kinds that pass their role on to a name in them without a field.
const TRANSPARENT: &[&str] =
    &["argument_list", "command_name", "destructor_name", "generic_name", "navigation_suffix", "qualified_name"];

/// Kinds that name their value: the name is a function if the value is one.
const NAMED_VALUES: &[&str] = &["field_definition", "pair", "public_field_definition", "variable_declarator"];

/// The properties of a node kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NodeKind {
    /// The highlight kind of the whole node.
    pub(super) whole: Option<HighlightKind>,
    /// The highlight kind of a leaf that is a word.
    pub(super) word: Option<HighlightKind>,
    /// Whether a node inside a string literal belongs to it and is not code.
    pub(super) is_text: bool,
    /// Whether a leaf inside a string literal is code.
    pub(super) is_code: bool,
    pub(super) is_argument: bool,
    /// Whether its left child gets its role.
    pub(super) is_left: bool,
    /// Whether it is a path whose last part is a transparent child without a field.
    pub(super) is_path: bool,
    /// Whether a leaf of this kind is a name, and whether its letter case determines what it is.
    pub(super) is_name: bool,
    pub(super) is_classified_by_case: bool,
    /// Whether it is a call.
    pub(super) calls: bool,
    /// Whether its first child is the callee.
    pub(super) calls_first: bool,
    /// The kind of the child that is its name.
    pub(super) name_kind: Option<HighlightKind>,
    /// The kind of children without a field.
    pub(super) child_kind: Option<HighlightKind>,
    /// Whether children without a field get its role.
    pub(super) is_transparent: bool,
    /// Whether its name is a function if its value is one.
    pub(super) names_its_value: bool,
    /// Whether it is a value that is a function.
    pub(super) is_function: bool,
    /// Whether it contains words that were not parsed.
    pub(super) holds_unparsed: bool,
    /// Whether string literals directly in it are docs.
    pub(super) holds_docs: bool,
}

/// The role of a child, by its field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FieldRole {
    /// The child has no field.
    #[default]
    None,
    /// The callee, or the called part of it.
    Callee,
    /// The callee, or the receiver of the called part.
    Target,
    /// The name.
    Name,
    /// The last part of a path.
    Last,
    /// A type.
    Type,
    /// The left side.
    Left,
    /// A field without a role.
    Other,
}

/// The kinds and fields of a grammar.
pub(super) struct GrammarKinds {
    kinds: Vec<NodeKind>,
    fields: Vec<FieldRole>,
}

impl GrammarKinds {
    pub(super) fn new(grammar: &tree_sitter::Language, odd: &LanguageOverrides) -> Self {
        let kind = |id: u16| {
            let name = grammar.node_kind_for_id(id).unwrap_or_default();
            if grammar.node_kind_is_named(id) { named_kind(name, odd) } else { anonymous(name) }
        };
        let field = |id: u16| grammar.field_name_for_id(id).map_or(FieldRole::None, field);
        Self {
            kinds: (0..grammar.node_kind_count() as u16).map(kind).collect(),
            fields: (0..=grammar.field_count() as u16).map(field).collect(),
        }
    }

    /// Returns the kind with this id. The kind of errors has no properties.
    pub(super) fn kind(&self, id: u16) -> NodeKind {
        self.kinds.get(id as usize).copied().unwrap_or_default()
    }

    pub(super) fn field(&self, id: Option<std::num::NonZeroU16>) -> FieldRole {
        id.and_then(|id| self.fields.get(id.get() as usize)).copied().unwrap_or_default()
    }
}

fn field(name: &str) -> FieldRole {
    match name {
        "function" | "macro" | "method" => FieldRole::Callee,
        "target" => FieldRole::Target,
        "declarator" | "key" | "name" => FieldRole::Name,
        "attribute" | "field" | "id" | "member" | "property" | "right" | "suffix" => FieldRole::Last,
        "constructor" | "return_type" | "returns" | "superclass" | "superclasses" | "trait" | "type" => FieldRole::Type,
        "left" | "operand" => FieldRole::Left,
        _ => FieldRole::Other,
    }
}

/// Returns the kind of a keyword or a punctuation token.
fn anonymous(text: &str) -> NodeKind {
    let begin = text.strip_prefix(['#', '@']).unwrap_or(text);
    let colour = match begin.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text != "_" {
        _ if CONSTANTS.contains(&text) => Some(HighlightKind::Constant),
        // A quote with letters before it begins a string literal and is not a word.
        true if text.ends_with(['"', '\'']) => None,
        true if begin.len() < text.len() => Some(HighlightKind::Attribute),
        true => Some(HighlightKind::Keyword),
        false => None,
    };
    NodeKind { whole: colour, ..NodeKind::default() }
}

fn named_kind(name: &str, odd: &LanguageOverrides) -> NodeKind {
    let words: Vec<&str> = name.split('_').collect();
    let last = words.last().copied().unwrap_or_default();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let is_text = OTHER_TEXTS.contains(&name) || has(TEXTS) && !has(AROUND_TEXTS);
    let is_attribute = ATTRIBUTES.contains(&name);
    let is_number = NUMBERS.contains(&name) || last == "literal" && has(NUMBER_LITERALS);
    let own = odd.kinds.iter().find(|(known, _)| *known == name);
    let whole = match own {
        Some((_, colour)) => *colour,
        None if has(COMMENTS) || name == "hash_bang_line" => Some(HighlightKind::Comment),
        None if is_text => Some(HighlightKind::Text),
        None if is_attribute => Some(HighlightKind::Attribute),
        None if is_number => Some(HighlightKind::Number),
        None if CONSTANTS.contains(&name) => Some(HighlightKind::Constant),
        None if TYPES.contains(&name) => Some(HighlightKind::Type),
        None => None,
    };
    let is_keyword = KEYWORDS.contains(&name) || KEYWORD_ENDS.contains(&last);
    let is_name = NAMES.contains(&last);
    let calls = (has(&["call", "invocation"]) && !has(&["access", "argument", "suffix"]))
        || matches!(name, "apply" | "command");
    let names = match () {
        () if has(FUNCTIONS) || name == "signature" => Some(HighlightKind::Function),
        () if DECLARED.contains(&last) && (has(CLASSES) || has(&["jsx"])) => Some(HighlightKind::Type),
        () => None,
    };
    let holds = match () {
        () if TYPE_HOLDERS.contains(&name)
            || has(&["type"]) && !NON_TYPE_HOLDERS.contains(&last) && !has(&["predicate"]) =>
        {
            Some(HighlightKind::Type)
        }
        () if name == "jsx_attribute" => Some(HighlightKind::Attribute),
        () if name == "function_declaration" => Some(HighlightKind::Function),
        () => None,
    };
    NodeKind {
        whole,
        word: (is_keyword && own.is_none()).then_some(HighlightKind::Keyword),
        is_text,
        is_code: words[0] == "interpolated" && is_name,
        is_argument: has(&["argument", "arguments"]),
        is_left: has(&["binary"]) || name == "index_expression",
        is_path: name == "navigation_expression",
        is_name,
        is_classified_by_case: is_name && !has(PLAIN_NAMES),
        calls,
        calls_first: name == "call_expression",
        name_kind: names,
        child_kind: holds,
        is_transparent: TRANSPARENT.contains(&name),
        names_its_value: NAMED_VALUES.contains(&name),
        is_function: has(&["function"]),
        holds_unparsed: name == "token_tree",
        holds_docs: odd.doc_kind == Some(name),
    }
}
