//! Managed worktrees: the files of a ref in a folder of ours, for use in an editor or a build.
//!
//! They are written from git objects into the data folder, `worktrees/PROJECT/REF`, and only if the configuration
//! enables them. The user's repository has no record of them.

use std::fs;
use std::path::{Path, PathBuf};

use codecompass_index::Target;
use codecompass_model::ids::content_hash;
use codecompass_store::private;

use crate::error::{AppError, Code};
use crate::session::Session;

/// The folder with the files of a ref, created or updated if necessary.
pub fn ensure(session: &Session, target: &Target) -> Result<Option<PathBuf>, AppError> {
    let (Some(repo), Some(commit)) = (&session.workspace.repo, &target.commit) else { return Ok(None) };
    let home = worktrees_folder(session);
    let wanted = format!("{}\n{commit}\n", target.ref_name);
    let slug = slug(&home, &target.ref_name);
    let (folder, note) = (home.join(&slug), home.join(format!("{slug}.ref")));
    if folder.is_dir() && fs::read_to_string(&note).is_ok_and(|known| known == wanted) {
        return Ok(Some(folder));
    }
    // Written beside it and moved, so that a partial folder is never visible. The note is written last, so that a
    // folder without one is written again.
    let beside = |what: &str| home.join(format!("{slug}.{what}-{}", std::process::id()));
    let (new, old) = (beside("new"), beside("old"));
    let made = || -> Result<(), AppError> {
        private::create_folder(&home).map_err(|error| worktree_error(&home, &error))?;
        let _ = fs::remove_dir_all(&new);
        repo.write_files(commit, &new).map_err(codecompass_index::IndexError::from)?;
        if note.exists() {
            fs::remove_file(&note).map_err(|error| worktree_error(&note, &error))?;
        }
        if folder.exists() {
            fs::rename(&folder, &old).map_err(|error| worktree_error(&folder, &error))?;
        }
        fs::rename(&new, &folder).map_err(|error| worktree_error(&folder, &error))?;
        private::write(&note, wanted.as_bytes()).map_err(|error| worktree_error(&note, &error))
    };
    let outcome = made();
    let _ = fs::remove_dir_all(&new);
    let _ = fs::remove_dir_all(&old);
    outcome.map_err(|error| AppError { code: Code::OverlayNotReady, ..error })?;
    Ok(Some(folder))
}

/// Removes the folder of a ref, if there is one.
pub fn remove(session: &Session, ref_name: &str) -> Result<bool, AppError> {
    let home = worktrees_folder(session);
    let slug = slug(&home, ref_name);
    let (folder, note) = (home.join(&slug), home.join(format!("{slug}.ref")));
    if !is_owner(&note, ref_name) {
        return Ok(false);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| worktree_error(&folder, &error))?;
    }
    fs::remove_file(&note).map_err(|error| worktree_error(&note, &error))?;
    Ok(true)
}

fn worktrees_folder(session: &Session) -> PathBuf {
    session.data_folder().join("worktrees").join(&session.project_id)
}

/// A folder name that is valid on every file system. If another ref has the same name, a hash distinguishes them.
fn slug(home: &Path, ref_name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain: String = ref_name.chars().map(|c| if is_plain(c) { c } else { '-' }).take(80).collect();
    let plain = plain.trim_matches('.').to_owned();
    let note = home.join(format!("{plain}.ref"));
    if !plain.is_empty() && (!note.exists() || is_owner(&note, ref_name)) {
        return plain;
    }
    format!("{plain}-{:08x}", content_hash(&[ref_name.as_bytes()]) as u32)
}

fn is_owner(note: &Path, ref_name: &str) -> bool {
    fs::read_to_string(note).is_ok_and(|known| known.lines().next() == Some(ref_name))
}

fn worktree_error(path: &Path, error: &std::io::Error) -> AppError {
    AppError::new(Code::InternalError, format!("{}: {error}.", path.display()))
        .hint("Check that the disk has space and the data folder is writable.")
}
