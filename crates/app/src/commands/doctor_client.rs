//! `codecompass doctor --client`: checks that a client has our entry, that it starts this program, and that the server
//! answers.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::doctor::{Finding, render_findings};
use super::setup::{SetupFolders, clients_by_name, display_path};
use crate::cli::Common;
use crate::error::AppError;
use crate::launch::{Launch, ServerCommand, is_this_program};
use crate::measure::seconds_text;
use crate::metadata::{Metadata, MetadataText};
use crate::output::Answer;
use crate::setup::clients::{CLIENTS, Client, ConfigFile, Folder};
use crate::setup::entry;
use crate::setup::existing_entry;

/// The start time that users do not notice.
const EXPECTED_START_TIME: Duration = Duration::from_secs(1);

/// The maximum time to wait for the server.
const SERVER_START_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn run(common: &Common, names: &[String]) -> Result<Answer, AppError> {
    let (own, project) = (SetupFolders::find(common, false)?, SetupFolders::find(common, true).ok());
    let clients: Vec<&Client> = match names.is_empty() {
        true => {
            CLIENTS.iter().filter(|client| client.user.is_some() && own.environment().is_installed(client)).collect()
        }
        false => clients_by_name(names),
    };
    let mut findings = Vec::new();
    for client in clients {
        let look = ClientCheck { client, own: &own, project: project.as_ref() };
        findings.extend(look.findings());
    }
    if findings.is_empty() {
        let mend = "run `codecompass setup CLIENT`, or `doctor --client CLIENT`".to_owned();
        findings.push(Finding::bad("clients", "no client is installed", mend));
    }
    Ok(render_findings(&findings, Metadata::unknown().to_json()))
}

/// One client, and the locations of its files.
struct ClientCheck<'a> {
    client: &'static Client,
    own: &'a SetupFolders,
    project: Option<&'a SetupFolders>,
}

impl ClientCheck<'_> {
    fn findings(&self) -> Vec<Finding> {
        if self.client.user.is_none() {
            let what = "its file cannot be checked; `codecompass setup --print` shows the entry to add";
            return vec![Finding::good(self.client.title, what)];
        }
        let spots = [(self.client.user, Some(self.own)), (self.client.project, self.project)];
        let mut findings = Vec::new();
        let mut is_there = false;
        for (spot, here) in spots {
            let Some((spot, here)) = spot.zip(here) else { continue };
            let Some(path) = here.environment().config_file(&spot) else { continue };
            match existing_entry(spot.shape, &path) {
                Ok(None) => {}
                Ok(Some(entry)) => {
                    is_there = true;
                    findings.extend(self.check_entry(&spot, &path, &entry));
                }
                Err(why) => {
                    is_there = true;
                    let what = format!("{}: {why}", self.short(&path));
                    findings.push(Finding::bad(self.client.title, what, "fix the file manually"));
                }
            }
        }
        if !is_there {
            let mend = format!("run `codecompass setup {}`", self.client.name);
            findings.push(Finding::bad(self.client.title, "not configured", mend));
        }
        findings
    }

    fn short(&self, path: &Path) -> String {
        display_path(path, &self.own.home)
    }

    /// Checks an entry and the server it starts.
    fn check_entry(&self, spot: &ConfigFile, path: &Path, entry: &Value) -> Vec<Finding> {
        let title = self.client.title;
        let mut findings = vec![Finding::good(title, format!("configured in {}", self.short(path)))];
        let mend = || format!("run `codecompass setup {}`", self.client.name);
        let Some(line) = entry::parse_entry(spot.shape, entry) else {
            findings.push(Finding::bad(title, "the entry has no command", mend()));
            return findings;
        };
        let command = std::iter::once(&line.program).chain(&line.arguments).cloned().collect::<Vec<_>>().join(" ");
        if !is_this_program(&line.program, std::env::var_os("PATH").as_deref()) {
            let what = format!("the entry starts another program (not run): {command}");
            findings.push(Finding::bad(title, what, mend()));
            return findings;
        }
        findings.push(Finding::good(title, format!("command: {command}")));
        findings.push(match self.check_server(&line) {
            Ok(what) => Finding::good(title, what),
            Err(what) => Finding::bad(title, what, "read the message; `codecompass doctor` checks the index"),
        });
        findings
    }

    /// Starts the server as the client does, and sends it a request.
    fn check_server(&self, line: &ServerCommand) -> Result<String, String> {
        let start = &self.client.start;
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        let opened = self.project.and_then(SetupFolders::project).unwrap_or(&here);
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
        let told = format!("{times}; serving {serving}");
        let data = self.own.data.display().to_string();
        if serving.split_once(" with data in ").is_some_and(|(_, other)| other != data) {
            return Err(format!("{told}, but this shell uses the data folder {data}"));
        }
        if answer["isError"] == json!(true) {
            let text = answer["content"][0]["text"].as_str().unwrap_or_default();
            let is_new = text.contains("project_not_found") || text.contains("index_not_ready");
            if is_new && line.arguments.iter().any(|word| word == "--auto-index") {
                return Ok(format!("{told}; it is indexed at the client's first call"));
            }
            let first: Vec<&str> = text.lines().take(2).collect();
            return Err(format!("{told}: {}", first.join(" ")));
        }
        match opened_in + answered_in < EXPECTED_START_TIME {
            true => Ok(told),
            false => Err(format!("slow: {told}")),
        }
    }

    /// The variables that the client passes on, and those that it adds. Variables of this shell are not there when a
    /// client is started from a desktop.
    fn passed_variables(&self, line: &ServerCommand, opened: &Path) -> Vec<(String, OsString)> {
        let start = &self.client.start;
        let is_listed = |name: &str| line.passed.iter().any(|listed| listed == name);
        let is_passed = |name: &str| start.passes.is_none_or(|names| names.contains(&name)) || is_listed(name);
        let is_ours = |name: &str| name.starts_with("CODECOMPASS_") || name.ends_with("_PROJECT_DIR");
        let mut passed: Vec<(String, OsString)> = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
            .filter(|(name, _)| is_passed(name) && !is_ours(name) && name != "WORKSPACE_FOLDER_PATHS")
            .collect();
        passed.extend(start.project_variable.map(|name| (name.to_owned(), PathBuf::from(opened).into_os_string())));
        passed
    }
}
