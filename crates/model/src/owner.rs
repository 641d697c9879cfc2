//! Line owners: each line of a file belongs to at most one symbol, the innermost one around it.
//!
//! Docs, attributes and decorators belong to the symbol below or around them. A line that two symbols share belongs to
//! the first of them, unless the second is nested in the first. A field that a method assigns does not take the
//! method's lines.

use crate::{Symbol, SymbolKind};

/// The ordinal that means "no owner".
const NO_OWNER: u32 = u32::MAX;

/// The owner of each line of a file.
#[derive(Clone, Debug)]
pub struct LineOwners {
    owners: Vec<u32>,
}

impl LineOwners {
    /// Computes the owners for a text and its symbols. Imports own no lines. In files with landmarks no symbol owns
    /// any.
    pub fn new(text: &str, symbols: &[Symbol]) -> Self {
        let mut owners = Self { owners: vec![NO_OWNER; text.split_inclusive('\n').count()] };
        if has_landmarks(symbols) {
            return owners;
        }
        for (place, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| owns_lines(symbol)) {
            owners.claim_lines(place as u32, text, symbols, symbol);
        }
        owners
    }

    /// Gives a symbol those of its lines that have no owner yet or belong to a symbol around it.
    fn claim_lines(&mut self, place: u32, text: &str, symbols: &[Symbol], symbol: &Symbol) {
        let first = first_line(text, symbol).max(1) as usize - 1;
        let last = (symbol.lines.end as usize).min(self.owners.len());
        let mut known = (NO_OWNER, true);
        for owner in self.owners.get_mut(first..last).unwrap_or_default() {
            if known.0 != *owner {
                known = (*owner, is_inside(symbols, place, *owner));
            }
            if known.1 {
                *owner = place;
            }
        }
    }

    /// Returns the ordinal of the symbol that owns a line. Lines count from 1.
    pub fn owner_at(&self, line: u32) -> Option<u32> {
        let owner = self.owners.get((line as usize).checked_sub(1)?)?;
        Some(*owner).filter(|owner| *owner != NO_OWNER)
    }

    /// Returns the owners of all lines, in order.
    pub fn iter(&self) -> impl Iterator<Item = Option<u32>> + '_ {
        self.owners.iter().map(|owner| Some(*owner).filter(|owner| *owner != NO_OWNER))
    }
}

/// Whether the symbols of a file are landmarks. The text of such a file is searched in chunks, as if it had no symbols:
/// a heading is no better a unit than the lines around it, and hits in prose must not depend on the quality of its
/// outline.
pub fn has_landmarks(symbols: &[Symbol]) -> bool {
    symbols.iter().any(|symbol| symbol.kind.is_landmark())
}

/// Whether a symbol can own lines. Fields and variants are part of their type, so the type owns their lines unless they
/// have no parent.
fn owns_lines(symbol: &Symbol) -> bool {
    match symbol.kind {
        SymbolKind::Use => false,
        SymbolKind::Field | SymbolKind::Variant => symbol.parent.is_none(),
        _ => true,
    }
}

/// The first line of a symbol with its docs, attributes and decorators.
pub fn first_line(text: &str, symbol: &Symbol) -> u32 {
    let outer = text.get(symbol.outer_start as usize..symbol.span.start as usize).unwrap_or("");
    symbol.lines.start.saturating_sub(outer.bytes().filter(|byte| *byte == b'\n').count() as u32)
}

/// Whether a symbol is nested in another one.
fn is_inside(symbols: &[Symbol], mut place: u32, other: u32) -> bool {
    loop {
        match symbols.get(place as usize).and_then(|symbol| symbol.parent) {
            // A parent comes before its children.
            Some(parent) if parent < place => place = parent,
            _ => return other == NO_OWNER,
        }
        if place == other {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Flags, Lines, Span};

    fn symbol(parent: Option<u32>, lines: (u32, u32), span: (u32, u32), outer_start: u32) -> Symbol {
        Symbol {
            kind: SymbolKind::Fn,
            name: String::new(),
            qualified_name: String::new(),
            parent,
            impl_trait: None,
            ordinal: 0,
            signature: String::new(),
            visibility_text: None,
            visibility: None,
            lines: Lines { start: lines.0, end: lines.1 },
            span: Span { start: span.0, end: span.1 },
            outer_start,
            name_span: Span::default(),
            name_line: lines.0,
            doc: None,
            annotation: None,
            value: None,
            owner: None,
            bases: Vec::new(),
            header: None,
            flags: Flags::default(),
            content_hash: 0,
            in_test: false,
            name_column: 0,
        }
    }

    #[test]
    fn lines_belong_to_innermost_symbol() {
        let text = "use\n/// doc\nclass\n  own\n  fn\n  end\n  own\nend\nx y\n";
        let symbols = [
            symbol(None, (3, 8), (12, 47), 4),
            symbol(Some(0), (5, 6), (26, 34), 26),
            symbol(None, (9, 9), (47, 48), 47),
            symbol(None, (9, 9), (49, 50), 49),
        ];
        let owners: Vec<Option<u32>> = LineOwners::new(text, &symbols).iter().collect();
        let expected = [None, Some(0), Some(0), Some(0), Some(1), Some(1), Some(0), Some(0), Some(2)];
        assert_eq!(owners, expected);
    }

    #[test]
    fn landmark_files_have_no_line_owners() {
        let mut symbols = [symbol(None, (1, 2), (0, 10), 0), symbol(None, (3, 3), (10, 14), 10)];
        symbols[0].kind = SymbolKind::Message;
        symbols[1].kind = SymbolKind::Enum;
        assert!(LineOwners::new("message a\n}\nenum\n", &symbols).iter().all(|owner| owner.is_none()));
    }

    #[test]
    fn sibling_keeps_its_lines() {
        let text = "class\n  def\n    field\n";
        let symbols = [
            symbol(None, (1, 3), (0, 21), 0),
            symbol(Some(0), (2, 3), (8, 21), 8),
            symbol(Some(0), (3, 3), (16, 21), 16),
        ];
        let owners = LineOwners::new(text, &symbols);
        assert_eq!(
            (owners.owner_at(2), owners.owner_at(3), owners.owner_at(0), owners.owner_at(4)),
            (Some(1), Some(1), None, None)
        );
    }
}
