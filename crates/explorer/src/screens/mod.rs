//! The screens, one file each: from an address to tool requests, and from their answers to a page.

mod branch;
mod calls;
mod compare;
mod complete;
mod file;
mod folder;
mod graph;
mod hierarchy;
mod references;
mod search;
mod status;
mod symbol;

use codecompass_wire::pages::IndexState;
use codecompass_wire::{Completeness, Metadata};
use http::StatusCode;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::address::{Query, decode_segments};
use super::lists::{SymbolView, escape_name, symbol_link};
use super::page_request::{Answered, PageRequest, Refusal, ToolQuestion};
use super::page_tools::index_state;

/// The screen that an address selects.
#[derive(Debug)]
pub(super) enum Screen {
    Search,
    Why,
    Symbol(String),
    Calls(String),
    Graph(String),
    References(String),
    Hierarchy(String),
    File(String),
    Folder(String),
    Branch,
    Compare(String),
    Status,
    /// Names that continue what was typed, for the script.
    Complete(String),
    /// The current index state, for the script that checks for changes.
    Live,
}

/// A rendered screen.
pub(super) struct RenderedScreen {
    pub(super) status: StatusCode,
    pub(super) title: String,
    pub(super) heading: Markup,
    pub(super) body: Markup,
    /// The answers it was built from.
    pub(super) json: Value,
    /// The tool calls that give the same as text.
    pub(super) agent: Vec<ToolQuestion>,
    pub(super) metadata: Option<Metadata>,
    /// The digest of the shown content.
    pub(super) digest: String,
    /// The message of an error.
    error: Option<String>,
    /// There is nothing to show yet: the script requests the page again.
    pub(super) is_pending: bool,
}

impl Screen {
    /// Parses an address.
    pub(super) fn parse(path: &str, query: &Query) -> Option<Self> {
        let (first, rest) = path.strip_prefix('/')?.split_once('/').unwrap_or((path.get(1..)?, ""));
        let rest = decode_segments(rest);
        let named = |make: fn(String) -> Self| (!rest.is_empty()).then(|| make(rest.clone()));
        match first {
            "" => Some(Self::Folder(String::new())),
            "folder" => Some(Self::Folder(rest)),
            "file" => named(Self::File),
            "search" if query.get("q").is_none() => Some(Self::Folder(String::new())),
            "search" if rest.is_empty() => Some(Self::Search),
            "why" if rest.is_empty() => Some(Self::Why),
            "symbol" => named(Self::Symbol),
            "calls" => named(Self::Calls),
            "graph" => named(Self::Graph),
            "references" => named(Self::References),
            "hierarchy" => named(Self::Hierarchy),
            "branch" if rest.is_empty() => Some(Self::Branch),
            "compare" => named(Self::Compare),
            "status" if rest.is_empty() => Some(Self::Status),
            "complete" if rest.is_empty() => Some(Self::Complete(query.get("q")?.to_owned())),
            "live" if rest.is_empty() => Some(Self::Live),
            _ => None,
        }
    }

    /// Calls the tools and renders the screen. The state of the code is read first, so that a change during the calls
    /// is noticed later.
    pub(super) async fn show(&self, visit: &PageRequest) -> RenderedScreen {
        let digest = match self {
            Self::Live | Self::Complete(_) => String::new(),
            _ => visit
                .index_state()
                .await
                .as_ref()
                .ok()
                .and_then(|standing| Some(standing.state.as_ref()?.digest.clone()))
                .unwrap_or_default(),
        };
        let shown = match self {
            Self::Search => search::show(visit).await,
            Self::Why => search::why(visit).await,
            Self::Symbol(name) => symbol::show(visit, name).await,
            Self::Calls(name) => calls::show(visit, name).await,
            Self::Graph(name) => graph::show(visit, name).await,
            Self::References(name) => references::show(visit, name).await,
            Self::Hierarchy(name) => hierarchy::show(visit, name).await,
            Self::File(path) => file::show(visit, path).await,
            Self::Folder(path) => folder::show(visit, path).await,
            Self::Branch => branch::show(visit).await,
            Self::Compare(name) => compare::show(visit, name).await,
            Self::Status => status::show(visit).await,
            Self::Complete(typed) => complete::show(visit, typed).await,
            Self::Live => live(visit).await,
        };
        let shown = match shown {
            Ok(shown) => shown,
            Err(error) if is_not_indexed(&error) => status::waiting(visit, &error).await,
            Err(error) => error_screen(visit, &error),
        };
        RenderedScreen { digest, ..shown }
    }
}

impl RenderedScreen {
    /// A page with a title for people, built from answers.
    fn new(title: impl Into<String>, json: Value, metadata: Option<Metadata>) -> Self {
        let title = title.into();
        let heading = html! { h1 { (escape_name(&title)) } };
        let agent = Vec::new();
        Self {
            status: StatusCode::OK,
            title,
            heading,
            body: html! {},
            json,
            agent,
            metadata,
            digest: String::new(),
            error: None,
            is_pending: false,
        }
    }

