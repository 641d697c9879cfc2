//! The versions of the program, of the stored format and of the extracted facts.

use codecompass_store::SCHEMA_VERSION;

/// The version, with the commit if the build knew it.
pub(crate) fn short() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match commit() {
        Some(commit) => format!("{version} ({})", commit.get(..12).unwrap_or(commit)),
        None => version.to_owned(),
    }
}

/// The same with the schema, and the languages with their facts versions.
pub(crate) fn long() -> String {
    let languages: Vec<String> = codecompass_lang::versions()
        .into_iter()
        .map(|(name, facts_version)| format!("{name} {facts_version}"))
        .collect();
    format!("{}\nschema {SCHEMA_VERSION}\ngrammars {}", short(), languages.join(", "))
}

/// The commit of the build, if the build script found it.
fn commit() -> Option<&'static str> {
    option_env!("CODECOMPASS_COMMIT").filter(|commit| !commit.is_empty())
}
