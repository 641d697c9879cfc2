//! Classifies every occurrence of a name relative to one symbol with that name.
//!
//! The law: every name in the code of the symbol's languages belongs to exactly one of five classes, and none is
//! omitted. It is the name of a definition, or confirmed to refer to the symbol, or confirmed to refer to another
//! symbol, or outside (a witness says that it is local, from a library, or part of the language), or unresolved. One
//! position may belong to two classes (`{ name }` is a value and a member); then the class that comes first in
//! [`Class`] counts.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};
use codecompass_store::VersionInfo;

use super::written_form::WrittenForm;

/// The number of occurrences per class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Names of definitions: the symbol's own, and those of homonyms.
    pub definitions: usize,
    /// Confirmed to refer to the symbol.
    pub proved: usize,
    /// Confirmed to refer to another symbol of the view.
    pub elsewhere: usize,
    /// A local binding, or external to the view.
    pub outside: usize,
    /// Unresolved.
    pub undecided: usize,
    /// The confirmed references that are not occurrences of the name in code: under the alias of an import, or in a
    /// string that the language interprets.
    pub beyond: usize,
}

/// The class of an occurrence relative to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The symbol's own definition.
    Own,
    /// Confirmed to refer to the symbol.
    Proved,
    /// Confirmed to refer to the symbol, at a position without its name in code.
    Beyond,
    /// The definition of a homonym.
    Definition,
    /// May refer to the symbol.
    Undecided,
    /// Confirmed to refer to another symbol.
    Elsewhere,
    /// Local or external.
    Outside,
}

/// The resolution of an occurrence, independent of the target symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OccurrenceResolution {
    /// Resolves to symbols of the view, or to a module.
    ResolvesTo,
    /// A local binding, or external.
    Outside,
    /// Unresolved.
    Unresolved(WrittenForm),
}

/// A file, a line and a column.
pub(super) type Position = (VersionId, u32, u32);

/// An occurrence of the name.
#[derive(Clone, Debug)]
pub(super) struct Occurrence {
    pub(super) file: Rc<VersionInfo>,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) resolution: OccurrenceResolution,
}

/// Where a symbol's name is defined. The position is missing if the file has no references to the name: then no
/// occurrence there needs to be distinguished from the definition.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) file: Rc<VersionInfo>,
    pub(super) symbol: u32,
    pub(super) place: Option<(u32, u32)>,
}

/// The symbol relative to which occurrences are classified.
pub(super) struct ClassifyTarget<'a> {
    pub(super) target: SymbolAt,
    /// Whether an occurrence in a language can refer to the symbol.
    pub(super) can_interop: &'a dyn Fn(&str) -> bool,
    /// Whether an unresolved occurrence in a language may refer to the symbol by its form.
    pub(super) can_refer_to: &'a dyn Fn(&str, WrittenForm) -> bool,
}

/// The class of each occurrence.
pub(super) struct Classification {
    classes: HashMap<Position, Class>,
    /// Definitions without a position, in files without references to the name.
    alone: usize,
}

impl Classification {
    /// Classifies all occurrences. `proved` are the positions of confirmed references to the symbol.
    pub(super) fn classify(
        asked: &ClassifyTarget<'_>,
        definitions: &[Definition],
        places: &[Occurrence],
        proved: impl Iterator<Item = Position>,
    ) -> Self {
        let mut account = Classification { classes: HashMap::with_capacity(places.len()), alone: 0 };
        for place in places.iter().filter(|place| (asked.can_interop)(&place.file.language)) {
            let class = match place.resolution {
                OccurrenceResolution::ResolvesTo => Class::Elsewhere,
                OccurrenceResolution::Unresolved(form) if (asked.can_refer_to)(&place.file.language, form) => {
                    Class::Undecided
                }
                // An occurrence that cannot refer to such a symbol refers to something without a name here.
                OccurrenceResolution::Outside | OccurrenceResolution::Unresolved(_) => Class::Outside,
            };
            account.insert((place.file.id, place.line, place.column), class);
        }
        for definition in definitions.iter().filter(|definition| (asked.can_interop)(&definition.file.language)) {
            let is_own = asked.target == SymbolAt { file: definition.file.id, ordinal: definition.symbol };
            match definition.place {
                Some((line, column)) => {
                    let class = if is_own { Class::Own } else { Class::Definition };
                    account.insert((definition.file.id, line, column), class);
                }
                None => account.alone += 1,
            }
        }
        for at in proved {
            let class = if account.classes.contains_key(&at) { Class::Proved } else { Class::Beyond };
            account.insert(at, class);
        }
        account
    }

    fn insert(&mut self, at: Position, class: Class) {
        let known = self.classes.entry(at).or_insert(class);
        *known = (*known).min(class);
    }

    /// The class of an occurrence.
    pub(super) fn class(&self, at: Position) -> Option<Class> {
        self.classes.get(&at).copied()
    }

    /// The number of occurrences per class.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts { definitions: self.alone, ..Counts::default() };
        for class in self.classes.values() {
            match class {
                Class::Own | Class::Definition => counts.definitions += 1,
                Class::Proved => counts.proved += 1,
                Class::Beyond => {
                    counts.proved += 1;
                    counts.beyond += 1;
                }
                Class::Undecided => counts.undecided += 1,
                Class::Elsewhere => counts.elsewhere += 1,
                Class::Outside => counts.outside += 1,
            }
        }
        counts
    }
}