    fn heading(self, heading: Markup) -> Self {
        Self { heading, ..self }
    }

    fn body(self, body: Markup) -> Self {
        Self { body, ..self }
    }

    /// The message of an error screen.
    pub(super) fn error_text(&self) -> String {
        self.error.as_ref().unwrap_or(&self.title).clone()
    }

    /// Adds the tool calls that give the same to an agent.
    fn with_agent_calls(self, questions: impl Into<Vec<ToolQuestion>>) -> Self {
        Self { agent: questions.into(), ..self }
    }
}

/// Whether the answer only needs an index that does not exist yet.
fn is_not_indexed(error: &Refusal) -> bool {
    matches!(error.code(), "index_not_ready" | "index_in_progress" | "sync_in_progress" | "overlay_not_ready")
}

/// The page for an unknown address.
pub(super) fn not_found(visit: &PageRequest) -> RenderedScreen {
    error_screen(visit, &Refusal::new("not_found", "Page not found."))
}

/// Whether a time limit truncated an answer; the next request gets more.
fn is_partial(metadata: &Metadata) -> bool {
    metadata.completeness == Completeness::Partial
}

/// An object of several answers.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    super::page_request::arguments(fields).into()
}

/// A note that a search is still running, or that it found nothing.
fn pending_note(is_partial: bool, none: &str) -> Markup {
    html! { @if is_partial { p.dim data-partial { "Still loading …" } } @else { p.dim { (none) } } }
}

/// The page for an error.
pub(super) fn error_screen(visit: &PageRequest, refusal: &Refusal) -> RenderedScreen {
    let error = &refusal.failure.error;
    let status = match error.code.as_str() {
        "symbol_not_found" | "file_not_found" | "ref_not_indexed" | "result_not_found" | "not_found" => {
            StatusCode::NOT_FOUND
        }
        "invalid_input" => StatusCode::BAD_REQUEST,
        "workspace_not_allowed" => StatusCode::FORBIDDEN,
        "internal_error" | "" => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::CONFLICT,
    };
    let (names, paths, candidates) = (&error.data.nearest_names, &error.data.nearest_paths, &error.data.candidates);
    let body = html! {
        p.error { (escape_name(&error.message)) }
        @if !names.is_empty() || !paths.is_empty() {
            ul.rows {
                @for name in names { li data-row { a href=(visit.at.symbol(name)) { (escape_name(name)) } } }
                @for path in paths { li data-row { a href=(visit.at.href(&["file", path], &[])) { (escape_name(path)) } } }
            }
        }
        @if !candidates.is_empty() {
            p { "Several symbols have this name:" }
            ul.rows { @for one in candidates { li data-row { (symbol_link(&visit.at, one)) " " span.place { (escape_name(&one.path)) } } } }
        }
        p { a href=(visit.at.href(&[], &[])) { "Files" } " · " a href=(visit.at.href(&["status"], &[])) { "Status" } }
    };
    let title = if candidates.is_empty() { "Not found" } else { "Which one?" };
    let shown = RenderedScreen::new(title, refusal.json.clone(), refusal.failure.metadata.clone()).body(body);
    RenderedScreen { status, error: Some(error.message.clone()), ..shown }
}

async fn live(visit: &PageRequest) -> Result<RenderedScreen, Refusal> {
    let Answered { answer, json } = visit.ask_tool::<IndexState>(&index_state::TOOL, Map::new()).await?;
    Ok(RenderedScreen::new("Live", json, Some(answer.metadata)))
}

/// A link to the next page of a list.
fn next_page_link(visit: &PageRequest, metadata: &Metadata) -> Markup {
    let Some(cursor) = metadata.next_cursor.as_deref() else { return html! {} };
    let pairs: Vec<(&str, &str)> =
        visit.query.without(&["cursor", "ref", "tree"]).chain([("cursor", cursor)]).collect();
    let segments: Vec<String> = visit.path.split('/').filter(|part| !part.is_empty()).map(decode_segments).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    html! { p data-row { a.more href=(visit.at.href(&segments, &pairs)) { "More" } } }
}

/// The tabs of a symbol.
fn tabs(visit: &PageRequest, id: &str, open: &str) -> Markup {
    let tabs = [("symbol", "Source"), ("graph", "Graph"), ("references", "References"), ("hierarchy", "Hierarchy")];
    html! {
        nav.tabs aria-label="About this symbol" {
            @for (screen, name) in tabs {
                @if screen == open { span aria-current="page" { (name) } } @else { a href=(visit.at.href(&[screen, id], &[])) { (name) } }
            }
        }
    }
}

/// The name of a symbol as the heading of a page.
fn symbol_heading<'s>(visit: &PageRequest, symbol: impl Into<SymbolView<'s>>, open: &str) -> Markup {
    let SymbolView { id, name, kind, path, line } = symbol.into();
    html! {
        div.title {
            h1 { span.kind { (kind) } " " (escape_name(name)) }
            p { a.place href=(visit.at.line(path, line.into())) { (escape_name(path)) ":" (line) } }
            (tabs(visit, id, open))
        }
    }
}
