//! Calls of tools in this process, for the fuzz target `arguments`: no transport, but the same checks and the same
//! answers.
//!
//! Tools that index are excluded. The workspace is indexed once, when it is opened.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use codecompass_serve::server::workers::Client;
use codecompass_serve::server::{CallRequest, Content, Server, ServerOptions};
use codecompass_tools::TOOLS;
use codecompass_tools::call::host::Connection;
use codecompass_tools::tool_spec::{Effect, ToolSpec};
use codecompass_workspace::output::{OutputFormat, Reader};
use codecompass_workspace::session::SessionOptions;

/// Time limit for indexing the workspace, and for one answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server without a transport, and one connection to it.
pub struct Workspace {
    server: Arc<Server>,
    connection: Arc<Connection>,
}

/// An answer as a client gets it.
#[derive(Debug)]
pub struct Reply {
    /// JSON, or text if that was requested.
    pub text: String,
    /// The error code; `None` for an answer.
    pub code: Option<String>,
}

/// The read-only tools, each with its parameters.
pub fn tools() -> Vec<(&'static str, Vec<&'static str>)> {
    let names = |tool: &'static ToolSpec| (tool.name, tool.params.iter().map(|param| param.name).collect());
    TOOLS.iter().filter(|tool| tool.effect != Effect::Indexes).map(names).collect()
}

impl Workspace {
    /// Opens a folder and indexes it. `CODECOMPASS_HOME` names the data folder. Returns the reason if it fails.
    pub fn open(root: &Path) -> Result<Self, String> {
        let base = SessionOptions { workspace: Some(root.to_owned()), ..SessionOptions::default() };
        let options = ServerOptions {
            own_workspace_only: true,
            no_watch: true,
            leaves_working_folder: false,
            ..ServerOptions::for_explorer()
        };
        let server = Server::start(&base, options).map_err(|error| error.message)?;
        let opened = Self { server, connection: Arc::default() };
        opened.server.start_background_work();
        let until = Instant::now() + TIMEOUT;
        let query = || Map::from_iter([("name".to_owned(), Value::from("run"))]);
        while let Some(code) = opened.call("locate_symbol", query(), false)?.code {
            if Instant::now() > until {
                return Err(format!("The workspace is not indexed: {code}."));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(opened)
    }

    /// Calls a tool and waits for the answer. Returns the reason if there is none.
    pub fn call(&self, name: &str, arguments: Map<String, Value>, as_text: bool) -> Result<Reply, String> {
        let tool = TOOLS.iter().find(|tool| tool.name == name).ok_or("No such tool.")?;
        let form = if as_text { OutputFormat::Text(Reader::Agent) } else { OutputFormat::Json };
        let mut request = CallRequest::new(tool, arguments, Client::Pipe, form);
        request.context.connection = Some(Arc::clone(&self.connection));
        let (sender, receiver) = mpsc::channel();
        self.server
            .answer(request, move |reply| drop(sender.send(reply)))
            .map_err(|_| "The queue is full.".to_owned())?;
        let reply = receiver.recv_timeout(TIMEOUT).map_err(|_| "There is no answer.")?;
        let (text, code) = match reply.content {
            Content::Json(json) => (json.to_string(), json["error"]["code"].as_str().map(str::to_owned)),
            Content::Text(text) => {
                let code = text.split_once(": ").map(|(code, _)| code.to_owned());
                (text, code)
            }
        };
        Ok(Reply { text, code: reply.is_error.then(|| code.unwrap_or_default()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_reads_is_listed_with_its_parameters() {
        let listed = tools();
        assert!(listed.iter().any(|(name, params)| *name == "read_code" && params.contains(&"what")));
        assert!(listed.iter().all(|(name, _)| *name != "index_repo" && *name != "sync_repo"));
    }
}
