//! Infers the types of expressions, local bindings and symbols.

use std::rc::Rc;

use codecompass_model::{Expr, ExprId, Flags, Symbol, SymbolAt, SymbolKind, ValuePart, VersionId};

use super::EcmaResolver;
use super::index::Index;
use super::members::TypeArgs;
use super::names::{NameTarget, Space};
use super::split;
use super::types::{Receiver, Scope, Type};
use crate::resolve::chain::{Base, Chain, Step};

/// Operators that return one of their operands.
const EITHER_OPERATORS: &[&str] = &["??", "||", "&&"];

impl EcmaResolver<'_> {
    /// Returns the type of an expression at a site.
    pub(super) fn value(&self, text: &str, scope: &Scope) -> Type {
        self.query_stack.with_depth_limit(Type::Unknown, || self.compute_expression_type(text.trim(), scope))
    }

    fn compute_expression_type(&self, text: &str, scope: &Scope) -> Type {
        if text.starts_with('<') {
            // A JSX element, or a cast in the old syntax; both are rare as receivers.
            return Type::Unknown;
        }
        if split::find(text, false, |rest| rest.starts_with("=>")).is_some()
            || split::after_keyword(text, "function").is_some()
        {
            return Type::Unknown;
        }
        if let Some(at) = split::find(text, false, |rest| rest.starts_with(" satisfies ")) {
            return self.value(&text[..at], scope);
        }
        if let Some((yes, no)) = ternary(text) {
            return Type::union_of([self.value(yes, scope), self.value(no, scope)]);
        }
        for operator in EITHER_OPERATORS {
            let sides = split::split_top_level(text, false, operator);
            if sides.len() > 1 {
                // A usable result of `&&` is its last operand.
                let skipped = if *operator == "&&" { sides.len() - 1 } else { 0 };
                return Type::union_of(sides.into_iter().skip(skipped).map(|side| self.value(side, scope)));
            }
        }
        if let Some((inside, rest)) = split::group(text).filter(|_| text.starts_with('(')) {
            return self.type_after_steps(self.value(inside, scope), rest, scope);
        }
        if text.starts_with('{') {
            return Type::Literal(scope.file, scope.symbol, scope.line);
        }
        self.chain(&Chain::parse(text), scope)
    }

    /// Returns the type of an expression in parentheses after its following steps.
    fn type_after_steps(&self, of: Type, rest: &str, scope: &Scope) -> Type {
        let whole = format!("x{rest}");
        let chain = Chain::parse(&whole);
        match chain.base {
            Base::Name("x") => chain.steps.iter().fold(of, |of, step| self.step(of, step, scope)),
            _ => Type::Unknown,
        }
    }

    fn chain(&self, chain: &Chain<'_>, scope: &Scope) -> Type {
        let mut steps = chain.steps.as_slice();
        let mut found = match &chain.base {
            Base::Name("require" | "import") if matches!(steps.first(), Some(Step::Call(_))) => {
                let specifier = steps.first();
                steps = steps.get(1..).unwrap_or(&[]);
                self.loaded(specifier, scope)
            }
            Base::Name(name) => self.name_type(name, scope),
            Base::New(class) => {
                if let Some((Step::Call(_), rest)) = steps.split_first() {
                    steps = rest;
                }
                self.constructed(class, scope)
            }
            Base::Text | Base::Number => Type::External,
            Base::Brackets(inside) => self.list(inside, scope),
            Base::Inner(inner) => self.chain(inner, scope),
            Base::Path(_) | Base::Literal(_) | Base::Other => Type::Unknown,
        };
        for step in steps {
            found = self.step(found, step, scope);
        }
        found
    }

    fn step(&self, of: Type, step: &Step<'_>, scope: &Scope) -> Type {
        match step {
            Step::Member(name) => self.member_type(&of, name),
            Step::Call(arguments) => self.call_result(&of, arguments, scope),
            Step::Index(index) => match index.trim_matches(['\'', '"']) {
                name if name.len() < index.len() => self.member_type(&of, name),
                at => match at.parse::<usize>() {
                    Ok(at) => self.nth(&of, at),
                    Err(_) => self.element(&of),
                },
            },
            Step::Try => of,
            Step::Await => self.awaited(&of),
            Step::Cast("" | "const") => of,
            Step::Cast(to) => self.type_from_text(to, scope),
        }
    }

    /// Handles `require('x')` and `import('x')`. The promise of the second is ignored: a module has no member `then`.
    fn loaded(&self, call: Option<&Step<'_>>, scope: &Scope) -> Type {
        let Some(Step::Call(specifier)) = call else { return Type::Unknown };
        let specifier = specifier.trim().trim_matches(['\'', '"', '`']);
        let Some(index) = self.index(scope.file) else { return Type::Unknown };
        match self.modules.find(&index.file.path, specifier) {
            Some(module) => Type::Module(module),
            None => Type::External,
        }
    }

    /// Returns the type of an array literal, from its first element.
    fn list(&self, inside: &str, scope: &Scope) -> Type {
        let first = split::split_top_level(inside, false, ",").into_iter().map(str::trim).find(|one| !one.is_empty());
        match first {
            Some(first) if !inside.contains(':') || !first.contains(':') => match first.strip_prefix("...") {
                Some(spread) => self.value(spread, scope),
                None => Type::list(self.value(first, scope)),
            },
            Some(_) => Type::Unknown,
            None => Type::list(Type::Unknown),
        }
    }

    /// Handles `new X`.
    fn constructed(&self, class: &str, scope: &Scope) -> Type {
        let end = class.find('<').unwrap_or(class.len());
        let (path, rest) = class.split_at(end);
        let arguments = split::group(rest).map_or("", |(inside, _)| inside);
        let arguments = split::split_top_level(arguments, true, ",").into_iter().filter(|one| !one.trim().is_empty());
        let arguments: Vec<Type> = arguments.map(|one| self.type_from_text(one, scope)).collect();
        let class = self.value(path, scope);
        if class == Type::External && !path.contains('.') {
            return self.built_in(path, &|at| arguments.get(at).cloned().unwrap_or(Type::Unknown));
        }
        self.instance_of(&class, &arguments)
    }

    /// Returns an instance of a class that is a value.
    pub(super) fn instance_of(&self, class: &Type, arguments: &[Type]) -> Type {
        let instance = |class: &Type| match class {
            Type::Value(symbol) => Type::Instance(*symbol, arguments.into()),
            Type::Module(file) => match self.target_type(self.callable_module(*file)) {
                Type::Value(symbol) => Type::Instance(symbol, arguments.into()),
                _ => Type::Unknown,
            },
            Type::External => Type::External,
            Type::ExternalResult => Type::ExternalResult,
            other => self.constructed_type(other),
        };
        Type::union_of(class.alternatives().iter().map(instance))
    }

    /// Returns the type of a name as a value.
    fn name_type(&self, name: &str, scope: &Scope) -> Type {
        match name {
            "this" => self.this_type(scope),
            "super" => self.super_type(scope),
            // A value that is empty here has another type elsewhere.
            "undefined" | "null" => Type::Unknown,
            "true" | "false" => Type::External,
            _ => match self.name(scope, name, Space::Value) {
                // CommonJS: the module itself.
                NameTarget::External if name == "exports" => Type::Module(scope.file),
                NameTarget::External => self.built_in_value(name),
                target => self.target_type(target),
            },
        }
    }

    pub(super) fn target_type(&self, target: NameTarget) -> Type {
        match target {
            NameTarget::Local(file, at) => self.binding_type(file, at),
            NameTarget::Symbols(symbols) => {
                symbols.first().map_or(Type::Unknown, |&at| self.symbol_type(at, &Rc::from([]), None))
            }
            NameTarget::Module(file) => Type::Module(file),
            NameTarget::External => Type::External,
            NameTarget::Unresolved => Type::Unknown,
        }
    }

    /// Returns the type of `this` at a site: an instance of the enclosing class, or the object literal.
    pub(super) fn this_type(&self, scope: &Scope) -> Type {
        if let Some(this) = &scope.this {
            return (**this).clone();
        }
        let Some(index) = self.index(scope.file) else { return Type::Unknown };
        let mut inner: Option<u32> = None;
        for at in index.chain(scope.symbol).flatten() {
            let Some(symbol) = index.symbol(at) else { break };
            let here = SymbolAt { file: scope.file, ordinal: at };
            match symbol.kind {
                SymbolKind::Class | SymbolKind::Interface | SymbolKind::Type => {
                    let member = inner.and_then(|at| index.symbol(at));
                    let is_static = member.is_some_and(|member| member.flags.has(Flags::STATIC));
                    return if is_static { Type::Value(here) } else { Type::Instance(here, Rc::from([])) };
                }
                SymbolKind::Const | SymbolKind::Var if inner.is_some() => return Type::Value(here),
                SymbolKind::Method | SymbolKind::Fn => {
                    if let Some(owner) = self.prototype_owner(&index, symbol) {
                        return Type::Instance(owner, Rc::from([]));
                    }
                }
                _ => {}
            }
            inner = Some(at);
        }
        // A JavaScript function that is used as a class.
        let function =
            index.chain(scope.symbol).flatten().find(|&at| index.symbol(at).is_some_and(|s| s.kind == SymbolKind::Fn));
        match function {
            Some(place) if index.file.language == "javascript" => {
                Type::Instance(SymbolAt { file: scope.file, ordinal: place }, Rc::from([]))
            }
            _ => Type::Unknown,
        }
    }

    /// Returns the symbol that an assignment like `Foo.prototype.bar = function` attaches a member to.
    fn prototype_owner(&self, index: &Index, member: &Symbol) -> Option<SymbolAt> {
        let (owner, _) = member.qualified_name.rsplit_once('.')?;
        let (_, name) = owner.rsplit_once('.')?;
        let place = index
            .named(member.parent, name)
            .iter()
            .copied()
            .find(|&at| index.symbol(at).is_some_and(|symbol| symbol.qualified_name == owner))?;
        Some(SymbolAt { file: index.file.id, ordinal: place })
    }

    /// Returns the type of `super`: an instance of the base class.
    fn super_type(&self, scope: &Scope) -> Type {
        let Type::Instance(class, _) = self.this_type(scope) else { return Type::Unknown };
        let Some(index) = self.index(class.file) else { return Type::Unknown };
        self.bases(&index, class, &Rc::from([])).into_iter().next().unwrap_or(Type::Unknown)
    }

    /// Returns the type of a local binding.
    pub(super) fn binding_type(&self, file: VersionId, at: u32) -> Type {
        self.binding_types
            .compute_cyclic(&self.query_stack, (file, at), Type::Unknown, || self.compute_binding_type(file, at))
    }

    fn compute_binding_type(&self, file: VersionId, at: u32) -> Type {
        let Some(index) = self.index(file) else { return Type::Unknown };
        let Some(binding) = index.file.facts.bindings.get(at as usize).copied() else { return Type::Unknown };
        let scope = Scope::new(file, binding.symbol, binding.line);
        let declared = binding.annotation.map_or(Type::Unknown, |text| {
            let short = index.expr_text(text);
            let owner = binding.symbol.and_then(|at| index.symbol(at)).filter(|_| short.contains('…'));
            let start = short.split('…').next().unwrap_or("");
            let full = owner.and_then(|owner| self.parameter_text(&index, owner, index.name(binding.name), start));
            self.type_from_text(full.as_deref().unwrap_or(short), &scope)
        });
        let whole = match declared {
            Type::Unknown => binding.value.map_or(Type::Unknown, |text| self.value(index.expr_text(text), &scope)),
            declared => declared,
        };
        match binding.part {
            ValuePart::Whole => whole,
            ValuePart::Element => self.element(&whole),
            ValuePart::Index(at) => self.nth(&whole, at as usize),
            ValuePart::Field(name) => self.member_type(&whole, index.name(name)),
            ValuePart::Payload | ValuePart::Inside => Type::Unknown,
        }
    }

    /// Returns the type of a symbol as a value; `of` is the receiver that it is a member of.
    pub(super) fn symbol_type(&self, at: SymbolAt, given: &TypeArgs, of: Option<&Type>) -> Type {
        match self.kind(at) {
            None => Type::Unknown,
            Some(SymbolKind::Variant) => Type::External,
            Some(SymbolKind::Const | SymbolKind::Var | SymbolKind::Field | SymbolKind::Property) => {
                match given.is_empty() && of.is_none() {
                    true => self
                        .symbol_types
                        .compute_cyclic(&self.query_stack, at, Type::Unknown, || self.variable_type(at, given, None)),
                    false => self.variable_type(at, given, of),
                }
            }
            Some(SymbolKind::Method) if of.is_some() => {
                let of = of.cloned().unwrap_or(Type::Unknown);
                Type::Bound(at, Rc::new(Receiver { receiver_type: of, type_args: given.clone() }))
            }
            Some(_) => Type::Value(at),
        }
    }

    fn variable_type(&self, at: SymbolAt, given: &TypeArgs, of: Option<&Type>) -> Type {
        let Some(index) = self.index(at.file) else { return Type::Unknown };
        let Some(symbol) = index.symbol(at.ordinal) else { return Type::Unknown };
        let mut scope = Scope::new(at.file, symbol.parent, symbol.name_line);
        scope.type_args = given.clone();
        scope.this = of.map(|of| Rc::new(of.clone()));
        if let Some(annotation) = symbol.annotation {
            let declared = self.type_from_text(&self.annotation(&index, symbol, annotation), &scope);
            if !declared.is_unknown() {
                return declared;
            }
        }
        let Some(value) = symbol.value else { return Type::Unknown };
        if let Expr::Part { of, part } = index.file.facts.expr(value) {
            return match part {
                ValuePart::Field(name) => {
                    self.member_type(&self.value(index.expr_text(*of), &scope), index.name(*name))
                }
                _ => Type::Unknown,
            };
        }
        let value = index.expr_text(value);
        // The text of an object literal has less detail than its symbols.
        if value.starts_with('{') || value.starts_with("Object.freeze(") {
            return Type::Value(at);
        }
        let chained = split::split_top_level(value, false, "= ").into_iter().next_back().unwrap_or(value).trim();
        if chained.starts_with('{') {
            return Type::Value(at);
        }
        match self.value(chained, &scope) {
            Type::Unknown if index.file.language == "javascript" => Type::Value(at),
            found if index.is_owner(symbol) => Type::union_of([Type::Value(at), found]),
            found => found,
        }
    }

    /// Returns the declared type of a symbol, in full if facts truncate it.
    fn annotation(&self, index: &Index, symbol: &Symbol, annotation: ExprId) -> String {
        let short = index.expr_text(annotation);
        if short.len() < 118 && !short.contains('…') {
            return short.to_owned();
        }
        let text = self.world.text(index.file.id);
        let own = text.as_deref().map_or("", |text| symbol.span.text(text));
        let own = crate::text::fold(&super::type_text::without_comments(own)).into_owned();
        let start = short.split('…').next().unwrap_or("");
        match own.find(start).filter(|_| !start.is_empty()) {
            Some(at) => {
                let end = split::find(&own[at..], true, |rest| rest.starts_with(" = ") || rest.starts_with(';'));
                own[at..].get(..end.unwrap_or(own.len() - at)).unwrap_or(short).to_owned()
            }
            None => short.to_owned(),
        }
    }
}

/// Returns the two values of `a ? b : c`.
fn ternary(text: &str) -> Option<(&str, &str)> {
    let question = split::find(text, false, |rest| rest.starts_with(" ? "))?;
    let rest = &text[question + 3..];
    let colon = split::find(rest, false, |rest| rest.starts_with(" : "))?;
    Some((&rest[..colon], &rest[colon + 3..]))
}
