//! `find_references`: every reference to a symbol, the confirmed ones first.

mod text;
mod text_mentions;
pub(crate) mod uses;

use std::collections::BTreeMap;

use codecompass_model::{Confidence, SymbolAt};
use codecompass_query::AmbiguityPolicy;
use codecompass_query::graph::{
    Counts, DispatchCall, DispatchLink, EdgeKind, FoundReferences, Graph, ScanProgress, Site, TypeUse,
};
use codecompass_wire::{ErrorData, SymbolSummary, find_references as wire, fit, schema};

use crate::batch::{self, Batch};
use crate::call::QueryContext;
use crate::followups::{KnownSymbols, OfferedTools, PreviousCall};
use crate::graph::{self, EnclosingScope, GraphSymbol, with_graph};
use crate::input::{self, Cursor};
use crate::rows;
use crate::test_filter::{FoldedTests, TESTS, TestFilter};
use crate::tool_spec::{
    ALL, Arguments, Effect, FILE, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required,
};
use crate::{shape, symbol_input};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::metadata::{Completeness, Metadata};
use codecompass_workspace::output::{Answer, OutputFormat, Reader, Render};
use text_mentions::{TextMention, TextMentions};

/// The maximum number of implementations that are listed.
const MAX_IMPLEMENTATIONS: usize = graph::MAX_OTHERS;

const KINDS: &[&str] = &["imports", "calls", "implements", "extends", "references"];

pub const TOOL: ToolSpec = ToolSpec {
    name: "find_references",
    title: "Find references",
    description: "Every reference to a symbol, with the source line and the enclosing symbol: imports, calls, \
                  implements, extends, references. Confirmed ones first; `heuristic` ones are unconfirmed. `counts` \
                  covers every occurrence of the name. Use it before changing a symbol, instead of grep.",
    params: &[
        required("symbol_name", ParamKind::Text, "Name, end of a qualified name, path:line, or symbol_id")
            .brief("Name or path:line")
            .positional("NAME"),
        symbol_input::ALSO,
        REF,
        optional("kind", ParamKind::Choice(KINDS, None), "Only these edges"),
        TESTS,
        optional("limit", ParamKind::Count(Some(20)), "At most 200"),
        FILE,
        optional("include_text", ParamKind::Flag(false), "Also list the word in comments, strings and other files")
            .brief("Also in comments and text")
            .flag("text"),
        shape::CURSOR,
        ALL,
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: true,
    call: ToolCall::Anywhere(|call| {
        let question = ReferencesArgs::parse(&call.arguments)?;
        call.answer_query(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.with_view_context(error)))
    }),
};

/// The parsed arguments.
pub struct ReferencesArgs {
    name: String,
    also: Vec<String>,
    path: Option<String>,
    kind: Option<EdgeKind>,
    include_text: bool,
    tests: TestFilter,
    limit: usize,
    /// No limit was given.
    is_open: bool,
    cursor: Option<String>,
    warnings: Vec<String>,
}

impl ReferencesArgs {
    /// Checks the arguments.
    pub fn parse(arguments: &Arguments) -> Result<Self, AppError> {
        let words = EdgeKind::ALL.map(|kind| (kind.as_str(), kind));
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            name: arguments.required_text("symbol_name"),
            also: arguments.list("also"),
            path: arguments.text("path"),
            kind: input::one_of("kind", arguments.text("kind").as_deref(), &words)?,
            include_text: arguments.flag("include_text"),
            tests: TestFilter::parse(arguments)?,
            limit,
            is_open: !arguments.is_given("limit") && !arguments.is_given("all"),
            cursor: arguments.text("cursor"),
            warnings,
        })
    }
}

/// Answers the request.
pub fn answer(inquiry: &QueryContext<'_>, question: &ReferencesArgs) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&question.warnings);
    let missing = || {
        AppError::new(Code::NoEdgesAvailable, "Nothing is indexed yet, so there are no edges.")
            .hint("Call index_repo, or run `codecompass index`.")
            .advice("Run `codecompass index`.")
    };
    let Ok(memory) = inquiry.resolve_cache() else { return Err(missing().with_metadata(metadata)) };
    with_graph(memory, &inquiry.time_limit, |graph| {
        let asked = NameLookup {
            context: inquiry,
            args: question,
            name: &question.name,
            cursor: question.cursor.as_deref(),
            offered: &inquiry.offered,
        };
        let further = NameLookup { cursor: None, offered: &OfferedTools::default(), ..asked };
        let first = collect_references(graph, &asked, &mut metadata)?;
        let code = u8::from(first.total == 0 && first.implementations.is_empty());
        let mut more = Vec::with_capacity(question.also.len());
        for name in &question.also {
            let mut noted = Metadata::unknown();
            more.push((name.clone(), collect_references(graph, &NameLookup { name, ..further }, &mut noted)));
            batch::add_warnings(&mut metadata, name, noted);
        }
        let answered = more.iter().filter_map(|(_, part)| part.as_ref().ok());
        let is_in_headline = std::iter::once(&first).chain(answered).any(|part| part.progress.is_some());
        let is_said = is_in_headline && inquiry.form != OutputFormat::Json;
        graph::note_incomplete(graph, &mut metadata, is_said)?;
        Answer::render(inquiry.form, code, Batch { first, more, metadata })
    })
}

