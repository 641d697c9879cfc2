//! Examples in the help of each command.

use clap::Command;

/// A command, and its example lines with their descriptions.
type Examples = (&'static str, &'static [(&'static str, &'static str)]);

/// Every command has examples; a test runs all of them through the parser.
pub(super) const EXAMPLES: &[Examples] = &[
    (
        "setup",
        &[
            ("setup", "all agents that are there"),
            ("setup claude-code codex", "these two"),
            ("setup --project --dry-run", "what would change in this repository's files"),
        ],
    ),
    ("unsetup", &[("unsetup", "everything as it was"), ("unsetup cursor", "one agent only")]),
    ("init", &[("init", "register this repository")]),
    (
        "index",
        &[
            ("index", "this work tree"),
            ("index --ref v1.2", "a tag, straight from git"),
            ("index --force", "everything anew"),
        ],
    ),
    (
        "explore",
        &[("explore --open", "this repository in the browser"), ("explore --port 9200", "at an address that stays")],
    ),
    ("sync", &[("sync", "what changed"), ("sync --changed src/a.rs", "this file only")]),
    ("export", &[("export edges > edges.jsonl", "every reference that is resolved")]),
    (
        "doctor",
        &[
            ("doctor", "is everything sound"),
            ("doctor src/gen.rs", "why is this file left out"),
            ("doctor --client", "do agents reach us"),
        ],
    ),
    ("state", &[("state export main.tar.zst", "an index as one file"), ("state import main.tar.zst", "and back")]),
    ("prune-overlays", &[("prune-overlays --dry-run", "what nobody has asked for in a month")]),
    ("languages", &[("languages", "what is read of which files")]),
    ("projects", &[("projects", "what lies in the data folder")]),
    ("forget", &[("forget ~/old/shop", "all that is stored of it")]),
    ("facts", &[("facts src/main.rs", "what is extracted from a file")]),
    ("config", &[("config show", "every value and where it came from"), ("config path", "which files are read")]),
    ("tools", &[("tools --json", "as agents see them")]),
    (
        "serve-mcp",
        &[
            ("serve-mcp --auto-index --answers text", "as `setup` has clients start it"),
            ("serve-mcp --transport http --port 9100", "for clients that come and go"),
        ],
    ),
    ("bench", &[("bench query .", "times on this repository")]),
    (
        "completions",
        &[(
            "completions bash > ~/.local/share/bash-completion/completions/codecompass",
            "for bash, from the next shell on",
        )],
    ),
    ("man", &[("man search > codecompass-search.1", "the page of a command"), ("man", "the page of the program")]),
    ("locate", &[("locate Writer::publish", "a definition"), ("locate publish --kind fn", "functions of that name")]),
    (
        "search",
        &[
            ("search where are views published", "a question, without quotes"),
            ("search retry --lang go --ref release/2", "on another branch"),
            ("search '\"connection refused\"'", "a text as it is written"),
        ],
    ),
    ("explain", &[("explain \"publish views\" src/writer.rs:310", "why is it there, or not")]),
    (
        "references",
        &[
            ("references Writer::publish", "every place that means it"),
            ("references publish --in src/views.rs", "that one"),
        ],
    ),
    ("callers", &[("callers publish --depth 2", "and who calls those")]),
    ("callees", &[("callees main --format mermaid", "as a picture")]),
    ("outline", &[("outline src/lib.rs", "a file"), ("outline src", "a folder, file by file")]),
    ("hierarchy", &[("hierarchy Writer --direction descendants", "what is inside")]),
    ("related", &[("related publish --scope module", "what else to read")]),
    ("context", &[("context how is a view published --max-tokens 2000", "the code that answers")]),
    (
        "grep",
        &[
            ("grep 'fn \\w+_text' -l", "files"),
            ("grep -F 'a.b(' src/", "plain text, in a folder"),
            ("grep TODO -C 2", "with lines around"),
        ],
    ),
    ("read", &[("read Writer::publish src/lib.rs:10-40", "both, exactly")]),
    (
        "diff",
        &[
            ("diff", "this branch since it parted"),
            ("diff main..feature", "another one"),
            ("diff HEAD @worktree", "your edits"),
        ],
    ),
    ("compare", &[("compare Writer::publish v1.0..main", "one symbol, then and now")]),
    ("refs", &[("refs", "what is indexed")]),
    ("status", &[("status", "is it fresh")]),
];

/// The command with its examples after the options.
pub(super) fn explained(command: Command) -> Command {
    let Some((_, lines)) = EXAMPLES.iter().find(|(name, _)| *name == command.get_name()) else { return command };
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default().min(48);
    let text: Vec<String> = lines.iter().map(|(line, what)| format!("  codecompass {line:<width$}  {what}")).collect();
    command.after_help(format!("Examples:\n{}", text.join("\n")))
}
