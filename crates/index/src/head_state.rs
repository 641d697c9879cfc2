//! The head state of a work tree: what git has checked out in it, read before the files are read and again afterwards.
//!
//! git changes a work tree in steps. It locks its index, writes the files, replaces the index, and only then names the
//! other branch or commit in `HEAD`. Files that are read meanwhile mix two states, and would be published under the
//! name of the first. A sync therefore accepts its reads only if nothing of this changed in between.

use std::time::{Duration, Instant, SystemTime};

use codecompass_model::ViewKey;

use crate::source::{FileStat, Head, SourceError, Workspace};
use crate::{IndexError, Target};

/// The time limit for a sync to wait for a git command to end, and for a work tree to become stable.
const STABLE_TIMEOUT: Duration = Duration::from_secs(2);

/// A lock older than this was left behind, or is held while an editor is open. A sync does not wait for it.
const STALE_LOCK_AGE: Duration = Duration::from_secs(10);

/// The minimum number of attempts to read a work tree, however long they take, before it counts as unstable.
const MIN_ATTEMPTS: usize = 5;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The checked-out commit, and the stat and lock of git's index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadState {
    /// `None` without version control.
    head: Option<Head>,
    index: Option<FileStat>,
    is_locked: bool,
}

impl HeadState {
    fn read(workspace: &Workspace) -> Result<Self, SourceError> {
        let Some(repo) = &workspace.repo else { return Ok(Self { head: None, index: None, is_locked: false }) };
        let stat = |name| repo.git_dir().join(name).symlink_metadata().ok();
        let is_held = |modified: SystemTime| modified.elapsed().is_ok_and(|age| age < STALE_LOCK_AGE);
        let lock = stat("index.lock").and_then(|lock| lock.modified().ok());
        Ok(Self {
            is_locked: lock.is_some_and(is_held),
            index: stat("index").map(|index| FileStat::from_metadata(&index)),
            head: Some(repo.head()?),
        })
    }

    /// Reads the state once no git command holds the lock, or when the time limit has passed.
    fn read_when_unlocked(workspace: &Workspace) -> Result<Self, SourceError> {
        let until = Instant::now() + STABLE_TIMEOUT;
        loop {
            let standing = Self::read(workspace)?;
            if !standing.is_locked || Instant::now() >= until {
                return Ok(standing);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Returns the work tree target under its current name.
    pub(crate) fn worktree_target(&self, workspace: &Workspace) -> Result<Target, IndexError> {
        match &self.head {
            Some(head) => Ok(Target::worktree(workspace, head.clone())),
            None => Target::resolve(workspace, None),
        }
    }

    /// Returns the target of the checked-out commit, named by the branch or, when detached, by the commit.
    pub(crate) fn commit_target(&self) -> Option<Target> {
        let head = self.head.as_ref()?;
        let commit = head.commit.clone()?;
        let (key, ref_name) = match &head.branch {
            Some(branch) => (ViewKey::Ref(branch.clone()), branch.clone()),
            None => (ViewKey::Commit(commit.clone()), commit.clone()),
        };
        Some(Target { key, ref_name, commit: Some(commit) })
    }
}

/// Reads a work tree until its head state is the same before and after the read. `read` gets the number of the attempt,
/// from 0. A work tree that never becomes stable is [`IndexError::WorktreeUnstable`].
pub(crate) fn read_stable<T>(
    workspace: &Workspace,
    mut read: impl FnMut(&HeadState, usize) -> Result<T, IndexError>,
) -> Result<(HeadState, T), IndexError> {
    let until = Instant::now() + STABLE_TIMEOUT;
    for attempt in 0.. {
        let before = HeadState::read_when_unlocked(workspace)?;
        let found = read(&before, attempt)?;
        if HeadState::read(workspace)? == before {
            return Ok((before, found));
        }
        if attempt + 1 >= MIN_ATTEMPTS && Instant::now() >= until {
            break;
        }
    }
    Err(IndexError::WorktreeUnstable)
}
