//! Calls of objects and values: modules beside types of the same name, `apply`, and functions without parameters that
//! are called by their bare name.

use codecompass_model::{SymbolAt, SymbolKind};

use super::engine::{Engine, File, is_type};
use super::members::LookupKind;
use super::overloads::CallArgs;
use super::types::Type;
use super::values::Value;

impl Engine<'_> {
    /// Returns the module among symbols with one name, because it is a value; else the first symbol.
    pub(super) fn prefer_module(&self, all: &[SymbolAt]) -> Option<SymbolAt> {
        let module =
            all.iter().find(|at| self.policy.modules_are_objects && self.kind(**at) == Some(SymbolKind::Module));
        module.or(all.first()).copied()
    }

    /// Returns the possible full names of an imported module: relative to the packages of the file, from the inside,
    /// and absolute.
    pub(super) fn modules(&self, file: &File, module: &str) -> Vec<String> {
        let mut all = Vec::new();
        let mut package = file.package.as_str();
        while self.policy.relative_imports && !package.is_empty() {
            all.push(self.join_qualified(package, module));
            package = package.rsplit_once(self.policy.separator).map_or("", |(outer, _)| outer);
        }
        all.push(module.to_owned());
        all
    }

    /// Returns the module with the name of a type, or the symbol itself if it is a module.
    fn module_of(&self, of: SymbolAt) -> Option<SymbolAt> {
        if self.kind(of)? == SymbolKind::Module {
            return Some(of);
        }
        let file = self.file(of.file)?;
        let all = self.find_qualified(&file.symbol(of.ordinal)?.qualified_name);
        all.iter().copied().find(|at| self.kind(*at) == Some(SymbolKind::Module))
    }

    /// Returns the targets of a call by the name of a type or module: the `apply` methods of the module that match the
    /// arguments.
    pub(super) fn apply_targets(&self, of: SymbolAt, given: Option<&CallArgs>) -> Option<Vec<SymbolAt>> {
        if !self.kind(of).is_some_and(is_type) {
            return None;
        }
        let module = self.module_of(of)?;
        let levels = self.members(&Type::named(module), "apply", LookupKind::Call);
        let all: Vec<SymbolAt> = levels.all().collect();
        let fitting = match given {
            Some(given) => self.fitting_overloads(&all, given),
            None => all.clone(),
        };
        // A symbol that is only a module has no other targets.
        let is_alone = module == of && !all.is_empty();
        if fitting.is_empty() && is_alone { Some(all) } else { Some(fitting).filter(|all| !all.is_empty()) }
    }

    /// Returns the result type of a call of a type or module.
    pub(super) fn object_call_result(&self, of: Type, given: &CallArgs) -> Type {
        let Type::Named(at, _) = &of else { return of };
        if let Some(by) = self.apply_targets(*at, Some(given)).and_then(|all| all.first().copied())
            && let Type::Func(by) = self.symbol_type(by)
        {
            return self.result(&by, &Vec::new(), given);
        }
        // The class with the name of the module.
        let named = self.file(at.file).and_then(|file| file.symbol(at.ordinal).map(|of| of.qualified_name.clone()));
        let class = named.map(|named| self.find_qualified(&named));
        let class = class.and_then(|all| all.iter().copied().find(|at| self.kind(*at) == Some(SymbolKind::Class)));
        self.constructed_type(&class.map_or(of, Type::named), given)
    }

    /// Returns the result type of a call of a value: of a function, or of its `apply`.
    pub(super) fn value_call_result(&self, of: &Type, given: &CallArgs) -> Type {
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

    /// Replaces a function without parameters that is not called by its result.
    pub(super) fn auto_applied(&self, of: Value) -> Value {
        let Value::Functions(all, with) = &of else { return of };
        if !self.policy.bare_calls {
            return of;
        }
        let bare = all.iter().find_map(|at| match self.symbol_type(*at) {
            Type::Func(by) if by.params.is_empty() => Some(self.result(&by, with, &[])),
            _ => None,
        });
        bare.map_or(of, Value::Typed)
    }
}
