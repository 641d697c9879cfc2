//! The scoring model: named features, one weight per feature, and their sum.
//!
//! A feature is a number from 0 to 1. It contributes its value times its weight to the total, in whole millionths, so
//! that the parts of an explanation add up to the total exactly. The five weights that the contract names are the upper
//! ends of its ranges. `training/ranking` measures the others on questions of many kinds over real repositories and
//! rewrites their numbers in the table below if that pays; weights that are fitted to single queries do not generalise.
//!
//! To add a signal, add a line to the table and set its value where hits are scored.

/// The number of units per point: contributions are counted in millionths.
pub(crate) const UNIT: f64 = 1e6;

macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $key:literal, $reason:literal, $weight:literal;)*) => {
        /// A property of a search hit that contributes to its score.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature { $($(#[$doc])* $variant,)* }

        impl Feature {
            /// All features, in the order in which they are listed and added.
            pub const ALL: &'static [Feature] = &[$(Feature::$variant,)*];

            /// The name of the contribution.
            pub const fn key(self) -> &'static str {
                match self { $(Feature::$variant => $key,)* }
            }

            /// The name of the feature itself.
            pub const fn reason(self) -> &'static str {
                match self { $(Feature::$variant => $reason,)* }
            }

            /// The maximum contribution; a negative weight is a penalty.
            pub const fn weight(self) -> f64 {
                match self { $(Feature::$variant => $weight,)* }
            }
        }
    };
}

features! {
    /// BM25 of the query words in the symbol's name, docs and own lines, or in the chunk, relative to the highest
    /// possible score.
    Bm25 = "bm25", "bm25", 2.2;
    /// The symbol has exactly the requested name.
    ExactMatch = "exact_match", "exact_match_boost", 0.2;
    /// The query words in the symbol's qualified name.
    QualifiedName = "qualified_name", "qualified_name_boost", 0.1;
    /// Near a path in the query, or near a file with uncommitted edits.
    PathAffinity = "path_affinity", "path_affinity", 0.1;
    /// The name of the definition consists of query words.
    Definition = "definition_boost", "definition_boost", 0.15;
    /// The symbol has the requested kind, or the kind that the spelling suggests.
    KindMatch = "kind_match", "kind_match", 0.05;
    /// Similarity of the symbol's embedding to the query's, only for the best hits by the other features.
    Meaning = "meaning", "meaning", 3.5;
    /// Similarity by the encoder of the user, if one is configured, for the same hits.
    Encoder = "encoder", "encoder", 2.0;
    /// How well each query word has a counterpart in the symbol, the word itself or a similar one; for the same hits.
    WordMatch = "word_match", "word_match", 1.5;
    /// Defines a name that the query spells as a name.
    Named = "named_definition", "named_definition", 1.4;
    /// Contains the quoted text or the message.
    Literal = "literal_match", "literal_match", 2.0;
    /// A stack trace in the query contains it. The innermost frames outweigh everything else.
    Frame = "trace_frame", "trace_frame", 20.0;
    /// The weight of the query words in the symbol's name.
    NameWords = "name_words", "name_words", 0.2;
    /// How completely the symbol or chunk covers the query words.
    Coverage = "coverage", "coverage", 0.55;
    /// A symbol, rather than text outside symbols. For queries about docs: prose.
    Form = "form", "form", 0.6;
    /// The length of the symbol: longer symbols are relevant more often.
    Size = "size", "size", 0.2;
    /// BM25 of the query words in the whole file, relative to the highest possible score.
    FileText = "file_text", "file_text", 0.65;
    /// The file's own name consists of query words.
    FileName = "file_name", "file_name", 0.6;
    /// The weight of the query words in the file's own name.
    FileNameWords = "file_name_words", "file_name_words", 0.45;
    /// The query words in the path.
    PathWords = "path_words", "path_words", 0.28;
    /// How completely the file covers the query words.
    FileCoverage = "file_coverage", "file_coverage", 0.1;
    /// Several hits in the file match.
    FileAgreement = "file_agreement", "file_agreement", 0.6;
    /// Visible to other code. Only decides between homonyms.
    Public = "public", "public", 0.02;
    /// Members of another symbol, and mere declarations, unless the query has their name.
    Minor = "minor_symbol", "minor_symbol", -1.0;
    /// Symbols that declare rather than act, if the query is a question: types, constants, aliases.
    Declaration = "declaration", "declaration", -0.3;
    /// Tests, unless the query asks for tests.
    Test = "test_file", "test_file", -0.72;
    /// Examples, benchmarks, fixtures.
    Example = "example_file", "example_file", -0.9;
    /// Prose, data and configuration, if the query is about code.
    NotCode = "not_code", "not_code", -1.8;
    /// Generated, minified and vendored files.
    Generated = "generated_file", "generated_file", -2.0;
    /// Stubs, and files that mostly re-export other files.
    PassesOn = "passes_on", "passes_on", -0.05;
    /// Further hits in a file that add little to the ones already in the list.
    Repeat = "repeats", "repeats", -0.6;
}

