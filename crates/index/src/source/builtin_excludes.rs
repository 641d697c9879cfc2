//! Folders of foreign or derived files, which are left out without anybody asking.

/// Folders that hold foreign or derived files whether they are tracked or not.
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

/// Folders that hold derived files in one project and source in another: who tracks something in them means source.
const EXCLUDED_UNLESS_TRACKED: &[&str] = &["build", "dist", "out", "target", "venv"];

/// Whether a folder of this name is left out, unless an ignore file brings it back.
pub(super) fn is_excluded_folder(name: &str, tracked: bool) -> bool {
    EXCLUDED_FOLDERS.contains(&name) || (!tracked && is_ambiguous_folder(name))
}

/// Whether tracking decides about a folder of this name.
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
