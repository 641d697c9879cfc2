//! `codecompass languages`: the support for each language.

use codecompass_lang::{LanguageSupport, supported_languages};
use codecompass_wire::commands::reference as wire;

use codecompass_workspace::error::AppError;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, style};

pub(crate) fn run() -> Result<Answer, AppError> {
    let all = supported_languages();
    let answer = wire::Languages { languages: all.iter().map(language).collect(), metadata: Metadata::unknown() };
    Ok(Answer { text: text(&all), ..Answer::from_wire(&answer, 0)? })
}

fn language(one: &LanguageSupport) -> wire::Language {
    let is_read = one.depth.is_some();
    wire::Language {
        name: one.name.into(),
        extensions: one.extensions.iter().map(|extension| (*extension).into()).collect(),
        file_names: one.file_names.iter().map(|name| (*name).into()).collect(),
        symbols: is_read || one.landmarks,
        references: is_read,
        resolution: one.depth.map(|depth| depth.as_str().into()),
        measured: (!one.measured.is_empty()).then(|| one.measured.into()),
    }
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
