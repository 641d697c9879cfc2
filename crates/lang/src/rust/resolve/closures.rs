//! Closures: their return types, and the types of their parameters by the call that receives the closure.

use std::rc::Rc;

use codecompass_model::{BindingKind, RefShape, Reference, SymbolAt};

use super::expressions::{Arguments, ExprSite, arguments};
use super::members::{MemberKind, MemberTarget};
use super::modules::Scope;
use super::types::{Bound, Parameter, Ty, TypeBindings};
use super::{RustResolver, declared_params};
use crate::rules::index::Index;

impl RustResolver<'_> {
    /// Returns the type of a closure, from its text.
    pub(super) fn closure(&self, point: ExprSite, text: &str) -> Option<Ty> {
        let text = text.strip_prefix("move ").unwrap_or(text);
        let (_, body) = text.strip_prefix('|')?.split_once('|')?;
        let body = body.trim_start();
        let back = match body.strip_prefix("->") {
            Some(declared) => self.lower_text(point.scope, declared.split('{').next().unwrap_or("")),
            // The text of the file has more detail about a body in braces.
            None if body.starts_with('{') => Ty::Unknown,
            None => self.expression(point, body),
        };
        Some(Ty::Function(Rc::new(back)))
    }

    /// Returns the result type of a standard library method that accepts a function.
    pub(super) fn adaptor_result(&self, point: ExprSite, ty: &Ty, method: &str, given: Arguments<'_>) -> Option<Ty> {
        let is_mapping = matches!(
            method,
            "map" | "and_then" | "filter_map" | "flat_map" | "map_while" | "map_or" | "map_or_else" | "then" | "scan"
        );
        let function = given.list().last().filter(|_| is_mapping)?;
        let Ty::Function(back) = self.argument_type(point, function) else { return None };
        let back = (*back).clone();
        let kind = match ty {
            Ty::Library(name, _) => Rc::clone(name),
            _ => Rc::from(""),
        };
        Some(match (&*kind, method) {
            ("Option" | "Result", "map") => Ty::library(&kind, [back, ty.argument(1)]),
            ("Option" | "Result", "and_then" | "map_or" | "map_or_else") => back,
            (_, "then") => Ty::library("Option", [back]),
            (_, "map") => Ty::library("Iterator", [back]),
            (_, "filter_map" | "map_while") => Ty::library("Iterator", [self.payload(&back)]),
            (_, "flat_map") => Ty::library("Iterator", [self.element(&back).unwrap_or(Ty::Unknown)]),
            _ => return None,
        })
    }

    /// Returns the type of a closure's parameter, by the call that receives the closure.
    pub(super) fn closure_parameter(&self, index: &Index, binding: u32) -> Option<Ty> {
        let text = self.world.text(index.id())?;
        let declared = index.facts().bindings.get(binding as usize)?;
        let line_start = index.lines(&*self.world).start(declared.line);
        let line_end = text[line_start..].find('\n').map_or(text.len(), |at| line_start + at);
        // If several closures on a line have the same name, their order decides.
        let is_like = |at: &&u32| {
            let other = &index.facts().bindings[**at as usize];
            other.line == declared.line && other.kind == BindingKind::Param && other.annotation.is_none()
        };
        let name = index.name(declared.name);
        let number = index.bindings(name).iter().filter(is_like).position(|&at| at == binding)?;
        let closure = closures(&text[line_start..line_end]).filter(|closure| closure.has(name)).nth(number)?;
        let (call, argument) = enclosing_call(&text, line_start + closure.start)?;
        let reference = index.reference_at(&*self.world, call)?;
        let given = self.closure_arguments(index, &reference, argument)?;
        given.get(closure.position(name)?).cloned().filter(Ty::is_known)
    }

    /// Returns the types of the arguments that a call passes to the closure that is its n-th argument.
    fn closure_arguments(&self, index: &Index, reference: &Reference, argument: usize) -> Option<Vec<Ty>> {
        let name = index.name(reference.name);
        match reference.shape {
            RefShape::MemberCall | RefShape::SelfCall => {
                let ty = self.receiver(index, reference);
                let scope = Scope { file: index.id(), symbol: reference.symbol };
                match self.member(scope, &ty, name, MemberKind::Function) {
                    MemberTarget::Found(at, bindings, receiver) => {
                        self.declared_closure(at, &bindings, &receiver, argument)
                    }
                    MemberTarget::External => self.library_closure(&ty, name),
                    MemberTarget::Unknown | MemberTarget::Hidden => None,
                }
            }
            RefShape::Call | RefShape::PathCall => {
                let meaning = self.path_resolution(index, reference);
                let at = *meaning.targets().first()?;
                self.declared_closure(at, &TypeBindings::default(), &Ty::Unknown, argument)
            }
            _ => None,
        }
    }

    /// Returns the types of the arguments that a function of the view passes to the closure that is its n-th argument.
    fn declared_closure(
        &self,
        at: SymbolAt,
        bindings: &TypeBindings,
        receiver: &Ty,
        argument: usize,
    ) -> Option<Vec<Ty>> {
        let index = self.indexed(at.file)?;
        let owner = index.symbol(at.ordinal)?.parent;
        let parameter = declared_params(&index, at.ordinal).nth(argument)?;
        let scope = Scope { file: at.file, symbol: Some(at.ordinal) };
        let bounds: Rc<[Bound]> = match self.lower_text(scope, index.expr_text(parameter.annotation?)) {
            Ty::Param(parameter) => self.bounds_of(parameter),
            Ty::Bounds(bounds) => bounds,
            Ty::Library(_, arguments) => match arguments.first()? {
                Ty::Bounds(bounds) => Rc::clone(bounds),
                _ => return None,
            },
            _ => return None,
        };
        let function = bounds.iter().find(|bound| bound.name.starts_with("Fn"))?;
        let is_free = |(file, binding): Parameter| {
            let declared = index.facts().bindings.get(binding as usize).and_then(|binding| binding.symbol);
            file == at.file && declared.is_some() && (declared == Some(at.ordinal) || declared == owner)
        };
        let meant = function.arguments.iter().map(|ty| self.substitute(ty, bindings, receiver, &is_free));
        Some(meant.collect())
    }

    /// Returns the types of the arguments that the standard library passes to closures.
    fn library_closure(&self, ty: &Ty, method: &str) -> Option<Vec<Ty>> {
        let mut ty = ty.clone();
        for _ in 0..4 {
            let name = match &ty {
                Ty::Library(name, _) => Rc::clone(name),
                _ => Rc::from(""),
            };
            let found = match (&*name, method) {
                ("Result", "map_err" | "or_else" | "unwrap_or_else" | "inspect_err" | "map_or_else") => ty.argument(1),
                ("Option" | "Result", "unwrap_or_else" | "or_else" | "ok_or_else") => return None,
                ("Option" | "Result", _) => ty.argument(0),
                (_, "fold" | "try_fold") => return Some(vec![Ty::Unknown, self.element(&ty)?]),
                ("HashMap" | "BTreeMap", "retain") => return Some(vec![ty.argument(0), ty.argument(1)]),
                ("Entry", "and_modify") => ty.argument(1),
                ("Arc" | "Rc" | "Box" | "Pin" | "Cow", _) => Ty::Unknown,
                _ => self.element(&ty).unwrap_or(Ty::Unknown),
            };
            if found.is_known() {
                // Comparisons get two of the same type.
                return Some(vec![found.clone(), found]);
            }
            ty = self.deref(&ty)?;
        }
        None
    }
}

