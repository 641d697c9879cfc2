//! `diff_context`: the changes between two refs, symbol by symbol.

mod body_lines;
mod impact;
mod json;
mod text;

use codecompass_index::source::FileChange;
use codecompass_lang::REGISTRY;
use codecompass_query::diff::{
    FilePair, FileSide, Pair, Severity, SymbolSide, changed, drop_unchanged, join_changed_kinds, pair_symbols, variants,
};
use codecompass_wire::{ENVELOPE_BYTES, ErrorData, diff_context as wire, fit, schema, size};
use serde_json::Value;

use crate::call::host::UnknownWorkspace;
use crate::compare_symbol;
use crate::input::Cursor;
use crate::path_filter::{KnownPaths, PATH_FILTER, PathFilter};
use crate::ref_compare::{self, RefComparer, RefState, WORKTREE_REF};
use crate::shape;
use crate::test_filter::{TESTS, TestFilter};
use crate::tool_spec::{ALL, Arguments, Effect, ParamKind, ToolCall, ToolSpec, WORKSPACE, optional};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::metadata::{Completeness, Metadata, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader};
use codecompass_workspace::paths::PathResolver;
use codecompass_workspace::time_limit::TimeLimit;

pub const TOOL: ToolSpec = ToolSpec {
    name: "diff_context",
    title: "Changes between refs",
    description: "The changes of a branch by symbol: added, modified and deleted symbols with their signature \
                  before and after, since the merge base of both refs, and the files. Use it to review a branch, or \
                  with head_ref \"@worktree\" to see your own uncommitted edits.",
    params: &[
        optional("base_ref", ParamKind::Text, "Branch, tag or commit to compare with. Default: the default branch")
            .brief("Default: the default branch")
            .positional("BASE"),
        optional(
            "head_ref",
            ParamKind::Text,
            "The ref to compare. Default: HEAD. \"@worktree\": the work tree with its edits",
        )
        .brief("Default: HEAD; \"@worktree\": with uncommitted edits")
        .positional("HEAD"),
        optional(
            "symbol",
            ParamKind::Text,
            "Only this symbol: a name, the end of a qualified name, or path:line. As text \
                  its line diff",
        )
        .brief("Only this one, with its line diff"),
        WORKSPACE,
        PATH_FILTER,
        TESTS,
        optional("limit", ParamKind::Count(Some(50)), "Symbols, at most 200"),
        ALL,
        optional(
            "include_callers",
            ParamKind::Flag(false),
            "Add the callers of deleted and changed symbols, the likeliest to break first",
        )
        .brief("Also of changed bodies")
        .flag("callers"),
        optional("include_edges", ParamKind::Flag(false), "Add the calls that changed symbols gained and lost")
            .brief("Calls gained and lost")
            .flag("edges"),
        optional("include_docs", ParamKind::Flag(false), "Also list symbols with changed docs only")
            .brief("")
            .flag("docs"),
        shape::CURSOR,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = DiffArgs::parse(&call.arguments, call.time_limit())?;
        call.compare(UnknownWorkspace::Project, |look, paths| answer(look, paths, &question))
    }),
};

/// The parsed arguments.
pub(super) struct DiffArgs {
    base: Option<String>,
    head: Option<String>,
    symbol: Option<String>,
    path_filter: Option<String>,
    pub(super) tests: TestFilter,
    limit: usize,
    cursor: Option<String>,
    callers: bool,
    edges: bool,
    docs: bool,
    time_limit: TimeLimit,
    warnings: Vec<String>,
}

impl DiffArgs {
    fn parse(arguments: &Arguments, patience: TimeLimit) -> Result<Self, AppError> {
        let base = arguments.text("base_ref");
        if base.as_deref() == Some(WORKTREE_REF) {
            return Err(AppError::new(
                Code::InvalidInput,
                "`base_ref` cannot be the work tree: give a commit, branch or tag.",
            )
            .hint("Give \"@worktree\" as head_ref.")
            .data(ErrorData::parameter("base_ref")));
        }
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            base,
            head: arguments.text("head_ref"),
            symbol: arguments.text("symbol"),
            path_filter: arguments.text("path_filter"),
            tests: TestFilter::parse(arguments)?,
            limit,
            cursor: arguments.text("cursor"),
            callers: arguments.flag("include_callers"),
            edges: arguments.flag("include_edges"),
            docs: arguments.flag("include_docs"),
            time_limit: patience,
            warnings,
        })
    }
}

