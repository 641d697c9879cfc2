//! `codecompass config show` and `config path`: the effective values, their sources, and the configuration files.

use std::path::Path;

use codecompass_index::source::Workspace;
use codecompass_wire::Named;
use codecompass_wire::commands::config as wire;

use crate::cli::{Common, ConfigArgs, ConfigCommand};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, style};
use codecompass_workspace::session::{Session, data_folder};

pub(crate) fn run(common: &Common, args: &ConfigArgs) -> Result<Answer, AppError> {
    match args.what {
        ConfigCommand::Show => show(common),
        ConfigCommand::Path => path(common),
    }
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