/// The lookup of one name.
#[derive(Clone, Copy)]
struct NameLookup<'a> {
    context: &'a QueryContext<'a>,
    args: &'a ReferencesArgs,
    name: &'a str,
    cursor: Option<&'a str>,
    /// The tools that may be suggested.
    offered: &'a OfferedTools,
}

/// The references to one symbol.
pub(super) struct References {
    /// The request, for suggestions.
    previous: PreviousCall,
    pub(super) symbol: GraphSymbol,
    pub(super) references: Vec<ReferenceRow>,
    /// For texts about a type that is used in several ways: the numbers of rows by use.
    pub(super) uses: BTreeMap<TypeUse, usize>,
    /// Tests, which texts list after the other rows.
    pub(super) tests: FoldedTests<ReferenceRow>,
    pub(super) offset: usize,
    pub(super) limit: usize,
    /// The number of rows on all pages.
    pub(super) listed: usize,
    pub(super) total: usize,
    /// The numbers of those that are unconfirmed, and of those in tests.
    pub(super) possible: usize,
    pub(super) in_tests: usize,
    /// How far the scan came, if it is incomplete.
    pub(super) progress: Option<ScanProgress>,
    pub(super) next: Option<String>,
    pub(super) counts: Counts,
    /// Calls of a declaration that it implements, or of its implementations, and their total number.
    pub(super) dispatch: Vec<DispatchRow>,
    pub(super) total_dispatch: usize,
    /// The number of other files that contain the word, and their lines when requested.
    pub(super) text_files: usize,
    pub(super) text: Option<Vec<TextMention>>,
    pub(super) implementations: Vec<Implementation>,
    pub(super) others: Vec<GraphSymbol>,
    pub(super) room: usize,
}

/// An implementation of a method, or a type that implements or extends another one.
pub(super) struct Implementation {
    pub(super) symbol: GraphSymbol,
    /// For a method: the number of its references.
    references: Option<usize>,
    /// For a type: the relation.
    pub(super) relation: Option<EdgeKind>,
}

impl Implementation {
    /// Returns the implementations of a method, or of a type unless other references are asked for.
    fn all(
        graph: &Graph<'_>,
        found: &FoundReferences,
        target: SymbolAt,
        kind: Option<EdgeKind>,
    ) -> Result<Vec<Self>, AppError> {
        let methods = graph.implementations(target).into_iter().map(|at| (at, Some(found.count(at)), None));
        let is_asked = kind.is_none_or(|kind| matches!(kind, EdgeKind::Implements | EdgeKind::Extends));
        let types = if is_asked { graph.implementers(found, target)? } else { Vec::new() };
        let types = types.into_iter().map(|(at, relation)| (at, None, Some(relation)));
        methods
            .chain(types)
            .map(|(at, references, relation)| Ok(Self { symbol: GraphSymbol::load(graph, at)?, references, relation }))
            .collect()
    }

    fn wire(&self) -> SymbolSummary {
        let relation = self.relation.map(|relation| relation.as_str().into());
        SymbolSummary { references: self.references, relation, ..self.symbol.summary() }
    }
}

/// A reference with its source line and enclosing scope.
pub(super) struct ReferenceRow {
    pub(super) site: Site,
    pub(super) context: String,
    pub(super) around: EnclosingScope,
    layer: Option<&'static str>,
    pub(super) type_use: TypeUse,
}

impl ReferenceRow {
    fn new(graph: &Graph<'_>, site: Site) -> Result<Self, AppError> {
        let snapshot = graph.snapshot();
        Ok(Self {
            context: graph::source_line(snapshot, site.file.id, site.line)?,
            around: EnclosingScope::load(graph, site.file.id, site.from)?,
            layer: snapshot.layer(site.file.id).map(|layer| layer.as_str()),
            type_use: graph.type_use(&site),
            site,
        })
    }

