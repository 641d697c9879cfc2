//! The layout of results: the level of detail, and the explanation of the ranking.

use codecompass_lang::has_visibility;
use codecompass_model::Symbol;
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_query::{Feature, Scores, SymbolSummary, detail};
use codecompass_store::{Snapshot, VersionInfo};
use codecompass_wire::{Numbers, RankingReasons, ResultItem, SymbolWithLine};

use crate::input;
use crate::tool_spec::{Arguments, Param, ParamKind, optional};
use codecompass_workspace::config::{Config, ExplainLevel};
use codecompass_workspace::error::AppError;
pub(crate) use codecompass_workspace::escape::truncate_to as truncate;
use codecompass_workspace::output::style;

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
    pub(crate) fn reasons<'s>(
        &self,
        config: &Config,
        all: impl Iterator<Item = &'s Scores>,
    ) -> Option<Vec<RankingReasons>> {
        let level = self.explain.unwrap_or(config.explain_level());
        match level {
            ExplainLevel::Off => None,
            level => Some(all.enumerate().map(|(index, scores)| ranking_reasons(level, index, scores)).collect()),
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

    /// Adds the names and ids of a symbol.
    pub(crate) fn add_symbol(&self, result: &mut ResultItem, version: &VersionInfo, symbol: &Symbol) {
        result.kind = Some(symbol.kind.as_str().into());
        result.name = Some(symbol.name.clone());
        if self.detail >= DetailLevel::Signature {
            result.qualified_name = Some(symbol.qualified_name.clone());
        }
        result.symbol_id = Some(SymbolId::new(&version.path, symbol).to_string());
        result.symbol_stable_id = Some(StableId::new(&version.language, symbol).to_string());
    }

    /// Adds the header of a symbol that is the result itself.
    pub(crate) fn add_signature(&self, result: &mut ResultItem, version: &VersionInfo, symbol: &Symbol) {
        if self.detail >= DetailLevel::Signature && !self.compact {
            result.signature = Some(truncate(&symbol.signature, MAX_SIGNATURE_CHARS));
            let visibility = symbol.visibility.filter(|_| has_visibility(&version.language));
            result.visibility = visibility.map(|visibility| visibility.as_str().into());
        }
    }

    /// Adds the context of a symbol if it is requested.
    pub(crate) fn add_context(
        &self,
        result: &mut ResultItem,
        snapshot: &Snapshot,
        version: &VersionInfo,
        symbol: u32,
    ) -> Result<(), AppError> {
        if self.detail < DetailLevel::Context || self.compact {
            return Ok(());
        }
        if let Some(detail) = detail(snapshot, version, symbol)? {
            result.parent = detail.parent.as_ref().map(symbol_with_line);
            result.related_symbols = detail.related.iter().map(symbol_with_line).collect();
            result.body_preview = Some(detail.body_preview);
        }
        Ok(())
    }

    /// Adds the origin of the version, and the score.
    pub(crate) fn add_origin(
        &self,
        result: &mut ResultItem,
        snapshot: &Snapshot,
        version: &VersionInfo,
        scores: &Scores,
    ) {
        if self.detail >= DetailLevel::Signature {
            result.language = Some(version.language.clone());
        }
        result.source_layer = snapshot.layer(version.id).map(|layer| layer.as_str().into());
        result.score = scores.confidence();
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

fn symbol_with_line(mention: &SymbolSummary) -> SymbolWithLine {
    SymbolWithLine {
        kind: mention.kind.as_str().into(),
        name: mention.name.clone(),
        path: mention.path.clone(),
        line: mention.line,
    }
}

fn ranking_reasons(level: ExplainLevel, index: usize, scores: &Scores) -> RankingReasons {
    let mut factors = Numbers::default();
    for feature in scores.listed().filter(|feature| level == ExplainLevel::Full || BASIC_FEATURES.contains(feature)) {
        match feature {
            Feature::Bm25 => factors.add("bm25_score", rounded(scores.raw_bm25)),
            feature => factors.add(feature.reason(), rounded(scores.value(feature))),
        }
    }
    RankingReasons { result_index: index, factors, final_score: scores.confidence() }
}

/// Rounds to four decimal places, to keep answers short.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use codecompass_wire::{fit, fit_with_reasons, size};

    use super::*;

    #[test]
    fn reasons_count_towards_the_size() {
        let results: Vec<ResultItem> = (0..100)
            .map(|number| ResultItem { path: "x".repeat(100), line_start: number, ..ResultItem::default() })
            .collect();
        let sum = |values: &[ResultItem]| values.iter().map(|value| size(value) + 1).sum::<usize>();
        let most = 2048 + sum(&results);
        assert_eq!(fit(&results, most), 100);
        assert_eq!(fit(&results, most - 1), 99);
        let reasons: Vec<RankingReasons> =
            (0..100).map(|index| ranking_reasons(ExplainLevel::Full, index, &Scores::default())).collect();
        let of_reasons = |values: &[RankingReasons]| values.iter().map(|value| size(value) + 1).sum::<usize>();
        let kept = fit_with_reasons(&results, Some(&reasons), most);
        assert!(2048 + sum(&results[..kept]) + of_reasons(&reasons[..kept]) <= most, "{kept} do not fit");
        assert!(2048 + sum(&results[..=kept]) + of_reasons(&reasons[..=kept]) > most, "one more than {kept} would fit");
        assert_eq!(fit_with_reasons(&results, Some(&reasons), 0), 1);
    }
}
