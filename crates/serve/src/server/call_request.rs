//! A call as a transport passes it, and its reply.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use codecompass_tools::SHORT_TOOLS;
use codecompass_tools::call::CallContext;
use codecompass_tools::tool_spec::ToolSpec;
use codecompass_workspace::output::OutputFormat;
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::Server;
use super::answer_limit::AnswerLimit;
use super::workers::{Client, QueueFull, TaskLength};

/// A call as a transport passes it.
pub struct CallRequest {
    pub(super) tool: &'static ToolSpec,
    pub(super) arguments: Map<String, Value>,
    /// The client that gets the answer.
    pub(super) client: Client,
    /// The name that the client gave itself.
    pub(crate) client_name: Option<String>,
    /// The size of text that the client passes on to its model whole.
    pub(crate) answer_limit: Option<AnswerLimit>,
    /// The folders that the client works in, as it reports them with the call.
    pub(crate) client_folders: Vec<PathBuf>,
    /// The first root of a client whose server has a fixed workspace.
    pub(crate) client_root: Option<PathBuf>,
    pub context: CallContext,
}

impl CallRequest {
    /// A call without a connection, with the default limits.
    pub fn new(tool: &'static ToolSpec, arguments: Map<String, Value>, client: Client, form: OutputFormat) -> Self {
        let context = CallContext { by_page: client == Client::Pages, ..CallContext::new(form) };
        Self {
            tool,
            arguments,
            client,
            client_name: None,
            answer_limit: None,
            client_folders: Vec::new(),
            client_root: None,
            context,
        }
    }

    /// The expected length of the task. Another ref may have to be synced first.
    pub(super) fn length(&self) -> TaskLength {
        let is_completion = self.arguments.get("complete") == Some(&Value::Bool(true));
        let is_short = is_completion || SHORT_TOOLS.contains(&self.tool.name);
        let is_short = is_short && !self.arguments.contains_key("ref");
        if is_short { TaskLength::Short } else { TaskLength::Long }
    }
}

/// An answer or an error, in the requested format.
pub struct Reply {
    /// The answer or the error.
    pub content: Content,
    /// Whether it is an error.
    pub is_error: bool,
    /// Whether it has results.
    pub(crate) found: bool,
    /// The roots of the repositories that answered.
    pub(super) repositories: Vec<String>,
}

/// The content of a [`Reply`].
pub enum Content {
    /// JSON.
    Json(Value),
    /// Text for an agent or a person.
    Text(String),
}

/// Why a call has no reply.
#[derive(Debug)]
pub enum NoReply {
    /// Too many calls of the client are waiting.
    QueueFull,
    /// The server ended before it answered.
    Lost,
}

impl Server {
    /// Answers a call. However this ends (answered, cancelled, or dropped with its connection), the work stops.
    pub async fn reply(self: &Arc<Self>, request: CallRequest) -> Result<Reply, NoReply> {
        let _leaving = CancelOnDrop(Arc::clone(&request.context.cancel));
        let (sender, reply) = oneshot::channel();
        // The receiver may be gone because the client disconnected.
        let submitted = self.answer(request, move |reply| drop(sender.send(reply)));
        submitted.map_err(|QueueFull| NoReply::QueueFull)?;
        reply.await.map_err(|_| NoReply::Lost)
    }
}

/// Sets a flag when it is dropped: the answer is no longer wanted.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
