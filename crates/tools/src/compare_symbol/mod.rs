//! `compare_symbol_between_commits`: one symbol in two refs, side by side.

mod comparison;

use std::time::Duration;

use codecompass_index::source::Repo;
use codecompass_lang::REGISTRY;
use codecompass_model::SymbolAt;
use codecompass_query::AmbiguityPolicy;
use codecompass_query::diff::{FilePair, FileSide, Pair, SymbolSide, pair_symbols};
use codecompass_wire::{ErrorData, compare_symbol as wire, schema};

use crate::call::host::UnknownWorkspace;
use crate::graph::{self, with_graph};
use crate::ref_compare::{self, RefComparer, RefState, WORKTREE_REF};
use crate::symbol_input;
use crate::tool_spec::{Arguments, Effect, ParamKind, ToolCall, ToolSpec, WORKSPACE, optional, required};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::output::{Answer, OutputFormat};
use codecompass_workspace::paths::{PathResolver, ResolvedFile};
use codecompass_workspace::time_limit::TimeLimit;
use comparison::SymbolComparison;

/// Time limit for choosing among several symbols with the name.
const RESOLVE_TIMEOUT: Duration = Duration::from_millis(350);

pub const TOOL: ToolSpec = ToolSpec {
    name: "compare_symbol_between_commits",
    title: "Compare a symbol",
    description: "How one symbol differs between two refs: signature, body, docs and lines, even if it was moved or its \
                  file renamed. `include_diff` adds the diff. For all changes, use diff_context.",
    params: &[
        required("symbol_name", ParamKind::Text, "Name, end of a qualified name, or symbol_id").positional("NAME"),
        optional("path", ParamKind::Text, "Its file in either ref, if the name is ambiguous").alias("in").value("FILE"),
        required("base_ref", ParamKind::Text, "Base branch, tag or commit").positional("BASE"),
        required("head_ref", ParamKind::Text, "Head branch, tag or commit; \"@worktree\": the work tree")
            .positional("HEAD"),
        optional("include_diff", ParamKind::Flag(false), "Add a unified diff").server_only(),
        optional("no_diff", ParamKind::Flag(false), "Omit the diff").cli_only().flag("no-diff"),
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question =
            CompareArgs::parse(&call.arguments, call.is_command(), call.time_limit().at_most(RESOLVE_TIMEOUT))?;
        call.compare(UnknownWorkspace::Workspace, |look, paths| answer(look, paths, &question))
    }),
};

/// The parsed arguments.
pub(super) struct CompareArgs {
    name: String,
    path: Option<String>,
    pub(super) base: String,
    pub(super) head: String,
    pub(super) with_diff: bool,
    /// Whether the members of a type belong to the comparison.
    pub(super) with_members: bool,
    time_limit: TimeLimit,
}

impl CompareArgs {
    fn parse(arguments: &Arguments, is_command: bool, patience: TimeLimit) -> Result<Self, AppError> {
        let base = arguments.required_text("base_ref");
        if base == WORKTREE_REF {
            let message = "`base_ref` cannot be the work tree: give a commit, branch or tag.";
            return Err(AppError::new(Code::InvalidInput, message).data(ErrorData::parameter("base_ref")));
        }
        Ok(Self {
            name: arguments.required_text("symbol_name"),
            path: arguments.text("path"),
            base,
            head: arguments.required_text("head_ref"),
            with_members: false,
            with_diff: if is_command { !arguments.flag("no_diff") } else { arguments.flag("include_diff") },
            time_limit: patience,
        })
    }
}

/// Compares a symbol in two opened states, with its line diff, for `diff_context`.
pub(crate) fn compare_states(
    look: &mut RefComparer<'_>,
    paths: &PathResolver<'_>,
    name: &str,
    (base_ref, base): (&str, &RefState),
    (head_ref, head): (&str, &RefState),
    time_limit: TimeLimit,
) -> Result<Answer, AppError> {
    let Some(repo) = look.repo() else { return Err(ref_compare::no_commit()) };
    let question = CompareArgs {
        name: symbol_input::normalize_name(&head.snapshot, paths, name)?,
        path: None,
        base: base_ref.to_owned(),
        head: head_ref.to_owned(),
        with_diff: true,
        with_members: true,
        time_limit: time_limit.at_most(RESOLVE_TIMEOUT),
    };
    compare(look, repo, paths, &question, base, head)
}

