//! Names of macros of the standard library.

/// Macros that the resolver takes for external ones, and whose calls are not lowered.
const COMMON: &[&str] = &[
    "assert",
    "assert_eq",
    "assert_ne",
    "cfg",
    "concat",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "env",
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "include",
    "include_bytes",
    "include_str",
    "matches",
    "panic",
    "print",
    "println",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Whether an unqualified name without a macro of the workspace is external.
pub(super) fn is_external(name: &str) -> bool {
    COMMON.binary_search(&name).is_ok() || matches!(name, "dbg" | "thread_local")
}

/// Whether calls with this name are not lowered in ordinary code.
pub(super) fn is_not_lowered(name: &str) -> bool {
    COMMON.binary_search(&name).is_ok() || matches!(name, "line" | "module_path")
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_sorted() {
        assert!(super::COMMON.is_sorted());
    }
}
