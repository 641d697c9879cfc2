//! Converts the source text of an annotation to a [`Type`].

use std::rc::Rc;

use codecompass_model::{SymbolAt, SymbolKind};

use super::EcmaResolver;
use super::members::{Member, TypeArgs};
use super::names::{NameTarget, Space};
use super::split;
use super::types::{Scope, Type, TypeText};

impl EcmaResolver<'_> {
    /// Returns the type of a text at a site.
    pub(super) fn type_from_text(&self, text: &str, scope: &Scope) -> Type {
        self.query_stack.with_depth_limit(Type::Unknown, || self.parse_type_text(text, scope))
    }

    fn parse_type_text(&self, text: &str, scope: &Scope) -> Type {
        let text = text.trim().trim_start_matches(['|', '&']).trim();
        if is_function(text) {
            return Type::Inline(Rc::new(TypeText { text: text.to_owned(), scope: scope.clone() }));
        }
        if let Some(both) = conditional(text) {
            return Type::union_of(both.into_iter().map(|branch| self.type_from_text(branch, scope)));
        }
        for separator in ["|", "&"] {
            let parts = split::split_top_level(text, true, separator);
            if parts.len() > 1 {
                return Type::union_of(parts.into_iter().take(24).map(|part| self.type_from_text(part, scope)));
            }
        }
        self.prefixed(text, scope).unwrap_or_else(|| self.postfixed(text, scope))
    }

    /// Handles types that begin with a keyword.
    fn prefixed(&self, text: &str, scope: &Scope) -> Option<Type> {
        if let Some(inner) = split::after_keyword(text, "readonly") {
            return Some(self.type_from_text(inner, scope));
        }
        if let Some(of) = split::after_keyword(text, "typeof").filter(|of| !of.ends_with(']') || !of.contains('[')) {
            return Some(self.value(of, scope));
        }
        if split::after_keyword(text, "keyof")
            .or(split::after_keyword(text, "unique"))
            .or(split::after_keyword(text, "asserts"))
            .is_some()
        {
            return Some(Type::External);
        }
        if split::after_keyword(text, "infer").is_some() {
            return Some(Type::Unknown);
        }
        let (first, rest) = split::word(text);
        (!first.is_empty() && rest.trim_start().starts_with("is ")).then_some(Type::External)
    }

    fn postfixed(&self, text: &str, scope: &Scope) -> Type {
        if let Some((of, index)) = indexed(text) {
            return match index {
                "" => Type::list(self.type_from_text(of, scope)),
                index => self.element_at(of, index, scope),
            };
        }
        match text.chars().next() {
            Some('(') => match split::group(text) {
                Some((inside, "")) => self.type_from_text(inside, scope),
                _ => Type::Unknown,
            },
            Some('[') => match split::group(text) {
                Some((inside, "")) => {
                    let parts =
                        split::split_top_level(inside, true, ",").into_iter().filter(|part| !part.trim().is_empty());
                    let strip = |part: &str| tuple_part(part).to_owned();
                    Type::Tuple(parts.map(|part| self.type_from_text(&strip(part), scope)).collect())
                }
                _ => Type::Unknown,
            },
            Some('{') => self.object(text, scope),
            Some('"' | '\'' | '`' | '-' | '0'..='9') => Type::External,
            _ => self.named_type(text, scope),
        }
    }

    fn object(&self, text: &str, scope: &Scope) -> Type {
        let inside = split::group(text).map_or("", |(inside, _)| inside).trim();
        // `{ [key: string]: T }` and `{ [K in Keys]: T }`.
        if let Some((_, rest)) = split::group(inside).filter(|_| inside.starts_with('[')) {
            let rest = rest.trim_start_matches(['?', '-', '+', ' ']);
            if let Some(value) = rest.strip_prefix(':').map(|value| value.trim_end_matches([';', ',', ' '])) {
                return Type::Dict(Rc::new(self.type_from_text(value, scope)));
            }
        }
        Type::Inline(Rc::new(TypeText { text: text.to_owned(), scope: scope.clone() }))
    }

    /// Handles `T[index]`.
    fn element_at(&self, of: &str, index: &str, scope: &Scope) -> Type {
        let index = index.trim();
        let inner = |name: &str| {
            split::group(of.strip_prefix(name)?).filter(|(_, rest)| rest.is_empty()).map(|(inside, _)| inside)
        };
        if let (Some(function), Ok(at)) = (inner("Parameters"), index.parse::<usize>()) {
            let function = self.type_from_text(function, scope);
            return self.parameter(&function, at, scope);
        }
        if let (Some(class), Ok(at)) = (inner("ConstructorParameters"), index.parse::<usize>()) {
            let class = self.type_from_text(class, scope);
            return self.constructor_parameter(&class, at, scope);
        }
        let of = self.type_from_text(of, scope);
        match index.trim_matches(['\'', '"']) {
            name if name.len() < index.len() => self.member_type(&of, name),
            "number" => self.element(&of),
            index => match index.parse::<usize>() {
                Ok(at) => self.nth(&of, at),
                // With an unknown key, the result may be any of the values.
                Err(_) => self.element(&of),
            },
        }
    }

    /// Handles a dotted name with type arguments.
    fn named_type(&self, text: &str, scope: &Scope) -> Type {
        let end = split::find(text, true, |rest| rest.starts_with('<')).unwrap_or(text.len());
        let (path, rest) = (text[..end].trim(), &text[end..]);
        let arguments = split::group(rest).map_or("", |(inside, _)| inside);
        let arguments: Vec<&str> =
            split::split_top_level(arguments, true, ",").into_iter().filter(|one| !one.trim().is_empty()).collect();
        if let Some(imported) = path.strip_prefix("import(") {
            return self.import_type(imported, scope);
        }
        if path == "this" {
            return self.this_type(scope);
        }
        if let Some((_, given)) = scope.type_args.iter().find(|(name, _)| name == path) {
            return given.clone();
        }
        let argument = |at: usize| arguments.get(at).map_or(Type::Unknown, |text| self.type_from_text(text, scope));
        match self.path(scope, path, Space::Type) {
            NameTarget::Symbols(symbols) => {
                let at = |&symbol: &SymbolAt| Type::Instance(symbol, (0..arguments.len()).map(argument).collect());
                symbols.first().map_or(Type::Unknown, at)
            }
            NameTarget::Local(file, at) => self.bound(file, at),
            NameTarget::External => self.built_in(path, &argument),
            NameTarget::Module(_) | NameTarget::Unresolved => Type::Unknown,
        }
    }

    /// Returns the bound of a type parameter.
    fn bound(&self, file: u32, at: u32) -> Type {
        let Some(index) = self.index(file) else { return Type::Unknown };
        let Some(binding) = index.file.facts.bindings.get(at as usize) else { return Type::Unknown };
        match binding.annotation {
            Some(bound) => self.type_from_text(index.expr_text(bound), &Scope::new(file, binding.symbol, binding.line)),
            None => Type::Unknown,
        }
    }

    /// Handles `import('x').Y`.
    fn import_type(&self, rest: &str, scope: &Scope) -> Type {
        let Some((specifier, path)) = rest.split_once(')') else { return Type::Unknown };
        let Some(index) = self.index(scope.file) else { return Type::Unknown };
        let Some(module) = self.modules.find(&index.file.path, specifier.trim_matches(['\'', '"', ' '])) else {
            return Type::External;
        };
        match path.strip_prefix('.').map(|name| self.export(module, name, Space::Type)) {
            None => Type::Module(module),
            Some(NameTarget::Symbols(found)) => {
                found.first().map_or(Type::Unknown, |&at| Type::Instance(at, Rc::from([])))
            }
            Some(_) => Type::Unknown,
        }
    }

    /// Returns the target of an alias, with its type arguments.
    pub(super) fn alias_of(&self, of: SymbolAt, arguments: &[Type]) -> Type {
        let Some(index) = self.index(of.file) else { return Type::Unknown };
        let Some(symbol) = index.symbol(of.ordinal) else { return Type::Unknown };
        let Some(annotation) = symbol.annotation else { return Type::Unknown };
        let scope = self.scope_in(of, symbol, &self.type_args_of(of, arguments));
        let short = index.expr_text(annotation);
        // Long annotations are truncated; the text of the declaration is complete.
        if short.len() < 118 && !short.contains('…') {
            return self.type_from_text(short, &scope);
        }
        let text = self.world.text(of.file);
        let own = text.as_deref().map_or("", |text| symbol.span.text(text));
        let own = crate::text::fold(&without_comments(own)).into_owned();
        let Some(at) = split::find(&own, true, |rest| rest.starts_with('=') && !rest.starts_with("=>")) else {
            return Type::Unknown;
        };
        self.type_from_text(own[at + 1..].trim_end_matches(';'), &scope)
    }

    /// Returns the target of an alias; any other type unchanged.
    pub(super) fn expanded(&self, of: &Type) -> Type {
        let mut of = of.clone();
        for _ in 0..8 {
            match &of {
                Type::Instance(symbol, arguments) if self.kind(*symbol) == Some(SymbolKind::Type) => {
                    of = self.query_stack.with_depth_limit(Type::Unknown, || self.alias_of(*symbol, arguments));
                }
                _ => break,
            }
        }
        of
    }

    /// Returns the type parameters of a symbol with their arguments.
    pub(super) fn type_args_of(&self, of: SymbolAt, arguments: &[Type]) -> TypeArgs {
        let none = || Rc::from([]);
        let Some(index) = self.index(of.file) else { return none() };
        let Some(symbol) = index.symbol(of.ordinal) else { return none() };
        let header = index.header(symbol);
        let Some((inside, _)) = split::group(header).filter(|_| header.starts_with('<')) else { return none() };
        let names = split::split_top_level(inside, true, ",").into_iter().map(type_parameter_name);
        names
            .zip(arguments)
            .filter(|(_, argument)| !argument.is_unknown())
            .map(|(name, argument)| (name.to_owned(), argument.clone()))
            .collect()
    }

    /// Returns the type of a member.
    pub(super) fn member_type(&self, of: &Type, name: &str) -> Type {
        match self.member(of, name) {
            Member::Symbols(symbols) => {
                Type::union_of(symbols.iter().take(1).map(|(at, given)| self.symbol_type(*at, given, Some(of))))
            }
            Member::Typed(found) | Member::Inline(found) => found,
            Member::External if *of == Type::ExternalResult => Type::ExternalResult,
            Member::External => Type::External,
            Member::Missing | Member::Unknown => Type::Unknown,
        }
    }
}

