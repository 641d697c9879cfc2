//! The token cost of an item, by the contract's formula and by our own upper estimate.
//!
//! The formula counts words between spaces, and compact JSON has hardly any. So the text is also split where tokenizers
//! split it (a word with the sign before it, three digits, a run of signs, white space), and each piece costs the
//! highest average of such pieces, by length and case. No vocabulary is loaded; the figures were calibrated against a
//! real one (o200k) over source in several languages.

/// The cost of one item, or of several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// By the formula of the contract.
    pub formula: u64,
    /// By our own estimate, in hundredths of a token.
    pub hundredths: u64,
    /// The number of bytes.
    pub bytes: u64,
}

impl Cost {
    /// The cost of an item with this JSON text, including the comma after it.
    pub fn measure(json: &str) -> Self {
        let words = json.split_whitespace().count() as u64;
        let hundredths = hundredths(json, u64::MAX) + 100;
        Self { formula: (words * 13).div_ceil(10), hundredths, bytes: json.len() as u64 + 1 }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            formula: self.formula + other.formula,
            hundredths: self.hundredths + other.hundredths,
            bytes: self.bytes + other.bytes,
        }
    }

    /// Our own estimate, in tokens.
    pub fn tokens(self) -> u64 {
        self.hundredths.div_ceil(100)
    }
}

/// Our own estimate for a text, in tokens.
pub fn upper_estimate(text: &str) -> u64 {
    hundredths(text, u64::MAX).div_ceil(100)
}

/// A budget, and the amount spent.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// The maximum number of tokens.
    pub tokens: u64,
    /// The maximum number of bytes.
    pub bytes: u64,
    /// The cost so far.
    pub spent: Cost,
}

/// The brackets of the list.
const BRACKETS: Cost = Cost { formula: 0, hundredths: 100, bytes: 2 };

/// The minimum number of tokens of an item: two ids, ten field names and the punctuation.
const MIN_ITEM_TOKENS: u64 = 80;

/// The maximum number of bytes per token of any piece: white space has the most.
const MAX_BYTES_PER_TOKEN: u64 = 16;

impl Budget {
    /// A budget with only the brackets spent.
    pub fn new(tokens: u64, bytes: u64) -> Self {
        Self { tokens, bytes, spent: BRACKETS }
    }

    /// Whether the budget covers the cost.
    pub fn allows(&self, cost: Cost) -> bool {
        let all = self.spent.plus(cost);
        all.formula <= self.tokens && all.tokens() <= self.tokens && all.bytes <= self.bytes
    }

    /// Spends the cost of an item with this JSON text if the budget covers it.
    pub fn take(&mut self, json: &str) -> bool {
        let left = self.tokens.saturating_mul(100).saturating_sub(self.spent.hundredths);
        // A long text need not be measured completely to know that it is too long.
        if self.is_too_long(json.len() as u64) || hundredths(json, left) > left {
            return false;
        }
        let cost = Cost::measure(json);
        let is_there = self.allows(cost);
        if is_there {
            self.spent = self.spent.plus(cost);
        }
        is_there
    }

    /// Whether no item with this number of bytes of own text can fit, whatever the text.
    pub fn is_over(&self, bytes: u64) -> bool {
        self.spent.tokens() + MIN_ITEM_TOKENS + bytes / MAX_BYTES_PER_TOKEN > self.tokens
    }

    /// Whether no text of this length in bytes can fit.
    pub fn is_too_long(&self, bytes: u64) -> bool {
        let left = self.tokens.saturating_sub(self.spent.tokens());
        bytes > left.saturating_mul(MAX_BYTES_PER_TOKEN) || self.spent.bytes + bytes > self.bytes
    }
}

/// The character before a word that is part of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeadingChar {
    Nothing,
    Space,
    Sign,
}

/// The cost of a text. Stops above `enough`: the result then only says that the cost is higher.
fn hundredths(text: &str, enough: u64) -> u64 {
    let mut rest = text;
    let mut sum = 0;
    while let Some(first) = rest.chars().next().filter(|_| sum <= enough) {
        let (length, cost) = piece_cost(rest, first);
        sum += cost;
        rest = &rest[length.max(1)..];
    }
    sum
}

