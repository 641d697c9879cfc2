//! The layout of results: the level of detail, and the explanation of the ranking.

use codecompass_lang::has_visibility;
use codecompass_model::Symbol;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::{Feature, Scores, SymbolSummary, detail};
use codecompass_store::{Snapshot, VersionInfo};
use serde_json::{Map, Value, json};

use crate::config::{Config, ExplainLevel};
use crate::error::AppError;
pub(crate) use crate::escape::truncate_to as truncate;
use crate::output::style;
use crate::tools::input;
use crate::tools::tool_spec::{Arguments, Param, ParamKind, optional};

/// The level of detail of each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DetailLevel {
    /// The location.
    Location,
    /// Adds the signature.
    Signature,
    /// Adds the context.
    Context,
}

impl DetailLevel {
    pub(crate) const NAMES: &'static [(&'static str, Self)] =
        &[("location", Self::Location), ("signature", Self::Signature), ("context", Self::Context)];
}

/// The parameters shared by the tools that return lists.
pub(crate) const DETAIL_LEVEL: Param =
    optional("detail_level", ParamKind::Choice(&["location", "signature", "context"], Some("signature")), "")
        .json_only()
        .flag("detail")
        .alias("detail-level")
        .value("LEVEL")
        .help("Detail of each result: location, signature or context");
pub(crate) const COMPACT: Param = optional("compact", ParamKind::Flag(false), "Omit long fields").json_only();
pub(crate) const EXPLAIN_LEVEL: Param =
    optional("ranking_explain_level", ParamKind::Choice(&["off", "basic", "full"], None), "Default off")
        .json_only()
        .flag("explain")
        .value("LEVEL")
        .value_when_bare("full")
        .help("Explain the rank of each result; in JSON as `ranking_reasons` (basic or full)");
pub(crate) const LANGUAGE: Param =
    optional("language", ParamKind::Text, "Only this language").brief("").flag("lang").alias("language");
pub(crate) const CURSOR: Param = optional("cursor", ParamKind::Text, "next_cursor of the previous answer").brief("");
pub(crate) const FRESHNESS_POLICY: Param = optional(
    "freshness_policy",
    ParamKind::Choice(&["strict", "balanced", "best_effort"], None),
    "If the index is outdated: refuse, answer and sync (default), or just answer",
)
.json_only()
.flag("freshness")
.value("POLICY");

/// The same for tools whose contract does not have it.
pub(crate) const FRESHNESS: Param = FRESHNESS_POLICY.cli_only();

/// The requested layout of results.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResultShape {
    pub(crate) detail: DetailLevel,
    pub(crate) compact: bool,
    pub(crate) explain: Option<ExplainLevel>,
}

impl ResultShape {
    /// Parses the arguments.
    pub(crate) fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let detail = arguments.text("detail_level");
        let level = arguments.text("ranking_explain_level");
        let detail = input::one_of("detail_level", detail.as_deref(), DetailLevel::NAMES)?;
        Ok(Self {
            detail: detail.unwrap_or(DetailLevel::Signature),
            compact: arguments.flag("compact"),
            explain: input::one_of("ranking_explain_level", level.as_deref(), ExplainLevel::NAMES)?,
        })
    }
}

impl ResultShape {
    /// The reasons for the order of these results; `None` unless they are requested.
    pub(crate) fn reasons<'s>(&self, config: &Config, all: impl Iterator<Item = &'s Scores>) -> Option<Vec<Value>> {
        let level = self.explain.unwrap_or(config.explain_level());
        match level {
            ExplainLevel::Off => None,
            level => Some(all.enumerate().map(|(index, scores)| reasons_json(level, index, scores)).collect()),
        }
    }

    /// The contribution of each feature to a total, in one line for people who request it.
    pub(crate) fn reasons_text(&self, scores: &Scores) -> String {
        let parts = match self.explain {
            None | Some(ExplainLevel::Off) => return String::new(),
            Some(ExplainLevel::Basic) => BASIC_FEATURES,
            Some(ExplainLevel::Full) => Feature::ALL,
        };
        let parts = parts.iter().filter(|feature| scores.contribution(**feature) != 0.0);
        let parts: Vec<String> =
            parts.map(|feature| format!("{} {:+.3}", feature.key(), scores.contribution(*feature))).collect();
        let rest = if self.explain == Some(ExplainLevel::Basic) { " …" } else { "" };
        format!("    {}\n", style::dim(&format!("{:.3} = {}{rest}", scores.total(), parts.join(" "))))
    }

    /// Adds the location and the name of a symbol, and its signature at that level of detail.
    pub(crate) fn insert_symbol(&self, result: &mut Map<String, Value>, version: &VersionInfo, symbol: &Symbol) {
        result.insert("kind".into(), json!(symbol.kind.as_str()));
        result.insert("name".into(), json!(symbol.name));
        if self.detail >= DetailLevel::Signature {
            result.insert("qualified_name".into(), json!(symbol.qualified_name));
        }
        result.insert("symbol_id".into(), json!(SymbolId::new(&version.path, symbol).to_string()));
        result.insert("symbol_stable_id".into(), json!(StableId::new(&version.language, symbol).to_string()));
    }

    /// Adds the header of a symbol that is the result itself.
    pub(crate) fn insert_signature(&self, result: &mut Map<String, Value>, version: &VersionInfo, symbol: &Symbol) {
        if self.detail >= DetailLevel::Signature && !self.compact {
            result.insert("signature".into(), json!(truncate(&symbol.signature, MAX_SIGNATURE_CHARS)));
            if let Some(visibility) = symbol.visibility.filter(|_| has_visibility(&version.language)) {
                result.insert("visibility".into(), json!(visibility.as_str()));
            }
        }
    }

    /// Adds the context of a symbol if it is requested.
    pub(crate) fn insert_context(
        &self,
        result: &mut Map<String, Value>,
        snapshot: &Snapshot,
        version: &VersionInfo,
        symbol: u32,
    ) -> Result<(), AppError> {
        if self.detail < DetailLevel::Context || self.compact {
            return Ok(());
        }
        if let Some(detail) = detail(snapshot, version, symbol)? {
            result.insert("body_preview".into(), json!(detail.body_preview));
            if let Some(parent) = &detail.parent {
                result.insert("parent".into(), summary_json(parent));
            }
            if !detail.related.is_empty() {
                let related: Vec<Value> = detail.related.iter().map(summary_json).collect();
                result.insert("related_symbols".into(), json!(related));
            }
        }
        Ok(())
    }

    /// Adds the origin of the version, and the score.
    pub(crate) fn insert_origin(
        &self,
        result: &mut Map<String, Value>,
        snapshot: &Snapshot,
        version: &VersionInfo,
        scores: &Scores,
    ) {
        if self.detail >= DetailLevel::Signature {
            result.insert("language".into(), json!(version.language));
        }
        if let Some(layer) = snapshot.layer(version.id) {
            result.insert("source_layer".into(), json!(layer.as_str()));
        }
        result.insert("score".into(), json!(scores.confidence()));
    }
}

