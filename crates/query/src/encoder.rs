//! Vectors of an encoder outside of this program, which the user runs and configures.
//!
//! The built-in model reads words; an encoder reads sentences. Its vectors are made in the background and cached by
//! content, so a query asks it for one vector only: its own. A hit without a vector is scored by everything else, and
//! without an encoder every answer is as it was.
//!
//! Nothing here opens a connection: [`Encoder`] is implemented by the crate `encoder`.

use codecompass_model::ids::content_key;
use codecompass_model::{Symbol, SymbolKind, VersionId};
use codecompass_store::{Result, Snapshot};

/// The maximum number of bytes of docs and code that the encoder reads. Encoders of this size read 256 to 512 tokens.
const MAX_PASSAGE_BYTES: usize = 1500;

/// An encoder outside of this program.
pub trait Encoder {
    /// The vector of a query; `None` if the encoder does not answer in time.
    fn query_vector(&self, query: &str) -> Option<Vector>;

    /// The vectors of passages, in this order, as far as they are known.
    fn passage_vectors(&self, keys: &[PassageKey]) -> Vec<Option<Vector>>;
}

/// Identifies a passage by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassageKey(pub [u8; 16]);

/// A vector of an encoder, each component as a share of the largest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector(Vec<i8>);

impl Vector {
    /// Reduces a vector to bytes; `None` if it has no length. The direction is kept within half a percent.
    pub fn from_floats(values: &[f32]) -> Option<Self> {
        let largest = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        if !largest.is_finite() || largest <= 0.0 {
            return None;
        }
        Some(Self(values.iter().map(|value| (value / largest * 127.0).round() as i8).collect()))
    }

    /// Takes the bytes of a cached vector.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    /// The bytes for the cache.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().map(|value| value.cast_unsigned()).collect()
    }

    /// The cosine of the angle between two vectors, from 0: opposite and unrelated are the same. Vectors of different
    /// models are not comparable.
    pub fn similarity(&self, other: &Self) -> f64 {
        if self.0.len() != other.0.len() {
            return 0.0;
        }
        let dot = |left: &[i8], right: &[i8]| -> i64 {
            left.iter().zip(right).map(|(left, right)| i64::from(*left) * i64::from(*right)).sum()
        };
        let lengths = (dot(&self.0, &self.0) * dot(&other.0, &other.0)) as f64;
        let cosine = if lengths > 0.0 { dot(&self.0, &other.0) as f64 / lengths.sqrt() } else { 0.0 };
        cosine.clamp(0.0, 1.0)
    }
}

/// The text of a symbol that the encoder reads: its qualified name, its docs, its code.
pub fn passage(symbol: &Symbol, text: &str) -> String {
    let slice = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or("");
    let doc = symbol.doc.map_or("", |doc| slice(doc.start, doc.end));
    let mut passage = format!("{}\n{doc}\n{}", symbol.qualified_name, slice(symbol.span.start, symbol.span.end));
    let end = (0..=MAX_PASSAGE_BYTES.min(passage.len())).rev().find(|at| passage.is_char_boundary(*at));
    passage.truncate(end.unwrap_or(0));
    passage
}

/// The key of a passage.
pub fn passage_key(passage: &str) -> PassageKey {
    PassageKey(content_key(passage.as_bytes()))
}

/// The passages of a file. Tests and imports have none: titles of tests describe the code they test.
pub fn passages(snapshot: &Snapshot, version: VersionId) -> Result<Vec<String>> {
    let outline = snapshot.outline(version)?;
    let symbols = outline.symbols.iter().filter(|symbol| is_encoded(symbol));
    let text = snapshot.text(version)?;
    Ok(symbols.map(|symbol| passage(symbol, &text)).collect())
}

/// Whether a symbol has a vector.
pub(crate) fn is_encoded(symbol: &Symbol) -> bool {
    !matches!(symbol.kind, SymbolKind::Test | SymbolKind::Use)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_the_cosine() {
        let vector = |values: &[f32]| Vector::from_floats(values).expect("it has a length");
        let (first, second) = (vector(&[3.0, 4.0]), vector(&[4.0, 3.0]));
        assert!((first.similarity(&second) - 0.96).abs() < 0.01);
        assert!((first.similarity(&first) - 1.0).abs() < 1e-9);
        assert_eq!(first.similarity(&vector(&[-3.0, -4.0])), 0.0);
        assert_eq!(first.similarity(&vector(&[1.0, 0.0, 0.0])), 0.0);
        assert_eq!(Vector::from_bytes(&first.to_bytes()), first);
        assert_eq!(Vector::from_floats(&[0.0, 0.0]), None);
        assert_eq!(Vector::from_floats(&[f32::NAN, f32::INFINITY]), None);
    }
}
