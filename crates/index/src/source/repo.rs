//! A git repository: its references and work trees. Its objects are read in `objects.rs`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use codecompass_model::ViewKey;
use gix::bstr::ByteSlice;

use super::access::Work;
use super::git_folder::{GitFolder, check_object_in};
use super::{Access, FileStat, SourceError, Workspace, real_path, small_file};

/// A repository, opened so that none of its contents can make us run a program: only its own configuration is read,
/// with reduced trust. Cheap to clone and to share between threads.
#[derive(Clone)]
pub struct Repo {
    shared: Arc<gix::ThreadSafeRepository>,
    git_dir: PathBuf,
    common_dir: PathBuf,
    work_tree: Option<PathBuf>,
    /// The work tree's `.git` when the repository was opened.
    git_link: Option<GitLink>,
    folder: GitFolder,
    /// The object folders of its alternates, by their real paths.
    alternates: Arc<[PathBuf]>,
    access: Access,
}

/// The maximum size of a `.git` file, and of a configuration that is read to find the cause of an error.
const MAX_ENTRANCE_BYTES: u64 = 64 << 10;

/// The maximum number of tags between a reference and its commit.
const MAX_TAG_DEPTH: usize = 16;

/// The link from a work tree to its git folder: the content of a `.git` file, or the inode of a `.git` folder.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GitLink {
    File(Vec<u8>),
    Folder(u64),
}

impl GitLink {
    fn read(work_tree: &Path) -> Option<Self> {
        let dot_git = work_tree.join(".git");
        let metadata = dot_git.metadata().ok()?;
        match metadata.is_dir() {
            true => Some(Self::Folder(FileStat::from_metadata(&metadata).inode)),
            false => small_file::read(&dot_git, MAX_ENTRANCE_BYTES).ok().flatten().map(Self::File),
        }
    }
}

/// The checked-out branch and commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The branch's short name; `None` when detached.
    pub branch: Option<String>,
    /// The commit's full id; `None` before the first commit.
    pub commit: Option<String>,
}

/// Names of the references of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefNames {
    /// Branches.
    pub branches: Vec<String>,
    /// Tags.
    pub tags: Vec<String>,
}

/// The result of resolving a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedRef {
    /// The view: by short name for branches and tags, by commit for everything else.
    pub key: ViewKey,
    /// The commit's full id.
    pub commit: String,
}

/// The prefixes of references that have a short name, in lookup order.
const REF_PREFIXES: [&str; 3] = ["refs/heads/", "refs/remotes/", "refs/tags/"];

impl Repo {
    /// Opens a git folder, or the file that points to one, under the limits of `access`.
    pub(super) fn open(path: &Path, work_tree: Option<&Path>, access: &Access) -> Result<Self, SourceError> {
        let (path, work_tree, limits) = (path.to_owned(), work_tree.map(Path::to_owned), access.clone());
        let place = path.clone();
        access.run(&place, Work::Open, move || Self::open_now(&path, work_tree, limits))
    }

    fn open_now(path: &Path, work_tree: Option<PathBuf>, access: Access) -> Result<Self, SourceError> {
        let folder = GitFolder::find(path)?;
        let root = work_tree.as_deref().unwrap_or(path);
        let alternates = folder.check(root, &access)?.into();
        let options = gix::open::Options::isolated().with(gix::sec::Trust::Reduced).open_path_as_is(true);
        let shared = gix::ThreadSafeRepository::open_opts(path, options)
            .map_err(|error| unsupported_format(path).unwrap_or_else(|| SourceError::repository(path, error)))?;
        let repo = shared.to_thread_local();
        let real = |folder: &Path| real_path(folder).map_err(|error| SourceError::io(folder, error));
        let git_dir = real(repo.git_dir())?;
        if repo.object_hash() != gix::hash::Kind::Sha1 {
            return Err(SourceError::UnsupportedObjectFormat { path: git_dir, format: repo.object_hash().to_string() });
        }
        if let Some(storage) = repo.config_snapshot().string("extensions.refStorage")
            && storage.as_slice() != b"files"
        {
            return Err(SourceError::UnsupportedRefStorage { path: git_dir, storage: storage.to_string() });
        }
        let common_dir = real(repo.common_dir())?;
        let entrance = work_tree.as_deref().and_then(GitLink::read);
        let opened = Self {
            shared: Arc::new(shared),
            git_dir,
            common_dir,
            work_tree,
            git_link: entrance,
            folder,
            alternates,
            access,
        };
        opened.check_opened(&repo)?;
        Ok(opened)
    }