/// The first lines of a symbol, for lists at the `context` level.
pub(crate) fn preview(snapshot: &Snapshot, version: &VersionInfo, place: u32) -> Result<String, AppError> {
    let detail = detail(snapshot, version, place)?;
    let lines = detail.iter().flat_map(|detail| detail.body_preview.lines());
    Ok(lines.map(|line| format!("    {}\n", super::rows::exact(line))).collect())
}

/// The features of a basic explanation.
const BASIC_FEATURES: &[Feature] = &[Feature::ExactMatch, Feature::Definition];

/// The maximum length of a signature, in characters.
pub(crate) const MAX_SIGNATURE_CHARS: usize = 200;

fn summary_json(mention: &SymbolSummary) -> Value {
    json!({ "kind": mention.kind.as_str(), "name": mention.name, "path": mention.path, "line": mention.line })
}

fn reasons_json(level: ExplainLevel, index: usize, scores: &Scores) -> Value {
    let mut reasons = Map::new();
    reasons.insert("result_index".into(), json!(index));
    for feature in Feature::ALL.iter().filter(|feature| level == ExplainLevel::Full || BASIC_FEATURES.contains(feature))
    {
        match feature {
            Feature::Bm25 => reasons.insert("bm25_score".into(), json!(rounded(scores.raw_bm25))),
            feature => reasons.insert(feature.reason().into(), json!(rounded(scores.value(*feature)))),
        };
    }
    reasons.insert("final_score".into(), json!(scores.confidence()));
    Value::Object(reasons)
}

/// Rounds to four decimal places, to keep answers short.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// The bytes reserved for everything around the list of results.
pub(crate) const ENVELOPE_BYTES: usize = 2048;

/// The number of these results that fit into `max_bytes` together with their reasons, at least one.
pub(crate) fn fitting_count(results: &[Value], reasons: Option<&[Value]>, most_bytes: usize) -> usize {
    let mut bytes = ENVELOPE_BYTES;
    let size = |value: &Value| value.to_string().len() + 1;
    let fits = |(index, result): &(usize, &Value)| {
        bytes += size(result) + reasons.and_then(|all| all.get(*index)).map_or(0, size);
        bytes <= most_bytes
    };
    results.iter().enumerate().take_while(fits).count().max(1).min(results.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_count_towards_the_size() {
        let results: Vec<Value> = (0..100).map(|number| json!({ "text": "x".repeat(100), "number": number })).collect();
        let size = |values: &[Value]| values.iter().map(|value| value.to_string().len() + 1).sum::<usize>();
        let most = 2048 + size(&results);
        assert_eq!(fitting_count(&results, None, most), 100);
        assert_eq!(fitting_count(&results, None, most - 1), 99);
        let reasons: Vec<Value> =
            (0..100).map(|index| reasons_json(ExplainLevel::Full, index, &Scores::default())).collect();
        let kept = fitting_count(&results, Some(&reasons), most);
        assert!(2048 + size(&results[..kept]) + size(&reasons[..kept]) <= most, "{kept} do not fit");
        assert!(2048 + size(&results[..=kept]) + size(&reasons[..=kept]) > most, "one more than {kept} would fit");
        assert_eq!(fitting_count(&results, Some(&reasons), 0), 1);
    }
}
