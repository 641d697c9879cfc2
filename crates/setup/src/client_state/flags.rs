//! Clients whose entries have a field that switches a server off, and nothing else that decides.

use super::{ClientPlace, ClientState};

/// The field, and the value that switches the server off.
const SWITCHES: &[(&str, &str, bool)] = &[
    ("cline", "disabled", true),
    ("droid", "disabled", true),
    ("goose", "enabled", false),
    ("kimi", "enabled", false),
    ("kiro", "disabled", true),
    ("windsurf", "disabled", true),
    ("zed", "enabled", false),
];

pub(super) fn examine(state: &mut ClientState, place: &ClientPlace<'_>, client: &str) {
    for (_, field, off) in SWITCHES.iter().filter(|(name, ..)| *name == client) {
        state.check_switch(field, *off, place);
    }
}
