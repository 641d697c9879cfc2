//! Parses the source text of types: annotations and paths.
//!
//! Texts may be truncated, with `…` for the missing part. Text that does not parse as a type is [`TypeRef::Error`].

/// The syntax of a type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TypeRef {
    /// `a::B<C>::D`, optionally after `<T as Trait>::`.
    Path(Option<Box<(TypeRef, Option<TypeRef>)>>, Vec<Segment>),
    /// `(A, B)`.
    Tuple(Vec<TypeRef>),
    /// `[T]`, `[T; 3]`.
    Slice(Box<TypeRef>),
    /// `dyn A + B`, `impl A + B`, or the bounds of a parameter.
    Bounds(Vec<TypeRef>),
    /// `fn(A) -> B`.
    Function(Box<TypeRef>),
    /// Not parsed, or omitted: `_`, `!`, `…`.
    Error,
}

/// One segment of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Segment {
    pub(super) name: String,
    pub(super) arguments: Vec<TypeRef>,
    /// `Item = T`; for `Fn(A) -> B` this holds `Output`.
    pub(super) associated: Vec<(String, TypeRef)>,
}

const MAX_DEPTH: usize = 32;

impl TypeRef {
    /// Parses a type.
    pub(super) fn parse(text: &str) -> TypeRef {
        Parser { text, at: 0, depth: 0 }.bounds()
    }

