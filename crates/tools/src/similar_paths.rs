//! Suggestions for a mistyped path: files and folders of the view with a similar name.

use std::collections::BTreeSet;

use codecompass_store::Snapshot;

use codecompass_workspace::did_you_mean::nearest;
use codecompass_workspace::error::AppError;

/// The maximum number of suggestions.
const MAX_SUGGESTIONS: usize = 5;

/// Files with the name of the path or below a folder like it; else similar names in its folder, then in any folder, and
/// folders with a similar path.
pub fn similar_paths(snapshot: &Snapshot, path: &str) -> Result<Vec<String>, AppError> {
    let catalogue = snapshot.versions_by_id()?;
    let all = catalogue.values().map(|version| version.path.as_str()).collect();
    Ok(similar(all, path.trim_matches('/')))
}

/// The order of `all` does not count: a catalogue lists versions in the order in which they were stored.
fn similar(mut all: Vec<&str>, path: &str) -> Vec<String> {
    all.sort_unstable();
    let name = file_name(path);
    let is_same = |known: &&&str| file_name(known) == name || known.ends_with(&format!("/{path}"));
    let mut found: Vec<String> = all.iter().filter(is_same).map(|known| (*known).to_owned()).collect();
    // A typo: the nearest name of the same folder, otherwise a similar path.
    if found.is_empty() {
        let folder = &path[..path.len() - name.len()];
        let beside = all.iter().filter_map(|known| known.strip_prefix(folder)).filter(|rest| !rest.contains('/'));
        found.extend(nearest(name, beside, MAX_SUGGESTIONS).into_iter().map(|rest| format!("{folder}{rest}")));
    }
    if found.is_empty() {
        found.extend(nearest(path, all.iter().copied(), MAX_SUGGESTIONS).into_iter().map(str::to_owned));
    }
    if found.is_empty() {
        let folders: BTreeSet<&str> = all.iter().flat_map(|known| folders_above(known)).collect();
        found.extend(nearest(path, folders.iter().copied(), MAX_SUGGESTIONS).into_iter().map(str::to_owned));
    }
    if found.is_empty() {
        let names: BTreeSet<&str> = all.iter().map(|known| file_name(known)).collect();
        let near = nearest(name, names.into_iter(), MAX_SUGGESTIONS);
        found.extend(
            near.iter()
                .flat_map(|near| all.iter().filter(move |known| file_name(known) == *near))
                .map(|known| (*known).to_owned()),
        );
    }
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// The question whether one of these is meant; `None` without suggestions.
pub fn did_you_mean(paths: &[String]) -> Option<String> {
    (!paths.is_empty()).then(|| format!("Did you mean {}?", paths.join(", ")))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_paths_are_suggested() {
        let all = ["Makefile", "src/core/main.rs", "src/core/search.rs", "src/ignore/walk.rs", "tests/walk.rs"];
        let table: &[(&str, &[&str])] = &[
            ("src/core/mian.rs", &["src/core/main.rs"]),
            ("core/main.rs", &["src/core/main.rs"]),
            ("lib/walk.rs", &["src/ignore/walk.rs", "tests/walk.rs"]),
            ("src/cor", &["src/core"]),
            ("src/cor/", &["src/core"]),
            ("lib/serch.rs", &["src/core/search.rs"]),
            ("lib/wlak.rs", &["src/ignore/walk.rs", "tests/walk.rs"]),
            ("makefle", &["Makefile"]),
            ("quite/other.py", &[]),
        ];
        for (path, expected) in table {
            assert_eq!(similar(all.to_vec(), path.trim_matches('/')), *expected, "{path}");
            let stored_later: Vec<&str> = all.iter().rev().copied().collect();
            assert_eq!(similar(stored_later, path.trim_matches('/')), *expected, "{path}, stored in another order");
        }
    }
}
