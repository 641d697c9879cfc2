//! Finds the workspace of a path: the enclosing git work tree, or the folder itself.

use std::path::{Path, PathBuf};

use super::git_folder::GitFolder;
use super::worktree::is_repository;
use super::{Access, FileStat, Repo, SourceError, real_path};

/// A folder that is indexed as a whole, with its repository if it has one.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// Its real path. For a bare repository, the git folder.
    pub root: PathBuf,
    /// The repository; the root is its work tree or its git folder.
    pub repo: Option<Repo>,
    /// The inode of a folder without a repository. It distinguishes the folder from one that replaced it.
    inode: Option<u64>,
}

impl Workspace {
    /// Returns the git work tree that contains this folder, or the bare repository that contains it, or else the folder
    /// itself.
    ///
    /// A `.git` that exists but cannot be opened is an error rather than a reason to search further up; an empty folder
    /// of that name is ignored, as in git. The root of the file system and the home folder are refused if the path
    /// names them. If such a folder is the work tree of a path below it (dot-files kept in git), that repository is
    /// ignored and the named folder itself is the workspace.
    pub fn discover(path: &Path, home: Option<&Path>) -> Result<Workspace, SourceError> {
        Self::discover_with(path, home, &Access::default())
    }

    /// [`Workspace::discover`] under the limits of `access`.
    pub(super) fn discover_with(path: &Path, home: Option<&Path>, access: &Access) -> Result<Workspace, SourceError> {
        let (real, refused) = Refused::at(path, home)?;
        for folder in real.ancestors() {
            if let Some(found) = Marker::at(folder) {
                let found = found.open(folder, access)?;
                if !refused.has(&found.root) {
                    return Ok(found);
                }
            }
        }
        if refused.has(&real) {
            return Err(SourceError::RefusedRoot { path: real });
        }
        Ok(Workspace { inode: inode_of(&real), root: real, repo: None })
    }

    /// Returns the root that [`Workspace::discover`] finds, and the path that identifies its project. Opens no
    /// repository: it only stats files and follows the paths in `.git` and `commondir`.
    pub fn locate(path: &Path, home: Option<&Path>) -> Result<Located, SourceError> {
        let (real, refused) = Refused::at(path, home)?;
        for folder in real.ancestors() {
            let Some(marker) = Marker::at(folder) else { continue };
            let root = marker.work_tree(folder).unwrap_or(folder).to_owned();
            if refused.has(&root) {
                continue;
            }
            let project_key = GitFolder::find(&marker.entry(folder))?.common_dir;
            return Ok(Located { root, project_key, is_repository: true });
        }
        if refused.has(&real) {
            return Err(SourceError::RefusedRoot { path: real });
        }
        Ok(Located { project_key: real.clone(), root: real, is_repository: false })
    }

    /// Whether the root is still the folder that was found. Folders can be moved, also by moving a parent, and replaced
    /// by others; a watch that was set up before then watches the wrong folder.
    pub fn is_in_place(&self) -> bool {
        match &self.repo {
            Some(repo) => repo.is_in_place(),
            None => self.inode.is_some() && inode_of(&self.root) == self.inode && !is_repository(&self.root),
        }
    }

    /// Returns the path that identifies the project: the real path of the common git folder, which linked work trees
    /// share, or the root.
    pub fn project_key(&self) -> PathBuf {
        self.repo.as_ref().map_or_else(|| self.root.clone(), |repo| repo.common_dir().to_owned())
    }
}

fn inode_of(folder: &Path) -> Option<u64> {
    folder.metadata().ok().filter(|metadata| metadata.is_dir()).map(|metadata| FileStat::from_metadata(&metadata).inode)
}

/// A workspace that was found and not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The real path of its root.
    pub root: PathBuf,
    /// The path that identifies its project, as [`Workspace::project_key`].
    pub project_key: PathBuf,
    /// Whether it is a git work tree or a git folder.
    pub is_repository: bool,
}

/// The folders that are never a workspace: the root of the file system and the home folder.
struct Refused {
    home: Option<PathBuf>,
}

impl Refused {
    /// Returns the real path of a folder, and the refused folders around it.
    fn at(path: &Path, home: Option<&Path>) -> Result<(PathBuf, Self), SourceError> {
        let real = real_path(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => SourceError::MissingPath { path: path.to_owned() },
            std::io::ErrorKind::NotADirectory => SourceError::NotAFolder { path: path.to_owned() },
            _ => SourceError::io(path, error),
        })?;
        if !real.is_dir() {
            return Err(SourceError::NotAFolder { path: path.to_owned() });
        }
        Ok((real, Self { home: home.and_then(|home| real_path(home).ok()) }))
    }

    fn has(&self, folder: &Path) -> bool {
        folder.parent().is_none() || self.home.as_deref() == Some(folder)
    }
}

/// The marker of a repository in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    /// A `.git` file that points to a git folder.
    File,
    /// A `.git` folder.
    Folder,
    /// The folder is itself a git folder.
    GitFolder,
}

impl Marker {
    fn at(folder: &Path) -> Option<Self> {
        let dot_git = folder.join(".git");
        if dot_git.is_file() {
            Some(Self::File)
        } else if dot_git.join("HEAD").symlink_metadata().is_ok() {
            Some(Self::Folder)
        } else {
            let is_git =
                folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir();
            is_git.then_some(Self::GitFolder)
        }
    }

    /// Returns the file or folder to open.
    fn entry(self, folder: &Path) -> PathBuf {
        if self == Self::GitFolder { folder.to_owned() } else { folder.join(".git") }
    }

    /// Returns the work tree, unless the configuration declares the repository bare.
    fn work_tree(self, folder: &Path) -> Option<&Path> {
        match self {
            Self::File | Self::Folder => Some(folder),
            Self::GitFolder => folder.parent().filter(|_| folder.ends_with(".git")),
        }
    }

    fn open(self, folder: &Path, access: &Access) -> Result<Workspace, SourceError> {
        let repo = Repo::open(&self.entry(folder), self.work_tree(folder), access)?;
        let repo = if self == Self::File { repo } else { repo.without_work_tree_if_bare() };
        let root = repo.work_tree().unwrap_or(repo.git_dir()).to_owned();
        Ok(Workspace { root, repo: Some(repo), inode: None })
    }
}
