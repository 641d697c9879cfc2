//! What is left out without anybody asking: folders of foreign or derived files, and files that may hold secrets.

/// Folders that hold foreign or derived files whether they are tracked or not.
const FOREIGN: &[&str] = &[
    ".cache",
    ".git",
    ".gradle",
    ".hg",
    ".idea",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".terraform",
    ".tox",
    ".venv",
    "Pods",
    "__pycache__",
    "bower_components",
    "node_modules",
    "vendor",
];

/// Folders that hold derived files in one project and source in another: who tracks something in them means source.
const DERIVED_UNLESS_TRACKED: &[&str] = &["build", "dist", "out", "target", "venv"];

/// Whether a folder of this name is left out, unless an ignore file brings it back.
pub(super) fn is_left_out_folder(name: &str, tracked: bool) -> bool {
    FOREIGN.contains(&name) || (!tracked && is_ambiguous_folder(name))
}

/// Whether tracking decides about a folder of this name.
pub(super) fn is_ambiguous_folder(name: &str) -> bool {
    DERIVED_UNLESS_TRACKED.contains(&name)
}

/// Whether a file may hold a secret, by its name. No ignore file brings it back.
///
/// `.env*` but for the three names of templates; keys and key stores by extension; the credential files of well-known
/// tools; and `id_*`, the names of SSH keys, where the rest of the name does not look like a source file: without an
/// extension, as a public key or as a copy. The four classic names are secret under any extension but those of code.
pub(super) fn may_hold_secret(path: &str) -> bool {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let lower = name.to_ascii_lowercase();
    let (stem, extension) = match lower.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        _ => (lower.as_str(), None),
    };
    let is_environment =
        lower.starts_with(".env") && !matches!(lower.as_str(), ".env.example" | ".env.sample" | ".env.template");
    is_environment
        || matches!(extension, Some("pem" | "key" | "p12" | "pfx" | "jks"))
        || matches!(lower.as_str(), ".netrc" | "_netrc" | ".npmrc" | ".pgpass" | ".pypirc" | ".git-credentials")
        || (lower == "credentials" && (folder == ".aws" || folder.ends_with("/.aws")))
        || (stem.starts_with("id_") && is_key_name(stem, extension))
}

fn is_key_name(stem: &str, extension: Option<&str>) -> bool {
    const CLASSIC: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    const COPIES: &[&str] = &["pub", "bak", "backup", "old", "orig", "save", "ppk", "priv", "enc", "gpg"];
    match extension {
        None => true,
        Some(extension) => COPIES.contains(&extension) || (CLASSIC.contains(&stem) && !is_source(extension)),
    }
}

/// Code, or a text about keys.
fn is_source(extension: &str) -> bool {
    codecompass_lang::is_code_extension(extension) || extension == "md"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_told_from_names_of_code() {
        let secret = [
            ".env",
            ".env.local",
            ".envrc",
            "a/.env.production",
            "server.pem",
            "a/b/tls.KEY",
            "x.p12",
            "x.pfx",
            "x.jks",
            "id_rsa",
            "a/id_dsa",
            "id_ecdsa",
            ".ssh/id_ed25519",
            "id_ed25519.pub",
            "id_rsa.bak",
            "id_rsa.2019",
            "id_rsa.txt",
            "id_rsa.json",
            "id_deploy",
            ".netrc",
            ".npmrc",
            "a/.pgpass",
            ".aws/credentials",
            "home/.aws/credentials",
        ];
        let kept = [
            ".env.example",
            "a/.env.sample",
            ".env.template",
            "env.rs",
            "id_map.rs",
            "id_rsa.rs",
            "id_rsa.zig",
            "id_rsa.md",
            "id_table.json",
            "key.rs",
            "pem.py",
            "credentials",
            "aws/credentials",
            "x.aws/credentials.rs",
            "identity",
            "keys/mod.rs",
            "id.rs",
            "",
        ];
        secret.iter().for_each(|path| assert!(may_hold_secret(path), "{path} may hold a secret"));
        kept.iter().for_each(|path| assert!(!may_hold_secret(path), "{path} holds none"));
    }

    #[test]
    fn ambiguous_folders_are_left_out_only_when_untracked() {
        assert!(is_left_out_folder("target", false) && !is_left_out_folder("target", true));
        assert!(is_left_out_folder("vendor", false) && is_left_out_folder("vendor", true));
        assert!(!is_left_out_folder("src", false));
    }
}
