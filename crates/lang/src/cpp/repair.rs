//! Blanks out macros that the grammar cannot parse, without moving a byte.
//!
//! The grammar parses `class EXPORT_API Name {` as a function and `API_INLINE void f()` as an error. Either can lose
//! the rest of the file, and both are common. So an upper-case word is replaced by blanks before the keywords of a
//! declaration, and after a declaration if it is a lock annotation. All texts still come from the original file.

use crate::preprocessor::{Branches, Edits, Repair, Strings, Token, resolve_branches, tokens};

/// Words that may precede such a macro in the same declaration.
const DECLARATION_PREFIXES: &[&str] =
    &["static", "inline", "virtual", "explicit", "constexpr", "extern", "friend", "else"];

/// Words of the language before or after a name that follows `*` or `&`.
const POINTER_WORDS: &[&str] = &[
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "noexcept",
    "override",
    "final",
    "operator",
    "requires",
    "and",
    "or",
    "xor",
    "bitand",
    "bitor",
    "and_eq",
    "or_eq",
    "xor_eq",
    "not_eq",
    "this",
    "sizeof",
    "new",
    "delete",
    "throw",
    "co_await",
    "static_cast",
    "struct",
    "class",
    "typename",
    "template",
    "co_yield",
];

/// Suffixes of thread safety annotations, which follow a declaration.
const ANNOTATION_SUFFIXES: &[&str] = &[
    "GUARDED_BY",
    "GUARDED_VAR",
    "ACQUIRED_AFTER",
    "ACQUIRED_BEFORE",
    "LOCKS_REQUIRED",
    "LOCK_REQUIRED",
    "LOCKS_EXCLUDED",
    "LOCK_EXCLUDED",
    "LOCK_FUNCTION",
    "ASSERT_EXCLUSIVE_LOCK",
    "ASSERT_SHARED_LOCK",
    "REQUIRES",
    "REQUIRES_SHARED",
    "EXCLUDES",
    "ACQUIRE",
    "ACQUIRE_SHARED",
    "RELEASE",
    "RELEASE_SHARED",
    "TRY_ACQUIRE",
    "LOCK_RETURNED",
    "PRINTF_FORMAT",
    "PRINTF_ATTRIBUTE",
];

/// Returns the repaired text, or `None` when nothing changes.
pub(super) fn repair(text: &str) -> Option<Repair> {
    let all = tokens(text, Strings::C);
    let mut edits = Edits::new(&all, &[crate::c::hooks::KEYWORDS, super::hooks::KEYWORDS], true);
    resolve_branches(&all, &Branches { known: &[("__cplusplus", true)] }, &mut edits);
    let left = edits.left();
    let tokens: Vec<Token<'_>> = left.iter().map(|&at| all[at]).collect();
    let declares = declares(&tokens);
    let (mut at, mut start) = (0, 0);
    while at < tokens.len() {
        let end = macro_before_name(&tokens, at)
            .or_else(|| macro_before_declaration(&tokens, at))
            .or_else(|| macro_after_type(&tokens, at))
            .or_else(|| macro_after_pointer(&tokens, at))
            .or_else(|| macro_on_own_line(&tokens, at, declares[at]))
            .or_else(|| macro_after_declaration(&tokens, at));
        let Some(end) = end else {
            (at, start) = (at + 1, at + 1);
            continue;
        };
        left[at..end].iter().for_each(|&token| edits.blank(token..token + 1));
        if tokens.get(end).is_some_and(|next| !next.is_first) {
            edits.start_at(left[end], left[start]);
        }
        at = end;
    }
    edits.apply(text)
}

/// Returns the token after a macro and its arguments.
fn after_macro(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    if tokens.get(at + 1).is_none_or(|next| next.text != "(") {
        return Some(at + 1);
    }
    let mut depth = 0;
    for (end, token) in tokens.iter().enumerate().skip(at + 1).take(64) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            ";" | "{" => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(end + 1);
        }
    }
    None
}

