//! Expressions in facts: the text of a receiver or a value, parsed into a base and steps.
//!
//! `self.pool.get(key)?.name` has the base `self` and the steps `pool`, `get` (called), `?` and `name`. The parser is
//! for text from code that parses, in any of the languages. An unsupported expression is [`Base::Other`]; its type is
//! then unknown, which is a correct answer.

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chain<'t> {
    pub(crate) base: Base<'t>,
    pub(crate) steps: Vec<Step<'t>>,
}

/// The base of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Base<'t> {
    /// A name: `x`, `self`, `this`, `Foo`.
    Name(&'t str),
    /// A path with `::` in it, without generic arguments: `a::b::C`, as its segments.
    Path(Vec<&'t str>),
    /// `new X(…)`: the text of `X`; the call is included.
    New(&'t str),
    /// `X { … }`, a struct literal: the text of `X`.
    Literal(&'t str),
    /// A string.
    Text,
    /// A number.
    Number,
    /// A list, a map, a tuple or another literal in brackets: `[…]`, `{…}`, `(a, b)`.
    Brackets(&'t str),
    /// An expression in parentheses.
    Inner(Box<Chain<'t>>),
    /// Anything else: a closure, an `if`, a binary operation.
    Other,
}

/// A step from the preceding value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<'t> {
    /// `.name`.
    Member(&'t str),
    /// `(…)`: the text between the parentheses.
    Call(&'t str),
    /// `[…]`: the text between the brackets.
    Index(&'t str),
    /// `?` after an expression; also the one of `?.`, which has no effect where it marks an optional member.
    Try,
    /// `.await`, or `await` before an expression.
    Await,
    /// `as T`, and a type assertion `.(T)`: the text of the type.
    Cast(&'t str),
}

impl<'t> Chain<'t> {
    /// Parses an expression.
    pub(crate) fn parse(text: &'t str) -> Self {
        let mut parser = Parser { text, at: 0 };
        let chain = parser.expression();
        parser.skip_space();
        match parser.at == text.len() {
            true => chain,
            false => Chain { base: Base::Other, steps: Vec::new() },
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'t> {
    fn expression(&mut self) -> Chain<'t> {
        let mut awaited = false;
        loop {
            self.skip_space();
            // References, dereferences and signs do not change the members of an expression.
            if self.take("&mut ") || self.take("&raw const ") || self.take("&") || self.take("*") {
                continue;
            }
            if self.take_word("await") {
                awaited = true;
                continue;
            }
            if self.take_word("mut") || self.take_word("ref") || self.take_word("typeof") {
                continue;
            }
            break;
        }
        let base = self.base();
        let mut steps = Vec::new();
        while let Some(step) = self.step() {
            steps.push(step);
        }
        if awaited {
            steps.push(Step::Await);
        }
        Chain { base, steps }
    }

    fn base(&mut self) -> Base<'t> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Base::Other };
        if self.take_word("new") {
            self.skip_space();
            let from = self.at;
            self.dotted();
            return Base::New(&self.text[from..self.at]);
        }
        match first {
            '"' | '\'' | '`' => self.string(first),
            '(' => self.parenthesis(),
            '[' | '{' => match self.group() {
                Some(inside) => Base::Brackets(inside),
                None => self.give_up(),
            },
            '<' => self.qualified(),
            c if c.is_ascii_digit() => {
                self.while_in(|c| c.is_alphanumeric() || c == '_' || c == '.');
                Base::Number
            }
            c if is_start(c) => self.named(),
            _ => self.give_up(),
        }
    }

    /// `<T as Trait>::name` is a path that begins with the type.
    fn qualified(&mut self) -> Base<'t> {
        let Some(inside) = self.group() else { return self.give_up() };
        let of = inside.split(" as ").next().unwrap_or(inside).trim();
        let mut segments: Vec<&'t str> = of.split("::").map(str::trim).collect();
        while self.take("::") {
            match self.word() {
                Some(word) => segments.push(word),
                None => return self.give_up(),
            }
        }
        Base::Path(segments)
    }

    fn named(&mut self) -> Base<'t> {
        let from = self.at;
        let Some(first) = self.word() else { return self.give_up() };
        // A prefix of a string: f"…", b'…', r"…".
        if first.len() <= 2 && self.rest().starts_with(['"', '\'']) {
            let quote = self.rest().chars().next().unwrap_or('"');
            return self.string(quote);
        }
        let mut segments = vec![first];
        loop {
            let before = self.at;
            if self.take("::") {
                if self.rest().starts_with('<') {
                    if self.group().is_none() {
                        return self.give_up();
                    }
                    continue;
                }
                match self.word() {
                    Some(word) => segments.push(word),
                    None => {
                        self.at = before;
                        break;
                    }
                }
            } else {
                break;
            }
        }
        // A macro call is not a method call: its result is unknown.
        if self.rest().starts_with('!') && self.rest()[1..].starts_with(['(', '[', '{']) {
            self.at += 1;
            let _ = self.group();
            return Base::Other;
        }
        let end = self.at;
        self.skip_space();
        if self.rest().starts_with('{')
            && first.chars().next().is_some_and(char::is_uppercase)
            && self.group().is_some()
        {
            return Base::Literal(&self.text[from..end]);
        }
        self.at = end;
        match segments.len() {
            1 => Base::Name(first),
            _ => Base::Path(segments),
        }
    }

    fn parenthesis(&mut self) -> Base<'t> {
        let Some(inside) = self.group() else { return self.give_up() };
        let inner = Chain::parse(inside);
        match inner.base {
            Base::Other if has_comma(inside) => Base::Brackets(inside),
            Base::Other => match inside.rsplit_once(" as ") {
                Some((_, cast)) => {
                    let base = Chain { base: Base::Other, steps: vec![Step::Cast(cast.trim())] };
                    Base::Inner(Box::new(base))
                }
                None => Base::Other,
            },
            _ => Base::Inner(Box::new(inner)),
        }
    }

    fn step(&mut self) -> Option<Step<'t>> {
        let before = self.at;
        self.skip_space();
        let step = self.step_at();
        if step.is_none() {
            self.at = before;
        }
        step
    }

    fn step_at(&mut self) -> Option<Step<'t>> {
        if self.take(".") {
            self.skip_space();
            if self.rest().starts_with('(') {
                // A type assertion of Go, or an optional call.
                let inside = self.group()?;
                return Some(Step::Cast(inside.trim()));
            }
            if self.rest().starts_with('[') {
                return self.group().map(Step::Index);
            }
            let word = match self.rest().starts_with(|c: char| c.is_ascii_digit()) {
                // A field of a tuple.
                true => self.digits(),
                false => self.word()?,
            };
            if word == "await" {
                return Some(Step::Await);
            }
            if self.rest().starts_with("::<") {
                self.at += 2;
                self.group()?;
            }
            return Some(Step::Member(word));
        }
        match self.rest().chars().next()? {
            '(' => self.group().map(Step::Call),
            '[' => self.group().map(Step::Index),
            '?' if !self.rest()[1..].trim_start().starts_with(|c: char| is_start(c) || c == '"') => {
                self.at += 1;
                Some(Step::Try)
            }
            '!' if !self.rest().starts_with("!=") => {
                self.at += 1;
                Some(Step::Cast(""))
            }
            '<' => {
                // Type arguments of a call: `f<T>(x)`.
                let before = self.at;
                if self.group().is_some() && self.rest().starts_with('(') {
                    return self.group().map(Step::Call);
                }
                self.at = before;
                None
            }
            _ if self.rest().starts_with("as ") => {
                self.at += 3;
                let cast = self.rest().trim();
                self.at = self.text.len();
                Some(Step::Cast(cast))
            }
            _ => None,
        }
    }

    /// Returns the content of the brackets that open here, and advances past them. Strings are skipped.
    fn group(&mut self) -> Option<&'t str> {
        let from = self.at + 1;
        let mut open: Vec<char> = Vec::new();
        let mut chars = self.rest().char_indices().peekable();
        while let Some((offset, c)) = chars.next() {
            match c {
                '(' | '[' | '{' => open.push(c),
                '<' if open.is_empty() || open.last() == Some(&'<') => open.push(c),
                ')' | ']' | '}' => {
                    while open.last() == Some(&'<') {
                        open.pop();
                    }
                    open.pop()?;
                }
                '>' if open.last() == Some(&'<') => {
                    open.pop();
                }
                '"' | '`' => {
                    let mut escaped = false;
                    for (_, inner) in chars.by_ref() {
                        match inner {
                            _ if escaped => escaped = false,
                            '\\' => escaped = true,
                            _ if inner == c => break,
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            if open.is_empty() {
                let end = self.at + offset;
                self.at = end + c.len_utf8();
                return Some(&self.text[from..end]);
            }
        }
        None
    }

    fn string(&mut self, quote: char) -> Base<'t> {
        let mut escaped = false;
        let mut chars = self.rest().char_indices();
        chars.next();
        for (offset, c) in chars {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if c == quote => {
                    self.at += offset + c.len_utf8();
                    return Base::Text;
                }
                _ => {}
            }
        }
        self.give_up()
    }

    fn dotted(&mut self) {
        while self.word().is_some() && self.rest().starts_with('.') {
            self.at += 1;
        }
        if self.rest().starts_with('<') {
            let before = self.at;
            if self.group().is_none() {
                self.at = before;
            }
        }
    }

    fn give_up(&mut self) -> Base<'t> {
        self.at = self.text.len();
        Base::Other
    }

    fn word(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        if !rest.starts_with(|c: char| is_start(c) || c == '#') {
            return None;
        }
        let from = self.at;
        self.at += rest.chars().next().map_or(0, char::len_utf8);
        self.while_in(is_part);
        Some(&self.text[from..self.at])
    }

    fn digits(&mut self) -> &'t str {
        let from = self.at;
        self.while_in(|c| c.is_ascii_digit());
        &self.text[from..self.at]
    }

    fn while_in(&mut self, fits: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
    }

    fn take(&mut self, token: &str) -> bool {
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_here = self.rest().strip_prefix(word).is_some_and(|rest| rest.starts_with(char::is_whitespace));
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    fn skip_space(&mut self) {
        self.while_in(char::is_whitespace);
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }
}

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_' || c == '$'
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Returns whether a comma occurs outside all brackets.
fn has_comma(text: &str) -> bool {
    let mut depth = 0;
    text.chars().any(|c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
        fn chain(chain: &Chain<'_>) -> String {
            let mut out = match &chain.base {
                Base::Name(name) => (*name).to_owned(),
                Base::Path(segments) => segments.join("::"),
                Base::New(name) => format!("new {name}"),
                Base::Literal(name) => format!("{name}{{}}"),
                Base::Text => "text".into(),
                Base::Number => "number".into(),
                Base::Brackets(_) => "brackets".into(),
                Base::Inner(inner) => format!("({})", self::show_inner(inner)),
                Base::Other => "?".into(),
            };
            for step in &chain.steps {
                out += &match step {
                    Step::Member(name) => format!(" .{name}"),
                    Step::Call(_) => " ()".into(),
                    Step::Index(_) => " []".into(),
                    Step::Try => " ?".into(),
                    Step::Await => " await".into(),
                    Step::Cast(to) => format!(" as {to}"),
                };
            }
            out
        }
        chain(&Chain::parse(text))
    }

    fn show_inner(inner: &Chain<'_>) -> String {
        match (&inner.base, inner.steps.is_empty()) {
            (Base::Name(name), true) => (*name).to_owned(),
            _ => "…".to_owned(),
        }
    }

    #[test]
    fn parses_expressions() {
        let table = [
            ("x", "x"),
            ("self.pool.get(key)?.name", "self .pool .get () ? .name"),
            ("a::b::C::new(1, f(2))", "a::b::C::new ()"),
            ("Vec::<u8>::with_capacity(4)", "Vec::with_capacity ()"),
            ("&mut self.x", "self .x"),
            ("new Foo<Bar>(1).run()", "new Foo<Bar> () .run ()"),
            ("await fetch(\"a)b\").json()", "fetch () .json () await"),
            ("x.await?", "x await ?"),
            ("self.0.1.get()", "self .0 .1 .get ()"),
            ("c.engine.(*Engine)", "c .engine as *Engine"),
            ("items[0].name", "items [] .name"),
            ("a?.b?.[0]", "a ? .b ? []"),
            ("(a)", "(a)"),
            ("(a, b)", "brackets"),
            ("[1, 2]", "brackets"),
            ("\"text\".len()", "text .len ()"),
            ("Foo { a: 1 }", "Foo{}"),
            ("Self { a }.b()", "Self{} .b ()"),
            ("x.collect::<Vec<_>>()", "x .collect ()"),
            ("f<T>(x)", "f ()"),
            ("vec![1]", "?"),
            ("a + b", "?"),
            ("a ? b : c", "?"),
            ("|x| x + 1", "?"),
            ("x as Foo", "x as Foo"),
            ("<Foo as Bar>::make()", "Foo::make ()"),
            ("", "?"),
        ];
        for (text, expected) in table {
            assert_eq!(show(text), expected, "{text}");
        }
    }
}
