//! OpenCode and Kilo, a fork of it: many files that are merged, disabled servers, hidden tools.

use std::path::PathBuf;

use globset::GlobBuilder;
use serde_json::{Map, Value, json};

use super::super::clients::ENTRY_NAME;
use super::super::jsonc;
use super::{ClientPlace, ClientState, FoundEntry, Scope, merge};

/// The differences between the two.
pub(super) struct Variant {
    /// The folder below `~/.config`.
    folder: &'static str,
    /// The names of the files, the strongest last.
    files: &'static [&'static str],
    /// The folders in a project and in the home folder, the strongest last.
    folders: &'static [&'static str],
    /// The prefix of the variables.
    prefix: &'static str,
}

pub(super) const OPENCODE: Variant = Variant {
    folder: "opencode",
    files: &["opencode.json", "opencode.jsonc"],
    folders: &[".opencode"],
    prefix: "OPENCODE",
};
pub(super) const KILO: Variant = Variant {
    folder: "kilo",
    files: &["opencode.json", "opencode.jsonc", "kilo.json", "kilo.jsonc"],
    folders: &[".opencode", ".kilocode", ".kilo"],
    prefix: "KILO",
};

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>, variant: &Variant) {
    let Some(shape) = state.shape else { return };
    let (mut config, mut source) = (Value::Object(Map::new()), None);
    for (path, scope) in layers(place, variant) {
        let layer = state.load_json(&path, place);
        if layer["mcp"].get(ENTRY_NAME).is_some() {
            source = Some((path, scope));
        }
        if layer.is_object() {
            merge(&mut config, layer);
        }
    }
    let content_variable = format!("{}_CONFIG_CONTENT", variant.prefix);
    let content = place.variable(&content_variable).and_then(|text| text.into_os_string().into_string().ok());
    if let Some(layer) = content.and_then(|text| jsonc::parse(&text).ok()).map(|root| root.value()) {
        if layer["mcp"].get(ENTRY_NAME).is_some() {
            source = Some((PathBuf::from(format!("${content_variable}")), Scope::User));
        }
        merge(&mut config, layer);
    }
    state.entries.clear();
    let Some((file, scope)) = source else { return };
    let value = config["mcp"][ENTRY_NAME].clone();
    state.entries.push(FoundEntry { file, shape, value, scope });
    state.check_switch("enabled", false, place);
    check_hidden(state, &config, place);
}

/// The files that are merged, the strongest last.
fn layers(place: &ClientPlace<'_>, variant: &Variant) -> Vec<(PathBuf, Scope)> {
    let named = |name: &str| place.variable(&format!("{}_{name}", variant.prefix));
    let above = place.variable("XDG_CONFIG_HOME").filter(|folder| folder.is_absolute());
    let global = above.unwrap_or_else(|| place.user.home.join(".config")).join(variant.folder);
    let files = |folder: PathBuf, scope: Scope| variant.files.iter().map(move |name| (folder.join(name), scope));
    let mut layers = vec![(global.join("config.json"), Scope::User)];
    layers.extend(files(global, Scope::User));
    layers.extend(named("CONFIG").map(|path| (path, Scope::User)));
    if let Some(root) = place.project {
        layers.extend(files(root.to_owned(), Scope::Project));
        layers.extend(variant.folders.iter().flat_map(|folder| files(root.join(folder), Scope::Project)));
    }
    layers.extend(variant.folders.iter().flat_map(|folder| files(place.user.home.join(folder), Scope::User)));
    layers.extend(named("CONFIG_DIR").into_iter().flat_map(|folder| files(folder, Scope::User)));
    layers
}

/// Checks the patterns that hide tools; the last one that matches decides.
fn check_hidden(state: &mut ClientState, config: &Value, place: &ClientPlace<'_>) {
    for (key, hiding) in [("tools", json!(false)), ("permission", json!("deny"))] {
        let patterns: Vec<(&String, &Value)> = config[key].as_object().into_iter().flatten().collect();
        let is_hidden = |tool: &str| {
            let name = format!("{ENTRY_NAME}_{tool}");
            patterns
                .iter()
                .rev()
                .find(|(pattern, _)| matches(pattern, &name))
                .is_some_and(|(_, value)| **value == hiding)
        };
        state.check_tools(&format!("`{key}` in the configuration"), place, is_hidden);
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    GlobBuilder::new(pattern).build().is_ok_and(|glob| glob.compile_matcher().is_match(name))
}