/// The head of a closure in a line.
struct ClosureHead<'t> {
    /// Its start offset.
    start: usize,
    parameters: &'t str,
}

impl ClosureHead<'_> {
    fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    /// Returns the index of the parameter with this name in its pattern.
    fn position(&self, name: &str) -> Option<usize> {
        let is_word = |part: &str| part.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        arguments(self.parameters).position(is_word)
    }
}

/// Returns the heads of closures in a line: the text between two bars if the first bar cannot be an operator.
fn closures(line: &str) -> impl Iterator<Item = ClosureHead<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = line[at..].find('|') {
            let start = at + found;
            let before = line[..start].trim_end();
            at = start + 1;
            let begins = before.is_empty() || before.ends_with(['(', ',', '=', '{']) || before.ends_with("move");
            if let Some(end) = line[at..].find('|').filter(|_| begins) {
                let parameters = &line[at..at + end];
                at += end + 1;
                return Some(ClosureHead { start, parameters });
            }
        }
        None
    })
}

/// Returns the call that a closure at this offset is an argument of: the start of its name, and the argument's index.
fn enclosing_call(text: &str, closure: usize) -> Option<(usize, usize)> {
    let before = text[..closure].trim_end();
    let before = before.strip_suffix("move").map_or(before, str::trim_end);
    let (mut depth, mut commas) = (0usize, 0);
    let bytes = before.as_bytes();
    let mut at = bytes.len();
    while at > 0 && bytes.len() - at < 600 {
        at -= 1;
        match bytes[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' if depth == 0 => return name_before(text, at).map(|name| (name, commas)),
            b'[' | b'{' | b';' if depth == 0 => return None,
            b'(' | b'[' | b'{' => depth -= 1,
            b',' if depth == 0 => commas += 1,
            b'"' => at = string_start(bytes, at)?,
            _ => {}
        }
    }
    None
}

/// Returns the start of the name before this offset, without generic arguments.
pub(super) fn name_before(text: &str, end: usize) -> Option<usize> {
    let mut head = text[..end].trim_end();
    if head.ends_with('>') {
        head = head.rfind("::<").map(|at| &head[..at])?;
    }
    let start = head
        .rfind(|c: char| !(c.is_alphanumeric() || c == '_'))
        .map_or(0, |at| at + head[at..].chars().next().map_or(1, char::len_utf8));
    (start < head.len()).then_some(start)
}

/// Returns the start of the string that ends at this quote.
pub(super) fn string_start(bytes: &[u8], end: usize) -> Option<usize> {
    let mut at = end;
    while at > 0 {
        at -= 1;
        let escapes = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
        if bytes[at] == b'"' && escapes % 2 == 0 {
            return Some(at);
        }
    }
    None
}
