//! Rules for files that may hold a secret: by their names, and by keys in their text.
//!
//! No ignore file includes such a file again. The user's own configuration may, path by path; a repository's may not.
//! `docs/secrets.md` explains which names are in these tables, which are not, and why.

use codecompass_model::ids::content_hash;
use codecompass_store::SecretRules;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use memchr::memmem;

use super::SourceError;

/// Raised when these rules change: files that newly count as secret are then removed from every store.
const RULES_VERSION: u32 = 2;

/// File names, sorted. All tables are in lower case, and names are compared in lower case.
const SECRET_NAMES: &[&str] = &[
    ".bash_history",
    ".boto",
    ".cifs-credentials",
    ".dockercfg",
    ".dockerconfigjson",
    ".fetchmailrc",
    ".git-credentials",
    ".htdigest",
    ".htpasswd",
    ".irb_history",
    ".msmtprc",
    ".my.cnf",
    ".mylogin.cnf",
    ".mysql_history",
    ".netrc",
    ".node_repl_history",
    ".npmrc",
    ".passwd",
    ".password",
    ".pgpass",
    ".psql_history",
    ".pypirc",
    ".python_history",
    ".rclone.conf",
    ".rediscli_history",
    ".s3cfg",
    ".secret",
    ".secrets",
    ".sentryclirc",
    ".smbcredentials",
    ".terraformrc",
    ".vault-token",
    ".zsh_history",
    "_netrc",
    "credentials.tfrc.json",
    "htpasswd",
    "kubeconfig",
    "kubeconfig.json",
    "kubeconfig.yaml",
    "kubeconfig.yml",
    "local.settings.json",
    "password.csv",
    "password.txt",
    "passwords.csv",
    "pgpass.conf",
    "rclone.conf",
    "terraform.rc",
];

/// Extensions of keys, key stores and password stores, sorted.
const SECRET_EXTENSIONS: &[&str] = &[
    "1pux",
    "agekey",
    "bcfks",
    "bks",
    "jceks",
    "jks",
    "kdb",
    "kdbx",
    "key",
    "keychain",
    "keychain-db",
    "keystore",
    "keytab",
    "kubeconfig",
    "ovpn",
    "p12",
    "p8",
    "pem",
    "pfx",
    "pkcs12",
    "ppk",
    "psafe3",
    "tfstate",
];

/// Files in folders with these names, at any depth; `*` means everything below the folder. A folder may consist of two
/// steps.
const SECRET_FOLDERS: &[(&str, &[&str])] = &[
    (".aws", &["credentials"]),
    (".azure", &["accesstokens.json", "azureprofile.json", "msal_token_cache.json"]),
    (".bundle", &["config"]),
    (".cargo", &["credentials", "credentials.toml"]),
    (".composer", &["auth.json"]),
    (".config/gcloud", &["*"]),
    (".config/gh", &["hosts.yml"]),
    (".docker", &["config.json"]),
    (".gem", &["credentials"]),
    (".gnupg", &["*"]),
    (".kube", &["config"]),
    (".m2", &["settings.xml", "settings-security.xml"]),
    (".password-store", &["*"]),
    (".ssh", &["*"]),
    (".vscode", &["sftp.json"]),
];

/// Name prefixes.
const NAME_PREFIXES: &[&str] = &[".dev.vars", ".vault-pass", ".vault_pass", "vault-pass", "vault_pass"];

/// Name prefixes of JSON files.
const JSON_NAME_PREFIXES: &[&str] = &["client_secret", "service-account", "service_account", "serviceaccount"];

/// Words that mark data as secret, if they are a file's name or the first or last part of it.
const SECRET_WORDS: &[&str] = &["credential", "credentials", "secret", "secrets"];

/// Extensions of data files. Code and prose with the name `secrets` are about secrets and contain none.
const DATA_EXTENSIONS: &[&str] =
    &["cfg", "conf", "csv", "env", "ini", "json", "json5", "plist", "properties", "toml", "txt", "xml", "yaml", "yml"];

/// Words that mark a file as a template to be filled in.
const TEMPLATE_WORDS: &[&str] = &[
    "default", "defaults", "dist", "dummy", "example", "examples", "sample", "schema", "skel", "template", "tmpl",
    "tpl",
];

/// The rules, with the user's exceptions.
#[derive(Clone, Debug)]
pub struct Secrets {
    allowed: Option<Gitignore>,
    key: i64,
}

