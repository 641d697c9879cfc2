//! Configuration: which value holds, and where it came from.
//!
//! Strongest first: flags, `CODECOMPASS_*` variables, the file named by `--config` (in place of the user's own), the
//! user's `config.toml` in the data folder, the repository's `.codecompass/config.toml`, defaults. The repository's
//! file is foreign input: it may add ignore patterns and set `[query]` defaults; anything else in it is a warning.
//! An unknown key anywhere else is an error that names it.

use std::path::Path;

use toml::{Table, Value};

use crate::error::{AppError, Code};

/// Every key there is. One line here, one field in [`Config`], one arm in [`Config::set`].
const KEYS: &[Key] = &[
    Key { name: "index.max_file_kib", repository: false },
    Key { name: "index.threads", repository: false },
    Key { name: "index.memory_mib", repository: false },
    Key { name: "index.ignore", repository: true },
    Key { name: "query.freshness_policy", repository: true },
    Key { name: "query.ranking_explain_level", repository: true },
    Key { name: "query.max_response_bytes", repository: true },
];

struct Key {
    name: &'static str,
    /// Whether a repository's own file may set it.
    repository: bool,
}

/// The values that hold.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// Files larger than this are left out.
    pub(crate) max_file_kib: u64,
    /// Threads that read and extract; 0 means one per core.
    pub(crate) threads: usize,
    /// What the writer may hold: the text index's arena and the batch that waits to be written.
    pub(crate) memory_mib: u64,
    /// gitignore lines on top of the built-in folders.
    pub(crate) ignore: Vec<String>,
    /// What a query does when the index is behind.
    pub(crate) freshness_policy: FreshnessPolicy,
    /// What was found in the repository's file and not taken.
    pub(crate) warnings: Vec<String>,
}

/// What a query does when the index is behind its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FreshnessPolicy {
    /// Refuse.
    Strict,
    /// Answer, and bring the index up to date; a command does that first.
    Balanced,
    /// Answer.
    BestEffort,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_file_kib: 1024,
            threads: 0,
            memory_mib: 80,
            ignore: Vec::new(),
            freshness_policy: FreshnessPolicy::Balanced,
            warnings: Vec::new(),
        }
    }
}

impl Config {
    /// Puts the layers together. `variable` looks up an environment variable.
    pub(crate) fn load(
        named: Option<&Path>,
        user: &Path,
        repository: Option<&Path>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, AppError> {
        let mut config = Self::default();
        if let Some(path) = repository.filter(|path| path.is_file()) {
            config.take_repository(path);
        }
        match named {
            Some(path) => config.take_file(path)?,
            None if user.is_file() => config.take_file(user)?,
            None => {}
        }
        for key in KEYS {
            let name = format!("CODECOMPASS_{}", key.name.replace('.', "_").to_uppercase());
            if let Some(text) = variable(&name) {
                config.set(key.name, &parse_variable(&text)).map_err(|what| invalid(&name, &what))?;
            }
        }
        Ok(config)
    }

    fn take_file(&mut self, path: &Path) -> Result<(), AppError> {
        let place = path.display().to_string();
        for (key, value) in read(path).map_err(|what| invalid(&place, &what))? {
            if !KEYS.iter().any(|known| known.name == key) {
                let names: Vec<&str> = KEYS.iter().map(|known| known.name).collect();
                return Err(invalid(&place, &format!("unknown key {key}; the keys are {}", names.join(", "))));
            }
            self.set(&key, &value).map_err(|what| invalid(&place, &what))?;
        }
        Ok(())
    }

    fn take_repository(&mut self, path: &Path) {
        let place = ".codecompass/config.toml";
        let pairs = match read(path) {
            Ok(pairs) => pairs,
            Err(what) => {
                return self.warnings.push(format!("{place}: {what}; the file is not used"));
            }
        };
        for (key, value) in pairs {
            let outcome = match KEYS.iter().find(|known| known.name == key) {
                Some(known) if known.repository => self.set(&key, &value),
                Some(_) => Err(format!("{key} can not be set by a repository")),
                None => Err(format!("unknown key {key}")),
            };
            if let Err(what) = outcome {
                self.warnings.push(format!("{place}: {what}"));
            }
        }
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), String> {
        match key {
            "index.max_file_kib" => self.max_file_kib = number(key, value, 1, 1 << 20)?,
            "index.threads" => self.threads = number(key, value, 0, 256)? as usize,
            "index.memory_mib" => self.memory_mib = number(key, value, 40, 16_384)?,
            "index.ignore" => self.ignore.extend(strings(key, value)?),
            "query.freshness_policy" => {
                self.freshness_policy = match word(key, value, &["strict", "balanced", "best_effort"])? {
                    "strict" => FreshnessPolicy::Strict,
                    "best_effort" => FreshnessPolicy::BestEffort,
                    _ => FreshnessPolicy::Balanced,
                }
            }
            "query.ranking_explain_level" => drop(word(key, value, &["off", "basic", "full"])?),
            "query.max_response_bytes" => drop(number(key, value, 1024, 1 << 24)?),
            _ => return Err(format!("unknown key {key}")),
        }
        Ok(())
    }
}

fn invalid(place: &str, what: &str) -> AppError {
    AppError::new(Code::InvalidInput, format!("{place}: {what}."))
}

/// The file's values with dotted keys.
fn read(path: &Path) -> Result<Vec<(String, Value)>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let table: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_owned())?;
    let mut pairs = Vec::new();
    for (section, value) in table {
        match value {
            Value::Table(inner) => {
                pairs.extend(inner.into_iter().map(|(key, value)| (format!("{section}.{key}"), value)));
            }
            value => pairs.push((section, value)),
        }
    }
    Ok(pairs)
}

