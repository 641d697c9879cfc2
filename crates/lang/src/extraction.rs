//! Extraction of one text with a grammar: parses it, walks the tree, and splits the rest into chunks.

use codecompass_model::{FileFacts, Problem, ProblemKind};

use crate::draft::Draft;
use crate::lines::LineStarts;
use crate::parse::Exceeded;
use crate::tree::Tree;
use crate::{Language, Walk, chunk, parse, spec};

/// The maximum length of a text with facts: offsets have 32 bits.
pub(crate) const MAX_BYTES: usize = i32::MAX as usize;

/// Returns the facts of a stub file of a language's library.
pub(crate) fn library_facts(language: &Language, path: &str, text: &str) -> FileFacts {
    grammar_facts(language, (path, false), text, &|| true)
}

/// Returns the facts of a text in a language with a grammar. The path comes with whether it is a test path. `go_on` is
/// polled while the text is parsed.
pub(crate) fn grammar_facts(
    language: &Language,
    path: (&str, bool),
    text: &str,
    go_on: &dyn Fn() -> bool,
) -> FileFacts {
    let embedded = match language.walk {
        Walk::Embedded { code, .. } => Some(code(text)).filter(|code| code.len() == text.len()),
        _ => None,
    };
    let code = embedded.as_deref().unwrap_or(text);
    match parse::with_flat_tree(language, code, go_on, |tree| draft_facts(language, path, (text, code), tree)) {
        Ok(facts) => facts,
        Err(exceeded) => {
            let kind = match exceeded {
                Exceeded::Steps => ProblemKind::TimeLimit,
                Exceeded::Memory => ProblemKind::MemoryLimit,
            };
            plain_facts(text, vec![Problem { kind, line: 1, count: 1 }])
        }
    }
}

fn draft_facts(language: &Language, path: (&str, bool), (text, code): (&str, &str), tree: &Tree) -> FileFacts {
    let lines = LineStarts::new(text);
    let mut draft = Draft::new(path, text, &lines);
    match language.walk {
        Walk::Custom(walk) => walk(tree, &mut draft),
        Walk::Embedded { walk, words, .. } => {
            walk(tree, &mut draft);
            draft.set_mentions(words(text, code));
        }
        Walk::Table(recipe) => spec::walk(recipe, tree, &mut draft),
    }
    let mut facts = draft.finish(tree, &language.grammar);
    facts.chunks = chunk::chunk_code(text, &lines, &facts.symbols);
    facts
}

/// Returns the facts of a text without its syntax: lines and chunks.
fn plain_facts(text: &str, problems: Vec<Problem>) -> FileFacts {
    let lines = LineStarts::new(text);
    FileFacts { lines: lines.count(), chunks: chunk::chunk_text(text, &lines), problems, ..FileFacts::default() }
}
