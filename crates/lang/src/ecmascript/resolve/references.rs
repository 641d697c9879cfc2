//! Resolves references by their shape.

use codecompass_model::{Confidence, RefShape, Reference, Resolution, SymbolAt, SymbolKind, VersionId};

use super::EcmaResolver;
use super::index::{Index, is_member};
use super::members::Member;
use super::names::{NameTarget, Space};
use super::types::{Scope, Type};
use crate::resolve::imports;

impl EcmaResolver<'_> {
    /// Resolves a reference.
    pub(super) fn reference_resolution(&self, file: VersionId, at: u32) -> Resolution {
        let Some(index) = self.index(file) else { return Resolution::Unknown("no such file") };
        let Some(reference) = index.file.facts.references.get(at as usize) else {
            return Resolution::Unknown("no such reference");
        };
        match reference.shape {
            RefShape::Binds => return Resolution::Local,
            RefShape::Import => return self.import_name_resolution(&index, reference),
            RefShape::Mention => return Resolution::Unknown("names here are not resolved"),
            _ => {}
        }
        let scope = Scope::new(file, reference.symbol, reference.line);
        let name = index.name(reference.name);
        let space = space_of(reference.shape);
        match reference.qualifier.map(|at| index.expr_text(at)) {
            None => self.bare_name_resolution(&index, reference, name, &scope, space),
            Some(path) if space == Space::Type => self.path_resolution(&scope, path, name),
            Some(receiver) => self.on_receiver(&index, reference, receiver, name, &scope),
        }
    }

    /// Resolves a name in an import or a re-export.
    fn import_name_resolution(&self, index: &Index, reference: &Reference) -> Resolution {
        match imports::import_name_at(&index.file.facts, reference) {
            Some(imports::ImportName::Imported(at)) => self.import_resolution(index.file.id, at),
            _ => Resolution::Unknown("names here are not resolved"),
        }
    }

    /// Resolves an import.
    pub(super) fn import_resolution(&self, file: VersionId, at: u32) -> Resolution {
        let target = match self.imported(file, at, Space::Value) {
            NameTarget::Unresolved => self.imported(file, at, Space::Type),
            found => found,
        };
        target_resolution(target, "import")
    }

    /// Resolves a bare name.
    fn bare_name_resolution(
        &self,
        index: &Index,
        reference: &Reference,
        name: &str,
        scope: &Scope,
        space: Space,
    ) -> Resolution {
        if reference.shape == RefShape::Member {
            return Resolution::Unknown("a key of a literal or pattern of unknown type");
        }
        if reference.binding.is_some() {
            return Resolution::Local;
        }
        if name == "super" {
            return match self.value("super", scope) {
                Type::Instance(class, _) => Resolution::proved(class, "base class"),
                Type::External => Resolution::External,
                _ => Resolution::Unknown("base class not found"),
            };
        }
        let mut target = self.nonlocal_target(index, scope, name, space);
        if is_called(reference.shape) {
            target = self.call_target(target);
        }
        // A name in a type position may be a value, and vice versa: `typeof x`, `export { T }`.
        if matches!(target, NameTarget::External | NameTarget::Unresolved) {
            let other = if space == Space::Type { Space::Value } else { Space::Type };
            let is_open = matches!(reference.shape, RefShape::Value | RefShape::Type | RefShape::Extends);
            match self.nonlocal_target(index, scope, name, other) {
                found @ (NameTarget::Symbols(_) | NameTarget::Module(_)) if is_open => target = found,
                _ => {}
            }
        }
        match (reference.shape, target) {
            (RefShape::Construct, NameTarget::Symbols(classes)) => {
                target_resolution(NameTarget::Symbols(self.with_constructors(classes)), "scope")
            }
            (_, target) => target_resolution(target, "scope"),
        }
    }

    /// Adds the constructors of classes: where an instance is constructed, both are the target.
    fn with_constructors(&self, classes: Vec<SymbolAt>) -> Vec<SymbolAt> {
        let constructors = |class: &SymbolAt| {
            let index = self.index(class.file);
            let places = index.map_or(Vec::new(), |index| index.named(Some(class.ordinal), "constructor").to_vec());
            let file = class.file;
            places.into_iter().map(move |place| SymbolAt { file, ordinal: place })
        };
        let found: Vec<SymbolAt> = classes.iter().flat_map(constructors).collect();
        let is_constructor = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Constructor);
        let found: Vec<SymbolAt> = found.into_iter().filter(is_constructor).collect();
        classes.into_iter().chain(found).collect()
    }

    /// Resolves a type in a namespace or module.
    fn path_resolution(&self, scope: &Scope, path: &str, name: &str) -> Resolution {
        match self.path(scope, &format!("{path}.{name}"), Space::Type) {
            NameTarget::Unresolved => {
                target_resolution(self.path(scope, &format!("{path}.{name}"), Space::Value), "scope")
            }
            target => target_resolution(target, "scope"),
        }
    }

    /// Resolves a member of a receiver text.
    fn on_receiver(
        &self,
        index: &Index,
        reference: &Reference,
        receiver: &str,
        name: &str,
        scope: &Scope,
    ) -> Resolution {
        let of = match reference.binding.filter(|_| is_single_name(receiver)) {
            Some(at) => self.binding_type(index.file.id, at),
            None => self.value(receiver, scope),
        };
        match self.member(&of, name) {
            Member::Symbols(symbols) => {
                let mut targets: Vec<SymbolAt> = symbols.into_iter().map(|(at, _)| at).collect();
                targets.sort();
                targets.dedup();
                if reference.shape == RefShape::Construct {
                    targets = self.with_constructors(targets);
                }
                Resolution::Symbols { targets, confidence: Confidence::Static, why: "member of the receiver's type" }
            }
            Member::Typed(Type::Module(file)) => Resolution::Module(vec![file]),
            Member::Typed(_) | Member::External if self.is_narrowed(index, reference, receiver) => {
                Resolution::Unknown("the receiver is narrowed to another type")
            }
            Member::Typed(_) | Member::External => Resolution::External,
            Member::Inline(_) => Resolution::Unknown("a member of a type without a name"),
            Member::Missing => Resolution::Unknown("the type has no such member"),
            Member::Unknown => Resolution::Unknown("the type of the receiver is unknown"),
        }
    }
}

