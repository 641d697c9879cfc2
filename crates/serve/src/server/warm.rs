//! Warming: recently used workspaces are read once in the background, so that the first query finds them in memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use codecompass_query::{SearchRequest, search};

use super::{Server, recent};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::SnapshotCache;

/// The maximum number of workspaces kept warm.
pub(crate) const MAX_WARM_WORKSPACES: usize = 3;

/// The progress of warming.
#[derive(Default)]
pub(crate) struct WarmProgress {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    status: Option<&'static str>,
    members: Vec<String>,
}

impl WarmProgress {
    /// `pending`, `warming`, `complete`, `failed` or `skipped`.
    pub(crate) fn status(&self) -> &'static str {
        self.lock().status.unwrap_or("pending")
    }

    /// The workspaces that are warm.
    pub(crate) fn members(&self) -> Vec<String> {
        self.lock().members.clone()
    }

    fn set(&self, status: &'static str) {
        self.lock().status = Some(status);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Starts to warm the recently used workspaces and the server's own.
    pub(crate) fn prewarm(self: &Arc<Self>) {
        if self.options.no_prewarm {
            return self.warm_state.set("skipped");
        }
        let server = Arc::clone(self);
        self.run_on_worker(move |desk| {
            server.warm_state.set("warming");
            let mut outcome = "complete";
            for path in server.warm_candidates() {
                let Ok(session) = server.open_session(path.as_deref()) else { continue };
                if !session.dir.is_registered() || server.warm_state.members().contains(&session.root()) {
                    continue;
                }
                match warm_session(&session, desk) {
                    Ok(()) => server.warm_state.lock().members.push(session.root()),
                    Err(error) => {
                        outcome = "failed";
                        server.log(1, || format!("{} could not be warmed: {}", session.root(), error.message));
                    }
                }
            }
            server.warm_state.set(outcome);
        });
    }

    /// The server's own workspace and the recently used ones.
    fn warm_candidates(&self) -> Vec<Option<PathBuf>> {
        let mut paths = vec![None];
        if !self.options.own_workspace_only {
            paths.extend(recent::list(&self.data).into_iter().map(Some));
        }
        paths.truncate(MAX_WARM_WORKSPACES);
        paths
    }
}

/// Runs a query and discards the answer: the data it reads stays in the page cache.
fn warm_session(session: &Session, desk: &mut SnapshotCache) -> Result<(), codecompass_workspace::error::AppError> {
    let target = session.target(None)?;
    if desk.store(session)?.view(&target.key)?.is_none() {
        return Ok(());
    }
    let (snapshot, _) = desk.snapshot(session, &target.key)?;
    search(&snapshot, &SearchRequest::new("main", codecompass_lang::REGISTRY, 1))?;
    Ok(())
}
