//! What each place that bears a name is, seen from one of the symbols that bear it too.
//!
//! The law: every name in the code of the symbol's languages is exactly one of five, and nothing is left out. It is the
//! name of a definition, or proved to mean the symbol, or proved to mean another, or outside (a local name, a library's,
//! the language's own, and a witness says so), or nobody can tell. A place may say two things at once (`{ name }` is a value
//! and a member); then the class that comes first in [`Class`] counts.

use std::collections::HashMap;
use std::rc::Rc;

use codecompass_model::{SymbolAt, VersionId};
use codecompass_store::VersionInfo;

/// How many places are what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Names of definitions: the symbol's own, and those of others that bear the name.
    pub definitions: usize,
    /// Proved to mean the symbol.
    pub proved: usize,
    /// Proved to mean something else of the view.
    pub elsewhere: usize,
    /// A local name, or something from outside of the view.
    pub outside: usize,
    /// Nobody can tell.
    pub undecided: usize,
    /// Of the proved ones, those beyond the names in the code: under another name that an import gave it, or in a string that
    /// the language reads.
    pub beyond: usize,
}

/// What a place is to a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// The symbol's own definition.
    Own,
    /// Proved to mean the symbol.
    Proved,
    /// Proved to mean the symbol, where no name in the code says so.
    Beyond,
    /// The definition of another symbol of that name.
    Definition,
    /// It may mean the symbol.
    Undecided,
    /// Proved to mean something else.
    Elsewhere,
    /// Outside.
    Outside,
}

/// What is known of a place, whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It means symbols of the view, or a module.
    Means,
    /// A local name, or something from outside.
    Outside,
    /// Nobody can tell.
    Open {
        /// Whether it is called.
        is_call: bool,
        /// Whether it is a key of a literal or pattern, or the name of an argument: then only members can be meant.
        is_key: bool,
    },
}

/// A file, a line and a column.
pub(super) type At = (VersionId, u32, u32);

/// A place that bears the name.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) file: Rc<VersionInfo>,
    pub(super) line: u32,
    pub(super) column: u32,
    pub(super) known: Known,
}

/// The name of a definition; without a place where nothing else can stand.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) file: Rc<VersionInfo>,
    pub(super) symbol: u32,
    pub(super) place: Option<(u32, u32)>,
}

/// Who asks.
pub(super) struct Asked<'a> {
    pub(super) target: SymbolAt,
    /// Whether a place in a language can mean the symbol.
    pub(super) is_kin: &'a dyn Fn(&str) -> bool,
    /// Whether an undecided place may mean such a symbol: is it called, is it a key?
    pub(super) may_mean: &'a dyn Fn(bool, bool) -> bool,
}

/// The places, each with what it is.
pub(super) struct Account {
    classes: HashMap<At, Class>,
    /// Definitions in files where nothing else bears the name.
    alone: usize,
}

impl Account {
    /// Goes through all places. `proved` are those that mean the symbol.
    pub(super) fn of(
        asked: &Asked<'_>,
        definitions: &[Definition],
        places: &[Place],
        proved: impl Iterator<Item = At>,
    ) -> Self {
        let mut account = Account { classes: HashMap::with_capacity(places.len()), alone: 0 };
        for place in places.iter().filter(|place| (asked.is_kin)(&place.file.language)) {
            let class = match place.known {
                Known::Means => Class::Elsewhere,
                Known::Open { is_call, is_key } if (asked.may_mean)(is_call, is_key) => Class::Undecided,
                // What can not mean such a symbol means something that has no name here.
                Known::Outside | Known::Open { .. } => Class::Outside,
            };
            account.put((place.file.id, place.line, place.column), class);
        }
        for definition in definitions.iter().filter(|definition| (asked.is_kin)(&definition.file.language)) {
            let is_own = asked.target == SymbolAt { file: definition.file.id, place: definition.symbol };
            match definition.place {
                Some((line, column)) => {
                    let class = if is_own { Class::Own } else { Class::Definition };
                    account.put((definition.file.id, line, column), class);
                }
                None => account.alone += 1,
            }
        }
        for at in proved {
            let class = if account.classes.contains_key(&at) { Class::Proved } else { Class::Beyond };
            account.put(at, class);
        }
        account
    }

    fn put(&mut self, at: At, class: Class) {
        let known = self.classes.entry(at).or_insert(class);
        *known = (*known).min(class);
    }

    /// What a place is.
    pub(super) fn class(&self, at: At) -> Option<Class> {
        self.classes.get(&at).copied()
    }

    /// How many places are what.
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
