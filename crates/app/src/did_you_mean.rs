//! Similar names: suggestions for a mistyped path, key or variable.

/// The candidates most similar to a word, the nearest first; candidates that differ too much are left out.
pub(crate) fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>, most: usize) -> Vec<&'c str> {
    let wanted: Vec<char> = word.to_lowercase().chars().collect();
    let allowed = (wanted.len() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = candidates
        .filter_map(|candidate| {
            let other: Vec<char> = candidate.to_lowercase().chars().collect();
            let far = other.len().abs_diff(wanted.len()) > allowed;
            let distance = if far { usize::MAX } else { distance(&wanted, &other) };
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, candidate)| candidate).collect()
}

/// The edit distance: letters inserted, removed, changed or swapped with the next one.
fn distance(one: &[char], two: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in two.iter().enumerate() {
            let mut least = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == two[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[two.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_are_near_and_other_words_are_not() {
        let names = ["mod.rs", "roots.rs", "stdio.rs", "message.rs"];
        let near = |word: &str| nearest(word, names.iter().copied(), 3);
        assert_eq!(near("mdo.rs"), ["mod.rs"]);
        assert_eq!(near("Root.rs"), ["roots.rs"]);
        assert_eq!(near("mesage.rs"), ["message.rs"]);
        assert!(near("config.toml").is_empty() && near("").is_empty());
    }
}
