//! Similar names: suggestions for a mistyped path, key or variable.

use strsim::osa_distance;

/// The candidates most similar to a word, the nearest first; candidates that differ too much are left out.
pub fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>, most: usize) -> Vec<&'c str> {
    let wanted = word.to_lowercase();
    let letters = wanted.chars().count();
    let allowed = (letters / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = candidates
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let far = other.chars().count().abs_diff(letters) > allowed;
            let distance = if far { usize::MAX } else { osa_distance(&wanted, &other) };
            (distance <= allowed).then_some((distance, candidate))
        })
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(most).map(|(_, candidate)| candidate).collect()
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
        let swapped_and_edited = nearest("cafile", ["abcfile"].into_iter(), 3);
        assert!(swapped_and_edited.is_empty(), "swapped letters are not edited again");
    }
}
