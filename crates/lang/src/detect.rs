//! Detects a file's language by its name, its extension, then its shebang line. Headers of C and C++ share an
//! extension, so their text decides.

use crate::{LANGUAGES, Language, LanguageSupport, cpp_header, landmarks};

/// A file's language: its name, and the grammar if there is one.
pub(crate) struct Detected {
    pub(crate) name: &'static str,
    pub(crate) language: Option<&'static Language>,
}

/// The name of the language of unrecognised files.
const TEXT: &str = "text";

/// Languages without a grammar: name, extensions, file names, interpreters.
type PlainLanguage = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const PLAIN: &[PlainLanguage] = &[
    (TEXT, &["txt", "text", "log"], &[], &[]),
    ("markdown", &["md", "markdown", "mdx"], &[], &[]),
    ("restructuredtext", &["rst"], &[], &[]),
    ("asciidoc", &["adoc", "asciidoc"], &[], &[]),
    ("toml", &["toml"], &["Cargo.lock", "poetry.lock", "uv.lock", "Pipfile"], &[]),
    ("json", &["json", "jsonc", "json5", "geojson", "webmanifest"], &[".babelrc", ".eslintrc"], &[]),
    ("yaml", &["yaml", "yml"], &[".clang-format", ".clang-tidy"], &[]),
    ("xml", &["xml", "xsd", "xsl", "xslt", "svg", "plist"], &[], &[]),
    ("html", &["html", "htm", "xhtml"], &[], &[]),
    ("css", &["css"], &[], &[]),
    ("scss", &["scss", "sass"], &[], &[]),
    ("less", &["less"], &[], &[]),
    ("sql", &["sql"], &[], &[]),
    ("graphql", &["graphql", "gql"], &[], &[]),
    ("protobuf", &["proto"], &[], &[]),
    ("ini", &["ini", "cfg", "conf", "properties"], &[".editorconfig", ".gitconfig"], &[]),
    ("csv", &["csv", "tsv"], &[], &[]),
    ("diff", &["diff", "patch"], &[], &[]),
    ("fish", &["fish"], &[], &["fish"]),
    ("powershell", &["ps1", "psm1", "psd1"], &[], &["pwsh"]),
    ("batch", &["bat", "cmd"], &[], &[]),
    ("make", &["mk", "mak"], &["Makefile", "makefile", "GNUmakefile"], &["make"]),
    ("cmake", &["cmake"], &["CMakeLists.txt"], &[]),
    ("dockerfile", &["dockerfile"], &["Dockerfile", "Containerfile"], &[]),
    ("just", &["just"], &["justfile", "Justfile"], &["just"]),
    ("nix", &["nix"], &[], &[]),
    ("terraform", &["tf", "tfvars", "hcl"], &[], &[]),
    ("objective-c", &["m", "mm"], &[], &[]),
    ("groovy", &["groovy", "gradle"], &["Jenkinsfile"], &["groovy"]),
    ("perl", &["pl", "pm"], &[], &["perl"]),
    ("r", &["r"], &[], &["Rscript"]),
    ("julia", &["jl"], &[], &["julia"]),
    ("dart", &["dart"], &[], &[]),
    ("erlang", &["erl", "hrl"], &[], &["escript"]),
    ("literate-haskell", &["lhs"], &[], &[]),
    ("ocaml", &["ml", "mli"], &[], &["ocaml"]),
    ("fsharp", &["fs", "fsi", "fsx"], &[], &[]),
    ("clojure", &["clj", "cljs", "cljc", "edn"], &[], &[]),
    ("lisp", &["el", "lisp", "lsp", "scm", "rkt"], &[], &[]),
    ("vim", &["vim"], &[".vimrc"], &[]),
    ("wgsl", &["wgsl"], &[], &[]),
    ("glsl", &["glsl", "vert", "frag", "comp"], &[], &[]),
    ("assembly", &["s", "asm"], &[], &[]),
    ("starlark", &["bzl", "bazel", "star"], &["BUILD", "WORKSPACE"], &[]),
];

