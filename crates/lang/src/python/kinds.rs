//! The nodes and fields of the Python grammar that the walk uses.

/// Node kinds.
pub(crate) mod kind {
    crate::tree::codes! {
        ALIASED_IMPORT = "aliased_import",
        ASSIGNMENT = "assignment",
        AS_PATTERN = "as_pattern",
        AS_TARGET = "as_pattern_target",
        ATTRIBUTE = "attribute",
        AUGMENTED = "augmented_assignment",
        BLOCK = "block",
        CALL = "call",
        CASE_CLAUSE = "case_clause",
        CASE_PATTERN = "case_pattern",
        CLASS = "class_definition",
        CLASS_PATTERN = "class_pattern",
        COMMENT = "comment",
        CONCATENATED = "concatenated_string",
        CONSTRAINED_TYPE = "constrained_type",
        DECORATED = "decorated_definition",
        DECORATOR = "decorator",
        DEFAULT_PARAMETER = "default_parameter",
        DICT_COMPREHENSION = "dictionary_comprehension",
        DICT_SPLAT_PATTERN = "dictionary_splat_pattern",
        DOTTED_NAME = "dotted_name",
        ELLIPSIS = "ellipsis",
        EXCEPT = "except_clause",
        EXPRESSION_LIST = "expression_list",
        EXPRESSION_STATEMENT = "expression_statement",
        FALSE = "false",
        FLOAT = "float",
        FOR = "for_statement",
        FOR_IN = "for_in_clause",
        FROM_IMPORT = "import_from_statement",
        FUNCTION = "function_definition",
        FUTURE_IMPORT = "future_import_statement",
        GENERATOR = "generator_expression",
        GENERIC_TYPE = "generic_type",
        GLOBAL = "global_statement",
        IDENTIFIER = "identifier",
        IF = "if_statement",
        IMPORT = "import_statement",
        INTEGER = "integer",
        KEYWORD_ARGUMENT = "keyword_argument",
        KEYWORD_PATTERN = "keyword_pattern",
        LAMBDA = "lambda",
        LAMBDA_PARAMETERS = "lambda_parameters",
        LIST = "list",
        LIST_COMPREHENSION = "list_comprehension",
        LIST_PATTERN = "list_pattern",
        LIST_SPLAT = "list_splat",
        LIST_SPLAT_PATTERN = "list_splat_pattern",
        MATCH = "match_statement",
        NAMED_EXPRESSION = "named_expression",
        NONE = "none",
        NONLOCAL = "nonlocal_statement",
        PARAMETERS = "parameters",
        PATTERN_LIST = "pattern_list",
        SET_COMPREHENSION = "set_comprehension",
        SPLAT_PATTERN = "splat_pattern",
        SPLAT_TYPE = "splat_type",
        STRING = "string",
        STRING_CONTENT = "string_content",
        SUBSCRIPT = "subscript",
        TRUE = "true",
        TUPLE = "tuple",
        TUPLE_PATTERN = "tuple_pattern",
        TYPE = "type",
        TYPED_DEFAULT_PARAMETER = "typed_default_parameter",
        TYPED_PARAMETER = "typed_parameter",
        TYPE_ALIAS = "type_alias_statement",
        TYPE_PARAMETER = "type_parameter",
        WILDCARD_IMPORT = "wildcard_import",
    }
}

/// Fields.
pub(crate) mod field {
    crate::tree::codes! {
        ALIAS = "alias",
        ARGUMENTS = "arguments",
        ATTRIBUTE = "attribute",
        BODY = "body",
        DEFINITION = "definition",
        FUNCTION = "function",
        LEFT = "left",
        MODULE_NAME = "module_name",
        NAME = "name",
        OBJECT = "object",
        RETURN_TYPE = "return_type",
        RIGHT = "right",
        SUPERCLASSES = "superclasses",
        TYPE = "type",
        VALUE = "value",
    }
}

use kind as k;

/// The kinds with children that are looked up by field.
pub(crate) const FIELDED: &[u8] = &[
    k::ALIASED_IMPORT,
    k::ASSIGNMENT,
    k::ATTRIBUTE,
    k::CALL,
    k::CLASS,
    k::DECORATED,
    k::DEFAULT_PARAMETER,
    k::FOR,
    k::FOR_IN,
    k::FROM_IMPORT,
    k::FUNCTION,
    k::FUTURE_IMPORT,
    k::IMPORT,
    k::KEYWORD_ARGUMENT,
    k::NAMED_EXPRESSION,
    k::SUBSCRIPT,
    k::TYPED_DEFAULT_PARAMETER,
    k::TYPED_PARAMETER,
    k::TYPE_ALIAS,
];

/// The kinds with ignored content.
pub(crate) const OPAQUE: &[u8] = &[k::COMMENT, k::STRING_CONTENT];

/// The kinds of leaves that are names.
pub(crate) const NAMES: &[u8] = &[k::IDENTIFIER];

/// The kinds of statements that contain imported names, or the name of the file's package.
pub(crate) const IMPORTS: &[u8] = &[k::IMPORT, k::FROM_IMPORT, k::FUTURE_IMPORT];

/// Words that are not names although they have the syntax of names.
pub(crate) const WORDS: &[&str] = &["_", "cls", "self"];
