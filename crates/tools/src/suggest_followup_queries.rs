//! `suggest_followup_queries`: the next calls after a weak answer.

use codecompass_lang::REGISTRY;
use codecompass_query::candidate_identifiers;
use codecompass_wire::{ErrorData, Suggestion, WrongArgument, schema, suggest_followup_queries as wire};
use serde_json::Value;

use super::followups::{KnownSymbols, OfferedTools, PreviousCall, WEAK_SCORE};
use super::tool_spec::{Effect, ParamKind, ToolCall, ToolSpec, WORKSPACE, optional, required};
use crate::call::{Call, QueryContext};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::{Metadata, MetadataText};
use codecompass_workspace::output::{Answer, Reader, Render};

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "suggest_followup_queries",
    title: "Suggest follow-up queries",
    description: "After a weak or empty answer: the next calls to make, checked against the index, and when to \
                  stop.",
    params: &[
        required("previous_query", ParamKind::Object, "{tool, params} of the previous call"),
        required("previous_results", ParamKind::Object, "Its answer; may be abbreviated"),
        optional("confidence_threshold", ParamKind::Share(WEAK_SCORE), "Scores below it are weak"),
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::OnServer(|call, host| {
        let given = PreviousResult::parse(call)?;
        let offered = host.offered_tools();
        call.answer_query(|inquiry| answer(inquiry, &given, &offered))
    }),
};

/// The previous call and its result.
struct PreviousResult {
    before: PreviousCall,
    results: usize,
    top_score: f64,
    threshold: f64,
}

impl PreviousResult {
    fn parse(call: &Call<'_>) -> Result<Self, AppError> {
        let query = call.arguments.object("previous_query");
        let missing = |field: &'static str, what: &str| {
            AppError::new(Code::InvalidInput, format!("`previous_query` has no `{field}`: {what}.")).data(
                ErrorData::Argument(WrongArgument {
                    parameter: "previous_query".into(),
                    missing: Some(field.into()),
                    ..WrongArgument::default()
                }),
            )
        };
        let tool = query.get("tool").and_then(Value::as_str).filter(|tool| !tool.is_empty());
        let tool = tool.ok_or_else(|| missing("tool", "give the name of the tool"))?.to_owned();
        let params = query.get("params").and_then(Value::as_object);
        let params = params.ok_or_else(|| missing("params", "give the arguments it was called with"))?.clone();
        let given = call.arguments.object("previous_results");
        let lists = ["results", "context_items", "references", "callers", "callees", "related", "hierarchy"];
        let items: Vec<&Value> = lists.iter().filter_map(|name| given.get(*name)?.as_array()).flatten().collect();
        let scores = items.iter().filter_map(|item| item.get("score")?.as_f64());
        let stated = given.get("top_score").and_then(Value::as_f64);
        let results = items.len().max(match stated {
            Some(score) if score > 0.0 => 1,
            _ => 0,
        });
        let intent = given.get("query_intent").and_then(Value::as_str).map(str::to_owned);
        let language = items.first().and_then(|item| Some(item.get("language")?.as_str()?.to_owned()));
        Ok(Self {
            before: PreviousCall { tool, params, intent, language, offered: OfferedTools::default() },
            results,
            top_score: stated.unwrap_or_else(|| scores.fold(0.0, f64::max)),
            threshold: call.arguments.share("confidence_threshold"),
        })
    }

    /// Whether the answer is good enough. Without scores, any result counts as good.
    fn is_good(&self) -> bool {
        match self.before.tool.as_str() {
            "search_code" | "get_code_context" => self.top_score >= self.threshold,
            _ => self.results > 0 || self.top_score >= self.threshold,
        }
    }
}

/// Whether a suggestion looks up this name, or has it in its query.
fn uses(suggestion: &Suggestion, name: &str) -> bool {
    let text = |key: &str| suggestion.params.get(key).and_then(Value::as_str);
    let mut words = text("query").into_iter().flat_map(str::split_whitespace);
    ["name", "symbol_name"].iter().any(|key| text(key) == Some(name)) || words.any(|word| word == name)
}

fn answer(inquiry: &QueryContext<'_>, given: &PreviousResult, offered: &[&str]) -> Result<Answer, AppError> {
    let asked = given.before.query_text();
    let (mut suggestions, mut extracted) = (Vec::new(), Vec::new());
    let mut reason = None;
    if given.is_good() {
        reason = Some("results are above confidence threshold");
    } else if asked.trim().is_empty() {
        reason = Some("the previous call has no query and no name to go on with");
    } else {
        let known = inquiry.snapshot().map(|snapshot| KnownSymbols::for_any(snapshot, REGISTRY, asked)).transpose()?;
        let known = known.unwrap_or_default();
        let names: Vec<String> = std::iter::once(asked).chain(known.all_names()).map(str::to_owned).collect();
        suggestions = given.before.follow_ups(&known);
        suggestions.retain(|suggestion| offered.contains(&suggestion.tool.as_str()));
        extracted = candidate_identifiers(asked);
        let used = names.into_iter().filter(|name| suggestions.iter().any(|suggestion| uses(suggestion, name)));
        for name in used {
            if !extracted.contains(&name) {
                extracted.push(name);
            }
        }
        if suggestions.is_empty() {
            reason = Some("no better query is known: the words are not in the index");
        }
    }
    Answer::render(
        inquiry.form,
        0,
        SuggestionsAnswer { given, suggestions, extracted, reason, metadata: inquiry.metadata(&[]) },
    )
}

/// The answer.
struct SuggestionsAnswer<'g> {
    given: &'g PreviousResult,
    suggestions: Vec<Suggestion>,
    extracted: Vec<String>,
    reason: Option<&'static str>,
    metadata: Metadata,
}

impl Render for SuggestionsAnswer<'_> {
    type Wire = wire::Answer;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let analysis = wire::Analysis {
            previous_confidence: if self.given.is_good() { wire::Confidence::High } else { wire::Confidence::Low },
            top_score: self.given.top_score,
            threshold: self.given.threshold,
            extracted_identifiers: self.extracted,
            reason: self.reason.map(Into::into),
        };
        Ok(wire::Answer { suggestions: self.suggestions, analysis, metadata: self.metadata })
    }

    fn text(self, _: Reader) -> Result<String, AppError> {
        let mut text = self.reason.map(|reason| format!("{reason}\n")).unwrap_or_default();
        for suggestion in &self.suggestions {
            text += &format!(
                "{} {}: {}\n",
                suggestion.tool,
                escape_control(&serde_json::to_string(&suggestion.params).unwrap_or_default()),
                escape_control(&suggestion.reason)
            );
        }
        Ok(text + &self.metadata.notes())
    }
}