/// One side of the comparison: a file and the ordinal of the symbol in it.
pub(super) type SymbolVersion = (FileSide, u32);

/// The symbol in both refs.
pub(super) struct SymbolVersions {
    pub(super) base: Option<SymbolVersion>,
    pub(super) head: Option<SymbolVersion>,
    /// The number of changed symbols inside it.
    pub(super) inside: usize,
}

/// Answers the request.
fn answer(look: &mut RefComparer<'_>, paths: &PathResolver<'_>, question: &CompareArgs) -> Result<Answer, AppError> {
    let Some(repo) = look.repo() else {
        return Err(AppError::new(Code::RefNotIndexed, "The folder is not a git repository: it has no refs.")
            .data(ErrorData::ref_name(&question.base)));
    };
    let base_commit = look.resolve_commit(repo, &question.base)?;
    let head = match question.head.as_str() {
        WORKTREE_REF => look.worktree_state()?,
        name => {
            let commit = look.resolve_commit(repo, name)?;
            look.commit_state(name, &commit)?
        }
    };
    let base = look.commit_state(&question.base, &base_commit)?;
    let about = head.metadata.clone();
    compare(look, repo, paths, question, &base, &head)
        .map_err(|error| if error.details.metadata.is_some() { error } else { error.with_metadata(about) })
}

fn compare(
    look: &mut RefComparer<'_>,
    repo: &Repo,
    paths: &PathResolver<'_>,
    question: &CompareArgs,
    base: &RefState,
    head: &RefState,
) -> Result<Answer, AppError> {
    let mut metadata = head.metadata.clone();
    let file = paths.resolve_optional_file(&[&head.snapshot, &base.snapshot], question.path.as_deref())?;
    let file = file.as_ref();
    let (in_head, in_base) = (candidates(head, question, file)?, candidates(base, question, file)?);
    let (others, taken_from) = match (&in_head, &in_base) {
        (Some(found), _) => (&found.1, head),
        (None, Some(found)) => (&found.1, base),
        (None, None) => return Err(missing(head, question, file)?),
    };
    let both = match (&in_head, &in_base) {
        (Some((now, _)), before) => trace_back(look, repo, base, head, *now, before.as_ref())?,
        (None, Some((before, _))) => trace_forward(look, repo, base, head, *before)?,
        (None, None) => return Err(missing(head, question, file)?),
    };
    let mut compared = SymbolComparison::new(question, base, head, &both)?;
    if both.inside > 0 && compared.is_unchanged() {
        let symbols = if both.inside == 1 { "symbol" } else { "symbols" };
        let who = if look.form == OutputFormat::Json { "diff_context" } else { "`codecompass diff`" };
        metadata.warnings.push(format!("{} {symbols} inside it changed; {who} lists them", both.inside));
    }
    let memory = &taken_from.resolve_cache;
    let others_of_name = || with_graph(memory, &question.time_limit, |graph| graph::load_others(graph, others));
    if !others.is_empty() && look.form != OutputFormat::Json {
        compared.others_text = graph::others_text(&others_of_name()?);
    } else if !others.is_empty() {
        compared.others = graph::summaries(&others_of_name()?);
        let path = compared.path();
        metadata.warnings.push(format!(
            "{} symbols are called {}; showing the one in {path}; give `path` or a symbol_id for another",
            others.len() + 1,
            question.name
        ));
    }
    compared.metadata = metadata;
    Answer::render(look.form, 0, compared)
}

/// The symbol that the name resolves to in a state, and the others with the same name.
type Candidates = (SymbolAt, Vec<SymbolAt>);

fn candidates(
    state: &RefState,
    question: &CompareArgs,
    file: Option<&ResolvedFile>,
) -> Result<Option<Candidates>, AppError> {
    let found = with_graph(&state.resolve_cache, &question.time_limit, |graph| {
        let policy = AmbiguityPolicy::MostUsed { graph, prefers: |_| true };
        symbol_input::resolve_symbol(&state.snapshot, &question.name, file, policy)
    });
    match found {
        Err(error) if error.code == Code::SymbolNotFound => Ok(None),
        found => found.map(Some),
    }
}