    fn wire(&self) -> wire::Reference {
        let site = &self.site;
        let is_heuristic = site.confidence == Confidence::Heuristic;
        wire::Reference {
            path: site.file.path.clone(),
            line_start: site.line,
            column: (site.column > 0).then_some(site.column + 1),
            edge_type: site.kind.as_str().into(),
            confidence: site.confidence.as_str().into(),
            reason: is_heuristic.then(|| graph::unresolved_reason(site)),
            source_layer: self.layer.map(Into::into),
            context: self.context.clone(),
            from_symbol: self.around.identity(),
        }
    }
}

/// Whether a reference is in a test.
fn is_test(graph: &Graph<'_>, site: &Site) -> bool {
    graph.file(site.file.id).is_some_and(|file| graph.is_in_test(&file, site.from))
}

/// A call of a declaration that the symbol implements, or of an implementation of it.
pub(super) struct DispatchRow {
    pub(super) place: ReferenceRow,
    pub(super) symbol: GraphSymbol,
    pub(super) link: DispatchLink,
}

impl DispatchRow {
    fn new(graph: &Graph<'_>, through: DispatchCall) -> Result<Self, AppError> {
        let symbol = GraphSymbol::load(graph, through.symbol)?;
        Ok(Self { place: ReferenceRow::new(graph, through.site)?, symbol, link: through.link })
    }

    fn wire(&self) -> wire::DispatchReference {
        wire::DispatchReference {
            reference: self.place.wire(),
            link: self.link.as_str().into(),
            symbol: self.symbol.located(),
        }
    }
}

fn collect_references(
    graph: &Graph<'_>,
    asked: &NameLookup<'_>,
    metadata: &mut Metadata,
) -> Result<References, AppError> {
    let NameLookup { context: inquiry, args: question, name, .. } = *asked;
    let snapshot = graph.snapshot();
    let file = inquiry.paths.resolve_optional_file(&[snapshot], question.path.as_deref())?;
    let handle = symbol_input::normalize_name(snapshot, &inquiry.paths, name)?;
    let handle = symbol_input::follow_reexports(graph, handle, &mut metadata.warnings)?;
    let policy = AmbiguityPolicy::MostUsed { graph, prefers: |_| true };
    let (target, others) = symbol_input::resolve_symbol(snapshot, &handle, file.as_ref(), policy)?;
    let symbol = GraphSymbol::load(graph, target)?;
    let found = graph.references_to_name(&symbol.symbol().name)?;
    if !graph.has_rules(&symbol.file.language) {
        let message = format!("References of {} are not supported.", symbol.file.language);
        return Err(AppError::new(Code::NoEdgesAvailable, message)
            .hint("Use search_code with mode \"literal\" to find the word.")
            .advice("Use `codecompass grep -w` to find the word.")
            .for_agent("Use grep_code with word=true to find the word.")
            .data(ErrorData::Language { language: symbol.file.language.clone() }));
    }
    if !others.is_empty() && inquiry.form == OutputFormat::Json {
        metadata.warnings.push(graph::chosen_warning(&symbol, name, others.len() + 1));
    }
    let is_kin = |language: &str| graph.can_interop(language, &symbol.file.language);
    let (mut sites, counts) = found.classify(graph, target, symbol.symbol(), is_kin);
    sites.retain(|site| question.kind.is_none_or(|kind| site.kind == kind));
    sites.retain(|site| question.tests.includes(is_test(graph, site)));
    if inquiry.form != OutputFormat::Json {
        // Two uses on one line share a row, and count once.
        sites.dedup_by_key(|site| (site.file.id, site.line, site.confidence));
    }
    let total = sites.len();
    let possible = sites.iter().filter(|site| site.confidence == Confidence::Heuristic).count();
    let in_tests = sites.iter().filter(|site| is_test(graph, site)).count();
    let mut tests = FoldedTests::empty();
    if inquiry.form != OutputFormat::Json && question.tests == TestFilter::Unset {
        let (of_tests, of_code): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(|site| is_test(graph, site));
        sites = of_code;
        if asked.cursor.is_none() {
            let left = (!question.is_open).then(|| question.limit.saturating_sub(sites.len()));
            tests = FoldedTests::fold(of_tests, left, |site| &site.file.path)
                .try_map(|site| ReferenceRow::new(graph, site))?;
        }
    }
    let uses = match inquiry.form {
        OutputFormat::Json => BTreeMap::new(),
        OutputFormat::Text(_) => group_by_use(graph, target, &mut sites),
    };
    let path = file.as_ref().map(|file| &file.path);
    let chosen = question.tests.identity();
    let form = if inquiry.form == OutputFormat::Json { "" } else { " text" };
    let identity = format!("references {name:?} {path:?} {:?}{chosen}{form}", question.kind);
    let cursor = Cursor::new(Some(snapshot), &identity);
    let offset = cursor.decode(asked.cursor)?;
    let listed = sites.len();
    let page = sites.into_iter().skip(offset).take(question.limit);
    let mut places: Vec<ReferenceRow> = page.map(|site| ReferenceRow::new(graph, site)).collect::<Result<_, _>>()?;
    let kept = match inquiry.form {
        OutputFormat::Json => fit(&places.iter().map(ReferenceRow::wire).collect::<Vec<_>>(), inquiry.max_bytes()),
        OutputFormat::Text(_) => {
            let length = |place: &ReferenceRow| place.row().len() + place.site.file.path.len() / 2;
            rows::fitting_count(places.iter().map(length), inquiry.max_bytes() / 4 * 3)
        }
    };
    places.truncate(kept);
    let next = (offset + kept < listed).then(|| cursor.encode(offset + kept));
    if next.is_some() {
        metadata.next_cursor.clone_from(&next);
        metadata.completeness = Completeness::Truncated;
    }
    let progress = found.progress();
    if let Some(progress) = progress.filter(|_| inquiry.form == OutputFormat::Json) {
        let (found, examined) = (rows::count(total, "reference"), graph::progress_text(progress));
        metadata.warnings.push(format!("at least {found} (time limit): {examined}"));
    }
    let mut through = if offset == 0 { graph.dispatch_calls(&found, target)? } else { Vec::new() };
    through.retain(|one| question.tests.includes(is_test(graph, &one.site)));
    let total_through = through.len();
    through.truncate(question.limit);
    let through = through.into_iter().map(|one| DispatchRow::new(graph, one)).collect::<Result<_, _>>()?;
    let texts = TextMentions::find(snapshot, &symbol.symbol().name, &found.files(is_kin))?;
    let text = match question.include_text && offset == 0 {
        true => Some(texts.lines(snapshot, question.limit)?),
        false => None,
    };
    let text_files = texts.files.len();
    let implementations = match offset {
        0 => Implementation::all(graph, &found, target, question.kind)?,
        _ => Vec::new(),
    };
    Ok(References {
        previous: PreviousCall::new(TOOL.name, "symbol_name", name, asked.offered),
        implementations,
        others: graph::load_others(graph, &others)?,
        limit: question.limit,
        room: inquiry.max_bytes(),
        counts,
        dispatch: through,
        total_dispatch: total_through,
        text_files,
        text,
        symbol,
        uses,
        references: places,
        tests,
        offset,
        listed,
        total,
        possible,
        in_tests,
        progress,
        next,
    })
}

