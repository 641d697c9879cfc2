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
        text.extend(names_script(shell, name).into_bytes());
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The commands whose first argument is the name of a symbol.
const NAME_COMMANDS: [&str; 10] =
    ["locate", "read", "references", "callers", "callees", "related", "hierarchy", "compare", "context", "search"];

/// What completes names of symbols: it asks the index, as it is, and leaves everything else to the generated script.
fn names_script(shell: Shell, program: &str) -> String {
    let template = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => FISH,
        _ => return String::new(),
    };
    let separator = if shell == Shell::Fish { " " } else { "|" };
    template.replace("PROGRAM", program).replace("COMMANDS", &NAME_COMMANDS.join(separator))
}

const BASH: &str = r#"
_PROGRAM_ask() {
    local IFS=$'\n'
    COMPREPLY=($("$1" search --complete --no-sync -- "$2" 2>/dev/null | cut -f1))
}
_PROGRAM_names() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    if [[ $COMP_CWORD -ge 2 && -n $word && $word != -* && ${COMP_WORDS[COMP_CWORD-1]} != -* ]]; then
        case "${COMP_WORDS[1]}" in
            COMMANDS)
                _PROGRAM_ask "${COMP_WORDS[0]}" "$word"
                [[ ${#COMPREPLY[@]} -gt 0 ]] && return 0
                ;;
        esac
    fi
    _PROGRAM "$@"
}
complete -F _PROGRAM_names -o nosort -o bashdefault -o default PROGRAM
"#;

const ZSH: &str = r#"
_PROGRAM_names() {
    if [[ $words[2] == (COMMANDS) && $CURRENT -ge 3 && -n $PREFIX && $PREFIX != -* && $words[CURRENT-1] != -* ]]; then
        local -a names
        names=(${(f)"$($words[1] search --complete --no-sync -- "$PREFIX" 2>/dev/null | cut -f1)"})
        if (( $#names )); then
            compadd -U -a names
            return 0
        fi
    fi
    _PROGRAM "$@"
}
compdef _PROGRAM_names PROGRAM
"#;

const FISH: &str = r#"
complete -c PROGRAM -n "__fish_seen_subcommand_from COMMANDS" -f -a "(PROGRAM search --complete --no-sync -- (commandline -ct) 2>/dev/null)"
"#;

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
