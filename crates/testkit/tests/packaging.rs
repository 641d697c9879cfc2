//! One version and one address: what a release is made of takes both from Cargo.toml, and the lists of platforms agree.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it lies in crates/");
    crates.parent().expect("they lie in the workspace").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// What `[workspace.package]` says of a key.
fn said(key: &str) -> String {
    let manifest = read("Cargo.toml");
    let section = manifest.split("[workspace.package]").nth(1).and_then(|rest| rest.split("\n[").next());
    let mut lines = section.expect("there is one").lines();
    let line = lines.find_map(|line| line.strip_prefix(&format!("{key} = "))).expect("it is said");
    line.trim_matches('"').to_owned()
}

/// The files that a release is made of or that tell of one, by their path.
fn files() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "SECURITY.md", "dist-workspace.toml", "pyproject.toml", "crates/app/Cargo.toml"]
            .iter()
            .map(|file| root().join(file))
            .collect();
    let mut folders = vec![root().join("packaging"), root().join(".github"), root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("it is there").flatten() {
            let path = entry.path();
            // What packaging/share/make made is no part of the project.
            let is_made = path.ends_with("share/completions") || path.ends_with("share/man");
            match path.is_dir() {
                true if is_made => {}
                true => folders.push(path),
                false => found.push(path),
            }
        }
    }
    found
}

/// Rust's names of platforms in a text, as far as a release has them.
fn targets(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let is_target = |word: &&str| word.starts_with("x86_64-") || word.starts_with("aarch64-");
    words.filter(is_target).map(str::to_owned).collect()
}

#[test]
fn the_address_of_the_repository_stands_in_one_place() {
    let repository = said("repository");
    let (owner, _) =
        repository.strip_prefix("https://github.com/").and_then(|path| path.split_once('/')).expect("both");
    let address = format!("github.com/{owner}");
    let files = files();
    assert!(files.len() > 15, "only {} files were found", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(!text.contains(&address), "{} names {address}: take it from Cargo.toml", file.display());
    }
}

#[test]
fn the_version_stands_in_one_place_and_the_changelog_has_it() {
    let version = said("version");
    let log = read("CHANGELOG.md");
    let first = log.lines().find_map(|line| line.strip_prefix("## ")).expect("it has a heading");
    assert_eq!(first.split(' ').next(), Some(version.as_str()), "the newest release in CHANGELOG.md");
    for file in
        ["dist-workspace.toml", "pyproject.toml", "packaging/server.json", "packaging/pack.py", "packaging/Dockerfile"]
    {
        assert!(!read(file).contains(&format!("\"{version}\"")), "{file} names a version");
    }
}

#[test]
fn the_platforms_of_archives_wheels_and_npm_packages_are_the_same() {
    let archives = targets(&read("dist-workspace.toml"));
    assert_eq!(archives.len(), 8, "{archives:?}");
    assert_eq!(targets(&read("packaging/pack.py")), archives);
    assert_eq!(targets(&read(".github/workflows/packages.yml")), archives);
}

#[test]
fn the_workflow_is_of_the_dist_that_is_named() {
    let named = read("dist-workspace.toml");
    let version = named.lines().find_map(|line| line.strip_prefix("cargo-dist-version = ")).expect("it is named");
    let version = version.trim_matches('"');
    assert!(read(".github/workflows/release.yml").contains(&format!("v{version}/")), "run `dist generate`");
}
