//! Blanks macros that the grammar of C cannot parse among the words of a declaration, and ends those that are
//! declarations of their own.
//!
//! A declaration has one type and one name. A further word among its specifiers, with or without arguments, is a macro
//! for attributes: `API_EXTERN int f(void)`, `static NO_SANITIZE("bounds") int f(void) {`. So is a word after the
//! parameters or after a name, if it is spelled like a macro. A macro alone on its line is a declaration or a statement
//! without a semicolon.

use std::ops::Range;

use crate::preprocessor::{Branches, Edits, Repair, Strings, Token, TokenKind, resolve_branches, tokens};

/// The maximum number of tokens of a declaration before its body or value.
const MAX_HEAD: usize = 400;

/// The words of types, which a declaration has one of.
const TYPE_WORDS: &[&str] = &[
    "void",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "bool",
    "_Bool",
    "_Complex",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "typeof",
    "__typeof__",
    "__typeof",
    "_Atomic",
    "auto",
];

/// The words before a tag.
const TAG_WORDS: &[&str] = &["struct", "union", "enum"];

/// Other words that the grammar knows in a declaration.
const SPECIFIERS: &[&str] = &[
    "static",
    "extern",
    "inline",
    "const",
    "volatile",
    "register",
    "restrict",
    "typedef",
    "__inline",
    "__inline__",
    "__extension__",
    "__restrict",
    "__restrict__",
    "_Noreturn",
    "_Thread_local",
    "__thread",
    "constexpr",
    "thread_local",
    "__attribute__",
    "__attribute",
    "__declspec",
    "_Alignas",
    "alignas",
    "asm",
    "__asm__",
    "__asm",
    "__cdecl",
    "__stdcall",
    "__fastcall",
    "__thiscall",
    "__vectorcall",
    "__clrcall",
    "__forceinline",
    "_unaligned",
    "__unaligned",
    "__based",
    "defined",
];

/// Words that begin a statement or an expression, not a declaration.
const STATEMENT_WORDS: &[&str] = &[
    "return",
    "if",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "goto",
    "break",
    "continue",
    "else",
    "sizeof",
    "_Static_assert",
    "static_assert",
    "_Generic",
    "__except",
    "__try",
    "__finally",
    "class",
    "template",
    "namespace",
    "using",
];

/// Returns the repaired text, or `None` when nothing changes.
pub(super) fn repair(text: &str) -> Option<Repair> {
    let tokens = tokens(text, Strings::C);
    let mut edits = Edits::new(&tokens, &[super::hooks::KEYWORDS], true);
    resolve_branches(&tokens, &Branches { known: &[("__cplusplus", false)] }, &mut edits);
    let left = edits.left();
    let mut pass = Pass { text, tokens: &tokens, left: &left, edits: &mut edits, around: Vec::new() };
    pass.run();
    edits.apply(text)
}

/// The braces around a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// Declarations: a file or a language linkage.
    Declarations,
    Fields,
    Constants,
    Statements,
    Values,
}

/// A part of a declaration: tokens by their positions among those that are left.
#[derive(Clone, Debug)]
struct Part {
    form: Form,
    /// The position of its first token, and the one after its last.
    from: usize,
    to: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// `int`, `struct a`.
    Type,
    /// `static`, `const`, `__attribute__((…))`.
    Specifier,
    Word,
    /// A word and its arguments or parameters.
    Call,
    /// `(*name)`, and the parameters after it.
    Group,
    Other,
}

struct Pass<'p, 'e, 't> {
    text: &'t str,
    tokens: &'p [Token<'t>],
    /// The numbers of the tokens that are left.
    left: &'p [usize],
    edits: &'p mut Edits<'e, 't>,
    around: Vec<Around>,
}

