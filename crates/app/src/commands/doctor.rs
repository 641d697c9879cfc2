//! `codecompass doctor`: checks the installation and the index, and suggests fixes.

use std::collections::HashSet;

use codecompass_index::source::{Listing, SourceError, list_worktree};
use codecompass_index::{Freshness as Compared, freshness};
use codecompass_store::{Health, SchemaStatus, StoreError};
use codecompass_wire::commands::doctor as wire;

use super::{doctor_client, doctor_path};
use crate::cli::{Common, DoctorArgs};
use codecompass_workspace::error::AppError;
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::{bytes_text, count_text, count_with_noun, free_bytes};
use codecompass_workspace::metadata::{Freshness, Metadata, schema_status};
use codecompass_workspace::output::Answer;
use codecompass_workspace::session::{Session, listing_bytes};
use codecompass_workspace::views::published_for_target;

/// One line of the report.
pub(crate) struct Finding {
    name: &'static str,
    level: Level,
    message: String,
    fix: Option<String>,
}

/// The kind of a finding, the most serious first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    Problem,
    Ok,
    /// Nothing is wrong, but there is something to know.
    Note,
}

impl Level {
    /// Its mark in the text, and its name in JSON.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Level::Problem => ("FAIL", "problem"),
            Level::Ok => ("ok  ", "ok"),
            Level::Note => ("note", "note"),
        }
    }
}

impl Finding {
    pub(crate) fn good(name: &'static str, what: impl Into<String>) -> Self {
        Self { name, level: Level::Ok, message: what.into(), fix: None }
    }

    pub(crate) fn note(name: &'static str, what: impl Into<String>, fix: Option<String>) -> Self {
        Self { name, level: Level::Note, message: what.into(), fix }
    }

    pub(crate) fn bad(name: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, level: Level::Problem, message: what.into(), fix: Some(fix.into()) }
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Whether it says that a grammar works; there are many of them.
    fn is_good_grammar(&self) -> bool {
        self.name == GRAMMARS && self.is_ok()
    }

    fn is_ok(&self) -> bool {
        self.level != Level::Problem
    }
}

/// The name of the checks of grammars.
const GRAMMARS: &str = "tree-sitter";

const REBUILD: &str = "run `codecompass index --force`";

pub(crate) fn run(common: &Common, args: &DoctorArgs) -> Result<Answer, AppError> {
    if let Some(names) = &args.client {
        return doctor_client::run(common, names);
    }
    if let Some(file) = &args.file {
        return doctor_path::run(common, file);
    }
    let session = Session::open(&common.session_options(), args.path.as_deref())?;
    let mut findings =
        vec![Finding::good("project", format!("{} ({})", session.project_id, session.dir.root().display()))];
    let listing = list_worktree(&session.workspace, &session.limits());
    findings.extend(check_disk_space(&session, listing.as_ref().map_or(0, listing_bytes)));
    findings.extend(check_store(&session));
    findings.extend(codecompass_lang::check_grammars().into_iter().map(|(name, outcome)| match outcome {
        Ok(()) => Finding::good(GRAMMARS, format!("{name} grammar")),
        Err(what) => Finding::bad(GRAMMARS, format!("{name} grammar: {what}"), "reinstall codecompass"),
    }));
    let (source, folders) = check_source(&session, listing);
    findings.push(source);
    findings.extend(check_language_overrides(&session));
    findings.extend(check_watches(folders));
    findings.extend(session.config.warnings.iter().map(|warning| {
        Finding::bad("configuration", warning.clone(), "edit .codecompass/config.toml in the repository")
    }));
    report(&session, &findings)
}

fn check_store(session: &Session) -> Vec<Finding> {
    match SchemaStatus::read(&session.dir) {
        Ok(SchemaStatus::Compatible | SchemaStatus::NotIndexed) => {}
        Ok(status) => return vec![Finding::bad("index", status.as_str(), REBUILD)],
        Err(StoreError::NotRegistered(_)) => {
            return vec![Finding::bad("index", "no project is registered here", "run `codecompass index`")];
        }
        Err(error) => return vec![Finding::bad("index", error.to_string(), REBUILD)],
    }
    let health = match Health::check(&session.dir) {
        Ok(health) => health,
        Err(error) => return vec![Finding::bad("index", error.to_string(), REBUILD)],
    };
    let (stored, dead) = health.versions;
    let check = |name, outcome: codecompass_store::Check| match outcome {
        Ok(what) => Finding::good(name, what),
        Err(what) => Finding::bad(name, what, REBUILD),
    };
    let lock = if health.is_writing { "held by a writing process" } else { "free" };
    let mut findings = vec![
        check("sqlite", health.sqlite),
        check("tantivy", health.text),
        Finding::good(
            "disk",
            format!(
                "{}; {}, {} of them unused",
                bytes_text(health.disk_bytes),
                count_with_noun(stored, "file version"),
                count_text(dead)
            ),
        ),
        Finding::good("lock", lock),
    ];
    findings.extend(check_jobs(session));
    findings
}

fn check_jobs(session: &Session) -> Option<Finding> {
    let jobs = session.store().ok()?.jobs(1).ok()?;
    let last = jobs.first()?;
    Some(match last.status.as_str() {
        "interrupted" => Finding::bad("jobs", format!("job {} was interrupted", last.id), "run `codecompass sync`"),
        "failed" => Finding::bad(
            "jobs",
            format!("job {} failed: {}", last.id, last.error.as_deref().unwrap_or("")),
            "run `codecompass sync`",
        ),
        status => Finding::good("jobs", format!("last job: {status}")),
    })
}

