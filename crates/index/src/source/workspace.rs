//! Which folder is meant by a path: the git work tree around it, or the folder itself.

use std::path::{Path, PathBuf};

use super::worktree::is_repository;
use super::{FileStat, Repo, SourceError, real_path};

/// A folder that is indexed as a whole, with its repository if it has one.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Its real path. For a bare repository, the git folder.
    pub root: PathBuf,
    /// The repository whose work tree, or git folder, the root is.
    pub repo: Option<Repo>,
    /// The inode of a folder without a repository, which tells it from another one that was put in its place.
    inode: Option<u64>,
}

impl Workspace {
    /// The git work tree around this folder, or the bare repository it stands in, or else the folder itself.
    ///
    /// A `.git` that is there but can not be opened is an error rather than a reason to look further up; an empty
    /// folder of that name is nothing, as for git. The root of the file system and the home folder are refused when the
    /// path names them. When a path below has such a folder as its work tree (dot-files kept in git), that repository
    /// is passed over and the folder stands for itself.
    pub fn discover(path: &Path, home: Option<&Path>) -> Result<Workspace, SourceError> {
        let real = real_path(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => SourceError::MissingPath { path: path.to_owned() },
            std::io::ErrorKind::NotADirectory => SourceError::NotAFolder { path: path.to_owned() },
            _ => SourceError::io(path, error),
        })?;
        if !real.is_dir() {
            return Err(SourceError::NotAFolder { path: path.to_owned() });
        }
        let home = home.and_then(|home| real_path(home).ok());
        let is_refused = |folder: &Path| folder.parent().is_none() || home.as_deref() == Some(folder);
        for folder in real.ancestors() {
            if let Some(found) = open_at(folder)?
                && !is_refused(&found.root)
            {
                return Ok(found);
            }
        }
        if is_refused(&real) {
            return Err(SourceError::RefusedRoot { path: real });
        }
        Ok(Workspace { inode: inode_of(&real), root: real, repo: None })
    }

    /// Whether the root still is what was found there. Folders can be moved, also by moving one above them, and others
    /// put in their place; a watch that was set up before then looks elsewhere.
    pub fn is_in_place(&self) -> bool {
        match &self.repo {
            Some(repo) => repo.is_in_place(),
            None => self.inode.is_some() && inode_of(&self.root) == self.inode && !is_repository(&self.root),
        }
    }

    /// The path that names the project: the real path of the common git folder, which linked work trees share, or the
    /// root.
    pub fn project_key(&self) -> PathBuf {
        self.repo.as_ref().map_or_else(|| self.root.clone(), |repo| repo.common_dir().to_owned())
    }
}

fn inode_of(folder: &Path) -> Option<u64> {
    folder.metadata().ok().filter(|metadata| metadata.is_dir()).map(|metadata| FileStat::of(&metadata).inode)
}

/// The repository that has this folder as its work tree or as its git folder.
fn open_at(folder: &Path) -> Result<Option<Workspace>, SourceError> {
    let dot_git = folder.join(".git");
    let repo = if dot_git.is_file() {
        Repo::open(&dot_git, Some(folder))?
    } else if dot_git.join("HEAD").symlink_metadata().is_ok() {
        Repo::open(&dot_git, Some(folder))?.without_work_tree_if_bare()
    } else if folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir() {
        let work_tree = folder.parent().filter(|_| folder.ends_with(".git"));
        Repo::open(folder, work_tree)?.without_work_tree_if_bare()
    } else {
        return Ok(None);
    };
    let root = repo.work_tree().unwrap_or(repo.git_dir()).to_owned();
    Ok(Some(Workspace { root, repo: Some(repo), inode: None }))
}
