//! Limits on opening repositories: within which folders they must lie, and how long git operations may take.
//!
//! A command has none: its user named the repository and can interrupt it. A server has a time limit, because its clients
//! name the repositories and a file system can block for ever, and folders, where it was started with
//! `--own-workspace-only` or `--allowed-root`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{SourceError, Workspace};

/// The maximum number of threads that wait for a repository which did not open in time. Beyond it, no further repository
/// is opened until one of them returns.
const MAX_STALLED: usize = 8;

/// The limits of one process. Clones share the record of repositories that do not answer.
#[derive(Clone, Debug, Default)]
pub struct Access {
    limits: Arc<Limits>,
}

#[derive(Debug, Default)]
struct Limits {
    roots: Option<Vec<PathBuf>>,
    timeout: Option<Duration>,
    stalled: Mutex<HashMap<PathBuf, usize>>,
}

/// The kind of work that a thread does with a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// Opens it.
    Open,
    /// Reads references or history of an open one.
    Read,
}

impl Access {
    /// Git operations that take longer than `timeout` fail. With `roots`, a repository is refused if its git folder, its
    /// common folder or an alternate lies neither in its work tree nor in one of these folders, given by their real paths.
    pub fn new(timeout: Duration, roots: Option<Vec<PathBuf>>) -> Self {
        Self { limits: Arc::new(Limits { roots, timeout: Some(timeout), stalled: Mutex::default() }) }
    }

    /// [`Workspace::discover`] under these limits.
    pub fn discover(&self, path: &Path, home: Option<&Path>) -> Result<Workspace, SourceError> {
        Workspace::discover_with(path, home, self)
    }

    /// The folders that repositories must lie in; `None` where they may lie anywhere.
    pub(super) fn roots(&self) -> Option<&[PathBuf]> {
        self.limits.roots.as_deref()
    }

    /// Runs `work` within the time limit, on a thread of its own if there is one.
    ///
    /// A thread that exceeds the limit cannot be stopped. It is left behind and counted, and until it returns the
    /// repository at `place` is refused at once.
    pub(super) fn run<T: Send + 'static>(
        &self,
        place: &Path,
        kind: Work,
        work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
    ) -> Result<T, SourceError> {
        let Some(timeout) = self.limits.timeout else { return work() };
        let stalled = || SourceError::Stalled { path: place.to_owned(), seconds: timeout.as_secs() };
        {
            let known = self.limits.stalled();
            if known.contains_key(place) || (kind == Work::Open && known.values().sum::<usize>() >= MAX_STALLED) {
                return Err(stalled());
            }
        }
        let (sender, receiver) = sync_channel(1);
        let (limits, key) = (Arc::clone(&self.limits), place.to_owned());
        let body = move || {
            let result = work();
            let mut known = limits.stalled();
            // The receiver is gone if the caller no longer waits.
            if sender.send(result).is_err()
                && let Some(count) = known.get_mut(&key)
            {
                *count -= 1;
                if *count == 0 {
                    known.remove(&key);
                }
            }
        };
        let thread = std::thread::Builder::new().name("git".into());
        thread.spawn(body).map_err(|error| SourceError::io(place, error))?;
        match receiver.recv_timeout(timeout) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => return Err(SourceError::repository(place, "its thread failed")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        // The thread sends while it holds the lock: it has either sent by now, or sees that the receiver is gone.
        let mut known = self.limits.stalled();
        if let Ok(result) = receiver.try_recv() {
            return result;
        }
        drop(receiver);
        *known.entry(place.to_owned()).or_default() += 1;
        Err(stalled())
    }
}

impl Limits {
    fn stalled(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, usize>> {
        self.stalled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Instant;

    use super::*;

    const TIMEOUT: Duration = Duration::from_millis(50);
    const DEADLINE: Duration = Duration::from_secs(30);

    fn is_stalled<T>(result: &Result<T, SourceError>) -> bool {
        matches!(result, Err(SourceError::Stalled { .. }))
    }

    #[test]
    fn a_repository_that_does_not_answer_is_refused_until_it_does() {
        let access = Access::new(TIMEOUT, None);
        let (place, other) = (Path::new("/slow"), Path::new("/fast"));
        let (gate, is_open) = mpsc::channel::<()>();
        let first = access.run(place, Work::Open, move || {
            let _ = is_open.recv();
            Ok(())
        });
        assert!(is_stalled(&first));
        assert!(is_stalled(&access.run(place, Work::Read, || Ok(()))), "its thread is still waiting");
        assert!(access.run(other, Work::Open, || Ok(())).is_ok(), "other repositories are not refused");
        drop(gate);
        let until = Instant::now() + DEADLINE;
        while is_stalled(&access.run(place, Work::Read, || Ok(()))) {
            assert!(Instant::now() < until, "it is not refused once its thread has returned");
            std::thread::yield_now();
        }
    }

    #[test]
    fn threads_that_wait_are_limited() {
        let access = Access::new(TIMEOUT, None);
        let gates: Vec<mpsc::Sender<()>> = (0..MAX_STALLED)
            .map(|number| {
                let (gate, is_open) = mpsc::channel::<()>();
                let place = PathBuf::from(format!("/slow/{number}"));
                let work = move || {
                    let _ = is_open.recv();
                    Ok(())
                };
                assert!(is_stalled(&access.run(&place, Work::Open, work)));
                gate
            })
            .collect();
        let (begun, has_begun) = mpsc::channel();
        let refused = access.run(Path::new("/one/more"), Work::Open, move || {
            let _ = begun.send(());
            Ok(())
        });
        assert!(is_stalled(&refused) && has_begun.try_recv().is_err(), "no thread was started");
        assert!(access.run(Path::new("/open"), Work::Read, || Ok(())).is_ok(), "open repositories are read");
        drop(gates);
    }
}
