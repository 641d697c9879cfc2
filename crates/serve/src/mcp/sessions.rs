//! The sessions of the older protocol revisions: how many are open, which one is evicted, and what happens to a call
//! when its client disconnects.
//!
//! A client whose event stream breaks may resume it (`Last-Event-ID`) while the call runs: the SDK keeps nothing of a
//! stream after its answer. So a call is cancelled if its client has not resumed within a short time.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderName};
use http_body::{Frame, SizeHint};
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, RequestId,
};
use rmcp::transport::streamable_http_server::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

/// The maximum number of open sessions. The least recently active one is closed for a new one.
const MAX_SESSIONS: usize = 256;

/// The idle time after which a session is closed: long enough for a user's night.
const IDLE_TIMEOUT: Duration = Duration::from_secs(12 * 3600);

/// The retry delay that event streams announce to clients.
pub(super) const RETRY: Duration = Duration::from_millis(500);

/// The time after which a call is cancelled if its client disconnected and has not resumed.
const RESUME_TIMEOUT: Duration = Duration::from_secs(2);

/// The header that names a session.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The open sessions.
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    /// The state of sessions that are open, or were until recently.
    known: Mutex<HashMap<Arc<str>, Known>>,
}

/// The state of a session.
struct Known {
    /// The time of its last request.
    spoke: Instant,
    /// The number of resumed streams that its client reads now.
    resumed: usize,
}

/// The session id of a request or response.
pub(super) fn session_of(headers: &HeaderMap) -> Option<Arc<str>> {
    headers.get(SESSION).and_then(|value| value.to_str().ok()).map(Arc::from)
}

impl Sessions {
    pub(super) fn new() -> Arc<Self> {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE_TIMEOUT);
        manager.session_config.sse_retry = Some(RETRY);
        // A stream whose call was cancelled cannot be resumed.
        manager.session_config.completed_cache_ttl = Duration::ZERO;
        Arc::new(Self { manager: Arc::new(manager), known: Mutex::default() })
    }

    /// Closes the least recently active sessions until there is room for one more.
    pub(super) async fn make_room(&self) {
        let mut open: Vec<Arc<str>> = self.manager.sessions.read().await.keys().cloned().collect();
        let excess = (open.len() + 1).saturating_sub(MAX_SESSIONS);
        if excess == 0 {
            return;
        }
        {
            let known = self.lock();
            open.sort_by_key(|session| known.get(session).map(|known| known.spoke));
        }
        for session in &open[..excess] {
            // The session may have ended by itself.
            let _ = self.manager.close_session(session).await;
            self.lock().remove(session);
        }
    }

    /// Records activity of a session. Ids of sessions that are not open are not kept.
    pub(super) async fn note(&self, session: Arc<str>) {
        let open = self.manager.sessions.read().await;
        if !open.contains_key(&session) {
            return;
        }
        let mut known = self.lock();
        if known.len() >= 2 * MAX_SESSIONS {
            known.retain(|session, _| open.contains_key(session));
        }
        let now = Instant::now();
        known.entry(session).and_modify(|known| known.spoke = now).or_insert(Known { spoke: now, resumed: 0 });
    }

    /// Cancels a call of a session if the returned value is dropped before the end of the answer.
    pub(super) fn watch(self: &Arc<Self>, session: Arc<str>, request: RequestId) -> Hold {
        Hold::Call { sessions: Arc::clone(self), session, request: Some(request) }
    }

    /// Records that a client resumed a stream, until the returned value is dropped.
    pub(super) fn resume(self: &Arc<Self>, session: Arc<str>) -> Option<Hold> {
        self.lock().get_mut(&session)?.resumed += 1;
        Some(Hold::Resumed { sessions: Arc::clone(self), session })
    }

    async fn cancel_unless_resumed(&self, session: Arc<str>, request: RequestId) {
        tokio::time::sleep(RESUME_TIMEOUT).await;
        if self.lock().get(&session).is_some_and(|known| known.resumed > 0) {
            return;
        }
        let param = CancelledNotificationParam::new(Some(request), Some("the client hung up".into()));
        let notification = ClientNotification::CancelledNotification(CancelledNotification::new(param));
        // The session may have ended, and its calls with it.
        let _ = self.manager.accept_message(&session, ClientJsonRpcMessage::notification(notification)).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// State that lasts while an answer is being read.
pub(super) enum Hold {
    /// A call, with its id until it is answered.
    Call { sessions: Arc<Sessions>, session: Arc<str>, request: Option<RequestId> },
    /// A resumed stream.
    Resumed { sessions: Arc<Sessions>, session: Arc<str> },
}

impl Hold {
    /// A body that holds this until it ends or is dropped.
    pub(super) fn within(self, body: Body) -> Body {
        Body::new(Held { body, hold: self })
    }

    fn answered(&mut self) {
        if let Self::Call { request, .. } = self {
            *request = None;
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        match self {
            Self::Call { sessions, session, request } => {
                let Some(request) = request.take() else { return };
                let (sessions, session) = (Arc::clone(sessions), Arc::clone(session));
                // Without a runtime the server is ending, and every call with it.
                if let Ok(runtime) = tokio::runtime::Handle::try_current() {
                    runtime.spawn(async move { sessions.cancel_unless_resumed(session, request).await });
                }
            }
            Self::Resumed { sessions, session } => {
                if let Some(known) = sessions.lock().get_mut(session) {
                    known.resumed = known.resumed.saturating_sub(1);
                }
            }
        }
    }
}

struct Held {
    body: Body,
    hold: Hold,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.hold.answered();
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
