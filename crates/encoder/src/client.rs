//! Requests to an encoder.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ureq::Agent;

use crate::endpoint::Endpoint;

/// The time limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(300);

/// The maximum size of an answer.
const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// The variable with the key of the API, for endpoints that want one.
const KEY_VARIABLE: &str = "CODECOMPASS_EMBEDDINGS_KEY";

/// Why there are no vectors.
#[derive(Debug)]
pub enum EncoderError {
    /// The endpoint does not answer, or not as expected.
    Endpoint(String),
    /// The index or the cache cannot be read or written.
    Index(String),
}

impl fmt::Display for EncoderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncoderError::Endpoint(what) => write!(f, "the encoder does not answer: {what}"),
            EncoderError::Index(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for EncoderError {}

#[derive(Serialize)]
struct Request<'r> {
    model: &'r str,
    input: &'r [&'r str],
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

pub(crate) struct Client {
    agent: Agent,
    endpoint: Endpoint,
    model: String,
    key: Option<String>,
}

impl Client {
    pub(crate) fn new(endpoint: Endpoint, model: String) -> Self {
        let config = Agent::config_builder()
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .max_redirects(0)
            .proxy(None)
            .http_status_as_error(false)
            .build();
        let key = std::env::var(KEY_VARIABLE).ok().filter(|key| !key.is_empty());
        Self { agent: config.into(), endpoint, model, key }
    }

    /// The vectors of some texts, in this order.
    pub(crate) fn embed(&self, texts: &[&str], timeout: Duration) -> Result<Vec<Vec<f32>>, EncoderError> {
        let failed = |error: ureq::Error| EncoderError::Endpoint(error.to_string());
        let mut request = self.agent.post(&self.endpoint.url).config().timeout_global(Some(timeout)).build();
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = request.send_json(Request { model: &self.model, input: texts }).map_err(failed)?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec().map_err(failed)?;
        if !status.is_success() {
            let said: String = String::from_utf8_lossy(&body).chars().take(200).collect();
            return Err(EncoderError::Endpoint(format!("status {}: {said}", status.as_u16())));
        }
        let wrong = |what: String| EncoderError::Endpoint(format!("its answer is not as expected: {what}"));
        let mut answer: Response = serde_json::from_slice(&body).map_err(|error| wrong(error.to_string()))?;
        if answer.data.len() != texts.len() {
            return Err(wrong(format!("{} vectors for {} texts", answer.data.len(), texts.len())));
        }
        // The order is that of the index, if there is one.
        answer.data.sort_by_key(|item| item.index);
        Ok(answer.data.into_iter().map(|item| item.embedding).collect())
    }
}
