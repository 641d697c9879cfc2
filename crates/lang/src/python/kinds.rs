//! The nodes and fields of the Python grammar that the walk looks at.

/// Kinds of nodes.
pub(crate) mod kind {
    crate::tree::codes! {
        ALIASED_IMPORT = "aliased_import",
        ASSIGNMENT = "assignment",
        AS_PATTERN = "as_pattern",
        AS_TARGET = "as_pattern_target",
        ATTRIBUTE = "attribute",
        CALL = "call",
        CLASS = "class_definition",
        CLASS_PATTERN = "class_pattern",
        COMMENT = "comment",
        DECORATED = "decorated_definition",
        DECORATOR = "decorator",
        DEFAULT_PARAMETER = "default_parameter",
        DICT_SPLAT_PATTERN = "dictionary_splat_pattern",
        DOTTED_NAME = "dotted_name",
        EXCEPT = "except_clause",
        FOR = "for_statement",
        FOR_IN = "for_in_clause",
        FROM_IMPORT = "import_from_statement",
        FUNCTION = "function_definition",
        FUTURE_IMPORT = "future_import_statement",
        IDENTIFIER = "identifier",
        IMPORT = "import_statement",
        KEYWORD_ARGUMENT = "keyword_argument",
        KEYWORD_PATTERN = "keyword_pattern",
        LAMBDA_PARAMETERS = "lambda_parameters",
        LIST_PATTERN = "list_pattern",
        LIST_SPLAT_PATTERN = "list_splat_pattern",
        NAMED_EXPRESSION = "named_expression",
        PARAMETERS = "parameters",
        PATTERN_LIST = "pattern_list",
        SPLAT_PATTERN = "splat_pattern",
        STRING_CONTENT = "string_content",
        SUBSCRIPT = "subscript",
        TUPLE_PATTERN = "tuple_pattern",
        TYPE = "type",
        TYPED_DEFAULT_PARAMETER = "typed_default_parameter",
        TYPED_PARAMETER = "typed_parameter",
        TYPE_ALIAS = "type_alias_statement",
        WILDCARD_IMPORT = "wildcard_import",
    }
}

/// Fields.
pub(crate) mod field {
    crate::tree::codes! {
        ALIAS = "alias",
        ATTRIBUTE = "attribute",
        BODY = "body",
        DEFINITION = "definition",
        FUNCTION = "function",
        LEFT = "left",
        MODULE_NAME = "module_name",
        NAME = "name",
        OBJECT = "object",
        RIGHT = "right",
        SUPERCLASSES = "superclasses",
        VALUE = "value",
    }
}

use kind as k;

/// The kinds whose children are asked for their field.
pub(crate) const FIELDED: &[u8] = &[
    k::ALIASED_IMPORT,
    k::ASSIGNMENT,
    k::ATTRIBUTE,
    k::CALL,
    k::CLASS,
    k::DECORATED,
    k::DEFAULT_PARAMETER,
    k::EXCEPT,
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
    k::TYPE_ALIAS,
];

/// The kinds in which nothing is of interest.
pub(crate) const OPAQUE: &[u8] = &[k::COMMENT, k::STRING_CONTENT];
