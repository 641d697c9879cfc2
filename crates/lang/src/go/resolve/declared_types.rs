//! The types of symbols, local bindings and type parameters: by their declaration, else by their value.

use std::rc::Rc;

use codecompass_model::{Expr, SymbolAt, SymbolKind, VersionId};

use super::GoResolver;
use super::packages::{FileIndex, is_function};
use super::types::{Arguments, Type};

impl GoResolver<'_> {
    /// Returns the type of a symbol: of a variable, a constant, a field, a function; the definition of a declared type.
    pub(super) fn symbol_type(&self, at: SymbolAt) -> Type {
        self.symbol_types.compute_cyclic(&self.query_stack, at, Type::Unknown, || {
            self.file(at.file).map_or(Type::Unknown, |file| self.type_of_symbol(&file, at.ordinal))
        })
    }

    fn type_of_symbol(&self, file: &Rc<FileIndex>, place: u32) -> Type {
        let Some(symbol) = file.symbol(place) else { return Type::Unknown };
        match (symbol.annotation.map(|of| (of, file.facts().expr(of))), symbol.value) {
            (Some((_, Expr::Func(of))), _) if is_function(symbol) => {
                let is_method = symbol.kind == SymbolKind::Method;
                let own = file.type_params(place).iter().filter(|_| !is_method);
                self.func_type(file, of, own.map(|&param| (file.id(), param)).collect())
            }
            (Some((of, _)), _) => self.type_at(file, of),
            (None, Some(value)) => match self.value(file, value).into_type() {
                Type::Tuple(list) => list.first().cloned().unwrap_or(Type::Unknown),
                of => of,
            },
            (None, None) => Type::Unknown,
        }
    }

    /// Returns the type of a local binding.
    pub(super) fn binding_type(&self, file: &Rc<FileIndex>, at: u32) -> Type {
        let key = (file.id(), at);
        self.binding_types.compute_cyclic(&self.query_stack, key, Type::Unknown, || self.type_of_binding(file, at))
    }

    fn type_of_binding(&self, file: &Rc<FileIndex>, at: u32) -> Type {
        let Some(binding) = file.facts().bindings.get(at as usize) else { return Type::Unknown };
        match (binding.annotation, binding.value) {
            (Some(annotation), _) => self.type_at(file, annotation),
            (None, Some(value)) => self.part_type(&self.value(file, value).into_type(), binding.part),
            (None, None) => Type::Unknown,
        }
    }

    /// Returns the bound of a type parameter.
    pub(super) fn bound(&self, file: VersionId, binding: u32) -> Type {
        let Some(index) = self.file(file) else { return Type::Unknown };
        let Some(of) = index.facts().bindings.get(binding as usize) else { return Type::Unknown };
        match of.annotation {
            Some(annotation) => self.type_at(&index, annotation),
            None => self.receiver_bound(&index, binding),
        }
    }

    /// Returns the bound of a type parameter that a method renames in its receiver; the type declares it.
    fn receiver_bound(&self, file: &Rc<FileIndex>, binding: u32) -> Type {
        let method = file.facts().bindings.get(binding as usize).and_then(|binding| binding.symbol);
        let position = method.and_then(|method| file.type_params(method).iter().position(|&param| param == binding));
        let declared = method.and_then(|method| self.receiver_of(file, method));
        let (Some(position), Some(declared)) = (position, declared) else { return Type::Unknown };
        let Some(index) = self.file(declared.file) else { return Type::Unknown };
        match index.type_params(declared.ordinal).get(position) {
            Some(&param) if (index.id(), param) != (file.id(), binding) => self.bound(index.id(), param),
            _ => Type::Unknown,
        }
    }

    /// Returns the type that a method is declared for.
    pub(super) fn receiver_of(&self, file: &Rc<FileIndex>, method: u32) -> Option<SymbolAt> {
        let name = file.receiver(file.symbol(method)?)?;
        self.package_of(file)?.find(name).first().copied()
    }

    /// Returns the arguments for the type parameters of a declared type or of its methods.
    pub(super) fn arguments(&self, symbol: SymbolAt, arguments: &[Type]) -> Arguments {
        if arguments.is_empty() {
            return Arguments::new();
        }
        let Some(index) = self.file(symbol.file) else { return Arguments::new() };
        let params = index.type_params(symbol.ordinal).iter();
        params.zip(arguments).map(|(&param, argument)| ((symbol.file, param), argument.clone())).collect()
    }
}
