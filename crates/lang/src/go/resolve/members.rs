//! The members of types: fields and methods, their own and those of embedded types.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::{RefShape, Symbol, SymbolAt, SymbolKind};

use super::Go;
use super::library;
use super::packages::{FileIndex, is_function};
use super::scope::{Near, Scope};
use super::syntax::Expr;
use super::types::{Inline, Type};

/// What a name means behind a value of some type.
#[derive(Clone)]
pub(super) enum Member {
    Field(SymbolAt, Type),
    /// A method, with all its declarations under build constraints.
    Methods(Vec<SymbolAt>, Type),
    /// A member of a type from outside.
    External,
    /// A method of the standard library, of a known type.
    Outside(Type),
    /// There is none of that name.
    Missing,
    Unknown,
}

/// How deep types are embedded in each other at most.
const MAX_LEVELS: usize = 10;

/// One type at a level of embedding.
struct Candidate {
    of: Type,
    /// Whether only its fields are taken over: `type A B` has the fields of `B` and not its methods.
    fields_only: bool,
}

/// What a level has, and what is still to be looked at.
#[derive(Default)]
struct Level {
    found: Option<Member>,
    next: Vec<Candidate>,
    outside: bool,
    unknown: bool,
}

impl Go<'_> {
    /// The member of that name.
    pub(super) fn member(&self, of: &Type, name: &str) -> Member {
        let target = of.target();
        match target {
            Type::Unknown => return Member::Unknown,
            Type::External => return Member::External,
            Type::Library(at, arguments) => return Member::Outside(library::method(*at, name, arguments)),
            _ => {}
        }
        let key = (target.clone(), name.to_owned());
        if let Some(known) = self.members.borrow().get(&key) {
            return known.clone();
        }
        let found = self.search_member(target, name);
        if !self.cut.get() {
            self.members.borrow_mut().insert(key, found.clone());
        }
        found
    }

    /// The shallowest member of that name.
    fn search_member(&self, of: &Type, name: &str) -> Member {
        let mut seen = HashSet::new();
        let mut level = vec![Candidate { of: of.clone(), fields_only: false }];
        let (mut outside, mut unknown) = (false, false);
        for _ in 0..MAX_LEVELS {
            let mut state = Level::default();
            for candidate in level {
                if seen.insert(candidate.of.clone()) && self.may_go_on() {
                    self.look_in(&candidate, name, &mut state);
                }
            }
            if let Some(found) = state.found {
                return found;
            }
            outside |= state.outside;
            unknown |= state.unknown;
            level = state.next;
            if level.is_empty() {
                break;
            }
        }
        match (outside, unknown) {
            (true, false) => Member::External,
            (_, true) => Member::Unknown,
            (false, false) => Member::Missing,
        }
    }

    /// Looks for a member among a type's own; what it embeds is for the next level.
    fn look_in(&self, candidate: &Candidate, name: &str, state: &mut Level) {
        match candidate.of.target() {
            Type::Named(symbol, arguments) => {
                let Some(file) = self.file(symbol.file) else { return };
                if !candidate.fields_only && self.own_method(&file, *symbol, arguments, name, state) {
                    return;
                }
                match self.kind(*symbol) {
                    Some(SymbolKind::Struct) => {
                        for variant in self.variants(&file, *symbol) {
                            self.field(variant, arguments, name, state);
                        }
                    }
                    Some(SymbolKind::Interface) => self.interface_method(&file, *symbol, arguments, name, state),
                    _ => {
                        let of = self.symbol_type(*symbol).with(&self.arguments(*symbol, arguments));
                        let is_alias = file.symbol(symbol.place).is_some_and(is_alias);
                        self.look_in_declared(of, is_alias, candidate, name, state);
                    }
                }
            }
            Type::Inline(inline) => self.inline_member(*inline, name, state),
            Type::Param(file, binding) => {
                state.next.push(Candidate { of: self.bound(*file, *binding), fields_only: false });
            }
            Type::External | Type::Library(..) | Type::Basic("error") => state.outside = true,
            Type::Unknown => state.unknown = true,
            _ => {}
        }
    }

    /// The type behind `type A B` or `type A = B`.
    fn look_in_declared(&self, of: Type, is_alias: bool, around: &Candidate, name: &str, state: &mut Level) {
        let behind = if is_alias { of } else { self.underlying(&of) };
        let is_interface = match behind {
            Type::Named(symbol, _) => self.kind(symbol) == Some(SymbolKind::Interface),
            Type::Inline(_) => true,
            _ => false,
        };
        let fields_only = around.fields_only || !is_alias && !is_interface;
        // Both are the same type to whoever asks: it is no deeper level.
        if self.may_go_on() {
            self.depth.set(self.depth.get() + 1);
            self.look_in(&Candidate { of: behind, fields_only }, name, state);
            self.depth.set(self.depth.get() - 1);
        }
    }

    fn own_method(
        &self,
        file: &Rc<FileIndex>,
        of: SymbolAt,
        arguments: &[Type],
        name: &str,
        state: &mut Level,
    ) -> bool {
        let Some(symbol) = file.symbol(of.place).filter(|symbol| symbol.parent.is_none()) else { return false };
        let Some(package) = self.package_of(file) else { return false };
        let methods = package.method(&symbol.name, name);
        let Some(&first) = methods.first() else { return false };
        let of = self.symbol_type(first).with(&self.arguments(first, arguments));
        state.found = Some(Member::Methods(methods.to_vec(), of));
        true
    }

    /// The declarations of a type under all build constraints, itself first.
    fn variants(&self, file: &Rc<FileIndex>, of: SymbolAt) -> Vec<SymbolAt> {
        let symbol = file.symbol(of.place).filter(|symbol| symbol.parent.is_none());
        let package = self.package_of(file);
        let all = symbol.zip(package.as_ref()).map_or(&[][..], |(symbol, package)| package.find(&symbol.name));
        let others = all.iter().copied().filter(|&other| other != of);
        std::iter::once(of).chain(others).collect()
    }

    fn field(&self, of: SymbolAt, arguments: &[Type], name: &str, state: &mut Level) {
        let Some(file) = self.file(of.file).filter(|_| state.found.is_none()) else { return };
        for (place, field) in file.children(Some(of.place)).filter(|(_, symbol)| symbol.kind == SymbolKind::Field) {
            let at = SymbolAt { file: of.file, place };
            let is_meant = field.name == name;
            if is_meant || is_embedded(field) {
                let type_of = self.symbol_type(at).with(&self.arguments(of, arguments));
                if is_meant {
                    state.found = Some(Member::Field(at, type_of));
                    return;
                }
                state.next.push(Candidate { of: type_of, fields_only: false });
            }
        }
    }

    fn interface_method(&self, file: &Rc<FileIndex>, of: SymbolAt, arguments: &[Type], name: &str, state: &mut Level) {
        let mut methods = file.children(Some(of.place)).filter(|(_, symbol)| symbol.kind == SymbolKind::Method);
        if let Some((place, _)) = methods.find(|(_, symbol)| symbol.name == name) {
            let at = SymbolAt { file: of.file, place };
            let type_of = self.symbol_type(at).with(&self.arguments(of, arguments));
            state.found = Some(Member::Methods(vec![at], type_of));
            return;
        }
        let arguments = self.arguments(of, arguments);
        for embedded in self.embedded_interfaces(file, of.place) {
            state.next.push(Candidate { of: embedded.with(&arguments), fields_only: false });
        }
    }

    /// The types that an interface embeds.
    pub(super) fn embedded_interfaces(&self, file: &Rc<FileIndex>, place: u32) -> Vec<Type> {
        let scope = Scope { file: file.clone(), symbol: Some(place), near: Near::Nothing };
        let of = |&at: &u32| match self.referred_type(&scope, at)? {
            Type::Named(symbol, _) => Some(Type::Named(symbol, self.arguments_behind(&scope, at, symbol))),
            of => Some(of),
        };
        file.embedded(place).iter().filter_map(of).collect()
    }

    /// The type that a reference to a type means.
    fn referred_type(&self, scope: &Scope, at: u32) -> Option<Type> {
        let reference = scope.file.source.facts.references.get(at as usize)?;
        let name = scope.file.text(reference.name);
        let expr = match reference.qualifier {
            Some(qualifier) => Expr::Member(Box::new(Expr::Name(scope.file.text(qualifier))), name),
            None => Expr::Name(name),
        };
        Some(self.type_at(scope, &expr))
    }

    /// The arguments of an embedded generic type: the types named behind it on its line, when there are as many as it takes.
    fn arguments_behind(&self, scope: &Scope, at: u32, symbol: SymbolAt) -> Rc<[Type]> {
        let wanted = self.file(symbol.file).map_or(0, |file| file.type_params(symbol.place).len());
        let references = &scope.file.source.facts.references;
        let line = references.get(at as usize).map(|reference| reference.line);
        let behind = (at as usize + 1..references.len()).take_while(|&next| Some(references[next].line) == line);
        let types = behind.filter(|&next| references[next].shape == RefShape::Type);
        let arguments: Vec<Type> =
            types.take(wanted).filter_map(|next| self.referred_type(scope, next as u32)).collect();
        if arguments.len() == wanted { arguments.into() } else { Rc::new([]) }
    }

    /// A member of a struct or interface that is written out where it is used: the nearest symbol of that name.
    fn inline_member(&self, inline: Inline, name: &str, state: &mut Level) {
        let Some(file) = self.file(inline.file) else { return };
        let parent = inline.symbol;
        let is_member = |symbol: &Symbol| matches!(symbol.kind, SymbolKind::Field | SymbolKind::Method);
        let mut named = file.children(parent).filter(|(_, symbol)| symbol.name == name && is_member(symbol));
        let found = match inline.before {
            true => named.filter(|(_, symbol)| symbol.name_line <= inline.line).last(),
            false => named.find(|(_, symbol)| symbol.name_line >= inline.line),
        };
        let Some((place, symbol)) = found else {
            return self.inline_embedded(&file, parent, inline, state);
        };
        let at = SymbolAt { file: inline.file, place };
        let of = self.symbol_type(at);
        state.found = Some(match symbol.kind {
            SymbolKind::Field => Member::Field(at, of),
            _ => Member::Methods(vec![at], of),
        });
    }

    /// The types that a type without a name embeds.
    fn inline_embedded(&self, file: &Rc<FileIndex>, parent: Option<u32>, inline: Inline, state: &mut Level) {
        let fields = file.children(parent).filter(|(_, symbol)| symbol.kind == SymbolKind::Field);
        let fields: Vec<(u32, &Symbol)> = match parent.and_then(|parent| file.symbol(parent)).is_none_or(is_function) {
            false => fields.collect(),
            // A function may have several such types: the fields of one stand together.
            true if !inline.before => {
                let text = self.world.text(inline.file).unwrap_or_default();
                let mut end = None;
                let behind = fields.skip_while(|(_, symbol)| symbol.name_line < inline.line);
                let together = behind.take_while(|(_, symbol)| {
                    let between = end.and_then(|end| text.get(end as usize..symbol.span.start as usize));
                    end = Some(symbol.span.end);
                    between.is_none_or(|between| !between.contains(['{', '}']))
                });
                together.collect()
            }
            true => {
                state.unknown = true;
                return;
            }
        };
        for (place, _) in fields.into_iter().filter(|(_, symbol)| is_embedded(symbol)) {
            let of = self.symbol_type(SymbolAt { file: file.source.id, place });
            state.next.push(Candidate { of, fields_only: false });
        }
    }

    /// The field that a key of a literal means: of the type itself, or of the elements of a list or map, whose literals
    /// may leave their type out.
    pub(super) fn key_of(&self, of: &Type, name: &str) -> Option<SymbolAt> {
        let mut of = of.clone();
        for _ in 0..4 {
            if let Type::List(_) | Type::Map(_) = self.underlying(&of) {
                of = self.element(&of);
                continue;
            }
            return match self.member(&of, name) {
                Member::Field(field, _) => Some(field),
                _ => None,
            };
        }
        None
    }

    /// Whether keys in a literal of this type are values.
    pub(super) fn is_collection(&self, of: &Type) -> bool {
        matches!(self.underlying(of), Type::List(_) | Type::Map(_))
    }
}

/// `type A = B`.
fn is_alias(symbol: &Symbol) -> bool {
    symbol.kind == SymbolKind::Type && symbol.signature.contains(" = ")
}

/// Whether a field has no name of its own: its line begins with the type, and only a tag may follow.
pub(super) fn is_embedded(field: &Symbol) -> bool {
    let of = field.signature.trim_start_matches('*');
    let rest = of.trim_start_matches(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.'));
    let tag = rest.trim_start();
    rest.starts_with('[') || tag.is_empty() || tag.starts_with(['"', '`', '/'])
}
