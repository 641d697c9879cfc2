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
