//! What the text index tells of a symbol before its outline is read: what ranking needs to know how high it can come.

use codecompass_model::{Symbol, SymbolKind, Visibility};

use crate::tokens;

/// A symbol in a few bits: its kind, how long it is, of how many words its name consists and a hash of it, whether it stands on
/// one line, is public, is test code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Glance(u32);

/// A symbol of so many lines is as long as any.
const LONG: f64 = 400.0;

/// Lengths are told apart in so many steps.
const STEPS: u32 = 31;

const SIZE: u32 = 8;
const ONE_LINE: u32 = 1 << 13;
const PUBLIC: u32 = 1 << 14;
const TEST: u32 = 1 << 15;
const WORDS: u32 = 16;
const MOST_WORDS: u32 = 15;
const HASH: u32 = 20;

impl Glance {
    /// That of a symbol.
    pub fn of(symbol: &Symbol) -> Self {
        let lines = symbol.lines.end.saturating_sub(symbol.lines.start) + 1;
        let size = (f64::from(lines).ln() / LONG.ln()).min(1.0) * f64::from(STEPS);
        let words = match tokens(&symbol.name).count() as u32 {
            0 | 1 => 1,
            // The first is the whole.
            count => (count - 1).min(MOST_WORDS),
        };
        let mark = |is_so: bool, bit: u32| if is_so { bit } else { 0 };
        Self(
            u32::from(symbol.kind.index())
                | (size.round() as u32) << SIZE
                | words << WORDS
                | Self::name_hash(&symbol.name) << HASH
                | mark(lines == 1, ONE_LINE)
                | mark(symbol.visibility == Some(Visibility::Public), PUBLIC)
                | mark(symbol.in_test, TEST),
        )
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The kind; none when a newer program wrote it.
    pub fn kind(self) -> Option<SymbolKind> {
        SymbolKind::from_index((self.0 & 0xff) as u8)
    }

    /// How long it is, from 0 for a line to 1, by the logarithm of its lines.
    pub fn size(self) -> f64 {
        f64::from(self.0 >> SIZE & STEPS) / f64::from(STEPS)
    }

    /// Of how many words its name consists, as far as they are counted.
    pub fn name_words(self) -> u32 {
        (self.0 >> WORDS & MOST_WORDS).max(1)
    }

    /// Whether its name may be one with this hash.
    pub fn may_be_named(self, hash: u32) -> bool {
        self.0 >> HASH == hash
    }

    /// A few bits of a name, whatever its case and its underscores (FNV-1a).
    pub fn name_hash(name: &str) -> u32 {
        let letters = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase);
        let hash = letters.fold(0x811c_9dc5u32, |hash, c| (hash ^ u32::from(c)).wrapping_mul(0x0100_0193));
        hash >> HASH
    }

    /// Whether it stands on one line.
    pub fn is_one_line(self) -> bool {
        self.0 & ONE_LINE != 0
    }

    /// Whether others may use it.
    pub fn is_public(self) -> bool {
        self.0 & PUBLIC != 0
    }

    /// Whether it is test code by its text.
    pub fn in_test(self) -> bool {
        self.0 & TEST != 0
    }
}
