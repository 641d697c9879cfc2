//! Go's expressions and types as they stand in facts, taken apart.
//!
//! The text was cut out of code that parses, folded to one line and maybe shortened: `…` stands for what a pair of brackets
//! had in it, and the end may be missing. One grammar serves types and expressions, since `f(x)` may be a call or a
//! conversion and `[]T` an argument. What is not understood is [`Expr::Unknown`].

/// Deeper nesting is not looked at.
const MAX_DEPTH: u32 = 48;

/// An expression or a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr<'t> {
    Name(&'t str),
    /// `x.name`.
    Member(Box<Expr<'t>>, &'t str),
    Call(Box<Expr<'t>>, Vec<Expr<'t>>),
    /// `x[i]`, and a generic with its arguments.
    Index(Box<Expr<'t>>, Vec<Expr<'t>>),
    /// `x[a:b]`.
    Cut(Box<Expr<'t>>),
    /// `x.(T)`.
    Assert(Box<Expr<'t>>, Box<Expr<'t>>),
    /// `*x`: a pointer's target, or a pointer type.
    Star(Box<Expr<'t>>),
    Address(Box<Expr<'t>>),
    /// `<-c`.
    Receive(Box<Expr<'t>>),
    /// A value of a predeclared type.
    Basic(&'static str),
    /// `T{…}`.
    Composite(Box<Expr<'t>>),
    /// `func(…) T {…}`.
    Closure(Signature<'t>),
    /// `[]T`, `[n]T` and `...T`.
    List(Box<Expr<'t>>),
    Map(Box<Expr<'t>>, Box<Expr<'t>>),
    Chan(Box<Expr<'t>>),
    Func(Signature<'t>),
    /// A struct or interface type that is written out: its members are symbols.
    Inline,
    Unknown,
}

/// What a function takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature<'t> {
    pub(super) params: Vec<Expr<'t>>,
    /// Whether the last parameter takes any number of values; its type is then that of the list.
    pub(super) variadic: bool,
    pub(super) results: Vec<Expr<'t>>,
}

/// Takes an expression or a type apart.
pub(super) fn parse(text: &str) -> Expr<'_> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.expression()
}

/// Takes a type apart.
pub(super) fn parse_type(text: &str) -> Expr<'_> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    parser.a_type()
}

/// Takes the header of a function apart: `func (r T) name[P any](a A) R`, or a method's of an interface, `name(a A) R`.
pub(super) fn parse_header(text: &str) -> Signature<'_> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    if parser.take_word("func") {
        parser.skip_space();
        if parser.peek() == Some('(') {
            parser.group();
        }
    }
    parser.skip_space();
    parser.word();
    if parser.peek() == Some('[') {
        parser.group();
    }
    parser.signature()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

impl<'t> Parser<'t> {
    /// Operands with operators between them. Precedence does not matter for the type.
    fn expression(&mut self) -> Expr<'t> {
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let mut whole = self.unary();
        while let Some(operator) = self.operator() {
            let right = self.unary();
            whole = match operator {
                Operator::Compares => Expr::Basic("bool"),
                Operator::Shifts => whole,
                Operator::Computes if matches!(whole, Expr::Basic(_)) && whole != Expr::Basic("bool") => right,
                Operator::Computes => whole,
            };
        }
        self.depth -= 1;
        whole
    }

    fn operator(&mut self) -> Option<Operator> {
        if !self.skip_in_line() {
            return None;
        }
        for token in ["==", "!=", "<=", ">=", "&&", "||"] {
            if self.take(token) {
                return Some(Operator::Compares);
            }
        }
        if self.take("<<") || self.take(">>") {
            return Some(Operator::Shifts);
        }
        if self.take("<") || self.take(">") {
            return Some(Operator::Compares);
        }
        for token in ["+", "-", "*", "/", "%", "&^", "&", "|", "^"] {
            if self.take(token) {
                return Some(Operator::Computes);
            }
        }
        None
    }

    fn unary(&mut self) -> Expr<'t> {
        self.skip_space();
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let found = self.prefixed();
        self.depth -= 1;
        found
    }

    fn prefixed(&mut self) -> Expr<'t> {
        if self.rest().starts_with("<-") {
            if self.rest()[2..].trim_start().starts_with("chan") {
                let of = self.a_type();
                return self.after(of);
            }
            self.at += 2;
            return Expr::Receive(Box::new(self.unary()));
        }
        if self.take("...") {
            return Expr::List(Box::new(self.unary()));
        }
        if self.take("&") {
            return Expr::Address(Box::new(self.unary()));
        }
        if self.take("*") {
            return Expr::Star(Box::new(self.unary()));
        }
        if self.take("!") {
            self.unary();
            return Expr::Basic("bool");
        }
        if self.take("-") || self.take("+") || self.take("^") || self.take("~") {
            return self.unary();
        }
        let base = self.operand();
        self.after(base)
    }

    fn operand(&mut self) -> Expr<'t> {
        match self.peek() {
            Some('"' | '`') => {
                self.string();
                Expr::Basic("string")
            }
            Some('\'') => {
                self.string();
                Expr::Basic("rune")
            }
            Some(c) if c.is_ascii_digit() => self.number(),
            Some('.') if self.rest()[1..].starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            Some('(') => self.parenthesis(),
            Some('[') => self.a_type(),
            Some(c) if is_start(c) => self.named(),
            _ => self.give_up(),
        }
    }

    fn named(&mut self) -> Expr<'t> {
        let before = self.at;
        let word = self.word();
        match word {
            "func" => {
                let signature = self.signature();
                self.skip_space();
                match self.peek() {
                    Some('{') => {
                        self.group();
                        Expr::Closure(signature)
                    }
                    _ => Expr::Func(signature),
                }
            }
            "map" | "chan" | "struct" | "interface" => {
                self.at = before;
                self.a_type()
            }
            _ => Expr::Name(word),
        }
    }

    fn parenthesis(&mut self) -> Expr<'t> {
        let mut inside = self.list(')');
        match inside.len() {
            1 => inside.pop().unwrap_or(Expr::Unknown),
            _ => Expr::Unknown,
        }
    }

    /// The steps behind an operand.
    fn after(&mut self, mut base: Expr<'t>) -> Expr<'t> {
        loop {
            if !self.skip_in_line() {
                return base;
            }
            base = match self.peek() {
                Some('.') if !self.rest().starts_with("...") => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some('(') {
                        let inside = self.group();
                        let of = Parser { text: inside, at: 0, depth: self.depth }.a_type();
                        Expr::Assert(Box::new(base), Box::new(of))
                    } else {
                        let word = self.word();
                        if word.is_empty() {
                            return self.give_up();
                        }
                        Expr::Member(Box::new(base), word)
                    }
                }
                Some('(') => Expr::Call(Box::new(base), self.list(')')),
                Some('[') => self.indexed(base),
                Some('{') if may_be_literal(&base) => {
                    self.group();
                    Expr::Composite(Box::new(base))
                }
                _ => return base,
            };
        }
    }

    fn indexed(&mut self, base: Expr<'t>) -> Expr<'t> {
        let before = self.at;
        let inside = self.group();
        if has_colon(inside) {
            return Expr::Cut(Box::new(base));
        }
        self.at = before;
        Expr::Index(Box::new(base), self.list(']'))
    }

    /// The expressions between brackets; the parser goes behind them, whatever stands in them.
    fn list(&mut self, close: char) -> Vec<Expr<'t>> {
        let from = self.at;
        self.group();
        let end = self.at;
        let mut found = Vec::new();
        self.at = from + 1;
        loop {
            self.skip_space();
            if self.peek() == Some(close) || self.at >= end {
                break;
            }
            found.push(self.expression());
            self.skip_space();
            self.take("...");
            self.skip_space();
            if !self.take(",") {
                break;
            }
        }
        self.skip_space();
        if self.peek() != Some(close) || self.at + 1 != end {
            found = vec![Expr::Unknown];
        }
        self.at = end;
        found
    }

    fn a_type(&mut self) -> Expr<'t> {
        if self.depth >= MAX_DEPTH {
            return self.give_up();
        }
        self.depth += 1;
        let found = self.type_here();
        self.depth -= 1;
        found
    }

    fn type_here(&mut self) -> Expr<'t> {
        self.skip_space();
        if self.take("*") {
            return Expr::Star(Box::new(self.a_type()));
        }
        if self.take("~") {
            return self.a_type();
        }
        if self.take("...") {
            return Expr::List(Box::new(self.a_type()));
        }
        if self.take("<-") {
            return self.a_type();
        }
        match self.peek() {
            Some('[') => {
                self.group();
                Expr::List(Box::new(self.a_type()))
            }
            Some('(') => {
                let inside = self.group();
                Parser { text: inside, at: 0, depth: self.depth }.a_type()
            }
            Some(c) if is_start(c) => self.named_type(),
            _ => self.give_up(),
        }
    }

    fn named_type(&mut self) -> Expr<'t> {
        let word = self.word();
        match word {
            "map" => {
                let key = self.group();
                let key = Parser { text: key, at: 0, depth: self.depth }.a_type();
                return Expr::Map(Box::new(key), Box::new(self.a_type()));
            }
            "chan" => {
                self.skip_space();
                self.take("<-");
                return Expr::Chan(Box::new(self.a_type()));
            }
            "func" => return Expr::Func(self.signature()),
            "struct" | "interface" => {
                self.skip_space();
                let body = self.group();
                let is_any = word == "interface" && body.trim().is_empty();
                return if is_any { Expr::Name("any") } else { Expr::Inline };
            }
            _ => {}
        }
        let mut found = Expr::Name(word);
        while self.peek() == Some('.') && !self.rest().starts_with("...") {
            self.at += 1;
            found = Expr::Member(Box::new(found), self.word());
        }
        if self.peek() == Some('[') {
            let arguments = self.group();
            let each = split(arguments).map(|text| Parser { text, at: 0, depth: self.depth }.a_type());
            found = Expr::Index(Box::new(found), each.collect());
        }
        found
    }

    /// `(a, b A, c ...C) (R, error)`.
    fn signature(&mut self) -> Signature<'t> {
        self.skip_space();
        let mut signature = Signature::default();
        if self.peek() != Some('(') {
            return signature;
        }
        let params = self.group();
        (signature.params, signature.variadic) = self.parameters(params);
        self.skip_space();
        signature.results = match self.peek() {
            Some('(') => {
                let results = self.group();
                self.parameters(results).0
            }
            Some(c) if is_start(c) || matches!(c, '*' | '[') || self.rest().starts_with("<-") => vec![self.a_type()],
            _ => Vec::new(),
        };
        signature
    }

    /// The types of a list of parameters, with or without names, and whether the last one is variadic.
    fn parameters(&self, text: &'t str) -> (Vec<Expr<'t>>, bool) {
        if self.depth >= MAX_DEPTH {
            return (vec![Expr::Unknown], false);
        }
        let entries: Vec<(&str, Option<&str>)> = split(text).map(name_and_type).collect();
        let named = entries.iter().any(|(_, of)| of.is_some());
        let of = |text: &'t str| Parser { text, at: 0, depth: self.depth + 1 }.a_type();
        let mut types: Vec<Expr<'t>> = Vec::with_capacity(entries.len());
        for (whole, own) in entries.iter().rev() {
            let next = match (named, own) {
                (false, _) => of(whole),
                (true, Some(own)) => of(own),
                (true, None) => types.last().cloned().unwrap_or(Expr::Unknown),
            };
            types.push(next);
        }
        types.reverse();
        let variadic = entries.last().is_some_and(|(whole, own)| own.unwrap_or(whole).starts_with("..."));
        (types, variadic)
    }

    fn number(&mut self) -> Expr<'t> {
        let from = self.at;
        let rest = self.rest();
        self.at += rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
        let is_float = self.text[from..self.at].contains('.');
        Expr::Basic(if is_float { "float64" } else { "int" })
    }

    fn string(&mut self) {
        let rest = self.rest();
        self.at += string_end(rest).unwrap_or(rest.len());
    }

    /// What stands in the brackets that open here; the parser goes behind them, or to the end when they do not close.
    fn group(&mut self) -> &'t str {
        let rest = self.rest();
        let mut depth = 0u32;
        let mut at = 0;
        while let Some(c) = rest[at..].chars().next() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                '/' if let Some(end) = comment_end(&rest[at..]) => {
                    at += end;
                    continue;
                }
                '"' | '`' | '\'' => {
                    at += string_end(&rest[at..]).unwrap_or(rest.len() - at);
                    continue;
                }
                _ => {}
            }
            at += c.len_utf8();
            if depth == 0 {
                self.at += at;
                return rest.get(1..at - c.len_utf8()).unwrap_or("");
            }
        }
        self.at = self.text.len();
        rest.get(1..).unwrap_or("")
    }

    fn give_up(&mut self) -> Expr<'t> {
        self.at = self.text.len();
        Expr::Unknown
    }

    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn take(&mut self, token: &str) -> bool {
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_here = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_part));
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            match comment_end(self.rest()) {
                Some(end) => self.at += end,
                None => return,
            }
        }
    }

    /// Skips white space; `false` when the line ends, and with it an expression that could end there.
    fn skip_in_line(&mut self) -> bool {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        !self.rest().starts_with('\n') && comment_end(self.rest()).is_none()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }
}