/// The number of bytes of the first piece of a text, and its cost.
fn piece_cost(text: &str, first: char) -> (usize, u64) {
    if let Some(found) = symbol_id_cost(text).or_else(|| key_cost(text)) {
        return found;
    }
    if first.is_alphabetic() {
        return word_cost(text, LeadingChar::Nothing);
    }
    if first.is_numeric() {
        let digits = text.chars().take_while(|c| c.is_numeric()).take(3);
        let length = digits.map(char::len_utf8).sum();
        return (length, if first.is_ascii() { 100 } else { non_ascii_cost(&text[..length]) });
    }
    let after = &text[first.len_utf8()..];
    let next = after.chars().next();
    if next.is_some_and(char::is_alphabetic) && first != '\n' && first != '\r' {
        let lead = if first == ' ' { LeadingChar::Space } else { LeadingChar::Sign };
        let (length, cost) = word_cost(after, lead);
        // A line end or tab is escaped with a letter, and no vocabulary has it joined to the following word.
        if first == '\\' && length > 1 && after.starts_with(['n', 't', 'r']) {
            return (1 + length, 100 + word_cost(&after[1..], LeadingChar::Nothing).1);
        }
        let cost = if first.is_ascii() { cost } else { cost + non_ascii_cost(&text[..first.len_utf8()]) };
        return (first.len_utf8() + length, cost);
    }
    if first.is_whitespace() {
        let run: usize = text.chars().take_while(|c| c.is_whitespace()).map(char::len_utf8).sum();
        // The last one belongs to the next piece.
        let own = if run > 1 && run < text.len() { run - 1 } else { run };
        let own = if text.is_char_boundary(own) { own } else { run };
        return (own, 100 + (own as u64 / 16) * 100);
    }
    let is_sign = |c: &char| !c.is_alphanumeric() && !c.is_whitespace();
    let length: usize = text.chars().take_while(is_sign).map(char::len_utf8).sum();
    (length, sign_cost(&text[..length]))
}

/// Symbol ids are random letters and digits: `sym_` and 26 characters, `b3:` and 32.
fn symbol_id_cost(text: &str) -> Option<(usize, u64)> {
    let (start, length, is_hex) = match text {
        _ if text.starts_with("sym_") => (4, 26, false),
        _ if text.starts_with("b3:") => (3, 32, true),
        _ => return None,
    };
    let id = text.get(start..start + length).filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
    let mut sum = 200;
    let mut run = 0;
    let mut is_digits = false;
    let mut close = |run: u64, is_digits: bool| {
        sum += match run {
            0 => 0,
            _ if is_digits => run.div_ceil(3) * 100,
            1 => 100,
            2 => {
                if is_hex {
                    105
                } else {
                    120
                }
            }
            3 => {
                if is_hex {
                    160
                } else {
                    205
                }
            }
            _ if is_hex => 45 * run + 45,
            _ => 58 * run + 35,
        };
    };
    for byte in id.bytes() {
        if byte.is_ascii_digit() != is_digits {
            close(run, is_digits);
            run = 0;
            is_digits = byte.is_ascii_digit();
        }
        run += 1;
    }
    close(run, is_digits);
    Some((start + length, sum))
}

/// Checksums, keys and encoded bytes: long runs in which digits and letters alternate often.
fn key_cost(text: &str) -> Option<(usize, u64)> {
    const MIN_KEY_LEN: usize = 16;
    const MIN_SWITCHES: usize = 3;
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let length = text.bytes().take(256).take_while(is_part).count();
    if length < MIN_KEY_LEN {
        return None;
    }
    let run = &text.as_bytes()[..length];
    let switches = run.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count();
    (switches >= MIN_SWITCHES.max(length / 10)).then_some((length, length as u64 * 70 + 50))
}

/// A word: capitals, then small letters.
fn word_cost(text: &str, lead: LeadingChar) -> (usize, u64) {
    let capitals: usize = text.chars().take_while(|c| c.is_uppercase()).map(char::len_utf8).sum();
    let small = text[capitals..].chars().take_while(|c| c.is_alphabetic() && !c.is_uppercase());
    let length = capitals + small.map(char::len_utf8).sum::<usize>();
    let word = &text[..length];
    if !word.is_ascii() {
        return (length, non_ascii_cost(word) + 20);
    }
    (length, letters_cost(length as u64, length > 1 && capitals == length, lead))
}

fn letters_cost(length: u64, is_loud: bool, lead: LeadingChar) -> u64 {
    const SPACED: [u64; 13] = [0, 100, 102, 103, 104, 105, 106, 114, 122, 135, 140, 155, 190];
    const ALONE: [u64; 13] = [0, 104, 103, 106, 108, 110, 114, 128, 132, 158, 175, 180, 200];
    const SIGNED: [u64; 13] = [0, 104, 118, 124, 122, 132, 128, 142, 148, 178, 175, 210, 245];
    const LOUD: [u64; 13] = [0, 105, 120, 145, 165, 160, 155, 180, 245, 280, 300, 320, 350];
    let table = match lead {
        _ if is_loud => LOUD,
        LeadingChar::Space => SPACED,
        LeadingChar::Nothing => ALONE,
        LeadingChar::Sign => SIGNED,
    };
    match table.get(length as usize) {
        Some(cost) => *cost,
        None => 28 * length,
    }
}