/// The feature values of one search hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    values: [f64; Feature::ALL.len()],
    /// The absolute BM25 score, before division by the ceiling.
    pub raw_bm25: f64,
}

impl Default for Scores {
    fn default() -> Self {
        Self { values: [0.0; Feature::ALL.len()], raw_bm25: 0.0 }
    }
}

impl Scores {
    /// Sets a feature; values outside 0 to 1 are clamped.
    pub fn set(&mut self, feature: Feature, value: f64) {
        self.values[feature as usize] = value.clamp(0.0, 1.0);
    }

    /// The feature value, from 0 to 1.
    pub fn value(&self, feature: Feature) -> f64 {
        self.values[feature as usize]
    }

    /// The contribution of a feature to the total.
    pub fn contribution(&self, feature: Feature) -> f64 {
        self.units(feature) as f64 / UNIT
    }

    /// The features to list: all but that of the encoder where there is none.
    pub fn listed(&self) -> impl Iterator<Item = Feature> {
        let has_encoder = self.value(Feature::Encoder) > 0.0;
        Feature::ALL.iter().copied().filter(move |feature| has_encoder || *feature != Feature::Encoder)
    }

    /// The sum of all contributions, in integer units that compare exactly.
    pub fn total_units(&self) -> i64 {
        Feature::ALL.iter().map(|feature| self.units(*feature)).sum()
    }

    /// The sum of all contributions.
    pub fn total(&self) -> f64 {
        self.total_units() as f64 / UNIT
    }

    /// Maps the total to a number from 0 to 1 that grows with it; a total of 1 maps to 0.5.
    pub fn confidence(&self) -> f64 {
        let total = self.total().max(0.0);
        (total / (total + 1.0) * 1e3).round() / 1e3
    }

    fn units(&self, feature: Feature) -> i64 {
        match self.value(feature) {
            0.0 => 0,
            // Rounds half away from zero, like `f64::round`, which is a function call on most processors: bounds are
            // computed for every candidate.
            value => {
                let points = value * feature.weight() * UNIT;
                (points + 0.5f64.copysign(points)) as i64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contract_weights_are_respected() {
        let table = [
            (Feature::ExactMatch, "exact_match", 0.2),
            (Feature::QualifiedName, "qualified_name", 0.1),
            (Feature::PathAffinity, "path_affinity", 0.1),
            (Feature::Definition, "definition_boost", 0.15),
            (Feature::KindMatch, "kind_match", 0.05),
        ];
        for (feature, key, most) in table {
            assert_eq!((feature.key(), feature.weight()), (key, most));
        }
    }

    #[test]
    fn contributions_add_up_to_the_total() {
        let mut scores = Scores::default();
        for (at, feature) in Feature::ALL.iter().enumerate() {
            scores.set(*feature, 1.0 / (at as f64 + 3.0));
        }
        let sum: i64 = Feature::ALL.iter().map(|feature| (scores.contribution(*feature) * UNIT).round() as i64).sum();
        assert_eq!(sum, scores.total_units());
        scores.set(Feature::Bm25, 7.0);
        assert_eq!(scores.value(Feature::Bm25), 1.0);
        let before = scores.confidence();
        scores.set(Feature::Repeat, 1.0);
        assert!(scores.confidence() < before && scores.confidence() >= 0.0);
    }
}