enum Operator {
    Compares,
    Shifts,
    Computes,
}

fn is_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether braces behind an expression can be those of a literal.
fn may_be_literal(base: &Expr<'_>) -> bool {
    match base {
        Expr::Name(_) | Expr::List(_) | Expr::Map(..) | Expr::Inline => true,
        Expr::Member(of, _) => matches!(**of, Expr::Name(_)),
        Expr::Index(of, _) => may_be_literal(of),
        _ => false,
    }
}

/// The end of the string that begins here.
fn string_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    let (_, quote) = chars.next()?;
    let mut escaped = false;
    for (at, c) in chars {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote != '`' => escaped = true,
            _ if c == quote => return Some(at + c.len_utf8()),
            _ => {}
        }
    }
    None
}

/// The end of the comment that begins here. On one line, one of `//` has none that could be known.
fn comment_end(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return text.find('\n');
    }
    text.strip_prefix("/*").and_then(|inside| inside.find("*/")).map(|end| end + 4)
}

/// The parts between the commas that stand outside of brackets.
pub(super) fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    let parts = text.split(move |c: char| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// A parameter as it is written, and its type when a name stands before it.
fn name_and_type(text: &str) -> (&str, Option<&str>) {
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let rest = &text[end..];
    let is_keyword = matches!(&text[..end], "" | "map" | "chan" | "func" | "struct" | "interface");
    let named = !is_keyword && rest.starts_with(' ');
    (text, named.then(|| rest.trim_start()))
}

fn has_colon(text: &str) -> bool {
    let mut depth = 0i32;
    text.chars().any(|c| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ':' && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(expr: &Expr<'_>) -> String {
        let all = |list: &[Expr<'_>]| list.iter().map(show).collect::<Vec<_>>().join(" ");
        let signature = |of: &Signature<'_>| {
            format!("({}{} -> {})", all(&of.params), if of.variadic { "..." } else { "" }, all(&of.results))
        };
        match expr {
            Expr::Name(name) => (*name).to_owned(),
            Expr::Member(of, name) => format!("{}.{name}", show(of)),
            Expr::Call(of, list) => format!("{}({})", show(of), all(list)),
            Expr::Index(of, list) => format!("{}[{}]", show(of), all(list)),
            Expr::Cut(of) => format!("{}[:]", show(of)),
            Expr::Assert(of, to) => format!("{}.({})", show(of), show(to)),
            Expr::Star(of) => format!("*{}", show(of)),
            Expr::Address(of) => format!("&{}", show(of)),
            Expr::Receive(of) => format!("<-{}", show(of)),
            Expr::Basic(of) => format!("'{of}"),
            Expr::Composite(of) => format!("{}{{}}", show(of)),
            Expr::Closure(of) => format!("closure{}", signature(of)),
            Expr::List(of) => format!("[]{}", show(of)),
            Expr::Map(key, of) => format!("map[{}]{}", show(key), show(of)),
            Expr::Chan(of) => format!("chan {}", show(of)),
            Expr::Func(of) => format!("func{}", signature(of)),
            Expr::Inline => "inline".into(),
            Expr::Unknown => "?".into(),
        }
    }

    #[test]
    fn expressions_are_taken_apart() {
        let table = [
            ("x", "x"),
            ("a.b(c, d.e()).f[0]", "a.b(c d.e()).f['int]"),
            ("&pkg.T{a: \"}\", b: 2}", "&pkg.T{}"),
            ("&Server{…}", "&Server{}"),
            ("client.get(…).json", "client.get(?).json"),
            ("[]struct{ a int }{{1}}", "[]inline{}"),
            ("map[string][]*T{\"a\": nil}", "map[string][]*T{}"),
            ("make(map[string]chan *T, 3)", "make(map[string]chan *T 'int)"),
            ("new(T)", "new(T)"),
            ("x.(*pkg.T).y", "x.(*pkg.T).y"),
            ("(*T)(x).m", "*T(x).m"),
            ("<-c.done", "<-c.done"),
            ("func(a, b int, c ...T) (R, error) { return }(x)", "closure(int int []T... -> R error)(x)"),
            ("a + b.c", "a"),
            ("1 + x", "x"),
            ("a == b && c", "'bool"),
            ("!ok", "'bool"),
            ("x[1:f(2)]", "x[:]"),
            ("Map[int, T](xs)", "Map[int T](xs)"),
            ("List[T]{}.Len()", "List[T]{}.Len()"),
            ("-x.y", "x.y"),
            ("'a'", "'rune"),
            ("1.5", "'float64"),
            ("f(xs...)", "f(xs)"),
            ("a.b(", "a.b(?)"),
            ("[]byte(\"a,b)\")", "[]byte('string)"),
            ("", "?"),
            ("…", "?"),
        ];
        for (text, expected) in table {
            assert_eq!(show(&parse(text)), expected, "{text}");
        }
    }

    #[test]
    fn types_are_taken_apart() {
        let table = [
            ("*pkg.T", "*pkg.T"),
            ("[]map[K]*V", "[]map[K]*V"),
            ("[4]int", "[]int"),
            ("...T", "[]T"),
            ("<-chan T", "chan T"),
            ("chan<- T", "chan T"),
            ("func(int, ...string) error", "func(int []string... -> error)"),
            ("func() func(T) R", "func( -> func(T -> R))"),
            ("Pair[A, *B]", "Pair[A *B]"),
            ("interface{}", "any"),
            ("struct{ a int }", "inline"),
            ("~[]T", "[]T"),
        ];
        for (text, expected) in table {
            assert_eq!(show(&parse_type(text)), expected, "{text}");
        }
    }

    #[test]
    fn headers_are_taken_apart() {
        let table = [
            (
                "func New(addr string, opts ...func(*Server)) (*Server, error)",
                "(string []func(*Server -> )... -> *Server error)",
            ),
            (
                "func (s *Server) Handle(c *Context, _ ...string) (n int, err error)",
                "(*Context []string... -> int error)",
            ),
            ("func Map[T any, L ~[]T](list L) (out []T)", "(L -> []T)"),
            ("Close()", "( -> )"),
            ("Next() <-chan T", "( -> chan T)"),
        ];
        for (text, expected) in table {
            let signature = Expr::Func(parse_header(text));
            assert_eq!(show(&signature), format!("func{expected}"), "{text}");
        }
    }

    #[test]
    fn deep_nesting_ends() {
        for open in ["(", "[", "*", "f(", "[]", "map[", "func(", "<-", "!"] {
            parse(&open.repeat(3000));
            parse_type(&open.repeat(3000));
        }
    }
}
