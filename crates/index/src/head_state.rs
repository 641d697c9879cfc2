//! Where a work tree stands: what git has checked out in it, looked at before its files are read and once more after.
//!
//! git moves a work tree in steps. It locks its index, writes the files, replaces the index, and only then names the
//! other branch or commit in `HEAD`. What is read while that goes on mixes two states, and would be published under the
//! name of the first. So a sync takes what it read for a state only when nothing of this has changed in between.

use std::time::{Duration, Instant, SystemTime};

use codecompass_model::ViewKey;

use crate::source::{FileStat, Head, SourceError, Workspace};
use crate::{IndexError, Target};

/// So long a sync waits for a git command to end, and for a work tree to keep still.
const STABLE_TIMEOUT: Duration = Duration::from_secs(2);

/// A lock older than this was left behind, or is held for an editor: nobody waits for it.
const STALE_LOCK_AGE: Duration = Duration::from_secs(10);

/// So often it is read at least, however long that takes, before it counts as restless.
const MIN_ATTEMPTS: usize = 5;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// See the module.
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

    /// Where it stands when no git command is at work, or after some patience with the one that is.
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

    /// The work tree under its present name.
    pub(crate) fn worktree_target(&self, workspace: &Workspace) -> Result<Target, IndexError> {
        match &self.head {
            Some(head) => Ok(Target::worktree(workspace, head.clone())),
            None => Target::resolve(workspace, None),
        }
    }

    /// What git has for the commit that it stands on, under the branch's name or, detached, the commit's.
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

/// Reads a work tree until it stood still while it was read. `read` is told which attempt this is, from 0; a work tree
/// that never keeps still is [`IndexError::Restless`].
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