/// Signs often form common pairs.
fn sign_cost(run: &str) -> u64 {
    let length = run.len() as u64;
    let same = run.bytes().all(|byte| Some(byte) == run.bytes().next());
    match length {
        _ if !run.is_ascii() => non_ascii_cost(run),
        1 => 100,
        2 => 104,
        3 => 140,
        4 => 190,
        5 => 195,
        _ if same => 100 + length * 100 / 12,
        _ => 45 * length + 10,
    }
}

/// Each character outside ASCII costs one token or more.
fn non_ascii_cost(text: &str) -> u64 {
    text.chars().map(|c| if c.is_ascii() { 50 } else { (c.len_utf8() as u64 - 1).max(1) * 100 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formula_matches_the_contract() {
        for (text, expected) in [("{}", 2), ("a b", 3), ("a b c d e f g h i j", 13), ("a\\n b", 3)] {
            assert_eq!(Cost::measure(text).formula, expected, "{text}");
        }
    }

    #[test]
    fn an_escape_is_not_a_part_of_the_word_behind_it() {
        let cost = |text: &str| hundredths(text, u64::MAX);
        assert_eq!(cost(r"\topts"), 100 + cost("opts"));
        assert_eq!(cost(r"\n\tif"), cost(r"\n") + 100 + cost("if"));
        assert_eq!(cost(r"\d"), letters_cost(1, false, LeadingChar::Sign));
    }

    #[test]
    fn a_key_costs_more_than_words_of_its_length() {
        let cost = |text: &str| hundredths(text, u64::MAX);
        let key = "ABCBTDG35OTGH2UKCC3S6CNMDUPCN3ZWSGFQ";
        assert!(cost(key) > 60 * key.len() as u64, "{}", cost(key));
        assert!(cost("testWBLAndMmapReplayAppendV2") < 50 * 28, "a name is none");
    }

    #[test]
    fn every_piece_has_a_cost() {
        let texts =
            ["", "a", "fooBar_baz", "\u{a0}\u{a0}x", "   \n\n x", "日本語", "e\u{301}", "🙂🙂", "sym_123", "b3:é"];
        for text in texts {
            let cost = Cost::measure(text);
            assert!(cost.tokens() >= (text.chars().count() as u64).div_ceil(MAX_BYTES_PER_TOKEN), "{text:?}: {cost:?}");
        }
    }

    #[test]
    fn no_item_is_below_the_minimum() {
        let (id, stable) = (format!("sym_{}", "0".repeat(26)), format!("b3:{}", "0".repeat(32)));
        let item = format!(
            "{{\"symbol_id\":\"{id}\",\"symbol_stable_id\":\"{stable}\",\"name\":\"\",\"qualified_name\":\"\",\
             \"kind\":\"fn\",\"path\":\"\",\"line_start\":1,\"line_end\":1,\"signature\":\"\",\
             \"language\":\"go\",\"score\":1.0}}"
        );
        let least = Cost::measure(&item).tokens();
        assert!((MIN_ITEM_TOKENS..MIN_ITEM_TOKENS + 40).contains(&least), "{least}");
    }

    #[test]
    fn bytes_per_token_are_bounded() {
        for length in 1..200 {
            for unit in [" ", "\n", "=", "a", "A", "1", "aB ", "- ", "é"] {
                let text = unit.repeat(length);
                let cost = hundredths(&text, u64::MAX);
                assert!(
                    text.len() as u64 * 100 <= cost * MAX_BYTES_PER_TOKEN,
                    "{} bytes of {unit:?} for {cost}",
                    text.len()
                );
            }
        }
    }

    #[test]
    fn spending_never_exceeds_the_budget() {
        for tokens in 0..400 {
            let mut budget = Budget::new(tokens, 1000);
            let texts: Vec<String> = (1..30).map(|number| "word and ".repeat(number * 7 % 23)).collect();
            let left: Vec<String> = texts.into_iter().filter(|text| !budget.take(text)).collect();
            assert!(budget.spent.tokens() <= tokens.max(1) && budget.spent.formula <= tokens, "{budget:?}");
            assert!(left.iter().all(|text| !budget.allows(Cost::measure(text))), "{budget:?}");
        }
    }
}
