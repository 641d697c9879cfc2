//! The members of types: their own, those that stand elsewhere, and those of what they are made from.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{Flags, RefShape, SymbolAt, SymbolKind, VersionId};

use super::engine::{Engine, Place, is_type};
use super::overloads::{Given, takes};
use super::scoping::{Apart, Parts, Unit};
use super::types::{Arguments, Type};

/// More types are not looked through for a member.
const MAX_TYPES: usize = 64;

/// What a name is looked for as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Want {
    Any,
    Value,
    Call,
    Type,
    /// A type of which a value is made.
    Made,
}

impl Want {
    pub(super) fn of(shape: RefShape) -> Self {
        match shape {
            RefShape::Call | RefShape::PathCall | RefShape::SelfCall | RefShape::MemberCall | RefShape::MacroCall => {
                Want::Call
            }
            RefShape::Construct => Want::Made,
            RefShape::Type | RefShape::Extends | RefShape::Implements | RefShape::Decorator => Want::Type,
            _ => Want::Value,
        }
    }

    /// Whether a symbol of a kind is what is looked for.
    pub(super) fn takes(self, kind: SymbolKind, apart: Apart) -> bool {
        use SymbolKind::{Fn, Macro, Method, Namespace, Prototype};
        // A block that belongs to a type bears its name, and is not meant by it.
        if matches!(kind, SymbolKind::Constructor | SymbolKind::Impl) || !kind.can_be_named() {
            return false;
        }
        match (self, apart) {
            (Want::Any, _) | (_, Apart::Nothing) => true,
            (Want::Type | Want::Made, Apart::All) => is_type(kind),
            (Want::Type | Want::Made, Apart::Types) => is_type(kind) || matches!(kind, Macro | Namespace),
            (Want::Call, Apart::All) => matches!(kind, Method | Fn | Macro | Prototype),
            (Want::Value, Apart::All) => !is_type(kind) && !matches!(kind, Method | Fn | Macro | Prototype),
            (Want::Call | Want::Value, Apart::Types) => !is_type(kind),
        }
    }
}

/// From where a member is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Nobody knows.
    Any,
    /// From a value of the type.
    Value,
    /// From the type itself.
    Type,
    /// From a type in it.
    Around,
}

/// The members of a name, by the types that have them, the nearest first.
#[derive(Default)]
pub(super) struct Levels {
    pub(super) levels: Vec<(Vec<SymbolAt>, Arguments)>,
    /// Whether a type among those looked through is from outside.
    pub(super) outside: bool,
    pub(super) unknown: bool,
}

impl Levels {
    pub(super) fn all(&self) -> impl Iterator<Item = SymbolAt> + '_ {
        self.levels.iter().flat_map(|(found, _)| found.iter().copied())
    }
}

