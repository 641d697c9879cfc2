//! Determines the module of a Python file from its path alone.

/// Returns the file's prefix of qualified names: the dotted path without a leading `src` and without `__init__`.
pub(super) fn prefix(path: &str) -> String {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut segments: Vec<&str> = folders.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if segments.first() == Some(&"src") {
        segments.remove(0);
    }
    if stem != "__init__" {
        segments.push(stem);
    }
    segments.join(".")
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn module_name_comes_from_path() {
        let cases = [
            ("django/db/models/query.py", "django.db.models.query"),
            ("src/pkg/__init__.py", "pkg"),
            ("src/pkg/a.pyi", "pkg.a"),
            ("setup.py", "setup"),
            ("src.py", "src"),
            ("__init__.py", ""),
            ("bin/tool", "bin.tool"),
            ("", ""),
        ];
        for (path, module) in cases {
            assert_eq!(prefix(path), module, "{path}");
        }
    }
}