fn type_parameter_name(text: &str) -> &str {
    let text = text.trim();
    split::word(text.strip_prefix("const ").unwrap_or(text)).0
}

/// Strips `name: T`, `T?` and `...T` in a tuple to `T`.
fn tuple_part(part: &str) -> &str {
    let part = part.trim().trim_start_matches("...").trim_end_matches('?');
    let (name, rest) = split::word(part);
    match rest.trim_start_matches('?').trim_start().strip_prefix(':') {
        Some(named) if !name.is_empty() => named,
        _ => part,
    }
}

/// Returns whether a type is a function type.
pub(super) fn is_function(text: &str) -> bool {
    let text = split::after_keyword(text, "abstract").unwrap_or(text);
    let text = text.strip_prefix("new ").unwrap_or(text).trim_start();
    let after = match text.chars().next() {
        Some('<') => split::group(text).map(|(_, rest)| rest.trim_start()),
        Some('(') => Some(text),
        _ => None,
    };
    let parameters = after.and_then(split::group);
    parameters.is_some_and(|(_, rest)| rest.trim_start().starts_with("=>"))
}

/// Returns the two branches of `A extends B ? C : D`.
fn conditional(text: &str) -> Option<[&str; 2]> {
    let at = split::find(text, true, |rest| rest.starts_with(" extends "))?;
    let question = at + split::find(&text[at..], true, |rest| rest.starts_with(" ?"))?;
    let rest = &text[question + 2..];
    // A branch may be conditional as well: its `?` and `:` are paired.
    let (mut open, mut from) = (0usize, 0);
    while let Some(at) = split::find(&rest[from..], true, |rest| rest.starts_with(" ?") || rest.starts_with(" : ")) {
        let at = from + at;
        match rest[at..].starts_with(" : ") {
            true if open == 0 => return Some([&rest[..at], &rest[at + 3..]]),
            true => open -= 1,
            false => open += 1,
        }
        from = at + 2;
    }
    None
}

/// Returns `T` and the index of `T[index]`.
fn indexed(text: &str) -> Option<(&str, &str)> {
    if !text.ends_with(']') || text.starts_with("typeof ") && !text.contains('[') {
        return None;
    }
    let mut last = None;
    let mut from = 0;
    while let Some(at) = split::find(&text[from..], true, |rest| rest.starts_with('[')) {
        let open = from + at;
        let (inside, rest) = split::group(&text[open..])?;
        last = Some((open, inside, rest.is_empty()));
        from = text.len() - rest.len();
    }
    match last {
        Some((open, inside, true)) if open > 0 => Some((&text[..open], inside)),
        _ => None,
    }
}

/// Returns a text without its comments.
pub(super) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        // `://` occurs in URLs.
        let is_address = rest[..at].ends_with(':');
        out.push_str(&rest[..at]);
        let comment = &rest[at..];
        rest = match comment.strip_prefix("/*") {
            Some(block) => block.split_once("*/").map_or("", |(_, rest)| rest),
            None if is_address => {
                out.push_str("//");
                &comment[2..]
            }
            None => comment.find('\n').map_or("", |end| &comment[end..]),
        };
    }
    out.push_str(rest);
    out
}