/// `class MACRO Name {`: returns the token after the macro.
fn macro_before_name(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let word = at.checked_sub(1).map(|before| tokens[before].text)?;
    if !matches!(word, "class" | "struct" | "union") || !tokens[at].is_macro() {
        return None;
    }
    let end = after_macro(tokens, at)?;
    let name = tokens.get(end).filter(|name| name.is_word() && name.text != "final")?;
    let next = tokens.get(end + 1)?.text;
    let is_export = || ["EXPORT", "API", "PUBLIC"].iter().any(|part| tokens[at].text.contains(part));
    let is_one = match next {
        "{" | "final" | "<" => true,
        // A single `:`, not `::`.
        ":" => tokens.get(end + 2).is_none_or(|next| next.text != ":"),
        ";" => word == "class" || is_export(),
        _ => name.is_macro(),
    };
    is_one.then_some(end)
}

/// `MACRO void f()`, and a macro alone on its line: returns the token after it.
fn macro_before_declaration(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let own = tokens[at];
    let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
    let is_begin = matches!(before, "" | ";" | "{" | "}" | ":" | ">" | "]")
        || before.starts_with('#')
        || DECLARATION_PREFIXES.contains(&before);
    if !own.is_macro() || !is_begin {
        return None;
    }
    let Some(next) = tokens.get(at + 1) else { return own.is_first.then_some(at + 1) };
    let is_end = next.text == "}" && matches!(before, "}" | ";");
    if next.is_first && own.is_first && (next.is_word() || is_end || next.text.starts_with('#')) {
        return Some(at + 1);
    }
    let is_named = |text: &str| text.contains('_') && !text.ends_with("_T") && !text.ends_with("_PTR");
    let is_one = next.is_word()
        && match tokens.get(at + 2)?.text {
            ":" => tokens.get(at + 3).is_some_and(|next| next.text == ":"),
            "<" | "*" | "&" => true,
            "(" => is_named(own.text),
            _ => tokens[at + 2].is_word(),
        };
    is_one.then_some(at + 1)
}

/// `void MACRO f(`: returns the token after the macro.
fn macro_after_type(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let before = tokens.get(at.checked_sub(1)?)?;
    let is_type = (before.is_word()
        && !matches!(before.text, "return" | "new" | "else" | "case" | "throw" | "define" | "goto"))
        || matches!(before.text, ">" | "*" | "&");
    let own = tokens[at];
    let is_call = matches!(own.text, "WINAPI" | "CALLBACK" | "APIENTRY" | "STDCALL");
    let is_one = own.is_macro() && is_type && (own.text.contains('_') || is_call) && tokens.get(at + 1)?.is_word();
    let next = tokens.get(at + 2)?.text;
    let is_path = || next == ":" && tokens.get(at + 3).is_some_and(|next| next.text == ":");
    (is_one && (matches!(next, "(" | "<") || is_path())).then_some(at + 1)
}

/// `int* nonnull p`: returns the token after the macro.
fn macro_after_pointer(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let before = at.checked_sub(1).map_or("", |before| tokens[before].text);
    let name = tokens.get(at + 1)?;
    let is_macro = |word: &Token<'_>| word.is_word() && !POINTER_WORDS.contains(&word.text);
    (matches!(before, "*" | "&") && !name.is_first && is_macro(&tokens[at]) && is_macro(name)).then_some(at + 1)
}

/// `PUSH_WARNINGS(1)` alone on its line, without a semicolon: returns the token after it.
fn macro_on_own_line(tokens: &[Token<'_>], at: usize, declares: bool) -> Option<usize> {
    let own = tokens[at];
    if !own.is_first || !own.is_macro() || !declares {
        return None;
    }
    let end = after_macro(tokens, at).filter(|end| *end > at + 1)?;
    let is_end = |next: &Token<'_>| {
        next.is_first && (next.is_word() || matches!(next.text, "}" | "~" | "[") || next.text.starts_with('#'))
    };
    tokens.get(end).is_none_or(is_end).then_some(end)
}

