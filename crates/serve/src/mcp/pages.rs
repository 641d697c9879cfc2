//! Pages for people beside the protocol. The server admits requests and sends responses; what a page contains is not
//! known here.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axum::http;
use codecompass_workspace::error::AppError;

use crate::server::Server;

/// A request for a page: the head alone, because no page reads a body.
pub type PageRequest = http::Request<()>;

/// A page, or the refusal of one.
pub type PageResponse = http::Response<Cow<'static, str>>;

/// Answers all requests that are not for agents. `Host` and `Origin` of a request were checked before.
pub trait Pages: Send + Sync {
    /// Answers a request.
    fn respond(&self, request: PageRequest) -> Pin<Box<dyn Future<Output = PageResponse> + Send + '_>>;

    /// Adds the headers of all pages to a response that the server itself gives in place of a page.
    fn add_headers(&self, headers: &mut http::HeaderMap);

    /// The address that opens the pages in a browser, valid once.
    fn new_address(&self) -> Result<String, AppError>;
}

/// The pages to serve.
pub struct PageOptions {
    /// Creates them, once their URL is known.
    pub create: fn(server: &Arc<Server>, url: &str, port: u16) -> Box<dyn Pages>,
    /// Open them in the user's browser.
    pub open: bool,
}