impl Secrets {
    /// Creates the rules without the paths that these gitignore lines match, relative to the root.
    pub fn with_allowed(allowed: &[String]) -> Result<Self, SourceError> {
        let mut builder = GitignoreBuilder::new(".");
        for pattern in allowed {
            builder
                .add_line(None, pattern)
                .map_err(|error| SourceError::BadPattern { pattern: pattern.clone(), what: error.to_string() })?;
        }
        let hash = content_hash(&[&RULES_VERSION.to_le_bytes(), allowed.join("\n").as_bytes()]);
        let allowed = builder.build().ok().filter(|matcher| !matcher.is_empty());
        // 0 is reserved for stores that were never scanned.
        Ok(Self { allowed, key: ((hash >> 1) as i64).max(1) })
    }

    /// Whether the user allowed a path, or a folder that contains it.
    pub fn is_allowed(&self, path: &str) -> bool {
        self.allowed.as_ref().is_some_and(|allowed| allowed.matched_path_or_any_parents(path, false).is_ignore())
    }
}

impl SecretRules for Secrets {
    fn key(&self) -> i64 {
        self.key
    }

    fn is_secret_path(&self, path: &str) -> bool {
        may_hold_secret(path) && !self.is_allowed(path)
    }

    /// Whether texts of this language are scanned. Code with resolver rules is not: a test may contain a key.
    fn scans_language(&self, language: &str) -> bool {
        !codecompass_lang::has_rules(language)
    }

    fn has_secret(&self, path: &str, language: &str, text: &str) -> bool {
        self.scans_language(language) && has_private_key(text.as_bytes()) && !self.is_allowed(path)
    }
}

/// Whether a file may hold a secret, by its path.
fn may_hold_secret(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let (folder, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, Some(extension)),
        _ => (name, None),
    };
    let is_listed = SECRET_NAMES.binary_search(&name).is_ok()
        || extension.is_some_and(|extension| SECRET_EXTENSIONS.binary_search(&extension).is_ok())
        || NAME_PREFIXES.iter().any(|beginning| name.starts_with(beginning))
        || name.contains(".tfstate.")
        || (name.starts_with("ssh_host_") && name.ends_with("_key"))
        || (stem.starts_with("id_") && is_key_name(stem, extension))
        || (folder.contains('.') && is_in_folder(folder, name));
    is_listed || (is_settings(name, stem, extension) && !is_template(name))
}

/// Settings that contain secrets; a template for them is often in the same folder.
fn is_settings(name: &str, stem: &str, extension: Option<&str>) -> bool {
    let has_word = || {
        let parts = |at: usize| stem.split(['.', '-', '_']).nth(at);
        let last = stem.rsplit(['.', '-', '_']).next();
        parts(0).into_iter().chain(last).any(|part| SECRET_WORDS.contains(&part))
    };
    let is_data = |extension: &str| DATA_EXTENSIONS.contains(&extension);
    name.starts_with(".env")
        || matches!(extension, Some("env" | "tfvars"))
        || name.ends_with(".tfvars.json")
        || (extension == Some("json")
            && (JSON_NAME_PREFIXES.iter().any(|beginning| name.starts_with(beginning))
                || name.contains("firebase-adminsdk")))
        || (extension.is_some_and(is_data) && has_word())
}

/// Whether a name marks a template: `.env.example`, `sample.env`, `secrets.template.yml`.
fn is_template(name: &str) -> bool {
    let is_kind = |part: &&str| DATA_EXTENSIONS.contains(part) || matches!(*part, "tfvars");
    let parts: Vec<&str> = name.split(['.', '-', '_']).filter(|part| !part.is_empty()).collect();
    let said = parts.iter().rev().skip_while(|part| is_kind(part)).copied().next();
    let ends = [parts.first().copied(), said];
    ends.into_iter().flatten().any(|part| TEMPLATE_WORDS.contains(&part))
}

fn is_in_folder(folder: &str, name: &str) -> bool {
    let is_below = |known: &str| {
        let below = folder.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        below || folder.contains(&format!("/{known}/")) || ends_with_folder(folder, known)
    };
    SECRET_FOLDERS.iter().any(|(known, names)| match names {
        ["*"] => is_below(known),
        names => names.contains(&name) && (folder == *known || ends_with_folder(folder, known)),
    })
}

fn ends_with_folder(folder: &str, known: &str) -> bool {
    folder.strip_suffix(known).is_some_and(|rest| rest.ends_with('/'))
}

/// Whether a name is `id_*`, the name of an SSH key, and the rest of it does not look like a source file: without an
/// extension, as a public key or as a copy. The four classic names are secret with any extension except those of code.
fn is_key_name(stem: &str, extension: Option<&str>) -> bool {
    const SSH_KEY_NAMES: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
    const COPY_SUFFIXES: &[&str] = &["pub", "bak", "backup", "old", "orig", "save", "ppk", "priv", "enc", "gpg"];
    match extension {
        None => true,
        Some(extension) => {
            COPY_SUFFIXES.contains(&extension) || (SSH_KEY_NAMES.contains(&stem) && !is_source(extension))
        }
    }
}