    /// Where repositories are confined, checks that gix opened the folders that were checked. They may have been
    /// replaced in between, and gix reads the list of alternates again when it misses an object.
    pub(super) fn check_opened(&self, repo: &gix::Repository) -> Result<(), SourceError> {
        if self.access.roots().is_none() {
            return Ok(());
        }
        let outside = |path: &Path| Err(SourceError::OutsideRoot { path: path.to_owned() });
        if self.git_dir != self.folder.git_dir {
            return outside(&self.git_dir);
        }
        if self.common_dir != self.folder.common_dir {
            return outside(&self.common_dir);
        }
        let loaded = repo.objects.store_ref().alternate_db_paths().map_err(|error| self.error(error))?;
        match loaded.iter().find(|path| !real_path(path).is_ok_and(|real| self.alternates.contains(&real))) {
            Some(path) => outside(path),
            None => Ok(()),
        }
    }

    /// Checks the loose object that may have this id, before gix opens it.
    pub(super) fn check_object(&self, id: &gix::oid) -> Result<(), SourceError> {
        let (id, is_confined) = (id.to_hex().to_string(), self.access.roots().is_some());
        let own = self.common_dir.join("objects");
        let mut folders = self.alternates.iter().map(PathBuf::as_path).chain([own.as_path()]);
        folders.try_for_each(|objects| check_object_in(objects, &id, is_confined))
    }

    /// Returns a handle for this thread that does not look for new packs and alternates.
    pub(super) fn unrefreshed(&self) -> gix::Repository {
        let mut local = self.thread_local_repo();
        local.objects.refresh_never();
        local
    }

    /// Returns a handle for this thread that does, after checking the files it will open.
    pub(super) fn refreshed(&self) -> Result<gix::Repository, SourceError> {
        let alternates = self.folder.check(self.root(), &self.access)?;
        if self.access.roots().is_some() && alternates != *self.alternates {
            return Err(SourceError::OutsideRoot { path: self.git_dir.clone() });
        }
        Ok(self.thread_local_repo())
    }

    fn root(&self) -> &Path {
        self.work_tree.as_deref().unwrap_or(&self.folder.entry)
    }

    /// Opens another work tree under the same limits.
    pub fn discover(&self, root: &Path) -> Result<Workspace, SourceError> {
        self.access.discover(root, None)
    }

