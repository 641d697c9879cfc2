//! Embeds the commit into release builds, read from git's own files. No program is run. A source archive without these
//! files builds as well; a packager may set CODECOMPASS_COMMIT.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CODECOMPASS_COMMIT");
    // A debug build would be linked again after each commit, and debug builds are not shipped.
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if std::env::var_os("CODECOMPASS_COMMIT").is_some() || !is_release {
        return;
    }
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..");
    if let Some(commit) = commit(&root) {
        println!("cargo:rustc-env=CODECOMPASS_COMMIT={commit}");
    }
}

/// The checked-out commit of a work tree.
fn commit(root: &Path) -> Option<String> {
    let git = git_folder(root)?;
    let head = watched(&git.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ") else { return is_id(&head).then_some(head) };
    let common = match fs::read_to_string(git.join("commondir")) {
        Ok(path) => git.join(path.trim()),
        Err(_) => git,
    };
    let loose = watched(&common.join(name));
    let packed = || {
        let all = watched(&common.join("packed-refs"))?;
        all.lines().find_map(|line| Some(line.strip_suffix(name)?.trim().to_owned()))
    };
    loose.or_else(packed).filter(|id| is_id(id))
}

/// The git folder of a work tree: inside it, or at the path that its `.git` file names.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = fs::read_to_string(&git).ok()?;
    Some(root.join(text.strip_prefix("gitdir: ")?.trim()))
}

fn watched(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    println!("cargo:rerun-if-changed={}", path.display());
    Some(text.trim().to_owned())
}

fn is_id(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
