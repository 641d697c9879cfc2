//! `explain_ranking`: why a location has its rank in the answer of `search_code`, or why it is missing.

use codecompass_lang::REGISTRY;
use codecompass_query::{Explanation, Feature, HitKind, MissReason, SearchHit, SearchRequest, explain};
use codecompass_store::Snapshot;
use codecompass_wire::ErrorData;
use serde_json::{Map, Value, json};

use crate::call::QueryContext;
use crate::error::{AppError, Code};
use crate::escape::escape_control;
use crate::metadata::{Metadata, MetadataText};
use crate::output::{Answer, Reader, Render, style};
use crate::tools::bounds::MAX_QUERY;
use crate::tools::tool_spec::{
    Arguments, Effect, NO_SYNC, Output, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required, schema,
};
use crate::tools::{input, shape};

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "explain_ranking",
    title: "Explain a ranking",
    description: "Why a location has its rank in a search_code answer, factor by factor; or, as \
                  result_not_found with data.why, what keeps it out.",
    params: &[
        required("query", ParamKind::Text, "The query of the search").max_bytes(MAX_QUERY).positional("QUERY"),
        required("result_path", ParamKind::Text, "File of the result").server_only(),
        required("result_line_start", ParamKind::Count(None), "Its first line").server_only(),
        required("place", ParamKind::Text, "The place: `src/auth/jwt.rs:87`").positional("PATH:LINE").cli_only(),
        REF,
        optional("language", ParamKind::Text, "As in the search").flag("lang").alias("language"),
        optional("limit", ParamKind::Count(Some(200)), "As in the search"),
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: Output::Listed(
        || {
            json!({
                "query": schema::text(),
                "result": schema::object(&["path", "kind", "name", "source_layer"], &["line_start", "line_end"], &[]),
                "rank": schema::count(),
                "scoring": schema::any_object(),
                "scoring_details": schema::any_object(),
            })
        },
        &["query", "result", "scoring", "scoring_details"],
    ),
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = ExplainArgs::parse(&call.arguments, call.is_command())?;
        call.answer_query(|inquiry| answer(inquiry, &question))
    }),
};

/// The parsed arguments.
struct ExplainArgs {
    query: String,
    path: String,
    line: u32,
    language: Option<String>,
    limit: usize,
    warnings: Vec<String>,
}

impl ExplainArgs {
    fn parse(arguments: &Arguments, is_command: bool) -> Result<Self, AppError> {
        let invalid = |message: &str| AppError::new(Code::InvalidInput, message);
        let (path, line) = match is_command {
            false => (arguments.required_text("result_path"), arguments.count("result_line_start")),
            true => {
                let place = arguments.required_text("place");
                let parts = place.rsplit_once(':').and_then(|(path, line)| Some((path.to_owned(), line.parse().ok()?)));
                parts.ok_or_else(|| invalid("Give the location as PATH:LINE, like src/auth/jwt.rs:87."))?
            }
        };
        let query = arguments.required_text("query");
        if query.trim().is_empty() {
            return Err(invalid("`query` is empty: give the query of the search."));
        }
        let path = path.trim().to_owned();
        if path.is_empty() {
            return Err(invalid("`result_path` is empty: give the path of the result."));
        }
        let line = u32::try_from(line).ok().filter(|line| *line > 0);
        let line = line.ok_or_else(|| invalid("`result_line_start` must be a line number: 1 or more."))?;
        let (limit, warnings) = arguments.limit();
        Ok(Self { query, path, line, language: input::language(arguments.text("language"))?, limit, warnings })
    }
}

/// Answers the call.
fn answer(inquiry: &QueryContext<'_>, question: &ExplainArgs) -> Result<Answer, AppError> {
    let metadata = inquiry.metadata(&question.warnings);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().with_metadata(metadata)) };
    let asked = SearchRequest {
        language: question.language.as_deref(),
        use_embedding: inquiry.config.embedding,
        ..SearchRequest::new(&question.query, REGISTRY, question.limit)
    };
    let file = inquiry.paths.resolve_file(&[snapshot], "result_path", &question.path);
    let file = file.map_err(|error| error.with_metadata(metadata.clone()))?;
    match explain(snapshot, &asked, &file.path, question.line)? {
        Explanation::Hit { place, rank } => Answer::render(
            inquiry.form,
            0,
            ExplainedHit { snapshot, query: &question.query, place: *place, rank, metadata },
        ),
        Explanation::Missing(why) => {
            let mut why = miss_json(&why);
            if let Some(absence) = &file.absence {
                why["explanation"] = json!(absence.explanation_clause());
                absence.skip_reason().into_iter().for_each(|reason| why["left_out"] = json!(reason));
            }
            Err(not_found(&file.path, question.line, why).with_metadata(metadata))
        }
    }
}

