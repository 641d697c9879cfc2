//! `explain_ranking`: why a location has its rank in the answer of `search_code`, or why it is missing.

use codecompass_lang::REGISTRY;
use codecompass_query::encoder::Encoder;
use codecompass_query::{Explanation, Feature, HitKind, MissReason, SearchHit, SearchRequest, explain};
use codecompass_store::Snapshot;
use codecompass_wire::explain_ranking::{self as wire, Absence, Ranked, Reason};
use codecompass_wire::{ErrorData, Named, Numbers, schema};

use crate::bounds::MAX_QUERY;
use crate::call::QueryContext;
use crate::tool_spec::{Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required};
use crate::{input, shape};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Metadata, MetadataText};
use codecompass_workspace::output::{Answer, Reader, Render, style};

pub const TOOL: ToolSpec = ToolSpec {
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
    output: schema::<wire::Answer>,
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
    let mut metadata = inquiry.metadata(&question.warnings);
    let encoder = inquiry.encoder(&mut metadata);
    let Some(snapshot) = inquiry.snapshot() else { return Err(AppError::index_not_ready().with_metadata(metadata)) };
    let asked = SearchRequest {
        language: question.language.as_deref(),
        use_embedding: inquiry.config.embedding,
        encoder: encoder.as_deref().map(|encoder| encoder as &dyn Encoder),
        ..SearchRequest::new(&question.query, REGISTRY, question.limit)
    };
    let file = inquiry.paths.resolve_file(&[snapshot], "result_path", &question.path);
    let file = file.map_err(|error| error.with_metadata(metadata.clone()))?;
    match explain(snapshot, &asked, &file.path, question.line)? {
        Explanation::Hit { hit, rank } => Answer::render(
            inquiry.form,
            0,
            ExplainedHit { snapshot, query: &question.query, hit: *hit, rank, metadata },
        ),
        Explanation::Missing(why) => {
            let mut why = absence(&why);
            if let Some(absence) = &file.absence {
                why.explanation = absence.explanation_clause();
                why.left_out = absence.skip_reason().map(Into::into);
            }
            Err(not_found(&file.path, question.line, why).with_metadata(metadata))
        }
    }
}

/// The explanation of a location that is in the list.
struct ExplainedHit<'h> {
    snapshot: &'h Snapshot,
    query: &'h str,
    hit: SearchHit,
    rank: usize,
    metadata: Metadata,
}

impl Render for ExplainedHit<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        Ok(wire::Answer {
            query: self.query.to_owned(),
            result: explained_result(self.snapshot, &self.hit),
            rank: Some(self.rank),
            scoring: scoring(&self.hit),
            scoring_details: contribution_texts(&self.hit),
            metadata: self.metadata,
        })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        Ok(text(&self.hit, self.rank) + &self.metadata.notes())
    }
}

fn not_found(path: &str, line: u32, why: Absence) -> AppError {
    let message = format!("{path}:{line} is not a result of this query: {}.", why.explanation);
    AppError::new(Code::ResultNotFound, message).data(ErrorData::NoResult {
        result_path: path.to_owned(),
        result_line_start: line,
        why: Box::new(why),
    })
}

fn absence(why: &MissReason) -> Absence {
    let absence = |reason, explanation: String| Absence {
        reason,
        explanation,
        lines: None,
        filter: None,
        found: None,
        terms: None,
        ranked: None,
        left_out: None,
    };
    match why {
        MissReason::NoSuchFile => {
            absence(Reason::FileNotIndexed, "the file is not in the index for this ref".to_owned())
        }
        MissReason::PastEnd { lines } => {
            Absence { lines: Some(*lines), ..absence(Reason::LineOutOfRange, format!("the file has {lines} lines")) }
        }
        MissReason::Filtered { by, found } => Absence {
            filter: Some((*by).into()),
            found: Some(found.clone()),
            ..absence(Reason::Filtered, format!("the filter `{by}` excludes it: it is {found}"))
        },
        MissReason::NoMatchingWord { words } => {
            let explanation = match words.is_empty() {
                true => "the query has no word that can be looked up".to_owned(),
                false => format!("it contains none of these words or their forms: {}", words.join(", ")),
            };
            Absence { terms: Some(words.clone()), ..absence(Reason::NoMatchingTerm, explanation) }
        }
        MissReason::RankedBelow { hit, rank, needed } => {
            let total = hit.scores.total();
            let explanation = match rank {
                Some(rank) => {
                    format!("it is result {rank}, with a total of {total:.3}; the last one shown has {needed:.3}")
                }
                None => format!(
                    "it is beyond the maximum length of a list; its total is {total:.3}, the last one shown has {needed:.3}"
                ),
            };
            let ranked = Ranked { rank: *rank, needed: *needed, scoring: scoring(hit) };
            Absence { ranked: Some(ranked), ..absence(Reason::RankedLower, explanation) }
        }
    }
}

