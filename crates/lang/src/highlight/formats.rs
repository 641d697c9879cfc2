//! The syntax of formats without a grammar: their comments, quotes, keywords and keys.

/// The syntax of a format.
pub(super) struct TextFormat {
    /// The languages with this syntax.
    pub(super) languages: &'static [&'static str],
    /// Markers of comments to the end of the line.
    pub(super) line_comments: &'static [&'static str],
    /// Start and end markers of other comments.
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    /// Quotes of string literals that end on their line.
    pub(super) quotes: &'static str,
    /// Quotes in which a backslash escapes the next character.
    pub(super) escaping_quotes: &'static str,
    /// Quotes of string literals that may extend over lines.
    pub(super) long_quotes: &'static [&'static str],
    /// Keywords, in lower case, separated by blanks.
    pub(super) keywords: &'static str,
    /// Whether keywords are recognised at the start of a line only.
    pub(super) keywords_first_only: bool,
    /// The character after a key.
    pub(super) key: Option<u8>,
    /// The character that headings or section names begin with.
    pub(super) heading: Option<u8>,
    /// Whether quotes and words are recognised between `<` and `>` only.
    pub(super) tags: bool,
    /// Whether numbers are highlighted.
    pub(super) numbers: bool,
    /// Whether words after an `@` are attributes.
    pub(super) rules: bool,
}

const PLAIN: TextFormat = TextFormat {
    languages: &[],
    line_comments: &[],
    block_comments: &[],
    quotes: "\"",
    escaping_quotes: "\"",
    long_quotes: &[],
    keywords: "",
    keywords_first_only: false,
    key: None,
    heading: None,
    tags: false,
    numbers: true,
    rules: false,
};

const C_LIKE: TextFormat = TextFormat {
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    quotes: "\"'",
    escaping_quotes: "\"'",
    ..PLAIN
};
const SHELL_LIKE: TextFormat = TextFormat { line_comments: &["#"], quotes: "\"'", ..PLAIN };

pub(super) const FORMATS: &[TextFormat] = &[
    TextFormat {
        languages: &["asciidoc"],
        line_comments: &["//"],
        quotes: "`",
        heading: Some(b'='),
        numbers: false,
        ..PLAIN
    },
    TextFormat { languages: &["css"], line_comments: &[], rules: true, ..C_LIKE },
    TextFormat { languages: &["less", "scss"], rules: true, ..C_LIKE },
    TextFormat {
        languages: &["dockerfile"],
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user \
            volume workdir",
        keywords_first_only: true,
        ..SHELL_LIKE
    },
    TextFormat {
        languages: &["html", "xml"],
        block_comments: &[("<!--", "-->")],
        quotes: "\"'",
        escaping_quotes: "",
        tags: true,
        numbers: false,
        ..PLAIN
    },
    TextFormat {
        languages: &["ini"],
        line_comments: &["#", ";"],
        key: Some(b'='),
        heading: Some(b'['),
        quotes: "\"",
        ..PLAIN
    },
    TextFormat { languages: &["json"], key: Some(b':'), keywords: "false null true", ..C_LIKE },
    TextFormat {
        languages: &["make"],
        line_comments: &["#"],
        quotes: "",
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include",
        keywords_first_only: true,
        key: Some(b':'),
        ..PLAIN
    },
    TextFormat {
        languages: &["markdown"],
        block_comments: &[("<!--", "-->")],
        quotes: "`",
        escaping_quotes: "",
        long_quotes: &["```", "~~~"],
        heading: Some(b'#'),
        numbers: false,
        ..PLAIN
    },
    TextFormat { languages: &["restructuredtext"], long_quotes: &["``"], quotes: "", numbers: false, ..PLAIN },
    TextFormat {
        languages: &["protobuf"],
        keywords: "enum extend extensions import map message oneof option optional package public repeated required \
            reserved returns rpc service stream syntax",
        ..C_LIKE
    },
    TextFormat {
        languages: &["sql"],
        line_comments: &["--"],
        quotes: "'\"",
        escaping_quotes: "",
        keywords: "add all alter and as asc begin between by cascade case check column commit constraint create cross \
            default delete desc distinct drop else end exists foreign from full function group having if in \
            index inner insert into is join key left like limit not null offset on or order outer primary \
            procedure references replace return returns right rollback select set table then trigger union \
            unique update using values view when where with",
        ..C_LIKE
    },
    TextFormat {
        languages: &["graphql"],
        line_comments: &["#"],
        block_comments: &[],
        long_quotes: &["\"\"\""],
        keywords: "directive enum extend fragment implements input interface mutation on query scalar schema \
            subscription type union",
        rules: true,
        ..PLAIN
    },
    TextFormat {
        languages: &["terraform"],
        line_comments: &["#", "//"],
        quotes: "\"",
        key: Some(b'='),
        keywords: "false null true",
        ..C_LIKE
    },
    TextFormat {
        languages: &["toml"],
        long_quotes: &["\"\"\"", "'''"],
        keywords: "false true",
        key: Some(b'='),
        heading: Some(b'['),
        ..SHELL_LIKE
    },
    TextFormat { languages: &["yaml"], keywords: "false null true", key: Some(b':'), ..SHELL_LIKE },
    TextFormat { languages: &["cmake", "fish", "just", "perl", "r"], escaping_quotes: "\"'", ..SHELL_LIKE },
    TextFormat {
        languages: &["julia"],
        line_comments: &["#"],
        block_comments: &[("#=", "=#")],
        long_quotes: &["\"\"\""],
        ..PLAIN
    },
    TextFormat {
        languages: &["nix"],
        line_comments: &["#"],
        block_comments: &[("/*", "*/")],
        long_quotes: &["''"],
        ..PLAIN
    },
    TextFormat { languages: &["powershell"], block_comments: &[("<#", "#>")], escaping_quotes: "", ..SHELL_LIKE },
    TextFormat { languages: &["starlark"], long_quotes: &["\"\"\"", "'''"], escaping_quotes: "\"'", ..SHELL_LIKE },
    TextFormat { languages: &["dart", "glsl", "groovy", "objective-c", "wgsl"], ..C_LIKE },
    TextFormat { languages: &["erlang"], line_comments: &["%"], ..PLAIN },
    TextFormat {
        languages: &["fsharp"],
        line_comments: &["//"],
        block_comments: &[("(*", "*)")],
        long_quotes: &["\"\"\""],
        ..PLAIN
    },
    TextFormat { languages: &["ocaml"], block_comments: &[("(*", "*)")], ..PLAIN },
    TextFormat { languages: &["clojure", "lisp"], line_comments: &[";"], ..PLAIN },
];