/// The explanation of a location that is in the list.
struct ExplainedHit<'h> {
    snapshot: &'h Snapshot,
    query: &'h str,
    place: SearchHit,
    rank: usize,
    metadata: Metadata,
}

impl Render for ExplainedHit<'_> {
    type Wire = Value;

    fn wire(self) -> Result<Value, AppError> {
        Ok(json!({
            "query": self.query,
            "result": result_json(self.snapshot, &self.place),
            "rank": self.rank,
            "scoring": scoring(&self.place),
            "scoring_details": contribution_texts(&self.place),
            "metadata": self.metadata.to_json(),
        }))
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        Ok(text(&self.place, self.rank) + &self.metadata.notes())
    }
}

fn not_found(path: &str, line: u32, why: Value) -> AppError {
    let explanation = why["explanation"].as_str().unwrap_or_default();
    let message = format!("{path}:{line} is not a result of this query: {explanation}.");
    AppError::new(Code::ResultNotFound, message).data(ErrorData::NoResult {
        result_path: path.to_owned(),
        result_line_start: line,
        why: why.as_object().cloned().unwrap_or_default(),
    })
}

fn miss_json(why: &MissReason) -> Value {
    match why {
        MissReason::NoSuchFile => {
            json!({ "reason": "file_not_indexed", "explanation": "the file is not in the index for this ref" })
        }
        MissReason::PastEnd { lines } => json!({
            "reason": "line_out_of_range",
            "explanation": format!("the file has {lines} lines"),
            "lines": lines,
        }),
        MissReason::Filtered { by, found } => json!({
            "reason": "filtered",
            "explanation": format!("the filter `{by}` excludes it: it is {found}"),
            "filter": by,
            "found": found,
        }),
        MissReason::NoMatchingWord { words } => json!({
            "reason": "no_matching_term",
            "explanation": match words.is_empty() {
                true => "the query has no word that can be looked up".to_owned(),
                false => format!("it contains none of these words or their forms: {}", words.join(", ")),
            },
            "terms": words,
        }),
        MissReason::RankedBelow { place, rank, needed } => json!({
            "reason": "ranked_lower",
            "explanation": match rank {
                Some(rank) => format!("it is result {rank}, with a total of {:.3}; the last one shown has {needed:.3}", place.scores.total()),
                None => format!("it is beyond the maximum length of a list; its total is {:.3}, the last one shown has {needed:.3}", place.scores.total()),
            },
            "rank": rank,
            "needed": needed,
            "scoring": scoring(place),
        }),
    }
}

fn result_json(snapshot: &Snapshot, place: &SearchHit) -> Value {
    let mut result = Map::new();
    result.insert("result_id".into(), json!(place.result_id()));
    result.insert("result_type".into(), json!(place.kind.as_str()));
    result.insert("path".into(), json!(place.version.path));
    result.insert("line_start".into(), json!(place.lines.start));
    result.insert("line_end".into(), json!(place.lines.end));
    if let Some(symbol) = place.symbol() {
        result.insert("kind".into(), json!(symbol.kind.as_str()));
        result.insert("name".into(), json!(symbol.name));
    }
    if let Some(layer) = snapshot.layer(place.version.id) {
        result.insert("source_layer".into(), json!(layer.as_str()));
    }
    result.insert("score".into(), json!(place.scores.confidence()));
    Value::Object(result)
}

fn scoring(place: &SearchHit) -> Value {
    let mut scoring = Map::new();
    for feature in Feature::ALL {
        scoring.insert(feature.key().into(), json!(place.scores.contribution(*feature)));
    }
    scoring.insert("total".into(), json!(place.scores.total()));
    Value::Object(scoring)
}