impl<'t> Pass<'_, '_, 't> {
    fn token(&self, at: usize) -> Option<Token<'t>> {
        self.left.get(at).map(|&token| self.tokens[token])
    }

    fn word(&self, at: usize) -> &'t str {
        self.token(at).map_or("", |token| token.text)
    }

    fn is_macro(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| token.is_macro())
    }

    fn run(&mut self) {
        let (mut at, mut begins, mut parens) = (0, true, 0_usize);
        while at < self.left.len() {
            let around = self.around.last().copied().unwrap_or(Around::Declarations);
            if begins && parens == 0 {
                let next = match around {
                    Around::Declarations | Around::Fields => self.declaration(at, around),
                    Around::Statements => self.statement(at),
                    Around::Constants => self.constant(at),
                    Around::Values => None,
                };
                if let Some(next) = next.filter(|&next| next > at) {
                    at = next;
                    continue;
                }
            }
            let token = self.tokens[self.left[at]];
            begins = false;
            match token.text {
                "(" | "[" => parens += 1,
                ")" | "]" => parens = parens.saturating_sub(1),
                "{" => {
                    let inner = self.brace(at, around, parens);
                    self.around.push(inner);
                    (begins, parens) = (true, 0);
                }
                "}" => {
                    self.around.pop();
                    (begins, parens) = (true, 0);
                }
                ";" => (begins, parens) = (true, 0),
                "," => begins = around == Around::Constants,
                ":" | "else" | "do" => begins = around == Around::Statements,
                _ => begins = token.is_directive(),
            }
            at += 1;
        }
    }

    /// Returns what the braces that open here contain, if no declaration has decided it.
    fn brace(&self, at: usize, around: Around, parens: usize) -> Around {
        let before = at.checked_sub(1).map_or("", |before| self.word(before));
        if matches!(before, "=" | "," | "(") || around == Around::Values || around == Around::Constants || parens > 0 {
            return Around::Values;
        }
        // `struct a {` in a function.
        let tag = (1..4).filter_map(|back| at.checked_sub(back)).map(|at| self.word(at));
        match tag
            .into_iter()
            .take_while(|word| !matches!(*word, ";" | "{" | "}" | ")"))
            .find(|word| TAG_WORDS.contains(word))
        {
            Some("enum") => Around::Constants,
            Some(_) => Around::Fields,
            None => Around::Statements,
        }
    }

    /// Returns the position after a pair of parentheses that opens here.
    fn after_parens(&self, at: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in at..self.left.len().min(at + MAX_HEAD) {
            let token = self.token(at)?;
            match token.text {
                "(" => depth += 1,
                ")" => depth = depth.checked_sub(1)?,
                ";" | "{" | "}" if depth < 2 => return None,
                _ if token.is_directive() => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(at + 1);
            }
        }
        None
    }

    /// Whether a token begins a line, or there is none.
    fn begins_line(&self, at: usize) -> bool {
        self.token(at).is_none_or(|token| token.is_first)
    }

    /// Blanks a range of positions.
    fn blank(&mut self, range: Range<usize>) {
        for at in range {
            let token = self.left[at];
            self.edits.blank(token..token + 1);
        }
    }

    /// Ends a statement after a position with a semicolon, in place of a blank.
    fn end_statement(&mut self, at: usize) {
        let end = self.tokens[self.left[at - 1]].end();
        if self.text.as_bytes().get(end).is_some_and(u8::is_ascii_whitespace) {
            self.edits.put(end, b';');
        }
    }

    /// `NAME DEPRECATED(1, "…") = value,`: blanks the macros. Returns the position after the constant's name.
    fn constant(&mut self, at: usize) -> Option<usize> {
        if !self.token(at)?.is_word() {
            return None;
        }
        let mut next = at + 1;
        while self.token(next).is_some_and(|token| token.is_word()) {
            let end = if self.word(next + 1) == "(" { self.after_parens(next + 1)? } else { next + 1 };
            self.blank(next..end);
            next = end;
        }
        Some(next)
    }

    /// A macro alone on its line, in a function. Returns the position after it.
    fn statement(&mut self, at: usize) -> Option<usize> {
        self.token(at).filter(|token| token.is_first && token.is_macro())?;
        if self.word(at + 1) == "(" {
            let end = self.after_parens(at + 1)?;
            let next = self.token(end)?;
            let is_end =
                next.is_first && (next.is_word() && next.text != "else" || next.is_directive() || next.text == "}");
            if is_end {
                self.end_statement(end);
                return Some(end);
            }
            return None;
        }
        let next = self.token(at + 1)?;
        let is_alone = next.is_first && (next.is_word() || next.is_directive() || next.text == "}");
        is_alone.then(|| {
            self.blank(at..at + 1);
            at + 1
        })
    }

    /// A declaration: blanks its macros. Returns the position of what ends its head.
    fn declaration(&mut self, at: usize, around: Around) -> Option<usize> {
        let first = self.token(at)?;
        if !first.is_word() || STATEMENT_WORDS.contains(&first.text) {
            return None;
        }
        if let Some(next) = self.lone_macro(at, around) {
            return Some(next);
        }
        let (parts, end) = self.parts(at)?;
        let is_list = self.word(end) == "{";
        let tag = parts.iter().rfind(|part| part.form == Form::Type && TAG_WORDS.contains(&self.word(part.from)));
        let has_parameters = parts.iter().any(|part| matches!(part.form, Form::Call | Form::Group));
        let is_linkage = parts.len() == 2 && self.word(at) == "extern" && self.word(at + 1).starts_with('"');
        let inner = match tag {
            _ if !is_list => None,
            _ if is_linkage => Some(Around::Declarations),
            Some(tag) if tag.to == end || !has_parameters => match self.word(tag.from) {
                "enum" => Some(Around::Constants),
                _ => Some(Around::Fields),
            },
            _ => Some(Around::Statements),
        };
        if inner == Some(Around::Declarations) {
            self.around.push(Around::Declarations);
            return Some(end + 1);
        }
        let blanks = match inner {
            Some(Around::Fields | Around::Constants) => self.tag_macros(&parts),
            _ => self.declarator_macros(&parts),
        };
        self.blank_parts(&parts, &blanks);
        self.convention_of_pointer(&parts);
        if let Some(name) = parts.iter().enumerate().find(|(part, of)| of.form == Form::Call && !blanks.contains(part))
        {
            self.parameters(name.1.from + 1, name.1.to);
        }
        match inner {
            Some(inner) => {
                self.around.push(inner);
                Some(end + 1)
            }
            None => Some(end),
        }
    }

    /// A macro alone on its line, outside functions. Returns the position after it.
    fn lone_macro(&mut self, at: usize, around: Around) -> Option<usize> {
        self.token(at).filter(|token| token.is_first && token.is_macro())?;
        let has_arguments = self.word(at + 1) == "(";
        let end = if has_arguments { self.after_parens(at + 1)? } else { at + 1 };
        let next = self.token(end);
        let is_end = next.is_none_or(|next| {
            let is_declared = next.is_directive() || next.text == "}";
            // A macro with arguments before another one.
            next.is_first && (is_declared || has_arguments && next.is_macro() && self.word(end + 1) == "(")
        });
        let is_field = around == Around::Fields && self.begins_line(end) && next.is_some_and(|next| next.is_word());
        if !is_end && !is_field {
            return None;
        }
        match has_arguments && around == Around::Declarations {
            true => self.end_statement(end),
            false => self.blank(at..end),
        }
        Some(end)
    }

    /// Splits the head of a declaration. Returns its parts and the position of the token after it.
    fn parts(&self, at: usize) -> Option<(Vec<Part>, usize)> {
        let mut parts: Vec<Part> = Vec::new();
        let mut next = at;
        while next < at + MAX_HEAD {
            let Some(token) = self.token(next) else { return Some((parts, next)) };
            let text = token.text;
            if token.is_directive() || matches!(text, ";" | "{" | "}" | "=" | "," | ":" | ")") {
                return Some((parts, next));
            }
            let from = next;
            next += 1;
            let has_arguments = self.word(next) == "(";
            let form = match () {
                () if text == "(" => {
                    next = self.after_parens(from)?;
                    Form::Group
                }
                () if TAG_WORDS.contains(&text) => {
                    let is_named = self.token(next).is_some_and(|name| name.is_word()) && !self.is_macro_of_tag(next);
                    next += usize::from(is_named);
                    Form::Type
                }
                () if TYPE_WORDS.contains(&text) => {
                    if has_arguments && (text.contains("typeof") || text == "_Atomic") {
                        next = self.after_parens(next)?;
                    }
                    Form::Type
                }
                () if SPECIFIERS.contains(&text) => {
                    if has_arguments {
                        next = self.after_parens(next)?;
                    }
                    Form::Specifier
                }
                () if token.is_word() && has_arguments => {
                    let end = self.after_parens(next)?;
                    // `type (*name)(…)`: the word is a type.
                    let first = if self.word(next + 2) == "*" { next + 2 } else { next + 1 };
                    let is_type = self.word(end) == "(" && matches!(self.word(first), "*" | "^");
                    next = if is_type { next } else { end };
                    if is_type { Form::Word } else { Form::Call }
                }
                () if token.is_word() => Form::Word,
                () if text == "[" => {
                    while !matches!(self.word(next), "]" | "" | ";") && next < from + MAX_HEAD {
                        next += 1;
                    }
                    next += 1;
                    Form::Other
                }
                () if text == "*" || token.kind == TokenKind::Text => Form::Other,
                () => return None,
            };
            parts.push(Part { form, from, to: next });
        }
        None
    }

    /// `struct MACRO name {`: whether there is a macro at this position, before the name.
    fn is_macro_of_tag(&self, at: usize) -> bool {
        let end = if self.word(at + 1) == "(" { self.after_parens(at + 1) } else { Some(at + 1) };
        let is_name = |end: usize| self.token(end).is_some_and(|name| name.is_word()) && self.word(end + 1) == "{";
        self.is_macro(at) && end.is_some_and(is_name)
    }

    /// The macros beside a tag: `struct MACRO name {`, and words before `struct`.
    fn tag_macros(&self, parts: &[Part]) -> Vec<usize> {
        let Some(tag) =
            parts.iter().rposition(|part| part.form == Form::Type && TAG_WORDS.contains(&self.word(part.from)))
        else {
            return Vec::new();
        };
        let is_macro = |&at: &usize| matches!(parts[at].form, Form::Word | Form::Call) && at != tag;
        let after = (tag + 1..parts.len()).filter(|&at| self.is_macro(parts[at].from));
        (0..tag).chain(after).filter(is_macro).collect()
    }

    /// Returns the parts of a declaration that are macros.
    fn declarator_macros(&self, parts: &[Part]) -> Vec<usize> {
        let is_typed = parts.iter().any(|part| part.form == Form::Type);
        let name = self.name_of(parts, is_typed);
        let mut blanks = Vec::new();
        let before = &parts[..name.unwrap_or(parts.len())];
        let words: Vec<usize> = (0..before.len()).filter(|&at| before[at].form == Form::Word).collect();
        // Without a word of a type, one of the others is it: the last one that is not spelled like a macro.
        let star = before.iter().position(|part| part.form == Form::Other).unwrap_or(before.len());
        let types = &words[..words.partition_point(|&at| at < star)];
        let own = match types.iter().rfind(|&&at| !self.is_macro(parts[at].from)) {
            _ if is_typed || name.is_none() => None,
            Some(&own) => Some(own),
            None => types.iter().rfind(|&&at| !self.is_calling_convention(parts[at].from)).or(types.last()).copied(),
        };
        let calls = (0..before.len()).filter(|&at| before[at].form == Form::Call);
        if name.is_some() {
            blanks.extend(words.iter().copied().filter(|&at| Some(at) != own));
            blanks.extend(calls.filter(|_| is_typed || own.is_some()));
            let after = name.map_or(0, |name| name + 1)..parts.len();
            blanks.extend(after.filter(|&at| match parts[at].form {
                Form::Word => self.is_macro(parts[at].from),
                Form::Call => true,
                _ => false,
            }));
        }
        blanks.sort_unstable();
        blanks
    }

    /// Whether a word is spelled like an attribute: `ALIGNED`, `__aligned`.
    fn is_attribute(&self, at: usize) -> bool {
        self.is_macro(at) || self.word(at).starts_with("__")
    }

    /// Whether the arguments of a word begin with a literal, as those of an attribute do, not with a parameter.
    fn has_literals(&self, at: usize) -> bool {
        self.token(at + 2).is_some_and(|token| matches!(token.kind, TokenKind::Number | TokenKind::Text))
    }

    /// Words that Windows puts between the type and the name of a function.
    fn is_calling_convention(&self, at: usize) -> bool {
        matches!(self.word(at), "WINAPI" | "CALLBACK" | "APIENTRY" | "STDCALL" | "NTAPI" | "PASCAL" | "WSAAPI")
    }

    /// Returns the part with the name of what is declared.
    fn name_of(&self, parts: &[Part], is_typed: bool) -> Option<usize> {
        let typed_before = |at: usize| {
            parts[..at].iter().any(|part| part.form == Form::Type)
                || !is_typed && parts[..at].iter().any(|part| part.form == Form::Word)
        };
        let is_name = |at: &usize| parts[*at].form == Form::Call && typed_before(*at);
        // `int *(name)(…)` and `int (*name)(…)`.
        let group = (1..parts.len()).find(|&at| parts[at].form == Form::Group && parts[at - 1].form == Form::Group);
        if let Some(group) = group.map(|group| group - 1).filter(|&group| typed_before(group)) {
            return Some(group);
        }
        let calls = || (0..parts.len()).filter(is_name);
        let is_function = |at: &usize| !self.is_macro(parts[*at].from) && !self.has_literals(parts[*at].from);
        if let Some(name) = calls().find(is_function).or_else(|| calls().next()) {
            // `int name ALIGNED(16)`: an attribute after a variable.
            let is_plain = |at: usize| parts[at].form == Form::Word && !self.is_attribute(parts[at].from);
            let variable = name.checked_sub(1).filter(|&at| is_plain(at) && typed_before(at));
            return Some(variable.filter(|_| self.is_attribute(parts[name].from)).unwrap_or(name));
        }
        // A variable: the last word that is not spelled like a macro, after the type.
        let from = parts.iter().rposition(|part| part.form == Form::Type).map_or(0, |at| at + 1);
        if parts[from..].iter().any(|part| matches!(part.form, Form::Group | Form::Call)) {
            return None;
        }
        let words: Vec<usize> = (from..parts.len()).filter(|&at| parts[at].form == Form::Word).collect();
        let needed = if is_typed { 1 } else { 2 };
        if words.len() < needed {
            return None;
        }
        let own = words.iter().rfind(|&&at| !self.is_macro(parts[at].from));
        own.or(words.get(needed - 1)).copied().filter(|&own| words.iter().position(|&at| at == own) >= Some(needed - 1))
    }

    /// `type (CALLBACK *name)(…)`: blanks the word before the name of a pointer to a function.
    fn convention_of_pointer(&mut self, parts: &[Part]) {
        let pointer = parts.windows(2).find(|two| two[0].form == Form::Group && two[1].form == Form::Group);
        let word = pointer.map(|two| two[0].from + 1);
        let is_word = |&at: &usize| self.token(at).is_some_and(|token| token.is_word());
        if let Some(word) = word.filter(|word| is_word(word) && self.word(word + 1) == "*" && is_word(&(word + 2))) {
            self.blank(word..word + 1);
        }
    }

    /// Blanks parts, and lets the declaration begin at those before its first other part.
    fn blank_parts(&mut self, parts: &[Part], blanks: &[usize]) {
        for &at in blanks {
            self.blank(parts[at].from..parts[at].to);
        }
        let kept = (0..parts.len()).find(|at| !blanks.contains(at));
        if let Some(kept) = kept.filter(|&kept| kept > 0) {
            self.edits.start_at(self.left[parts[kept].from], self.left[parts[0].from]);
        }
    }

    /// Blanks the macros in a list of parameters.
    fn parameters(&mut self, open: usize, end: usize) {
        let mut from = open + 1;
        while from + 1 < end {
            let Some((parts, to)) = self.parts(from) else { return };
            let to = to.min(end - 1);
            let is_inside = parts.iter().all(|part| part.to <= to);
            let is_function = parts.iter().any(|part| matches!(part.form, Form::Group | Form::Call));
            if is_inside && !is_function {
                let blanks = self.declarator_macros(&parts);
                for at in blanks {
                    self.blank(parts[at].from..parts[at].to);
                }
            }
            from = to.max(from) + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::repair;

    /// Checks a text in which `«` and `»` enclose what is blanked.
    fn check(marked: &str) {
        let (mut text, mut expected, mut blank) = (String::new(), String::new(), false);
        for c in marked.chars() {
            match c {
                '«' | '»' => blank = c == '«',
                _ => {
                    text.push(c);
                    expected.push(if blank { ' ' } else { c });
                }
            }
        }
        let repaired = repair(&text).map_or(text, |repair| repair.text);
        assert_eq!(repaired, expected);
    }

    #[test]
    fn macros_in_declarations_are_blanked() {
        for marked in [
            "static «NO_SANITIZE(\"bounds\")» int f(void) {}",
            "«API» int f(«IN_» const char *s, int n «UNUSED»);",
            "«API» foo_t *f(void);",
            "«API»\nvoid «NOTHROW» *«ATTR(malloc)» f(size_t n) {}",
            "void f(const char *s, ...) «PRINTF(1, 0)»;",
            "void «printflike(1, 2)» f(const char *s, ...);",
            "static int «__init» f(void) {}",
            "DWORD «WINAPI» f(void);",
            "«API» void *(*hook)(int) «ATTR»;",
            "«DECLARE(a, b)»\nint c;",
            "struct «PACKED» a { int b «ALIGNED(4)»; };",
            "struct a {\n«FIELDS»\nint b;\n«MORE(b)»\n};",
            "enum a { B «DEPRECATED(1)» = 1, C «UNUSED» };",
            "typedef ULONG («CALLBACK» *f)(int);",
            "void f(void) {\n«BEGIN»\nint a;\n}",
        ] {
            check(marked);
        }
    }

    #[test]
    fn declarations_without_macros_stay() {
        for text in [
            "FOO *f(FOO a, BAR *b);",
            "int f(a, b) int a; FOO *b; {}",
            "static const FOO a = B;",
            "struct FOO BAR;",
            "extern FOO BAR;",
            "FOO a, *b;",
            "enum a { B, C = D };",
            "void f(void) { FOO(a); FOO = 1; }",
            "typedef struct { int a; } FOO;",
            "EXPORT(int) f(int a) {}",
            "static FOO a[] = { B, C(1), { D } };",
            "void f(void) {\nif (A(1)\n&& b)\nc();\n}",
        ] {
            check(text);
        }
    }

    #[test]
    fn macros_alone_on_their_lines_end_there() {
        let text = "ABC(b)\nDEF(d) \n#define G\nvoid f(void) {\nABC(1)\nDEF(2)\n}\n";
        let repaired = repair(text).map(|repair| repair.text);
        assert_eq!(repaired.as_deref(), Some("ABC(b);DEF(d);\n#define G\nvoid f(void) {\nABC(1);DEF(2);}\n"));
    }
}
