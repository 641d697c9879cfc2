//! `codecompass config show`: the values that hold, and where each came from.

use serde_json::{Map, Value, json};

use crate::cli::{Common, ConfigArgs, ConfigCommand};
use crate::error::AppError;
use crate::escape::shown;
use crate::output::{Answer, style};
use crate::session::Session;

pub(crate) fn run(common: &Common, args: &ConfigArgs) -> Result<Answer, AppError> {
    let ConfigCommand::Show = args.what;
    let session = Session::open(common, None)?;
    let config = &session.config;
    let mut values = Map::new();
    let mut text = String::new();
    for (key, value, source) in config.shown() {
        let as_text = value.to_string();
        text +=
            &format!("{} = {}  {}\n", style::name(key), shown(&as_text), style::dim(&shown(&format!("# {source}"))));
        values.insert(key.to_owned(), json!({ "value": value, "source": source }));
    }
    text += &config.warnings.iter().map(|warning| format!("warning: {}\n", shown(warning))).collect::<String>();
    let target = session.target(None)?;
    let json = json!({
        "config": Value::Object(values),
        "data_folder": session.data_folder().display().to_string(),
        "metadata": session.metadata(&target, None).to_json(),
    });
    Ok(Answer { text, json, code: 0 })
}
