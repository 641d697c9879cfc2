//! Similar names: suggestions for a name that no symbol has.

use codecompass_store::{PrefixDecision, Result, Snapshot, TextField};

/// Returns up to `most` symbol names of the view that are similar to a name, nearest first.
pub fn nearest_names(snapshot: &Snapshot, name: &str, most: usize) -> Result<Vec<String>> {
    let last = name.rsplit([':', '.', '/']).next().unwrap_or(name);
    let wanted: Vec<char> = letters_of(last);
    let Some(first) = last.trim_matches('_').chars().next().filter(|_| wanted.len() >= 3) else {
        return Ok(Vec::new());
    };
    let allowed = wanted.len() / 4 + 1;
    let begins_alike = |word: &str| wanted.len() >= 4 && letters(word).take(wanted.len()).eq(wanted.iter().copied());
    let fit =
        |word: &str| if begins_alike(word) { PrefixDecision::Accept } else { prefix_decision(&wanted, word, allowed) };
    let mut near: Vec<(usize, String)> = Vec::new();
    for word in snapshot.words_with_prefix(TextField::Name, &first.to_lowercase().to_string(), fit)? {
        let other = letters_of(&word);
        let distance =
            if other.len().abs_diff(wanted.len()) > allowed { usize::MAX } else { distance(&wanted, &other) };
        match distance <= allowed {
            true => near.push((distance, word)),
            false if other.len() > wanted.len() && begins_alike(&word) => {
                near.push((allowed + other.len() - wanted.len(), word));
            }
            false => {}
        }
    }
    near.sort();
    let mut names = Vec::new();
    for (_, word) in near {
        if names.len() >= most {
            break;
        }
        // Indexed words are in lower case and may come from other views.
        names.extend(snapshot.names_like(&word)?);
    }
    names.truncate(most);
    Ok(names)
}

/// The letters and digits in lower case.
fn letters(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

fn letters_of(word: &str) -> Vec<char> {
    letters(word).collect()
}

/// Whether a word is within the allowed distance; if not, whether one of its prefixes rules it out already.
fn prefix_decision(wanted: &[char], word: &str, allowed: usize) -> PrefixDecision {
    let mut rows = EditDistance::new(wanted);
    let mut least = 0;
    for (at, char) in word.char_indices().filter(|(_, char)| char.is_alphanumeric()) {
        for letter in char.to_lowercase() {
            rows.push(letter);
            // A transposition refers to the row before the last one, so both rows must exceed the limit.
            let before = std::mem::replace(&mut least, rows.minimum());
            if before.min(least) > allowed {
                return PrefixDecision::RejectPrefix(at + char.len_utf8());
            }
        }
    }
    if rows.last() <= allowed { PrefixDecision::Accept } else { PrefixDecision::Reject }
}

/// Returns the number of changed, added, removed or transposed letters.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = EditDistance::new(b);
    a.iter().for_each(|letter| rows.push(*letter));
    rows.last()
}

/// Edit distances of a growing word to all prefixes of another word.
struct EditDistance<'w> {
    wanted: &'w [char],
    letter: Option<char>,
    second_last: Vec<usize>,
    last: Vec<usize>,
    row: Vec<usize>,
}

impl<'w> EditDistance<'w> {
    fn new(wanted: &'w [char]) -> Self {
        let row = Vec::from_iter(0..=wanted.len());
        Self { wanted, letter: None, second_last: Vec::new(), last: Vec::new(), row }
    }

    fn push(&mut self, letter: char) {
        let free = std::mem::take(&mut self.second_last);
        self.second_last = std::mem::take(&mut self.last);
        self.last = std::mem::replace(&mut self.row, free);
        self.row.clear();
        self.row.push(self.last[0] + 1);
        for (j, other) in self.wanted.iter().enumerate() {
            let changed = self.last[j] + usize::from(letter != *other);
            let mut least = changed.min(self.last[j + 1] + 1).min(self.row[j] + 1);
            if j > 0 && letter == self.wanted[j - 1] && self.letter == Some(*other) {
                least = least.min(self.second_last[j - 1] + 1);
            }
            self.row.push(least);
        }
        self.letter = Some(letter);
    }

    fn minimum(&self) -> usize {
        self.row.iter().copied().min().unwrap_or(0)
    }

    fn last(&self) -> usize {
        self.row[self.wanted.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposition_counts_as_one_edit() {
        for (a, b, expected) in [("token", "token", 0), ("tokne", "token", 1), ("tken", "token", 1), ("abc", "xyz", 3)]
        {
            assert_eq!(distance(&letters_of(a), &letters_of(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn rejected_prefixes_have_no_near_words() {
        let words = ["type", "types", "typed", "tpyes", "tests", "testing", "tyres", "stypes", "typescript", "ty_pes"];
        for wanted in words.map(letters_of) {
            for (word, allowed) in words.iter().zip([1, 2].into_iter().cycle()) {
                let far = |other: &str| distance(&wanted, &letters_of(other)) > allowed;
                match prefix_decision(&wanted, word, allowed) {
                    PrefixDecision::Accept => assert!(!far(word), "{word} {wanted:?}"),
                    PrefixDecision::Reject => assert!(far(word), "{word} {wanted:?}"),
                    PrefixDecision::RejectPrefix(bytes) => {
                        let alike = words.iter().filter(|other| other.starts_with(&word[..bytes]));
                        alike.for_each(|other| assert!(far(other), "{word} hides {other} from {wanted:?}"));
                    }
                }
            }
        }
    }
}
