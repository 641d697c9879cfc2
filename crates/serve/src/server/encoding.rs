//! Vectors of the user's encoder, made in the background.
//!
//! A thread of its own makes the missing vectors of the workspaces that calls use, one after the other. It does nothing
//! for a view that is complete, and waits after a failure. Answers never wait for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::Server;
use codecompass_tools::call::encoder_settings;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::session::Session;
use codecompass_workspace::views::SnapshotCache;

/// How long nothing is tried after a failure.
const PAUSE: Duration = Duration::from_secs(30);

/// The channel to the thread; `None` until an encoder is needed.
#[derive(Default)]
pub(super) struct Encoding {
    thread: Mutex<Option<SyncSender<PathBuf>>>,
}

impl Server {
    /// Makes the missing vectors of a workspace in the background, if the user has an encoder.
    pub(super) fn encode_in_background(self: &Arc<Self>, session: &Session) {
        if session.config.embeddings_url.is_empty() {
            return;
        }
        let mut thread = self.encoding.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = thread.get_or_insert_with(|| {
            let (sender, roots) = sync_channel(1);
            let server = Arc::downgrade(self);
            // Without the thread, vectors that exist are used.
            let _ = std::thread::Builder::new().name("encoder".into()).spawn(move || run(&server, &roots));
            sender
        });
        // If the thread is busy, a later call asks again.
        let _ = sender.try_send(session.workspace.root.clone());
    }

    /// Makes the missing vectors of a workspace. Returns the generation for which they are complete.
    fn encode_missing(&self, root: &Path, done: Option<i64>) -> Result<Option<i64>, AppError> {
        let session = self.open_session(Some(root))?;
        let Some(settings) = encoder_settings(&session.config) else { return Ok(None) };
        let target = session.target(None)?;
        let mut cache = SnapshotCache::default();
        let view = cache.store(&session)?.view(&target.key)?;
        let Some(generation) = view.map(|view| view.generation).filter(|generation| Some(*generation) != done) else {
            return Ok(done);
        };
        let (snapshot, _) = cache.snapshot(&session, &target.key)?;
        let failed = |problem: String| AppError::new(Code::InternalError, problem);
        let encoder = codecompass_encoder::shared(&settings, &self.data).map_err(failed)?;
        let made = encoder.encode_missing(&snapshot, &|| false).map_err(|error| failed(error.to_string()))?;
        if made > 0 {
            self.log(1, || format!("made {made} vectors of {} with {}", session.root(), settings.model));
        }
        Ok(Some(generation))
    }
}

/// The thread: takes workspaces until the server ends.
fn run(server: &Weak<Server>, roots: &Receiver<PathBuf>) {
    let mut done: HashMap<PathBuf, i64> = HashMap::new();
    while let Ok(root) = roots.recv() {
        let Some(server) = server.upgrade() else { return };
        match server.encode_missing(&root, done.get(&root).copied()) {
            Ok(Some(generation)) => drop(done.insert(root, generation)),
            Ok(None) => {}
            Err(error) => {
                server.log(1, || format!("no vectors for {}: {}", root.display(), error.message));
                drop(server);
                std::thread::sleep(PAUSE);
            }
        }
    }
}
