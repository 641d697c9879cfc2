//! `codecompass languages`: the support for each language.

use codecompass_lang::{LanguageSupport, supported_languages};
use serde_json::{Value, json};

use crate::metadata::{Metadata, MetadataText};
use crate::output::{Answer, style};

pub(crate) fn run() -> Answer {
    let all = supported_languages();
    let languages: Vec<Value> = all.iter().map(to_json).collect();
    Answer {
        text: text(&all),
        json: json!({ "languages": languages, "metadata": Metadata::unknown().to_json() }),
        code: 0,
    }
}

fn to_json(one: &LanguageSupport) -> Value {
    let is_read = one.depth.is_some();
    let mut value = json!({
        "name": one.name,
        "extensions": one.extensions,
        "file_names": one.file_names,
        "symbols": is_read || one.landmarks,
        "references": is_read,
        "resolution": one.depth.map(|depth| depth.as_str()),
    });
    if !one.measured.is_empty() {
        value["measured"] = json!(one.measured);
    }
    value
}

/// A row for each language with a grammar, one for all with landmarks, and one for all others.
fn text(all: &[LanguageSupport]) -> String {
    let mut text = String::new();
    for one in all {
        let Some(depth) = one.depth else { continue };
        let extensions: Vec<String> = one.extensions.iter().map(|extension| format!(".{extension}")).collect();
        text += &format!("{:<12} {:<7} {}\n", one.name, depth.as_str(), extensions.join(" "));
        if !one.measured.is_empty() {
            text += &format!("{:<20} {}\n", "", style::dim(one.measured));
        }
    }
    let texts = |landmarks: bool| {
        let all = all.iter().filter(|one| one.depth.is_none() && one.landmarks == landmarks);
        all.map(|one| one.name).collect::<Vec<_>>().join(", ")
    };
    text += &format!("text search, with headings, keys and similar landmarks as symbols: {}\n", texts(true));
    text += &format!("text search only: {}\n", texts(false));
    text += "types: references are resolved by scopes, imports and receiver types; scopes: without receiver types\n";
    text
}
