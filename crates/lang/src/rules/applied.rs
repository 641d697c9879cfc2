//! Objects and values that are called: modules beside types of the same name, `apply`, and functions that take nothing and are
//! called by their name alone.

use codecompass_model::{SymbolAt, SymbolKind};

use super::engine::{Engine, File, is_type};
use super::members::Want;
use super::overloads::Given;
use super::types::Type;
use super::values::Value;

impl Engine<'_> {
    /// Of symbols of one name the module, which is a value, or the first.
    pub(super) fn value_first(&self, all: &[SymbolAt]) -> Option<SymbolAt> {
        let module = all.iter().find(|at| self.scoping.objects && self.kind(**at) == Some(SymbolKind::Module));
        module.or(all.first()).copied()
    }

    /// The names that a module may have which a file imports: as seen from its package, from the inside, and from nowhere.
    pub(super) fn modules(&self, file: &File, module: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut package = file.package.as_str();
        while self.scoping.relative_imports && !package.is_empty() {
            all.push(self.joined(package, module));
            package = package.rsplit_once(self.scoping.separator).map_or("", |(outer, _)| outer);
        }
        all.push(module.to_owned());
        all
    }

    /// The module that bears the name of a type, or is it.
    fn module_of(&self, of: SymbolAt) -> Option<SymbolAt> {
        if self.kind(of)? == SymbolKind::Module {
            return Some(of);
        }
        let file = self.file(of.file)?;
        let all = self.find_qualified(&file.symbol(of.place)?.qualified_name);
        all.iter().copied().find(|at| self.kind(*at) == Some(SymbolKind::Module))
    }

    /// What is called by the name of a type or a module: the `apply` of the module that the arguments fit.
    pub(super) fn applies(&self, of: SymbolAt, given: Option<&Given>) -> Option<Vec<SymbolAt>> {
        if !self.kind(of).is_some_and(is_type) {
            return None;
        }
        let module = self.module_of(of)?;
        let levels = self.members(&Type::named(module), "apply", Want::Call);
        let all: Vec<SymbolAt> = levels.all().collect();
        let fitting = match given {
            Some(given) => self.fitting_overloads(&all, given),
            None => all.clone(),
        };
        // What is a module alone is called by nothing else.
        let is_alone = module == of && !all.is_empty();
        if fitting.is_empty() && is_alone { Some(all) } else { Some(fitting).filter(|all| !all.is_empty()) }
    }

    /// What a call of a type or a module gives.
    pub(super) fn called_object(&self, of: Type, given: &Given) -> Type {
        let Type::Named(at, _) = &of else { return of };
        if let Some(by) = self.applies(*at, Some(given)).and_then(|all| all.first().copied())
            && let Type::Func(by) = self.symbol_type(by)
        {
            return self.result(&by, &Vec::new(), given);
        }
        // The class that bears the name of the module.
        let named = self.file(at.file).and_then(|file| file.symbol(at.place).map(|of| of.qualified_name.clone()));
        let class = named.map(|named| self.find_qualified(&named));
        let class = class.and_then(|all| all.iter().copied().find(|at| self.kind(*at) == Some(SymbolKind::Class)));
        self.made(&class.map_or(of, Type::named), given)
    }

    /// What a call of a value gives: of a function, or of its `apply`.
    pub(super) fn called_value(&self, of: &Type, given: &Given) -> Type {
        if let Some(of) = self.function_of(of) {
            return of.result.clone();
        }
        match of {
            Type::External => Type::External,
            of => match self.methods(of, "apply") {
                Some(Value::Functions(all, with)) => {
                    let by = self.overloads(&all, given).first().map(|by| self.symbol_type(*by));
                    if let Some(Type::Func(by)) = by { self.result(&by, &with, given) } else { Type::Unknown }
                }
                _ => Type::Unknown,
            },
        }
    }

    /// A function that takes nothing and is not called stands for what it gives.
    pub(super) fn settled(&self, of: Value) -> Value {
        let Value::Functions(all, with) = &of else { return of };
        if !self.scoping.bare_calls {
            return of;
        }
        let bare = all.iter().find_map(|at| match self.symbol_type(*at) {
            Type::Func(by) if by.params.is_empty() => Some(self.result(&by, with, &[])),
            _ => None,
        });
        bare.map_or(of, Value::Of)
    }
}
