//! Folders of foreign or derived files, which are left out without anybody asking.

/// Folders that hold foreign or derived files whether they are tracked or not.
const FOREIGN: &[&str] = &[
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
const DERIVED_UNLESS_TRACKED: &[&str] = &["build", "dist", "out", "target", "venv"];

/// Whether a folder of this name is left out, unless an ignore file brings it back.
pub(super) fn is_left_out_folder(name: &str, tracked: bool) -> bool {
    FOREIGN.contains(&name) || (!tracked && is_ambiguous_folder(name))
}

/// Whether tracking decides about a folder of this name.
pub(super) fn is_ambiguous_folder(name: &str) -> bool {
    DERIVED_UNLESS_TRACKED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_folders_are_left_out_only_when_untracked() {
        assert!(is_left_out_folder("target", false) && !is_left_out_folder("target", true));
        assert!(is_left_out_folder("vendor", false) && is_left_out_folder("vendor", true));
        assert!(!is_left_out_folder("src", false));
    }
}
