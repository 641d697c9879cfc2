//! Links in a terminal (OSC 8): a path opens its file.
//!
//! A terminal that does not know the sequence may print it, so links are used only where a variable names a terminal
//! that supports them, and not inside a multiplexer.

use std::path::Path;

/// Ends a link.
pub(crate) const CLOSE: &str = "\u{1b}]8;;\u{1b}\\";

const OPEN: &str = "\u{1b}]8;;";

/// Variables that only terminals with links set.
const VARIABLES: [&str; 5] = ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "DOMTERM", "WEZTERM_PANE"];

/// Values of `TERM_PROGRAM` and beginnings of `TERM` of terminals with links.
const PROGRAMS: [&str; 5] = ["iTerm.app", "WezTerm", "vscode", "ghostty", "zed"];
const TERMS: [&str; 5] = ["xterm-kitty", "foot", "alacritty", "xterm-ghostty", "contour"];

/// The first version of VTE (GNOME Terminal and others) with links that work.
const VTE_VERSION: u32 = 5000;

/// Whether the terminal is known to support links.
pub(crate) fn is_supported(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let term = variable("TERM").unwrap_or_default();
    if variable("TMUX").is_some() || term.starts_with("screen") || term.starts_with("tmux") {
        return false;
    }
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    VARIABLES.iter().any(|name| variable(name).is_some())
        || variable("TERM_PROGRAM").is_some_and(|program| PROGRAMS.contains(&program.as_str()))
        || TERMS.iter().any(|known| term.starts_with(known))
        || vte.is_some_and(|version| version >= VTE_VERSION)
}

/// The address of a folder.
pub(crate) fn address(root: &Path) -> String {
    let path = root.display().to_string().replace('\\', "/");
    format!("file://{}/", encode(&format!("/{}", path.trim_matches('/'))))
}

/// Begins a link to a file, if the path is one of a file below the address; returns whether it did.
pub(crate) fn open(out: &mut String, base: &str, path: &str) -> bool {
    // An escaped path is not the path of its file, and a path that leads elsewhere is not below the address.
    let is_plain =
        !path.is_empty() && !path.starts_with('/') && !path.contains(['\\', '\u{1b}']) && !path.contains("..");
    if is_plain {
        out.push_str(&format!("{OPEN}{base}{}\u{1b}\\", encode(path)));
    }
    is_plain
}

/// The text without links.
pub(crate) fn without_links(text: &str) -> String {
    let mut parts = text.split(OPEN);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += part.split_once("\u{1b}\\").map_or("", |(_, rest)| rest);
    }
    out
}

/// A path in an address.
fn encode(path: &str) -> String {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~:".contains(&byte);
    let part = |byte: u8| if is_safe(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    path.bytes().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_terminals_get_links() {
        let table: &[(&[(&str, &str)], bool)] = &[
            (&[("TERM", "xterm-256color")], false),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], true),
            (&[("TERM", "xterm-kitty")], true),
            (&[("VTE_VERSION", "4800")], false),
            (&[("VTE_VERSION", "7600")], true),
            (&[("TERM", "screen-256color"), ("TERM_PROGRAM", "iTerm.app")], false),
            (&[("TMUX", "/tmp/1"), ("KITTY_WINDOW_ID", "1")], false),
            (&[("TERM_PROGRAM", "Apple_Terminal")], false),
        ];
        for (variables, expected) in table {
            let variable =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(is_supported(&variable), *expected, "{variables:?}");
        }
    }

    #[test]
    fn links_can_be_removed_again() {
        let mut text = String::from("in ");
        assert!(open(&mut text, &address(Path::new("/work/my repo")), "src/a b.rs"));
        text += "src/a b.rs";
        text += CLOSE;
        text += ":3";
        assert_eq!(text, "in \u{1b}]8;;file:///work/my%20repo/src/a%20b.rs\u{1b}\\src/a b.rs\u{1b}]8;;\u{1b}\\:3");
        assert_eq!(without_links(&text), "in src/a b.rs:3");
        assert!(!open(&mut text, "file:///", "../secret"), "only files below the folder");
    }
}
