//! Matches the symbols of the earlier state with those of the later state.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use codecompass_model::{Symbol, SymbolKind};

use super::{FilePair, FileSide, Pair, SymbolSide};

/// Pairs the symbols of files that differ, without imports. Returns the pairs by path and ordinal in the later state,
/// then the deleted symbols.
pub fn pair_symbols(files: &[FilePair]) -> Vec<Pair<'_>> {
    let mut work =
        Pairing { before: sides(files, |file| file.before.as_ref()), after: sides(files, |file| file.after.as_ref()) };
    // In the same file, with the same name.
    work.pair_by_key(|one| Some((one.file_pair, PairingName::qualified(one.entry))));
    // In the same file, whose new path changed the qualified name.
    work.pair_by_key(|one| one.is_renamed.then(|| (one.file_pair, one.name_in_file())));
    // In another file, with the same name. Landmarks with one name occur in many files and are unrelated.
    work.pair_by_key(|one| {
        let language = one.entry.file.version.language.as_str();
        (!one.entry.symbol().kind.is_landmark()).then(|| (language, PairingName::qualified(one.entry)))
    });
    // In another file, with the same text. Only for independent symbols, not for members of another symbol.
    work.pair_by_key(|one| {
        let symbol = one.entry.symbol();
        let language = one.entry.file.version.language.as_str();
        can_move(symbol.kind).then(|| (language, one.name_in_file(), symbol.content_hash))
    });
    // Inside symbols that are paired already; one pass per depth.
    while work.pair_members() {}
    work.pairs()
}

/// The name, kind and trait of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PairingName<'f> {
    kind: SymbolKind,
    name: &'f str,
    of_trait: Option<&'f str>,
}

impl<'f> PairingName<'f> {
    fn new(symbol: &'f Symbol, name: &'f str) -> Self {
        Self { kind: symbol.kind, name, of_trait: symbol.impl_trait.as_deref() }
    }

    fn qualified(entry: SymbolSide<'f>) -> Self {
        Self::new(entry.symbol(), &entry.symbol().qualified_name)
    }
}

/// A symbol that may get a partner.
struct PairCandidate<'f> {
    entry: SymbolSide<'f>,
    /// The index of its file pair.
    file_pair: usize,
    is_renamed: bool,
    /// The length of the prefix of its qualified name that comes from the file.
    outside: usize,
    partner: Option<usize>,
    /// The enclosing symbol on its own side.
    parent: Option<usize>,
    /// The index of the enclosing symbol in the earlier state, once that is paired.
    around: Option<usize>,
}

impl<'f> PairCandidate<'f> {
    /// The name inside the file.
    fn name_in_file(&self) -> PairingName<'f> {
        let symbol = self.entry.symbol();
        PairingName::new(symbol, symbol.qualified_name.get(self.outside..).unwrap_or(&symbol.qualified_name))
    }
}

struct Pairing<'f> {
    before: Vec<PairCandidate<'f>>,
    after: Vec<PairCandidate<'f>>,
}

impl<'f> Pairing<'f> {
    /// Pairs symbols with equal keys that have no partner yet: those with the same text first, then by order.
    fn pair_by_key<K: Eq + Hash>(&mut self, key: impl Fn(&PairCandidate<'f>) -> Option<K>) {
        let mut groups: HashMap<K, (Vec<usize>, Vec<usize>)> = HashMap::new();
        for (at, one) in self.before.iter().enumerate().filter(|(_, one)| one.partner.is_none()) {
            if let Some(key) = key(one) {
                groups.entry(key).or_default().0.push(at);
            }
        }
        for (at, one) in self.after.iter().enumerate().filter(|(_, one)| one.partner.is_none()) {
            if let Some((_, after)) = key(one).and_then(|key| groups.get_mut(&key)) {
                after.push(at);
            }
        }
        for (before, after) in groups.into_values() {
            self.pair_group(before, after);
        }
    }

    fn pair_group(&mut self, before: Vec<usize>, after: Vec<usize>) {
        let mut by_text: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for new in &after {
            by_text.entry(self.after[*new].entry.symbol().content_hash).or_default().push_back(*new);
        }
        let mut left = VecDeque::new();
        for old in before {
            let text = self.before[old].entry.symbol().content_hash;
            match by_text.get_mut(&text).and_then(VecDeque::pop_front) {
                Some(new) => self.pair(old, new),
                None => left.push_back(old),
            }
        }
        for new in after {
            if self.after[new].partner.is_none()
                && let Some(old) = left.pop_front()
            {
                self.pair(old, new);
            }
        }
    }

    fn pair(&mut self, old: usize, new: usize) {
        self.before[old].partner = Some(new);
        self.after[new].partner = Some(old);
    }

    /// Pairs symbols with equal names inside paired symbols; returns whether it found any.
    fn pair_members(&mut self) -> bool {
        let free = |work: &Self| work.before.iter().filter(|one| one.partner.is_none()).count();
        let count = free(self);
        // A pair of parents is identified by its symbol in the earlier state.
        let around = |one: &PairCandidate<'f>, side: &[PairCandidate<'f>]| {
            one.parent.and_then(|at| Some((at, side[at].partner?)))
        };
        for at in 0..self.before.len() {
            self.before[at].around = around(&self.before[at], &self.before).map(|(old, _)| old);
        }
        for at in 0..self.after.len() {
            self.after[at].around = around(&self.after[at], &self.after).map(|(_, old)| old);
        }
        self.pair_by_key(|one| Some((one.around?, PairingName::new(one.entry.symbol(), &one.entry.symbol().name))));
        free(self) < count
    }