fn missing(head: &RefState, question: &CompareArgs, file: Option<&ResolvedFile>) -> Result<AppError, AppError> {
    let CompareArgs { name, base, head: after, .. } = question;
    let mut error = symbol_input::not_found(&head.snapshot, name.trim(), file)?;
    let place = file.map(|file| format!(" in {}", file.path)).unwrap_or_default();
    let absence = file.and_then(|file| file.absence.as_ref());
    let why = absence.map(|absence| format!(": {}", absence.explanation_clause())).unwrap_or_default();
    error.message = format!("No symbol {:?}{place} is in {base} or in {after}{why}.", name.trim());
    Ok(error)
}

/// Finds the earlier version of a symbol of the head.
fn trace_back(
    look: &mut RefComparer<'_>,
    repo: &Repo,
    base: &RefState,
    head: &RefState,
    now: SymbolAt,
    named: Option<&Candidates>,
) -> Result<SymbolVersions, AppError> {
    let Some(side) = side(head, now)? else { return Err(inconsistent_index()) };
    if base.snapshot.members().contains(now.file) {
        return Ok(SymbolVersions {
            base: Some((side.clone(), now.ordinal)),
            head: Some((side, now.ordinal)),
            inside: 0,
        });
    }
    let is_it = |pair: &Pair<'_>| pair.after.is_some_and(|after| after.at() == now);
    let near = FilePair { before: FileSide::read(&base.snapshot, REGISTRY, &side.version.path)?, after: Some(side) };
    if let Some(found) = find_pair(&[near], is_it).filter(|both| both.base.is_some()) {
        return Ok(found);
    }
    let changes = ref_compare::file_changes(look, repo, base, head)?;
    let (files, _) = ref_compare::file_pairs(base, head, &changes)?;
    let mut found = find_pair(&files, is_it).ok_or_else(inconsistent_index)?;
    if found.base.is_none() {
        found.base = removed_namesake(&files, named, &found);
    }
    Ok(found)
}

/// The only removed symbol with the same name and kind: it was moved and changed so much that only the name identifies
/// it.
fn removed_namesake(files: &[FilePair], named: Option<&Candidates>, found: &SymbolVersions) -> Option<SymbolVersion> {
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
        [one] => one.before.map(|entry| (entry.file.clone(), entry.ordinal)),
        _ => None,
    }
}

/// Finds the later version of a symbol of the base whose name is missing in the head.
fn trace_forward(
    look: &mut RefComparer<'_>,
    repo: &Repo,
    base: &RefState,
    head: &RefState,
    before: SymbolAt,
) -> Result<SymbolVersions, AppError> {
    let changes = ref_compare::file_changes(look, repo, base, head)?;
    let (files, _) = ref_compare::file_pairs(base, head, &changes)?;
    let is_it = |pair: &Pair<'_>| pair.before.is_some_and(|entry| entry.at() == before);
    if let Some(found) = find_pair(&files, is_it) {
        return Ok(found);
    }
    let side = side(base, before)?.ok_or_else(inconsistent_index)?;
    Ok(SymbolVersions { base: Some((side, before.ordinal)), head: None, inside: 0 })
}

fn find_pair(files: &[FilePair], is_it: impl Fn(&Pair<'_>) -> bool) -> Option<SymbolVersions> {
    let pairs = pair_symbols(files);
    let pair = pairs.iter().find(|pair| is_it(pair))?;
    let version = |entry: Option<SymbolSide<'_>>| entry.map(|entry| (entry.file.clone(), entry.ordinal));
    let latest = pair.latest().at();
    let is_inside = |other: &&Pair<'_>| {
        let mut around = other.latest().parent();
        while let Some(entry) = around.filter(|entry| entry.at() != latest) {
            around = entry.parent();
        }
        around.is_some() && other.change().is_some()
    };
    let inside = pairs.iter().filter(is_inside).count();
    Some(SymbolVersions { base: version(pair.before), head: version(pair.after), inside })
}

fn side(state: &RefState, at: SymbolAt) -> Result<Option<FileSide>, AppError> {
    let version = state.snapshot.version(at.file)?;
    Ok(version.map(|version| FileSide::from_version(&state.snapshot, REGISTRY, version)).transpose()?)
}

pub(super) fn inconsistent_index() -> AppError {
    AppError::inconsistent_index("a symbol")
}
