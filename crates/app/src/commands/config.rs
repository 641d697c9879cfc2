//! `codecompass config`: the effective values, their sources, the configuration files, and changes to the user's file.

use std::path::{Path, PathBuf};

use codecompass_index::source::Workspace;
use codecompass_store::private;
use codecompass_wire::Named;
use codecompass_wire::commands::config as wire;

use serde_json::json;

use crate::cli::{Common, ConfigArgs, ConfigCommand};
use codecompass_workspace::config::Config;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::launch;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, style};
use codecompass_workspace::session::{Session, data_folder};

pub(crate) fn run(common: &Common, args: &ConfigArgs) -> Result<Answer, AppError> {
    match &args.what {
        ConfigCommand::Show => show(common),
        ConfigCommand::Path => path(common),
        ConfigCommand::Set { key, value } => set(common, key, value),
        ConfigCommand::Edit => edit(common),
    }
}

/// The user's file.
fn user_file(common: &Common) -> Result<PathBuf, AppError> {
    let data = data_folder()?;
    private::create_folder(&data).map_err(|error| unwritable(&data, &error))?;
    Ok(common.config.clone().unwrap_or_else(|| data.join("config.toml")))
}

fn unwritable(path: &Path, error: &std::io::Error) -> AppError {
    AppError::new(Code::InvalidInput, format!("Cannot write {}: {error}.", path.display()))
}

/// Sets a key in the user's file. The file is replaced only if it is valid with the new value.
fn set(common: &Common, key: &str, value: &str) -> Result<Answer, AppError> {
    let file = user_file(common)?;
    let before = match std::fs::read_to_string(&file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unwritable(&file, &error)),
        text => text.unwrap_or_default(),
    };
    let after = with_setting(&before, key, value).ok_or_else(|| {
        AppError::new(Code::InvalidInput, format!("{key} is not a key with one value on one line."))
            .hint("`codecompass config show` lists the keys; `codecompass config edit` opens the file.")
    })?;
    let fresh = file.with_extension("toml.new");
    private::write(&fresh, after.as_bytes()).map_err(|error| unwritable(&fresh, &error))?;
    if let Err(error) = Config::load(Some(&fresh), &file, None, &|_| None) {
        let _ = std::fs::remove_file(&fresh);
        let (new, old) = (fresh.display().to_string(), file.display().to_string());
        return Err(error.map_text(&|text| text.replace(&new, &old)));
    }
    std::fs::rename(&fresh, &file).map_err(|error| unwritable(&file, &error))?;
    changed(&file, format!("Set {key} in"))
}

/// Opens the user's file in an editor, and checks it afterwards.
fn edit(common: &Common) -> Result<Answer, AppError> {
    let file = user_file(common)?;
    private::ensure_file(&file).map_err(|error| unwritable(&file, &error))?;
    launch::edit_file(&file).map_err(|error| {
        AppError::new(Code::InvalidInput, format!("The editor failed: {error}."))
            .hint("Set EDITOR to the program that you edit files with.")
    })?;
    Config::load(Some(&file), &file, None, &|_| None)?;
    changed(&file, "Checked".into())
}

fn changed(file: &Path, what: String) -> Result<Answer, AppError> {
    let path = file.display().to_string();
    let text = format!("{what} {}\n", style::path(&escape_control(&path)));
    Ok(Answer { text, json: json!({ "config_file": path, "metadata": Metadata::unknown() }), code: 0 })
}