/// For each token, whether the context is declarations rather than statements: neither a function body nor a list.
fn declares(tokens: &[Token<'_>]) -> Vec<bool> {
    let mut all = Vec::with_capacity(tokens.len());
    let mut open: Vec<bool> = Vec::new();
    let mut parens = 0_u32;
    let (mut is_namespace, mut is_class, mut has_parens) = (false, false, false);
    for token in tokens {
        all.push(parens == 0 && open.last().copied().unwrap_or(true));
        match token.text {
            "namespace" | "extern" => is_namespace = true,
            "class" | "struct" | "union" => is_class = true,
            "enum" => has_parens = true,
            "(" => (parens, has_parens) = (parens + 1, true),
            ")" => parens = parens.saturating_sub(1),
            "{" => {
                open.push((is_namespace || is_class) && !has_parens);
                parens = 0;
            }
            "}" => drop(open.pop()),
            _ => {}
        }
        if matches!(token.text, "{" | "}" | ";") {
            (is_namespace, is_class, has_parens) = (false, false, false);
        }
    }
    all
}

/// `int a GUARDED_BY(mutex);`: returns the token after the macro.
fn macro_after_declaration(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let own = tokens[at];
    let before = tokens.get(at.checked_sub(1)?)?;
    if !own.is_macro() || !(before.is_word() || matches!(before.text, ")" | "]")) || before.text == "return" {
        return None;
    }
    let end = after_macro(tokens, at)?;
    let name = own.text.trim_end_matches('_');
    let next = tokens.get(end)?;
    let ends = matches!(next.text, ";" | "{" | "=" | "override" | "final" | "const") || next.is_macro();
    let is_mark =
        end == at + 1 && (name.ends_with("NOEXCEPT") || name.ends_with("ANALYSIS") || name.ends_with("OVERRIDE"));
    let is_given = end > at + 1 && ANNOTATION_SUFFIXES.iter().any(|known| name.ends_with(known));
    (ends && (is_mark || is_given)).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::repair;

    #[test]
    fn declaration_macros_are_blanked() {
        for (text, repaired) in [
            ("class MY_API A : B {};", "class        A : B {};"),
            ("struct ALIGN(8) A {};", "struct          A {};"),
            ("MY_INLINE void A::f() {}", "          void A::f() {}"),
            ("MY_BEGIN\nnamespace a {}\nMY_END\n", "        \nnamespace a {}\n      \n"),
            ("int a GUARDED_BY(m) = 1;", "int a               = 1;"),
            (
                "A::A()\n    :\n#if B\n      c(1),\n#else\n      c(2),\n#endif\n      d(3) {}",
                "A::A()\n    :\n     \n      c(1),\n     \n           \n      \n      d(3) {}",
            ),
            ("class A {\n  PROPERTY(b)\n  int c;\n};", "class A {\n             \n  int c;\n};"),
            ("void MY_INLINE f() {}", "void           f() {}"),
            ("void f() REQUIRES(m) OTHER_LOCKS_REQUIRED(n);", "void f()                                    ;"),
        ] {
            assert_eq!(repair(text).map(|repair| repair.text).as_deref(), Some(repaired), "{text}");
        }
        for text in [
            "FILE *f;",
            "DWORD n = 1;",
            "struct STAT a;",
            "enum { ONE };",
            "enum {\n  ONE\n};",
            "CHECK(a);\nb();",
            "return MAX_N;",
            "// MY_INLINE void f()\n",
            "\"MY_INLINE void f()\"",
            "R\"x(MY_INLINE void f())x\"",
            "#define MY_INLINE void f()\n",
            "TEST(A, B) {}",
        ] {
            assert!(repair(text).is_none(), "{text}");
        }
    }
}
