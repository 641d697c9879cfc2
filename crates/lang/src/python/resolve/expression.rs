//! Parses Python expressions in facts: receivers, values, types and bases, from their text.
//!
//! The text comes from code that parses, was folded onto one line, and may have lost bracketed parts to `…`.
//! Unsupported syntax is [`Expr::Unknown`], which yields an unknown type, a correct result.

/// The maximum nesting of brackets; deeper text is not a receiver.
const MAX_DEPTH: u32 = 24;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr<'t> {
    Name(&'t str),
    Attr(Box<Expr<'t>>, &'t str),
    Call(Box<Expr<'t>>, Vec<Arg<'t>>),
    /// `x[a, b]`; a slice is `Slice`.
    Index(Box<Expr<'t>>, Vec<Expr<'t>>),
    Slice,
    /// A plain string: the text between the quotes.
    Text(&'t str),
    /// A whole number.
    Number(usize),
    /// Another number, a formatted string, a truth value, a comparison: a built-in value without interesting members.
    Scalar,
    List(Vec<Expr<'t>>),
    Tuple(Vec<Expr<'t>>),
    Dict(Vec<(Expr<'t>, Expr<'t>)>),
    /// The element of `[x for …]`, `{x for …}`, `(x for …)`.
    Comprehension(Box<Expr<'t>>),
    /// `a or b`, `a if c else b`, `a | b`: one of them.
    Either(Vec<Expr<'t>>),
    /// Arithmetic: the left operand.
    Sum(Box<Expr<'t>>),
    Lambda(Box<Expr<'t>>),
    Unknown,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arg<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) value: Expr<'t>,
}

impl<'t> Expr<'t> {
    /// Parses an expression.
    pub(super) fn parse(text: &'t str) -> Self {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let first = parser.expression();
        parser.space();
        if parser.rest().starts_with(',') {
            let row = parser.rest_of_sequence(first);
            return if parser.is_done() { Expr::Tuple(row) } else { Expr::Unknown };
        }
        if parser.is_done() { first } else { Expr::Unknown }
    }

    /// Returns the last name of `a.b.c`.
    pub(super) fn last_name(&self) -> Option<&'t str> {
        match self {
            Expr::Name(name) | Expr::Attr(_, name) => Some(name),
            _ => None,
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn expression(&mut self) -> Expr<'t> {
        self.depth += 1;
        let expression = if self.depth > MAX_DEPTH { self.unknown() } else { self.conditional() };
        self.depth -= 1;
        expression
    }

    fn conditional(&mut self) -> Expr<'t> {
        if self.word_is("lambda") {
            return self.lambda();
        }
        let first = self.or();
        if !self.word_is("if") {
            return first;
        }
        self.or();
        if !self.word_is("else") {
            return self.unknown();
        }
        let other = self.expression();
        Expr::Either(vec![first, other])
    }

    fn lambda(&mut self) -> Expr<'t> {
        while let Some(c) = self.rest().chars().next() {
            match c {
                ':' => {
                    self.at += 1;
                    return Expr::Lambda(Box::new(self.expression()));
                }
                '(' | '[' | '{' | '"' | '\'' => {
                    self.atom();
                }
                _ => self.at += c.len_utf8(),
            }
        }
        Expr::Unknown
    }

    fn or(&mut self) -> Expr<'t> {
        let first = self.and();
        let mut all = vec![first];
        while self.word_is("or") {
            all.push(self.and());
        }
        one_of(all)
    }

    /// Parses `a and b`; members are looked up on the last operand.
    fn and(&mut self) -> Expr<'t> {
        let mut last = self.not();
        while self.word_is("and") {
            last = self.not();
        }
        last
    }

    fn not(&mut self) -> Expr<'t> {
        if self.word_is("not") {
            self.not();
            return Expr::Scalar;
        }
        let first = self.union();
        if !self.comparison() {
            return first;
        }
        self.union();
        while self.comparison() {
            self.union();
        }
        Expr::Scalar
    }

    fn comparison(&mut self) -> bool {
        if self.word_is("is") || self.word_is("in") {
            self.word_is("not");
            return true;
        }
        if self.word_is("not") {
            return self.word_is("in");
        }
        ["==", "!=", "<=", ">=", "<", ">"].iter().any(|sign| self.take_sign(sign))
    }

    fn union(&mut self) -> Expr<'t> {
        let mut all = vec![self.sum()];
        while !self.rest().trim_start().starts_with("||") && self.take_sign("|") {
            all.push(self.sum());
        }
        one_of(all)
    }

    fn sum(&mut self) -> Expr<'t> {
        let first = self.unary();
        let mut is_sum = false;
        while ["**", "//", "<<", ">>", "+", "-", "*", "/", "%", "@", "&", "^"].iter().any(|sign| self.take_sign(sign)) {
            is_sum = true;
            self.unary();
        }
        if is_sum { Expr::Sum(Box::new(first)) } else { first }
    }

    fn unary(&mut self) -> Expr<'t> {
        while ["**", "*", "+", "-", "~"].iter().any(|sign| self.take_sign(sign)) || self.word_is("await") {}
        let mut expression = self.atom();
        while let Some(next) = self.trailer(&mut expression) {
            expression = next;
        }
        expression
    }

    fn trailer(&mut self, before: &mut Expr<'t>) -> Option<Expr<'t>> {
        self.space();
        let mut taken = || Box::new(std::mem::replace(before, Expr::Unknown));
        match self.rest().chars().next()? {
            '.' => {
                self.at += 1;
                self.space();
                let name = self.word()?;
                Some(Expr::Attr(taken(), name))
            }
            '(' => {
                let before = taken();
                Some(Expr::Call(before, self.arguments()?))
            }
            '[' => {
                let before = taken();
                Some(Expr::Index(before, self.indices()?))
            }
            _ => None,
        }
    }

    fn arguments(&mut self) -> Option<Vec<Arg<'t>>> {
        self.at += 1;
        let mut arguments = Vec::new();
        while !self.take_sign(")") {
            let before = self.at;
            self.space();
            let name = self.word().filter(|_| self.is_keyword());
            if name.is_none() {
                self.at = before;
            }
            let value = self.expression();
            self.skip_loops();
            arguments.push(Arg { name, value });
            if !self.take_sign(",") && !self.rest().trim_start().starts_with(')') {
                self.unknown();
                return None;
            }
        }
        Some(arguments)
    }

    fn is_keyword(&mut self) -> bool {
        let rest = self.rest().trim_start();
        rest.starts_with('=') && !rest.starts_with("==") && self.take_sign("=")
    }

    fn indices(&mut self) -> Option<Vec<Expr<'t>>> {
        self.at += 1;
        let mut all = Vec::new();
        while !self.take_sign("]") {
            all.push(self.index());
            if !self.take_sign(",") && !self.rest().trim_start().starts_with(']') {
                self.unknown();
                return None;
            }
        }
        Some(all)
    }

    fn index(&mut self) -> Expr<'t> {
        let mut is_slice = false;
        let mut value = Expr::Unknown;
        loop {
            if self.take_sign(":") {
                is_slice = true;
            } else if self.rest().trim_start().starts_with([']', ',']) || self.rest().trim().is_empty() {
                return if is_slice { Expr::Slice } else { value };
            } else {
                let before = self.at;
                value = self.expression();
                if self.at == before {
                    return self.unknown();
                }
            }
        }
    }

    fn atom(&mut self) -> Expr<'t> {
        self.space();
        let Some(first) = self.rest().chars().next() else { return Expr::Unknown };
        match first {
            '(' => self.parenthesis(),
            '[' => self.list(),
            '{' => self.braces(),
            '"' | '\'' => self.strings(),
            '…' => {
                self.at += first.len_utf8();
                Expr::Unknown
            }
            '.' if self.rest().starts_with("...") => {
                self.at += 3;
                Expr::Scalar
            }
            c if c.is_ascii_digit() || c == '.' => {
                let from = self.at;
                self.while_in(|c| c.is_alphanumeric() || c == '_' || c == '.');
                let number = self.text.get(from..self.at).and_then(|digits| digits.parse().ok());
                number.map_or(Expr::Scalar, Expr::Number)
            }
            c if is_start(c) => self.named(),
            _ => self.unknown(),
        }
    }

    fn named(&mut self) -> Expr<'t> {
        let Some(name) = self.word() else { return self.unknown() };
        if name.len() <= 2 && self.rest().starts_with(['"', '\'']) {
            return match (self.strings(), name) {
                (Expr::Text(text), "r" | "R" | "u" | "U") => Expr::Text(text),
                (Expr::Unknown, _) => Expr::Unknown,
                _ => Expr::Scalar,
            };
        }
        match name {
            "True" | "False" => Expr::Scalar,
            "yield" | "if" | "else" | "for" | "in" | "is" | "and" | "or" | "import" | "from" => self.unknown(),
            _ if self.take_sign(":=") => self.expression(),
            _ => Expr::Name(name),
        }
    }

    fn parenthesis(&mut self) -> Expr<'t> {
        self.at += 1;
        if self.take_sign(")") {
            return Expr::Tuple(Vec::new());
        }
        let first = self.expression();
        if self.skip_loops() {
            return self.expect_close(")", Expr::Comprehension(Box::new(first)));
        }
        if self.rest().trim_start().starts_with(',') {
            let row = self.rest_of_sequence(first);
            return self.expect_close(")", Expr::Tuple(row));
        }
        self.expect_close(")", first)
    }

    fn list(&mut self) -> Expr<'t> {
        self.at += 1;
        if self.take_sign("]") {
            return Expr::List(Vec::new());
        }
        let first = self.expression();
        if self.skip_loops() {
            return self.expect_close("]", Expr::Comprehension(Box::new(first)));
        }
        let row = self.rest_of_sequence(first);
        self.expect_close("]", Expr::List(row))
    }

    fn braces(&mut self) -> Expr<'t> {
        self.at += 1;
        let mut pairs = Vec::new();
        let mut singles = Vec::new();
        while !self.take_sign("}") {
            let is_spread = self.take_sign("**");
            let key = self.expression();
            if !is_spread && self.take_sign(":") {
                let value = self.expression();
                if self.skip_loops() {
                    return self.expect_close("}", Expr::Dict(vec![(key, value)]));
                }
                pairs.push((key, value));
            } else if !is_spread && self.skip_loops() {
                return self.expect_close("}", Expr::Comprehension(Box::new(key)));
            } else if !is_spread {
                singles.push(key);
            }
            if !self.take_sign(",") && !self.rest().trim_start().starts_with('}') {
                return self.unknown();
            }
        }
        if singles.is_empty() { Expr::Dict(pairs) } else { Expr::List(singles) }
    }

    /// Parses the rest of a sequence of values after the first one.
    fn rest_of_sequence(&mut self, first: Expr<'t>) -> Vec<Expr<'t>> {
        let mut row = vec![first];
        while self.take_sign(",") {
            if self.rest().trim_start().is_empty() || self.rest().trim_start().starts_with([')', ']']) {
                break;
            }
            row.push(self.expression());
        }
        row
    }

    fn expect_close(&mut self, sign: &str, expression: Expr<'t>) -> Expr<'t> {
        if self.take_sign(sign) { expression } else { self.unknown() }
    }

    /// Skips the loops and conditions of a comprehension, up to its closing bracket.
    fn skip_loops(&mut self) -> bool {
        self.word_is("async");
        if !self.word_is("for") {
            return false;
        }
        let mut open = 0;
        while let Some(c) = self.rest().chars().next() {
            match c {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' if open == 0 => break,
                ')' | ']' | '}' => open -= 1,
                '"' | '\'' => {
                    self.string();
                    continue;
                }
                _ => {}
            }
            self.at += c.len_utf8();
        }
        true
    }

    /// Parses one string, or several adjacent ones.
    fn strings(&mut self) -> Expr<'t> {
        let first = self.string();
        let mut expression = first.map_or(Expr::Unknown, Expr::Text);
        loop {
            self.space();
            let before = self.at;
            let prefix = self.word();
            let is_more = prefix.is_none_or(|prefix| prefix.len() <= 2) && self.rest().starts_with(['"', '\'']);
            if !is_more {
                self.at = before;
                return expression;
            }
            self.string();
            expression = Expr::Scalar;
        }
    }

    fn string(&mut self) -> Option<&'t str> {
        let quote = self.rest().chars().next()?;
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        if self.rest().starts_with(&triple) {
            let from = self.at + 3;
            let end = self.text[from..].find(&triple).map_or(self.text.len(), |end| from + end);
            self.at = (end + 3).min(self.text.len());
            return self.text.get(from..end);
        }
        let from = self.at + 1;
        let mut is_escaped = false;
        for (offset, c) in self.text.get(from..)?.char_indices() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                _ if c == quote => {
                    self.at = from + offset + 1;
                    return self.text.get(from..from + offset);
                }
                _ => {}
            }
        }
        self.at = self.text.len();
        None
    }

    fn word(&mut self) -> Option<&'t str> {
        if !self.rest().starts_with(is_start) {
            return None;
        }
        let from = self.at;
        self.while_in(|c| is_start(c) || c.is_numeric());
        self.text.get(from..self.at)
    }

    fn word_is(&mut self, word: &str) -> bool {
        self.space();
        let is_here =
            self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(|c| is_start(c) || c.is_numeric()));
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        self.space();
        let is_here = self.rest().starts_with(sign);
        if is_here {
            self.at += sign.len();
        }
        is_here
    }

    fn while_in(&mut self, fits: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
    }

    fn space(&mut self) {
        self.while_in(|c| c.is_whitespace() || c == '\\');
    }

    fn unknown(&mut self) -> Expr<'t> {
        self.at = self.text.len();
        Expr::Unknown
    }

    fn is_done(&self) -> bool {
        self.rest().trim().is_empty()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }
}