    /// Reads references or history within the time limit.
    fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let repo = self.clone();
        self.access.run(&self.folder.entry, Work::Read, move || work(&repo))
    }

    /// Whether the work tree still belongs to this git folder. Work trees can be moved and replaced by others.
    pub fn is_in_place(&self) -> bool {
        self.work_tree.as_deref().is_none_or(|root| GitLink::read(root) == self.git_link) && self.is_confined()
    }

    /// Whether a repository that must lie in given folders still does.
    fn is_confined(&self) -> bool {
        if self.access.roots().is_none() {
            return true;
        }
        let check = |folder: &GitFolder| folder.check(self.root(), &self.access);
        GitFolder::find(&self.folder.entry)
            .is_ok_and(|now| now == self.folder && check(&now).is_ok_and(|alternates| alternates == *self.alternates))
    }

    /// Drops the work tree if the configuration declares the repository bare.
    pub(super) fn without_work_tree_if_bare(mut self) -> Self {
        if self.is_configured_bare() {
            self.work_tree = None;
        }
        self
    }

    /// Returns the branch and the commit that are checked out in this work tree.
    pub fn head(&self) -> Result<Head, SourceError> {
        self.folder.check_ref("HEAD")?;
        let repo = self.thread_local_repo();
        let head = repo.head().map_err(|error| self.error(error))?;
        let branch = head.referent_name().map(|name| name.shorten().to_str_lossy().into_owned());
        if head.is_unborn() {
            return Ok(Head { branch, commit: None });
        }
        let mut reference = repo.find_reference("HEAD").map_err(|error| self.error(error))?;
        let id = reference.follow_to_object().map_err(|error| self.error(error))?;
        let commit = self.peel_tags(&repo, id.detach())?.id.to_string();
        Ok(Head { branch, commit: Some(commit) })
    }

    /// Whether there is no work tree.
    pub fn is_bare(&self) -> bool {
        self.work_tree.is_none()
    }

    /// Returns the root of the work tree.
    pub fn work_tree(&self) -> Option<&Path> {
        self.work_tree.as_deref()
    }

    /// Returns the real path of the git folder that all work trees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the real path of this work tree's own git folder.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// Resolves a name: a local branch, a remote-tracking branch (`origin/main`), a tag, or else an expression in git's
    /// revision syntax (a full or unambiguous short commit id, `HEAD`, `HEAD~2`, `main^`).
    ///
    /// Unlike in git, a branch wins over a tag of the same name, since a view's name must not resolve differently after
    /// a tag is added. A full reference name (`refs/tags/v1`) always resolves to exactly that reference.
    pub fn resolve(&self, name: &str) -> Result<ResolvedRef, SourceError> {
        let name = name.to_owned();
        self.read(move |repo| {
            let resolved = repo.resolve_now(&name)?;
            repo.check_opened(&repo.thread_local_repo())?;
            match repo.is_confined() {
                true => Ok(resolved),
                false => Err(SourceError::OutsideRoot { path: repo.git_dir.clone() }),
            }
        })
    }

    fn resolve_now(&self, name: &str) -> Result<ResolvedRef, SourceError> {
        let repo = self.thread_local_repo();
        for place in REF_PREFIXES {
            let short = name.strip_prefix(place).unwrap_or(name);
            let full = if short.len() < name.len() { name.to_owned() } else { format!("{place}{name}") };
            if name.starts_with("refs/") && short.len() == name.len() {
                continue;
            }
            if let Some(commit) = self.ref_commit(&repo, &full, name)? {
                return Ok(ResolvedRef { key: ViewKey::Ref(short.to_owned()), commit });
            }
        }
        let unknown = |_| SourceError::UnknownRef { name: name.to_owned() };
        // gix peels tags without a limit while it evaluates an expression, so a cycle is refused before that.
        let base = name.split(['~', '^', '@', ':']).next().unwrap_or_default();
        if let Ok(id) = repo.rev_parse_single(base) {
            self.peel_tags(&repo, id.detach())?;
        }
        // A short id may be a prefix of other objects' ids, too; only commits count.
        let id = repo
            .rev_parse_single(format!("{name}^{{commit}}").as_str())
            .or_else(|_| repo.rev_parse_single(name))
            .map_err(unknown)?;
        let object = id.try_object().map_err(|error| self.error(error))?;
        let object = object.ok_or_else(|| SourceError::MissingObject { id: id.to_string() })?;
        let commit = object
            .peel_to_kind(gix::objs::Kind::Commit)
            .map_err(|_| SourceError::NotACommit { name: name.to_owned() })?
            .id
            .to_string();
        Ok(ResolvedRef { key: ViewKey::Commit(commit.clone()), commit })
    }

    /// Returns the default branch: the target of `origin/HEAD`, as the local branch or else the remote one; then
    /// `main`, then `master`, then the checked-out branch.
    pub fn default_branch(&self) -> Result<Option<String>, SourceError> {
        self.read(Self::default_branch_now)
    }

    fn default_branch_now(&self) -> Result<Option<String>, SourceError> {
        let repo = self.thread_local_repo();
        let exists = |full: &str| repo.try_find_reference(full).ok().flatten().is_some();
        if let Ok(Some(origin)) = repo.try_find_reference("refs/remotes/origin/HEAD")
            && let Some(target) = origin.target().try_name()
            && let Ok(target) = target.as_bstr().to_str()
            && let Some(branch) = target.strip_prefix("refs/remotes/origin/")
        {
            if exists(&format!("refs/heads/{branch}")) {
                return Ok(Some(branch.to_owned()));
            }
            if exists(target) {
                return Ok(Some(format!("origin/{branch}")));
            }
        }
        let usual = ["main", "master"].into_iter().find(|branch| exists(&format!("refs/heads/{branch}")));
        match usual {
            Some(branch) => Ok(Some(branch.to_owned())),
            None => Ok(self.head()?.branch),
        }
    }

    /// Returns the merge base of two commits; `None` if their histories are unrelated.
    pub fn merge_base(&self, one: &str, other: &str) -> Result<Option<String>, SourceError> {
        let (one, other) = (object_id(one)?, object_id(other)?);
        self.read(move |repo| {
            let local = repo.thread_local_repo();
            let base = local.merge_base(one, other).map_err(|error| repo.error(error))?;
            Ok(base.map(|base| base.to_string()))
        })
    }

    /// Returns how many commits `head` has that `base` lacks, and the reverse; `None` if the counts exceed the limit.
    pub fn ahead_behind(&self, base: &str, head: &str) -> Result<Option<(u64, u64)>, SourceError> {
        let (base, head) = (object_id(base)?, object_id(head)?);
        self.read(move |repo| repo.ahead_behind_now(base, head))
    }

    fn ahead_behind_now(&self, base: gix::ObjectId, head: gix::ObjectId) -> Result<Option<(u64, u64)>, SourceError> {
        let side = |from: gix::ObjectId, without: gix::ObjectId| -> Result<Option<u64>, SourceError> {
            const MAX_COUNTED_COMMITS: u64 = 10_000;
            let repo = self.thread_local_repo();
            let walk = repo.rev_walk([from]).with_hidden([without]);
            let mut count = 0;
            for commit in walk.all().map_err(|error| self.error(error))? {
                commit.map_err(|error| SourceError::repository(&self.git_dir, error))?;
                count += 1;
                if count > MAX_COUNTED_COMMITS {
                    return Ok(None);
                }
            }
            Ok(Some(count))
        };
        Ok(side(head, base)?.zip(side(base, head)?))
    }

    /// Returns at most `most` branches and at most `most` tags, by their short names in order. Tags start from the last
    /// one, because the newest of a scheme mostly sort last.
    pub fn ref_names(&self, most: usize) -> Result<RefNames, SourceError> {
        self.read(move |repo| repo.ref_names_now(most))
    }

    fn ref_names_now(&self, most: usize) -> Result<RefNames, SourceError> {
        let repo = self.thread_local_repo();
        let mut names = RefNames::default();
        let references = repo.references().map_err(|error| self.error(error))?;
        let branches = references.local_branches().map_err(|error| self.error(error))?;
        names.branches =
            branches.filter_map(Result::ok).map(|one| one.name().shorten().to_string()).take(most).collect();
        let tags = references.tags().map_err(|error| self.error(error))?;
        names.tags = tags.filter_map(Result::ok).map(|one| one.name().shorten().to_string()).collect();
        names.tags.reverse();
        names.tags.truncate(most);
        Ok(names)
    }

    /// Returns the real path of the work tree that has a branch checked out, if there is one.
    pub fn worktree_for_branch(&self, branch: &str) -> Result<Option<PathBuf>, SourceError> {
        for root in self.worktrees()? {
            let opened = self.discover(&root);
            let repo = opened.ok().and_then(|workspace| workspace.repo);
            let head = repo.and_then(|repo| repo.head().ok());
            if head.is_some_and(|head| head.branch.as_deref() == Some(branch)) {
                return Ok(Some(root));
            }
        }
        Ok(None)
    }

    /// Returns the real paths of the existing work trees: the main one first, then the linked ones in order.
    pub fn worktrees(&self) -> Result<Vec<PathBuf>, SourceError> {
        self.read(Self::worktrees_now)
    }

    fn worktrees_now(&self) -> Result<Vec<PathBuf>, SourceError> {
        let main = if self.git_dir == self.common_dir {
            self.work_tree.clone()
        } else if self.common_dir.ends_with(".git") && !self.is_configured_bare() {
            self.common_dir.parent().map(Path::to_owned)
        } else {
            None
        };
        let proxies =
            self.thread_local_repo().worktrees().map_err(|error| self.error(error)).map(|proxies| {
                proxies.iter().filter_map(|proxy| real_path(&proxy.base().ok()?).ok()).collect::<Vec<_>>()
            });
        let mut linked = proxies?;
        linked.sort();
        linked.dedup();
        Ok(main.into_iter().chain(linked).collect())
    }

    /// Returns a handle for this thread.
    pub(super) fn thread_local_repo(&self) -> gix::Repository {
        self.shared.to_thread_local()
    }

    /// Creates an error about this repository.
    pub(super) fn error(&self, error: gix::Error) -> SourceError {
        SourceError::repository(&self.git_dir, error)
    }

    fn ref_commit(&self, repo: &gix::Repository, full: &str, asked: &str) -> Result<Option<String>, SourceError> {
        // A name that cannot be a reference name is not an error: it may be an expression.
        let Ok(Some(mut reference)) = repo.try_find_reference(full) else {
            return Ok(None);
        };
        if reference.name().as_bstr() != full {
            return Ok(None);
        }
        let id = reference.follow_to_object().map_err(|error| self.error(error))?;
        let object = self.peel_tags(repo, id.detach())?;
        match object.kind {
            gix::objs::Kind::Commit => Ok(Some(object.id.to_string())),
            _ => Err(SourceError::NotACommit { name: asked.to_owned() }),
        }
    }

    /// Follows tags of tags to another object. Loose objects are not verified against their ids, so a forged tag can
    /// name itself.
    fn peel_tags<'a>(&self, repo: &'a gix::Repository, id: gix::ObjectId) -> Result<gix::Object<'a>, SourceError> {
        let mut id = id;
        for _ in 0..MAX_TAG_DEPTH {
            self.folder.check_object(&id.to_string())?;
            let object = repo.try_find_object(id).map_err(|error| self.error(error))?;
            let object = object.ok_or_else(|| SourceError::MissingObject { id: id.to_string() })?;
            if object.kind != gix::objs::Kind::Tag {
                return Ok(object);
            }
            let target = gix::objs::TagRefIter::from_bytes(&object.data, object.id.kind()).target_id();
            id = target.map_err(|error| self.error(error))?;
        }
        Err(SourceError::repository(&self.git_dir, format!("a chain of more than {MAX_TAG_DEPTH} tags")))
    }

    fn is_configured_bare(&self) -> bool {
        self.thread_local_repo().config_snapshot().boolean("core.bare") == Some(true)
    }
}

impl fmt::Debug for Repo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repo").field("git_dir", &self.git_dir).field("work_tree", &self.work_tree).finish()
    }
}

fn object_id(hex: &str) -> Result<gix::ObjectId, SourceError> {
    gix::ObjectId::from_hex(hex.as_bytes()).map_err(|_| SourceError::UnknownRef { name: hex.to_owned() })
}

/// Reads the configuration of a repository that could not be opened, to check if an object format is the cause.
fn unsupported_format(path: &Path) -> Option<SourceError> {
    let config = small_file::read(&path.join("config"), MAX_ENTRANCE_BYTES).ok()??;
    let config = config.to_str().ok()?;
    let format = config.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        key.trim().eq_ignore_ascii_case("objectformat").then(|| value.trim().to_ascii_lowercase())
    })?;
    (format != "sha1").then(|| SourceError::UnsupportedObjectFormat { path: path.to_owned(), format })
}
