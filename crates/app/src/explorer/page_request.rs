//! A request while it is answered: what state of the code it looks at, and how its questions are asked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::{OnceCell, oneshot};

use super::address::{CodeState, Query};
use super::lists::{list, word};
use super::page_tools::{folder, index_state};
use crate::output::{OutputFormat, Reader};
use crate::server::workers::Client;
use crate::server::{CallRequest, CancelOnDrop, Content, Server};
use crate::tools::TOOLS;
use crate::tools::tool_spec::ToolSpec;

/// So long an answer for a page may resolve calls. The next one goes on where it ended.
const PAGE_ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// See the module.
pub(super) struct PageRequest {
    pub(super) at: CodeState,
    pub(super) query: Query,
    /// The path of the address.
    pub(super) path: String,
    server: Arc<Server>,
    /// So long an answer may take.
    time: Option<Duration>,
    /// Where one stands, once that was asked.
    index_state: OnceCell<Result<Value, Value>>,
    /// The same without the ref and the work tree that are asked for.
    own_workspace_state: OnceCell<Option<Value>>,
}

/// A question to a tool that agents have, too.
pub(super) type ToolQuestion = (&'static str, Value);

impl PageRequest {
    /// A page is in a hurry: what could not be looked at in time is looked at when the script asks again.
    pub(super) fn new(server: &Arc<Server>, at: CodeState, query: Query, path: String, is_page: bool) -> Self {
        let time = is_page.then_some(PAGE_ANSWER_TIMEOUT);
        Self {
            at,
            query,
            path,
            time,
            server: Arc::clone(server),
            index_state: OnceCell::new(),
            own_workspace_state: OnceCell::new(),
        }
    }

    /// Asks a tool by its name; its answer as JSON, or its error.
    pub(super) async fn ask(&self, name: &str, arguments: Value) -> Result<Value, Value> {
        match TOOLS.iter().find(|tool| tool.name == name) {
            Some(tool) => self.ask_tool(tool, arguments).await,
            None => Err(json!({ "error": { "code": "internal_error", "message": format!("No tool {name}.") } })),
        }
    }

    /// The same of a tool that only pages have.
    pub(super) async fn ask_tool(&self, tool: &'static ToolSpec, arguments: Value) -> Result<Value, Value> {
        let placed = self.with_state_arguments(tool, arguments).await?;
        match self.answer(tool, placed, OutputFormat::Json).await {
            Some((Content::Json(json), false)) => Ok(json),
            Some((Content::Json(json), true)) => Err(json),
            _ => Err(json!({ "error": { "code": "internal_error", "message": "The question was not answered." } })),
        }
    }

    /// What agents get as text for the same questions.
    pub(super) async fn agent_text(&self, questions: &[ToolQuestion]) -> String {
        let mut texts = Vec::new();
        for (name, arguments) in questions {
            // Agents have no tool for folders, but those who look at one may want to paste it all the same.
            let Some(tool) = TOOLS.iter().chain([&folder::TOOL]).find(|tool| tool.name == *name) else { continue };
            let Ok(placed) = self.with_state_arguments(tool, arguments.clone()).await else { continue };
            if let Some((Content::Text(text), _)) = self.answer(tool, placed, OutputFormat::Text(Reader::Agent)).await {
                texts.push(text.trim_end().to_owned());
            }
        }
        texts.join("\n\n") + "\n"
    }

    /// Where one stands and what there is to choose from, asked once. Who looks for a ref that is none still has the others to choose from.
    pub(super) async fn index_state(&self) -> &Result<Value, Value> {
        let ask = || async {
            let choices = json!({ "choices": true });
            match self.ask_tool(&index_state::TOOL, choices.clone()).await {
                Ok(standing) => Ok(standing),
                Err(error) => self
                    .own_workspace_state()
                    .await
                    .clone()
                    .map(|own| json!({ "root": own["root"], "choices": own["choices"] }))
                    .ok_or(error),
            }
        };
        self.index_state.get_or_init(ask).await
    }

    /// The name of the workspace's folder.
    pub(super) async fn folder(&self) -> String {
        let root =
            self.index_state().await.as_ref().map(|standing| word(standing, "root").to_owned()).unwrap_or_default();
        root.rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
    }

    /// The same of the workspace itself, whatever is asked for.
    async fn own_workspace_state(&self) -> &Option<Value> {
        let ask = || async {
            let arguments = Map::from_iter([("choices".to_owned(), json!(true))]);
            match self.answer(&index_state::TOOL, arguments, OutputFormat::Json).await {
                Some((Content::Json(own), false)) => Some(own),
                _ => None,
            }
        };
        self.own_workspace_state.get_or_init(ask).await
    }

    /// The arguments with the state that is looked at, as far as the tool can be told. Another work tree is taken only if it is one of
    /// this repository: no page of one workspace shows another's.
    async fn with_state_arguments(&self, tool: &ToolSpec, arguments: Value) -> Result<Map<String, Value>, Value> {
        let Value::Object(mut fields) = arguments else { return Err(Value::Null) };
        fields.retain(|_, value| !value.is_null());
        let takes = |name: &str| tool.params.iter().any(|param| param.name == name);
        if let Some(ref_name) = &self.at.ref_name
            && takes("ref")
            && !fields.contains_key("ref")
        {
            fields.insert("ref".into(), json!(ref_name));
        }
        if let Some(tree) = &self.at.tree {
            let trees =
                self.own_workspace_state().await.as_ref().map(|own| list(&own["choices"], "trees")).unwrap_or_default();
            if !trees.iter().any(|known| known["path"] == **tree) {
                let message = "This is no work tree of this repository.";
                return Err(json!({ "error": { "code": "workspace_not_allowed", "message": message } }));
            }
            fields.insert("workspace".into(), json!(tree));
        }
        Ok(fields)
    }

    async fn answer(
        &self,
        tool: &'static ToolSpec,
        arguments: Map<String, Value>,
        form: OutputFormat,
    ) -> Option<(Content, bool)> {
        let (sender, reply) = oneshot::channel();
        let gone = Arc::default();
        // A browser that has gone on to another page does not wait for this one.
        let _leaving = CancelOnDrop::new(&gone);
        let (client, connection, follower) = (Client::Pages, None, None);
        let time = self.time;
        let asked = CallRequest {
            tool,
            arguments,
            client,
            connection,
            listener: follower,
            form,
            cancel: gone,
            by_page: true,
            time_limit: time,
        };
        self.server.answer(asked, move |reply| drop(sender.send(reply))).ok()?;
        reply.await.ok().map(|reply| (reply.content, reply.is_error))
    }
}
