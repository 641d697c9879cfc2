//! Language overrides: the configuration selects the language of files, regardless of their names and contents.

use codecompass_model::ids::content_hash;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::SourceError;

/// The overrides: patterns and language names. The first pattern that matches a path wins.
#[derive(Debug, Default)]
pub struct LanguageOverrides {
    rules: Vec<(Gitignore, String)>,
}

impl LanguageOverrides {
    /// Compiles gitignore patterns, relative to the root.
    pub fn new(choices: &[(String, String)]) -> Result<Self, SourceError> {
        let mut rules = Vec::with_capacity(choices.len());
        for (pattern, language) in choices {
            let bad =
                |error: ignore::Error| SourceError::BadPattern { pattern: pattern.clone(), what: error.to_string() };
            let mut builder = GitignoreBuilder::new(".");
            builder.add_line(None, pattern).map_err(bad)?;
            rules.push((builder.build().map_err(bad)?, language.clone()));
        }
        Ok(Self { rules })
    }

    /// Returns the language override of a path.
    pub fn language_for(&self, path: &str) -> Option<&str> {
        let is_meant = |rule: &&(Gitignore, String)| rule.0.matched_path_or_any_parents(path, false).is_ignore();
        self.rules.iter().find(is_meant).map(|(_, language)| language.as_str())
    }

    /// Returns a number that identifies the overrides; 0 for none.
    pub(crate) fn key(choices: &[(String, String)]) -> u64 {
        let line = |(pattern, language): &(String, String)| format!("{pattern}\n{language}\n");
        match choices {
            [] => 0,
            _ => content_hash(&[choices.iter().map(line).collect::<String>().as_bytes()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_matching_pattern_wins() {
        let choices = [("/old/*.inc", "pascal"), ("*.inc", "php"), ("Tiltfile", "starlark"), ("legacy/", "text")];
        let choices = choices.map(|(pattern, language)| (pattern.to_owned(), language.to_owned()));
        let chosen = LanguageOverrides::new(&choices).expect("the patterns are valid");
        let table = [
            ("old/a.inc", Some("pascal")),
            ("a/old/a.inc", Some("php")),
            ("a/Tiltfile", Some("starlark")),
            ("a/legacy/b/c.rs", Some("text")),
            ("a.rs", None),
        ];
        for (path, language) in table {
            assert_eq!(chosen.language_for(path), language, "{path}");
        }
        assert!(LanguageOverrides::key(&choices) != 0 && LanguageOverrides::key(&[]) == 0);
        assert!(LanguageOverrides::new(&[("{a".to_owned(), "php".to_owned())]).is_err());
    }
}
