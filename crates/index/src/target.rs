//! Resolves a ref name to a view of a workspace.

use codecompass_model::ViewKey;

use crate::IndexError;
use crate::source::{Head, Workspace};

/// A view to build or query, with its ref name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The view.
    pub key: ViewKey,
    /// The branch, tag or commit id of the view; `live` without version control.
    pub ref_name: String,
    /// Its current commit.
    pub commit: Option<String>,
}

impl Target {
    /// Resolves `name` in a workspace. Without a name, and for the checked-out branch, returns the work tree with its
    /// uncommitted edits; for any other name, returns what git has.
    pub fn resolve(workspace: &Workspace, name: Option<&str>) -> Result<Self, IndexError> {
        let root = workspace.root.to_string_lossy().into_owned();
        let Some(repo) = &workspace.repo else {
            return match name {
                None | Some("live") => Ok(Self { key: ViewKey::Worktree(root), ref_name: "live".into(), commit: None }),
                Some(_) => Err(IndexError::NoVersionControl(root)),
            };
        };
        let head = repo.head()?;
        let means_head = match name {
            None | Some("HEAD") => true,
            Some(name) => {
                head.branch.as_deref() == Some(name) || (head.branch.is_none() && head.commit.as_deref() == Some(name))
            }
        };
        if means_head && !repo.is_bare() {
            return Ok(Self::worktree(workspace, head));
        }
        let name = match name {
            Some(name) if !means_head => name.to_owned(),
            _ => head.branch.or(head.commit).ok_or(IndexError::NoCommit)?,
        };
        let resolved = repo.resolve(&name)?;
        let ref_name = match &resolved.key {
            ViewKey::Ref(name) => name.clone(),
            _ => resolved.commit.clone(),
        };
        Ok(Self { key: resolved.key, ref_name, commit: Some(resolved.commit) })
    }

    /// Returns the work tree, named after what is checked out in it.
    pub(crate) fn worktree(workspace: &Workspace, head: Head) -> Self {
        let key = ViewKey::Worktree(workspace.root.to_string_lossy().into_owned());
        let ref_name = head.branch.or_else(|| head.commit.clone()).unwrap_or_else(|| "HEAD".into());
        Self { key, ref_name, commit: head.commit }
    }

    /// Whether this is a work tree or a plain folder, and not a git ref.
    pub fn is_worktree(&self) -> bool {
        matches!(self.key, ViewKey::Worktree(_))
    }
}
