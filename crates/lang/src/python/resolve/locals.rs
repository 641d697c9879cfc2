//! Types of local bindings: parameters, assignments above a line, and `isinstance` checks.

use std::rc::Rc;

use codecompass_model::{Binding, BindingKind, Expr as Lowered, ExprId, SymbolAt, SymbolKind, ValuePart};

use super::expression::Expr;
use super::names::LookupSite;
use super::source::{ScopeEntry, indent_of};
use super::types::{ContainerKind, Type};
use super::{PythonResolver, TypeQuery};
use crate::rules::index::Lines;

/// The maximum number of lines between an assignment and a use.
const MAX_DISTANCE: u32 = 400;

/// Fixtures that the test framework provides.
const PYTEST_FIXTURES: &[&str] = &[
    "cache",
    "caplog",
    "capfd",
    "capsys",
    "mocker",
    "monkeypatch",
    "pytestconfig",
    "recwarn",
    "request",
    "tmp_path",
    "tmp_path_factory",
    "tmpdir",
];

/// Whether an assignment reaches a line below it.
#[derive(PartialEq)]
enum Reach {
    Always,
    Maybe,
    Never,
}

impl PythonResolver<'_> {
    /// Returns the type of a local binding at a line.
    pub(super) fn local(&self, place: &LookupSite, at: u32) -> Type {
        let facts = place.source.facts();
        let Some(binding) = facts.bindings.get(at as usize) else { return Type::Unknown };
        let name = place.source.name(binding.name);
        let assigned = self.reaching_type(place, at, binding, name);
        match self.narrowed(place, binding, name) {
            Type::Unknown => assigned,
            narrowed => narrowed,
        }
    }

    /// Returns the types of the values that reach a line, the last one first.
    fn reaching_type(&self, place: &LookupSite, at: u32, binding: &Binding, name: &str) -> Type {
        let bindings = &place.source.facts().bindings;
        let line_of = |at: u32| bindings.get(at as usize).map_or(0, |binding| binding.line);
        let mut same: Vec<u32> = place
            .source
            .entries(binding.symbol, name)
            .filter_map(|entry| if let ScopeEntry::Binding(at) = entry { Some(at) } else { None })
            .collect();
        if same.len() <= 1 {
            return self.assigned_type(place, at);
        }
        same.sort_by_key(|at| (line_of(*at), *at));
        let mut types = Vec::new();
        let last = same.iter().position(|other| *other == at).map_or(0, |at| at + 1);
        for other in same[..last].iter().rev() {
            match self.reach(place, line_of(*other)) {
                Reach::Never => continue,
                Reach::Always => {
                    types.push(self.assigned_type(place, *other));
                    break;
                }
                Reach::Maybe => types.push(self.assigned_type(place, *other)),
            }
        }
        match Type::union_of(types) {
            Type::Unknown | Type::NoneType => {
                Type::union_of(same.iter().map(|other| self.assigned_type(place, *other)))
            }
            known => known,
        }
    }

    fn reach(&self, place: &LookupSite, from: u32) -> Reach {
        let lines = self.lines(&place.source);
        if place.line <= from || place.line - from > MAX_DISTANCE {
            return Reach::Always;
        }
        let Some(own) = indent_of(lines, from) else { return Reach::Always };
        let mut reach = Reach::Always;
        let mut limit = own;
        for line in from + 1..=place.line {
            let Some(indent) = indent_of(lines, line).filter(|indent| *indent < limit) else { continue };
            let code = lines.line(line).trim_start();
            if code.starts_with([')', ']', '}']) {
                continue;
            }
            // The assigning block ends here; the other branches of its statement do not see the assignment.
            limit = indent;
            let is_other = ["else", "elif ", "case "].iter().any(|start| code.starts_with(start));
            let is_last = (line + 1..=place.line).all(|line| indent_of(lines, line).is_none_or(|inner| inner > indent));
            if is_other && is_last && line < place.line {
                return Reach::Never;
            }
            reach = Reach::Maybe;
        }
        reach
    }

    /// Returns the type of one binding, ignoring all other bindings of the same name.
    fn assigned_type(&self, place: &LookupSite, at: u32) -> Type {
        let key = TypeQuery::Binding(place.id(), at);
        self.types.compute_cyclic(&self.query_stack, key, Type::Unknown, || {
            let Some(binding) = place.source.facts().bindings.get(at as usize) else { return Type::Unknown };
            match binding.kind {
                BindingKind::Param => self.parameter(place, at, binding),
                BindingKind::Local => self.variable_here(place, binding),
                BindingKind::TypeParam => Type::Unknown,
            }
        })
    }

    fn variable_here(&self, place: &LookupSite, binding: &Binding) -> Type {
        let source = &place.source;
        let here = LookupSite::at(source, binding.symbol, binding.line.saturating_sub(1));
        let declared =
            binding.annotation.map_or(Type::Unknown, |text| self.type_from_text(source.expr_text(text), &here));
        let mut value =
            binding.value.map_or(Type::Unknown, |text| self.value(&Expr::parse(source.expr_text(text)), &here));
        let name = source.name(binding.name);
        let line = self.lines(source).line(binding.line);
        if is_with_target(line, name) {
            value = self.entered(&value);
        }
        let value = match binding.part {
            ValuePart::Inside => position(line, name).map_or(Type::Unknown, |at| self.nth(&self.element(&value), at)),
            part => self.part_type(value, part, &here),
        };
        match (&declared, &value) {
            (Type::Unknown, _) => value,
            // An assignment is more precise than a declaration above it.
            (_, Type::Instance(..) | Type::Class(..)) if binding.part == ValuePart::Whole => value,
            _ => declared,
        }
    }

    fn parameter(&self, place: &LookupSite, at: u32, binding: &Binding) -> Type {
        let source = &place.source;
        let Some(function) = binding.symbol else { return Type::Unknown };
        let header = LookupSite::header(source, function);
        let declared = |of: ExprId| Some(source.expr_text(of)).filter(|text| !text.is_empty());
        let declared = |of: ExprId| declared(of).map_or(Type::Unknown, |text| self.type_from_text(text, &header));
        if let Some(Lowered::Map { value, .. }) = binding.annotation.map(|of| source.facts().expr(of)) {
            return Type::Container(ContainerKind::Map, Rc::from([Type::External, declared(*value)]));
        }
        let declared = binding.annotation.map_or(Type::Unknown, declared);
        if binding.part == ValuePart::Inside {
            return Type::iterable_of(declared);
        }
        if source.params(function).first() == Some(&at)
            && let Some(own) = self.receiver(place, function)
            && matches!(declared, Type::Unknown | Type::Var(..) | Type::Container(ContainerKind::Callable, _))
        {
            return own;
        }
        if !declared.is_unknown() || binding.annotation.is_some() {
            return declared;
        }
        match binding.value.map(|text| self.value(&Expr::parse(source.expr_text(text)), &header)) {
            Some(Type::NoneType) | None => self.fixture(place, function, source.name(binding.name)),
            Some(default) => default,
        }
    }

    /// Returns the type of the first parameter of a method.
    fn receiver(&self, place: &LookupSite, function: u32) -> Option<Type> {
        let source = &place.source;
        let symbol = source.symbol(function)?;
        let class = symbol
            .parent
            .filter(|class| source.symbol(*class).is_some_and(|symbol| symbol.kind == SymbolKind::Class))?;
        let class = SymbolAt { file: place.id(), ordinal: class };
        if source.is_decorated(function, &["staticmethod"]) {
            return None;
        }
        let is_class = source.is_decorated(function, &["classmethod"])
            || matches!(symbol.name.as_str(), "__new__" | "__init_subclass__" | "__class_getitem__");
        Some(if is_class { Type::SelfClass(class) } else { Type::SelfType(class) })
    }

    /// Returns the type that `isinstance` implies at a line: in its `if` block, and below an `assert` or an early exit.
    fn narrowed(&self, place: &LookupSite, binding: &Binding, name: &str) -> Type {
        let lines = self.lines(&place.source);
        let test = format!("isinstance({name},");
        let Some(indent) = indent_of(lines, place.line) else { return Type::Unknown };
        let here = lines.line(place.line);
        if here.contains(&test) {
            return if here.contains(" and ") { self.tested(place, here, &test) } else { Type::Unknown };
        }
        let mut limit = indent;
        let first = binding.line.max(place.line.saturating_sub(MAX_DISTANCE));
        for line in (first..place.line).rev() {
            let Some(indent) = indent_of(lines, line).filter(|indent| *indent <= limit) else { continue };
            let code = lines.line(line).trim();
            let is_around = indent < limit;
            limit = indent;
            let is_written = code.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with("= "));
            if is_written {
                return Type::Unknown;
            }
            if !code.contains(&test) {
                // In another branch the test failed.
                if is_around && ["else", "elif "].iter().any(|start| code.starts_with(start)) {
                    return Type::Unknown;
                }
                continue;
            }
            let is_not = code.contains("not isinstance");
            let says = match is_around {
                true => (code.starts_with("if ") || code.starts_with("elif ")) && !is_not,
                false => code.starts_with("assert ") && !is_not || is_not && is_early_exit(lines, line, indent),
            };
            if says && !code.contains(" or ") {
                return self.tested(place, code, &test);
            }
        }
        Type::Unknown
    }

    /// Returns the classes in a test.
    fn tested(&self, place: &LookupSite, code: &str, test: &str) -> Type {
        let Some(at) = code.find(test) else { return Type::Unknown };
        let rest = &code[at + test.len()..];
        let mut open = 0;
        let end = rest.find(|c| {
            match c {
                '(' | '[' => open += 1,
                ')' | ']' => open -= 1,
                _ => {}
            }
            open < 0
        });
        match self
            .type_from_text(&rest[..end.unwrap_or(rest.len())], &LookupSite::at(&place.source, place.scope, place.line))
        {
            known @ (Type::Instance(..) | Type::Union(_) | Type::External) => known,
            _ => Type::Unknown,
        }
    }

    /// Returns the type of a parameter that a test framework provides: the result of the fixture of that name.
    fn fixture(&self, place: &LookupSite, function: u32, name: &str) -> Type {
        let source = &place.source;
        let is_test = source.symbol(function).is_some_and(|symbol| symbol.name.starts_with("test"));
        if !is_test && !source.is_decorated(function, &["fixture"]) {
            return Type::Unknown;
        }
        let mut folder = super::modules::parent(&source.file.path).to_owned();
        let mut files = vec![place.id()];
        loop {
            let path = if folder.is_empty() { "conftest.py".to_owned() } else { format!("{folder}/conftest.py") };
            files.extend(self.world.file_at(&path));
            if folder.is_empty() {
                break;
            }
            folder = super::modules::parent(&folder).to_owned();
        }
        for file in files {
            let Some(source) = self.source(file) else { continue };
            for entry in source.entries(None, name) {
                let ScopeEntry::Symbol(at) = entry else { continue };
                if at != function && source.is_decorated(at, &["fixture"]) {
                    return match self.return_type(SymbolAt { file, ordinal: at }) {
                        Type::Container(ContainerKind::Iterable, parts) if self.yields(&source, at) => {
                            parts.first().cloned().unwrap_or(Type::Unknown)
                        }
                        given => given,
                    };
                }
            }
        }
        if PYTEST_FIXTURES.contains(&name) { Type::External } else { Type::Unknown }
    }

    fn yields(&self, source: &super::source::PythonFile, function: u32) -> bool {
        let Some(symbol) = source.symbol(function) else { return false };
        let lines = self.lines(source);
        (symbol.lines.start..=symbol.lines.end).any(|line| lines.line(line).trim_start().starts_with("yield"))
    }
}

/// Returns whether a block that begins with a test exits the function or the loop.
fn is_early_exit(lines: &Lines, line: u32, indent: usize) -> bool {
    let body = (line + 1..line + 8).find(|line| indent_of(lines, *line).is_some_and(|inner| inner > indent));
    let code = body.map_or("", |line| lines.line(line).trim_start());
    ["return", "raise", "continue", "break"].iter().any(|start| code.starts_with(start))
}

/// Returns whether a line has a `with` that binds this name.
fn is_with_target(line: &str, name: &str) -> bool {
    let Some(at) = line.find(&format!(" as {name}")) else { return false };
    let after = line[at + 4 + name.len()..].chars().next();
    let is_whole = after.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    let code = line.trim_start();
    is_whole && !code.starts_with("except") && !code.starts_with("case")
}

/// Returns the position of a name among those that a loop binds.
fn position(line: &str, name: &str) -> Option<usize> {
    let from = line.find("for ")? + 4;
    let end = from + line[from..].find(" in ")?;
    line[from..end].trim_matches(['(', ')', ' ']).split(',').position(|one| one.trim() == name)
}
