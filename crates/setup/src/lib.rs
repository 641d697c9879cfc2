//! Setup of clients: inserts our entry, block or file, and restores the previous content to the byte.
//!
//! `clients` is the table of clients, `client_state` what a client does with our entries, `content` the inserted
//! content; `jsonc`, `toml_text`, `toml_list`, `yaml_text` and `block` edit a text, `file` writes it, `record` keeps the
//! data for undoing it. A client's file is never misread as something else: an unreadable file is left alone and
//! reported.

#![allow(missing_docs, reason = "only crates of this workspace use it; names that say all have no docs")]

mod block;
pub mod client_state;
pub mod clients;
mod content;
mod edit;
pub mod entry;
mod file;
mod jsonc;
mod record;
mod toml_list;
mod toml_text;
mod yaml_text;

use std::fs::File;
use std::path::{Path, PathBuf};

use codecompass_index::source::real_path;
use codecompass_store::{WritePoint, private};
use serde_json::Value;

use clients::{Client, ConfigFile, EntryFormat, Environment};
use content::{Content, EditError};
use edit::{apply, difference, fingerprint, inverse};
use entry::EntryOptions;
use record::Record;

/// The maximum number of attempts for a file that another program writes at the same time.
const MAX_ATTEMPTS: usize = 5;

/// Install or remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupAction {
    Install,
    Remove,
}

/// The kind of inserted content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupItem {
    Entry,
    Instructions,
    Skill,
}

/// A file to be changed, for one client or several.
pub struct SetupStep {
    pub clients: Vec<&'static Client>,
    pub what: SetupItem,
    pub path: PathBuf,
    /// Additional steps and effects for the user to know.
    pub notes: Vec<String>,
    /// The entry names our program without a folder, because the file is shared with other machines.
    pub is_bare: bool,
    content: Content,
}

/// The result of a step, and a note about a setting that could not be written.
pub struct StepReport {
    pub outcome: StepOutcome,
    pub note: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum StepOutcome {
    /// The file already has the wanted content.
    Unchanged,
    /// The file was changed, or would be; the removed and added lines.
    Changed(String),
    /// The file is unchanged, for this reason.
    Refused(String),
}

/// An entry that the user has to add by hand.
pub struct ManualEntry {
    pub place: String,
    pub text: String,
    pub entry: Value,
}

/// Applies changes and keeps records of them.
pub struct Installer<'a> {
    pub data: &'a Path,
    /// The root of the project, which no link inside may lead out of.
    pub project: Option<PathBuf>,
    pub dry_run: bool,
    pub point: Option<WritePoint>,
}