/// The two states and their ref names.
pub(super) struct RefPair {
    pub(super) base_ref: String,
    pub(super) head_ref: String,
    pub(super) base: RefState,
    head: RefState,
}

impl RefPair {
    fn open(look: &mut RefComparer<'_>, question: &DiffArgs) -> Result<Self, AppError> {
        let Some(repo) = look.repo() else {
            return Err(AppError::new(Code::MergeBaseFailed, "The folder is not a git repository: it has no refs."));
        };
        let checked_out = repo.head()?;
        let default = || look.session.default_branch();
        let base_ref = question.base.clone().or_else(default).ok_or_else(ref_compare::no_commit)?;
        let current = || checked_out.branch.clone().or_else(|| checked_out.commit.clone());
        let head_ref =
            question.head.clone().or_else(|| look.head.clone()).or_else(current).ok_or_else(ref_compare::no_commit)?;
        if checked_out.commit.is_none() && (question.base.is_none() || question.head.is_none()) {
            return Err(ref_compare::no_commit());
        }
        let base_commit = look.resolve_commit(repo, &base_ref)?;
        let head = match head_ref.as_str() {
            WORKTREE_REF => look.worktree_state()?,
            name => {
                let commit = look.resolve_commit(repo, name)?;
                // Both sides in one job: the first diff then takes little longer than one of them.
                if let Ok(Some(merge_base)) = repo.merge_base(&base_commit, &commit) {
                    look.sync_both(&merge_base, &commit)?;
                }
                look.commit_state(name, &commit)?
            }
        };
        let failed = |why: String| {
            AppError::new(Code::MergeBaseFailed, why)
                .data(ErrorData::Refs { base_ref: base_ref.clone(), head_ref: head_ref.clone() })
        };
        let merge_base = match repo.merge_base(&base_commit, &head.commit) {
            Ok(Some(commit)) => commit,
            Ok(None) => {
                return Err(failed(format!("{base_ref} and {head_ref} have no commit in common.")).hint(
                    "Their histories are unrelated, or a shallow clone cut them off (`git fetch --unshallow`).",
                ));
            }
            Err(error) => return Err(failed(format!("No merge base could be found: {error}."))),
        };
        let base = look.commit_state(&base_ref, &merge_base)?;
        Ok(Self { base_ref, head_ref, base, head })
    }

    /// The metadata of the answer: it describes the head, and its completeness is at most that of the base.
    fn metadata(&self, question: &DiffArgs) -> Metadata {
        let mut metadata = self.head.metadata.clone();
        metadata.warnings.extend(question.warnings.iter().cloned());
        if self.base.metadata.completeness != Completeness::Complete && metadata.completeness == Completeness::Complete
        {
            metadata.completeness = self.base.metadata.completeness;
            metadata.warnings.extend(self.base.metadata.warnings.iter().cloned());
        }
        metadata
    }
}

/// Answers the request.
fn answer(look: &mut RefComparer<'_>, paths: &PathResolver<'_>, question: &DiffArgs) -> Result<Answer, AppError> {
    let sides = RefPair::open(look, question)?;
    let about = sides.head.metadata.clone();
    if let (Some(name), OutputFormat::Text(_)) = (&question.symbol, look.form) {
        let RefPair { base_ref, head_ref, base, head } = &sides;
        let compared = compare_symbol::compare_states(
            look,
            paths,
            name,
            (base_ref, base),
            (head_ref, head),
            question.time_limit.clone(),
        );
        return compared
            .map_err(|error| if error.details.metadata.is_some() { error } else { error.with_metadata(about) });
    }
    compute_diff(look, paths, question, sides)
        .map_err(|error| if error.details.metadata.is_some() { error } else { error.with_metadata(about) })
}