impl Engine<'_> {
    /// The members of a name that a type has.
    pub(super) fn members(&self, of: &Type, name: &str, want: Want) -> Rc<Levels> {
        let of = &match of {
            Type::Named(at, arguments) => Type::Named(self.main_of(*at), arguments.clone()),
            other => other.clone(),
        };
        let key = (of.clone(), name.to_owned(), want);
        self.levels.unless_cut(&self.course, key, || Rc::new(self.find_members(of, name, want)))
    }

    fn find_members(&self, of: &Type, name: &str, want: Want) -> Levels {
        let mut found = Levels::default();
        let mut open = vec![of.clone()];
        let mut seen: Vec<SymbolAt> = Vec::new();
        let mut beside = Vec::new();
        let whole = of.clone();
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_TYPES) {
            next += 1;
            let Some(_deeper) = self.course.deeper() else { break };
            match of {
                Type::Named(at, arguments) => {
                    let at = self.main_of(at);
                    if seen.contains(&at) {
                        continue;
                    }
                    seen.push(at);
                    // Stubs do not say all that a type of the library has.
                    found.outside |= self.library().has(at.file);
                    let with = self.arguments(at, &arguments);
                    let own = self.own_members(at, name, want);
                    if !own.is_empty() {
                        let seen = Type::Named(at, arguments.clone());
                        found.levels.push((own.clone(), self.with_owners(&own, &seen, with.clone())));
                    }
                    // The library is known in parts.
                    found.outside |= self.scoping.open_world && self.library().has(at.file);
                    beside.extend(self.extensions(at, &arguments, &whole, name, want));
                    open.extend(self.bases(at).iter().map(|base| base.with(&with)));
                }
                Type::File(id) => {
                    let own =
                        self.file(id).map_or_else(Vec::new, |file| self.fitting(&file, file.named(None, name), want));
                    if !own.is_empty() {
                        found.levels.push((own, Arguments::new()));
                    }
                }
                Type::Param(file, binding) => open.push(self.bound(file, binding)),
                Type::List(of) if self.scoping.lists_iterate => {
                    found.outside = true;
                    open.extend(self.iterable().map(|at| Type::Named(at, Rc::new([of.as_ref().clone()]))));
                }
                // A pointer hands on the members of what it points to.
                Type::List(of) if self.scoping.root.is_none() => open.push(of.as_ref().clone()),
                Type::Unknown => found.unknown = true,
                Type::External | Type::Basic(_) | Type::List(_) => found.outside = true,
                Type::Func(_) | Type::Closure { .. } => {}
            }
        }
        // What all types are made from comes last.
        if let Some(root) = self.root().filter(|root| !seen.contains(root)) {
            let own = self.own_members(root, name, want);
            if !own.is_empty() {
                let with = self.with_owners(&own, of, Arguments::new());
                found.levels.push((own, with));
            }
            beside.extend(self.extensions(root, &[], &whole, name, want));
        }
        found.levels.extend(beside);
        found
    }

    /// The functions that say of a type that they are called on its values, and what that tells of their type parameters.
    fn extensions(
        &self,
        at: SymbolAt,
        arguments: &[Type],
        whole: &Type,
        name: &str,
        want: Want,
    ) -> Option<(Vec<SymbolAt>, Arguments)> {
        if !self.scoping.extensions || !matches!(want, Want::Call | Want::Any) {
            return None;
        }
        let (mut found, mut with) = (Vec::new(), Arguments::new());
        for &part in self.symbols_named(name).iter() {
            let Some(file) = self.file(part.file) else { continue };
            let Some(symbol) = file.symbol(part.place).filter(|of| of.flags.has(Flags::TAKES_SELF)) else { continue };
            let Some(owner) = symbol.owner else { continue };
            match self.type_at(&file, self.class_of(&file, symbol.parent), owner) {
                Type::Named(owner, args) if owner == at => {
                    let params = args.iter().zip(arguments);
                    with.extend(params.filter_map(|(param, given)| match param {
                        Type::Param(file, binding) => Some(((*file, *binding), given.clone())),
                        _ => None,
                    }));
                }
                Type::Param(file, binding) => match self.bound(file, binding) {
                    Type::Named(bound, _) if bound == at => with.push(((file, binding), whole.clone())),
                    _ => continue,
                },
                _ => continue,
            }
            found.push(part);
        }
        (!found.is_empty()).then_some((found, with))
    }

    /// The type of the library that loops go over.
    pub(super) fn iterable(&self) -> Option<SymbolAt> {
        self.scoping.iterable.and_then(|name| self.library().named(name).first().copied())
    }

    /// From where members are named at a place: by what the function is called on that is around it.
    pub(super) fn side_of(&self, place: &Place) -> Side {
        let file = &place.file;
        let functions =
            |at: &u32| file.symbol(*at).is_some_and(|of| matches!(of.kind, SymbolKind::Method | SymbolKind::Fn));
        match file.around(place.symbol).find(functions).and_then(|at| file.symbol(at)) {
            Some(of) if of.flags.has(Flags::STATIC) => Side::Type,
            Some(_) => Side::Value,
            None => Side::Any,
        }
    }

    /// Those members that can be named from a side, where the language keeps them apart. A function of a module may be either's:
    /// a class takes a module's functions as its own, or as those of its values.
    pub(super) fn on_side(&self, all: Rc<Levels>, side: Side) -> Rc<Levels> {
        if !self.scoping.sides || side == Side::Any || all.levels.is_empty() {
            return all;
        }
        let is_seen = |at: &SymbolAt| {
            let Some(file) = self.file(at.file) else { return false };
            let Some(symbol) = file.symbol(at.place) else { return false };
            let is_open = is_type(symbol.kind) || symbol.kind == SymbolKind::Const;
            let is_static = symbol.flags.has(Flags::STATIC);
            let of_module =
                || symbol.parent.and_then(|at| file.symbol(at)).is_some_and(|of| of.kind == SymbolKind::Module);
            match side {
                _ if is_open => true,
                Side::Any => true,
                Side::Around => false,
                Side::Value => !is_static,
                Side::Type => is_static || of_module(),
            }
        };
        let levels = all
            .levels
            .iter()
            .map(|(found, with)| (found.iter().copied().filter(is_seen).collect::<Vec<_>>(), with.clone()));
        let levels = levels.filter(|(found, _)| !found.is_empty()).collect();
        Rc::new(Levels { levels, outside: all.outside, unknown: all.unknown })
    }

    /// Those of the members found that can be seen from a place: what is added to a type from elsewhere has to be in scope.
    pub(super) fn seen_from(&self, place: &Place, levels: Rc<Levels>) -> Rc<Levels> {
        let is_hidden = |at: SymbolAt| !self.is_in_scope(place, at);
        if !self.scoping.parts_in_scope || !levels.all().any(is_hidden) {
            return levels;
        }
        let mut seen = Levels { levels: Vec::new(), outside: levels.outside, unknown: levels.unknown };
        for (found, with) in &levels.levels {
            let found: Vec<SymbolAt> = found.iter().copied().filter(|at| !is_hidden(*at)).collect();
            if !found.is_empty() {
                seen.levels.push((found, with.clone()));
            }
        }
        Rc::new(seen)
    }

    /// Whether a member that stands outside of its type is in scope: in the file or the package, by an import, or as a member
    /// of a type around.
    fn is_in_scope(&self, place: &Place, at: SymbolAt) -> bool {
        let own = &place.file;
        if at.file == own.id() || self.library().has(at.file) {
            return true;
        }
        let Some(file) = self.file(at.file) else { return true };
        let Some(symbol) = file.symbol(at.place).filter(|symbol| symbol.owner.is_some()) else { return true };
        let around = symbol.qualified_name.strip_suffix(symbol.name.as_str()).unwrap_or("");
        let around = around.trim_end_matches(self.scoping.separator);
        let imports = &own.facts().imports;
        let is_named = own.imports_named(&symbol.name).iter().any(|&at| imports[at as usize].name.is_some());
        let is_global = imports
            .iter()
            .any(|import| import.glob && self.modules(own, &import.module).iter().any(|one| one == around));
        let in_type = symbol.parent.filter(|&parent| file.symbol(parent).is_some_and(|of| is_type(of.kind)));
        let is_inherited = |of: u32| {
            let of = SymbolAt { file: at.file, place: of };
            let mut classes = own.around(place.symbol).map(|place| SymbolAt { file: own.id(), place });
            classes
                .any(|class| self.kind(class).is_some_and(is_type) && self.seen_as(&Type::named(class), of).is_some())
        };
        match (symbol.parent, in_type) {
            _ if is_named || is_global => true,
            (None, _) => file.package == own.package,
            (_, Some(of)) => is_inherited(of),
            _ => false,
        }
    }

    /// What the type parameters are of members that stand elsewhere, and name the type that they belong to with them.
    fn with_owners(&self, members: &[SymbolAt], of: &Type, mut with: Arguments) -> Arguments {
        for &at in members {
            let Some(file) = self.file(at.file) else { continue };
            let Some(symbol) = file.symbol(at.place) else { continue };
            let Some(owner) = symbol.owner else { continue };
            let own: Vec<(VersionId, u32)> =
                file.type_params(at.place).iter().map(|&binding| (at.file, binding)).collect();
            if !own.is_empty() {
                let owner = self.type_at(&file, self.class_of(&file, symbol.parent), owner);
                self.learn(&owner, of, &own, &mut with);
            }
        }
        with
    }

    /// The type of the library that all types are made from.
    pub(super) fn root(&self) -> Option<SymbolAt> {
        let name = self.scoping.root?;
        self.library().named(name).first().copied()
    }

    fn own_members(&self, at: SymbolAt, name: &str, want: Want) -> Vec<SymbolAt> {
        let mut all = self.declared_members(at, name, want);
        match self.scoping.parts {
            Parts::InFile => {
                // Only those of the name are asked for their owner: a path may lead through others.
                let Some(file) = self.file(at.file) else { return all };
                let named = match self.library().has(at.file) {
                    // Everybody may put something into the library's tables.
                    true => self.symbols_named(name).to_vec(),
                    false => self.fitting(&file, file.anywhere(name), want),
                };
                let is_part = |part: &SymbolAt| self.is_owned(*part) && self.owner(*part) == Some(at);
                all.extend(named.into_iter().filter(is_part));
            }
            Parts::ByOwner => {
                let named = self.owned_named(name);
                let is_part =
                    |part: &&(SymbolAt, SymbolAt)| part.1 == at && !all.contains(&part.0) && self.fits(part.0, want);
                let parts: Vec<SymbolAt> = named.iter().filter(is_part).map(|part| part.0).collect();
                all.extend(parts);
            }
            Parts::ByName => {
                if !self.opens_types() {
                    for other in self.same_named(at) {
                        all.extend(self.declared_members(other, name, want));
                    }
                    return self.defined(all);
                }
                // A type may be opened hundreds of times: its members are found by their own qualified names.
                let whole =
                    self.file(at.file).and_then(|file| Some(self.joined(&file.symbol(at.place)?.qualified_name, name)));
                let named = whole.map_or_else(|| Rc::new([]) as Rc<[SymbolAt]>, |whole| self.find_qualified(&whole));
                let parts = named
                    .iter()
                    .copied()
                    .filter(|part| !all.contains(part) && self.fits(*part, want))
                    .collect::<Vec<_>>();
                all.extend(parts);
            }
        }
        if self.scoping.unit == Unit::Namespace { all } else { self.defined(all) }
    }

    /// The members of a name that stand outside of what they belong to, each with that. Most names have none, and every type
    /// is asked for them.
    fn owned_named(&self, name: &str) -> Rc<[(SymbolAt, SymbolAt)]> {
        self.owned.answer(&self.course, name.to_owned(), Rc::new([]), || {
            self.symbols_named(name).iter().filter_map(|&part| Some((part, self.owner(part)?))).collect()
        })
    }

    /// The members in a declaration itself; those of what it embeds count as its own.
    fn declared_members(&self, at: SymbolAt, name: &str, want: Want) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let own = self.fitting(&file, file.named(Some(at.place), name), want);
        if !own.is_empty() {
            return own;
        }
        let is_embedded =
            |at: &&u32| file.symbol(**at).is_some_and(|of| of.flags.has(Flags::EMBEDDED) && is_type(of.kind));
        let embedded = file.children(Some(at.place)).iter().filter(is_embedded);
        embedded.flat_map(|&inner| self.fitting(&file, file.named(Some(inner), name), want)).collect()
    }

    /// Whether a symbol says itself what it belongs to.
    fn is_owned(&self, at: SymbolAt) -> bool {
        self.file(at.file).is_some_and(|file| file.symbol(at.place).is_some_and(|symbol| symbol.owner.is_some()))
    }

    /// Whether two functions take arguments of the same types.
    pub(super) fn takes_the_same(&self, one: SymbolAt, other: SymbolAt) -> bool {
        match (self.symbol_type(one), self.symbol_type(other)) {
            (Type::Func(one), Type::Func(other)) => one.params == other.params && one.variadic == other.variadic,
            _ => false,
        }
    }

    /// Whether any file may open any type and add to it, so that one of many declarations stands for the type.
    pub(super) fn opens_types(&self) -> bool {
        self.scoping.parts == Parts::ByName && self.scoping.unit == Unit::Program
    }

    /// The other declarations of a type.
    fn same_named(&self, at: SymbolAt) -> Vec<SymbolAt> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.place) else { return Vec::new() };
        let all = self.find_qualified(&symbol.qualified_name);
        let is_same = |other: &SymbolAt| {
            self.kind(*other) == Some(symbol.kind)
                && (!self.scoping.generics_apart || self.type_arity(*other) == self.type_arity(at))
        };
        all.iter().copied().filter(|other| *other != at && is_same(other)).collect()
    }

    /// How many type parameters a type has.
    fn type_arity(&self, at: SymbolAt) -> usize {
        self.file(at.file).map_or(0, |file| file.type_params(at.place).len())
    }

    /// Of the types of one name, the one with so many type parameters.
    pub(super) fn of_arity(&self, at: SymbolAt, count: usize) -> SymbolAt {
        if !self.scoping.generics_apart || self.type_arity(at) == count {
            return at;
        }
        let Some(file) = self.file(at.file) else { return at };
        let Some(symbol) = file.symbol(at.place) else { return at };
        let all = self.find_qualified(&symbol.qualified_name);
        all.iter().copied().find(|other| self.type_arity(*other) == count).unwrap_or(at)
    }

    /// Those of some types that have so many type parameters, if any has.
    pub(super) fn with_arity(&self, mut all: Vec<SymbolAt>, count: usize) -> Vec<SymbolAt> {
        let is_meant = |at: &SymbolAt| self.kind(*at).is_some_and(is_type) && self.type_arity(*at) == count;
        if self.scoping.generics_apart && all.len() > 1 && all.iter().any(is_meant) {
            all.retain(is_meant);
        }
        all
    }

    /// What belongs to a type and stands outside of its declaration.
    pub(super) fn parts(&self, at: SymbolAt) -> Vec<SymbolAt> {
        match self.scoping.parts {
            Parts::InFile => self.parts_in(at.file).get(&at).cloned().unwrap_or_default(),
            Parts::ByName => self.same_named(at),
            Parts::ByOwner => {
                // Whatever belongs to a type names it.
                let Some(file) = self.file(at.file) else { return Vec::new() };
                let Some(symbol) = file.symbol(at.place) else { return Vec::new() };
                let mut files: Vec<VersionId> = self.world.files_naming(&symbol.name).to_vec();
                files.push(at.file);
                files.sort_unstable();
                files.dedup();
                let parts = files.iter().map(|id| self.parts_in(*id).get(&at).cloned().unwrap_or_default());
                parts.flatten().collect()
            }
        }
    }

    /// Of a file, the members that stand outside of what they belong to, by that.
    pub(super) fn parts_in(&self, id: VersionId) -> Rc<HashMap<SymbolAt, Vec<SymbolAt>>> {
        let Some(file) = self.file(id) else { return Rc::default() };
        let owned = || (0..).zip(&file.facts().symbols).filter(|(_, symbol)| symbol.owner.is_some());
        if owned().next().is_none() {
            return Rc::default();
        }
        self.parts.answer(&self.course, id, Rc::default(), || {
            let mut parts: HashMap<SymbolAt, Vec<SymbolAt>> = HashMap::new();
            for (place, _) in owned() {
                let part = SymbolAt { file: id, place };
                if let Some(owner) = self.owner(part) {
                    parts.entry(owner).or_default().push(part);
                }
            }
            Rc::new(parts)
        })
    }

    /// What a member belongs to that stands outside of it: it says so itself, or the block does that it stands in.
    pub(super) fn owner(&self, part: SymbolAt) -> Option<SymbolAt> {
        let file = self.file(part.file)?;
        let symbol = file.symbol(part.place)?;
        let block = || symbol.parent.and_then(|at| file.symbol(at)).filter(|around| around.kind == SymbolKind::Impl);
        let owner = symbol.owner.or_else(|| block()?.owner)?;
        let around = self.class_of(&file, symbol.parent);
        let of = match self.scoping.objects {
            true => self.type_at(&file, around, owner),
            false => self.value(&file, around, owner).into_type(),
        };
        match of {
            Type::Named(owner, _) => Some(owner),
            // It belongs to all that its type parameter may be.
            Type::Param(file, binding) => match self.bound(file, binding) {
                Type::Named(owner, _) => Some(owner),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a type is made from.
    pub(super) fn bases(&self, at: SymbolAt) -> Rc<[Type]> {
        let is_alone = self.scoping.parts != Parts::ByName;
        let Some(file) = self.file(at.file) else { return Rc::new([]) };
        let Some(symbol) = file.symbol(at.place) else { return Rc::new([]) };
        let has_blocks = self.scoping.parts == Parts::ByOwner && is_type(symbol.kind);
        if symbol.bases.is_empty() && is_alone && !has_blocks {
            // A table that is made by another has what that has.
            let made = symbol.value.filter(|_| symbol.kind == SymbolKind::Var && symbol.annotation.is_none());
            let Some(value) = made else { return Rc::new([]) };
            return self.bases.answer(&self.course, at, Rc::new([]), || {
                match self.value(&file, None, value).into_type() {
                    of @ (Type::Named(..) | Type::External) if of != Type::named(at) => Rc::new([of]),
                    _ => Rc::new([]),
                }
            });
        }
        self.bases.answer(&self.course, at, Rc::new([]), || {
            let mut all = vec![at];
            if has_blocks {
                all.extend(self.blocks(at).iter());
            } else if self.kind(at).is_some_and(is_type) && !is_alone {
                all.extend(self.same_named(at));
            }
            let mut bases: Vec<Type> = Vec::new();
            for base in all.into_iter().flat_map(|at| self.bases_of_part(at)) {
                if !bases.contains(&base) {
                    bases.push(base);
                }
            }
            bases.into()
        })
    }

    /// The blocks that belong to a type: they bear its name.
    pub(super) fn blocks(&self, at: SymbolAt) -> Rc<[SymbolAt]> {
        self.blocks.answer(&self.course, at, Rc::new([]), || {
            let Some(file) = self.file(at.file) else { return Rc::new([]) };
            let Some(symbol) = file.symbol(at.place) else { return Rc::new([]) };
            let named = self.symbols_named(&symbol.name);
            let is_block =
                |block: &SymbolAt| self.kind(*block) == Some(SymbolKind::Impl) && self.owner(*block) == Some(at);
            named.iter().copied().filter(is_block).collect()
        })
    }

    /// The declaration that stands for all of a type that is declared several times.
    pub(super) fn main_of(&self, at: SymbolAt) -> SymbolAt {
        if !self.opens_types() {
            return at;
        }
        self.mains.once(&at, || {
            let mut all = self.same_named(at);
            all.push(at);
            all.sort_unstable_by_key(|at| (at.file, at.place));
            self.main(all).first().copied().unwrap_or(at)
        })
    }

    fn bases_of_part(&self, at: SymbolAt) -> Vec<Type> {
        let Some(file) = self.file(at.file) else { return Vec::new() };
        let Some(symbol) = file.symbol(at.place) else { return Vec::new() };
        let around = self.class_of(&file, symbol.parent);
        symbol.bases.iter().map(|&base| self.type_at(&file, around, base)).collect()
    }

    /// What stands for the type parameters of a symbol.
    pub(super) fn arguments(&self, at: SymbolAt, arguments: &[Type]) -> Arguments {
        let Some(file) = self.file(at.file) else { return Arguments::new() };
        let params = file.type_params(at.place).iter().map(|&binding| (at.file, binding));
        params.zip(arguments.iter().cloned()).collect()
    }

    /// The bound of a type parameter.
    pub(super) fn bound(&self, file: VersionId, binding: u32) -> Type {
        let Some(file) = self.file(file) else { return Type::Unknown };
        let Some(of) = file.binding(binding) else { return Type::Unknown };
        match (of.annotation, self.root()) {
            (Some(bound), _) => self.type_at(&file, self.class_of(&file, of.symbol), bound),
            (None, Some(root)) => Type::named(root),
            (None, None) => Type::Unknown,
        }
    }

    /// The members that are meant: of the nearest type that has any that the arguments fit.
    pub(super) fn pick(&self, levels: &Levels, given: Option<&Given>, want: Want) -> Vec<SymbolAt> {
        let Some(given) = given.filter(|_| want == Want::Call) else {
            return levels.levels.first().map_or_else(Vec::new, |(found, _)| found.clone());
        };
        if self.scoping.labels {
            let found = levels.levels.iter().map(|(found, with)| (self.labelled(found, given), with.clone()));
            let levels = Levels { levels: found.filter(|(found, _)| !found.is_empty()).collect(), ..Levels::default() };
            return self.pick_by_types(&levels, given);
        }
        self.pick_by_types(levels, given)
    }

    fn pick_by_types(&self, levels: &Levels, given: &[Type]) -> Vec<SymbolAt> {
        // All levels are judged together; what is declared again further down hides what it overrides.
        let mut all: Vec<SymbolAt> = Vec::new();
        for (found, _) in &levels.levels {
            let is_hidden = |at: &SymbolAt| all.iter().any(|known| self.takes_the_same(*known, *at));
            let open: Vec<SymbolAt> = found.iter().copied().filter(|at| !is_hidden(at)).collect();
            all.extend(open);
        }
        let fitting = self.fitting_overloads(&all, given);
        if !fitting.is_empty() {
            return fitting;
        }
        let takes_as_many = |at: &SymbolAt| match self.symbol_type(*at) {
            Type::Func(of) => takes(&of, given.len()),
            _ => true,
        };
        let near = levels.levels.iter().map(|(found, _)| found.iter().copied().filter(takes_as_many).collect());
        let mut near = near.filter(|found: &Vec<SymbolAt>| !found.is_empty());
        if self.scoping.counts_arguments && (levels.outside || levels.unknown) {
            return near.next().unwrap_or_default();
        }
        near.next().or_else(|| levels.levels.first().map(|(found, _)| found.clone())).unwrap_or_default()
    }

    /// A type seen as one that it is made from.
    pub(super) fn seen_as(&self, of: &Type, wanted: SymbolAt) -> Option<Type> {
        let mut open = vec![of.clone()];
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_TYPES) {
            next += 1;
            let _deeper = self.course.deeper()?;
            match of {
                Type::Named(at, _) if at == wanted => return Some(of),
                Type::Named(at, arguments) => {
                    let with = self.arguments(at, &arguments);
                    open.extend(self.bases(at).iter().map(|base| base.with(&with)));
                }
                Type::Param(file, binding) => open.push(self.bound(file, binding)),
                _ => {}
            }
        }
        None
    }

    /// Whether nobody knows all that a type is made from.
    pub(super) fn is_open(&self, of: &Type) -> bool {
        let mut open = vec![of.clone()];
        let mut next = 0;
        while let Some(of) = open.get(next).cloned().filter(|_| open.len() < MAX_TYPES) {
            next += 1;
            match of {
                Type::Named(at, _) => open.extend(self.bases(at).iter().cloned()),
                Type::External | Type::Unknown => return true,
                _ => {}
            }
        }
        false
    }
}
