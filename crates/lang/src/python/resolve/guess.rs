//! Guesses a method if the type of its receiver is unknown.

use codecompass_model::{Resolution, SymbolAt, SymbolKind};

use super::PythonResolver;
use super::types::Type;

/// A method that more classes have is no evidence for its receiver.
const MAX_CANDIDATES: usize = 8;

/// A shorter name is too common.
const MIN_LENGTH: usize = 7;

/// Methods of paths, parsers and streams of the standard library, which are the usual receivers of unknown type.
const STANDARD_METHODS: &[&str] = &[
    "add_argument",
    "add_parser",
    "add_subparsers",
    "format_help",
    "get_payload",
    "is_alive",
    "parse_args",
    "parse_known_args",
    "read_bytes",
    "read_text",
    "run_until_complete",
    "set_cookie",
    "set_defaults",
    "set_payload",
    "symlink_to",
    "total_seconds",
    "write_bytes",
    "write_text",
];

impl PythonResolver<'_> {
    /// Returns the only method of an uncommon name, or the one that all others of that name override.
    pub(super) fn guess(&self, name: &str) -> Option<Resolution> {
        let is_uncommon = name.len() >= MIN_LENGTH && !name.starts_with("__") && name.trim_matches('_').contains('_');
        if !is_uncommon || name.starts_with("assert_") || STANDARD_METHODS.contains(&name) {
            return None;
        }
        let mut methods: Vec<(SymbolAt, SymbolAt)> = Vec::new();
        for at in self.world.symbols_named(name).iter() {
            let Some(source) = self.source(at.file).filter(|source| !is_test(&source.file.path)) else { continue };
            let symbol = source.symbol(at.ordinal)?;
            match (symbol.kind, symbol.parent) {
                (SymbolKind::Method, Some(class)) => methods.push((*at, SymbolAt { file: at.file, ordinal: class })),
                // A function or variable of that name may also be the target.
                _ => return None,
            }
            if methods.len() > MAX_CANDIDATES {
                return None;
            }
        }
        let is_base = |base: SymbolAt, of: SymbolAt| {
            self.method_resolution_order(of).iter().any(|one| matches!(one, Type::Instance(at, _) if *at == base))
        };
        let first = methods.iter().find(|(_, base)| methods.iter().all(|(_, of)| is_base(*base, *of)))?;
        Some(Resolution::heuristic(first.0, "only method of that name"))
    }
}

/// Returns whether a file contains tests, by its path.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| {
        let stem = part.split('.').next().unwrap_or(part);
        matches!(stem, "test" | "tests" | "testing" | "conftest")
            || stem.starts_with("test_")
            || stem.ends_with("_test")
    })
}
