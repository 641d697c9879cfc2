//! Pages for exploring code in a browser: all paths of a server except `/mcp` and `/health`.
//!
//! **A screen is a few calls of tools and a layout of their answers** (`screens/`, one file each, with `maud`). So one
//! address gives a page, JSON or an agent's text, and a screen shows nothing that an agent cannot get. Data that only
//! pages need (highlighted text with links, folders, available refs) comes from tools that clients are not offered
//! (`page_tools/`). `page_request.rs` calls them on the server's threads, and accepts another work tree only of the
//! same repository. `gate.rs` exchanges a token for a cookie. `graph_layout.rs` places boxes and `drawing.rs` draws
//! them. `assets/` has the script and the style sheet, which are compiled in.

#![allow(missing_docs, reason = "only crates of this workspace use it; names that say all have no docs")]

mod address;
mod code;
mod drawing;
mod gate;
mod graph_layout;
mod lists;
mod page;
mod page_request;
mod page_tools;
mod screens;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use codecompass_serve::mcp::pages::{PageRequest as Request, PageResponse as Response, Pages};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use maud::{DOCTYPE, html};
use serde_json::Value;

use address::{CodeState, Query};
use codecompass_serve::http_guard::host_check;
use codecompass_serve::server::Server;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape;
use gate::LoginGate;
use page_request::PageRequest;
use screens::{RenderedScreen, Screen};

/// What a page may load and do: its own script, styles, images and answers, and nothing else.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The headers of every response.
fn security_headers() -> [(HeaderName, &'static str); 7] {
    [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::VARY, "Accept, X-Part"),
    ]
}

const STYLES: &str = include_str!("assets/explorer.css");
const SCRIPT: &str = include_str!("assets/explorer.js");
const ICON: &str = include_str!("assets/icon.svg");

/// Sent by the script to get only the content between header and footer.
const PART_HEADER: HeaderName = HeaderName::from_static("x-part");

/// The headers in which a browser states the purpose of a request.
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// The explorer of one server.
pub struct Explorer {
    gate: LoginGate,
    server: Arc<Server>,
}

impl Pages for Explorer {
    fn respond(&self, request: Request) -> Pin<Box<dyn Future<Output = Response> + Send + '_>> {
        Box::pin(async {
            let mut response = self.answer(request).await;
            self.add_headers(response.headers_mut());
            response
        })
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in security_headers() {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if !headers.contains_key(header::CACHE_CONTROL) {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
    }

    fn new_address(&self) -> Result<String, AppError> {
        self.gate.new_address()
    }
}

impl Explorer {
    /// Creates an explorer of the server's own workspace. Browsers reach it at this URL and port.
    pub fn create(server: &Arc<Server>, url: &str, port: u16) -> Box<dyn Pages> {
        Box::new(Self { gate: LoginGate::new(url.to_owned(), port), server: Arc::clone(server) })
    }

    async fn answer(&self, request: Request) -> Response {
        if gate::is_from_elsewhere(request.headers()) {
            return elsewhere(&request);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return respond(StatusCode::METHOD_NOT_ALLOWED, &[(header::ALLOW, "GET, HEAD")], "");
        }
        let path = request.uri().path().to_owned();
        let query = Query::parse(request.uri().query());
        let headers = request.headers();
        // A request for the head of a page, for example for a link preview, does not open it.
        let opens = path == "/" && request.method() == Method::GET && !headers.contains_key("sec-purpose");
        if let Some(token) = query.get("token").filter(|_| opens) {
            match self.gate.exchange(token) {
                Some(cookie) => return logged_in_page(&cookie),
                // The address of a page that is reloaded: its token was valid, and the cookie is set.
                None if self.gate.is_logged_in(headers) => return logged_in_page(""),
                None => {}
            }
        }
        if path == "/favicon.ico" {
            return asset("icon.svg");
        }
        if !self.gate.is_logged_in(headers) {
            self.gate.print_new_address();
            return login_required();
        }
        if let Some(file) = path.strip_prefix("/assets/") {
            return asset(file);
        }
        let wants = ResponseFormat::negotiate(&request, &query);
        let is_page = matches!(wants, ResponseFormat::Page | ResponseFormat::Part);
        let visit = PageRequest::new(&self.server, CodeState::from_query(&query), query, path.clone(), is_page);
        let shown = match Screen::parse(&path, &visit.query) {
            Some(screen) => screen.show(&visit).await,
            None => screens::not_found(&visit),
        };
        match wants {
            ResponseFormat::Json => json(&shown),
            ResponseFormat::Text if shown.agent.is_empty() => {
                text(shown.status, format!("{}\n", escape::escape_control(&shown.error_text())))
            }
            ResponseFormat::Text => text(shown.status, visit.agent_text(&shown.agent).await),
            ResponseFormat::Part => respond(shown.status, HTML, page::page_main(&visit, &shown).into_string()),
            ResponseFormat::Page => {
                let page = page::page(&visit, &shown).await;
                respond(shown.status, HTML, page.into_string())
            }
        }
    }
}

/// The requested format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseFormat {
    Page,
    Part,
    Json,
    Text,
}

