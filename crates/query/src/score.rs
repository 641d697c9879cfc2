//! One scoring model: named features, a weight for each, and their sum.
//!
//! A feature is a number from 0 to 1. What it adds to a total is that number times its weight, in whole millionths, so
//! that the parts of an explanation add up to the total exactly. The five weights that the contract names are the upper
//! ends of its ranges. The others were set on a development set of questions over real repositories, coarsely, because
//! what is fitted to single questions does not hold for the next ones.
//!
//! A new signal (from the call graph, or a semantic one) is a line in the table and a value where places are scored.

/// Contributions are counted in these.
pub(crate) const UNIT: f64 = 1e6;

macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $key:literal, $reason:literal, $weight:literal;)*) => {
        /// What makes a place the right one.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature { $($(#[$doc])* $variant,)* }

        impl Feature {
            /// Every feature, in the order in which they are listed and added.
            pub const ALL: &'static [Feature] = &[$(Feature::$variant,)*];

            /// The name of what it adds to a total.
            pub const fn key(self) -> &'static str {
                match self { $(Feature::$variant => $key,)* }
            }

            /// The name of the feature itself.
            pub const fn reason(self) -> &'static str {
                match self { $(Feature::$variant => $reason,)* }
            }

            /// What it is worth at most; a negative one only takes away.
            pub const fn weight(self) -> f64 {
                match self { $(Feature::$variant => $weight,)* }
            }
        }
    };
}

features! {
    /// The words of the question in the symbol's name, docs and own lines, or in the piece, by BM25 over the highest score
    /// there could be.
    Bm25 = "bm25", "bm25", 2.2;
    /// The symbol bears exactly the name that was asked for.
    ExactMatch = "exact_match", "exact_match_boost", 0.2;
    /// The words in the symbol's qualified name.
    QualifiedName = "qualified_name", "qualified_name_boost", 0.1;
    /// Near a path that the question names, or a file with uncommitted edits.
    PathAffinity = "path_affinity", "path_affinity", 0.1;
    /// What is defined is what the words name.
    Definition = "definition_boost", "definition_boost", 0.15;
    /// The symbol is of the kind that was asked for, or that the spelling suggests.
    KindMatch = "kind_match", "kind_match", 0.05;
    /// How near the symbol's meaning is to the question's, of the best by all else.
    Meaning = "meaning", "meaning", 3.5;
    /// Defines a name that was typed as one.
    Named = "named_definition", "named_definition", 1.4;
    /// The quoted text, or the message, stands there.
    Literal = "literal_match", "literal_match", 2.0;
    /// A trace in the question passed through it.
    Frame = "trace_frame", "trace_frame", 1.0;
    /// The weight of the words in the symbol's name.
    NameWords = "name_words", "name_words", 0.2;
    /// All words together in the symbol or piece.
    Coverage = "coverage", "coverage", 0.55;
    /// A symbol, rather than text outside of any; of a question about docs, prose.
    Form = "form", "form", 0.6;
    /// How long the symbol is: what does much is meant more often.
    Size = "size", "size", 0.2;
    /// The words in the file as a whole, by BM25 over its ceiling.
    FileText = "file_text", "file_text", 0.65;
    /// The file's own name consists of the words.
    FileName = "file_name", "file_name", 0.6;
    /// The weight of the words in the file's own name.
    FileNameWords = "file_name_words", "file_name_words", 0.45;
    /// The words in the path.
    PathWords = "path_words", "path_words", 0.28;
    /// All words together somewhere in the file.
    FileCoverage = "file_coverage", "file_coverage", 0.1;
    /// Several places of the file match.
    FileAgreement = "file_agreement", "file_agreement", 0.6;
    /// Others may use it. Decides between homonyms only.
    Public = "public", "public", 0.02;
    /// Parts of another symbol, and what only says that something is there, unless its name was asked for.
    Minor = "minor_symbol", "minor_symbol", -1.0;
    /// Tests, when nobody asked for tests.
    Test = "test_file", "test_file", -0.72;
    /// Examples, benchmarks, fixtures.
    Example = "example_file", "example_file", -0.9;
    /// Prose, data and configuration, when the question is about code.
    NotCode = "not_code", "not_code", -1.8;
    /// Files that mostly pass on what stands elsewhere, and stubs.
    PassesOn = "passes_on", "passes_on", -0.05;
    /// Further places of a file that add little to those that are in the list already.
    Repeat = "repeats", "repeats", -0.6;
}

/// The features of one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scores {
    values: [f64; Feature::ALL.len()],
    /// BM25 as it is, before it is put in relation to its ceiling.
    pub raw_bm25: f64,
}

impl Default for Scores {
    fn default() -> Self {
        Self { values: [0.0; Feature::ALL.len()], raw_bm25: 0.0 }
    }
}

impl Scores {
    /// Sets a feature; what lies outside of 0 to 1 is cut.
    pub fn set(&mut self, feature: Feature, value: f64) {
        self.values[feature as usize] = value.clamp(0.0, 1.0);
    }

    /// The feature, from 0 to 1.
    pub fn value(&self, feature: Feature) -> f64 {
        self.values[feature as usize]
    }

    /// What the feature adds to the total.
    pub fn contribution(&self, feature: Feature) -> f64 {
        self.units(feature) as f64 / UNIT
    }

    /// The sum of all contributions, in units that can be compared without rounding.
    pub fn total_units(&self) -> i64 {
        Feature::ALL.iter().map(|feature| self.units(*feature)).sum()
    }

    /// The sum of all contributions.
    pub fn total(&self) -> f64 {
        self.total_units() as f64 / UNIT
    }

    /// The total as a number from 0 to 1 that grows with it; a total of one is a half.
    pub fn confidence(&self) -> f64 {
        let total = self.total().max(0.0);
        (total / (total + 1.0) * 1e3).round() / 1e3
    }

    fn units(&self, feature: Feature) -> i64 {
        match self.value(feature) {
            0.0 => 0,
            value => (value * feature.weight() * UNIT).round() as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_that_the_contract_names_are_the_ends_of_its_ranges() {
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
