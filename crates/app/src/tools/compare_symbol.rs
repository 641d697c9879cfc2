//! `compare_symbol_between_commits`: one symbol in two refs, side by side.

use std::time::Duration;

use codecompass_index::source::Repo;
use codecompass_lang::REGISTRY;
use codecompass_model::SymbolAt;
use codecompass_query::Policy;
use codecompass_query::diff::{Entry, FilePair, FileSide, Pair, pair_symbols};
use serde_json::json;

use super::compare_shape::Compared;
use super::frame::{Arguments, Effect, Kind, Tool, WORKSPACE, optional, required, schema};
use super::graph::{self, with_graph};
use super::names;
use super::versus::{self, Look, State, WORKTREE};
use crate::error::{AppError, Code};
use crate::output::{Answer, Form};
use crate::paths::{File, Paths};
use crate::patience::Patience;
use crate::server::places::Unknown;

/// Time limit for choosing among several symbols with the name.
const PATIENCE: Duration = Duration::from_millis(350);

pub(crate) const TOOL: Tool = Tool {
    name: "compare_symbol_between_commits",
    title: "Compare a symbol",
    description: "How one symbol differs between two refs: signature, body, docs and lines, even if it was moved or its \
                  file renamed. `include_diff` adds the diff. For all changes, use diff_context.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, or symbol_id").place("NAME"),
        optional("path", Kind::Text, "Its file in either ref, if the name is ambiguous").alias("in").value("FILE"),
        required("base_ref", Kind::Text, "Base branch, tag or commit").place("BASE"),
        required("head_ref", Kind::Text, "Head branch, tag or commit; \"@worktree\": the work tree").place("HEAD"),
        optional("include_diff", Kind::Flag(false), "Add a unified diff").on_the_wire(),
        optional("no_diff", Kind::Flag(false), "Omit the diff").on_the_command_line().flag("no-diff"),
        WORKSPACE,
    ],
    output: || {
        json!({
            "symbol": schema::text(),
            "path": schema::text(),
            "symbol_stable_id": schema::text(),
            "base_ref": schema::text(),
            "head_ref": schema::text(),
            "base_version": schema::object_or_null(),
            "head_version": schema::object_or_null(),
            "diff_summary": schema::object(
                &[],
                &["lines_added", "lines_removed"],
                &[
                    ("status", schema::one_of(&["added", "deleted", "modified", "unchanged"])),
                    ("signature_changed", schema::flag()),
                    ("body_changed", schema::flag()),
                    ("attributes_changed", schema::flag()),
                    ("line_range_shifted", schema::flag()),
                ],
            ),
            "doc_changed": schema::flag(),
            "diff": schema::text(),
            "diff_truncated": schema::flag(),
            "other_matches": schema::list(schema::any_object()),
        })
    },
    always: &["symbol", "path", "symbol_stable_id", "base_version", "head_version", "diff_summary"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let question = Question::of(&call.arguments, call.is_command(), call.patience().at_most(PATIENCE))?;
        call.compare(Unknown::Workspace, |look, paths| answer(look, paths, &question))
    },
};

/// The parsed arguments.
pub(super) struct Question {
    name: String,
    path: Option<String>,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) with_diff: bool,
    patience: Patience,
}

impl Question {
    fn of(arguments: &Arguments, is_command: bool, patience: Patience) -> Result<Self, AppError> {
        let base = arguments.words("base_ref");
        if base == WORKTREE {
            let message = "`base_ref` cannot be the work tree: give a commit, branch or tag.";
            return Err(AppError::new(Code::InvalidInput, message).data(json!({ "parameter": "base_ref" })));
        }
        Ok(Self {
            name: arguments.words("symbol_name"),
            path: arguments.text("path"),
            base,
            head: arguments.words("head_ref"),
            with_diff: if is_command { !arguments.flag("no_diff") } else { arguments.flag("include_diff") },
            patience,
        })
    }
}

/// One side of the comparison: a file and the ordinal of the symbol in it.
pub(super) type Version = (FileSide, u32);

