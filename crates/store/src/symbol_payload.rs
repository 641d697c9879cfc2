//! Symbol payloads: properties of a symbol in the text index, with which ranking bounds its score without its outline.

use codecompass_model::{Symbol, SymbolKind, Visibility};

use crate::tokens;

/// A symbol in a few bits: its kind, its length, the number of words in its name and a hash of the name, and whether it
/// is on one line, public, or test code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SymbolPayload(u32);

/// The number of lines at which the length reaches its maximum.
const MAX_LINES: f64 = 400.0;

/// The number of steps of the length scale.
const SIZE_STEPS: u32 = 31;

const SIZE_SHIFT: u32 = 8;
const ONE_LINE_BIT: u32 = 1 << 13;
const PUBLIC_BIT: u32 = 1 << 14;
const TEST_BIT: u32 = 1 << 15;
const WORDS_SHIFT: u32 = 16;
const MAX_NAME_WORDS: u32 = 15;
const HASH_SHIFT: u32 = 20;

impl SymbolPayload {
    /// Computes the payload of a symbol.
    pub fn from_symbol(symbol: &Symbol) -> Self {
        let lines = symbol.lines.end.saturating_sub(symbol.lines.start) + 1;
        let size = (f64::from(lines).ln() / MAX_LINES.ln()).min(1.0) * f64::from(SIZE_STEPS);
        let words = match tokens(&symbol.name).count() as u32 {
            0 | 1 => 1,
            // The first token is the whole name.
            count => (count - 1).min(MAX_NAME_WORDS),
        };
        let mark = |is_so: bool, bit: u32| if is_so { bit } else { 0 };
        Self(
            u32::from(symbol.kind.index())
                | (size.round() as u32) << SIZE_SHIFT
                | words << WORDS_SHIFT
                | Self::name_hash(&symbol.name) << HASH_SHIFT
                | mark(lines == 1, ONE_LINE_BIT)
                | mark(symbol.visibility == Some(Visibility::Public), PUBLIC_BIT)
                | mark(symbol.in_test, TEST_BIT),
        )
    }

    pub(crate) fn bits(self) -> u32 {
        self.0
    }

    pub(crate) fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the kind; `None` if a newer program wrote it.
    pub fn kind(self) -> Option<SymbolKind> {
        SymbolKind::from_index((self.0 & 0xff) as u8)
    }

    /// Returns the length from 0 for one line to 1, by the logarithm of the number of lines.
    pub fn size(self) -> f64 {
        f64::from(self.0 >> SIZE_SHIFT & SIZE_STEPS) / f64::from(SIZE_STEPS)
    }

    /// Returns the number of words in the name, up to a limit.
    pub fn name_words(self) -> u32 {
        (self.0 >> WORDS_SHIFT & MAX_NAME_WORDS).max(1)
    }

    /// Whether its name may be one with this hash.
    pub fn may_be_named(self, hash: u32) -> bool {
        self.0 >> HASH_SHIFT == hash
    }

    /// Returns a few bits of a name's hash, ignoring case and underscores (FNV-1a).
    pub fn name_hash(name: &str) -> u32 {
        let letters = name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase);
        let hash = letters.fold(0x811c_9dc5u32, |hash, c| (hash ^ u32::from(c)).wrapping_mul(0x0100_0193));
        hash >> HASH_SHIFT
    }

    /// Whether it is on one line.
    pub fn is_one_line(self) -> bool {
        self.0 & ONE_LINE_BIT != 0
    }

    /// Whether it is public.
    pub fn is_public(self) -> bool {
        self.0 & PUBLIC_BIT != 0
    }

    /// Whether its text makes it test code.
    pub fn in_test(self) -> bool {
        self.0 & TEST_BIT != 0
    }
}