/// Languages that are prose, data or configuration. Searches look for code first.
const NOT_CODE: &[&str] =
    &[TEXT, "css", "csv", "html", "ini", "json", "markdown", "restructuredtext", "toml", "xml", "yaml"];

/// Extensions that make a word a file name. Method calls also end in words, so these are only the common ones.
const FILE_NAME_EXTENSIONS: &[&str] = &[
    "bash", "c", "cc", "cfg", "cjs", "cpp", "cs", "css", "dart", "ex", "exs", "go", "h", "hpp", "hs", "html", "java",
    "jl", "js", "json", "jsx", "kt", "lua", "md", "mjs", "ml", "php", "proto", "py", "pyi", "r", "rb", "rs", "scala",
    "sh", "sql", "swift", "toml", "ts", "tsx", "txt", "yaml", "yml", "zig",
];

/// Returns whether a word is one of [`FILE_NAME_EXTENSIONS`], case-insensitive.
pub(crate) fn is_file_name_extension(word: &str) -> bool {
    FILE_NAME_EXTENSIONS.contains(&word.to_lowercase().as_str())
}

/// Returns whether files of a language are code.
pub(crate) fn is_code(language: &str) -> bool {
    !NOT_CODE.contains(&language)
}

/// Returns whether files with this extension, in lower case and without the dot, are code.
pub fn is_code_extension(extension: &str) -> bool {
    find(|rule| rule.extensions.contains(&extension)).is_some_and(|found| is_code(found.name))
}

/// Detects the language of a file. Whole names win over extensions: `CMakeLists.txt` is not plain text.
pub(crate) fn detect(path: &str, text: &str) -> Detected {
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let extension = file_name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    find(|rule| rule.file_names.contains(&file_name))
        .or_else(|| {
            let extension = extension?;
            let extension = if extension == "h" && cpp_header::is_cpp(text) { "hpp" } else { extension.as_str() };
            find(|rule| rule.extensions.contains(&extension))
        })
        .or_else(|| interpreter(text).and_then(|program| find(|rule| rule.interpreters.contains(&program))))
        .unwrap_or(Detected { name: TEXT, language: None })
}

/// Finds a language by its name. Among several grammars, the one for the file's extension wins, else the plainest,
/// which is last in the list.
pub(crate) fn by_name(name: &str, path: &str) -> Option<Detected> {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).unwrap_or_default();
    let all = || LANGUAGES.iter().filter(|known| known.name == name);
    let fits = |known: &&&Language| known.extensions.contains(&extension.as_str());
    if let Some(known) = all().find(fits).or_else(|| all().next_back()) {
        return Some(Detected { name: known.name, language: Some(known) });
    }
    PLAIN.iter().find(|plain| plain.0 == name).map(|plain| Detected { name: plain.0, language: None })
}

/// Returns whether this is the name of a language without a grammar.
pub(crate) fn is_plain(name: &str) -> bool {
    PLAIN.iter().any(|plain| plain.0 == name)
}

/// Returns the names of all languages without a grammar.
pub(crate) fn plain_names() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().map(|plain| plain.0)
}

/// Returns the support of the languages without a grammar.
pub(crate) fn plain_support() -> Vec<LanguageSupport> {
    let one = |&(name, extensions, file_names, _): &PlainLanguage| LanguageSupport {
        name,
        extensions: extensions.to_vec(),
        file_names: file_names.to_vec(),
        depth: None,
        landmarks: landmarks::reader(name).is_some(),
        measured: "",
    };
    PLAIN.iter().map(one).collect()
}

/// The names that identify a language, with or without a grammar.
struct DetectionRule {
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
    interpreters: &'static [&'static str],
}

