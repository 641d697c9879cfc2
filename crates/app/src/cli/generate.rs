//! `completions` and `man`: generated from the command tree, so they cannot be outdated.

use std::io;

use clap::{Args, Command};
use clap_complete::Shell;

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

#[derive(Args, Debug)]
pub(crate) struct ManArgs {
    /// The command [default: the program itself]
    pub(crate) command: Option<String>,
}

/// The script for a shell, under both names of the program.
pub(crate) fn completions(tree: &Command, shell: Shell) -> String {
    let mut text = Vec::new();
    for name in ["codecompass", "cruxe"] {
        clap_complete::generate(shell, &mut tree.clone(), name, &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The manual page of a command, or of the program; `None` if there is no such command.
pub(crate) fn page(tree: &Command, command: Option<&str>) -> io::Result<Option<String>> {
    let mut tree = tree.clone();
    tree.build();
    let found = match command {
        None => tree,
        Some(name) => match tree.find_subcommand(name) {
            Some(found) => found.clone().name(format!("codecompass-{name}")),
            None => return Ok(None),
        },
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(found).render(&mut page)?;
    Ok(Some(String::from_utf8_lossy(&page).into_owned()))
}
