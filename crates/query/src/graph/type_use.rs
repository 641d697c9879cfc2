//! How a type is used where it is referenced.

use codecompass_model::{BindingKind, Confidence, RefShape, SourceFile, Symbol, SymbolAt, SymbolKind};

use super::{EdgeKind, Graph, Site};

/// A use of a type, in the order of lists: what makes values of it, then what depends on its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TypeUse {
    /// A value of it is made.
    Constructs,
    /// It is implemented.
    Implements,
    /// It is extended.
    Extends,
    /// It is the type of a field.
    Field,
    /// It is in the parameters or the result of a function.
    Signature,
    /// Any other use: a variable, a type argument, a static member.
    Other,
    /// It is imported.
    Imports,
    /// The reference is unconfirmed.
    Possible,
}

impl TypeUse {
    /// The heading of such uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            TypeUse::Constructs => "constructs",
            TypeUse::Implements => "implements",
            TypeUse::Extends => "extends",
            TypeUse::Field => "fields",
            TypeUse::Signature => "parameters and results",
            TypeUse::Other => "other uses",
            TypeUse::Imports => "imports",
            TypeUse::Possible => "possible",
        }
    }
}

impl Graph<'_> {
    /// Whether a symbol is a type.
    pub fn is_type(&self, target: SymbolAt) -> bool {
        let file = self.file(target.file);
        let symbol = file.as_ref().and_then(|file| file.facts.symbols.get(target.ordinal as usize));
        symbol.is_some_and(|symbol| is_type(symbol.kind))
    }

    /// Returns how a type is used at a site.
    pub fn type_use(&self, site: &Site) -> TypeUse {
        if site.confidence == Confidence::Heuristic {
            return TypeUse::Possible;
        }
        match (site.kind, site.shape) {
            (EdgeKind::Imports, _) => TypeUse::Imports,
            (EdgeKind::Implements, _) => TypeUse::Implements,
            (EdgeKind::Extends, _) => TypeUse::Extends,
            (EdgeKind::Calls, _) | (_, RefShape::Construct) => TypeUse::Constructs,
            (_, RefShape::Type) => self.type_position(site).unwrap_or(TypeUse::Other),
            _ => TypeUse::Other,
        }
    }

    /// Returns where a type is written: in a field or in the header of a function.
    fn type_position(&self, site: &Site) -> Option<TypeUse> {
        use SymbolKind::{Constructor, Field, Fn, Method, Property, Variant};
        let (file, ordinal) = (self.file(site.file.id)?, site.from?);
        let around = file.facts.symbols.get(ordinal as usize)?;
        match around.kind {
            Field | Property | Variant => Some(TypeUse::Field),
            // A parameter of a constructor may declare a field (`constructor(private log: Log)`).
            Fn | Method | Constructor if is_in_header(&file, ordinal, around, site.line) => Some(TypeUse::Signature),
            _ => None,
        }
    }
}

/// Whether a line belongs to the header of a function. Facts have no end of a header, so this follows the lines of its
/// parameters: each is at most one line below the one before, and the result is at most one line below the last. A
/// type on the first line of a body may be taken for one of the header.
fn is_in_header(file: &SourceFile, ordinal: u32, function: &Symbol, line: u32) -> bool {
    let facts = &file.facts;
    let is_param = |kind| matches!(kind, BindingKind::Param | BindingKind::TypeParam);
    let params = facts.bindings.iter().filter(|one| one.symbol == Some(ordinal) && is_param(one.kind));
    let mut lines: Vec<u32> = params.map(|one| one.line).collect();
    lines.sort_unstable();
    let last =
        lines.into_iter().fold(function.name_line, |last, line| if line <= last + 1 { line.max(last) } else { last });
    let is_after_first_line = last > function.name_line;
    (function.lines.start..=last + u32::from(is_after_first_line)).contains(&line)
}

pub(super) fn is_type(kind: SymbolKind) -> bool {
    use SymbolKind as K;
    matches!(kind, K::Trait | K::Interface | K::Class | K::Struct | K::Enum | K::Type | K::Union)
}
