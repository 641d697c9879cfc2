//! `codecompass setup` and `unsetup`: install and remove our entry in the files of clients.

use std::path::{Path, PathBuf};

use codecompass_index::source::Workspace;
use serde_json::{Value, json};

use crate::cli::{Common, SetupArgs, UnsetupArgs};
use crate::config::Answers;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::launch::is_own;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::server;
use crate::session::{data_folder, kill_point};
use crate::setup::clients::{CLIENTS, Client, Surroundings};
use crate::setup::entry::{NAME, Wanted};
use crate::setup::{self, Desk, Outcome, Step, Way, What};

pub(crate) fn run(common: &Common, args: &SetupArgs) -> Result<Answer, AppError> {
    server::check_tools(args.tools.as_deref(), args.answers)?;
    let place = Here::find(common, args.project)?;
    let around = place.around();
    let clients = match args.clients.is_empty() {
        false => named(&args.clients),
        true => CLIENTS.iter().filter(|client| around.has(client)).collect(),
    };
    if clients.is_empty() {
        return Ok(nobody());
    }
    let program = program()?;
    let wanted = Wanted { program: &program, data: &place.data, answers: args.answers, tools: args.tools.as_deref() };
    if args.print {
        return Ok(printed(&clients, &around, &wanted));
    }
    let mut whats = vec![What::Entry];
    whats.extend(args.instructions.then_some(What::Instructions));
    whats.extend(args.skill.then_some(What::Skill));
    let (steps, without) = setup::steps(&clients, &around, &wanted, &whats);
    let mut report = Report::new(&place.home, args.dry_run, Way::In);
    report.steps(&steps, &place.desk(args.dry_run).take(&steps, Way::In).map_err(locked)?);
    let is_named = !args.clients.is_empty();
    for (client, what) in without {
        report.without(client, what, setup::shown(client, &around, &wanted), is_named, args.project);
    }
    Ok(report.answer(&[]))
}

pub(crate) fn run_back(common: &Common, args: &UnsetupArgs) -> Result<Answer, AppError> {
    let place = Here::find(common, args.project)?;
    let around = place.around();
    let clients = if args.clients.is_empty() { CLIENTS.iter().collect() } else { named(&args.clients) };
    let program = program()?;
    let wanted = Wanted { program: &program, data: &place.data, answers: Answers::Text, tools: None };
    let whats = [What::Entry, What::Instructions, What::Skill];
    let (steps, _) = setup::steps(&clients, &around, &wanted, &whats);
    let mut report = Report::new(&place.home, args.dry_run, Way::Out);
    report.steps(&steps, &place.desk(args.dry_run).take(&steps, Way::Out).map_err(locked)?);
    Ok(report.answer(&args.clients))
}

/// The absolute path of this program.
pub(crate) fn program() -> Result<PathBuf, AppError> {
    std::env::current_exe()
        .map_err(|error| AppError::new(Code::InternalError, format!("The path of this program is unknown: {error}.")))
}

/// The clients with these names; clap has checked them.
pub(crate) fn named(names: &[String]) -> Vec<&'static Client> {
    CLIENTS.iter().filter(|client| names.iter().any(|name| name == client.name)).collect()
}

fn locked(error: std::io::Error) -> AppError {
    AppError::new(Code::InternalError, format!("Cannot write to the data folder: {error}."))
}

/// The folders of a setup.
pub(crate) struct Here {
    pub(crate) home: PathBuf,
    pub(crate) data: PathBuf,
    project: Option<PathBuf>,
}

impl Here {
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

    pub(crate) fn around(&self) -> Surroundings<'_> {
        let variable = &|name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Surroundings { home: self.home.clone(), project: self.project.as_deref(), variable }
    }

    /// The root of the project.
    pub(crate) fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    fn desk(&self, dry_run: bool) -> Desk<'_> {
        Desk { data: &self.data, project: self.project.clone(), dry_run, point: kill_point() }
    }
}

fn nobody() -> Answer {
    let names: Vec<&str> = CLIENTS.iter().map(|client| client.name).collect();
    let text = format!(
        "No client is installed. Name one to set it up anyway: {}\n",
        names.iter().map(|name| style::name(name)).collect::<Vec<_>>().join(", ")
    );
    let json = json!({ "clients": [], "known": names, "metadata": Metadata::unknown().to_json() });
    Answer { text, json, code: 1 }
}

