//! The explorer: pages to look at code with.
//!
//! A screen is a few questions to the tools that agents ask, and a layout of their answers; it knows nothing that they do not. So the
//! same address gives the page, the answers as JSON, or the text that an agent would get. All screens read: no
//! address changes a file, at most a ref that is looked at for the first time is indexed, and none but `GET` is answered. Text of a repository gets into a page through the template's
//! escaping alone, and nothing on a page comes from another host: the policy in [`POLICY`] forbids it, the tests look for it.

mod address;
mod code;
mod drawing;
pub(crate) mod gate;
mod graph_layout;
mod lists;
mod page;
mod page_request;
mod page_tools;
mod screens;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, html};
use serde_json::Value;

use crate::escape;
use crate::mcp::host_check;
use crate::server::Server;
use address::{CodeState, Query};
use gate::LoginGate;
use page_request::PageRequest;
use screens::{RenderedScreen, Screen};

/// What a page may load and do: its own script, styles, images and answers, and nothing else.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Sent with everything.
fn headers() -> [(HeaderName, &'static str); 7] {
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

/// Asked for by the script: what stands between the header and the footer.
const PART_HEADER: HeaderName = HeaderName::from_static("x-part");

/// What a browser says of why it asks.
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// See the module.
pub(crate) struct Explorer {
    pub(crate) gate: LoginGate,
    server: Arc<Server>,
}

impl Explorer {
    /// An explorer of the server's own workspace.
    pub(crate) fn new(server: &Arc<Server>, gate: LoginGate) -> Self {
        Self { gate, server: Arc::clone(server) }
    }

    /// Answers a request. Who it is meant for, and that no foreign page sent it, was checked before.
    pub(crate) async fn respond(&self, request: Request) -> Response {
        with_security_headers(self.answer(request).await)
    }

    async fn answer(&self, request: Request) -> Response {
        if gate::is_from_elsewhere(request.headers()) {
            return elsewhere(&request);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
        }
        let path = request.uri().path().to_owned();
        let query = Query::parse(request.uri().query());
        let headers = request.headers();
        // Who only asks for the head of a page, to show a preview of a link, has not opened it.
        let opens = path == "/" && request.method() == Method::GET && !headers.contains_key("sec-purpose");
        if let Some(token) = query.get("token").filter(|_| opens) {
            match self.gate.exchange(token) {
                Some(cookie) => return logged_in_page(&cookie),
                // The address of a page that is loaded again: it was good, and the cookie is there.
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
            ResponseFormat::Part => {
                (shown.status, html(), page::page_main(&visit, &shown).into_string()).into_response()
            }
            ResponseFormat::Page => {
                let page = page::page(&visit, &shown).await;
                (shown.status, html(), page.into_string()).into_response()
            }
        }
    }
}

/// A response with what every page is sent with, be it a page or a refusal.
pub(crate) fn with_security_headers(mut response: Response) -> Response {
    for (name, value) in headers() {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    if !response.headers().contains_key(header::CACHE_CONTROL) {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// What a request wants to get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponseFormat {
    Page,
    Part,
    Json,
    Text,
}

impl ResponseFormat {
    /// A browser says that it takes pages; who names JSON or plain text first of these gets it. `as` is for links.
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

fn html() -> [(HeaderName, &'static str); 1] {
    [(header::CONTENT_TYPE, "text/html; charset=utf-8")]
}

fn json(shown: &RenderedScreen) -> Response {
    let text = serde_json::to_string_pretty(&shown.json).unwrap_or_else(|_| Value::Null.to_string());
    let kind = [(header::CONTENT_TYPE, "application/json")];
    (shown.status, kind, escape::json(&text).into_owned()).into_response()
}

fn text(status: StatusCode, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// What our own files are.
fn asset(file: &str) -> Response {
    let (kind, content) = match file {
        "explorer.css" => ("text/css; charset=utf-8", STYLES),
        "explorer.js" => ("text/javascript; charset=utf-8", SCRIPT),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    // They change with the program alone, but the program may be another one a moment later: it is asked each time.
    let headers = [(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from(content)).into_response()
}

/// Logged in: the page goes on to the first screen. See the module `gate` for why this is no redirect.
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
    let mut response = (StatusCode::OK, html(), page.into_string()).into_response();
    if let Ok(value) = HeaderValue::from_str(cookie)
        && !cookie.is_empty()
    {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// The answer to what another site made the browser ask for. Nothing is looked up for it, and no token is used up. When the
/// user followed a link, the page offers the address as a link of its own.
fn elsewhere(request: &Request) -> Response {
    let is_link = request.method() == Method::GET
        && request.headers().get(FETCH_MODE).is_some_and(|mode| mode == "navigate")
        && request.headers().get(FETCH_DEST).is_some_and(|dest| dest == "document");
    if !is_link {
        return (StatusCode::FORBIDDEN, "Forbidden: another site asked for this").into_response();
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
                p { "CodeCompass shows pages only to those who open them directly. " a href=(target) { "Open this page" } }
            }
        }
    };
    (StatusCode::FORBIDDEN, html(), page.into_string()).into_response()
}

/// Somebody whom we do not know. Nothing of the workspace is told.
fn login_required() -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; meta name="viewport" content="width=device-width, initial-scale=1"; title { "CodeCompass" } }
            body {
                h1 { "This page needs a key" }
                p { "Open the address that CodeCompass printed where it was started. It is good for one browser; a new one is printed there now." }
            }
        }
    };
    (StatusCode::UNAUTHORIZED, html(), page.into_string()).into_response()
}
