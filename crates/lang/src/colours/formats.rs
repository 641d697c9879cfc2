//! The syntax of formats without a grammar: their comments, quotes, keywords and keys.

/// The syntax of a format.
pub(super) struct Format {
    /// The languages with this syntax.
    pub(super) languages: &'static [&'static str],
    /// Markers of comments to the end of the line.
    pub(super) lines: &'static [&'static str],
    /// Start and end markers of other comments.
    pub(super) blocks: &'static [(&'static str, &'static str)],
    /// Quotes of string literals that end on their line.
    pub(super) quotes: &'static str,
    /// Quotes in which a backslash escapes the next character.
    pub(super) escaping: &'static str,
    /// Quotes of string literals that may extend over lines.
    pub(super) long: &'static [&'static str],
    /// Keywords, in lower case, separated by blanks.
    pub(super) words: &'static str,
    /// Whether keywords are recognised at the start of a line only.
    pub(super) only_first: bool,
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

const NOTHING: Format = Format {
    languages: &[],
    lines: &[],
    blocks: &[],
    quotes: "\"",
    escaping: "\"",
    long: &[],
    words: "",
    only_first: false,
    key: None,
    heading: None,
    tags: false,
    numbers: true,
    rules: false,
};

const C_LIKE: Format = Format { lines: &["//"], blocks: &[("/*", "*/")], quotes: "\"'", escaping: "\"'", ..NOTHING };
const SHELL_LIKE: Format = Format { lines: &["#"], quotes: "\"'", ..NOTHING };

pub(super) const FORMATS: &[Format] = &[
    Format { languages: &["asciidoc"], lines: &["//"], quotes: "`", heading: Some(b'='), numbers: false, ..NOTHING },
    Format { languages: &["css"], lines: &[], rules: true, ..C_LIKE },
    Format { languages: &["less", "scss"], rules: true, ..C_LIKE },
    Format {
        languages: &["dockerfile"],
        words: "add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user \
            volume workdir",
        only_first: true,
        ..SHELL_LIKE
    },
    Format {
        languages: &["html", "xml"],
        blocks: &[("<!--", "-->")],
        quotes: "\"'",
        escaping: "",
        tags: true,
        numbers: false,
        ..NOTHING
    },
    Format { languages: &["ini"], lines: &["#", ";"], key: Some(b'='), heading: Some(b'['), quotes: "\"", ..NOTHING },
    Format { languages: &["json"], key: Some(b':'), words: "false null true", ..C_LIKE },
    Format {
        languages: &["make"],
        lines: &["#"],
        quotes: "",
        words: "define else endef endif export ifdef ifeq ifndef ifneq include",
        only_first: true,
        key: Some(b':'),
        ..NOTHING
    },
    Format {
        languages: &["markdown"],
        blocks: &[("<!--", "-->")],
        quotes: "`",
        escaping: "",
        long: &["```", "~~~"],
        heading: Some(b'#'),
        numbers: false,
        ..NOTHING
    },
    Format { languages: &["restructuredtext"], long: &["``"], quotes: "", numbers: false, ..NOTHING },
    Format {
        languages: &["protobuf"],
        words: "enum extend extensions import map message oneof option optional package public repeated required \
            reserved returns rpc service stream syntax",
        ..C_LIKE
    },
    Format {
        languages: &["sql"],
        lines: &["--"],
        quotes: "'\"",
        escaping: "",
        words: "add all alter and as asc begin between by cascade case check column commit constraint create cross \
            default delete desc distinct drop else end exists foreign from full function group having if in \
            index inner insert into is join key left like limit not null offset on or order outer primary \
            procedure references replace return returns right rollback select set table then trigger union \
            unique update using values view when where with",
        ..C_LIKE
    },
    Format {
        languages: &["graphql"],
        lines: &["#"],
        blocks: &[],
        long: &["\"\"\""],
        words: "directive enum extend fragment implements input interface mutation on query scalar schema \
            subscription type union",
        rules: true,
        ..NOTHING
    },
    Format {
        languages: &["terraform"],
        lines: &["#", "//"],
        quotes: "\"",
        key: Some(b'='),
        words: "false null true",
        ..C_LIKE
    },
    Format {
        languages: &["toml"],
        long: &["\"\"\"", "'''"],
        words: "false true",
        key: Some(b'='),
        heading: Some(b'['),
        ..SHELL_LIKE
    },
    Format { languages: &["yaml"], words: "false null true", key: Some(b':'), ..SHELL_LIKE },
    Format { languages: &["cmake", "fish", "just", "perl", "r"], escaping: "\"'", ..SHELL_LIKE },
    Format { languages: &["julia"], lines: &["#"], blocks: &[("#=", "=#")], long: &["\"\"\""], ..NOTHING },
    Format { languages: &["nix"], lines: &["#"], blocks: &[("/*", "*/")], long: &["''"], ..NOTHING },
    Format { languages: &["powershell"], blocks: &[("<#", "#>")], escaping: "", ..SHELL_LIKE },
    Format { languages: &["starlark"], long: &["\"\"\"", "'''"], escaping: "\"'", ..SHELL_LIKE },
    Format { languages: &["dart", "glsl", "groovy", "objective-c", "wgsl"], ..C_LIKE },
    Format { languages: &["erlang"], lines: &["%"], ..NOTHING },
    Format { languages: &["fsharp"], lines: &["//"], blocks: &[("(*", "*)")], long: &["\"\"\""], ..NOTHING },
    Format { languages: &["ocaml"], blocks: &[("(*", "*)")], ..NOTHING },
    Format { languages: &["clojure", "lisp"], lines: &[";"], ..NOTHING },
];