/// Checks the listing of the source; also returns its number of folders.
fn check_source(session: &Session, listing: Result<Listing, SourceError>) -> (Finding, usize) {
    if session.workspace.repo.as_ref().is_some_and(|repo| repo.is_bare()) {
        return (Finding::good("ignore rules", "a bare repository has no work tree"), 0);
    }
    match listing {
        Err(error) => (Finding::bad("ignore rules", error.to_string(), "make the work tree readable"), 0),
        Ok(listing) => {
            let folder = |path: &str| path.rsplit_once('/').map(|(folder, _)| folder.to_owned());
            let folders: HashSet<Option<String>> = listing.entries.iter().map(|entry| folder(&entry.path)).collect();
            let mut what = count_with_noun(listing.entries.len() as u64, "file");
            for (reason, count, examples) in listing.skips.iter() {
                what += &format!("; {} {} ({})", count_text(count), reason.phrase(), examples.join(", "));
            }
            (Finding::good("ignore rules", what), folders.len())
        }
    }
}

/// The configured language overrides, if any.
fn check_language_overrides(session: &Session) -> Option<Finding> {
    let choices = &session.config.languages;
    let told = |(pattern, language): &(String, String)| format!("{} is {language}", escape_control(pattern));
    let what = choices.iter().map(told).collect::<Vec<_>>().join(", ");
    (!choices.is_empty()).then(|| Finding::good("languages", what))
}

/// The free disk space for the index, and whether the next sync may need more.
fn check_disk_space(session: &Session, source: u64) -> Option<Finding> {
    let place = session.data_folder().ancestors().find(|folder| folder.exists())?;
    let free = free_bytes(place)?;
    let needed = session.disk_bytes_needed(source);
    let what = format!(
        "{} free in {}; the next sync may need about {}",
        bytes_text(free),
        place.display(),
        bytes_text(needed)
    );
    Some(match free < needed {
        true => Finding::bad("free disk", what, "free disk space, or set CODECOMPASS_HOME to a folder with more"),
        false => Finding::good("free disk", what),
    })
}

/// Whether the system limit allows a server to watch the folders; without a watch it has to check every file.
fn check_watches(folders: usize) -> Option<Finding> {
    let limit = |name: &str| -> Option<u64> {
        std::fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?.trim().parse().ok()
    };
    let (watches, instances) = (limit("max_user_watches")?, limit("max_user_instances")?);
    let what = format!(
        "{} to watch; the system allows {} and {} in all",
        count_with_noun(folders as u64, "folder"),
        count_with_noun(watches, "watch").replace("watchs", "watches"),
        count_with_noun(instances, "watcher")
    );
    Some(match (folders as u64).saturating_mul(2) > watches {
        true => Finding::bad("inotify", what, "raise fs.inotify.max_user_watches, or serve with --no-watch"),
        false => Finding::good("inotify", what),
    })
}

fn metadata(session: &Session) -> Result<Metadata, AppError> {
    let target = session.target(None)?;
    let schema = SchemaStatus::read(&session.dir)?;
    let view = session
        .store()
        .and_then(|store| Ok(published_for_target(&store, &target)?.map(|view| (view, store))))
        .ok()
        .flatten();
    let mut metadata = session.metadata(&target, view.as_ref().map(|(view, _)| view));
    metadata.schema = schema_status(schema);
    if let Some((view, store)) = &view
        && view.key == target.key
        && freshness(store, &session.workspace, &target, view, &session.limits(), None)? == Compared::Fresh
    {
        metadata.freshness = Freshness::Fresh;
    }
    Ok(metadata)
}

fn report(session: &Session, findings: &[Finding]) -> Result<Answer, AppError> {
    render_findings(findings, metadata(session).unwrap_or_else(|_| Metadata::unknown()))
}

/// The working grammars in one line, if there are any.
fn grammars_line(findings: &[Finding]) -> Option<Finding> {
    let names: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.is_good_grammar())
        .map(|finding| finding.message.trim_end_matches(" grammar"))
        .collect();
    let what = format!("{}: {}", count_with_noun(names.len() as u64, "grammar"), names.join(", "));
    (!names.is_empty()).then(|| Finding::good(GRAMMARS, what))
}

/// The findings as text and JSON.
pub(crate) fn render_findings(findings: &[Finding], metadata: Metadata) -> Result<Answer, AppError> {
    let width = findings.iter().map(|finding| finding.name.len()).max().unwrap_or(0).max(13);
    let sound = findings.iter().all(Finding::is_ok);
    let mut text = String::new();
    let mut shown: Vec<&Finding> = findings.iter().filter(|finding| !finding.is_good_grammar()).collect();
    let grammars = grammars_line(findings);
    shown.extend(&grammars);
    // What needs attention comes first; the rest stays in order.
    shown.sort_by_key(|finding| finding.level != Level::Problem);
    for finding in shown {
        let (mark, _) = finding.level.names();
        text += &format!("{mark}  {:<width$} {}\n", finding.name, escape_control(&finding.message));
        if let Some(fix) = &finding.fix {
            text += &format!("      {:<width$} → {}\n", "", escape_control(fix));
        }
    }
    let check = |finding: &Finding| wire::Check {
        name: finding.name.into(),
        ok: finding.is_ok(),
        level: finding.level.names().1.into(),
        message: finding.message.clone(),
        mend: finding.fix.clone(),
    };
    let answer = wire::Answer { ok: sound, checks: findings.iter().map(check).collect(), metadata };
    Ok(Answer { text, ..Answer::from_wire(&answer, u8::from(!sound))? })
}
