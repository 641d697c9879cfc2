//! Path predicates: matches with typed paths, and the kind of a file.

use codecompass_model::Languages;

/// Whether a path ends with another one at a folder boundary.
pub(super) fn ends_with_path(path: &str, end: &str) -> bool {
    let end = end.trim_matches('/');
    path.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/')) && !end.is_empty()
}

/// Whether a path matches the typed one; either may have additional leading folders.
pub(super) fn matches_typed_path(path: &str, typed: &str) -> bool {
    ends_with_path(path, typed) || ends_with_path(typed, path)
}

/// Whether a file is in a folder of this name at any depth.
pub(super) fn is_under_folder(path: &str, folder: &str) -> bool {
    let folder = folder.trim_matches('/');
    let starts = |at: usize| at == 0 || path.as_bytes()[at - 1] == b'/';
    !folder.is_empty()
        && path.match_indices(folder).any(|(at, _)| starts(at) && path[at + folder.len()..].starts_with('/'))
}

/// Whether two paths share the file name and its folder: a trace names files at their installed location.
pub(super) fn shares_file_and_folder(path: &str, printed: &str) -> bool {
    let mut printed = printed.rsplit(['/', '\\']);
    let mut path = path.rsplit('/');
    path.next() == printed.next() && path.next().is_some_and(|folder| printed.next() == Some(folder))
}

/// Returns the part of a path that names the file: its stem, or its folder for files that are named for the folder.
pub(super) fn file_stem<'p>(languages: &dyn Languages, path: &'p str) -> &'p str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name);
    match languages.is_named_for_folder(stem) {
        true => path.rsplit('/').nth(1).unwrap_or(stem),
        false => stem,
    }
}

fn folders_and_name(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Whether one of the folders has one of the names, ignoring case.
fn is_in_folder_named(folders: &str, names: &[&str]) -> bool {
    folders.split('/').any(|folder| names.iter().any(|name| folder.eq_ignore_ascii_case(name)))
}

/// Whether a path is an example, a benchmark or a fixture.
pub(crate) fn is_example(path: &str) -> bool {
    const EXAMPLE_FOLDERS: &[&str] = &[
        "example",
        "examples",
        "_examples",
        "benches",
        "benchmark",
        "benchmarks",
        "demo",
        "demos",
        "fixtures",
        "samples",
    ];
    is_in_folder_named(folders_and_name(path).0, EXAMPLE_FOLDERS)
}

/// Whether a path is in the project's docs folder. Code there builds the docs or is shown in them.
pub(super) fn is_in_docs(path: &str) -> bool {
    ["docs/", "doc/"].iter().any(|folder| path.starts_with(folder))
}

/// Whether a path is a stub or a file that mostly re-exports other files.
pub(crate) fn is_reexport_or_stub(languages: &dyn Languages, path: &str) -> bool {
    let (folders, file) = folders_and_name(path);
    languages.is_reexport_file(file) || is_in_folder_named(folders, &["compat", "deprecated", "legacy"])
}

/// Returns a path without its extension.
pub(super) fn without_extension(path: &str) -> &str {
    match path.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.is_empty() && !stem.ends_with('/') => stem,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_suffixes_match_at_separators() {
        for (path, end, expected) in [
            ("src/auth/jwt.rs", "jwt.rs", true),
            ("src/auth/jwt.rs", "auth/jwt.rs", true),
            ("src/auth/jwt.rs", "wt.rs", false),
            ("jwt.rs", "jwt.rs", true),
            ("jwt.rs", "/", false),
        ] {
            assert_eq!(ends_with_path(path, end), expected, "{path} {end}");
        }
        for (folder, expected) in
            [("src/auth", true), ("auth/", true), ("rc/auth", false), ("auth/jw", false), ("/", false)]
        {
            assert_eq!(is_under_folder("src/auth/jwt.rs", folder), expected, "{folder}");
        }
    }
}