    fn pairs(&self) -> Vec<Pair<'f>> {
        let pair = |before: Option<&PairCandidate<'f>>, after: Option<&PairCandidate<'f>>| {
            let is_moved = before.zip(after).is_some_and(|(before, after)| before.file_pair != after.file_pair);
            let (before, after) = (before.map(|one| one.entry), after.map(|one| one.entry));
            Pair { before, after, is_moved, is_regrouped: false }
        };
        let after = self.after.iter().map(|one| pair(one.partner.map(|old| &self.before[old]), Some(one)));
        let gone = self.before.iter().filter(|one| one.partner.is_none()).map(|one| pair(Some(one), None));
        after.chain(gone).collect()
    }
}

/// Whether a symbol may be matched in another file by its text alone. A field or a variable often has the same text as
/// an unrelated one.
fn can_move(kind: SymbolKind) -> bool {
    use SymbolKind::{Field, Module, Namespace, Property, Use, Var, Variant};
    !matches!(kind, Field | Module | Namespace | Property | Use | Var | Variant) && !kind.is_landmark()
}

/// Returns the symbols of one side by path and ordinal; equal symbols are paired in this order.
fn sides<'f>(files: &'f [FilePair], side: impl Fn(&'f FilePair) -> Option<&'f FileSide>) -> Vec<PairCandidate<'f>> {
    let mut sorted: Vec<(&FileSide, usize)> =
        files.iter().enumerate().filter_map(|(at, pair)| Some((side(pair)?, at))).collect();
    sorted.sort_by(|(one, _), (other, _)| one.version.path.cmp(&other.version.path));
    let mut all = Vec::new();
    for (file, file_pair) in sorted {
        let pair = &files[file_pair];
        let is_renamed = match (&pair.before, &pair.after) {
            (Some(before), Some(after)) => before.version.path != after.version.path,
            _ => false,
        };
        let outside = module_prefix_len(&file.outline.symbols);
        let mut places: Vec<Option<usize>> = Vec::with_capacity(file.outline.symbols.len());
        for (place, symbol) in file.outline.symbols.iter().enumerate() {
            places.push((symbol.kind != SymbolKind::Use).then_some(all.len()));
            if symbol.kind != SymbolKind::Use {
                let entry = SymbolSide { file, ordinal: place as u32 };
                let parent = symbol.parent.and_then(|parent| places.get(parent as usize).copied().flatten());
                all.push(PairCandidate { entry, file_pair, is_renamed, outside, partner: None, parent, around: None });
            }
        }
    }
    all
}

/// Returns the number of leading bytes of the qualified names in a file that name its module: the part before the
/// outermost name.
fn module_prefix_len(symbols: &[Symbol]) -> usize {
    let is_top = |symbol: &&Symbol| Symbol::naming_ancestor(symbols, symbol.parent).is_none();
    let top = symbols.iter().filter(|symbol| is_top(symbol) && symbol.kind != SymbolKind::Use);
    let before = |symbol: &Symbol| symbol.qualified_name.strip_suffix(symbol.name.as_str()).map(str::len);
    top.filter_map(before).min().unwrap_or_default()
}