/// The symbol in both refs.
pub(super) struct Both {
    pub(super) base: Option<Version>,
    pub(super) head: Option<Version>,
    /// The number of changed symbols inside it.
    inside: usize,
}

/// Answers the request.
fn answer(look: &mut Look<'_>, paths: &Paths<'_>, question: &Question) -> Result<Answer, AppError> {
    let Some(repo) = look.repo() else {
        return Err(AppError::new(Code::RefNotIndexed, "The folder is not a git repository: it has no refs.")
            .data(json!({ "ref": question.base })));
    };
    let base_commit = look.commit(repo, &question.base)?;
    let head = match question.head.as_str() {
        WORKTREE => look.worktree()?,
        name => {
            let commit = look.commit(repo, name)?;
            look.committed(name, &commit)?
        }
    };
    let base = look.committed(&question.base, &base_commit)?;
    let about = head.metadata.clone();
    compared(look, repo, paths, question, &base, &head)
        .map_err(|error| if error.more.metadata.is_some() { error } else { error.about(about) })
}

fn compared(
    look: &mut Look<'_>,
    repo: &Repo,
    paths: &Paths<'_>,
    question: &Question,
    base: &State,
    head: &State,
) -> Result<Answer, AppError> {
    let mut metadata = head.metadata.clone();
    let file = paths.file_if_given(&[&head.snapshot, &base.snapshot], question.path.as_deref())?;
    let file = file.as_ref();
    let (in_head, in_base) = (candidates(head, question, file)?, candidates(base, question, file)?);
    let (others, taken_from) = match (&in_head, &in_base) {
        (Some(found), _) => (&found.1, head),
        (None, Some(found)) => (&found.1, base),
        (None, None) => return Err(missing(head, question, file)?),
    };
    let both = match (&in_head, &in_base) {
        (Some((now, _)), before) => followed(look, repo, base, head, *now, before.as_ref())?,
        (None, Some((before, _))) => traced(look, repo, base, head, *before)?,
        (None, None) => return Err(missing(head, question, file)?),
    };
    let mut compared = Compared::of(question, base, head, &both)?;
    if both.inside > 0 && compared.is_unchanged() {
        let symbols = if both.inside == 1 { "symbol" } else { "symbols" };
        let who = if look.form == Form::Json { "diff_context" } else { "`codecompass diff`" };
        metadata.warnings.push(format!("{} {symbols} inside it changed; {who} lists them", both.inside));
    }
    if !others.is_empty() {
        let memory = &taken_from.memory;
        compared.others = with_graph(memory, &question.patience, |graph| graph::others_json(graph, others))?;
        let path = compared.path();
        metadata.warnings.push(format!(
            "{} symbols are called {}; showing the one in {path}; give `path` or a symbol_id for another",
            others.len() + 1,
            question.name
        ));
    }
    compared.metadata = metadata;
    Answer::of(look.form, 0, &compared)
}

/// The symbol that the name resolves to in a state, and the others with the same name.
type Candidates = (SymbolAt, Vec<SymbolAt>);

fn candidates(state: &State, question: &Question, file: Option<&File>) -> Result<Option<Candidates>, AppError> {
    let found = with_graph(&state.memory, &question.patience, |graph| {
        let policy = Policy::MostUsed { graph, prefers: |_| true };
        names::meant(&state.snapshot, &question.name, file, policy)
    });
    match found {
        Err(error) if error.code == Code::SymbolNotFound => Ok(None),
        found => found.map(Some),
    }
}

fn missing(head: &State, question: &Question, file: Option<&File>) -> Result<AppError, AppError> {
    let Question { name, base, head: after, .. } = question;
    let mut error = names::not_found(&head.snapshot, name.trim(), file)?;
    let place = file.map(|file| format!(" in {}", file.path)).unwrap_or_default();
    let absence = file.and_then(|file| file.absence.as_ref());
    let why = absence.map(|absence| format!(": {}", absence.clause())).unwrap_or_default();
    error.message = format!("No symbol {:?}{place} is in {base} or in {after}{why}.", name.trim());
    Ok(error)
}