    /// Returns the segments of a plain path.
    pub(super) fn segments(&self) -> &[Segment] {
        match self {
            TypeRef::Path(None, segments) => segments,
            _ => &[],
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    /// Parses one type, or several joined by `+`.
    fn bounds(&mut self) -> TypeRef {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.at = self.text.len();
        }
        let first = self.single();
        let mut all = vec![first];
        while self.take("+") {
            all.push(self.single());
        }
        self.depth -= 1;
        if all.len() == 1 {
            return all.pop().unwrap_or(TypeRef::Error);
        }
        let flat = all.into_iter().flat_map(|bound| match bound {
            TypeRef::Bounds(inner) => inner,
            TypeRef::Error => Vec::new(),
            other => vec![other],
        });
        TypeRef::Bounds(flat.collect())
    }

    fn single(&mut self) -> TypeRef {
        loop {
            self.skip_space();
            if self.take("&") || self.take("?") || self.take("*const ") || self.take("*mut ") || self.take("~") {
                continue;
            }
            if self.take("#") {
                self.group();
                continue;
            }
            if self.rest().starts_with('\'') {
                self.at += 1;
                self.word();
                self.skip_space();
                if self.rest().is_empty() || self.rest().starts_with([',', '+', '>']) {
                    return TypeRef::Error;
                }
                continue;
            }
            if self.take_word("mut") || self.take_word("const") || self.take_word("unsafe") || self.take_word("async") {
                continue;
            }
            if self.take_word("for") || self.take_word("pub") || self.take_word("extern") {
                self.skip_space();
                if self.rest().starts_with(['<', '(', '"']) {
                    self.group();
                }
                continue;
            }
            break;
        }
        if self.take_word("dyn") || self.take_word("impl") {
            return match self.bounds() {
                TypeRef::Bounds(all) => TypeRef::Bounds(all),
                one => TypeRef::Bounds(vec![one]),
            };
        }
        match self.rest().chars().next() {
            Some('(') => self.tuple(),
            Some('[') => self.slice(),
            Some('<') => self.qualified(),
            Some(c) if c.is_alphabetic() || c == '_' || c == ':' || c == '$' => self.path(None),
            Some(c) => {
                self.at += c.len_utf8();
                TypeRef::Error
            }
            None => TypeRef::Error,
        }
    }

    fn tuple(&mut self) -> TypeRef {
        let mut parts = self.list('(', ')');
        match parts.len() {
            1 if !parts[0].1 => parts.pop().map_or(TypeRef::Error, |(part, _)| part),
            _ => TypeRef::Tuple(parts.into_iter().map(|(part, _)| part).collect()),
        }
    }

    /// Parses the types between brackets, each with whether a comma follows.
    fn list(&mut self, open: char, close: char) -> Vec<(TypeRef, bool)> {
        let mut parts = Vec::new();
        if !self.take(&open.to_string()) {
            return parts;
        }
        loop {
            self.skip_space();
            if self.rest().is_empty() || self.take(&close.to_string()) {
                return parts;
            }
            let before = self.at;
            let part = self.bounds();
            self.skip_to(&[',', close]);
            let comma = self.take(",");
            parts.push((part, comma));
            if self.at == before {
                return parts;
            }
        }
    }

    fn slice(&mut self) -> TypeRef {
        self.at += 1;
        let inner = self.bounds();
        self.skip_to(&[']']);
        self.take("]");
        TypeRef::Slice(Box::new(inner))
    }

    /// Parses `<T as Trait>::Name`.
    fn qualified(&mut self) -> TypeRef {
        self.at += 1;
        let of = self.bounds();
        self.skip_space();
        let as_trait = self.take_word("as").then(|| self.bounds());
        self.skip_to(&['>']);
        self.take(">");
        match (self.take("::"), as_trait) {
            (true, as_trait) => self.path(Some(Box::new((of, as_trait)))),
            // The qualifier of a path: the trait decides between members of the same name.
            (false, Some(as_trait)) => TypeRef::Path(Some(Box::new((of, Some(as_trait)))), Vec::new()),
            (false, None) => of,
        }
    }

    fn path(&mut self, of: Option<Box<(TypeRef, Option<TypeRef>)>>) -> TypeRef {
        let mut segments = Vec::new();
        if self.take("::") {
            segments.push(Segment::default());
        }
        loop {
            self.take("$");
            let name = self.word().to_owned();
            if name.is_empty() || name == "_" {
                break;
            }
            let mut segment = Segment { name, ..Segment::default() };
            let before = self.at;
            let path_follows = self.take("::");
            if self.rest().starts_with('<') {
                self.arguments(&mut segment);
            } else if path_follows {
                self.at = before;
            } else if self.rest().starts_with('(') {
                segment.arguments = self.list('(', ')').into_iter().map(|(part, _)| part).collect();
                self.skip_space();
                let output = if self.take("->") { self.single() } else { TypeRef::Tuple(Vec::new()) };
                segment.associated.push(("Output".to_owned(), output));
            }
            segments.push(segment);
            if !self.take("::") {
                break;
            }
        }
        match segments.first() {
            None => TypeRef::Error,
            Some(first) if first.name == "fn" => {
                let output = first.associated.first().map_or(TypeRef::Error, |(_, output)| output.clone());
                TypeRef::Function(Box::new(output))
            }
            Some(_) => TypeRef::Path(of, segments),
        }
    }

    fn arguments(&mut self, segment: &mut Segment) {
        self.at += 1;
        loop {
            self.skip_space();
            if self.rest().is_empty() || self.take(">") {
                return;
            }
            let before = self.at;
            let is_lifetime = self.rest().starts_with('\'');
            let part = self.bounds();
            self.skip_space();
            if self.rest().starts_with('=') || self.rest().starts_with(": ") {
                self.at += 1;
                let value = self.bounds();
                let name = part.segments().first().map(|segment| segment.name.clone()).unwrap_or_default();
                segment.associated.push((name, value));
            } else if !is_lifetime {
                segment.arguments.push(part);
            }
            self.skip_to(&[',', '>']);
            self.take(",");
            if self.at == before {
                return;
            }
        }
    }

    /// Advances to one of these characters, skipping whole brackets.
    fn skip_to(&mut self, ends: &[char]) {
        while let Some(c) = self.rest().chars().next() {
            if ends.contains(&c) {
                return;
            }
            match c {
                '(' | '[' | '{' | '<' => self.group(),
                ')' | ']' | '}' => return,
                _ => self.at += c.len_utf8(),
            }
        }
    }

    /// Advances past the brackets or quotes that open here.
    fn group(&mut self) {
        let mut depth = 0usize;
        let from = self.at;
        for (offset, c) in self.text[from..].char_indices() {
            match c {
                '(' | '[' | '{' | '<' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                '>' if !self.text[..from + offset].ends_with('-') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at = from + offset + c.len_utf8();
            if depth == 0 {
                return;
            }
        }
    }

    fn word(&mut self) -> &str {
        let rest = self.rest();
        let rest = rest.strip_prefix("r#").unwrap_or(rest);
        let from = self.text.len() - rest.len();
        let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at = from + length;
        &self.text[from..self.at]
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_space();
        let is_here = self.rest().starts_with(token);
        if is_here {
            self.at += token.len();
        }
        is_here
    }

    fn take_word(&mut self, word: &str) -> bool {
        let next = |rest: &str| rest.chars().next().is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == ':'));
        let is_here = self.rest().strip_prefix(word).is_some_and(next);
        if is_here {
            self.at += word.len();
        }
        is_here
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(written: &TypeRef) -> String {
        let list = |all: &[TypeRef]| all.iter().map(show).collect::<Vec<_>>().join(",");
        match written {
            TypeRef::Path(of, segments) => {
                let segment = |segment: &Segment| {
                    let mut out = segment.name.clone();
                    if !segment.arguments.is_empty() {
                        out += &format!("<{}>", list(&segment.arguments));
                    }
                    for (name, value) in &segment.associated {
                        out += &format!("[{name}={}]", show(value));
                    }
                    out
                };
                let path = segments.iter().map(segment).collect::<Vec<_>>().join("::");
                of.as_ref().map_or(path.clone(), |of| format!("{{{}}}::{path}", show(&of.0)))
            }
            TypeRef::Tuple(parts) => format!("({})", list(parts)),
            TypeRef::Slice(of) => format!("[{}]", show(of)),
            TypeRef::Bounds(all) => format!("dyn {}", list(all)),
            TypeRef::Function(of) => format!("fn->{}", show(of)),
            TypeRef::Error => "?".into(),
        }
    }

    #[test]
    fn parses_types() {
        let table = [
            ("u8", "u8"),
            ("&'a mut Foo<'a, T>", "Foo<T>"),
            ("a::b::C<D, E<F>>::G", "a::b::C<D,E<F>>::G"),
            ("Box<dyn Fn(A) -> B + Send>", "Box<dyn Fn<A>[Output=B],Send>"),
            ("impl Iterator<Item = (A, B)> + 'a", "dyn Iterator[Item=(A,B)]"),
            ("<T as Tr>::Item", "{T}::Item"),
            ("[T; N]", "[T]"),
            ("&[Vec<u8>]", "[Vec<u8>]"),
            ("(pub A, pub(crate) B)", "(A,B)"),
            ("(A)", "A"),
            ("()", "()"),
            ("fn(A) -> B", "fn->B"),
            ("for<'a> Fn(&'a T)", "Fn<T>[Output=()]"),
            ("Lock + 'static", "dyn Lock"),
            ("?Sized + Lock", "dyn Sized,Lock"),
            ("Vec::<u8>", "Vec<u8>"),
            ("crate::x", "crate::x"),
            ("::std::io", "::std::io"),
            ("Foo<_>", "Foo<?>"),
            ("Foo<…", "Foo<?>"),
            ("!", "?"),
            ("", "?"),
            ("*const T", "T"),
            ("Result<(), Box<dyn Error>>", "Result<(),Box<dyn Error>>"),
        ];
        for (text, expected) in table {
            assert_eq!(show(&TypeRef::parse(text)), expected, "{text}");
        }
    }
}
