//! `codecompass state export` and `codecompass state import`: share an index between machines.

use std::path::Path;
use std::time::Instant;

use codecompass_index::{Target, extraction_key};
use codecompass_model::ViewKey;
use codecompass_store::{
    Archive, ExportRequest, FORMAT_VERSION, ImportRequest, Imported, InitialView, SCHEMA_VERSION, StoreError, ViewInfo,
    export, import,
};
use codecompass_wire::ErrorData;
use codecompass_wire::commands::views as wire;

use super::read_error;
use crate::cli::{Common, StateArgs, StateCommand, StateExportArgs, StateImportArgs};
use codecompass_workspace::clock::now_ms;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::measure::{bytes_text, count_with_noun, seconds_text};
use codecompass_workspace::output::Answer;
use codecompass_workspace::session::{Session, kill_point};
use codecompass_workspace::views::published_for_target;

pub(crate) fn run(common: &Common, args: &StateArgs) -> Result<Answer, AppError> {
    match &args.what {
        StateCommand::Export(args) => run_export(common, args),
        StateCommand::Import(args) => run_import(common, args),
    }
}

fn run_export(common: &Common, args: &StateExportArgs) -> Result<Answer, AppError> {
    let began = Instant::now();
    let session = Session::open(&common.session_options(), None)?;
    let target = absolute(&args.path)?;
    let root = session.root();
    session.log_verbose(1, || format!("{} into {}", session.dir.root().display(), target.display()));
    let request = ExportRequest {
        target: &target,
        replace: args.force,
        folder: (!session.vcs()).then_some(root.as_str()),
        secrets: &session.secrets,
        point: kill_point(),
        now: now_ms(),
    };
    let archive = export(&session.dir, &request).map_err(|error| export_error(&session, &target, error))?;
    session.log_verbose(1, || format!("{} file versions, generation {}", archive.versions, archive.generation));
    let here = session.target(None)?;
    let warnings = export_warnings(&archive, &here);
    let path = target.display().to_string();
    let mut text = format!(
        "Exported to {} in {}: {} ({} unpacked)\n",
        escape_control(&path),
        seconds_text(began.elapsed()),
        bytes_text(archive.bytes),
        bytes_text(archive.unpacked_bytes),
    );
    text += &views_text(&archive.views);
    text += &warnings.iter().map(|warning| format!("warning: {}\n", escape_control(warning))).collect::<String>();
    text += "Import it with `codecompass state import PATH`, in a checkout of the same source.\n";
    let mut metadata = session.metadata(&here, published_for_target(&session.store()?, &here)?.as_ref());
    metadata.warnings.extend(warnings);
    let answer = wire::Export {
        path,
        archive_bytes: archive.bytes,
        unpacked_bytes: archive.unpacked_bytes,
        format_version: FORMAT_VERSION,
        schema_version: SCHEMA_VERSION,
        generation: archive.generation,
        file_versions: archive.versions,
        refs: archive.views.iter().map(wire_view).collect(),
        duration_ms: began.elapsed().as_millis() as u64,
        metadata,
    };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

/// Warns that the export does not contain the checked-out commit.
fn export_warnings(archive: &Archive, here: &Target) -> Option<String> {
    let commit = here.commit.as_ref()?;
    let is_there = archive.views.iter().any(|view| view.commit.as_ref() == Some(commit));
    (!is_there)
        .then(|| format!("the checked-out commit {} is not indexed; run `codecompass sync`", short_commit(commit)))
}

fn absolute(path: &Path) -> Result<std::path::PathBuf, AppError> {
    let unusable = |why: &str| {
        AppError::new(Code::InvalidInput, format!("Cannot write {}: {why}.", path.display()))
            .hint("Give a file in an existing folder.")
            .data(ErrorData::File { source: false, parameter: "path".into(), path: path.display().to_string() })
    };
    let absolute = std::path::absolute(path).map_err(|error| unusable(&error.to_string()))?;
    match (absolute.file_name(), absolute.parent()) {
        (Some(_), Some(folder)) if folder.is_dir() => Ok(absolute),
        _ => Err(unusable("the folder does not exist")),
    }
}

/// An error of the target file is not an error of the index.
fn export_error(session: &Session, target: &Path, error: StoreError) -> AppError {
    match error {
        StoreError::Io { path, source } if path.parent() == target.parent() => {
            AppError::new(Code::InvalidInput, format!("Cannot write {}: {source}.", target.display()))
                .hint("Nothing was changed. Give a writable file on a disk with enough space.")
                .data(ErrorData::File { source: false, parameter: "path".into(), path: target.display().to_string() })
        }
        StoreError::NotRegistered(_) => AppError::not_registered(&session.root()),
        error => error.into(),
    }
}

fn run_import(common: &Common, args: &StateImportArgs) -> Result<Answer, AppError> {
    let began = Instant::now();
    let session = Session::open(&common.session_options(), None)?;
    let here = session.target(None)?;
    check_readable(&args.path)?;
    session.log_verbose(1, || format!("{} into {}", args.path.display(), session.dir.root().display()));
    let root = session.root();
    let near = nearest_views(&session, &here);
    let start = here.is_worktree().then(|| InitialView {
        ref_name: &here.ref_name,
        commit: here.commit.as_deref(),
        from: &near,
    });
    let request = ImportRequest { source: &args.path, root: &root, start, point: kill_point(), now: now_ms() };
    let imported = import(&session.dir, &request)?;
    session.log_verbose(1, || format!("{} unpacked", bytes_text(imported.unpacked_bytes)));
    let warnings = import_warnings(&session, &imported);
    let took = format!("{} in {}", bytes_text(imported.bytes), seconds_text(began.elapsed()));
    let mut metadata = session.metadata(&here, published_for_target(&session.store()?, &here)?.as_ref());
    metadata.head_commit = here.commit.clone();
    metadata.warnings.extend(warnings.iter().cloned());
    let replaced = imported.replaced.as_ref().map(|replaced| wire::Replaced {
        refs: replaced.views.iter().map(wire_view).collect(),
        space_freed: replaced.is_freed,
    });
    let answer = wire::Import {
        path: args.path.display().to_string(),
        project_id: session.project_id.clone(),
        created: replaced.is_none(),
        archive_bytes: imported.bytes,
        unpacked_bytes: imported.unpacked_bytes,
        refs: published_views(&imported).iter().map(wire_view).collect(),
        worktree_starts_from: imported.start.as_ref().map(view_name),
        replaced,
        next: "codecompass sync".into(),
        duration_ms: began.elapsed().as_millis() as u64,
        metadata,
        repo_root: root,
    };
    Ok(Answer { text: import_text(&session, &imported, &took, &warnings), ..Answer::from_wire(&answer, 0)? })
}

fn check_readable(path: &Path) -> Result<(), AppError> {
    let unreadable = |error: std::io::Error| {
        AppError::new(Code::InvalidInput, format!("{}.", read_error(path, &error)))
            .hint("Give a file written by `codecompass state export`. Nothing was changed.")
            .data(ErrorData::File { source: true, parameter: "path".into(), path: path.display().to_string() })
    };
    std::fs::File::open(path).map(drop).map_err(unreadable)
}

/// The view names closest to this work tree: its ref and the default branch.
fn nearest_views(session: &Session, here: &Target) -> Vec<ViewKey> {
    let names = [Some(here.ref_name.clone()), session.default_branch()];
    names.into_iter().flatten().map(ViewKey::Ref).collect()
}

/// The views of git, or of the folder, without the view created for this work tree.
fn published_views(imported: &Imported) -> Vec<ViewInfo> {
    let is_folder = matches!(imported.start, Some(ViewKey::Worktree(_)));
    let is_shown = |view: &&ViewInfo| is_folder || !matches!(view.key, ViewKey::Worktree(_));
    imported.views.iter().filter(is_shown).cloned().collect()
}

fn import_warnings(session: &Session, imported: &Imported) -> Vec<String> {
    let mut warnings = Vec::new();
    if imported.facts_keys.iter().any(|key| *key != extraction_key(&session.limits())) {
        warnings
            .push("written by another version of codecompass: the next sync extracts the affected files again".into());
    }
    if let Some(repo) = &session.workspace.repo {
        let mut commits = imported.views.iter().filter_map(|view| view.commit.as_deref());
        let is_known = |commit: &str| repo.resolve(commit).is_ok();
        if let Some(first) = commits.next()
            && ![first].into_iter().chain(commits).any(is_known)
        {
            warnings.push(format!(
                "this repository has no commit {}: fetch first, or check that the archive is for this repository",
                short_commit(first)
            ));
        }
    }
    warnings
}

fn import_text(session: &Session, imported: &Imported, took: &str, warnings: &[String]) -> String {
    let mut text = format!("Imported for {} ({took})\n", escape_control(&session.root()));
    text += &views_text(&published_views(imported));
    text += &match &imported.replaced {
        None => format!("Registered as project {}\n", session.project_id),
        Some(replaced) => {
            let names: Vec<String> =
                replaced.views.iter().map(|view| escape_control(&view_name(&view.key)).into_owned()).collect();
            let what = if names.is_empty() { "nothing published".to_owned() } else { names.join(", ") };
            let space = if replaced.is_freed { "" } else { "; it is still in use, and a later write frees its space" };
            format!("Replaced the existing index ({what}){space}\n")
        }
    };
    text += &warnings.iter().map(|warning| format!("warning: {}\n", escape_control(warning))).collect::<String>();
    text + "Run `codecompass sync` to index the differences; only those are extracted.\n"
}

fn views_text(views: &[ViewInfo]) -> String {
    let line = |view: &ViewInfo| {
        let commit = view.commit.as_deref().map(|commit| format!(" at {}", short_commit(commit))).unwrap_or_default();
        let files = count_with_noun(view.totals.files as u64, "file");
        let symbols = count_with_noun(view.totals.symbols as u64, "symbol");
        format!("  {}{commit}: {files}, {symbols}\n", escape_control(&view.ref_name))
    };
    views.iter().map(line).collect()
}

fn wire_view(view: &ViewInfo) -> wire::View {
    wire::View {
        ref_name: view_name(&view.key),
        kind: view_kind(&view.key).into(),
        last_indexed_commit: view.commit.clone(),
        file_count: view.totals.files as u64,
        symbol_count: view.totals.symbols as u64,
    }
}

/// The name of a view: a ref, a commit id or a folder.
pub(super) fn view_name(key: &ViewKey) -> String {
    match key {
        ViewKey::Worktree(name) | ViewKey::Ref(name) | ViewKey::Commit(name) => name.clone(),
    }
}

/// The kind of a view.
pub(super) fn view_kind(key: &ViewKey) -> &'static str {
    match key {
        ViewKey::Worktree(_) => "worktree",
        ViewKey::Ref(_) => "ref",
        ViewKey::Commit(_) => "commit",
    }
}

fn short_commit(commit: &str) -> &str {
    commit.get(..12).unwrap_or(commit)
}
