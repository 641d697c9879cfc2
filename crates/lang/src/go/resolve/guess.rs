//! Guesses a method with a unique name if the type of its receiver is unknown.

use codecompass_model::{Resolution, SymbolAt, SymbolKind};

use super::GoResolver;
use super::packages::is_test;

/// Methods of standard library types, so that a method of the view is not the more likely target.
const COMMON_METHODS: &[&str] = &[
    "Add",
    "Bytes",
    "Cause",
    "Clone",
    "Close",
    "Context",
    "Copy",
    "Count",
    "Decode",
    "Delete",
    "Do",
    "Done",
    "Encode",
    "Equal",
    "Err",
    "Error",
    "Exec",
    "Exit",
    "Fatal",
    "Fatalf",
    "Flush",
    "Format",
    "Get",
    "Handle",
    "Header",
    "ID",
    "Info",
    "Init",
    "Is",
    "Key",
    "Kind",
    "Len",
    "Less",
    "List",
    "Load",
    "Lock",
    "Log",
    "Logf",
    "Name",
    "New",
    "Next",
    "Open",
    "Parse",
    "Path",
    "Print",
    "Printf",
    "Println",
    "Pop",
    "Push",
    "Query",
    "RLock",
    "RUnlock",
    "Read",
    "Reset",
    "Run",
    "Scan",
    "Send",
    "ServeHTTP",
    "Set",
    "Size",
    "Start",
    "Status",
    "Stop",
    "Store",
    "String",
    "Sum",
    "Swap",
    "Sync",
    "Type",
    "Unlock",
    "Unwrap",
    "Update",
    "Value",
    "Wait",
    "Write",
    "WriteString",
];

impl GoResolver<'_> {
    /// Returns the only method of that name in the view, except tests.
    pub(super) fn guess(&self, name: &str, is_call: bool) -> Resolution {
        const UNKNOWN: Resolution = Resolution::Unknown("the type of the receiver is unknown");
        if !is_call || name.len() < 4 || COMMON_METHODS.contains(&name) {
            return UNKNOWN;
        }
        let named = self.world.symbols_named(name);
        let mut methods = named.iter().filter(|at| self.is_method(**at));
        match (methods.next(), methods.next()) {
            (Some(&only), None) => Resolution::heuristic(only, "the only method of that name"),
            _ => UNKNOWN,
        }
    }

    fn is_method(&self, at: SymbolAt) -> bool {
        let Some(file) = self.file(at.file) else { return false };
        let is_method = file.symbol(at.ordinal).is_some_and(|symbol| symbol.kind == SymbolKind::Method);
        is_method && file.file.language == "go" && !is_test(&file.file.path)
    }
}