fn one_of(mut all: Vec<Expr<'_>>) -> Expr<'_> {
    match all.len() {
        1 => all.pop().unwrap_or(Expr::Unknown),
        _ => Expr::Either(all),
    }
}

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(expression: &Expr<'_>) -> String {
        let row = |all: &[Expr<'_>]| all.iter().map(show).collect::<Vec<_>>().join(", ");
        match expression {
            Expr::Name(name) => (*name).to_owned(),
            Expr::Attr(of, name) => format!("{}.{name}", show(of)),
            Expr::Call(of, arguments) => {
                let show_argument = |arg: &Arg<'_>| match arg.name {
                    Some(name) => format!("{name}={}", show(&arg.value)),
                    None => show(&arg.value),
                };
                format!("{}({})", show(of), arguments.iter().map(show_argument).collect::<Vec<_>>().join(", "))
            }
            Expr::Index(of, all) => format!("{}[{}]", show(of), row(all)),
            Expr::Slice => ":".into(),
            Expr::Text(text) => format!("'{text}'"),
            Expr::Number(_) | Expr::Scalar => "plain".into(),
            Expr::List(all) => format!("[{}]", row(all)),
            Expr::Tuple(all) => format!("({})", row(all)),
            Expr::Dict(pairs) => {
                let pairs: Vec<String> =
                    pairs.iter().map(|(key, value)| format!("{}: {}", show(key), show(value))).collect();
                format!("{{{}}}", pairs.join(", "))
            }
            Expr::Comprehension(of) => format!("each {}", show(of)),
            Expr::Either(all) => all.iter().map(show).collect::<Vec<_>>().join(" | "),
            Expr::Sum(of) => format!("{} + …", show(of)),
            Expr::Lambda(of) => format!("lambda {}", show(of)),
            Expr::Unknown => "?".into(),
        }
    }

    #[test]
    fn parses_expressions() {
        let table = [
            ("x", "x"),
            ("self.pool.get(key, 1).name", "self.pool.get(key, plain).name"),
            ("await f(')')", "f(')')"),
            ("f(a=1, *b, **c)", "f(a=plain, b, c)"),
            ("a or b", "a | b"),
            ("a if b == c else d()", "a | d()"),
            ("not a", "plain"),
            ("a and b.c", "b.c"),
            ("a in b", "plain"),
            ("a.b + c", "a.b + …"),
            ("[f(x) for x in y if x]", "each f(x)"),
            ("sum(x for x in y)", "sum(x)"),
            ("{1: a, **b}", "{plain: a}"),
            ("{k: v for k, v in x}", "{k: v}"),
            ("(a, b)", "(a, b)"),
            ("a, b", "(a, b)"),
            ("(a)", "a"),
            ("()", "()"),
            ("f(…).g(…)", "f(?).g(?)"),
            ("x[1:2]", "x[:]"),
            ("dict[str, \"A\"] | None", "dict[str, 'A'] | None"),
            ("Callable[[int], X]", "Callable[[int], X]"),
            ("lambda a, b=(1): f(a)", "lambda f(a)"),
            ("(x := f())", "f()"),
            ("\"a\" \"b\"", "plain"),
            ("rb'a'.decode()", "plain.decode()"),
            ("f\"{x}\"", "plain"),
            ("f(", "?"),
            ("yield x", "?"),
            ("", "?"),
            ("x[", "?"),
            ("é…", "?"),
        ];
        for (text, expected) in table {
            assert_eq!(show(&Expr::parse(text)), expected, "{text}");
        }
    }
}
