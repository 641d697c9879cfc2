//! Names that are nearly the one nobody has.

use std::collections::BTreeSet;

use codecompass_model::SymbolKind;
use codecompass_store::{Record, Result, Snapshot};

/// The symbol names of the view that are nearest to a name, the nearest first, at most so many.
pub fn nearest_names(snapshot: &Snapshot, name: &str, most: usize) -> Result<Vec<String>> {
    let last = name.rsplit([':', '.', '/']).next().unwrap_or(name);
    let wanted: Vec<char> = plain(last);
    let Some(first) = last.trim_matches('_').chars().next().filter(|_| wanted.len() >= 3) else {
        return Ok(Vec::new());
    };
    let allowed = wanted.len() / 4 + 1;
    let mut near: Vec<(usize, String)> = Vec::new();
    for word in snapshot.words_with_prefix(Record::Symbol, &first.to_lowercase().to_string())? {
        let other = plain(&word);
        let distance =
            if other.len().abs_diff(wanted.len()) > allowed { usize::MAX } else { distance(&wanted, &other) };
        let begins_alike = other.len() > wanted.len() && wanted.len() >= 4 && other.starts_with(&wanted);
        match (distance <= allowed, begins_alike) {
            (true, _) => near.push((distance, word)),
            (false, true) => near.push((allowed + other.len() - wanted.len(), word)),
            _ => {}
        }
    }
    near.sort();
    let mut names = Vec::new();
    for (_, word) in near {
        if names.len() >= most {
            break;
        }
        // Words are in lower case, and may be of other views.
        let rows = snapshot.symbols_named_like(&word)?;
        let found: BTreeSet<String> =
            rows.into_iter().filter(|row| row.kind != SymbolKind::Use).map(|row| row.name).collect();
        names.extend(found);
    }
    names.truncate(most);
    Ok(names)
}

/// The letters and digits in lower case.
fn plain(word: &str) -> Vec<char> {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters have to be changed, added, left out or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let changed = rows[i][j] + usize::from(x != y);
            let mut least = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(rows[i - 1][j - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
}
