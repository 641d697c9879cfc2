//! Durable ids: handles that are equal in every clone, on every ref, on every machine.
//!
//! `symbol_id` is a pure function of path, kind, qualified name, impl trait and ordinal. `symbol_stable_id` has the
//! language in place of the path. Neither depends on a line, a signature, a ref or a project.

use crate::Symbol;

const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The 128 bits of a `symbol_id`. The first eight bytes are the store's lookup key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SymbolId(pub u128);

/// The 128 bits of a `symbol_stable_id`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StableId(pub u128);

impl SymbolId {
    /// Computes the id of a symbol in the file at this path.
    pub fn new(path: &str, symbol: &Symbol) -> Self {
        Self(digest("symbol", path, symbol))
    }

    /// Parses `sym_…`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        from_base32(text.strip_prefix("sym_")?).map(Self)
    }

    /// Returns the store's lookup key.
    pub const fn key(self) -> i64 {
        (self.0 >> 64) as i64
    }

    /// Formats the id as a `result_id`: a prefix that is long enough to find it again and costs a third of the tokens.
    pub fn short(self) -> String {
        format!("sym_{}", &base32(self.0)[..SHORT_ID_LEN])
    }

    /// Returns the same for the lookup key of an id, which has all of its bits.
    pub fn short_of_key(key: i64) -> String {
        Self(u128::from(key as u64) << 64).short()
    }

    /// Parses the output of [`SymbolId::short`] into the range of lookup keys that it may abbreviate.
    pub fn parse_short(text: &str) -> Option<std::ops::RangeInclusive<i64>> {
        let short = text.strip_prefix("sym_").filter(|short| short.len() == SHORT_ID_LEN)?;
        let bound = |filler: &str| {
            from_base32(&format!("{short}{}", filler.repeat(26 - SHORT_ID_LEN))).map(|id| Self(id).key())
        };
        Some(bound("0")?..=bound("Z")?)
    }
}

impl StableId {
    /// Computes the stable id of a symbol in this language.
    pub fn new(language: &str, symbol: &Symbol) -> Self {
        Self(digest("stable", language, symbol))
    }

    /// Parses `b3:` and 32 hex digits; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("b3:")?;
        (hex.len() == 32 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .then(|| u128::from_str_radix(hex, 16).ok().map(Self))?
    }

    /// Returns the store's lookup key.
    pub const fn key(self) -> i64 {
        (self.0 >> 64) as i64
    }
}

impl std::fmt::Display for SymbolId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sym_{}", base32(self.0))
    }
}

impl std::fmt::Display for StableId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b3:{:032x}", self.0)
    }
}

/// The number of id characters in a `result_id`. 48 bits are unique enough within one index.
const SHORT_ID_LEN: usize = 10;

/// The 128 bits of a `result_id`, with the word for the kind of result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ResultId(&'static str, u128);

impl ResultId {
    /// Computes the id of a range of lines of a file: `snip` for a text chunk, `file` for a file.
    pub fn for_lines(kind: &'static str, path: &str, start: u32, end: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind.as_bytes()).update(&[0]).update(path.as_bytes()).update(&[0]);
        hasher.update(&start.to_le_bytes()).update(&end.to_le_bytes());
        let bytes = hasher.finalize();
        Self(kind, u128::from_be_bytes(bytes.as_bytes()[..16].try_into().expect("because a hash has 32 bytes")))
    }
}

impl std::fmt::Display for ResultId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}_{}", self.0, &base32(self.1)[..SHORT_ID_LEN])
    }
}

/// Identifies a text by its content, for caches.
pub fn content_key(bytes: &[u8]) -> [u8; 16] {
    let mut key = [0; 16];
    key.copy_from_slice(&blake3::hash(bytes).as_bytes()[..16]);
    key
}

/// Computes the id of a project: 16 hex digits from the real path of its common git directory, or of its folder.
pub fn project_id(real_path: &[u8]) -> String {
    let hash = blake3::hash(real_path);
    hash.to_hex()[..16].to_owned()
}

/// Computes a 64-bit hash for comparing content.
pub fn content_hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let bytes = hasher.finalize();
    u64::from_le_bytes(bytes.as_bytes()[..8].try_into().expect("because a hash has 32 bytes"))
}

