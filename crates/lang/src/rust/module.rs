//! Determines the module path of a Rust file from its file path alone.

/// Folders beside `src` with crates or parts of crates of their own; they stay in the name.
const TARGET_FOLDERS: &[&str] = &["tests", "examples", "benches"];

/// Returns the file's prefix of qualified names: the path after the last `src/`, without `mod.rs`, `lib.rs` and
/// `main.rs`, after the folder of a nested package. Without `src/`, all folders. Hyphens become underscores, as in
/// crate names.
pub(super) fn prefix(path: &str) -> String {
    let stem = path.strip_suffix(".rs").unwrap_or(path);
    let mut segments: Vec<&str> = stem.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if segments.last().is_some_and(|last| matches!(*last, "mod" | "lib" | "main")) {
        segments.pop();
    }
    let folders = path.split('/').count().saturating_sub(1).min(segments.len());
    if let Some(src) = segments[..folders].iter().rposition(|part| *part == "src") {
        segments.remove(src);
        segments.drain(..src.saturating_sub(1));
    } else if let Some(target) = segments[..folders].iter().position(|part| TARGET_FOLDERS.contains(part)) {
        segments.drain(..target.saturating_sub(1));
    }
    segments.join("::").replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn module_path_comes_from_path() {
        let cases = [
            ("src/auth/jwt.rs", "auth::jwt"),
            ("src/auth/mod.rs", "auth"),
            ("src/lib.rs", ""),
            ("src/main.rs", ""),
            ("main.rs", ""),
            ("crates/store/src/view.rs", "store::view"),
            ("crates/store/src/lib.rs", "store"),
            ("crates/hir-def/src/body/scope.rs", "hir_def::body::scope"),
            ("src/bin/tool.rs", "bin::tool"),
            ("src/src.rs", "src"),
            ("tests/cli.rs", "tests::cli"),
            ("crates/store/tests/cli.rs", "store::tests::cli"),
            ("examples/demo/main.rs", "examples::demo"),
            ("src/tests/a.rs", "tests::a"),
            ("build.rs", "build"),
            ("tools/gen.rs", "tools::gen"),
            ("", ""),
        ];
        for (path, module) in cases {
            assert_eq!(prefix(path), module, "{path}");
        }
    }
}
