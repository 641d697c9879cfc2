//! Examples in the help of each command.

use clap::Command;

/// A command, and its example lines with their descriptions.
type CommandExamples = (&'static str, &'static [(&'static str, &'static str)]);

/// Every command has examples; a test runs all of them through the parser.
pub(super) const EXAMPLES: &[CommandExamples] = &[
    (
        "setup",
        &[
            ("setup", "all installed agents"),
            ("setup claude-code codex", "these two"),
            ("setup --project --dry-run", "what would change in this repository's files"),
        ],
    ),
    ("unsetup", &[("unsetup", "restore all files"), ("unsetup cursor", "one agent only")]),
    ("init", &[("init", "register this repository")]),
    (
        "index",
        &[
            ("index", "this work tree"),
            ("index --ref v1.2", "a tag, directly from git"),
            ("index --force", "rebuild everything"),
        ],
    ),
    ("explore", &[("explore --open", "this repository in the browser"), ("explore --port 9200", "at a fixed port")]),
    ("sync", &[("sync", "what changed"), ("sync --changed src/a.rs", "this file only")]),
    ("export", &[("export edges > edges.jsonl", "every resolved reference")]),
    (
        "doctor",
        &[
            ("doctor", "check everything"),
            ("doctor src/gen.rs", "why is this file skipped"),
            ("doctor --client", "can agents reach the server"),
        ],
    ),
    (
        "state",
        &[
            ("state export main.tar.zst", "write the index to a file"),
            ("state import main.tar.zst", "read it on another machine"),
        ],
    ),
    ("prune-overlays", &[("prune-overlays --dry-run", "list views unused for 30 days")]),
    ("languages", &[("languages", "supported languages")]),
    ("projects", &[("projects", "projects in the data folder")]),
    ("forget", &[("forget ~/old/shop", "remove its stored data")]),
    ("facts", &[("facts src/main.rs", "facts extracted from a file")]),
    (
        "config",
        &[
            ("config show", "every value and its source"),
            ("config path", "configuration files"),
            ("config set history.enabled false", "turn a key off"),
        ],
    ),
    ("history", &[("history --limit 50", "the last fifty calls"), ("history --json", "for a script")]),
    ("tools", &[("tools --json", "as agents see them")]),
    (
        "serve-mcp",
        &[
            ("serve-mcp --auto-index --answers text", "as configured by `setup`"),
            ("serve-mcp --transport http --port 9100", "for several clients"),
        ],
    ),
    ("bench", &[("bench query .", "query times on this repository")]),
    (
        "completions",
        &[("completions bash > ~/.local/share/bash-completion/completions/codecompass", "for new bash sessions")],
    ),
    ("man", &[("man search > codecompass-search.1", "the page of a command"), ("man", "the page of the program")]),
    ("locate", &[("locate Writer::publish", "a definition"), ("locate publish --kind fn", "functions with that name")]),
    (
        "search",
        &[
            ("search where are views published", "words, without quotes"),
            ("search retry --lang go --ref release/2", "on another branch"),
            ("search '\"connection refused\"'", "exact text"),
            ("search --complete qs.filt", "names that begin like this"),
        ],
    ),
    ("explain", &[("explain \"publish views\" src/writer.rs:310", "why is it ranked there, or missing")]),
    (
        "references",
        &[
            ("references Writer::publish", "every reference to it"),
            ("references publish --in src/views.rs", "the one in this file"),
        ],
    ),
    ("callers", &[("callers publish --depth 2", "and their callers")]),
    ("callees", &[("callees main --format mermaid", "as a diagram")]),
    ("outline", &[("outline src/lib.rs", "a file"), ("outline src", "a folder, file by file")]),
    ("hierarchy", &[("hierarchy Writer --direction descendants", "its members")]),
    ("related", &[("related publish --scope module", "other symbols to read")]),
    ("context", &[("context how is a view published --max-tokens 2000", "the relevant code")]),
    (
        "grep",
        &[
            ("grep 'fn \\w+_text' -l", "files"),
            ("grep -F 'a.b(' src/", "plain text, in a folder"),
            ("grep TODO -C 2", "with context lines"),
        ],
    ),
    ("read", &[("read Writer::publish src/lib.rs:10-40", "both, verbatim")]),
    (
        "diff",
        &[
            ("diff", "this branch since its merge base"),
            ("diff main..feature", "another branch"),
            ("diff HEAD @worktree", "your edits"),
        ],
    ),
    ("compare", &[("compare Writer::publish v1.0..main", "one symbol in two refs")]),
    ("refs", &[("refs", "indexed branches and tags")]),
    ("status", &[("status", "is the index up to date")]),
];

/// The command with its examples after the options.
pub(super) fn with_examples(command: Command) -> Command {
    let Some((_, lines)) = EXAMPLES.iter().find(|(name, _)| *name == command.get_name()) else { return command };
    let width = lines.iter().map(|(line, _)| line.chars().count()).max().unwrap_or_default().min(48);
    let text: Vec<String> = lines.iter().map(|(line, what)| format!("  codecompass {line:<width$}  {what}")).collect();
    command.after_help(format!("Examples:\n{}", text.join("\n")))
}