fn compute_diff(
    look: &mut RefComparer<'_>,
    paths: &PathResolver<'_>,
    question: &DiffArgs,
    sides: RefPair,
) -> Result<Answer, AppError> {
    let Some(repo) = look.repo() else { return Err(ref_compare::no_commit()) };
    let mut metadata = sides.metadata(question);
    let files = ref_compare::file_changes(look, repo, &sides.base, &sides.head)?;
    let (file_pairs, unknown) = ref_compare::file_pairs(&sides.base, &sides.head, &files)?;
    if unknown > 0 {
        let what = "changed files are indexed in one ref only; their symbols are not compared";
        metadata.warnings.push(format!("{unknown} {what}"));
    }
    let mut pairs = pair_symbols(&file_pairs);
    let variants = variants(&pairs, &sides.head.snapshot)?;
    drop_unchanged(&mut pairs, &variants, &sides.base.snapshot, &sides.head.snapshot)?;
    let known = KnownPaths {
        views: vec![&sides.head.snapshot, &sides.base.snapshot],
        paths: files.iter().flat_map(|file| [file.path.as_str(), file.path_before()]).collect(),
    };
    let value: Vec<&str> = question.path_filter.as_deref().into_iter().collect();
    let filter = PathFilter::parse(&value, &paths.base, &known)?;
    let is_wanted = |path: &str| filter.allows(path) && question.tests.includes(REGISTRY.is_test_path(path));
    let is_allowed = |path: &str| filter.allows(path);
    let is_listed = |pair: &Pair<'_>| question.tests.includes(pair.is_test());
    let is_named = |pair: &Pair<'_>| question.symbol.as_deref().is_none_or(|name| has_name(pair, name));
    let concerns = |pair: &&Pair<'_>| {
        is_listed(pair)
            && is_named(pair)
            && [pair.before, pair.after].into_iter().flatten().any(|one| is_allowed(one.path()))
    };
    let wanted: Vec<Pair<'_>> = pairs.iter().filter(concerns).copied().collect();
    let diff = Diff {
        sides: &sides,
        question,
        filter: filter.identity(),
        files: files.iter().filter(|file| is_wanted(&file.path) || is_wanted(file.path_before())).collect(),
        changes: changed(&wanted),
        docs: json::doc_only(&sides.base, &sides.head, &wanted)?,
        moved: wanted.iter().filter(|pair| pair.is_moved && pair.change().is_none()).count(),
        all: &pairs,
        file_pairs: &file_pairs,
    };
    match look.form {
        OutputFormat::Json => diff.render_json(look.config.max_response_bytes, metadata),
        OutputFormat::Text(reader) => diff.render_text(reader, look.form.max_bytes(&look.config), metadata),
    }
}

/// Whether a changed symbol has a name: its own, the end of its qualified name, or a place in it.
fn has_name(pair: &Pair<'_>, name: &str) -> bool {
    let is_side = |side: SymbolSide<'_>| {
        let symbol = side.symbol();
        let is_end = |rest: &str| rest.is_empty() || rest.ends_with(['.', ':', '/', '#']);
        let is_place = name.rsplit_once(':').is_some_and(|(path, line)| {
            path == side.path()
                && line.parse().is_ok_and(|line: u32| (symbol.lines.start..=symbol.lines.end).contains(&line))
        });
        is_place || symbol.name == name || symbol.qualified_name.strip_suffix(name).is_some_and(is_end)
    };
    [pair.before, pair.after].into_iter().flatten().any(is_side)
}

/// The optional lists of the answer.
#[derive(Default)]
struct Extras {
    docs: Option<Vec<wire::DocChange>>,
    callers: Option<Vec<wire::AffectedCaller>>,
    edges_added: Option<Vec<wire::CallChange>>,
    edges_removed: Option<Vec<wire::CallChange>>,
    /// Whether calls are missing.
    is_incomplete: bool,
}

