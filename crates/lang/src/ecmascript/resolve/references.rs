//! Resolves references by their shape.

use codecompass_model::{Confidence, Meaning, RefShape, Reference, SymbolAt, SymbolKind, VersionId};

use super::Rules;
use super::index::{Index, is_member};
use super::members::Member;
use super::names::{Space, Target};
use super::types::{Scope, Type};
use crate::resolve::imports;

impl Rules<'_> {
    /// Resolves a reference.
    pub(super) fn referred(&self, file: VersionId, at: u32) -> Meaning {
        let Some(index) = self.index(file) else { return Meaning::Unknown("no such file") };
        let Some(reference) = index.file.facts.references.get(at as usize) else {
            return Meaning::Unknown("no such reference");
        };
        match reference.shape {
            RefShape::Binds => return Meaning::Local,
            RefShape::Import => return self.in_import(&index, reference),
            RefShape::Mention => return Meaning::Unknown("no rule reads a name here"),
            _ => {}
        }
        let scope = Scope::new(file, reference.symbol, reference.line);
        let name = index.name(reference.name);
        let space = space_of(reference.shape);
        match reference.qualifier.map(|at| index.written(at)) {
            None => self.bare(&index, reference, name, &scope, space),
            Some(path) if space == Space::Type => self.in_path(&scope, path, name),
            Some(receiver) => self.on_receiver(&index, reference, receiver, name, &scope),
        }
    }

    /// Resolves a name in an import or a re-export.
    fn in_import(&self, index: &Index, reference: &Reference) -> Meaning {
        match imports::part(&index.file.facts, reference) {
            Some(imports::Part::Whole(at)) => self.import_meaning(index.file.id, at),
            _ => Meaning::Unknown("no rule reads a name here"),
        }
    }

    /// Resolves an import.
    pub(super) fn import_meaning(&self, file: VersionId, at: u32) -> Meaning {
        let target = match self.imported(file, at, Space::Value) {
            Target::Nobody => self.imported(file, at, Space::Type),
            found => found,
        };
        meaning(target, "import")
    }

    /// Resolves a bare name.
    fn bare(&self, index: &Index, reference: &Reference, name: &str, scope: &Scope, space: Space) -> Meaning {
        if reference.shape == RefShape::Member {
            return Meaning::Unknown("a key of a literal or pattern of unknown type");
        }
        if reference.binding.is_some() {
            return Meaning::Local;
        }
        if name == "super" {
            return match self.value("super", scope) {
                Type::Instance(class, _) => Meaning::proved(class, "base class"),
                Type::External => Meaning::External,
                _ => Meaning::Unknown("base class not found"),
            };
        }
        let mut target = self.symbols(index, scope, name, space);
        if is_called(reference.shape) {
            target = self.called_target(target);
        }
        // A name in a type position may be a value, and vice versa: `typeof x`, `export { T }`.
        if matches!(target, Target::External | Target::Nobody) {
            let other = if space == Space::Type { Space::Value } else { Space::Type };
            let is_open = matches!(reference.shape, RefShape::Value | RefShape::Type | RefShape::Extends);
            match self.symbols(index, scope, name, other) {
                found @ (Target::Symbols(_) | Target::Module(_)) if is_open => target = found,
                _ => {}
            }
        }
        match (reference.shape, target) {
            (RefShape::Construct, Target::Symbols(classes)) => {
                meaning(Target::Symbols(self.with_constructors(classes)), "scope")
            }
            (_, target) => meaning(target, "scope"),
        }
    }

    /// Adds the constructors of classes: where an instance is constructed, both are the target.
    fn with_constructors(&self, classes: Vec<SymbolAt>) -> Vec<SymbolAt> {
        let constructors = |class: &SymbolAt| {
            let index = self.index(class.file);
            let places = index.map_or(Vec::new(), |index| index.named(Some(class.place), "constructor").to_vec());
            let file = class.file;
            places.into_iter().map(move |place| SymbolAt { file, place })
        };
        let found: Vec<SymbolAt> = classes.iter().flat_map(constructors).collect();
        let is_constructor = |at: &SymbolAt| self.kind(*at) == Some(SymbolKind::Constructor);
        let found: Vec<SymbolAt> = found.into_iter().filter(is_constructor).collect();
        classes.into_iter().chain(found).collect()
    }

    /// Resolves a type in a namespace or module.
    fn in_path(&self, scope: &Scope, path: &str, name: &str) -> Meaning {
        match self.path(scope, &format!("{path}.{name}"), Space::Type) {
            Target::Nobody => meaning(self.path(scope, &format!("{path}.{name}"), Space::Value), "scope"),
            target => meaning(target, "scope"),
        }
    }

    /// Resolves a member of a receiver text.
    fn on_receiver(&self, index: &Index, reference: &Reference, receiver: &str, name: &str, scope: &Scope) -> Meaning {
        let of = match reference.binding.filter(|_| is_plain(receiver)) {
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
                Meaning::Symbols { targets, confidence: Confidence::Static, why: "member of the receiver's type" }
            }
            Member::Typed(Type::Module(file)) => Meaning::Module(vec![file]),
            Member::Typed(_) | Member::External if self.is_narrowed(index, reference, receiver) => {
                Meaning::Unknown("the receiver is narrowed to another type")
            }
            Member::Typed(_) | Member::External => Meaning::External,
            Member::Inline(_) => Meaning::Unknown("a member of a type without a name"),
            Member::Missing => Meaning::Unknown("the type has no such member"),
            Member::Unknown => Meaning::Unknown("receiver's type not known"),
        }
    }
}

impl Rules<'_> {
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
pub(super) fn meaning(target: Target, why: &'static str) -> Meaning {
    match target {
        Target::Local(..) => Meaning::Local,
        Target::Symbols(targets) => Meaning::Symbols { targets, confidence: Confidence::Static, why },
        Target::Module(file) => Meaning::Module(vec![file]),
        Target::External => Meaning::External,
        Target::Nobody => Meaning::Unknown("not found"),
    }
}

fn space_of(shape: RefShape) -> Space {
    match shape {
        RefShape::Type | RefShape::Implements => Space::Type,
        _ => Space::Value,
    }
}

fn is_called(shape: RefShape) -> bool {
    matches!(shape, RefShape::Call | RefShape::Construct | RefShape::Jsx | RefShape::Decorator)
}

/// Returns whether a text is one name.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}
