//! `codecompass doctor --client`: checks which entry a client uses and what keeps it from using it, that the entry
//! starts this program, and that the server answers.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use super::doctor::{Finding, render_findings};
use super::setup::{SetupFolders, clients_by_name};
use crate::cli::Common;
use codecompass_setup::client_state::restart::after_stop;
use codecompass_setup::client_state::{ClientPlace, ClientState, FoundEntry, Severity};
use codecompass_setup::clients::{CLIENTS, Client, Folder};
use codecompass_setup::entry;
use codecompass_tools::CORE_TOOLS;
use codecompass_workspace::data_location::VARIABLE as DATA_VARIABLE;
use codecompass_workspace::error::AppError;
use codecompass_workspace::launch::{Launch, ServerCommand, is_this_program, resolve_program};
use codecompass_workspace::measure::seconds_text;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::Answer;

/// The start time that users do not notice.
const EXPECTED_START_TIME: Duration = Duration::from_secs(1);

/// The maximum time to wait for the server.
const SERVER_START_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn run(common: &Common, names: &[String]) -> Result<Answer, AppError> {
    let (own, project) = (SetupFolders::find(common, false)?, SetupFolders::find(common, true).ok());
    let clients: Vec<&'static Client> = match names.is_empty() {
        true => {
            CLIENTS.iter().filter(|client| client.user.is_some() && own.environment().is_installed(client)).collect()
        }
        false => clients_by_name(names),
    };
    let mut findings = Vec::new();
    for client in clients {
        let look = ClientCheck { client, own: &own, project: project.as_ref().and_then(SetupFolders::project) };
        let mut found = look.findings();
        found.sort_by_key(Finding::level);
        findings.extend(found);
    }
    if findings.is_empty() {
        let fix = "run `codecompass setup CLIENT`, or `doctor --client CLIENT`".to_owned();
        findings.push(Finding::bad("clients", "no client is installed", fix));
    }
    render_findings(&findings, Metadata::unknown())
}

/// One client, and the locations of its files.
struct ClientCheck<'a> {
    client: &'static Client,
    own: &'a SetupFolders,
    /// The root of the repository.
    project: Option<&'a Path>,
}