/// Everything the answer contains.
pub(super) struct Diff<'d> {
    pub(super) sides: &'d RefPair,
    pub(super) question: &'d DiffArgs,
    /// The path filter, as part of the cursor identity.
    filter: String,
    pub(super) files: Vec<&'d FileChange>,
    pub(super) changes: Vec<Pair<'d>>,
    /// The symbols where only the docs changed.
    pub(super) docs: Vec<Pair<'d>>,
    pub(super) moved: usize,
    /// All changes, including those outside of the requested paths.
    all: &'d [Pair<'d>],
    /// The compared files.
    file_pairs: &'d [FilePair],
}

impl Diff<'_> {
    /// Renders JSON. Files take at most a third of it, and so do the optional lists.
    fn render_json(&self, most_bytes: usize, mut metadata: Metadata) -> Result<Answer, AppError> {
        let RefPair { base_ref, head_ref, base, head } = self.sides;
        let mut files: Vec<wire::FileChange> = self.files.iter().map(|file| json::file(file)).collect();
        files.truncate(fit(&files, most_bytes / 3));
        if files.len() < self.files.len() {
            metadata.completeness = Completeness::Truncated;
            metadata.warnings.push(format!("{} of {} files are listed", files.len(), self.files.len()));
        }
        let used: usize = files.iter().map(|file| size(file) + 1).sum();
        let extras = self.extras(most_bytes / 3)?;
        let DiffArgs { callers, edges, docs, .. } = *self.question;
        let reserved = if callers || edges || docs { most_bytes / 3 } else { 0 };

        let from = base.snapshot.info().totals.digest;
        let identity = format!("diff {from} {base_ref:?} {head_ref:?} {}{}", self.filter, self.filter_identity());
        let cursor = Cursor::new(Some(&head.snapshot), &identity);
        let offset = cursor.decode(self.question.cursor.as_deref())?;
        let page: Vec<Pair<'_>> = self.changes.iter().skip(offset).take(self.question.limit).copied().collect();
        let listed: Result<Vec<wire::Change>, AppError> =
            page.iter().map(|pair| json::change(base, head, pair)).collect();
        let mut listed = listed?;
        listed.truncate(fit(&listed, most_bytes.saturating_sub(used + reserved)));
        if offset + listed.len() < self.changes.len() {
            metadata.completeness = Completeness::Truncated;
            metadata.next_cursor = Some(cursor.encode(offset + listed.len()));
        }
        if extras.is_incomplete {
            metadata.completeness = Completeness::Partial;
            let what = "calls are incomplete (time or size limit); retry, or narrow `path_filter`";
            metadata.warnings.push(what.into());
        }
        let answer = wire::Answer {
            base_ref: base_ref.clone(),
            head_ref: head_ref.clone(),
            merge_base_commit: base.commit.clone(),
            affected_files: self.files.len(),
            file_changes: files,
            changes: listed,
            total_changes: self.changes.len(),
            doc_only_changes: self.docs.len(),
            moved_symbols: self.moved,
            doc_changes: extras.docs,
            affected_callers: extras.callers,
            edges_added: extras.edges_added,
            edges_removed: extras.edges_removed,
            metadata,
        };
        Answer::from_wire(&answer, 0)
    }

    /// The part of the cursor identity that the paths do not cover.
    fn filter_identity(&self) -> String {
        let symbol = self.question.symbol.as_ref().map(|name| format!(" symbol {name:?}"));
        self.question.tests.identity() + &symbol.unwrap_or_default()
    }

    /// Renders text. Breaking changes come first, and the pages of the cursor follow this order.
    fn render_text(&self, reader: Reader, room: usize, mut metadata: Metadata) -> Result<Answer, AppError> {
        let RefPair { base_ref, head_ref, base, head } = self.sides;
        let from = base.snapshot.info().totals.digest;
        let identity = format!("diff text {from} {base_ref:?} {head_ref:?} {}{}", self.filter, self.filter_identity());
        let cursor = Cursor::new(Some(&head.snapshot), &identity);
        let offset = cursor.decode(self.question.cursor.as_deref())?;
        let folds_tests = self.question.tests == TestFilter::Unset;
        let is_folded = |pair: &Pair<'_>| folds_tests && pair.is_test();
        let joined = join_changed_kinds(&self.changes);
        let (folded, mut listed): (Vec<Pair<'_>>, Vec<Pair<'_>>) = joined.iter().copied().partition(is_folded);
        listed.sort_by_key(|pair| (pair.is_landmark(), pair.severity()));
        let page: Vec<Pair<'_>> = listed.iter().skip(offset).take(self.question.limit).copied().collect();
        let broken: Vec<Pair<'_>> = page.iter().filter(|pair| pair.severity() != Severity::None).copied().collect();
        let wanted = if self.question.callers { &page } else { &broken };
        let looked = impact::ImpactInput {
            base,
            head,
            pairs: self.all,
            changes: wanted,
            limit: usize::MAX,
            most_bytes: usize::MAX,
        };
        let found = looked.callers(&self.question.time_limit)?;
        let mut is_whole = found.is_complete;
        let mut edges = None;
        if self.question.edges {
            let looked = impact::ImpactInput { changes: &page, limit: self.question.limit, ..looked };
            let [added, removed] = looked.call_changes(&self.question.time_limit)?;
            is_whole &= added.is_complete && removed.is_complete;
            edges = Some([added.items, removed.items]);
        }
        let renamed = if offset == 0 { self.renamed_files() } else { Vec::new() };
        let sides: Vec<&FileSide> = renamed.iter().map(|(before, _)| *before).collect();
        let importers = looked.importers(&sides, &self.question.time_limit)?;
        let shown = text::ChangesView {
            diff: self,
            changes: &joined,
            page: &page,
            offset,
            listed: listed.len(),
            folded: &folded,
            body_lines: body_lines::body_lines(self.sides, &page)?,
            renamed: renamed.iter().map(|(_, after)| after.version.path.as_str()).zip(importers).collect(),
        };
        let mut text = text::ChangesText::new(&shown, &found.items, room);
        text.add_edges(edges.as_ref());
        let seen = offset + text.kept;
        if seen < listed.len() {
            metadata.completeness = Completeness::Truncated;
            metadata.next_cursor = Some(cursor.encode(seen));
        }
        if !is_whole {
            metadata.warnings.push("calls are incomplete (time limit); retry for the rest".into());
        }
        let text = text.finish(reader, metadata.next_cursor.as_deref()) + &metadata.notes();
        Ok(Answer { text, json: Value::Null, code: 0 })
    }

    /// The renamed files of the answer with code in them, before and after; at most as many as are listed.
    fn renamed_files(&self) -> Vec<(&FileSide, &FileSide)> {
        let is_listed = |path: &str| self.files.iter().any(|file| file.path == path);
        let both = self.file_pairs.iter().filter_map(|pair| pair.before.as_ref().zip(pair.after.as_ref()));
        let renamed = both.filter(|(before, after)| before.version.path != after.version.path);
        renamed.filter(|(_, after)| is_listed(&after.version.path)).take(text::MAX_RENAMED_FILES).collect()
    }

    /// The optional lists.
    fn extras(&self, most_bytes: usize) -> Result<Extras, AppError> {
        let DiffArgs { callers, edges, docs, limit, time_limit: ref patience, .. } = *self.question;
        let count = usize::from(docs) + usize::from(callers) + 2 * usize::from(edges);
        let most_bytes = most_bytes / count.max(1);
        let (base, head) = (&self.sides.base, &self.sides.head);
        let looked = impact::ImpactInput { base, head, pairs: self.all, changes: &self.changes, limit, most_bytes };
        let mut extras = Extras::default();
        if docs {
            let mut list: Vec<wire::DocChange> = self.docs.iter().take(limit).map(json::doc_change).collect();
            list.truncate(fit(&list, most_bytes + ENVELOPE_BYTES));
            extras.docs = Some(list);
        }
        if callers {
            let found = looked.callers(patience)?;
            extras.is_incomplete |= !found.is_complete;
            extras.callers = Some(impact::to_wire(&found));
        }
        if edges {
            let [added, removed] = looked.call_changes(patience)?;
            extras.is_incomplete |= !(added.is_complete && removed.is_complete);
            extras.edges_added = Some(impact::to_wire(&added));
            extras.edges_removed = Some(impact::to_wire(&removed));
        }
        Ok(extras)
    }
}
