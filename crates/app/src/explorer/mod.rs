//! The explorer: pages to look at code with.
//!
//! A screen is a few questions to the tools that agents ask, and a layout of their answers; it knows nothing that they do not. So the
//! same address gives the page, the answers as JSON, or the text that an agent would get. All screens read: no
//! address changes a file, at most a ref that is looked at for the first time is indexed, and none but `GET` is answered. Text of a repository gets into a page through the template's
//! escaping alone, and nothing on a page comes from another host: the policy in [`POLICY`] forbids it, the tests look for it.

mod address;
mod code;
mod drawing;
mod frame;
pub(crate) mod gate;
mod layered;
mod lists;
mod questions;
mod screens;
mod visit;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, html};
use serde_json::Value;

use crate::escape;
use crate::mcp::names;
use crate::server::Server;
use address::{At, Query};
use gate::Gate;
use screens::{Screen, Shown};
use visit::Visit;

/// What a page may load and do: its own script, styles, images and answers, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Sent with everything.
fn headers() -> [(HeaderName, &'static str); 7] {
    [
        (header::CONTENT_SECURITY_POLICY, POLICY),
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
const PART: HeaderName = HeaderName::from_static("x-part");

/// What a browser says of why it asks.
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

/// See the module.
pub(crate) struct Explorer {
    pub(crate) gate: Gate,
    server: Arc<Server>,
}

impl Explorer {
    /// An explorer of the server's own workspace.
    pub(crate) fn new(server: &Arc<Server>, gate: Gate) -> Self {
        Self { gate, server: Arc::clone(server) }
    }

    /// Answers a request. Who it is meant for, and that no foreign page sent it, was checked before.
    pub(crate) async fn respond(&self, request: Request) -> Response {
        guarded(self.answer(request).await)
    }

    async fn answer(&self, request: Request) -> Response {
        if gate::is_from_elsewhere(request.headers()) {
            return elsewhere(&request);
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
        }
        let path = request.uri().path().to_owned();
        let query = Query::of(request.uri().query());
        let headers = request.headers();
        // Who only asks for the head of a page, to show a preview of a link, has not opened it.
        let opens = path == "/" && request.method() == Method::GET && !headers.contains_key("sec-purpose");
        if let Some(token) = query.get("token").filter(|_| opens) {
            match self.gate.exchange(token) {
                Some(cookie) => return welcome(&cookie),
                // The address of a page that is loaded again: it was good, and the cookie is there.
                None if self.gate.knows(headers) => return welcome(""),
                None => {}
            }
        }
        if path == "/favicon.ico" {
            return asset("icon.svg");
        }
        if !self.gate.knows(headers) {
            self.gate.offer();
            return stranger();
        }
        if let Some(file) = path.strip_prefix("/assets/") {
            return asset(file);
        }
        let wants = Wanted::of(&request, &query);
        let is_page = matches!(wants, Wanted::Page | Wanted::Part);
        let visit = Visit::new(&self.server, At::of(&query), query, path.clone(), is_page);
        let shown = match Screen::of(&path, &visit.query) {
            Some(screen) => screen.show(&visit).await,
            None => screens::missing(&visit),
        };
        match wants {
            Wanted::Json => json(&shown),
            Wanted::Text if shown.agent.is_empty() => text(shown.status, format!("{}\n", escape::shown(&shown.told()))),
            Wanted::Text => text(shown.status, visit.text_of(&shown.agent).await),
            Wanted::Part => (shown.status, html(), frame::main(&visit, &shown).into_string()).into_response(),
            Wanted::Page => {
                let page = frame::page(&visit, &shown).await;
                (shown.status, html(), page.into_string()).into_response()
            }
        }
    }
}

/// A response with what every page is sent with, be it a page or a refusal.
pub(crate) fn guarded(mut response: Response) -> Response {
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
enum Wanted {
    Page,
    Part,
    Json,
    Text,
}

impl Wanted {
    /// A browser says that it takes pages; who names JSON or plain text first of these gets it. `as` is for links.
    fn of(request: &Request, query: &Query) -> Self {
        let headers = request.headers();
        if headers.contains_key(PART) {
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
            (false, true, _) if names::takes(headers, &["application/json"]) => Self::Json,
            (false, _, true) => Self::Text,
            _ => Self::Page,
        }
    }
}

fn html() -> [(HeaderName, &'static str); 1] {
    [(header::CONTENT_TYPE, "text/html; charset=utf-8")]
}

fn json(shown: &Shown) -> Response {
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
fn welcome(cookie: &str) -> Response {
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
fn stranger() -> Response {
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
