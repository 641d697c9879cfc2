//! Client of an encoder outside of this program, which the user runs and names in the configuration.
//!
//! Only this crate opens connections, and only if `query.embeddings` is set: to an endpoint that speaks the embeddings
//! API that Ollama, vLLM, TEI and others share (`POST URL/embeddings`). Without `query.embeddings_remote` the host must
//! be this machine. Redirects are not followed and proxies are not used, so code goes where the user said.
//!
//! Vectors of symbols are made in the background ([`UserEncoder::encode_missing`]) and cached by content and model. A
//! query asks for its own vector only, with a short time limit; after a failure the endpoint is left alone for a while.
//! Search works the same while it is absent or slow, by everything else it knows.

mod client;
mod endpoint;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use codecompass_query::encoder::{Encoder, PassageKey, Vector, passage_key, passages};
use codecompass_store::{Snapshot, VectorCache};

use client::Client;
pub use client::EncoderError;
pub use endpoint::Endpoint;

/// The time limit for the vector of a query.
const QUERY_TIMEOUT: Duration = Duration::from_millis(500);

/// The time limit for a batch of passages.
const BATCH_TIMEOUT: Duration = Duration::from_secs(60);

/// The number of passages in a request.
const BATCH: usize = 32;

/// How long the endpoint is left alone after a failure.
const PAUSE: Duration = Duration::from_secs(30);

/// The maximum number of queries whose vectors are kept in memory.
const MAX_QUERIES: usize = 256;

/// What the user configured.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The base of the API: `http://127.0.0.1:11434/v1`.
    pub url: String,
    /// The name of the model.
    pub model: String,
    /// Whether the endpoint may be on another machine.
    pub allow_remote: bool,
}

/// An encoder of the user.
pub struct UserEncoder {
    client: Client,
    cache: Mutex<VectorCache>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    paused_until: Option<Instant>,
    queries: HashMap<String, Vector>,
    problem: Option<String>,
}

/// The encoder of these settings; one per process. The error says what is wrong with the settings or the cache.
pub fn shared(settings: &Settings, data: &Path) -> Result<Arc<UserEncoder>, String> {
    static OPEN: LazyLock<Mutex<HashMap<Settings, Arc<UserEncoder>>>> = LazyLock::new(Mutex::default);
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(encoder) = open.get(settings) {
        return Ok(Arc::clone(encoder));
    }
    let encoder = Arc::new(UserEncoder::open(settings, data)?);
    open.insert(settings.clone(), Arc::clone(&encoder));
    Ok(encoder)
}

impl UserEncoder {
    /// Opens the cache. Nothing is sent.
    pub fn open(settings: &Settings, data: &Path) -> Result<Self, String> {
        let endpoint = Endpoint::parse(&settings.url, settings.allow_remote)?;
        let cache = VectorCache::open(&VectorCache::path(data), &settings.model);
        let cache = cache.map_err(|error| format!("The cache of vectors cannot be opened: {error}."))?;
        let client = Client::new(endpoint, settings.model.clone());
        Ok(Self { client, cache: Mutex::new(cache), state: Mutex::default() })
    }

    /// Makes the missing vectors of a view, until `should_stop`. Returns how many were made.
    pub fn encode_missing(&self, snapshot: &Snapshot, should_stop: &dyn Fn() -> bool) -> Result<usize, EncoderError> {
        let mut made = 0;
        let mut pending: Vec<(PassageKey, String)> = Vec::new();
        let versions = snapshot.versions().map_err(|error| EncoderError::Index(error.to_string()))?;
        for version in versions {
            if should_stop() {
                return Ok(made);
            }
            let texts = passages(snapshot, version.id).map_err(|error| EncoderError::Index(error.to_string()))?;
            let keyed: Vec<(PassageKey, String)> = texts.into_iter().map(|text| (passage_key(&text), text)).collect();
            let keys: Vec<[u8; 16]> = keyed.iter().map(|(key, _)| key.0).collect();
            let known = self.cache().has(&keys).map_err(|error| EncoderError::Index(error.to_string()))?;
            pending.extend(keyed.into_iter().zip(known).filter(|(_, is_known)| !is_known).map(|(passage, _)| passage));
            while pending.len() >= BATCH {
                let rest = pending.split_off(BATCH);
                made += self.encode(&pending)?;
                pending = rest;
                if should_stop() {
                    return Ok(made);
                }
            }
        }
        if !pending.is_empty() {
            made += self.encode(&pending)?;
        }
        Ok(made)
    }

    fn encode(&self, passages: &[(PassageKey, String)]) -> Result<usize, EncoderError> {
        let texts: Vec<&str> = passages.iter().map(|(_, text)| text.as_str()).collect();
        let vectors = self.client.embed(&texts, BATCH_TIMEOUT)?;
        let bytes: Vec<([u8; 16], Vec<u8>)> = passages
            .iter()
            .zip(&vectors)
            .filter_map(|((key, _), vector)| Some((key.0, Vector::from_floats(vector)?.to_bytes())))
            .collect();
        let put = self.cache().put(bytes.iter().map(|(key, vector)| (key, vector.as_slice())));
        put.map_err(|error| EncoderError::Index(error.to_string()))?;
        Ok(bytes.len())
    }

    /// The number of cached vectors.
    pub fn cached(&self) -> u64 {
        self.cache().count().unwrap_or(0)
    }

    /// Why the endpoint did not answer last time, if it did not.
    pub fn problem(&self) -> Option<String> {
        self.state().problem.clone()
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, VectorCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Encoder for UserEncoder {
    fn query_vector(&self, query: &str) -> Option<Vector> {
        {
            let state = self.state();
            if let Some(vector) = state.queries.get(query) {
                return Some(vector.clone());
            }
            if state.paused_until.is_some_and(|until| Instant::now() < until) {
                return None;
            }
        }
        let answered = self.client.embed(&[query], QUERY_TIMEOUT);
        let mut state = self.state();
        match answered {
            Ok(vectors) => {
                state.problem = None;
                let vector = Vector::from_floats(vectors.first()?)?;
                if state.queries.len() >= MAX_QUERIES {
                    state.queries.clear();
                }
                state.queries.insert(query.to_owned(), vector.clone());
                Some(vector)
            }
            Err(error) => {
                state.problem = Some(error.to_string());
                state.paused_until = Some(Instant::now() + PAUSE);
                None
            }
        }
    }

    fn passage_vectors(&self, keys: &[PassageKey]) -> Vec<Option<Vector>> {
        let keys: Vec<[u8; 16]> = keys.iter().map(|key| key.0).collect();
        let found = self.cache().get(&keys).unwrap_or_else(|_| vec![None; keys.len()]);
        found.into_iter().map(|bytes| bytes.map(|bytes| Vector::from_bytes(&bytes))).collect()
    }
}
