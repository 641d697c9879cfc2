//! Determines the file's prefix of qualified names from its path alone.

/// Returns the path without its extension and a leading `src`, joined by dots. `index` stays: the entry files of two
/// folders are different modules, and their names must differ.
pub(super) fn prefix(path: &str) -> String {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let stem = stem.strip_suffix(".d").unwrap_or(stem);
    let mut segments: Vec<&str> = folders.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if segments.first() == Some(&"src") {
        segments.remove(0);
    }
    segments.push(stem);
    segments.join(".")
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn module_path_drops_extension_and_src() {
        let cases = [
            ("src/utils/html.ts", "utils.html"),
            ("src/index.ts", "index"),
            ("src/jsx/dom/index.tsx", "jsx.dom.index"),
            ("packages/core/src/a.test.mts", "packages.core.src.a.test"),
            ("types/global.d.ts", "types.global"),
            ("lib/express.js", "lib.express"),
            ("src.js", "src"),
            ("bin/tool", "bin.tool"),
            ("", ""),
        ];
        for (path, module) in cases {
            assert_eq!(prefix(path), module, "{path}");
        }
    }
}