impl EcmaResolver<'_> {
    /// Returns whether the enclosing function checks its receiver with `instanceof`: then the declared type may no
    /// longer apply. This matters only if the view has a member of that name.
    fn is_narrowed(&self, index: &Index, reference: &Reference, receiver: &str) -> bool {
        let has_member = || {
            let bearers = self.world.symbols_named(index.name(reference.name));
            bearers.iter().any(|&at| self.kind(at).is_some_and(is_member))
        };
        let Some(text) = (has_member()).then(|| self.world.text(index.file.id)).flatten() else { return false };
        let around = reference.symbol.and_then(|at| index.symbol(at)).map(|symbol| symbol.span.text(&text));
        let asked = format!("{receiver} instanceof ");
        around.unwrap_or(&text).contains(&asked)
    }
}

/// Returns the resolution of a target.
pub(super) fn target_resolution(target: NameTarget, why: &'static str) -> Resolution {
    match target {
        NameTarget::Local(..) => Resolution::Local,
        NameTarget::Symbols(targets) => Resolution::Symbols { targets, confidence: Confidence::Static, why },
        NameTarget::Module(file) => Resolution::Module(vec![file]),
        NameTarget::External => Resolution::External,
        NameTarget::Unresolved => Resolution::Unknown("not found"),
    }
}

fn space_of(shape: RefShape) -> Space {
    match shape {
        RefShape::Type | RefShape::Implements => Space::Type,
        _ => Space::Value,
    }
}

/// Returns whether a name of this shape means what a module exports as a whole, not the module.
fn is_called(shape: RefShape) -> bool {
    matches!(shape, RefShape::Call | RefShape::Construct | RefShape::Jsx | RefShape::Decorator | RefShape::Extends)
}

/// Returns whether a text is one name.
fn is_single_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}