/// The steps for some clients: their entries and the other requested items. A client without such a file is reported.
pub fn steps(
    clients: &[&'static Client],
    around: &Environment<'_>,
    wanted: &EntryOptions<'_>,
    whats: &[SetupItem],
) -> (Vec<SetupStep>, Vec<(&'static Client, SetupItem)>) {
    let (mut steps, mut without): (Vec<SetupStep>, Vec<_>) = (Vec::new(), Vec::new());
    for what in whats {
        for client in clients {
            let spot = if around.project.is_some() { client.project } else { client.user };
            let found = match what {
                SetupItem::Entry => spot.and_then(|spot| entry_step(client, &spot, around, wanted)),
                SetupItem::Instructions => {
                    instruction_step(around.instruction_file(&client.instructions), Content::Block)
                }
                SetupItem::Skill => instruction_step(around.instruction_file(&client.skills), Content::Skill),
            };
            let Some(step) = found else {
                without.push((*client, *what));
                continue;
            };
            match steps.iter_mut().find(|other| other.path == step.path && other.what == *what) {
                Some(other) => other.clients.push(client),
                None => steps.push(SetupStep { clients: vec![client], what: *what, ..step }),
            }
        }
    }
    (steps, without)
}

fn entry_step(
    client: &'static Client,
    spot: &ConfigFile,
    around: &Environment<'_>,
    wanted: &EntryOptions<'_>,
) -> Option<SetupStep> {
    let path = around.config_file(spot).filter(|path| !spot.needs_file || path.exists())?;
    let mut notes: Vec<String> = spot.note.map(str::to_owned).into_iter().collect();
    let mut lists = spot.shape.lists;
    if let Some(list) = lists.iter().find(|list| around.is_older(list.since)) {
        let (program, (major, minor)) = list.since;
        let update = format!("the installed `{program}` is too old for that: update it to {major}.{minor} or later");
        notes.push(format!("{}; {update}, then run this again.", list.purpose));
        lists = &[];
    }
    if let Some(effect) = client.without_trust {
        notes.push(match wanted.trust {
            false => effect.to_owned(),
            true if spot.is_committed => {
                "`--trust` does not apply to a project's file, which others use, too.".to_owned()
            }
            true => format!("{} runs the tools without asking.", client.title),
        });
    }
    let content = Content::Entry { shape: spot.shape, value: wanted.entry_for_file(spot), lists };
    Some(SetupStep { clients: Vec::new(), what: SetupItem::Entry, path, notes, is_bare: spot.is_committed, content })
}

fn instruction_step(path: Option<PathBuf>, content: Content) -> Option<SetupStep> {
    let (clients, notes, is_bare) = (Vec::new(), Vec::new(), false);
    path.map(|path| SetupStep { clients, what: SetupItem::Instructions, path, notes, is_bare, content })
}

/// The entry to show for a client that is configured by hand.
pub fn manual_entry(client: &Client, around: &Environment<'_>, wanted: &EntryOptions<'_>) -> Option<ManualEntry> {
    let spot = if around.project.is_some() { client.project } else { client.user };
    let (place, shape, entry): (String, &EntryFormat, Value) = match (spot, client.by_hand) {
        (Some(spot), _) => (around.config_file(&spot)?.display().to_string(), spot.shape, wanted.entry_for_file(&spot)),
        (None, Some((place, shape))) if around.project.is_none() => {
            (place.to_owned(), shape, wanted.manual_entry(shape))
        }
        _ => return None,
    };
    Some(ManualEntry { place, text: entry::standalone_file(shape, &entry, shape.lists), entry })
}

/// Our entry in a client's file; an error if the file cannot be read.
pub(crate) fn existing_entry(shape: &EntryFormat, path: &Path) -> Result<Option<Value>, String> {
    match file::read(path).map_err(|error| error.to_string())? {
        Some(text) => content::find_entry(shape, &text),
        None => Ok(None),
    }
}

/// The change of a file: its text without our content, and its text afterwards; `None` means that there is no file.
struct PlannedChange {
    base: Option<String>,
    after: Option<String>,
    /// The edits from the new text back to the base.
    undo: Vec<edit::Edit>,
    made: Vec<PathBuf>,
    /// The keys around our entry that did not exist before.
    containers: usize,
}

impl Installer<'_> {
    /// Applies the steps one after the other; a failed step does not affect the others.
    pub fn apply(&self, steps: &[SetupStep], way: SetupAction) -> Result<Vec<StepReport>, std::io::Error> {
        let _alone = if self.dry_run { None } else { Some(self.lock()?) };
        let refused = |why| StepReport { outcome: StepOutcome::Refused(why), note: None };
        Ok(steps.iter().map(|step| self.apply_step(step, way).unwrap_or_else(refused)).collect())
    }

    /// Ensures that no other process sets up clients at the same time.
    fn lock(&self) -> Result<File, std::io::Error> {
        private::create_folder(self.data)?;
        let lock = private::options().write(true).create(true).truncate(true).open(self.data.join("setup.lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    fn apply_step(&self, step: &SetupStep, way: SetupAction) -> Result<StepReport, EditError> {
        let report =
            |outcome, text: Option<&str>| StepReport { outcome, note: text.and_then(|text| step.content.unmet(text)) };
        let told = |error: std::io::Error| error.to_string();
        let real = file::resolve_links(&step.path).map_err(told)?;
        if let Some(root) = &self.project
            && !is_below(&real, root)
        {
            return Err(format!("it leads out of the repository, to {}", real.display()));
        }
        if !self.dry_run {
            file::remove_temp_file(&real);
        }
        for _ in 0..MAX_ATTEMPTS {
            let text = file::read(&real).map_err(told)?;
            let records = Record::load(self.data, &real);
            let change = match way {
                SetupAction::Install => plan_install(&step.content, text.as_deref(), &records)?,
                SetupAction::Remove => plan_removal(&step.content, text.as_deref(), &records)?,
            };
            let Some(change) = change else {
                if way == SetupAction::Remove && !records.is_empty() && !self.dry_run {
                    // A run was killed before the file existed, or the user removed it: its folders may still exist.
                    let made: Vec<PathBuf> = records.into_iter().flat_map(|record| record.made).collect();
                    if text.is_none() {
                        file::remove(&real, &made, &|| self.point()).map_err(told)?;
                    }
                    Record::save(self.data, &real, &[], &|| self.point()).map_err(told)?;
                }
                return Ok(report(StepOutcome::Unchanged, text.as_deref()));
            };
            if file::is_read_only(&real) {
                return Err("it is read-only".into());
            }
            let lines = difference(text.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
            if self.dry_run {
                return Ok(report(StepOutcome::Changed(lines), change.after.as_deref()));
            }
            if self.write(&real, text.as_deref(), &change, &records, way).map_err(told)? {
                let again = file::read(&real).map_err(told)?;
                return match again == change.after {
                    true => Ok(report(StepOutcome::Changed(lines), again.as_deref())),
                    false => Err("another program changed it at the same time; run this again".into()),
                };
            }
        }
        Err("another program keeps changing it; run this again".into())
    }

    /// Writes a change, unless the file has changed since the change was planned.
    fn write(
        &self,
        real: &Path,
        text: Option<&str>,
        change: &PlannedChange,
        records: &[Record],
        way: SetupAction,
    ) -> std::io::Result<bool> {
        let point = || self.point();
        // The records for undoing the current text are kept until the text is replaced.
        let current: Vec<&Record> =
            records.iter().filter(|record| text.is_some_and(|text| record.matches(text))).collect();
        let record = Record {
            file: real.to_owned(),
            fingerprint_before: change.base.as_deref().map(fingerprint),
            fingerprint_after: change.after.as_deref().map(fingerprint).unwrap_or_default(),
            undo: change.undo.clone(),
            made: change.made.iter().cloned().chain(file::missing_folders(real)).collect(),
            containers: change.containers,
        };
        if way == SetupAction::Install {
            let all: Vec<&Record> = std::iter::once(&record).chain(current.iter().copied()).collect();
            Record::save(self.data, real, &all, &point)?;
        }
        let outcome = self.replace(real, text, change, &point);
        let left: &[&Record] = match (way, &outcome) {
            (SetupAction::Install, Ok(true)) => &[&record],
            (SetupAction::Remove, Ok(true)) => &[],
            _ => &current,
        };
        if way == SetupAction::Remove && !matches!(outcome, Ok(true)) {
            return outcome;
        }
        let kept = Record::save(self.data, real, left, &point);
        let is_written = outcome?;
        kept.map(|()| is_written)
    }

    fn replace(
        &self,
        real: &Path,
        text: Option<&str>,
        change: &PlannedChange,
        point: file::KillPoint<'_>,
    ) -> std::io::Result<bool> {
        if file::read(real)?.as_deref() != text {
            return Ok(false);
        }
        match &change.after {
            Some(after) => {
                if let Some(folder) = real.parent() {
                    std::fs::create_dir_all(folder)?;
                }
                file::write(real, after, None, point)?;
            }
            None => file::remove(real, &change.made, point)?,
        }
        Ok(true)
    }

    fn point(&self) {
        if let Some(point) = &self.point {
            point("setup");
        }
    }
}

/// A path with `~` for the home folder.
pub fn display_path(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(inside) if !inside.as_os_str().is_empty() => format!("~/{}", inside.display()),
        _ => path.display().to_string(),
    }
}

/// Whether a path is below a folder, even if it does not exist completely.
fn is_below(path: &Path, root: &Path) -> bool {
    let there = path.ancestors().find_map(|above| real_path(above).ok());
    let root = real_path(root).unwrap_or_else(|_| root.to_owned());
    there.is_some_and(|there| there.starts_with(&root)) && path.starts_with(&root)
}

/// The change that inserts our content; `None` if it is already there.
fn plan_install(content: &Content, text: Option<&str>, records: &[Record]) -> Result<Option<PlannedChange>, EditError> {
    let mut made = Vec::new();
    let base = match text {
        None => None,
        Some(text) if content.is_present(text)? => return Ok(None),
        Some(text) => match records.iter().find(|record| record.matches(text)) {
            Some(record) => {
                made.clone_from(&record.made);
                record.undo(text)?
            }
            // Our content, modified since: removed as `unsetup` would do it.
            None if !records.is_empty() => {
                match content.remove(text, records.iter().find_map(Record::replaced_text), containers(records))? {
                    Some(edits) => apply(text, &edits),
                    None => Some(text.to_owned()),
                }
            }
            None => Some(text.to_owned()),
        },
    };
    let Some(base) = base else {
        let (after, containers) = (Some(content.standalone_file()), content.missing_containers(None));
        return Ok(Some(PlannedChange { base: None, after, undo: Vec::new(), made, containers }));
    };
    let edits = content.insert(&base)?;
    let after = apply(&base, &edits);
    let containers = content.missing_containers(Some(&base));
    Ok(Some(PlannedChange { base: Some(base), after, undo: inverse(&edits), made: Vec::new(), containers }))
}

/// The number of keys around our entry that we created.
fn containers(records: &[Record]) -> usize {
    records.iter().map(|record| record.containers).max().unwrap_or(0)
}

/// The change that removes our content; `None` if it is not there.
fn plan_removal(content: &Content, text: Option<&str>, records: &[Record]) -> Result<Option<PlannedChange>, EditError> {
    let Some(text) = text else { return Ok(None) };
    let change = |after: Option<String>, made: Vec<PathBuf>| PlannedChange {
        base: None,
        after,
        undo: Vec::new(),
        made,
        containers: 0,
    };
    if let Some(record) = records.iter().find(|record| record.matches(text)) {
        return Ok(Some(change(record.undo(text)?, record.made.clone())));
    }
    if records.iter().any(|record| record.fingerprint_before.as_deref() == Some(&fingerprint(text))) {
        return Ok(None);
    }
    if records.is_empty() && !content.is_ours(text)? {
        return Ok(None);
    }
    let before = records.iter().find_map(Record::replaced_text);
    let Some(edits) = content.remove(text, before, containers(records))? else { return Ok(None) };
    let after = apply(text, &edits);
    // A file that we created is removed, too, if it has no other content.
    let own = records.iter().find(|record| record.fingerprint_before.is_none());
    let is_empty = own.is_some() && after.as_deref().is_some_and(|after| content.is_empty_file(after));
    let is_gone = is_empty || matches!(content, Content::Skill);
    let made = own.filter(|_| is_empty).map(|record| record.made.clone()).unwrap_or_default();
    Ok(Some(change(after.filter(|_| !is_gone), made)))
}
