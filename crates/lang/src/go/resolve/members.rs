//! The members of types: fields and methods, their own and those of embedded types.

use std::collections::HashSet;
use std::rc::Rc;

use codecompass_model::{Flags, SymbolAt, SymbolKind};

use super::GoResolver;
use super::packages::FileIndex;
use super::types::{Inline, Type};

/// The target of a name after a value of some type.
#[derive(Clone)]
pub(super) enum Member {
    Field(SymbolAt, Type),
    /// A method, with all its declarations under build constraints.
    Methods(Vec<SymbolAt>, Type),
    /// A member of an external type.
    External,
    /// A method of the standard library, of a known type.
    LibraryMethod(Type),
    /// The type has no member of that name.
    Missing,
    Unknown,
}

/// The maximum depth of embedded types.
const MAX_LEVELS: usize = 10;

/// One type at a level of embedding.
struct Candidate {
    of: Type,
    /// Whether only its fields apply: `type A B` has the fields of `B` and not its methods.
    fields_only: bool,
}

/// The member found at a level, and the types of the next level.
#[derive(Default)]
struct Level {
    found: Option<Member>,
    next: Vec<Candidate>,
    external: bool,
    unknown: bool,
}

impl GoResolver<'_> {
    /// Returns the member of that name.
    pub(super) fn member(&self, of: &Type, name: &str) -> Member {
        let target = of.target();
        match target {
            Type::Unknown => return Member::Unknown,
            Type::External => return Member::External,
            Type::Library(at, arguments) => return Member::LibraryMethod(self.library().method(*at, name, arguments)),
            _ => {}
        }
        let key = (target.clone(), name.to_owned());
        self.members.get_or_compute_complete(&self.query_stack, key, || self.search_member(target, name))
    }

    /// Returns the shallowest member of that name.
    fn search_member(&self, of: &Type, name: &str) -> Member {
        let mut seen = HashSet::new();
        let mut level = vec![Candidate { of: of.clone(), fields_only: false }];
        let (mut outside, mut unknown) = (false, false);
        for _ in 0..MAX_LEVELS {
            let mut state = Level::default();
            for candidate in level {
                if seen.insert(candidate.of.clone()) {
                    self.query_stack.with_depth_limit((), || self.search_type(&candidate, name, &mut state));
                }
            }
            if let Some(found) = state.found {
                return found;
            }
            outside |= state.external;
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

    /// Searches a type's own members; embedded types are added to the next level.
    fn search_type(&self, candidate: &Candidate, name: &str, state: &mut Level) {
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
                        let is_alias = file.symbol(symbol.ordinal).is_some_and(|symbol| symbol.flags.has(Flags::ALIAS));
                        self.search_declared_type(of, is_alias, candidate, name, state);
                    }
                }
            }
            Type::Inline(inline) => self.inline_member(*inline, name, state),
            Type::Param(file, binding) => {
                state.next.push(Candidate { of: self.bound(*file, *binding), fields_only: false });
            }
            Type::External | Type::Library(..) | Type::Basic("error") => state.external = true,
            Type::Unknown => state.unknown = true,
            _ => {}
        }
    }

    /// Searches the type `B` of `type A B` or `type A = B`.
    fn search_declared_type(&self, of: Type, is_alias: bool, around: &Candidate, name: &str, state: &mut Level) {
        let behind = if is_alias { of } else { self.underlying(&of) };
        let is_interface = match behind {
            Type::Named(symbol, _) => self.kind(symbol) == Some(SymbolKind::Interface),
            Type::Inline(_) => true,
            _ => false,
        };
        let fields_only = around.fields_only || !is_alias && !is_interface;
        // Both are the same type for a lookup, so this is no deeper level.
        self.query_stack.with_depth_limit((), || self.search_type(&Candidate { of: behind, fields_only }, name, state));
    }

    fn own_method(
        &self,
        file: &Rc<FileIndex>,
        of: SymbolAt,
        arguments: &[Type],
        name: &str,
        state: &mut Level,
    ) -> bool {
        let Some(symbol) = file.symbol(of.ordinal).filter(|symbol| symbol.parent.is_none()) else { return false };
        let Some(package) = self.package_of(file) else { return false };
        let methods = package.method(&symbol.name, name);
        let Some(&first) = methods.first() else { return false };
        let of = self.symbol_type(first).with(&self.arguments(first, arguments));
        state.found = Some(Member::Methods(methods.to_vec(), of));
        true
    }

    /// Returns the declarations of a type under all build constraints, itself first.
    fn variants(&self, file: &Rc<FileIndex>, of: SymbolAt) -> Vec<SymbolAt> {
        let symbol = file.symbol(of.ordinal).filter(|symbol| symbol.parent.is_none());
        let package = self.package_of(file);
        let all = symbol.zip(package.as_ref()).map_or(&[][..], |(symbol, package)| package.find(&symbol.name));
        let others = all.iter().copied().filter(|&other| other != of);
        std::iter::once(of).chain(others).collect()
    }

    fn field(&self, of: SymbolAt, arguments: &[Type], name: &str, state: &mut Level) {
        let Some(file) = self.file(of.file).filter(|_| state.found.is_none()) else { return };
        for (place, field) in file.members(of.ordinal).filter(|(_, symbol)| symbol.kind == SymbolKind::Field) {
            let at = SymbolAt { file: of.file, ordinal: place };
            let is_meant = field.name == name;
            if is_meant || field.flags.has(Flags::EMBEDDED) {
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
        let mut methods = file.members(of.ordinal).filter(|(_, symbol)| symbol.kind == SymbolKind::Method);
        if let Some((place, _)) = methods.find(|(_, symbol)| symbol.name == name) {
            let at = SymbolAt { file: of.file, ordinal: place };
            let type_of = self.symbol_type(at).with(&self.arguments(of, arguments));
            state.found = Some(Member::Methods(vec![at], type_of));
            return;
        }
        let arguments = self.arguments(of, arguments);
        for embedded in self.embedded_interfaces(file, of.ordinal) {
            state.next.push(Candidate { of: embedded.with(&arguments), fields_only: false });
        }
    }

    /// Returns the types that an interface embeds.
    pub(super) fn embedded_interfaces(&self, file: &Rc<FileIndex>, place: u32) -> Vec<Type> {
        let bases = file.symbol(place).map_or(&[][..], |symbol| &symbol.bases);
        bases.iter().map(|base| self.type_at(file, *base)).collect()
    }

    /// Finds a member of an inline struct or interface, or the types that it embeds.
    fn inline_member(&self, inline: Inline, name: &str, state: &mut Level) {
        let Some(file) = self.file(inline.file) else { return };
        for (place, symbol) in file.members_within(inline.start, inline.end) {
            let at = SymbolAt { file: inline.file, ordinal: place };
            if symbol.name == name {
                let of = self.symbol_type(at);
                let is_field = symbol.kind == SymbolKind::Field;
                state.found = Some(if is_field { Member::Field(at, of) } else { Member::Methods(vec![at], of) });
                return;
            }
            if symbol.flags.has(Flags::EMBEDDED) {
                state.next.push(Candidate { of: self.symbol_type(at), fields_only: false });
            }
        }
    }

    /// Returns the field that a key of a literal refers to: of the type itself, or of the elements of a list or map,
    /// whose literals may omit their type.
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

    /// Returns whether a type has a method of this name.
    pub(super) fn has_method(&self, of: &Type, name: &str) -> bool {
        matches!(self.member(of, name), Member::Methods(..))
    }

    /// Returns whether keys in a literal of this type are values.
    pub(super) fn is_collection(&self, of: &Type) -> bool {
        matches!(self.underlying(of), Type::List(_) | Type::Map(_))
    }
}
