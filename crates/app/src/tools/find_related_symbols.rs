//! `find_related_symbols`: other symbols that help to understand a symbol.

use codecompass_query::Policy;
use codecompass_query::graph::{Relation, Scope, Usage};
use serde_json::{Map, Value, json};

use super::frame::{ALL, Arguments, Effect, Kind, NO_SYNC, REF, Tool, WORKSPACE, optional, required, schema};
use super::graph::{self, Shown, with_graph};
use super::input::{self, Cursor};
use super::{names, rows, shape};
use crate::call::Inquiry;
use crate::error::AppError;
use crate::escape::shown;
use crate::metadata::{Completeness, Metadata};
use crate::output::{Answer, Form, Reader, Told, style};

pub(crate) const TOOL: Tool = Tool {
    name: "find_related_symbols",
    title: "Find related symbols",
    description: "Symbols related to a symbol, nearest first: what it uses, what uses it, its type's other members, \
                  then the rest of its file, module (folder) or package.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, path:line, or symbol_id").place("NAME"),
        optional("path", Kind::Text, "File, when several define the name (else ambiguous_symbol)").flag("in"),
        REF,
        optional("scope", Kind::Choice(&["file", "module", "package"], Some("file")), ""),
        optional("limit", Kind::Count(Some(20)), "At most 200"),
        shape::CURSOR,
        ALL,
        NO_SYNC,
        shape::FRESHNESS,
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
                "link",
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
        let question = Question::of(&call.arguments)?;
        call.inquire(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.explained(error)))
    },
};

/// The parsed arguments.
struct Question {
    name: String,
    path: Option<String>,
    scope: Scope,
    limit: usize,
    cursor: Option<String>,
    warnings: Vec<String>,
}

impl Question {
    fn of(arguments: &Arguments) -> Result<Self, AppError> {
        let scope = input::one_of("scope", arguments.text("scope").as_deref(), Scope::WORDS)?;
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            name: arguments.words("symbol_name"),
            path: arguments.text("path"),
            scope: scope.unwrap_or(Scope::File),
            limit,
            cursor: arguments.text("cursor"),
            warnings,
        })
    }
}

/// The answer.
struct Related {
    anchor: Shown,
    symbols: Vec<(Shown, Relation, Option<Usage>)>,
    scope: Scope,
    offset: usize,
    total: usize,
    metadata: Metadata,
}

/// Answers the request.
fn answer(inquiry: &Inquiry<'_>, question: &Question) -> Result<Answer, AppError> {
    let memory = inquiry.memory().map_err(|error| error.about(inquiry.metadata(&question.warnings)))?;
    with_graph(memory, &inquiry.patience, |graph| {
        let snapshot = graph.snapshot();
        let file = inquiry.paths.file_if_given(&[snapshot], question.path.as_deref())?;
        let name = names::handle(snapshot, &inquiry.paths, &question.name)?;
        let (at, _) = names::meant(snapshot, &name, file.as_ref(), Policy::OneFile)?;
        let found = graph.related(at, question.scope)?;
        let path = file.as_ref().map(|file| &file.path);
        let identity = format!("related {:?} {path:?} {:?}", question.name, question.scope);
        let cursor = Cursor::of(Some(snapshot), &identity);
        let offset = cursor.read(question.cursor.as_deref())?;
        let page = found.symbols.iter().skip(offset).take(question.limit);
        let symbols = page.map(|(at, relation, link)| Ok((Shown::of(graph, *at)?, *relation, *link)));
        let mut told = Related {
            anchor: Shown::of(graph, at)?,
            symbols: symbols.collect::<Result<_, AppError>>()?,
            scope: question.scope,
            offset,
            total: found.symbols.len(),
            metadata: inquiry.metadata(&question.warnings),
        };
        let kept = match inquiry.form {
            Form::Json => {
                let items: Vec<Value> = told.symbols.iter().map(related_json).collect();
                shape::fitting(&items, None, inquiry.room())
            }
            Form::Text(_) => rows::fitting(told.symbols.iter().map(|one| row(one).len()), inquiry.room()),
        };
        told.symbols.truncate(kept);
        let seen = offset + kept;
        if seen < told.total {
            told.metadata.next_cursor = Some(cursor.write(seen));
            told.metadata.completeness = Completeness::Truncated;
        }
        graph::finish(graph, &mut told.metadata)?;
        Answer::of(inquiry.form, u8::from(told.total == 0), &told)
    })
}

impl Told for Related {
    fn json(&self) -> Result<Value, AppError> {
        let mut head = self.anchor.identity();
        head.shift_remove("qualified_name");
        head.insert("path".into(), json!(self.anchor.file.path));
        head.insert("line_start".into(), json!(self.anchor.symbol().lines.start));
        Ok(json!({
            "anchor": head,
            "related": self.symbols.iter().map(related_json).collect::<Vec<_>>(),
            "scope_used": self.scope.as_str(),
            "total_found": self.total,
            "metadata": self.metadata.to_json(),
        }))
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        let symbol = self.anchor.symbol();
        let name = style::name(&shown(&rows::short_name(symbol)));
        let mut text = format!("{name} {}\n", rows::place(&self.anchor.file.path, symbol.lines));
        self.symbols.iter().for_each(|one| text += &row(one));
        if self.total == 0 {
            text += "No related symbols.\n";
        }
        let cursor = self.metadata.next_cursor.as_deref();
        let seen = self.offset + self.symbols.len();
        text += &rows::More { seen, total: self.total, what: "", by_limit: false, cursor }.text(reader);
        Ok(text + &self.metadata.notes())
    }
}

fn row((related, relation, link): &(Shown, Relation, Option<Usage>)) -> String {
    let how = link.map_or(relation.as_str(), Usage::as_str);
    let symbol = related.symbol();
    let place = rows::place(&related.file.path, symbol.lines);
    format!(" {place} {} {}\n", style::dim(how), rows::header(symbol, rows::ROW))
}

fn related_json((related, relation, link): &(Shown, Relation, Option<Usage>)) -> Value {
    let mut fields: Map<String, Value> = related.located();
    fields.insert("signature".into(), json!(shape::cut(&related.symbol().signature, shape::SIGNATURE)));
    fields.insert("relation".into(), json!(relation.as_str()));
    if let Some(link) = link {
        fields.insert("link".into(), json!(link.as_str()));
    }
    fields.insert("language".into(), json!(related.file.language));
    Value::Object(fields)
}
