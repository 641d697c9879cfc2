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
        if shell == Shell::Fish {
            text.extend(fish_values(tree, name).into_bytes());
        }
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

// A colon begins a new word in bash, which then replaces only the part behind it. Names that begin with what was typed
// come alone. Others are listed: the space keeps bash from replacing what was typed by the beginning they share. Old
// versions cannot keep the order.
const BASH: &str = r#"
_PROGRAM_names() {
    local word="${COMP_WORDS[COMP_CWORD]}"
    if [[ -n $COMP_LINE ]]; then
        word="${COMP_LINE:0:COMP_POINT}"
        word="${word##*[[:space:]]}"
    fi
    if [[ $COMP_CWORD -ge 2 && -n $word && $word != -* && ${COMP_WORDS[COMP_CWORD-1]} != -* ]]; then
        case "${COMP_WORDS[1]}" in
            COMMANDS)
                local IFS=$'\n' name
                local -a names=($("${COMP_WORDS[0]}" search --complete --no-sync -- "$word" 2>/dev/null | cut -f1))
                if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
                    names=("${names[@]##*:}")
                    word="${word##*:}"
                fi
                COMPREPLY=()
                for name in "${names[@]}"; do
                    [[ $name == "$word"* ]] && COMPREPLY+=("$name")
                done
                if [[ ${#COMPREPLY[@]} -eq 0 && ${#names[@]} -gt 0 ]]; then
                    COMPREPLY=("${names[@]}")
                    [[ ${#names[@]} -gt 1 ]] && COMPREPLY+=(' ')
                fi
                [[ ${#COMPREPLY[@]} -gt 0 ]] && return 0
                ;;
        esac
    fi
    _PROGRAM "$@"
}
complete -F _PROGRAM_names -o nosort -o bashdefault -o default PROGRAM 2>/dev/null ||
    complete -F _PROGRAM_names -o bashdefault -o default PROGRAM
"#;

// Several names that do not begin with what was typed have no beginning to insert: Tab goes through them.
const ZSH: &str = r#"
_PROGRAM_names() {
    if [[ $words[2] == (COMMANDS) && $CURRENT -ge 3 && -n $PREFIX && $PREFIX != -* && $words[CURRENT-1] != -* ]]; then
        local -a names same
        names=(${(f)"$($words[1] search --complete --no-sync -- "$PREFIX" 2>/dev/null | cut -f1)"})
        same=(${(M)names:#${(b)PREFIX}*})
        if (( $#same )); then
            compadd -V names -a same
            return 0
        elif (( $#names )); then
            (( $#names > 1 )) && compstate[insert]=menu compstate[list]=list
            compadd -U -V names -a names
            return 0
        fi
    fi
    _PROGRAM "$@"
}
compdef _PROGRAM_names PROGRAM
"#;

// Fish shows only what fits its own idea of a match: a capital letter has to be typed as one.
const FISH: &str = r#"
complete -c PROGRAM -n "__fish_seen_subcommand_from COMMANDS" -f -a "(PROGRAM search --complete --no-sync -- (commandline -ct) 2>/dev/null)"
"#;

/// The values of positional arguments, which the generated script for fish leaves out.
fn fish_values(tree: &Command, program: &str) -> String {
    let mut script = String::new();
    for command in tree.get_subcommands() {
        let values = command.get_positionals().flat_map(|argument| argument.get_possible_values());
        let words: Vec<String> = values.map(|value| value.get_name().to_owned()).collect();
        if !words.is_empty() {
            let (name, words) = (command.get_name(), words.join(" "));
            script += &format!("complete -c {program} -n \"__fish_seen_subcommand_from {name}\" -f -a \"{words}\"\n");
        }
    }
    script
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
