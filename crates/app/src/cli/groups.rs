//! The commands in groups: the order of the help and of the reference page.

use clap::Command;

/// The groups with their commands, the eight everyday commands first. Every command is in exactly one of them.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Everyday commands", &["search", "locate", "grep", "read", "outline", "references", "callers", "context"]),
    ("Follow code further", &["callees", "related", "hierarchy"]),
    ("Compare branches", &["diff", "compare", "refs"]),
    ("Use it with agents and in a browser", &["setup", "unsetup", "serve-mcp", "tools", "explore", "history"]),
    (
        "Build and maintain the index",
        &["index", "sync", "init", "status", "projects", "forget", "prune-overlays", "state"],
    ),
    ("Diagnose", &["doctor", "explain", "languages", "facts", "config"]),
    ("Export, measure and integrate", &["export", "bench", "completions", "man"]),
];

/// The position of a command in the help.
pub(super) fn position(name: &str) -> usize {
    let all = || GROUPS.iter().flat_map(|(_, names)| names.iter());
    all().position(|known| *known == name).unwrap_or_else(|| all().count())
}

/// The program with a help that lists the commands by group; clap has one list only.
pub(super) fn with_grouped_help(program: Command) -> Command {
    let mut text = String::new();
    for (title, names) in GROUPS {
        text += &format!("{title}:\n");
        for command in names.iter().filter_map(|name| program.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            text += &format!("  {:<14} {}\n", command.get_name(), about.trim_end_matches('.'));
        }
        text.push('\n');
    }
    text += "`codecompass help COMMAND` shows the options and examples of a command.\n";
    let template =
        format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}\nOptions:\n{{options}}{{after-help}}");
    program.help_template(template)
}