fn parse_variable(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), Value::Integer)
}

fn number(key: &str, value: &Value, least: u64, most: u64) -> Result<u64, String> {
    let found = value.as_integer().and_then(|number| u64::try_from(number).ok());
    found
        .filter(|number| (least..=most).contains(number))
        .ok_or_else(|| format!("{key} must be a number from {least} to {most}"))
}

fn strings(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let wrong = || format!("{key} must be a list of strings");
    match value {
        Value::String(text) => Ok(text.split(',').map(|part| part.trim().to_owned()).collect()),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned).ok_or_else(wrong)).collect(),
        _ => Err(wrong()),
    }
}

fn word<'v>(key: &str, value: &'v Value, allowed: &[&str]) -> Result<&'v str, String> {
    value
        .as_str()
        .filter(|word| allowed.contains(word))
        .ok_or_else(|| format!("{key} must be one of {}", allowed.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(named: &str, repository: &str, variables: &[(&str, &str)]) -> Result<Config, AppError> {
        let dir = tempfile::tempdir().expect("a temp folder");
        let (named_path, repository_path) = (dir.path().join("named.toml"), dir.path().join("repository.toml"));
        std::fs::write(&named_path, named).expect("it can be written");
        std::fs::write(&repository_path, repository).expect("it can be written");
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Config::load(Some(&named_path), Path::new("/nonexistent"), Some(&repository_path), &variable)
    }

    #[test]
    fn variables_beat_files_and_files_beat_the_repository() {
        let config = load(
            "[query]\nfreshness_policy = \"strict\"\n[index]\nthreads = 3\nmemory_mib = 100",
            "[query]\nfreshness_policy = \"best_effort\"\n[index]\nignore = [\"/big\"]",
            &[("CODECOMPASS_INDEX_THREADS", "5")],
        )
        .expect("all of it is valid");
        assert_eq!(config.freshness_policy, FreshnessPolicy::Strict);
        assert_eq!((config.threads, config.memory_mib), (5, 100));
        assert_eq!(config.ignore, ["/big"]);
        assert!(config.warnings.is_empty());
    }

    #[test]
    fn a_repository_may_only_ignore_and_set_query_defaults() {
        let config = load("", "evil = 1\n[index]\nthreads = 9\nmax_file_kib = 5", &[]).expect("a warning is no error");
        assert_eq!((config.threads, config.max_file_kib), (0, 1024));
        assert_eq!(config.warnings.len(), 3);
    }

    #[test]
    fn unknown_keys_and_wrong_values_name_the_key() {
        for (named, key) in [
            ("[index]\nthread = 1", "index.thread"),
            ("[index]\nthreads = \"x\"", "index.threads"),
            ("[query]\nfreshness_policy = \"eager\"", "query.freshness_policy"),
            ("what = 2", "what"),
        ] {
            let error = load(named, "", &[]).expect_err("it is wrong");
            assert_eq!(error.code, Code::InvalidInput);
            assert!(error.message.contains(key), "{}", error.message);
        }
    }
}
