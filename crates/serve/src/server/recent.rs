//! The recently used workspaces, kept in the data folder so that the next server can warm them first.

use std::path::{Path, PathBuf};

use codecompass_store::private;

/// The maximum number of remembered workspaces.
const MAX_RECENT: usize = 20;

const FILE: &str = "recent";

/// The roots, the last used first. Missing folders are skipped.
pub(super) fn list(data: &Path) -> Vec<PathBuf> {
    let text = std::fs::read_to_string(data.join(FILE)).unwrap_or_default();
    text.lines().map(PathBuf::from).filter(|root| root.is_dir()).take(MAX_RECENT).collect()
}

/// Adds a root that is not remembered. A workspace that is opened before the data folder exists is added when its first
/// index is published.
pub(super) fn note_if_new(data: &Path, root: &Path) {
    if !list(data).iter().any(|known| known == root) {
        note(data, root);
    }
}

/// Puts a root first. A failure is ignored: the list is only an optimization.
pub(super) fn note(data: &Path, root: &Path) {
    let mut roots = list(data);
    if roots.first().is_some_and(|first| first == root) || !data.is_dir() || root.to_str().is_none() {
        return;
    }
    roots.retain(|known| known != root);
    roots.insert(0, root.to_owned());
    let lines: Vec<&str> = roots.iter().take(MAX_RECENT).filter_map(|root| root.to_str()).collect();
    let fresh = data.join(format!("{FILE}.{}", std::process::id()));
    if private::write(&fresh, lines.join("\n").as_bytes()).is_ok() {
        let _ = std::fs::rename(&fresh, data.join(FILE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_opened_before_the_data_folder_exists_is_added_later() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("data");
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        for root in [&one, &other] {
            std::fs::create_dir(root).expect("it can be created");
        }
        note(&data, &one);
        assert!(!data.exists(), "opening a workspace creates no data folder");

        std::fs::create_dir(&data).expect("it can be created");
        note_if_new(&data, &one);
        note(&data, &other);
        note_if_new(&data, &one);
        assert_eq!(list(&data), [other, one], "a publication does not change the order of use");
    }
}
