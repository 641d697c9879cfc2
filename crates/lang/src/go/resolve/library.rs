//! The generic part of the standard library, which returns the caller's own types.
//!
//! Other external functions return external types, and their members are no edges; but `slices.Clone(routes)` is a
//! list of routes. The stubs are Go (`library.stubs`) and become facts like any file; their type parameters belong to
//! files that no view has.

use std::rc::Rc;

use codecompass_model::{
    BindingKind, Expr, ExprId, FileFacts, FuncExpr, LexicalTarget, Symbol, SymbolKind, VersionId, Wrap,
};

use super::predeclared::{self, Predeclared};
use super::types::{Arguments, FuncType, Type};
use crate::extraction::library_facts;
use crate::go::LANGUAGE;

const STUBS: &str = include_str!("library.stubs");

/// A type of the library: its package and its index in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LibraryType {
    package: u16,
    place: u16,
}

/// The stubs as facts.
pub(super) struct Library {
    packages: Vec<Package>,
}

struct Package {
    path: &'static str,
    /// The file that its type parameters belong to: one that no view has.
    id: VersionId,
    facts: FileFacts,
}

impl Library {
    /// Reads the stubs.
    pub(super) fn read() -> Self {
        let texts = STUBS.split("\n== ").skip(1).filter_map(|text| text.split_once('\n'));
        let package = |(at, (path, text)): (usize, (&'static str, &str))| {
            let facts = library_facts(&LANGUAGE, "stubs.go", text);
            Package { path, id: VersionId::MAX - at as VersionId, facts }
        };
        Self { packages: texts.enumerate().map(package).collect() }
    }

    fn package(&self, path: &str) -> Option<(u16, &Package)> {
        let at = self.packages.iter().position(|package| package.path == path)?;
        Some((at as u16, &self.packages[at]))
    }

    /// Returns the type of a function of the library.
    pub(super) fn function(&self, path: &str, name: &str) -> Option<Type> {
        let (_, package) = self.package(path)?;
        let (place, symbol) = package.find(name, |symbol| symbol.kind == SymbolKind::Fn)?;
        let own = package.params_of(place).collect();
        Some(package.function(symbol, own))
    }

    /// Returns a type of the library.
    pub(super) fn find_type(&self, path: &str, name: &str) -> Option<LibraryType> {
        let (at, package) = self.package(path)?;
        let is_type = |symbol: &Symbol| matches!(symbol.kind, SymbolKind::Type | SymbolKind::Struct);
        let (place, _) = package.find(name, is_type)?;
        Some(LibraryType { package: at, place: place as u16 })
    }

    /// Returns the underlying type of a library type.
    pub(super) fn underlying(&self, at: LibraryType, arguments: &[Type]) -> Type {
        let package = &self.packages[at.package as usize];
        let is = package.facts.symbols[at.place as usize].annotation;
        let of = is.map_or(Type::Basic("any"), |is| package.type_of(is));
        of.with(&package.type_arguments(u32::from(at.place), arguments))
    }

    /// Returns the type of a method of a library type; methods without a stub return no types of the caller.
    pub(super) fn method(&self, at: LibraryType, name: &str, arguments: &[Type]) -> Type {
        let package = &self.packages[at.package as usize];
        let of = &package.facts.symbols[at.place as usize].name;
        let is_its = |symbol: &Symbol| symbol.owner.and_then(|owner| package.facts.head_name(owner)) == Some(of);
        match package.find(name, is_its) {
            Some((place, symbol)) => {
                package.function(symbol, Vec::new()).with(&package.type_arguments(place, arguments))
            }
            None => Type::External,
        }
    }
}

impl Package {
    fn find(&self, name: &str, fits: impl Fn(&Symbol) -> bool) -> Option<(u32, &Symbol)> {
        let at = self.facts.symbols.iter().position(|symbol| symbol.name == name && fits(symbol))?;
        Some((at as u32, &self.facts.symbols[at]))
    }

    /// Returns the type parameters of a symbol.
    fn params_of(&self, place: u32) -> impl Iterator<Item = (VersionId, u32)> + '_ {
        let bindings = self.facts.bindings.iter().enumerate();
        let params = bindings.filter(move |(_, of)| of.kind == BindingKind::TypeParam && of.symbol == Some(place));
        params.map(|(at, _)| (self.id, at as u32))
    }

    /// Returns the type parameters of a symbol with their arguments.
    fn type_arguments(&self, place: u32, arguments: &[Type]) -> Arguments {
        self.params_of(place).zip(arguments.iter().cloned()).collect()
    }

    fn function(&self, symbol: &Symbol, own: Vec<(VersionId, u32)>) -> Type {
        match symbol.annotation.map(|of| self.facts.expr(of)) {
            Some(Expr::Func(of)) => Type::Func(Rc::new(FuncType { type_params: own, ..self.func_type(of) })),
            _ => Type::Unknown,
        }
    }

    /// Returns a type of the stubs, which contain no names except type parameters and predeclared types.
    fn type_of(&self, id: ExprId) -> Type {
        let one = |of: &ExprId| Rc::new(self.type_of(*of));
        match self.facts.expr(id) {
            Expr::Name { seen: LexicalTarget::Local(param), .. } => Type::Param(self.id, *param),
            Expr::Name { name, .. } => match predeclared::find(self.facts.name(*name)) {
                Some(Predeclared::Type(basic)) => Type::Basic(basic),
                _ => Type::External,
            },
            Expr::Wrap { how: Wrap::Deref, of } => Type::Pointer(one(of)),
            Expr::List(of) => Type::List(one(of)),
            Expr::Map { key, value } => Type::Map(Rc::new((self.type_of(*key), self.type_of(*value)))),
            Expr::Func(of) => Type::Func(Rc::new(self.func_type(of))),
            _ => Type::External,
        }
    }

    fn func_type(&self, of: &FuncExpr) -> FuncType {
        let all = |list: &[ExprId]| list.iter().map(|of| self.type_of(*of)).collect();
        FuncType { type_params: Vec::new(), params: all(&of.params), variadic: of.variadic, results: all(&of.results) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stubs_substitute_type_arguments() {
        let library = Library::read();
        assert!(library.packages.len() > 5);
        for package in &library.packages {
            assert_eq!(package.facts.problems, [], "{}", package.path);
            for (place, symbol) in package.facts.symbols.iter().enumerate() {
                let what = format!("{}.{}", package.path, symbol.name);
                assert!(package.params_of(place as u32).next().is_some(), "{what} has no type parameter");
                match symbol.kind {
                    SymbolKind::Fn | SymbolKind::Method => {
                        let Type::Func(of) = package.function(symbol, Vec::new()) else { panic!("{what}") };
                        assert!(Type::results(&of.results).has_type_params(), "{what}");
                    }
                    _ => assert!(library.find_type(package.path, &symbol.name).is_some(), "{what}"),
                }
            }
        }
        assert!(library.function("slices", "Clone").is_some() && library.function("slices", "None").is_none());
    }
}
