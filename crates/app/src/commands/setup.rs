//! `codecompass setup` and `unsetup`: install and remove our entry in the files of clients.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use codecompass_index::source::{Workspace, real_path};
use serde_json::{Value, json};

use crate::cli::{Common, SetupArgs, UnsetupArgs};
use codecompass_serve::server;
use codecompass_setup::clients::ENTRY_NAME;
use codecompass_setup::clients::{CLIENTS, Client, Environment};
use codecompass_setup::display_path;
use codecompass_setup::entry::EntryOptions;
use codecompass_setup::{self, Installer, SetupAction, SetupItem, SetupStep, StepOutcome, StepReport};
use codecompass_workspace::config::AnswerFormat;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::launch::{find_program, is_this_program};
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{self, Answer, style};
use codecompass_workspace::session::{data_folder, kill_point};

pub(crate) fn run(common: &Common, args: &SetupArgs) -> Result<Answer, AppError> {
    server::check_tools(args.tools.as_deref(), args.answers.into())?;
    let place = SetupFolders::find(common, args.project)?;
    let around = place.environment();
    let clients = match args.clients.is_empty() {
        false => clients_by_name(&args.clients),
        true => CLIENTS.iter().filter(|client| around.is_installed(client)).collect(),
    };
    if clients.is_empty() {
        return Ok(no_clients_found());
    }
    let program = program()?;
    let wanted = EntryOptions {
        program: &program,
        data: &place.data,
        answers: args.answers.into(),
        tools: args.tools.as_deref(),
        trust: args.trust,
    };
    if args.print {
        return Ok(print_entries(&clients, &around, &wanted));
    }
    let mut whats = vec![SetupItem::Entry];
    whats.extend(args.instructions.then_some(SetupItem::Instructions));
    whats.extend(args.skill.then_some(SetupItem::Skill));
    let (steps, without) = codecompass_setup::steps(&clients, &around, &wanted, &whats);
    if should_ask(common, args) && !confirm_changes(&place, &steps)? {
        return Ok(nothing_changed());
    }
    let mut report = Report::new(&place.home, args.dry_run, SetupAction::Install);
    report.steps(&steps, &place.installer(args.dry_run).apply(&steps, SetupAction::Install).map_err(lock_error)?);
    let is_named = !args.clients.is_empty();
    for (client, what) in without {
        report.report_unsupported(
            client,
            what,
            codecompass_setup::manual_entry(client, &around, &wanted),
            is_named,
            args.project,
        );
    }
    Ok(report.answer(&[]))
}

/// Whether a person is there who can be asked before files are edited.
fn should_ask(common: &Common, args: &SetupArgs) -> bool {
    !args.yes && !args.dry_run && !common.json && output::stdin_is_terminal() && output::stdout_is_terminal()
}

/// Shows the changes and asks whether to make them. Without changes there is nothing to ask.
fn confirm_changes(place: &SetupFolders, steps: &[SetupStep]) -> Result<bool, AppError> {
    let mut report = Report::new(&place.home, true, SetupAction::Install);
    report.steps(steps, &place.installer(true).apply(steps, SetupAction::Install).map_err(lock_error)?);
    let changes = report.items.iter().filter(|item| item["outcome"] == "would_change").map(|item| &item["file"]);
    let files: BTreeSet<&str> = changes.filter_map(Value::as_str).collect();
    if files.is_empty() {
        return Ok(true);
    }
    let this = if files.len() == 1 { "this file" } else { "these files" };
    Ok(output::confirm(&report.text, &format!("Edit {this}?")))
}

fn nothing_changed() -> Answer {
    let text = "Nothing was changed. `codecompass setup --yes` does not ask.\n".to_owned();
    Answer { text, json: json!({ "clients": [], "metadata": Metadata::unknown() }), code: 1 }
}

pub(crate) fn run_unsetup(common: &Common, args: &UnsetupArgs) -> Result<Answer, AppError> {
    let place = SetupFolders::find(common, args.project)?;
    let around = place.environment();
    let clients = if args.clients.is_empty() { CLIENTS.iter().collect() } else { clients_by_name(&args.clients) };
    let program = program()?;
    let wanted =
        EntryOptions { program: &program, data: &place.data, answers: AnswerFormat::Text, tools: None, trust: false };
    let whats = [SetupItem::Entry, SetupItem::Instructions, SetupItem::Skill];
    let (steps, _) = codecompass_setup::steps(&clients, &around, &wanted, &whats);
    let mut report = Report::new(&place.home, args.dry_run, SetupAction::Remove);
    report.steps(&steps, &place.installer(args.dry_run).apply(&steps, SetupAction::Remove).map_err(lock_error)?);
    Ok(report.answer(&args.clients))
}

