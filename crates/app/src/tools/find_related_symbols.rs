//! `find_related_symbols`: what else matters to who reads a symbol.

use std::time::Duration;

use codecompass_model::SymbolAt;
use codecompass_query::graph::{Graph, Memory, Relation, Scope};
use serde_json::{Map, Value, json};

use super::find_references::SERVED;
use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::get_symbol_hierarchy::one_symbol;
use super::graph::{self, Shown, with_graph};
use super::input::{self, Cursor};
use super::shape;
use crate::config::Config;
use crate::error::AppError;
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::Paths;

pub(crate) const TOOL: Tool = Tool {
    name: "find_related_symbols",
    title: "Find related symbols",
    description: "What to look at beside a symbol, nearest first: what it uses, what uses it, its type's other members, \
                  then the rest of its file, module (folder) or package.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, or symbol_id"),
        optional("path", Kind::Text, "File, when several define the name (else ambiguous_symbol)"),
        REF,
        optional("scope", Kind::Choice(&["file", "module", "package"], Some("file")), ""),
        optional("limit", Kind::Count(Some(20)), "At most 200"),
        shape::CURSOR,
        WORKSPACE,
    ],
    output: || {
        let related = schema::object(
            &[
                "symbol_id",
                "symbol_stable_id",
                "name",
                "kind",
                "qualified_name",
                "path",
                "signature",
                "relation",
                "language",
            ],
            &["line_start", "line_end"],
            &[],
        );
        json!({
            "anchor": schema::any_object(),
            "related": schema::list(related),
            "scope_used": schema::text(),
            "total_found": schema::count(),
        })
    },
    always: &["anchor", "related", "scope_used", "total_found"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let arguments = &call.arguments;
        let input = Input {
            name: arguments.words("symbol_name"),
            path: arguments.text("path"),
            scope: arguments.text("scope"),
            limit: arguments.count("limit"),
            cursor: arguments.text("cursor"),
            patience: SERVED,
        };
        let question = input.check()?;
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.memory.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// What is asked, as it came in.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) path: Option<String>,
    pub(crate) scope: Option<String>,
    pub(crate) limit: i64,
    pub(crate) cursor: Option<String>,
    pub(crate) patience: Duration,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    name: String,
    path: Option<String>,
    scope: Scope,
    pub(crate) limit: usize,
    cursor: Option<String>,
    patience: Duration,
    warnings: Vec<String>,
}

impl Input {
    /// Checks the input.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        let scope = input::one_of("scope", self.scope.as_deref(), Scope::WORDS)?.unwrap_or(Scope::File);
        let (limit, warnings) = input::limit(self.limit);
        let Input { name, path, cursor, patience, .. } = self;
        Ok(Question { name, path, scope, limit, cursor, patience, warnings })
    }
}

/// Answers from a snapshot.
pub(crate) fn answer(
    memory: Option<&Memory>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    metadata.warnings.extend(question.warnings.iter().cloned());
    let Some(memory) = memory else { return Err(AppError::index_not_ready().about(metadata)) };
    let about = metadata.clone();
    let asked = with_graph(memory, question.patience, |graph| found(graph, question, paths, config, metadata));
    asked.map_err(|error| if error.more.metadata.is_some() { error } else { error.about(about) })
}

fn found(
    graph: &Graph<'_>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let snapshot = graph.snapshot();
    let file = paths.file_if_given(&[snapshot], question.path.as_deref())?;
    let hit = one_symbol(snapshot, &question.name, file.as_ref())?;
    let at = SymbolAt { file: hit.version.id, place: hit.place() };
    let anchor = Shown::of(graph, at)?;
    let found = graph.related(at, question.scope)?;
    let total = found.symbols.len();
    let path = file.as_ref().map(|file| &file.path);
    let identity = format!("related {:?} {path:?} {:?}", question.name, question.scope);
    let cursor = Cursor::of(Some(snapshot), &identity);
    let offset = cursor.read(question.cursor.as_deref())?;
    let page = found.symbols.iter().skip(offset).take(question.limit);
    let mut related: Vec<Value> =
        page.map(|(at, relation)| related_json(graph, *at, *relation)).collect::<Result<_, _>>()?;
    related.truncate(shape::fitting(&related, None, config.max_response_bytes));
    let seen = offset + related.len();
    if seen < total {
        metadata.next_cursor = Some(cursor.write(seen));
        metadata.completeness = "truncated";
    }
    graph::finish(graph, &mut metadata)?;
    let text = text(&anchor, &related, seen, total) + &metadata.warnings_text();
    let mut head = anchor.identity();
    head.shift_remove("qualified_name");
    head.insert("path".into(), json!(anchor.file.path));
    head.insert("line_start".into(), json!(anchor.symbol().lines.start));
    let json = json!({
        "anchor": head,
        "related": related,
        "scope_used": question.scope.as_str(),
        "total_found": total,
        "metadata": metadata.to_json(),
    });
    Ok(Answer { text, json, code: u8::from(total == 0) })
}

fn related_json(graph: &Graph<'_>, at: SymbolAt, relation: Relation) -> Result<Value, AppError> {
    let related = Shown::of(graph, at)?;
    let mut fields: Map<String, Value> = related.located();
    fields.insert("signature".into(), json!(shape::cut(&related.symbol().signature, shape::SIGNATURE)));
    fields.insert("relation".into(), json!(relation.as_str()));
    fields.insert("language".into(), json!(related.file.language));
    Ok(Value::Object(fields))
}

fn text(anchor: &Shown, related: &[Value], seen: usize, total: usize) -> String {
    let head = |path: &str, line: u32, kind: &str, name: &str| {
        let (path, line) = (style::path(&shown(path)), style::number(line));
        format!("{path}:{line}  {} {}", style::dim(kind), style::name(&shown(name)))
    };
    let symbol = anchor.symbol();
    let mut text = head(&anchor.file.path, symbol.lines.start, symbol.kind.as_str(), &symbol.qualified_name) + "\n";
    for item in related {
        let word = |name: &str| item[name].as_str().unwrap_or_default();
        let line = item["line_start"].as_u64().unwrap_or_default() as u32;
        let relation = style::dim(word("relation"));
        text += &format!("  {}  {relation}\n", head(word("path"), line, word("kind"), word("qualified_name")));
        text += &format!("      {}\n", shown(word("signature")));
    }
    match total {
        0 => text + "Nothing is related to it.\n",
        _ if seen < total => text + &format!("{seen} of {total} symbols; --limit or --all shows more\n"),
        _ => text,
    }
}
