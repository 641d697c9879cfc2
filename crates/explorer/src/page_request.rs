//! A page request while it is answered: the state of the code that it shows, and how tools are called for it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use codecompass_wire::Failure;
use codecompass_wire::pages::IndexState;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::address::{CodeState, Query};
use super::page_tools::{folder, index_state};
use codecompass_serve::server::workers::Client;
use codecompass_serve::server::{CallRequest, Content, Server};
use codecompass_tools::TOOLS;
use codecompass_tools::tool_spec::ToolSpec;
use codecompass_workspace::output::{OutputFormat, Reader};

/// The time limit for resolving calls in an answer for a page. The next request continues where it ended.
const PAGE_ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// A request for a screen.
pub(super) struct PageRequest {
    pub(super) at: CodeState,
    pub(super) query: Query,
    /// The path of the address.
    pub(super) path: String,
    server: Arc<Server>,
    /// The time limit of an answer.
    time: Option<Duration>,
    /// The state of the index, once it was requested.
    index_state: OnceLock<Result<IndexState, Refusal>>,
    /// The same without the requested ref and work tree.
    own_workspace_state: OnceLock<Option<IndexState>>,
}

/// A call of a tool that agents also have.
pub(super) type ToolQuestion = (&'static str, Map<String, Value>);

/// Arguments of a call; null leaves one out.
pub(super) fn arguments<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// An answer as its type, and as the tool wrote it.
pub(super) struct Answered<T> {
    pub(super) answer: T,
    pub(super) json: Value,
}

/// A failed call, and the JSON of its error.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub(super) failure: Box<Failure>,
    pub(super) json: Value,
}

impl Refusal {
    /// A failure of the page itself.
    pub(super) fn new(code: &str, message: &str) -> Self {
        let error = arguments([("code", code.into()), ("message", message.into())]);
        Self { failure: Box::new(Failure::new(code, message)), json: arguments([("error", error.into())]).into() }
    }

    /// The error of a tool.
    fn from_json(json: Value) -> Self {
        match Failure::deserialize(&json) {
            Ok(failure) => Self { failure: Box::new(failure), json },
            Err(error) => Self::unreadable(&error),
        }
    }

    fn unreadable(error: &serde_json::Error) -> Self {
        Self::new("internal_error", &format!("An answer cannot be read: {error}."))
    }

    /// The code of the error.
    pub(super) fn code(&self) -> &str {
        &self.failure.error.code
    }
}

impl PageRequest {
    /// Creates a request. A page has a short time limit: the script requests unfinished parts again.
    pub(super) fn new(server: &Arc<Server>, at: CodeState, query: Query, path: String, is_page: bool) -> Self {
        let time = is_page.then_some(PAGE_ANSWER_TIMEOUT);
        Self {
            at,
            query,
            path,
            time,
            server: Arc::clone(server),
            index_state: OnceLock::new(),
            own_workspace_state: OnceLock::new(),
        }
    }

    /// Calls a tool by its name; returns its answer, or its error.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Answered<T>, Refusal> {
        match TOOLS.iter().find(|tool| tool.name == name) {
            Some(tool) => self.ask_tool(tool, arguments).await,
            None => Err(Refusal::new("internal_error", &format!("No tool {name}."))),
        }
    }

    /// The same for a tool that only pages have.
    pub(super) async fn ask_tool<T: DeserializeOwned>(
        &self,
        tool: &'static ToolSpec,
        arguments: Map<String, Value>,
    ) -> Result<Answered<T>, Refusal> {
        let placed = self.with_state_arguments(tool, arguments).await?;
        match self.answer(tool, placed, OutputFormat::Json).await {
            Some((Content::Json(json), false)) => {
                let answer = T::deserialize(&json).map_err(|error| Refusal::unreadable(&error))?;
                Ok(Answered { answer, json })
            }
            Some((Content::Json(json), true)) => Err(Refusal::from_json(json)),
            _ => Err(Refusal::new("internal_error", "The request was not answered.")),
        }
    }

    /// The text that agents get for the same calls.
    pub(super) async fn agent_text(&self, questions: &[ToolQuestion]) -> String {
        let mut texts = Vec::new();
        for (name, arguments) in questions {
            // Agents have no tool for folders, but users of a folder page may want to paste its content.
            let Some(tool) = TOOLS.iter().chain([&folder::TOOL]).find(|tool| tool.name == *name) else { continue };
            let Ok(placed) = self.with_state_arguments(tool, arguments.clone()).await else { continue };
            if let Some((Content::Text(text), _)) = self.answer(tool, placed, OutputFormat::Text(Reader::Agent)).await {
                texts.push(text.trim_end().to_owned());
            }
        }
        texts.join("\n\n") + "\n"
    }

    /// The state of the index and the available refs and work trees, requested once. For an unknown ref the choices are
    /// still returned.
    pub(super) async fn index_state(&self) -> &Result<IndexState, Refusal> {
        if let Some(known) = self.index_state.get() {
            return known;
        }
        let state = match Box::pin(self.ask_tool(&index_state::TOOL, arguments([("choices", true.into())]))).await {
            Ok(standing) => Ok(standing.answer),
            Err(error) => {
                let own = self.own_workspace_state().await.clone();
                own.map(|own| IndexState { state: None, ..own }).ok_or(error)
            }
        };
        self.index_state.get_or_init(|| state)
    }

    /// The name of the workspace's folder.
    pub(super) async fn folder(&self) -> String {
        let root = self.index_state().await.as_ref().map(|standing| standing.root.as_str()).unwrap_or_default();
        root.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
    }

    /// The same for the server's own workspace, whatever the request names.
    async fn own_workspace_state(&self) -> &Option<IndexState> {
        if let Some(known) = self.own_workspace_state.get() {
            return known;
        }
        let choices = arguments([("choices", true.into())]);
        let state = match self.answer(&index_state::TOOL, choices, OutputFormat::Json).await {
            Some((Content::Json(own), false)) => serde_json::from_value(own).ok(),
            _ => None,
        };
        self.own_workspace_state.get_or_init(|| state)
    }

    /// Adds the ref and work tree of the page to the arguments, as far as the tool has such parameters. Another work
    /// tree is only accepted if it belongs to this repository: no page of one workspace shows another one.
    async fn with_state_arguments(
        &self,
        tool: &ToolSpec,
        mut fields: Map<String, Value>,
    ) -> Result<Map<String, Value>, Refusal> {
        fields.retain(|_, value| !value.is_null());
        let takes = |name: &str| tool.params.iter().any(|param| param.name == name);
        if let Some(ref_name) = &self.at.ref_name
            && takes("ref")
            && !fields.contains_key("ref")
        {
            fields.insert("ref".into(), ref_name.as_str().into());
        }
        if let Some(tree) = &self.at.tree {
            let own = self.own_workspace_state().await.as_ref().and_then(|own| own.choices.as_ref());
            if !own.is_some_and(|own| own.trees.iter().any(|known| known.path == **tree)) {
                let message = "This is not a work tree of this repository.";
                return Err(Refusal::new("workspace_not_allowed", message));
            }
            fields.insert("workspace".into(), tree.as_str().into());
        }
        Ok(fields)
    }

    async fn answer(
        &self,
        tool: &'static ToolSpec,
        arguments: Map<String, Value>,
        form: OutputFormat,
    ) -> Option<(Content, bool)> {
        let mut request = CallRequest::new(tool, arguments, Client::Pages, form);
        request.context.time_limit = self.time;
        self.server.reply(request).await.ok().map(|reply| (reply.content, reply.is_error))
    }
}