fn explained_result(snapshot: &Snapshot, hit: &SearchHit) -> wire::ExplainedResult {
    wire::ExplainedResult {
        result_id: hit.result_id(),
        result_type: hit.kind.as_str().into(),
        path: hit.version.path.clone(),
        line_start: hit.lines.start,
        line_end: hit.lines.end,
        kind: hit.symbol().map(|symbol| symbol.kind.as_str().into()),
        name: hit.symbol().map(|symbol| symbol.name.clone()),
        source_layer: snapshot.layer(hit.version.id).map(|layer| layer.as_str().into()),
        score: hit.scores.confidence(),
    }
}

fn scoring(hit: &SearchHit) -> Numbers {
    let mut scoring = Numbers::default();
    hit.scores.listed().for_each(|feature| scoring.add(feature.key(), hit.scores.contribution(feature)));
    scoring.add("total", hit.scores.total());
    scoring
}

/// One sentence for each contribution that is present, and for the six that the contract always requires.
fn contribution_texts(hit: &SearchHit) -> Named<String> {
    let mut details = Named::default();
    let source = match hit.kind {
        HitKind::Symbol => "symbols.name, symbols.doc, symbols.body",
        HitKind::Snippet => "snippets.text",
        HitKind::File => "files.path",
    };
    details.add("bm25_source", source.to_owned());
    for feature in &Feature::ALL[1..] {
        let is_named = (*feature as usize) <= Feature::KindMatch as usize;
        if is_named || hit.scores.value(*feature) > 0.0 {
            details.add(format!("{}_reason", feature.key()), contribution_text(hit, *feature));
        }
    }
    details
}

fn contribution_text(hit: &SearchHit, feature: Feature) -> String {
    let value = hit.scores.value(feature);
    let name = hit.symbol().map_or("", |symbol| symbol.qualified_name.as_str());
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
        Feature::Encoder => format!("{percent}% similar, by the configured encoder"),
        Feature::WordMatch => format!("{percent}% of the query's words match here, or similar words do"),
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
        Feature::Declaration => "a declaration, and the query asks for behaviour".into(),
        Feature::Test => "a test, and the query does not ask for tests".into(),
        Feature::Example => "an example, a benchmark or a fixture, and the query does not ask for one".into(),
        Feature::NotCode => "prose, data or configuration, and the query does not ask for that".into(),
        Feature::Generated => "generated, minified or vendored".into(),
        Feature::PassesOn => "a stub, or a file that only re-exports".into(),
        Feature::Repeat => "further results of the same file are ranked lower".into(),
    }
}

fn text(hit: &SearchHit, rank: usize) -> String {
    let name = hit.symbol().map(|symbol| format!("  {} {}", symbol.kind, escape_control(&symbol.qualified_name)));
    let mut text = format!(
        "{}:{}-{}{}\n  result {rank}, score {:.3}\n",
        style::path(&escape_control(&hit.version.path)),
        hit.lines.start,
        hit.lines.end,
        name.unwrap_or_default(),
        hit.scores.confidence(),
    );
    for feature in Feature::ALL.iter().filter(|feature| hit.scores.contribution(**feature) != 0.0) {
        let contribution = hit.scores.contribution(*feature);
        text += &format!(
            "  {contribution:>+9.4}  {:<17} {}\n",
            feature.key(),
            escape_control(&contribution_text(hit, *feature))
        );
    }
    text + &format!("  {:>9.4}  total\n", hit.scores.total())
}
