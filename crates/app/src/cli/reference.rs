//! `docs/commands.md`: the command reference, generated from the command tree. `UPDATE=1 cargo test -p codecompass --lib` writes it.

use std::path::Path;

use clap::{Arg, Command};

use super::examples::EXAMPLES;
use super::groups::GROUPS;
use super::tree;
use crate::commands::TOOL_COMMANDS;

const INTRO: &str = "\
# Commands

- Covers: every command of `codecompass` with its options and examples, the global options and the exit codes.
- Result: each entry is what `codecompass help COMMAND` prints; a test fails when this page differs from the program.
- Reproduce: `UPDATE=1 cargo test -p codecompass --lib` generates this page from the command tree.

`cruxe` is a second name for the same program. [configuration.md](configuration.md) explains paths, path filters, refs and
configuration keys; [tools.md](tools.md) is the reference for the same functions over MCP.
";

fn page() -> String {
    let mut tree = tree(TOOL_COMMANDS);
    tree.build();
    let mut page = INTRO.to_owned();
    for (title, names) in GROUPS {
        page += &format!("\n## {title}\n\n| command | |\n|---|---|\n");
        let commands = || names.iter().filter_map(|name| tree.find_subcommand(name));
        for command in commands() {
            let name = command.get_name();
            page += &format!("| [`{name}`](#{name}) | {} |\n", cell(&about(command)));
        }
        commands().for_each(|command| page += &section(command));
    }
    page += "\n## Global options\n\nEvery command takes these.\n\n";
    page += &options(tree.get_arguments().filter(|arg| is_global(arg)));
    let codes = tree.get_after_help().map(ToString::to_string).unwrap_or_default();
    page += "\n## Exit codes\n\n| code | meaning |\n|---|---|\n";
    for line in codes.lines() {
        if let Some((code, meaning)) = line.trim_start().split_once("  ") {
            page += &format!("| {code} | {} |\n", cell(meaning));
        }
    }
    page
}

/// One command: its usage, its options, its subcommands and its examples.
fn section(command: &Command) -> String {
    let name = command.get_name();
    let mut text = format!("\n### `{name}`\n\n{}.\n\n```text\n", about(command));
    let children: Vec<&Command> = command.get_subcommands().filter(|child| child.get_name() != "help").collect();
    let used = if children.is_empty() { vec![command] } else { children.clone() };
    used.iter().for_each(|command| text += &usage(command));
    text += "```\n";
    for command in used {
        let table = options(command.get_arguments().filter(|arg| !is_global(arg) && arg.get_id() != "help"));
        if !children.is_empty() {
            text += &format!("\n`{name} {}`: {}.\n", command.get_name(), about(command));
        }
        if !table.is_empty() {
            text += &format!("\n{table}");
        }
    }
    if let Some((_, lines)) = EXAMPLES.iter().find(|(of, _)| *of == name) {
        let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default();
        text += "\n```sh\n";
        lines.iter().for_each(|(line, purpose)| text += &format!("codecompass {line:<width$}  # {purpose}\n"));
        text += "```\n";
    }
    text
}

/// The command line, without the word before it.
fn usage(command: &Command) -> String {
    let text = command.clone().render_usage().to_string();
    format!("{}\n", text.trim_start_matches("Usage: ").trim_end())
}

fn about(command: &Command) -> String {
    let text = command.get_about().map(ToString::to_string).unwrap_or_default();
    text.trim_end_matches('.').to_owned()
}

fn is_global(arg: &Arg) -> bool {
    arg.get_help_heading() == Some("Global options")
}

/// A table of arguments; empty when there are none.
fn options<'a>(args: impl Iterator<Item = &'a Arg>) -> String {
    let rows: Vec<String> = args.map(|arg| format!("| {} | {} |\n", name(arg), cell(&help(arg)))).collect();
    if rows.is_empty() { String::new() } else { format!("| argument | |\n|---|---|\n{}", rows.concat()) }
}

/// An argument as it is written, with its short form and aliases.
fn name(arg: &Arg) -> String {
    let written = arg.to_string();
    let short = arg.get_short().filter(|_| arg.get_long().is_some()).map(|short| format!("-{short}"));
    let long = arg.get_visible_aliases().unwrap_or_default().into_iter().map(|alias| format!("--{alias}"));
    let letters = arg.get_visible_short_aliases().unwrap_or_default().into_iter().map(|alias| format!("-{alias}"));
    let all: Vec<String> = short.into_iter().chain([written]).chain(long).chain(letters).collect();
    all.iter().map(|form| format!("`{}`", cell(form))).collect::<Vec<_>>().join(", ")
}

/// The help of an argument, with its default and the values it takes where the text does not list them.
fn help(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let takes_value = arg.get_action().takes_values();
    if takes_value && !arg.is_hide_possible_values_set() {
        let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
        if !values.is_empty() {
            text += &format!(" [possible values: {}]", values.join(", "));
        }
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    if takes_value && !defaults.is_empty() && !text.contains("[default") {
        text += &format!(" [default: {}]", defaults.join(" "));
    }
    text.trim().to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn every_command_is_in_one_group() {
    let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let tree = tree(TOOL_COMMANDS);
    let mut commands: Vec<&str> = tree.get_subcommands().map(Command::get_name).collect();
    grouped.sort_unstable();
    commands.sort_unstable();
    assert_eq!(grouped, commands);
}

#[test]
fn command_reference_matches_the_command_tree() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    codecompass_testkit::expect_file(&path, &page());
}
