//! Folders of third-party or derived files that are excluded by default.

/// Folders that hold third-party or derived files, tracked or not.
const EXCLUDED_FOLDERS: &[&str] = &[
    ".cache",
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".venv",
    "Pods",
    "__pycache__",
    "bower_components",
    "node_modules",
    "vendor",
];

/// Folders that hold derived files in one project and source in another: if files in them are tracked, they are source.
const EXCLUDED_UNLESS_TRACKED: &[&str] = &["build", "dist", "out", "target", "venv"];

/// Whether a folder with this name is excluded, unless an ignore file includes it again.
pub(super) fn is_excluded_folder(name: &str, tracked: bool) -> bool {
    EXCLUDED_FOLDERS.contains(&name) || (!tracked && is_ambiguous_folder(name))
}

/// Whether it depends on tracking if a folder with this name is excluded.
pub(super) fn is_ambiguous_folder(name: &str) -> bool {
    EXCLUDED_UNLESS_TRACKED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_folders_are_left_out_only_when_untracked() {
        assert!(is_excluded_folder("target", false) && !is_excluded_folder("target", true));
        assert!(is_excluded_folder("vendor", false) && is_excluded_folder("vendor", true));
        assert!(!is_excluded_folder("src", false));
    }
}