/// The minimum number of references that are grouped by use. Headings for fewer would be longer than the rows.
const MIN_GROUPED: usize = 4;

/// Sorts the references to a type by use and counts each use. Returns nothing, and sorts nothing, if the symbol is no type
/// or all references are of one use.
fn group_by_use(graph: &Graph<'_>, target: SymbolAt, sites: &mut [Site]) -> BTreeMap<TypeUse, usize> {
    let mut uses = BTreeMap::new();
    if sites.len() < MIN_GROUPED || !graph.is_type(target) {
        return uses;
    }
    sites.iter().for_each(|site| *uses.entry(graph.type_use(site)).or_default() += 1);
    if uses.len() < 2 {
        return BTreeMap::new();
    }
    sites.sort_by_cached_key(|site| graph.type_use(site));
    uses
}

impl Render for References {
    type Wire = wire::References;

    fn wire(self) -> Result<Self::Wire, AppError> {
        let line = |one: TextMention| wire::TextLine { path: one.path, line_start: one.line, context: one.context };
        Ok(wire::References {
            symbol: self.symbol.located(),
            references: self.references.iter().map(ReferenceRow::wire).collect(),
            total_references: self.total,
            counts: graph::counts(&self.counts),
            through: self.dispatch.iter().map(DispatchRow::wire).collect(),
            total_through: (!self.dispatch.is_empty()).then_some(self.total_dispatch),
            text_files: self.text_files,
            text: self.text.map(|text| text.into_iter().map(line).collect()),
            implementations: self.implementations.iter().take(MAX_IMPLEMENTATIONS).map(Implementation::wire).collect(),
            suggestions: if self.total == 0 { self.previous.suggestions(&KnownSymbols::default()) } else { None },
            other_matches: graph::summaries(&self.others),
        })
    }

    fn text(self, reader: Reader) -> Result<String, AppError> {
        Ok(text::text(&self, reader))
    }
}
