//! Completions and manual pages, and the spellings that the command line accepts.

use crate::support;

use std::process::Command;

use codecompass_testkit::Repository;
use support::{PROGRAM, Project};

fn generated(arguments: &[&str]) -> String {
    let output = Command::new(PROGRAM).args(arguments).output().expect("it runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs a shell with a script, the completion script and further arguments; `None` if there is no such shell. A shell that
/// hangs is ended.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn run_shell(shell: &[&str], code: &str, arguments: &[&str], project: &Project) -> Option<String> {
    let (name, script) = (shell[0], project.home.path().join("completions"));
    if !std::env::split_paths(&std::env::var_os("PATH")?).any(|folder| folder.join(name).is_file()) {
        eprintln!("{name} is not installed: its completions were not tested");
        return None;
    }
    std::fs::write(&script, generated(&["completions", name])).expect("it can be written");
    let folder = std::path::Path::new(PROGRAM).parent().expect("a folder");
    let mut paths = vec![folder.to_owned()];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH")?));
    let output = Command::new("timeout")
        .arg("60")
        .args(shell)
        .args(["-c", code])
        .args((name != "fish").then_some(name))
        .arg(&script)
        .args(arguments)
        .current_dir(project.repository.root())
        .env("CODECOMPASS_HOME", project.home.path())
        .env("HOME", project.home.path())
        .env("TERM", "dumb")
        .env("PATH", std::env::join_paths(paths).expect("they can be joined"))
        .output()
        .expect("`timeout` exists");
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A project with names that have humps and words.
fn query_set_project() -> Project {
    let python = "class QuerySet:\n    def filter(self):\n        pass\n\n\ndef get_object_or_404():\n    pass\n";
    let rust = "pub struct Jwt;\n\nimpl Jwt {\n    pub fn check(&self) {}\n}\n\npub fn chop() {}\n";
    let http = "class HTTPResponse:\n    pass\n";
    Project::indexed(&[("app/query_set.py", python), ("app/http.py", http), ("src/jwt.rs", rust)])
}

/// Bash's completion of a line, as its last word.
const BASH: &str = "source \"$1\"\nCOMP_LINE=$2\nCOMP_POINT=${#COMP_LINE}\nCOMP_WORDS=(${2//:/ : })\n\
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_codecompass_names codecompass \"${COMP_WORDS[COMP_CWORD]}\" x\n\
    printf '%s\\n' \"${COMPREPLY[0]}\"\n";

/// Types each line and a tab into an interactive zsh on a terminal, and runs what that gives.
const ZSH: &str = "zmodload zsh/zpty || exit 9\n\
    zpty shell 'zsh -f -i'\n\
    zpty -w shell \"PS1=; unsetopt zle_bracketed_paste; autoload -Uz compinit && compinit -u -D && source $1 && print REA''DY\"\n\
    zpty -r shell out '*READY*'\nshift\n\
    for line; do\n  zpty -w -n shell \"$line\"$'\\t\\n'\n  zpty -w shell \"print DO''NE\"\n  zpty -r shell out '*DONE*'\n\
    print -r -- $out\ndone\n";

#[test]
fn zsh_on_a_terminal_completes_names_of_the_index() {
    let project = query_set_project();
    let table = [
        ("codecompass locate QuerySe", "app/query_set.py:1"),
        ("codecompass locate get_objec", "app/query_set.py:6"),
        ("codecompass locate HTTPResp", "app/http.py:1"),
        ("codecompass locate qs.filt", "app/query_set.py:2"),
        ("codecompass outline app/que", "QuerySet"),
        ("codecompass --vers", "schema"),
    ];
    for (line, expected) in table {
        let Some(out) = run_shell(&["zsh", "-f"], ZSH, &[line], &project) else { return };
        assert!(out.contains(expected), "{line}: {out}");
    }
}

#[test]
fn fish_completes_names_values_and_options() {
    let project = query_set_project();
    let table = [
        ("codecompass locate QuerySe", "QuerySet\tclass app/query_set.py:1"),
        ("codecompass locate get_objec", "get_object_or_404\tfn app/query_set.py:6"),
        ("codecompass locate QS", "QuerySet\tclass app/query_set.py:1"),
        ("codecompass callers QuerySet.filt", "QuerySet.filter\tmethod app/query_set.py:2"),
        ("codecompass read app/que", "app/query_set.py\tfile"),
        ("codecompass search --detail s", "signature"),
        ("codecompass setup claude", "claude-code"),
        ("cruxe completions fi", "fish"),
    ];
    for (line, expected) in table {
        let code = "source $argv[1]; complete -C $argv[2]";
        let Some(out) = run_shell(&["fish", "--no-config"], code, &[line], &project) else { return };
        assert!(out.lines().any(|offer| offer == expected), "{line}: {out}");
    }
}

#[test]
fn bash_completes_behind_colons() {
    let project = query_set_project();
    let table = [
        ("codecompass callers Jwt::ch", "check"),
        ("codecompass callers ch", "chop"),
        ("codecompass callers qs.filt", "QuerySet.filter"),
    ];
    for (line, expected) in table {
        let Some(out) = run_shell(&["bash", "--norc"], BASH, &[line], &project) else { return };
        assert_eq!(out.trim_end(), expected, "{line}");
    }
}

/// Returns bash's completions for the last of these words.
fn bash_offers(script: &str, words: &[&str]) -> Vec<String> {
    let program = words[0];
    let last = words.len() - 1;
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let before = if last > 0 { words[last - 1] } else { "" };
    let code = format!(
        "source \"$1\"\nCOMP_WORDS=({})\nCOMP_CWORD={last}\nfunction=$(complete -p {program} | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n\
         $function {program} '{}' '{before}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        quoted.join(" "),
        words[last]
    );
    let output = Command::new("bash").args(["--norc", "-c", &code, "bash", script]).output().expect("bash exists");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_names_of_the_index() {
    let python = "class QuerySet:\n    def filter(self):\n        pass\n\n\ndef get_object_or_404():\n    pass\n";
    let project = Project::indexed(&[("app/query_set.py", python), ("app/http.py", "class HTTPResponse:\n    pass\n")]);
    let script = project.home.path().join("codecompass.bash");
    std::fs::write(&script, generated(&["completions", "bash"])).expect("it can be written");
    let code = "source \"$1\"\nCOMP_WORDS=(\"$2\" callers \"$3\")\nCOMP_CWORD=2\n_codecompass_names codecompass \"$3\" callers\n\
                printf '%s\\n' \"${COMPREPLY[@]}\"\n";
    let table = [
        ("QuerySe", "QuerySet"),
        ("get_objec", "get_object_or_404"),
        ("HTTPResp", "HTTPResponse"),
        ("qs.filt", "QuerySet.filter"),
    ];
    for (typed, expected) in table {
        let output = Command::new("bash")
            .args(["--norc", "-c", code, "bash"])
            .args([script.to_str().expect("UTF-8"), PROGRAM, typed])
            .current_dir(project.repository.root())
            .env("CODECOMPASS_HOME", project.home.path())
            .output()
            .expect("bash exists");
        let offered = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(offered.lines().next(), Some(expected), "{typed}: {offered}");
    }
    let table = [
        ("qset", 0, "QuerySet\tclass app/query_set.py:1\napp/query_set.py\tfile\n"),
        ("app/que", 0, "app/query_set.py\tfile\n"),
        ("query_s", 0, "QuerySet\tclass app/query_set.py:1\napp/query_set.py\tfile\n"),
        ("nothing_like_it", 1, ""),
    ];
    for (typed, code, expected) in table {
        assert_eq!(project.run_expecting(&format!("search --complete {typed}"), code), expected, "{typed}");
    }
    let answer = project.json("search --complete QuerySe");
    assert_eq!(answer["completions"][0]["text"], "QuerySet", "{answer}");
}

#[test]
fn bash_completes_commands_options_and_values() {
    let folder = tempfile::tempdir().expect("a temporary folder can be created");
    let script = folder.path().join("codecompass.bash");
    std::fs::write(&script, generated(&["completions", "bash"])).expect("it can be written");
    let script = script.to_str().expect("UTF-8");
    let table: &[(&[&str], &[&str])] = &[
        (&["codecompass", "sea"], &["search"]),
        (&["codecompass", "set"], &["setup"]),
        (&["cruxe", "uns"], &["unsetup"]),
        (&["codecompass", "search", "--det"], &["--detail", "--detail-level"]),
        (&["codecompass", "search", "--detail", ""], &["location", "signature", "context"]),
        (&["codecompass", "setup", "cl"], &["claude-code", "cline"]),
        (&["codecompass", "serve-mcp", "--answers", "t"], &["text"]),
        (&["codecompass", "config", "sh"], &["show"]),
        (&["codecompass", "diff", "--tes"], &["--tests"]),
    ];
    for (words, expected) in table {
        let offered = bash_offers(script, words);
        for word in *expected {
            assert!(offered.iter().any(|offer| offer == word), "{words:?} offers {offered:?}");
        }
        let typed = words[words.len() - 1];
        assert!(offered.iter().all(|offer| offer.starts_with(typed)), "{words:?} offers {offered:?}");
    }
}

#[test]
fn every_shell_has_a_script_that_knows_every_command() {
    let help = generated(&["help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Everyday commands:")
        .take_while(|line| *line != "Options:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()))
        .collect();
    assert!(commands.len() > 30 && commands.contains(&"search") && commands.contains(&"setup"), "{commands:?}");
    for (shell, checker) in [
        ("bash", Some(("bash", "-n"))),
        ("zsh", Some(("zsh", "-n"))),
        ("fish", Some(("fish", "-n"))),
        ("powershell", None),
        ("elvish", None),
    ] {
        let script = generated(&["completions", shell]);
        for command in &commands {
            assert!(script.contains(command), "{shell} does not know {command}");
        }
        assert!(script.contains("cruxe"), "{shell}");
        let folder = tempfile::tempdir().expect("a temporary folder can be created");
        let file = folder.path().join("script");
        std::fs::write(&file, script).expect("it can be written");
        // An installed shell has to read its script without an error.
        if let Some((program, flag)) = checker
            && let Ok(output) = Command::new(program).arg(flag).arg(&file).output()
        {
            assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    for command in commands.iter().filter(|name| **name != "help") {
        let page = generated(&["man", command]);
        assert!(page.contains(&format!(".TH codecompass-{command} 1")), "{command}: {page}");
        assert!(page.contains(".SH NAME") && page.contains("Examples:"), "{command}: {page}");
        let help = generated(&["help", command]);
        assert!(help.contains("Usage: codecompass") && help.contains("Global options:"), "{help}");
        assert!(help.contains("Examples:\n  codecompass "), "{help}");
    }
    assert!(generated(&["man"]).contains(".TH codecompass 1"));
}

fn service() -> Project {
    let repository = Repository::new();
    repository.write("src/a.rs", "pub fn retry_request() {}\npub fn twin() {}\n");
    repository.write("src/deep/b.rs", "pub struct Pool { size: u32 }\npub fn twin() {}\n");
    repository.write("notes.md", "words about nothing\n");
    repository.commit("one");
    repository.write("src/a.rs", "pub fn retry_request(times: u32) {}\npub fn twin() {}\n");
    repository.commit("two");
    let project = Project::new(repository);
    project.run_ok("index");
    project
}

#[test]
fn queries_need_no_quotes() {
    let project = service();
    let one = project.run_ok("search \"retry request\" --limit 3");
    assert_eq!(project.run_ok("search retry request --limit 3"), one);
    assert_eq!(project.run_ok("search retry --limit 3 request"), one);
    assert!(one.contains("src/a.rs"), "{one}");
    assert!(project.run_ok("context how is a request retried --max-tokens 300").contains("retry_request"));
}

#[test]
fn range_syntax_selects_two_refs() {
    let project = service();
    let two = project.run_ok("diff HEAD~1 HEAD");
    assert!(two.contains("retry_request"), "{two}");
    let without_head = |text: &str| text.lines().skip(1).collect::<Vec<_>>().join("\n");
    for range in ["HEAD~1..HEAD", "HEAD~1...HEAD", "HEAD~1.."] {
        assert_eq!(without_head(&project.run_ok(&format!("diff {range}"))), without_head(&two), "{range}");
    }
    assert!(project.run_ok("compare retry_request HEAD~1..HEAD").contains("times: u32"));
    assert!(project.run_expecting("compare retry_request HEAD~1", 2).contains("`HEAD` is missing"));
}

#[test]
fn a_folder_has_an_outline_of_all_its_files() {
    let project = service();
    let told = project.run_ok("outline src");
    for part in ["src: 2 files", "src/a.rs", "retry_request", "src/deep/b.rs", "Pool"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(project.run_ok("outline .").contains("1 without symbols"));
    assert!(project.run_ok("outline src --name pool").contains("Pool"));
    assert_eq!(project.json_expecting("outline src", 1)["error"]["code"], "file_not_found");
}

#[test]
fn usage_errors_suggest_corrections() {
    let project = service();
    let table = [
        ("search x --kind nonsense", 2, "Unknown `--kind` \"nonsense\""),
        ("search x --path-filter [", 2, "Invalid pattern in `--path-filter`"),
        ("context x --max-tokens 0", 2, "`--max-tokens` is 0"),
        ("search retry --limit 0", 0, "warning: `--limit` 0 was changed to 1"),
        ("hierarchy twin", 0, "src/a.rs:2 pub fn twin()"),
        ("hierarchy twin", 0, "others with this name: src/deep/b.rs:2"),
        ("outline src/b.rs", 1, "Did you mean src/deep/b.rs?"),
        ("outline src/aa.rs", 1, "Did you mean src/a.rs?"),
        ("outline note.md", 1, "Did you mean notes.md?"),
        ("serch x", 2, "'search'"),
        ("search x --limt 3", 2, "'--limit'"),
        ("setup cursr", 2, "'cursor'"),
        ("locate x --workspace srcc", 5, "Did you mean src?"),
        ("man serch", 2, "There is no command \"serch\""),
    ];
    for (command, code, part) in table {
        let told = project.run_expecting(command, code);
        assert!(told.contains(part), "`{command}` said:\n{told}");
    }
    // JSON uses the contracts' names.
    let error = project.json_expecting("search x --kind nonsense", 2);
    assert!(error["error"]["message"].as_str().is_some_and(|text| text.contains("`kind`")), "{error}");
}

#[test]
fn version_shows_schema_and_facts() {
    let project = service();
    let told = project.run_ok("--version");
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("codecompass 0.") && lines[1].starts_with("schema "), "{told}");
    assert!(lines[2].starts_with("grammars ") && lines[2].contains("rust ") && lines[2].contains("go "), "{told}");
    assert_eq!(project.run_ok("-V").lines().count(), 1);
}