/// One sentence for each contribution that is present, and for the six that the contract always requires.
fn contribution_texts(place: &SearchHit) -> Value {
    let mut details = Map::new();
    let source = match place.kind {
        HitKind::Symbol => "symbols.name, symbols.doc, symbols.body",
        HitKind::Snippet => "snippets.text",
        HitKind::File => "files.path",
    };
    details.insert("bm25_source".into(), json!(source));
    for feature in &Feature::ALL[1..] {
        let is_named = (*feature as usize) <= Feature::KindMatch as usize;
        if is_named || place.scores.value(*feature) > 0.0 {
            details.insert(format!("{}_reason", feature.key()), json!(contribution_text(place, *feature)));
        }
    }
    Value::Object(details)
}

fn contribution_text(place: &SearchHit, feature: Feature) -> String {
    let value = place.scores.value(feature);
    let name = place.symbol().map_or("", |symbol| symbol.qualified_name.as_str());
    let percent = (value * 100.0).round();
    let stated = |yes: String, no: &str| if value > 0.0 { yes } else { no.to_owned() };
    match feature {
        Feature::Bm25 => format!("{percent}% of the highest score this query could have"),
        Feature::ExactMatch => {
            stated(format!("the query names {name}"), "no symbol here has exactly a name of the query")
        }
        Feature::QualifiedName => {
            stated(format!("words of the query in '{name}'"), "the qualified name has no word of the query")
        }
        Feature::PathAffinity => {
            stated("near a path of the query, or a file with uncommitted edits".into(), "no path bias applied")
        }
        Feature::Definition => stated(
            format!("{percent}% of the name defined here is in the query"),
            "nothing from the query is defined here",
        ),
        Feature::KindMatch => {
            stated("the requested kind, or the one that the spelling suggests".into(), "no kind requested")
        }
        Feature::Meaning => format!("{percent}% similar in meaning, by the embedding model"),
        Feature::Named => "defines a name in the query".into(),
        Feature::Literal => "contains the exact text, or the fixed parts of the message".into(),
        Feature::Frame => "a trace in the query passed through it".into(),
        Feature::FileName => format!("{percent}% of the words of the file's name are in the query"),
        Feature::PathWords => "words of the query in the path".into(),
        Feature::Coverage => "words of the query that occur together here".into(),
        Feature::FileText => "words of the query all over this file".into(),
        Feature::NameWords => format!("{percent}% of the weight of the query's words is in the name"),
        Feature::FileNameWords => format!("{percent}% of the weight of the query's words is in the file's name"),
        Feature::Form => "a symbol, or prose if the query asks for docs".into(),
        Feature::Size => "longer symbols score higher".into(),
        Feature::FileCoverage => "words of the query that occur together in this file".into(),
        Feature::FileAgreement => "several places of this file match".into(),
        Feature::Public => "visible to others".into(),
        Feature::Minor => "a part of another symbol, or only a declaration".into(),
        Feature::Test => "a test, and the query does not ask for tests".into(),
        Feature::Example => "an example, a benchmark or a fixture, and the query does not ask for one".into(),
        Feature::NotCode => "prose, data or configuration, and the query does not ask for that".into(),
        Feature::PassesOn => "a stub, or a file that only re-exports".into(),
        Feature::Repeat => "further results of the same file are ranked lower".into(),
    }
}

fn text(place: &SearchHit, rank: usize) -> String {
    let name = place.symbol().map(|symbol| format!("  {} {}", symbol.kind, escape_control(&symbol.qualified_name)));
    let mut text = format!(
        "{}:{}-{}{}\n  result {rank}, score {:.3}\n",
        style::path(&escape_control(&place.version.path)),
        place.lines.start,
        place.lines.end,
        name.unwrap_or_default(),
        place.scores.confidence(),
    );
    for feature in Feature::ALL.iter().filter(|feature| place.scores.contribution(**feature) != 0.0) {
        let contribution = place.scores.contribution(*feature);
        text += &format!(
            "  {contribution:>+9.4}  {:<17} {}\n",
            feature.key(),
            escape_control(&contribution_text(place, *feature))
        );
    }
    text + &format!("  {:>9.4}  total\n", place.scores.total())
}