impl ClientCheck<'_> {
    fn findings(&self) -> Vec<Finding> {
        let title = self.client.title;
        if self.client.user.is_none() {
            let what = "its file cannot be checked; `codecompass setup --print` shows the entry to add";
            return vec![Finding::good(title, what)];
        }
        let here = match std::env::current_dir() {
            Ok(here) => here,
            Err(error) => return vec![Finding::bad(title, error.to_string(), "run this in an existing folder")],
        };
        // With `--workspace`, the client is opened in another folder than this one.
        let folder = self.project.filter(|root| !here.starts_with(root)).unwrap_or(&here);
        let tools: Vec<&str> = CORE_TOOLS.iter().map(|(name, _)| *name).collect();
        let place = ClientPlace {
            user: self.own.environment(),
            folder,
            project: self.project,
            system: folder.ancestors().last().unwrap_or(folder),
            tools: &tools,
        };
        let state = ClientState::read(self.client, &place);
        let mut findings: Vec<Finding> = state
            .remarks
            .iter()
            .map(|remark| match remark.severity {
                Severity::Note => Finding::note(title, &*remark.message, remark.fix.clone()),
                Severity::Problem => Finding::bad(title, &*remark.message, remark.fix.clone().unwrap_or_default()),
            })
            .collect();
        if state.entries.is_empty() && !state.has_unreadable_file() {
            let fix = format!("run `codecompass setup {}`", self.client.name);
            findings.push(Finding::bad(title, "not configured", fix));
        }
        for entry in &state.entries {
            findings.extend(self.check_entry(entry, &place, &here));
        }
        findings
    }

    /// Checks an entry and the server it starts.
    fn check_entry(&self, entry: &FoundEntry, place: &ClientPlace<'_>, here: &Path) -> Vec<Finding> {
        let title = self.client.title;
        let mut findings = vec![Finding::good(title, format!("configured in {}", place.short(&entry.file)))];
        let fix = || format!("run `codecompass setup {}`", self.client.name);
        let Some(line) = entry::parse_entry(entry.shape, &entry.value) else {
            findings.push(Finding::bad(title, "the entry has no command", fix()));
            return findings;
        };
        let command = std::iter::once(&line.program).chain(&line.arguments).cloned().collect::<Vec<_>>().join(" ");
        let path = std::env::var_os("PATH");
        let is_ours = is_this_program(&line.program, path.as_deref());
        let resolved = resolution_text(&line.program, path.as_deref());
        if !is_ours {
            let what = format!("the entry starts another program (not run): {command}{resolved}");
            findings.push(Finding::bad(title, what, fix()));
            return findings;
        }
        findings.push(Finding::good(title, format!("command: {command}{resolved}")));
        findings.extend(self.data_folder_note(&line));
        match self.check_server(&line, here) {
            Ok(what) => findings.push(Finding::good(title, what)),
            Err(what) => {
                findings.push(Finding::bad(title, what, "read the message; `codecompass doctor` checks the index"));
                let step = after_stop(self.client.name);
                findings.push(Finding::note(title, format!("in an open session: {step}"), None));
            }
        }
        findings
    }

    /// The data folder of this shell reaches a server only if the client is started from this shell.
    fn data_folder_note(&self, line: &ServerCommand) -> Option<Finding> {
        let is_set = std::env::var_os(DATA_VARIABLE).is_some_and(|value| !value.is_empty());
        let is_fixed = line.variables.iter().any(|(name, _)| name == DATA_VARIABLE);
        let what = match self.passes(line, DATA_VARIABLE) {
            true => "only a client started from this shell uses",
            false => "the client does not pass on",
        };
        (is_set && !is_fixed).then(|| {
            Finding::note(
                self.client.title,
                format!("{what} this shell's {DATA_VARIABLE} ({})", self.own.data.display()),
                Some(format!("set it for your desktop session, too, or run `codecompass setup {}`", self.client.name)),
            )
        })
    }

    /// Starts the server as the client does, and sends it a request.
    fn check_server(&self, line: &ServerCommand, here: &Path) -> Result<String, String> {
        let start = &self.client.start;
        let opened = self.project.unwrap_or(here);
        let folder = match start.folder {
            Folder::Project => opened,
            Folder::Root => Path::new("/"),
            Folder::Home => &self.own.home,
        };
        let launch =
            Launch::from_entry(line, opened, folder).map_err(|why| format!("the server was not started: {why}"))?;
        let began = Instant::now();
        let mut server = launch
            .start(&self.passed_variables(line, opened))
            .map_err(|error| format!("the server does not start: {error}"))?;
        server.open(start.roots.then_some(opened), SERVER_START_TIMEOUT)?;
        let opened_in = began.elapsed();
        if self.project.is_none() {
            let where_to = "run this in a repository to test a query";
            return Ok(format!("initialized in {}; {where_to}", seconds_text(opened_in)));
        }
        let began = Instant::now();
        let mut question = json!({ "name": "search_code", "arguments": { "query": "main", "limit": 1 } });
        if !start.reports_folder() {
            question["arguments"]["workspace"] = json!(opened);
        }
        let answer = server.ask("tools/call", question, SERVER_START_TIMEOUT)?;
        let answered_in = began.elapsed();
        let serving = match start.reports_folder() {
            true => server.find_log_line("serving ", EXPECTED_START_TIME).unwrap_or_else(|| "no workspace".into()),
            false => format!("{} when a call names it", opened.display()),
        };
        let times =
            format!("initialized in {}, first answer in {}", seconds_text(opened_in), seconds_text(answered_in));
        let report = format!("{times}; serving {serving}");
        let data = self.own.data.display().to_string();
        if serving.split_once(" with data in ").is_some_and(|(_, other)| other != data) {
            return Err(format!("{report}, but this shell uses the data folder {data}"));
        }
        if answer["isError"] == json!(true) {
            let text = answer["content"][0]["text"].as_str().unwrap_or_default();
            let is_new = text.contains("project_not_found") || text.contains("index_not_ready");
            if is_new && line.arguments.iter().any(|word| word == "--auto-index") {
                return Ok(format!("{report}; it is indexed at the client's first call"));
            }
            let first: Vec<&str> = text.lines().take(2).collect();
            return Err(format!("{report}: {}", first.join(" ")));
        }
        match opened_in + answered_in < EXPECTED_START_TIME {
            true => Ok(report),
            false => Err(format!("slow: {report}")),
        }
    }

    /// Whether the client passes on a variable.
    fn passes(&self, line: &ServerCommand, name: &str) -> bool {
        self.client.start.passes.is_none_or(|names| names.contains(&name))
            || line.passed.iter().any(|listed| listed == name)
    }

    /// The variables that the client passes on when it is started from this shell, and those that it adds. Names of
    /// open folders are of the client that started this shell.
    fn passed_variables(&self, line: &ServerCommand, opened: &Path) -> Vec<(String, OsString)> {
        let is_folder = |name: &str| name.ends_with("_PROJECT_DIR") || name == "WORKSPACE_FOLDER_PATHS";
        let mut passed: Vec<(String, OsString)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| self.passes(line, name) && !is_folder(name))
            .collect();
        let folder = self.client.start.project_variable;
        passed.extend(folder.map(|name| (name.to_owned(), PathBuf::from(opened).into_os_string())));
        passed
    }
}

/// The program that a name without a folder refers to.
fn resolution_text(program: &str, path: Option<&OsStr>) -> String {
    if Path::new(program).components().count() > 1 {
        return String::new();
    }
    match resolve_program(program, path) {
        Some(file) => format!(" ({program} is {})", file.display()),
        None => format!(" ({program} is not on PATH)"),
    }
}
