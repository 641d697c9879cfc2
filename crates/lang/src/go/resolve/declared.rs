//! The types of symbols, local names and type parameters: by what they are declared as, else by the value they get.

use std::rc::Rc;

use codecompass_model::{Part, Symbol, SymbolAt, SymbolKind, VersionId};

use super::chain::{is_cut, is_shortened};
use super::members::is_embedded;
use super::packages::{FileIndex, is_function};
use super::scope::{Near, Scope};
use super::types::{Arguments, Type};
use super::{Go, Question, syntax};

impl Go<'_> {
    /// The type of a symbol: of a variable, a constant, a field, a function; what a declared type stands for.
    pub(super) fn symbol_type(&self, at: SymbolAt) -> Type {
        if let Some(known) = self.symbol_types.borrow().get(&at) {
            return known.clone();
        }
        let question = Question::Symbol(at);
        if !self.may_go_on() || !self.open.borrow_mut().insert(question.clone()) {
            self.cut.set(true);
            return Type::Unknown;
        }
        let of = self.file(at.file).map_or(Type::Unknown, |file| self.type_of_symbol(&file, at.place));
        self.open.borrow_mut().remove(&question);
        if !self.cut.get() {
            self.symbol_types.borrow_mut().insert(at, of.clone());
        }
        of
    }

    fn type_of_symbol(&self, file: &Rc<FileIndex>, place: u32) -> Type {
        let Some(symbol) = file.symbol(place) else { return Type::Unknown };
        // Local names can be meant where a declaration stands in a function.
        let near = match file.around(symbol.parent).any(|place| file.symbol(place).is_some_and(is_function)) {
            true => Near::Line(symbol.lines.start),
            false => Near::Nothing,
        };
        let scope = Scope { file: file.clone(), symbol: Some(place), near };
        match symbol.kind {
            SymbolKind::Fn => {
                let own = file.type_params(place).iter().map(|&param| (file.source.id, param)).collect();
                self.func_type(&scope, &syntax::parse_header(&symbol.signature), own)
            }
            SymbolKind::Method => self.func_type(&scope, &syntax::parse_header(&symbol.signature), Vec::new()),
            SymbolKind::Field => self.type_at(&scope, &syntax::parse_type(field_type(file, symbol))),
            _ => match (symbol.annotation, symbol.value) {
                (Some(annotation), _) => {
                    self.type_at(&scope, &syntax::parse_type(declared_type(symbol, file.text(annotation))))
                }
                (None, Some(value)) => match self.expression_type(&scope, symbol.lines.start, file.text(value)) {
                    Type::Tuple(list) => list.first().cloned().unwrap_or(Type::Unknown),
                    of => of,
                },
                (None, None) => self.later_name(&scope, place, symbol),
            },
        }
    }

    /// `b` in `var a, b = f()`: the value stands with the first name.
    fn later_name(&self, scope: &Scope, place: u32, symbol: &Symbol) -> Type {
        let same = |of: &u32| scope.file.symbol(*of).is_some_and(|of| of.span == symbol.span && of.kind == symbol.kind);
        let first = (0..place).rev().take_while(same).last();
        let Some(value) = first.and_then(|first| scope.file.symbol(first)).and_then(|first| first.value) else {
            return Type::Unknown;
        };
        let n = first.map_or(0, |first| place - first);
        match self.value(scope, &syntax::parse(scope.file.text(value))).into_type() {
            Type::Tuple(list) => list.get(n as usize).cloned().unwrap_or(Type::Unknown),
            Type::External => Type::External,
            _ => Type::Unknown,
        }
    }

    /// The type of a local name.
    pub(super) fn binding_type(&self, file: &Rc<FileIndex>, at: u32) -> Type {
        let key = (file.source.id, at);
        if let Some(known) = self.binding_types.borrow().get(&key) {
            return known.clone();
        }
        let question = Question::Binding(key.0, key.1);
        if !self.may_go_on() || !self.open.borrow_mut().insert(question.clone()) {
            self.cut.set(true);
            return Type::Unknown;
        }
        let of = self.type_of_binding(file, at);
        self.open.borrow_mut().remove(&question);
        if !self.cut.get() {
            self.binding_types.borrow_mut().insert(key, of.clone());
        }
        of
    }

    fn type_of_binding(&self, file: &Rc<FileIndex>, at: u32) -> Type {
        let Some(binding) = file.source.facts.bindings.get(at as usize) else { return Type::Unknown };
        let scope = Scope { file: file.clone(), symbol: binding.symbol, near: Near::Line(binding.line) };
        if let Some(annotation) = binding.annotation {
            return self.type_at(&scope, &syntax::parse_type(file.text(annotation)));
        }
        let Some(value) = binding.value else { return Type::Unknown };
        let whole = self.expression_type(&scope, binding.line, file.text(value));
        match binding.part {
            Part::Whole => whole,
            Part::Element => self.element(&whole),
            Part::Index(n) => self.nth(&whole, n),
            Part::Payload | Part::Field(_) | Part::Inside => Type::Unknown,
        }
    }

    /// The type of an expression of the facts, which may be shortened: the file has it in full from its line on.
    fn expression_type(&self, scope: &Scope, line: u32, text: &str) -> Type {
        // What was cut at its end would be read as something else.
        let short = if is_cut(text) { Type::Unknown } else { self.value(scope, &syntax::parse(text)).into_type() };
        if !is_shortened(text) || !short.is_vague() {
            return short;
        }
        match self.full_text(&scope.file, line, text) {
            Some(full) => self.value(scope, &syntax::parse(&full)).into_type(),
            None => short,
        }
    }

    /// The bound of a type parameter.
    pub(super) fn bound(&self, file: VersionId, binding: u32) -> Type {
        let Some(index) = self.file(file) else { return Type::Unknown };
        let Some(of) = index.source.facts.bindings.get(binding as usize) else { return Type::Unknown };
        let scope = Scope { file: index.clone(), symbol: of.symbol, near: Near::Nothing };
        match of.annotation {
            Some(annotation) => self.type_at(&scope, &syntax::parse_type(index.text(annotation))),
            None => self.receiver_bound(&index, binding),
        }
    }

    /// A method names the type parameters of its receiver anew: the bound stands with the type.
    fn receiver_bound(&self, file: &Rc<FileIndex>, binding: u32) -> Type {
        let method = file.source.facts.bindings.get(binding as usize).and_then(|binding| binding.symbol);
        let position = method.and_then(|method| file.type_params(method).iter().position(|&param| param == binding));
        let declared = method.and_then(|method| self.receiver_of(file, method));
        let (Some(position), Some(declared)) = (position, declared) else { return Type::Unknown };
        let Some(index) = self.file(declared.file) else { return Type::Unknown };
        match index.type_params(declared.place).get(position) {
            Some(&param) if (index.source.id, param) != (file.source.id, binding) => self.bound(index.source.id, param),
            _ => Type::Unknown,
        }
    }

    /// The type that a method is declared for.
    pub(super) fn receiver_of(&self, file: &Rc<FileIndex>, method: u32) -> Option<SymbolAt> {
        let name = super::packages::receiver(file.symbol(method)?)?;
        self.package_of(file)?.find(name).first().copied()
    }

    /// What stands for the type parameters of a declared type or of its methods.
    pub(super) fn arguments(&self, symbol: SymbolAt, arguments: &[Type]) -> Arguments {
        if arguments.is_empty() {
            return Arguments::new();
        }
        let Some(index) = self.file(symbol.file) else { return Arguments::new() };
        let params = index.type_params(symbol.place).iter();
        params.zip(arguments).map(|(&param, argument)| ((symbol.file, param), argument.clone())).collect()
    }
}

/// The text of what a type is declared as. The signature has it in full where the annotation is shortened.
fn declared_type<'f>(symbol: &'f Symbol, short: &'f str) -> &'f str {
    let begins = short.split('…').next().unwrap_or(short);
    let is_type = symbol.kind == SymbolKind::Type && is_shortened(short);
    let at = symbol.signature.find(begins).filter(|_| is_type && !begins.is_empty());
    at.map_or(short, |at| &symbol.signature[at..])
}

/// The text of a field's type. The signature has it in full where the annotation is shortened.
fn field_type<'f>(file: &'f FileIndex, field: &'f Symbol) -> &'f str {
    let short = field.annotation.map_or("", |at| file.text(at));
    if !is_shortened(short) {
        return short;
    }
    if is_embedded(field) {
        return &field.signature;
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ',');
    let mut rest = field.signature.as_str();
    // `a, b T`: the names end with the first word that no comma follows.
    while let Some((name, behind)) = rest.split_once(' ').filter(|(name, _)| name.chars().all(is_name)) {
        rest = behind;
        if !name.ends_with(',') {
            break;
        }
    }
    rest
}
