//! One version and one address: all release files take both from Cargo.toml, and the lists of platforms agree.
//! The documentation has no dead links, and every page begins with a summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("because the crate is in crates/");
    crates.parent().expect("because crates/ is in the workspace").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the value of a key in `[workspace.package]`.
fn workspace_key(key: &str) -> String {
    let manifest = read("Cargo.toml");
    let section = manifest.split("[workspace.package]").nth(1).and_then(|rest| rest.split("\n[").next());
    let mut lines = section.expect("because the section exists").lines();
    let line = lines.find_map(|line| line.strip_prefix(&format!("{key} = "))).expect("because the key exists");
    line.trim_matches('"').to_owned()
}

/// Returns the paths of the files that are part of a release or describe one.
fn release_files() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["README.md", "SECURITY.md", "dist-workspace.toml", "pyproject.toml", "crates/app/Cargo.toml"]
            .iter()
            .map(|file| root().join(file))
            .collect();
    let mut folders = vec![root().join("packaging"), root().join(".github"), root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("because the folder exists").flatten() {
            let path = entry.path();
            // Output of packaging/share/make is not part of the project.
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

/// Returns Rust's platform names in a text, limited to those of a release.
fn targets(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_');
    let is_target = |word: &&str| word.starts_with("x86_64-") || word.starts_with("aarch64-");
    words.filter(is_target).map(str::to_owned).collect()
}

#[test]
fn repository_url_is_defined_once() {
    let repository = workspace_key("repository");
    let (owner, _) = repository
        .strip_prefix("https://github.com/")
        .and_then(|path| path.split_once('/'))
        .expect("because the address has an owner and a name");
    let address = format!("github.com/{owner}");
    let files = release_files();
    assert!(files.len() > 15, "only {} files were found", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap_or_default();
        assert!(!text.contains(&address), "{} names {address}: take it from Cargo.toml", file.display());
    }
}

#[test]
fn version_is_defined_once_and_in_changelog() {
    let version = workspace_key("version");
    let log = read("CHANGELOG.md");
    let first = log.lines().find_map(|line| line.strip_prefix("## ")).expect("because the changelog has a heading");
    assert_eq!(first.split(' ').next(), Some(version.as_str()), "the newest release in CHANGELOG.md");
    for file in
        ["dist-workspace.toml", "pyproject.toml", "packaging/server.json", "packaging/pack.py", "packaging/Dockerfile"]
    {
        assert!(!read(file).contains(&format!("\"{version}\"")), "{file} names a version");
    }
}

#[test]
fn platform_lists_agree() {
    let archives = targets(&read("dist-workspace.toml"));
    assert_eq!(archives.len(), 8, "{archives:?}");
    assert_eq!(targets(&read("packaging/pack.py")), archives);
    assert_eq!(targets(&read(".github/workflows/packages.yml")), archives);
}

#[test]
fn workflow_matches_dist_version() {
    let named = read("dist-workspace.toml");
    let version =
        named.lines().find_map(|line| line.strip_prefix("cargo-dist-version = ")).expect("because the version is set");
    let version = version.trim_matches('"');
    assert!(read(".github/workflows/release.yml").contains(&format!("v{version}/")), "run `dist generate`");
}

/// The actions that a workflow uses, with the revision of each.
fn actions(text: &str) -> Vec<(String, String)> {
    let uses = text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: "));
    let names = uses.filter_map(|name| name.split(" #").next()).map(|name| name.trim().trim_matches('"'));
    names.filter_map(|name| name.split_once('@')).map(|(name, at)| (name.to_owned(), at.to_owned())).collect()
}

fn is_commit(revision: &str) -> bool {
    revision.len() == 40 && revision.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Actions whose commits could not be established.
const BY_TAG: &[&str] = &["taiki-e/install-action"];

#[test]
fn actions_are_pinned_by_commit() {
    let mut count = 0;
    for file in ["build-setup.yml", "workflows/ci.yml", "workflows/packages.yml", "workflows/share.yml"] {
        let text = read(&format!(".github/{file}"));
        for (name, revision) in actions(&text) {
            count += 1;
            assert!(is_commit(&revision) || BY_TAG.contains(&name.as_str()), "{file}: {name}@{revision}");
            let comment = format!("{name}@{revision} # v");
            assert!(!is_commit(&revision) || text.contains(&comment), "{file}: {name} without its version");
        }
    }
    assert!(count > 10, "{count}");
}

#[test]
fn release_workflow_uses_pinned_commits() {
    let settings = read("dist-workspace.toml");
    let table = settings.split("[dist.github-action-commits]").nth(1).expect("there is one");
    let pinned: BTreeMap<&str, &str> = table
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, rest)| (name.trim_matches('"'), rest.split('"').nth(1).unwrap_or_default()))
        .collect();
    let used: BTreeMap<String, String> = actions(&read(".github/workflows/release.yml")).into_iter().collect();
    assert!(used.len() == pinned.len() && used.values().all(|revision| is_commit(revision)), "{used:?}");
    for (name, revision) in &used {
        assert_eq!(pinned.get(name.as_str()), Some(&revision.as_str()), "run `dist generate`: {name}");
    }
}

/// The Markdown pages of the project.
fn pages() -> Vec<PathBuf> {
    let folders = [".", "docs", "eval/results", "clients", "crates/testkit"];
    let listed = folders.iter().flat_map(|folder| fs::read_dir(root().join(folder)).expect("the folder exists"));
    let pages = listed.flatten().map(|entry| entry.path());
    pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The lines of a page outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The anchors of a page's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings
        .map(|heading| heading.to_lowercase().chars().filter(is_kept).collect::<String>().replace(' ', "-"))
        .collect()
}

/// The targets of a page's links that lead to files.
fn links(text: &str) -> Vec<String> {
    let targets = prose(text).flat_map(|line| line.split("](").skip(1)).filter_map(|rest| rest.split_once(')'));
    let local = targets.map(|(target, _)| target).filter(|target| !target.contains("://"));
    local.map(str::to_owned).collect()
}

#[test]
fn page_links_are_not_dead() {
    let pages = pages();
    assert!(pages.len() > 20, "only {} pages were found", pages.len());
    let mut dead = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).expect("it can be read");
        for link in links(&text) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => page.clone(),
                _ => page.parent().expect("it is in a folder").join(path),
            };
            let has_anchor = || anchors(&fs::read_to_string(&target).unwrap_or_default()).contains(anchor);
            if !target.exists() || !anchor.is_empty() && !has_anchor() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn every_docs_page_begins_with_a_summary() {
    for page in pages().into_iter().filter(|page| page.parent().is_some_and(|folder| folder.ends_with("docs"))) {
        let text = fs::read_to_string(&page).expect("it can be read");
        let summary: Vec<&str> = text.lines().skip(1).skip_while(|line| line.is_empty()).take(3).collect();
        let is_summary = summary
            .iter()
            .zip(["- Covers: ", "- Result: ", "- Reproduce: "])
            .all(|(line, label)| line.starts_with(label));
        assert!(summary.len() == 3 && is_summary, "{}: it begins with {summary:#?}", page.display());
    }
}