/// The entries and their files, for `--print`; nothing is written.
fn printed(clients: &[&'static Client], around: &Surroundings<'_>, wanted: &Wanted<'_>) -> Answer {
    let (mut text, mut items) = (String::new(), Vec::new());
    for client in clients {
        let Some(shown) = setup::shown(client, around, wanted) else {
            text += &format!("{}: has no project file\n", style::name(client.title));
            continue;
        };
        text += &format!(
            "{}: {}\n{}\n",
            style::name(client.title),
            style::path(&crate::escape::shown(&shown.place)),
            shown.text
        );
        items.push(json!({
            "client": client.name, "what": "entry", "outcome": "printed", "file": shown.place, "entry": shown.entry,
            "text": shown.text,
        }));
    }
    Answer { text, json: json!({ "clients": items, "metadata": Metadata::unknown().to_json() }), code: 0 }
}

/// The report about each file.
struct Report<'a> {
    home: &'a Path,
    dry_run: bool,
    way: Way,
    text: String,
    items: Vec<Value>,
    is_refused: bool,
    is_changed: bool,
}

impl<'a> Report<'a> {
    fn new(home: &'a Path, dry_run: bool, way: Way) -> Self {
        Self { home, dry_run, way, text: String::new(), items: Vec::new(), is_refused: false, is_changed: false }
    }

    fn steps(&mut self, steps: &[Step], outcomes: &[Outcome]) {
        for (step, outcome) in steps.iter().zip(outcomes) {
            self.step(step, outcome);
        }
    }

    fn step(&mut self, step: &Step, outcome: &Outcome) {
        let path = shown(&short(&step.path, self.home)).into_owned();
        let titles: Vec<&str> = step.clients.iter().map(|client| client.title).collect();
        let who = style::name(&titles.join(", "));
        let thing = match step.what {
            What::Entry => "",
            What::Instructions => "the instructions in ",
            What::Skill => "the skill ",
        };
        let (word, why) = match (outcome, self.way) {
            (Outcome::Same, Way::In) => ("unchanged", None),
            // Without an entry of ours there is nothing to report: `unsetup` goes through all clients.
            (Outcome::Same, Way::Out) => return,
            (Outcome::Changed(_), _) if self.dry_run => ("would_change", None),
            (Outcome::Changed(_), _) => ("changed", None),
            (Outcome::Refused(why), _) => ("refused", Some(why.as_str())),
        };
        let done = match (word, self.way) {
            ("unchanged", _) => format!("{thing}{} is already set up", style::path(&path)),
            ("would_change", _) => format!("{thing}{} would change", style::path(&path)),
            ("changed", Way::In) => format!("{thing}{} updated (verified)", style::path(&path)),
            ("changed", Way::Out) => format!("removed codecompass from {thing}{} (verified)", style::path(&path)),
            _ => format!("{thing}{} not changed: {}", style::path(&path), shown(why.unwrap_or_default())),
        };
        self.text += &format!("{who}: {done}\n");
        if let Outcome::Changed(lines) = outcome {
            self.text += lines;
            self.is_changed = true;
        }
        let is_note_due = self.way == Way::In && why.is_none();
        if let Some(note) = step.note.filter(|_| is_note_due) {
            self.text += &format!("    {note}\n");
        }
        if step.is_bare && is_note_due && !is_own(NAME, std::env::var_os("PATH").as_deref()) {
            self.text += &format!(
                "    {}: `{NAME}` on your PATH is not this program, and a shared file cannot use an absolute path.\n",
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
            }));
        }
    }

    /// Reports a client without such a file: prints the manual entry if there is one, and says so if the client was
    /// named.
    fn without(&mut self, client: &Client, what: What, shown: Option<setup::Shown>, is_named: bool, is_project: bool) {
        let who = style::name(client.title);
        let mut item = json!({ "client": client.name, "what": kind(what), "outcome": "none" });
        match (what, shown) {
            (What::Entry, Some(shown)) => {
                let place = style::path(&crate::escape::shown(&shown.place));
                self.text += &format!("{who}: add this manually: {place}\n{}", indented(&shown.text));
                item["outcome"] = json!("printed");
                item["file"] = json!(shown.place);
                item["entry"] = shown.entry;
            }
            _ if !is_named => return,
            (What::Entry, None) => self.text += &format!("{who}: has no project file\n"),
            (what, _) => {
                let which = if what == What::Skill { "skills" } else { "instructions" };
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
        if self.is_changed && self.way == Way::In && !self.dry_run {
            self.text += "Restart the client, then ask it about the code. Its first query indexes the repository in the \
                          background; `codecompass index` does that now. `codecompass doctor --client` checks that the \
                          server answers; `codecompass unsetup` undoes everything.\n";
        }
        let code = u8::from(self.is_refused);
        Answer {
            text: self.text,
            json: json!({ "clients": self.items, "metadata": Metadata::unknown().to_json() }),
            code,
        }
    }
}

fn kind(what: What) -> &'static str {
    match what {
        What::Entry => "entry",
        What::Instructions => "instructions",
        What::Skill => "skill",
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {}\n", shown(line))).collect()
}

/// A path with `~` for the home folder.
pub(crate) fn short(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(inside) if !inside.as_os_str().is_empty() => format!("~/{}", inside.display()),
        _ => path.display().to_string(),
    }
}