/// The absolute path of this program, as the user invoked it: a package manager's link stays when an upgrade replaces
/// the versioned folder that it leads to.
pub(crate) fn program() -> Result<PathBuf, AppError> {
    let own = std::env::current_exe().map_err(|error| {
        AppError::new(Code::InternalError, format!("The path of this program is unknown: {error}."))
    })?;
    Ok(invoked_program(&own).unwrap_or(own))
}

/// The path by which this program was invoked, if it leads to this program and is stable: absolute, without `..`, and
/// not in the folder for temporary files.
fn invoked_program(own: &Path) -> Option<PathBuf> {
    let word = std::env::args_os().next()?;
    let path = find_program(word.to_str()?, std::env::var_os("PATH").as_deref())?;
    let is_stable = !path.components().any(|step| step == Component::ParentDir)
        && (own.starts_with(std::env::temp_dir()) || !path.starts_with(std::env::temp_dir()));
    (is_stable && real_path(&path).ok()? == real_path(own).ok()?).then_some(path)
}

/// The clients with these names; clap has checked them.
pub(crate) fn clients_by_name(names: &[String]) -> Vec<&'static Client> {
    CLIENTS.iter().filter(|client| names.iter().any(|name| name == client.name)).collect()
}

fn lock_error(error: std::io::Error) -> AppError {
    AppError::new(Code::InternalError, format!("Cannot write to the data folder: {error}."))
}

/// The folders of a setup.
pub(crate) struct SetupFolders {
    pub(crate) home: PathBuf,
    pub(crate) data: PathBuf,
    project: Option<PathBuf>,
}

impl SetupFolders {
    pub(crate) fn find(common: &Common, is_project: bool) -> Result<Self, AppError> {
        let home = std::env::home_dir().filter(|home| home.is_absolute()).ok_or_else(|| {
            AppError::new(Code::InvalidInput, "The home folder is unknown.").hint("Set HOME to an absolute path.")
        })?;
        let asked = common.workspace.as_deref().unwrap_or(Path::new("."));
        let project = match is_project {
            true => Some(Workspace::discover(asked, Some(&home))?.root),
            false => None,
        };
        Ok(Self { home, data: data_folder()?, project })
    }

    pub(crate) fn environment(&self) -> Environment<'_> {
        let variable = &|name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Environment { home: self.home.clone(), project: self.project.as_deref(), variable }
    }

    /// The root of the project.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    fn installer(&self, dry_run: bool) -> Installer<'_> {
        Installer { data: &self.data, project: self.project.clone(), dry_run, point: kill_point() }
    }
}

fn no_clients_found() -> Answer {
    let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    let text = format!(
        "No client is installed. Name one to set it up anyway: {}\n",
        names.iter().map(|name| style::name(name)).collect::<Vec<_>>().join(", ")
    );
    let json = json!({ "clients": [], "known": names, "metadata": Metadata::unknown() });
    Answer { text, json, code: 1 }
}

/// The entries and their files, for `--print`; nothing is written.
fn print_entries(clients: &[&'static Client], around: &Environment<'_>, wanted: &EntryOptions<'_>) -> Answer {
    let (mut text, mut items) = (String::new(), Vec::new());
    for client in clients {
        let Some(shown) = codecompass_setup::manual_entry(client, around, wanted) else {
            text += &format!("{}: has no project file\n", style::name(client.title));
            continue;
        };
        text += &format!(
            "{}: {}\n{}\n",
            style::name(client.title),
            style::path(&codecompass_workspace::escape::escape_control(&shown.place)),
            shown.text
        );
        items.push(json!({
            "client": client.name, "what": "entry", "outcome": "printed", "file": shown.place, "entry": shown.entry,
            "text": shown.text,
        }));
    }
    Answer { text, json: json!({ "clients": items, "metadata": Metadata::unknown() }), code: 0 }
}

/// The report about each file.
struct Report<'a> {
    home: &'a Path,
    dry_run: bool,
    action: SetupAction,
    text: String,
    items: Vec<Value>,
    is_refused: bool,
    is_changed: bool,
}

impl<'a> Report<'a> {
    fn new(home: &'a Path, dry_run: bool, way: SetupAction) -> Self {
        Self {
            home,
            dry_run,
            action: way,
            text: String::new(),
            items: Vec::new(),
            is_refused: false,
            is_changed: false,
        }
    }

    fn steps(&mut self, steps: &[SetupStep], reports: &[StepReport]) {
        for (step, report) in steps.iter().zip(reports) {
            self.step(step, report);
        }
    }