/// The text of a file with a value for a key, on the line of its previous value or in its section; `None` if the key has
/// no section, or its previous value continues on the next line.
fn with_setting(text: &str, key: &str, value: &str) -> Option<String> {
    let (section, name) = key.split_once('.')?;
    let is_plain = |word: &str| !word.is_empty() && word.chars().all(|char| char.is_alphanumeric() || char == '_');
    if !is_plain(section) || !is_plain(name) {
        return None;
    }
    let is_raw =
        value.parse::<i64>().is_ok() || matches!(value, "true" | "false") || value.starts_with(['[', '{', '"']);
    // A string of JSON is one of TOML.
    let value = if is_raw { value.to_owned() } else { serde_json::to_string(value).ok()? };
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let (mut current, mut header) = (String::new(), None);
    for at in 0..lines.len() {
        let line = lines[at].trim();
        if line.starts_with('[') {
            current = line.trim_matches(['[', ']', ' ']).to_owned();
            if current == section {
                header = Some(at);
            }
            continue;
        }
        let Some((known, old)) = line.split_once('=') else { continue };
        if (current == section && known.trim() == name) || (current.is_empty() && known.trim() == key) {
            if old.trim().starts_with('[') && !old.contains(']') || old.contains("\"\"\"") {
                return None;
            }
            lines[at] = format!("{} = {value}", known.trim());
            return Some(lines.join("\n") + "\n");
        }
    }
    let line = format!("{name} = {value}");
    match header {
        Some(at) => lines.insert(at + 1, line),
        None => {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend([format!("[{section}]"), line]);
        }
    }
    Some(lines.join("\n") + "\n")
}

/// The files in order of precedence, including missing and unreadable ones.
fn path(common: &Common) -> Result<Answer, AppError> {
    let data = data_folder()?;
    let user = common.config.clone().unwrap_or_else(|| data.join("config.toml"));
    let home = std::env::home_dir();
    let asked = common.workspace.as_deref().unwrap_or(Path::new("."));
    let repository = Workspace::discover(asked, home.as_deref()).ok();
    let repository = repository.map(|workspace| workspace.root.join(".codecompass/config.toml"));
    let mut text = String::new();
    for (name, path) in [("yours", Some(&user)), ("repository", repository.as_ref())] {
        let Some(path) = path else { continue };
        let absent = if path.is_file() { String::new() } else { style::dim("  # missing") };
        text +=
            &format!("{} = {}{absent}\n", style::name(name), style::path(&escape_control(&path.display().to_string())));
    }
    text += &format!("{} = {}\n", style::name("data"), style::path(&escape_control(&data.display().to_string())));
    let answer = wire::Path {
        config_file: user.display().to_string(),
        repository_config_file: repository.map(|path| path.display().to_string()),
        data_folder: data.display().to_string(),
        metadata: Metadata::unknown(),
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

fn show(common: &Common) -> Result<Answer, AppError> {
    let session = Session::open(&common.session_options(), None)?;
    let config = &session.config;
    let mut values = Vec::new();
    let mut text = String::new();
    for (key, value, source) in config.entries() {
        let as_text = serde_json::to_string(&value).unwrap_or_default();
        text += &format!(
            "{} = {}  {}\n",
            style::name(key),
            escape_control(&as_text),
            style::dim(&escape_control(&format!("# {source}")))
        );
        values.push((key.into(), wire::Setting { value, source }));
    }
    text +=
        &config.warnings.iter().map(|warning| format!("warning: {}\n", escape_control(warning))).collect::<String>();
    let target = session.target(None)?;
    let answer = wire::Show {
        config: Named(values),
        data_folder: session.data_folder().display().to_string(),
        metadata: session.metadata(&target, None),
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

#[cfg(test)]
mod tests {
    use super::with_setting;

    #[test]
    fn a_setting_replaces_its_line_or_joins_its_section() {
        let table: &[(&str, &str, &str, Option<&str>)] = &[
            ("", "mcp.answers", "text", Some("[mcp]\nanswers = \"text\"\n")),
            ("# mine\n[mcp]\nanswers = \"json\"\n", "mcp.answers", "text", Some("# mine\n[mcp]\nanswers = \"text\"\n")),
            (
                "[index]\nthreads = 2\n\n[mcp]\n",
                "index.memory_mib",
                "90",
                Some("[index]\nmemory_mib = 90\nthreads = 2\n\n[mcp]\n"),
            ),
            ("index.threads = 2\n", "index.threads", "3", Some("index.threads = 3\n")),
            (
                "[index]\nthreads = 2\n",
                "history.enabled",
                "false",
                Some("[index]\nthreads = 2\n\n[history]\nenabled = false\n"),
            ),
            ("[index]\nignore = [\n  \"a\",\n]\n", "index.ignore", "b", None),
            ("", "threads", "1", None),
            ("", "index.a]b", "1", None),
        ];
        for (text, key, value, expected) in table {
            assert_eq!(with_setting(text, key, value).as_deref(), *expected, "{text:?} {key}");
        }
    }
}