/// Finds the earlier version of a symbol of the head.
fn followed(
    look: &mut Look<'_>,
    repo: &Repo,
    base: &State,
    head: &State,
    now: SymbolAt,
    named: Option<&Candidates>,
) -> Result<Both, AppError> {
    let Some(side) = side(head, now)? else { return Err(lost()) };
    if base.snapshot.members().contains(now.file) {
        return Ok(Both { base: Some((side.clone(), now.place)), head: Some((side, now.place)), inside: 0 });
    }
    let is_it = |pair: &Pair<'_>| pair.after.is_some_and(|after| after.at() == now);
    let near = FilePair { before: FileSide::read(&base.snapshot, REGISTRY, &side.version.path)?, after: Some(side) };
    if let Some(found) = found_in(&[near], is_it).filter(|both| both.base.is_some()) {
        return Ok(found);
    }
    let changes = versus::file_changes(look, repo, base, head)?;
    let (files, _) = versus::file_pairs(base, head, &changes)?;
    let mut found = found_in(&files, is_it).ok_or_else(lost)?;
    if found.base.is_none() {
        found.base = gone_under_that_name(&files, named, &found);
    }
    Ok(found)
}

/// The only removed symbol with the same name and kind: it was moved and changed so much that only the name identifies
/// it.
fn gone_under_that_name(files: &[FilePair], named: Option<&Candidates>, found: &Both) -> Option<Version> {
    let (first, rest) = named?;
    let now = found.head.as_ref().map(|(file, place)| (file, &file.outline.symbols[*place as usize]))?;
    let pairs = pair_symbols(files);
    let is_gone = |pair: &&Pair<'_>| {
        pair.after.is_none()
            && pair.before.is_some_and(|before| {
                let language = &before.file.version.language;
                (before.at() == *first || rest.contains(&before.at()))
                    && before.symbol().kind == now.1.kind
                    && *language == now.0.version.language
            })
    };
    let gone: Vec<&Pair<'_>> = pairs.iter().filter(is_gone).collect();
    match gone.as_slice() {
        [one] => one.before.map(|entry| (entry.file.clone(), entry.place)),
        _ => None,
    }
}

/// Finds the later version of a symbol of the base whose name is missing in the head.
fn traced(look: &mut Look<'_>, repo: &Repo, base: &State, head: &State, before: SymbolAt) -> Result<Both, AppError> {
    let changes = versus::file_changes(look, repo, base, head)?;
    let (files, _) = versus::file_pairs(base, head, &changes)?;
    let is_it = |pair: &Pair<'_>| pair.before.is_some_and(|entry| entry.at() == before);
    if let Some(found) = found_in(&files, is_it) {
        return Ok(found);
    }
    let side = side(base, before)?.ok_or_else(lost)?;
    Ok(Both { base: Some((side, before.place)), head: None, inside: 0 })
}

fn found_in(files: &[FilePair], is_it: impl Fn(&Pair<'_>) -> bool) -> Option<Both> {
    let pairs = pair_symbols(files);
    let pair = pairs.iter().find(|pair| is_it(pair))?;
    let version = |entry: Option<Entry<'_>>| entry.map(|entry| (entry.file.clone(), entry.place));
    let latest = pair.latest().at();
    let is_inside = |other: &&Pair<'_>| {
        let mut around = other.latest().parent();
        while let Some(entry) = around.filter(|entry| entry.at() != latest) {
            around = entry.parent();
        }
        around.is_some() && other.change().is_some()
    };
    let inside = pairs.iter().filter(is_inside).count();
    Some(Both { base: version(pair.before), head: version(pair.after), inside })
}

fn side(state: &State, at: SymbolAt) -> Result<Option<FileSide>, AppError> {
    let version = state.snapshot.version(at.file)?;
    Ok(version.map(|version| FileSide::of(&state.snapshot, REGISTRY, version)).transpose()?)
}

pub(super) fn lost() -> AppError {
    AppError::lost("a symbol")
}