/// Whether the extension is that of code, or of a text about keys.
fn is_source(extension: &str) -> bool {
    codecompass_lang::is_code_extension(extension) || extension == "md"
}

/// The maximum distance of the key material from its header: an encrypted key has a few header lines in between.
const KEY_HEADER_WINDOW: usize = 300;

/// The minimum length of a line of key material. Texts about keys have dots there.
const MIN_KEY_LINE: usize = 32;

/// Whether a text contains a private key: its header, followed by something that can be key material.
fn has_private_key(bytes: &[u8]) -> bool {
    let is_material = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    let has_material = |rest: &[u8]| rest.split(|byte| !is_material(byte)).any(|run| run.len() >= MIN_KEY_LINE);
    let window = |at: usize| &bytes[at..bytes.len().min(at + KEY_HEADER_WINDOW)];
    let is_header = |at: usize| {
        let kind = window(at).split(|byte| *byte == b'-').next().unwrap_or_default();
        let is_private = kind.ends_with(b"PRIVATE KEY") || kind.ends_with(b"PRIVATE KEY BLOCK");
        is_private && has_material(&window(at)[kind.len()..])
    };
    let behind = |marker: &'static [u8]| memmem::find_iter(bytes, marker).map(|at| at + marker.len());
    behind(b"-----BEGIN ").any(is_header)
        || bytes.starts_with(b"PuTTY-User-Key-File-")
        || behind(b"AGE-SECRET-KEY-1")
            .any(|at| window(at).iter().take_while(|byte| is_material(byte)).count() >= MIN_KEY_LINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(
            SECRET_NAMES.is_sorted()
                && SECRET_EXTENSIONS.is_sorted()
                && DATA_EXTENSIONS.is_sorted()
                && TEMPLATE_WORDS.is_sorted()
        );
        let all = SECRET_NAMES.iter().chain(SECRET_EXTENSIONS).chain(NAME_PREFIXES).chain(JSON_NAME_PREFIXES);
        assert!(all.into_iter().all(|word| *word == word.to_ascii_lowercase()));
    }

    #[test]
    fn secret_names_are_distinguished_from_code() {
        let secret = [
            // Environments.
            ".env",
            ".env.local",
            ".envrc",
            "a/.env.production",
            "prod.env",
            "deploy/Staging.ENV",
            ".env.example.local",
            ".dev.vars",
            ".dev.vars.production",
            // Keys and stores of keys.
            "server.pem",
            "a/b/tls.KEY",
            "x.p12",
            "x.pfx",
            "x.jks",
            "x.ppk",
            "x.kdbx",
            "x.kdb",
            "app.keystore",
            "AuthKey.p8",
            "krb5.keytab",
            "client.ovpn",
            "id_rsa",
            "a/id_dsa",
            "id_ecdsa",
            ".ssh/id_ed25519",
            "id_ed25519.pub",
            "id_rsa.bak",
            "id_rsa.2019",
            "id_deploy",
            "etc/ssh_host_rsa_key",
            "home/.ssh/config",
            ".ssh/keys/mine",
            "a/.gnupg/private/x",
            // Tools.
            ".netrc",
            ".npmrc",
            "a/.pgpass",
            ".aws/credentials",
            "home/.aws/credentials",
            ".docker/config.json",
            "a/.docker/config.json",
            ".dockercfg",
            ".kube/config",
            "kubeconfig",
            "prod.kubeconfig",
            ".htpasswd",
            ".vault-token",
            ".vault_pass.txt",
            ".s3cfg",
            ".my.cnf",
            ".git-credentials",
            ".gem/credentials",
            ".cargo/credentials.toml",
            ".config/gh/hosts.yml",
            "home/.config/gcloud/access_tokens.db",
            ".composer/auth.json",
            ".m2/settings.xml",
            // Terraform.
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "prod.tfvars",
            "a/prod.auto.tfvars.json",
            ".terraformrc",
            // Settings by words.
            "credentials.json",
            "config/Credentials.yaml",
            "secrets.yml",
            "secrets.yaml",
            "k8s/secret.yaml",
            "secrets.toml",
            "secrets.prod.yaml",
            "db-credentials.json",
            "application_default_credentials.json",
            "client_secret_12.apps.json",
            "client_secrets.json",
            "service-account.json",
            "service_account_key.json",
            "x-firebase-adminsdk-1.json",
            "local.settings.json",
        ];
        let kept = [
            ".env.example",
            "a/.env.sample",
            ".env.template",
            ".env.dist",
            "example.env",
            "sample-prod.env",
            "env.rs",
            "env",
            "environment.yml",
            "terraform.tfvars.example",
            "example.tfvars",
            "main.tf",
            "tfstate.go",
            "state.tfstates",
            "secrets.example.yml",
            "credentials.sample.json",
            "secrets.schema.json",
            "secret.template.yaml",
            "id_map.rs",
            "id_rsa.rs",
            "id_table.json",
            "key.rs",
            "pem.py",
            "credentials",
            "aws/credentials",
            "secrets",
            "x.aws/credentials.rs",
            "credentials.rs",
            "secrets.py",
            "secret.go",
            "src/secrets/mod.rs",
            "secrets.md",
            "secretary.json",
            "docker/config.json",
            ".docker/Dockerfile",
            "kube/config",
            ".kube/notes.md",
            "config.json",
            "auth.json",
            "appsettings.json",
            "appsettings.Production.json",
            "wp-config.php",
            ".yarnrc.yml",
            "token.json",
            "not.ssh/config",
            "a.config/gcloud/x",
            "identity",
            "keys/mod.rs",
            "id.rs",
            "keystore.rs",
            "gradle.properties",
            "docs/topics/auth/passwords.txt",
            "",
        ];
        secret.iter().for_each(|path| assert!(may_hold_secret(path), "{path} may hold a secret"));
        kept.iter().for_each(|path| assert!(!may_hold_secret(path), "{path} holds no secret"));
    }

    const BODY: &str = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MhgHcTz6sE2I2yPB";

    fn key(kind: &str) -> String {
        format!("-----BEGIN {kind}-----\n{BODY}\n-----END {kind}-----\n")
    }

    #[test]
    fn private_key_needs_header_and_material() {
        let held = [
            key("RSA PRIVATE KEY"),
            key("PRIVATE KEY"),
            key("OPENSSH PRIVATE KEY"),
            key("PGP PRIVATE KEY BLOCK"),
            format!("tls:\n  key: |\n    {}", key("EC PRIVATE KEY").replace('\n', "\n    ")),
            format!("{{\"private_key\": \"{}\"}}", key("PRIVATE KEY").replace('\n', "\\n")),
            format!("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A\n\n{BODY}\n"),
            "PuTTY-User-Key-File-3: ssh-ed25519\n".into(),
            format!("AGE-SECRET-KEY-1{}\n", "QX".repeat(29)),
        ];
        let not = [
            key("PUBLIC KEY"),
            key("CERTIFICATE"),
            "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n".into(),
            "Look for `-----BEGIN RSA PRIVATE KEY-----` in the file.".into(),
            "keys begin with AGE-SECRET-KEY-1…".into(),
            format!("{BODY}\n-----END PRIVATE KEY-----"),
        ];
        held.iter().for_each(|text| assert!(has_private_key(text.as_bytes()), "{text}"));
        not.iter().for_each(|text| assert!(!has_private_key(text.as_bytes()), "{text}"));
        let rules = Secrets::with_allowed(&[]).expect("no pattern is invalid");
        let text = key("PRIVATE KEY");
        assert!(rules.has_secret("notes.txt", "text", &text) && rules.has_secret("deploy/tls.yaml", "yaml", &text));
        assert!(!rules.has_secret("tests/tls.rs", "rust", &text) && !rules.has_secret("tls_test.go", "go", &text));
    }

    #[test]
    fn allowed_paths_are_not_secrets() {
        let rules = Secrets::with_allowed(&["testdata/**".into(), "/dev.env".into(), "fixtures/".into()])
            .expect("the patterns are valid");
        for path in ["testdata/server.pem", "testdata/x/.env", "dev.env", "b/fixtures/c/id_rsa"] {
            assert!(!rules.is_secret_path(path), "{path}");
        }
        assert!(
            rules.is_secret_path("a/dev.env")
                && rules.is_secret_path("prod.env")
                && rules.is_secret_path("a/testdata/.env")
        );
        assert!(!rules.has_secret("testdata/key.txt", "text", &key("PRIVATE KEY")));
        let keys: Vec<i64> = [&[][..], &["a"], &["a", "b"], &["ab"]]
            .map(|list: &[&str]| Secrets::with_allowed(&list.iter().map(|&line| line.to_owned()).collect::<Vec<_>>()))
            .map(|rules| rules.expect("the patterns are valid").key())
            .to_vec();
        assert!(keys.iter().all(|key| *key > 0), "{keys:?}");
        assert_eq!(keys.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "{keys:?}");
        assert!(Secrets::with_allowed(&["{a".into()]).is_err());
    }
}
