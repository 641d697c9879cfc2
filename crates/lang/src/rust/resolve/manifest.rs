//! Reads targets, renamed dependencies and default features from a `Cargo.toml`, line by line, with minimal TOML.

/// The parts of a manifest that the resolver needs.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    /// The package's name in the manifest; empty for a workspace alone.
    pub(super) name: String,
    /// The name of the library, if it has its own.
    pub(super) lib_name: Option<String>,
    /// The path of the library's root, if it is not the default.
    pub(super) lib_path: Option<String>,
    /// The paths of explicitly listed binaries, tests, examples and benches.
    pub(super) roots: Vec<String>,
    /// Names in code and their packages, where these differ.
    pub(super) renames: Vec<(String, String)>,
    /// The dependencies by their name in code.
    pub(super) dependencies: Vec<String>,
    /// The kinds of targets without discovery by folder: `bins`, `tests`, `examples`, `benches`.
    pub(super) named_targets: Vec<String>,
    /// Whether paths in `use` begin at the root of the crate.
    pub(super) is_2015: bool,
    /// The features that are on by default.
    pub(super) defaults: Vec<String>,
}

/// Reads a manifest.
pub(super) fn read(text: &str) -> Manifest {
    let mut manifest = Manifest { is_2015: true, ..Manifest::default() };
    let mut features: Vec<(String, Vec<String>)> = Vec::new();
    let mut section = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let line = without_comment(line).trim();
        if line.starts_with('[') && line.ends_with(']') {
            section = line.trim_matches(['[', ']']).replace(['"', '\''], "").trim().to_owned();
            if let Some((_, name)) = section.rsplit_once("dependencies.") {
                manifest.dependencies.push(code_name(name));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, mut value) = (key.trim().trim_matches('"'), value.trim().to_owned());
        while value.starts_with('[') && !value.ends_with(']') {
            let Some(more) = lines.next() else { break };
            value.push_str(without_comment(more).trim());
        }
        match (section.as_str(), key) {
            ("package" | "project", "name") => manifest.name = unquoted(&value).to_owned(),
            ("lib", "name") => manifest.lib_name = Some(unquoted(&value).to_owned()),
            ("lib", "path") => manifest.lib_path = Some(unquoted(&value).to_owned()),
            ("bin" | "test" | "example" | "bench", "path") => manifest.roots.push(unquoted(&value).to_owned()),
            ("package", "build") => manifest.roots.push(unquoted(&value).to_owned()),
            ("package", key) if key.starts_with("auto") && value == "false" => {
                manifest.named_targets.push(key.trim_start_matches("auto").to_owned());
            }
            ("package", "edition" | "edition.workspace") => manifest.is_2015 = unquoted(&value) == "2015",
            ("features", _) => features.push((key.to_owned(), strings(&value))),
            (section, _) => rename(&mut manifest, section, key, &value),
        }
    }
    manifest.defaults = closure(&features);
    manifest
}

/// Handles `alias = { package = "name", … }`, on one line or as its own section.
fn rename(manifest: &mut Manifest, section: &str, key: &str, value: &str) {
    if section.ends_with("dependencies") {
        manifest.dependencies.push(code_name(key.split('.').next().unwrap_or(key)));
    }
    if section.ends_with("dependencies")
        && let Some((_, rest)) = value.split_once("package")
        && let Some(package) = rest.trim_start().strip_prefix('=').and_then(|rest| rest.split('"').nth(1))
    {
        manifest.renames.push((code_name(key), code_name(package)));
    } else if let Some((head, alias)) = section.rsplit_once("dependencies.")
        && key == "package"
        && !alias.is_empty()
        && (head.is_empty() || head.ends_with(['-', '.']))
    {
        manifest.renames.push((code_name(alias), code_name(unquoted(value))));
    }
}

/// Returns the name of a package in code.
pub(super) fn code_name(name: &str) -> String {
    name.replace('-', "_")
}

fn closure(features: &[(String, Vec<String>)]) -> Vec<String> {
    let mut on = vec!["default".to_owned()];
    let mut at = 0;
    while at < on.len() && on.len() < 1000 {
        let more = features.iter().find(|(name, _)| *name == on[at]).map(|(_, more)| more.clone()).unwrap_or_default();
        for name in more {
            if !on.contains(&name) {
                on.push(name);
            }
        }
        at += 1;
    }
    on
}

fn strings(value: &str) -> Vec<String> {
    value.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn unquoted(value: &str) -> &str {
    value.trim().trim_matches(['"', '\''])
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (at, c) in line.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '#' if !quoted => return &line[..at],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_targets() {
        let text = "[package]\nname = \"my-tool\" # it\nautotests = false\n[lib]\npath = \"a.rs\"\n[[bin]]\npath = \"b.rs\"\n\
            [dependencies]\nshort = { path = \"x\", package = \"long-name\" }\n[dev-dependencies.t]\npackage = \"u\"\n\
            [features]\ndefault = [\n \"one\",\n]\none = [\"two\"]\nthree = []\n";
        let manifest = read(text);
        assert_eq!(manifest.name, "my-tool");
        assert_eq!(manifest.lib_path.as_deref(), Some("a.rs"));
        assert_eq!(manifest.roots, ["b.rs"]);
        assert_eq!(manifest.named_targets, ["tests"]);
        let renames = [("short".to_owned(), "long_name".to_owned()), ("t".to_owned(), "u".to_owned())];
        assert_eq!(manifest.renames, renames);
        assert_eq!(manifest.defaults, ["default", "one", "two"]);
    }
}
