//! Similar names: suggestions for a name that no symbol has.

use codecompass_store::{Fit, Part, Result, Snapshot};

/// Returns up to `most` symbol names of the view that are similar to a name, nearest first.
pub fn nearest_names(snapshot: &Snapshot, name: &str, most: usize) -> Result<Vec<String>> {
    let last = name.rsplit([':', '.', '/']).next().unwrap_or(name);
    let wanted: Vec<char> = plain(last);
    let Some(first) = last.trim_matches('_').chars().next().filter(|_| wanted.len() >= 3) else {
        return Ok(Vec::new());
    };
    let allowed = wanted.len() / 4 + 1;
    let begins_alike = |word: &str| wanted.len() >= 4 && letters(word).take(wanted.len()).eq(wanted.iter().copied());
    let fit = |word: &str| if begins_alike(word) { Fit::Wanted } else { is_near(&wanted, word, allowed) };
    let mut near: Vec<(usize, String)> = Vec::new();
    for word in snapshot.words_with_prefix(Part::Name, &first.to_lowercase().to_string(), fit)? {
        let other = plain(&word);
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

fn plain(word: &str) -> Vec<char> {
    letters(word).collect()
}

/// Whether a word is within the allowed distance; if not, whether one of its prefixes rules it out already.
fn is_near(wanted: &[char], word: &str, allowed: usize) -> Fit {
    let mut rows = Rows::new(wanted);
    let mut least = 0;
    for (at, char) in word.char_indices().filter(|(_, char)| char.is_alphanumeric()) {
        for letter in char.to_lowercase() {
            rows.push(letter);
            // A transposition refers to the row before the last one, so both rows must exceed the limit.
            let before = std::mem::replace(&mut least, rows.least());
            if before.min(least) > allowed {
                return Fit::UnwantedWithAll(at + char.len_utf8());
            }
        }
    }
    if rows.last() <= allowed { Fit::Wanted } else { Fit::Unwanted }
}

/// Returns the number of changed, added, removed or transposed letters.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = Rows::new(b);
    a.iter().for_each(|letter| rows.push(*letter));
    rows.last()
}

/// Edit distances of a growing word to all prefixes of another word.
struct Rows<'w> {
    wanted: &'w [char],
    letter: Option<char>,
    second_last: Vec<usize>,
    last: Vec<usize>,
    row: Vec<usize>,
}

impl<'w> Rows<'w> {
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

    fn least(&self) -> usize {
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
    fn a_swap_is_one_change() {
        for (a, b, expected) in [("token", "token", 0), ("tokne", "token", 1), ("tken", "token", 1), ("abc", "xyz", 3)]
        {
            assert_eq!(distance(&plain(a), &plain(b)), expected, "{a} {b}");
        }
    }

    #[test]
    fn what_is_read_past_is_not_near() {
        let words = ["type", "types", "typed", "tpyes", "tests", "testing", "tyres", "stypes", "typescript", "ty_pes"];
        for wanted in words.map(plain) {
            for (word, allowed) in words.iter().zip([1, 2].into_iter().cycle()) {
                let far = |other: &str| distance(&wanted, &plain(other)) > allowed;
                match is_near(&wanted, word, allowed) {
                    Fit::Wanted => assert!(!far(word), "{word} {wanted:?}"),
                    Fit::Unwanted => assert!(far(word), "{word} {wanted:?}"),
                    Fit::UnwantedWithAll(bytes) => {
                        let alike = words.iter().filter(|other| other.starts_with(&word[..bytes]));
                        alike.for_each(|other| assert!(far(other), "{word} hides {other} from {wanted:?}"));
                    }
                }
            }
        }
    }
}
