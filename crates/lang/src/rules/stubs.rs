//! The library of a language, as far as types flow through it: stubs in the language itself, extracted like any file.
//!
//! The stub files have ids that occur in no view. Symbols found in them are external.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use codecompass_model::{SourceFile, SymbolAt, VersionId};

use super::scope_policy::ScopePolicy;

/// The stubs as files.
pub(super) struct Library {
    files: Vec<Rc<SourceFile>>,
    names: HashMap<String, Vec<SymbolAt>>,
}

impl Library {
    /// Extracts the stubs: sections, each after a line `== name`.
    pub(super) fn read(scoping: &ScopePolicy) -> Self {
        let texts = scoping.library.split("\n== ").skip(1).filter_map(|text| text.split_once('\n'));
        let file = |(at, (_, text)): (usize, (&str, &str))| {
            Rc::new(SourceFile {
                id: VersionId::MAX - at as VersionId,
                path: scoping.library_file.to_owned(),
                language: scoping.language.to_owned(),
                facts: Arc::new((scoping.extract_library)(scoping.library_file, text)),
            })
        };
        let files: Vec<_> = texts.enumerate().map(file).collect();
        let mut names: HashMap<String, Vec<SymbolAt>> = HashMap::new();
        for file in &files {
            for (place, symbol) in file.facts.symbols.iter().enumerate().filter(|(_, of)| of.kind.can_be_named()) {
                let at = SymbolAt { file: file.id, ordinal: place as u32 };
                names.entry(symbol.name.clone()).or_default().push(at);
            }
        }
        Self { files, names }
    }

    /// Returns whether a file belongs to the library.
    pub(super) fn has(&self, id: VersionId) -> bool {
        id > VersionId::MAX - self.files.len() as VersionId
    }

    pub(super) fn file(&self, id: VersionId) -> Option<Rc<SourceFile>> {
        self.files.get((VersionId::MAX - id) as usize).cloned()
    }

    /// Returns the library's symbols with this name.
    pub(super) fn named(&self, name: &str) -> &[SymbolAt] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use crate::{LANGUAGES, Rules};

    #[test]
    fn stubs_parse_in_their_language() {
        for language in LANGUAGES {
            let Rules::Shared(language) = language.rules else { continue };
            let library = super::Library::read(language);
            for file in &library.files {
                assert_eq!(file.language, language.language);
                let detected = crate::extract(&file.path, Vec::new()).language;
                assert_eq!(detected, language.language, "{}", file.path);
                let symbols = &file.facts.symbols;
                let what = symbols.first().map_or("", |first| first.qualified_name.as_str());
                assert_eq!(file.facts.problems, [], "{} near {what}", language.language);
                assert!(!symbols.is_empty(), "{}: an empty section", language.language);
            }
        }
    }
}