    fn step(&mut self, step: &SetupStep, StepReport { outcome, note }: &StepReport) {
        let path = escape_control(&display_path(&step.path, self.home)).into_owned();
        let titles: Vec<&str> = step.clients.iter().map(|client| client.title).collect();
        let who = style::name(&titles.join(", "));
        let thing = match step.what {
            SetupItem::Entry => "",
            SetupItem::Instructions => "the instructions in ",
            SetupItem::Skill => "the skill ",
        };
        let (word, why) = match (outcome, self.action) {
            (StepOutcome::Unchanged, SetupAction::Install) => ("unchanged", None),
            // Without an entry of ours there is nothing to report: `unsetup` goes through all clients.
            (StepOutcome::Unchanged, SetupAction::Remove) => return,
            (StepOutcome::Changed(_), _) if self.dry_run => ("would_change", None),
            (StepOutcome::Changed(_), _) => ("changed", None),
            (StepOutcome::Refused(why), _) => ("refused", Some(why.as_str())),
        };
        let done = match (word, self.action) {
            ("unchanged", _) => format!("{thing}{} is already set up", style::path(&path)),
            ("would_change", _) => format!("{thing}{} would change", style::path(&path)),
            ("changed", SetupAction::Install) => format!("{thing}{} updated (verified)", style::path(&path)),
            ("changed", SetupAction::Remove) => {
                format!("removed codecompass from {thing}{} (verified)", style::path(&path))
            }
            _ => format!("{thing}{} not changed: {}", style::path(&path), escape_control(why.unwrap_or_default())),
        };
        self.text += &format!("{who}: {done}\n");
        if let StepOutcome::Changed(lines) = outcome {
            self.text += lines;
            self.is_changed = true;
        }
        let is_note_due = self.action == SetupAction::Install && why.is_none();
        let notes: Vec<&str> = step.notes.iter().chain(note).map(String::as_str).filter(|_| is_note_due).collect();
        self.text += &notes.iter().map(|note| format!("    {note}\n")).collect::<String>();
        if step.is_bare && is_note_due && !is_this_program(ENTRY_NAME, std::env::var_os("PATH").as_deref()) {
            self.text += &format!(
                "    {}: `{ENTRY_NAME}` on your PATH is not this program, and a shared file cannot use an absolute path.\n",
                style::hit("The server will not start")
            );
        }
        self.is_refused |= why.is_some();
        for client in &step.clients {
            self.items.push(json!({
                "client": client.name,
                "what": kind(step.what),
                "file": step.path.display().to_string(),
                "outcome": word,
                "message": why,
                "notes": notes,
            }));
        }
    }

    /// Reports a client without such a file: prints the manual entry if there is one, and says so if the client was
    /// named.
    fn report_unsupported(
        &mut self,
        client: &Client,
        what: SetupItem,
        shown: Option<codecompass_setup::ManualEntry>,
        is_named: bool,
        is_project: bool,
    ) {
        let who = style::name(client.title);
        let mut item = json!({ "client": client.name, "what": kind(what), "outcome": "none" });
        match (what, shown) {
            (SetupItem::Entry, Some(shown)) => {
                let place = style::path(&codecompass_workspace::escape::escape_control(&shown.place));
                self.text += &format!("{who}: add this manually: {place}\n{}", indented(&shown.text));
                item["outcome"] = json!("printed");
                item["file"] = json!(shown.place);
                item["entry"] = shown.entry;
            }
            _ if !is_named => return,
            (SetupItem::Entry, None) => self.text += &format!("{who}: has no project file\n"),
            (what, _) => {
                let which = if what == SetupItem::Skill { "skills" } else { "instructions" };
                let hint = if is_project { "" } else { "; try --project" };
                self.text += &format!("{who}: has no file for {which} here{hint}\n");
            }
        }
        self.items.push(item);
    }

    fn answer(mut self, asked: &[String]) -> Answer {
        if self.text.is_empty() {
            let who = if asked.is_empty() { String::new() } else { format!(" of {}", asked.join(", ")) };
            self.text = format!("codecompass is not configured in any file{who}.\n");
        }
        if self.is_changed && self.action == SetupAction::Install && !self.dry_run {
            self.text += "Restart the client, then ask it about the code. Its first query indexes the repository in the \
                          background; `codecompass index` does that now. `codecompass doctor --client` checks that the \
                          server answers; `codecompass unsetup` undoes everything.\n";
        }
        let code = u8::from(self.is_refused);
        Answer { text: self.text, json: json!({ "clients": self.items, "metadata": Metadata::unknown() }), code }
    }
}

fn kind(what: SetupItem) -> &'static str {
    match what {
        SetupItem::Entry => "entry",
        SetupItem::Instructions => "instructions",
        SetupItem::Skill => "skill",
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {}\n", escape_control(line))).collect()
}