impl ResponseFormat {
    /// A browser accepts pages; a client that names JSON or plain text first gets it. `as` is for links.
    fn negotiate(request: &Request, query: &Query) -> Self {
        let headers = request.headers();
        if headers.contains_key(PART_HEADER) {
            return Self::Part;
        }
        match query.get("as") {
            Some("json") => return Self::Json,
            Some("text") => return Self::Text,
            _ => {}
        }
        let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        let ranges: Vec<&str> = accepts.flat_map(|value| value.split(',')).map(str::trim).collect();
        let names = |kind: &str| ranges.iter().any(|range| range.split(';').next() == Some(kind));
        match (names("text/html"), names("application/json"), names("text/plain")) {
            (false, true, _) if host_check::accepts(headers, &["application/json"]) => Self::Json,
            (false, _, true) => Self::Text,
            _ => Self::Page,
        }
    }
}

/// The headers of a page.
const HTML: &[(HeaderName, &str)] = &[(header::CONTENT_TYPE, "text/html; charset=utf-8")];

/// A response with these headers, besides those of every response.
fn respond(status: StatusCode, headers: &[(HeaderName, &'static str)], body: impl Into<Cow<'static, str>>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    for (name, value) in headers {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn json(shown: &RenderedScreen) -> Response {
    let text = serde_json::to_string_pretty(&shown.json).unwrap_or_else(|_| Value::Null.to_string());
    respond(shown.status, &[(header::CONTENT_TYPE, "application/json")], escape::json(&text).into_owned())
}

fn text(status: StatusCode, text: String) -> Response {
    respond(status, &[(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text)
}

/// The built-in script, style sheet and icon.
fn asset(file: &str) -> Response {
    let (kind, content) = match file {
        "explorer.css" => ("text/css; charset=utf-8", STYLES),
        "explorer.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return respond(StatusCode::NOT_FOUND, &[], ""),
    };
    // They only change with the program, but the program may be replaced at any time, so browsers must revalidate.
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    respond(StatusCode::OK, &headers, content)
}

/// The page after login, which continues to the first screen. The module `gate` says why it is not a redirect.
fn logged_in_page(cookie: &str) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0;url=/";
                title { "CodeCompass" }
            }
            body { p { a href="/" { "To the code" } } }
        }
    };
    let mut response = respond(StatusCode::OK, HTML, page.into_string());
    if let Ok(value) = HeaderValue::from_str(cookie)
        && !cookie.is_empty()
    {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// The answer to a request that another site caused. Nothing is looked up for it, and no token is consumed. If the user
/// followed a link, the page offers the address as a link of its own.
fn elsewhere(request: &Request) -> Response {
    let is_link = request.method() == Method::GET
        && request.headers().get(FETCH_MODE).is_some_and(|mode| mode == "navigate")
        && request.headers().get(FETCH_DEST).is_some_and(|dest| dest == "document");
    if !is_link {
        return text(StatusCode::FORBIDDEN, "Forbidden: another site asked for this".to_owned());
    }
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    // Two slashes at the start would name another host.
    let target = format!("/{}", target.trim_start_matches(['/', '\\']));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; meta name="viewport" content="width=device-width, initial-scale=1"; title { "CodeCompass" } }
            body {
                h1 { "Another site sent you here" }
                p { "CodeCompass only shows pages that are opened directly. " a href=(target) { "Open this page" } }
            }
        }
    };
    respond(StatusCode::FORBIDDEN, HTML, page.into_string())
}

/// The page for a request without a cookie. It reveals nothing of the workspace.
fn login_required() -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; meta name="viewport" content="width=device-width, initial-scale=1"; title { "CodeCompass" } }
            body {
                h1 { "This page needs a key" }
                p { "Open the address that CodeCompass printed where it was started. It works for one browser; a new one was just printed there." }
            }
        }
    };
    respond(StatusCode::UNAUTHORIZED, HTML, page.into_string())
}