/// Returns the first language with a matching rule. Languages with a grammar come first.
fn find(fits: impl Fn(&DetectionRule) -> bool) -> Option<Detected> {
    let with_grammar = LANGUAGES.iter().find(|known| {
        fits(&DetectionRule {
            extensions: known.extensions,
            file_names: known.file_names,
            interpreters: known.interpreters,
        })
    });
    if let Some(known) = with_grammar {
        return Some(Detected { name: known.name, language: Some(known) });
    }
    PLAIN
        .iter()
        .find(|&&(_, extensions, file_names, interpreters)| {
            fits(&DetectionRule { extensions, file_names, interpreters })
        })
        .map(|plain| Detected { name: plain.0, language: None })
}

/// Returns the program of a shebang line, without its folder, `env` and version number.
fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let program = words.find(|word| *word != "env" && !word.starts_with('-') && !word.contains('='))?;
    Some(program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_by_extension_name_or_shebang() {
        let cases = [
            ("src/main.rs", "", "rust"),
            ("a/b.PY", "", "python"),
            ("a/types.pyi", "", "python"),
            ("Makefile", "", "make"),
            ("CMakeLists.txt", "", "cmake"),
            ("bin/tool", "#!/usr/bin/env python3\n", "python"),
            ("bin/tool", "#!/usr/bin/env -S python3.12 -u\n", "python"),
            ("bin/tool", "#!/bin/bash -e\n", "shell"),
            ("bin/tool", "#!", "text"),
            ("README", "", "text"),
            ("a.unknown", "", "text"),
            ("x.go", "", "go"),
            ("src/a.d.ts", "", "typescript"),
            ("a.mts", "", "typescript"),
            ("view.tsx", "", "typescript"),
            ("view.jsx", "", "javascript"),
            ("bin/tool", "#!/usr/bin/env node\n", "javascript"),
            ("", "", "text"),
            ("a.h", "struct a { int b; };\n", "c"),
            ("a.h", "#include <string>\n", "cpp"),
            ("a.h", "/* class of\nclass */\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n", "c"),
            ("a.H", "#pragma once\n  namespace a {\n", "cpp"),
        ];
        for (path, text, name) in cases {
            assert_eq!(detect(path, text).name, name, "{path} {text}");
        }
    }

    #[test]
    fn finds_language_by_name() {
        let grammar =
            |name: &str, path: &str| by_name(name, path).and_then(|found| found.language?.extensions.first().copied());
        assert_eq!(grammar("typescript", "a.inc"), Some("ts"));
        assert_eq!(grammar("typescript", "a.tsx"), Some("tsx"));
        assert!(by_name("starlark", "Tiltfile").is_some_and(|found| found.language.is_none()));
        assert!(by_name("klingon", "a.py").is_none());
        let extracted = |chosen| crate::extract_as("a.inc", b"def f(): pass\n".to_vec(), chosen, &|| true);
        let chosen = extracted(Some("python")).expect("because nothing cancels it");
        assert_eq!((chosen.language, chosen.facts.symbols.len()), ("python", 1));
        assert_eq!(Some(chosen.facts_version), crate::explicit_version("python"));
        assert_ne!(crate::explicit_version("python"), crate::facts_version("python"));
        assert_eq!(extracted(Some("klingon")).map(|found| found.language), Some(TEXT));
    }

    #[test]
    fn recognises_code_extensions() {
        assert!(["rs", "py", "tsx", "zig", "sql"].into_iter().all(is_code_extension));
        assert!(!["md", "json", "css", "bak", ""].into_iter().any(is_code_extension));
        assert!(is_file_name_extension("RS") && !is_file_name_extension("get"));
    }

    #[test]
    fn detection_rules_are_unique() {
        let mut all: Vec<_> = PLAIN.iter().flat_map(|plain| plain.1).copied().collect();
        all.extend(LANGUAGES.iter().flat_map(|language| language.extensions).copied());
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert!(LANGUAGES.iter().all(|language| !is_plain(language.name)));
        assert!(NOT_CODE.iter().all(|name| is_plain(name)));
    }
}
