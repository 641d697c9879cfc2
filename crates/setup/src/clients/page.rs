//! `docs/clients.md`, generated from the table.

use std::path::Path;

use super::{CLIENTS, ConfigFile, FileLocation, Folder, InstructionFiles, Program};

fn location_text(place: FileLocation) -> String {
    match place {
        FileLocation::Home(path) => format!("`~/{path}`"),
        FileLocation::Dot(path) => format!("`~/.config/{path}`"),
        FileLocation::Platform(path) => format!("`{path}` in the platform's configuration folder"),
        FileLocation::Below(variable, path) => format!("`${variable}/{path}`"),
        FileLocation::Named(variable) => format!("`${variable}`"),
        FileLocation::Project(path) => format!("`{path}`"),
    }
}

fn program_text(program: Program) -> String {
    match program {
        Program::Unique(name) => format!("`{name}`"),
        Program::Inside(name, _) => format!("`{name}`*"),
    }
}

fn locations_text(places: &[FileLocation]) -> String {
    let texts: Vec<String> = places.iter().map(|place| location_text(*place)).collect();
    if texts.is_empty() { "–".into() } else { texts.join(", ") }
}

/// What this program cannot change, with whose limit it is.
const LIMITS_OF_CLIENTS: &str = "
## What remains, and whose limit it is

| what | clients | whose limit |
|---|---|---|
| the model has to search for the tools before it can call them | Grok, Mistral Vibe | the client: no setting makes them direct |
| instructions of the server do not reach the model | Copilot CLI, Cline, Continue, Mistral Vibe, Kimi Code; subagents of Claude Code | the client; the descriptions of the tools say when to use them |
| without a terminal, calls are refused or tools hidden until you permit them | Claude Code, Gemini CLI, Qwen Code, Grok, Mistral Vibe | the client, by design ([setup.md](setup.md#permissions)) |
| no server in folders that are not trusted | Gemini CLI; Qwen Code if switched on | the client, by design |
| answers are cut or replaced with a file above a size | Cline 8,000 characters of JSON, Codex 12,000 bytes for models outside its catalog, Copilot CLI 20,480 bytes, Grok 20,000 bytes, Qwen Code 28,000 characters | the client; the server ends such answers itself, at a row with a hint for the rest |
| the same above 16,000 characters of JSON | Mistral Vibe | the client; it does not give its name, so the server cannot know |
| a killed server is not started again | Codex, Gemini CLI, OpenCode, Kilo, Copilot CLI, Cline, Goose, Grok, Continue | the client ([setup.md](setup.md#does-it-work) says what to do) |
| keys of the client's own stay in a file after `unsetup` | Claude Code, OpenCode, Qwen Code, Kilo, Grok | the client wrote them |
| `mcp list` says connected for a server that sessions do not get | Qwen Code | the client; `doctor --client` reports it |
| `claude -p` starts a project's server that waits for approval | Claude Code | the client; the interactive program asks first |
| the entry is printed if there is no file yet | Goose, Continue | ours: a new file could hide the client's own defaults |
";

fn page() -> String {
    let edited = CLIENTS.iter().filter(|client| client.user.is_some()).count();
    let mut page = format!(
        "# Clients\n\n\
         - Covers: the files that `codecompass setup` edits for each client, and how each client starts a server.\n\
         - Result: {edited} clients are configured automatically; for the others `setup` prints what to enter.\n\
         - Reproduce: `UPDATE=1 cargo test -p codecompass --lib` generates this page; `codecompass doctor --client` checks \
         your machine.\n\n\
         When several files are listed, `setup` uses the one that a variable names, otherwise the first that exists. A client \
         counts as installed if its folder exists, or if its program is on `PATH`; programs are never run. A program marked \
         with * shares its name with others and counts only if its links lead to the client's package. Files in *italics* \
         have to exist: without them, `setup` prints the entry.\n\n\
         | client | name | program | your file | a project's file | instructions: yours, a project's | skill: yours, a project's |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for client in CLIENTS {
        let spot = |spot: &Option<ConfigFile>| {
            spot.map_or("–".into(), |spot| match spot.needs_file {
                true => format!("*{}*", locations_text(spot.files)),
                false => locations_text(spot.files),
            })
        };
        let programs: Vec<String> = client.programs.iter().map(|program| program_text(*program)).collect();
        let programs = if programs.is_empty() { "–".into() } else { programs.join(", ") };
        let user = match client.by_hand {
            Some((place, _)) => format!("printed only: {place}"),
            None => spot(&client.user),
        };
        let notes = |notes: &InstructionFiles| {
            let project = notes.project.map_or("–".into(), |path| format!("`{path}`"));
            format!("{}; {project}", locations_text(notes.user))
        };
        page += &format!(
            "| {} | `{}` | {programs} | {user} | {} | {} | {} |\n",
            client.title,
            client.name,
            spot(&client.project),
            notes(&client.instructions),
            notes(&client.skills)
        );
    }
    page += "\n## How each starts a server\n\n\
             A server finds its repository by `--workspace`, then `CLAUDE_PROJECT_DIR`, `WORKSPACE_FOLDER_PATHS`, \
             the client's roots, and finally the folder it is started in.\n\n\
             | client | started in | names the folder by | environment passed on |\n|---|---|---|---|\n";
    for client in CLIENTS.iter().filter(|client| client.user.is_some()) {
        let start = &client.start;
        let folder = match start.folder {
            Folder::Project => "the project",
            Folder::Root => "`/`",
            Folder::Home => "the home folder",
        };
        let mut names: Vec<String> = start.project_variable.map(|name| format!("`{name}`")).into_iter().collect();
        names.extend(start.roots.then(|| "roots".to_owned()));
        let silent = if start.reports_folder() { "–" } else { "nothing; its agent must name it (`workspace`)" };
        let names = if names.is_empty() { silent.into() } else { names.join(", ") };
        let passes = start.passes.map_or("everything".into(), |names| format!("only `{}`", names.join("`, `")));
        page += &format!("| {} | {folder} | {names} | {passes} |\n", client.title);
    }
    page += LIMITS_OF_CLIENTS;
    // Measured with the real programs; written by `clients/real`.
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/real/results.md");
    if let Ok(results) = std::fs::read_to_string(results) {
        page += &format!("\n## What the model gets\n\n{}", results.trim_start());
    }
    page
}

#[test]
fn clients_page_matches_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    codecompass_testkit::expect_file(&path, &page());
}
