//! `find_related_symbols`: other symbols that help to understand a symbol.

use codecompass_query::graph::{Relation, Scope, Usage};
use codecompass_wire::{find_related_symbols as wire, fit, schema};

use super::graph::{self, GraphSymbol, with_graph};
use super::input::{self, Cursor};
use super::tool_spec::{
    ALL, Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required,
};
use super::{rows, shape, symbol_input};
use crate::call::QueryContext;
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render, style};

pub const TOOL: ToolSpec = ToolSpec {
    name: "find_related_symbols",
    title: "Find related symbols",
    description: "Symbols related to a symbol, nearest first: what it uses, what uses it, its type's other members, \
                  then the rest of its file, module (folder) or package.",
    params: &[
        required("symbol_name", ParamKind::Text, "Name, end of a qualified name, path:line, or symbol_id")
            .positional("NAME"),
        optional("path", ParamKind::Text, "File, when several define the name (else ambiguous_symbol)").flag("in"),
        REF,
        optional("scope", ParamKind::Choice(&["file", "module", "package"], Some("file")), ""),
        optional("limit", ParamKind::Count(Some(20)), "At most 200"),
        shape::CURSOR,
        ALL,
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = RelatedArgs::parse(&call.arguments)?;
        call.answer_query(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.with_view_context(error)))
    }),
};

/// The parsed arguments.
struct RelatedArgs {
    name: String,
    path: Option<String>,
    scope: Scope,
    limit: usize,
    cursor: Option<String>,
    warnings: Vec<String>,
}

impl RelatedArgs {
    fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let scope = input::one_of("scope", arguments.text("scope").as_deref(), Scope::NAMES)?;
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            name: arguments.required_text("symbol_name"),
            path: arguments.text("path"),
            scope: scope.unwrap_or(Scope::File),
            limit,
            cursor: arguments.text("cursor"),
            warnings,
        })
    }
}

/// The answer.
struct RelatedAnswer {
    anchor: GraphSymbol,
    /// Other symbols with the name, in a text.
    others: Vec<GraphSymbol>,
    symbols: Vec<(GraphSymbol, Relation, Option<Usage>)>,
    scope: Scope,
    offset: usize,
    total: usize,
    metadata: Metadata,
}

/// Answers the request.
fn answer(inquiry: &QueryContext<'_>, question: &RelatedArgs) -> Result<Answer, AppError> {
    let memory = inquiry.resolve_cache().map_err(|error| error.with_metadata(inquiry.metadata(&question.warnings)))?;
    with_graph(memory, &inquiry.time_limit, |graph| {
        let snapshot = graph.snapshot();
        let file = inquiry.paths.resolve_optional_file(&[snapshot], question.path.as_deref())?;
        let name = symbol_input::normalize_name(snapshot, &inquiry.paths, &question.name)?;
        let policy = symbol_input::single_symbol_policy(graph, inquiry.form);
        let (at, others) = symbol_input::resolve_symbol(snapshot, &name, file.as_ref(), policy)?;
        let found = graph.related(at, question.scope)?;
        let path = file.as_ref().map(|file| &file.path);
        let identity = format!("related {:?} {path:?} {:?}", question.name, question.scope);
        let cursor = Cursor::new(Some(snapshot), &identity);
        let offset = cursor.decode(question.cursor.as_deref())?;
        let page = found.symbols.iter().skip(offset).take(question.limit);
        let symbols = page.map(|(at, relation, link)| Ok((GraphSymbol::load(graph, *at)?, *relation, *link)));
        let mut report = RelatedAnswer {
            anchor: GraphSymbol::load(graph, at)?,
            others: graph::load_others(graph, &others)?,
            symbols: symbols.collect::<Result<_, AppError>>()?,
            scope: question.scope,
            offset,
            total: found.symbols.len(),
            metadata: inquiry.metadata(&question.warnings),
        };
        let kept = match inquiry.form {
            OutputFormat::Json => fit(&report.symbols.iter().map(related).collect::<Vec<_>>(), inquiry.max_bytes()),
            OutputFormat::Text(_) => {
                rows::fitting_count(report.symbols.iter().map(|one| row(one).len()), inquiry.max_bytes())
            }
        };
        report.symbols.truncate(kept);
        let seen = offset + kept;
        if seen < report.total {
            report.metadata.next_cursor = Some(cursor.encode(seen));
            report.metadata.completeness = Completeness::Truncated;
        }
        graph::note_incomplete(graph, &mut report.metadata, false)?;
        Answer::render(inquiry.form, u8::from(report.total == 0), report)
    })
}

impl Render for RelatedAnswer {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let anchor = self.anchor.identity();
        Ok(wire::Answer {
            anchor: wire::Anchor {
                symbol_id: anchor.symbol_id,
                symbol_stable_id: anchor.symbol_stable_id,
                name: anchor.name,
                kind: anchor.kind,
                path: self.anchor.file.path.clone(),
                line_start: self.anchor.symbol().lines.start,
            },
            related: self.symbols.iter().map(related).collect(),
            scope_used: self.scope.as_str().into(),
            total_found: self.total,
            metadata: self.metadata,
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        let symbol = self.anchor.symbol();
        let name = style::name(&escape_control(&rows::short_name(symbol)));
        let mut text = format!("{name} {}\n", rows::location(&self.anchor.file.path, symbol.lines));
        self.symbols.iter().for_each(|one| text += &row(one));
        if self.total == 0 {
            text += "No related symbols.\n";
        }
        let cursor = self.metadata.next_cursor.as_deref();
        let seen = self.offset + self.symbols.len();
        text += &rows::Remainder { seen, total: self.total, what: "", by_limit: false, cursor }.text(reader);
        text += &graph::others_text(&self.others);
        Ok(text + &self.metadata.notes())
    }
}

fn row((related, relation, link): &(GraphSymbol, Relation, Option<Usage>)) -> String {
    let how = link.map_or(relation.as_str(), Usage::as_str);
    let symbol = related.symbol();
    let place = rows::location(&related.file.path, symbol.lines);
    format!(" {place} {} {}\n", style::dim(how), rows::header(symbol, rows::MAX_ROW_CHARS))
}

fn related((related, relation, link): &(GraphSymbol, Relation, Option<Usage>)) -> wire::Related {
    wire::Related {
        symbol: related.located(),
        signature: shape::truncate(&related.symbol().signature, shape::MAX_SIGNATURE_CHARS),
        relation: relation.as_str().into(),
        link: link.map(|link| link.as_str().into()),
        language: related.file.language.clone(),
    }
}