fn digest(domain: &str, place: &str, symbol: &Symbol) -> u128 {
    let mut hasher = blake3::Hasher::new();
    let ordinal = symbol.ordinal.to_le_bytes();
    let parts: [&[u8]; 6] = [
        domain.as_bytes(),
        place.as_bytes(),
        symbol.kind.as_str().as_bytes(),
        symbol.qualified_name.as_bytes(),
        symbol.impl_trait.as_deref().unwrap_or("").as_bytes(),
        &ordinal,
    ];
    for part in parts {
        hasher.update(&(part.len() as u32).to_le_bytes());
        hasher.update(part);
    }
    let bytes = hasher.finalize();
    u128::from_be_bytes(bytes.as_bytes()[..16].try_into().expect("because a hash has 32 bytes"))
}

/// Encodes 128 bits as 26 Crockford characters, most significant first. The first character holds three bits.
fn base32(value: u128) -> String {
    (0..26).rev().map(|i| CROCKFORD[(value >> (5 * i)) as usize & 31] as char).collect()
}

fn from_base32(text: &str) -> Option<u128> {
    if text.len() != 26 || text.as_bytes()[0] > b'7' {
        return None;
    }
    text.bytes().try_fold(0u128, |value, byte| {
        let digit = CROCKFORD.iter().position(|&c| c == byte.to_ascii_uppercase())?;
        Some(value << 5 | digit as u128)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Lines, Span, SymbolKind};

    fn symbol() -> Symbol {
        Symbol {
            kind: SymbolKind::Fn,
            name: "validate_token".into(),
            qualified_name: "auth::jwt::validate_token".into(),
            parent: None,
            impl_trait: None,
            ordinal: 0,
            signature: "fn validate_token()".into(),
            visibility_text: None,
            visibility: None,
            lines: Lines { start: 1, end: 2 },
            span: Span::default(),
            outer_start: 0,
            name_span: Span::default(),
            name_line: 1,
            name_column: 0,
            doc: None,
            annotation: None,
            value: None,
            owner: None,
            bases: Vec::new(),
            header: None,
            flags: Flags::default(),
            content_hash: 0,
            in_test: false,
        }
    }

    #[test]
    fn ids_round_trip() {
        let id = SymbolId::new("src/auth/jwt.rs", &symbol());
        assert_eq!(id.to_string().len(), 30);
        assert_eq!(SymbolId::parse(&id.to_string()), Some(id));
        let stable = StableId::new("rust", &symbol());
        assert_eq!(stable.to_string().len(), 35);
        assert_eq!(StableId::parse(&stable.to_string()), Some(stable));
        let keys = SymbolId::parse_short(&id.short()).expect("because a short id can be parsed");
        assert!(keys.contains(&id.key()));
        assert_eq!((id.short().len(), SymbolId::parse_short("sym_U123456789")), (14, None));
        for bad in ["", "sym_", "sym_U", "b3:", "b3:+1", "validate_token"] {
            assert_eq!(SymbolId::parse(bad), None);
            assert_eq!(StableId::parse(bad), None);
        }
    }

    #[test]
    fn ids_ignore_line_and_signature() {
        let base = symbol();
        let moved = Symbol { signature: "pub fn x()".into(), lines: Lines { start: 9, end: 9 }, ..symbol() };
        assert_eq!(SymbolId::new("a.rs", &base), SymbolId::new("a.rs", &moved));
        let others = [
            Symbol { ordinal: 1, ..symbol() },
            Symbol { impl_trait: Some("T".into()), ..symbol() },
            Symbol { kind: SymbolKind::Macro, ..symbol() },
            Symbol { qualified_name: "auth::x".into(), ..symbol() },
        ];
        for other in others {
            assert_ne!(SymbolId::new("a.rs", &base), SymbolId::new("a.rs", &other));
            assert_ne!(StableId::new("rust", &base), StableId::new("rust", &other));
        }
        assert_ne!(SymbolId::new("a.rs", &base), SymbolId::new("b.rs", &base));
        assert_eq!(StableId::new("rust", &base), StableId::new("rust", &moved));
    }
}
