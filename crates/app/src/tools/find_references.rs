//! `find_references`: every reference to a symbol, the confirmed ones first.

use codecompass_model::Confidence;
use codecompass_query::Policy;
use codecompass_query::graph::{Counts, EdgeKind, Graph, Link, Site, Through};
use serde_json::{Map, Value, json};

use super::followups::{Before, Known};
use super::frame::{ALL, Arguments, Effect, FILE, Kind, NO_SYNC, REF, Tool, WORKSPACE, optional, required, schema};
use super::graph::{self, Around, Shown, with_graph};
use super::in_text::{TextLine, Texts};
use super::input::{self, Cursor};
use super::rows;
use super::several::{Part, Several};
use super::test_code::{Last, TESTS, Tests};
use super::{names, reference_text, shape};
use crate::call::Inquiry;
use crate::error::{AppError, Code};
use crate::metadata::{Completeness, Metadata};
use crate::output::{Answer, Form, Reader};

const KINDS: &[&str] = &["imports", "calls", "implements", "extends", "references"];

pub(crate) const TOOL: Tool = Tool {
    name: "find_references",
    title: "Find references",
    description: "Every reference to a symbol, with the source line and the enclosing symbol: imports, calls, \
                  implements, extends, references. Confirmed ones first; `heuristic` ones are unconfirmed. `counts` \
                  covers every occurrence of the name. Use it before changing a symbol, instead of grep.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, path:line, or symbol_id")
            .brief("Name or path:line")
            .place("NAME"),
        names::ALSO,
        REF,
        optional("kind", Kind::Choice(KINDS, None), "Only these edges"),
        TESTS,
        optional("limit", Kind::Count(Some(20)), "At most 200"),
        FILE,
        optional("include_text", Kind::Flag(false), "Also list the word in comments, strings and other files")
            .brief("Also in comments and text")
            .flag("text"),
        shape::CURSOR,
        ALL,
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: || {
        let place = schema::object(
            &["path", "edge_type", "source_layer", "context", "confidence", "reason"],
            &["line_start", "column"],
            &[("from_symbol", schema::any_object())],
        );
        json!({
            "symbol": schema::any_object(),
            "references": schema::list(place),
            "total_references": schema::count(),
            "counts": graph::counts_schema(),
            "through": schema::list(schema::any_object()),
            "total_through": schema::count(),
            "text_files": schema::count(),
            "text": schema::list(schema::any_object()),
            "implementations": schema::list(schema::any_object()),
            "other_matches": schema::list(schema::any_object()),
            "suggestions": schema::suggestions(),
        })
    },
    always: &["symbol", "references", "total_references", "counts"],
    effect: Effect::Reads,
    first: true,
    call: |call| {
        let question = Question::of(&call.arguments)?;
        call.inquire(|inquiry| answer(inquiry, &question).map_err(|error| inquiry.explained(error)))
    },
};

/// The parsed arguments.
pub(crate) struct Question {
    name: String,
    also: Vec<String>,
    path: Option<String>,
    kind: Option<EdgeKind>,
    include_text: bool,
    tests: Tests,
    limit: usize,
    /// No limit was given.
    is_open: bool,
    cursor: Option<String>,
    warnings: Vec<String>,
}

impl Question {
    /// Checks the arguments.
    pub(crate) fn of(arguments: &Arguments) -> Result<Self, AppError> {
        let words = EdgeKind::ALL.map(|kind| (kind.as_str(), kind));
        let (limit, warnings) = arguments.limit();
        Ok(Self {
            name: arguments.words("symbol_name"),
            also: arguments.list("also"),
            path: arguments.text("path"),
            kind: input::one_of("kind", arguments.text("kind").as_deref(), &words)?,
            include_text: arguments.flag("include_text"),
            tests: Tests::of(arguments)?,
            limit,
            is_open: !arguments.is_given("limit") && !arguments.is_given("all"),
            cursor: arguments.text("cursor"),
            warnings,
        })
    }
}

/// Answers the request.
pub(crate) fn answer(inquiry: &Inquiry<'_>, question: &Question) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&question.warnings);
    let missing = || {
        AppError::new(Code::NoEdgesAvailable, "Nothing is indexed yet, so there are no edges.")
            .hint("Call index_repo, or run `codecompass index`.")
            .advice("Run `codecompass index`.")
    };
    let Ok(memory) = inquiry.memory() else { return Err(missing().about(metadata)) };
    with_graph(memory, &inquiry.patience, |graph| {
        let asked = Asked { inquiry, question, name: &question.name, cursor: question.cursor.as_deref() };
        let first = found(graph, &asked, &mut metadata)?;
        let code = u8::from(first.total == 0);
        let mut more = Vec::with_capacity(question.also.len());
        for name in &question.also {
            let part = found(graph, &Asked { name, cursor: None, ..asked }, &mut Metadata::unknown());
            more.push((name.clone(), part));
        }
        graph::finish(graph, &mut metadata)?;
        Several { first, more, metadata, code }.told(inquiry.form)
    })
}

/// The lookup of one name.
#[derive(Clone, Copy)]
struct Asked<'a> {
    inquiry: &'a Inquiry<'a>,
    question: &'a Question,
    name: &'a str,
    cursor: Option<&'a str>,
}

/// The references to one symbol.
pub(super) struct References {
    asked: String,
    pub(super) symbol: Shown,
    pub(super) places: Vec<Place>,
    /// Tests, which texts list after the other rows.
    pub(super) tests: Last<Place>,
    pub(super) offset: usize,
    pub(super) limit: usize,
    /// The number of rows on all pages.
    pub(super) listed: usize,
    pub(super) total: usize,
    pub(super) next: Option<String>,
    pub(super) counts: Counts,
    /// Calls of a declaration that it implements, or of its implementations, and their total number.
    pub(super) through: Vec<Reached>,
    pub(super) total_through: usize,
    /// The number of other files that contain the word, and their lines when requested.
    pub(super) text_files: usize,
    pub(super) text: Option<Vec<TextLine>>,
    pub(super) implementations: Vec<(Shown, usize)>,
    pub(super) others: Vec<Shown>,
    pub(super) room: usize,
}

/// A reference with its source line and enclosing scope.
pub(super) struct Place {
    pub(super) site: Site,
    pub(super) context: String,
    pub(super) around: Around,
    layer: Option<&'static str>,
}

impl Place {
    fn of(graph: &Graph<'_>, site: Site) -> Result<Self, AppError> {
        let snapshot = graph.snapshot();
        Ok(Self {
            context: graph::line_of(snapshot, site.file.id, site.line)?,
            around: Around::of(graph, site.file.id, site.from)?,
            layer: snapshot.layer(site.file.id).map(|layer| layer.as_str()),
            site,
        })
    }

    fn json(&self) -> Value {
        let site = &self.site;
        let mut fields = Map::new();
        fields.insert("path".into(), json!(site.file.path));
        fields.insert("line_start".into(), json!(site.line));
        if site.column > 0 {
            fields.insert("column".into(), json!(site.column + 1));
        }
        fields.insert("edge_type".into(), json!(site.kind.as_str()));
        fields.insert("confidence".into(), json!(site.confidence.as_str()));
        if site.confidence == Confidence::Heuristic {
            fields.insert("reason".into(), json!(graph::reason(site)));
        }
        if let Some(layer) = self.layer {
            fields.insert("source_layer".into(), json!(layer));
        }
        fields.insert("context".into(), json!(self.context));
        fields.insert("from_symbol".into(), Value::Object(self.around.identity()));
        Value::Object(fields)
    }
}

/// Whether a reference is in a test.
fn is_test(graph: &Graph<'_>, site: &Site) -> bool {
    graph.file(site.file.id).is_some_and(|file| graph.is_in_test(&file, site.from))
}

/// A call of a declaration that the symbol implements, or of an implementation of it.
pub(super) struct Reached {
    pub(super) place: Place,
    pub(super) symbol: Shown,
    pub(super) link: Link,
}

impl Reached {
    fn of(graph: &Graph<'_>, through: Through) -> Result<Self, AppError> {
        let symbol = Shown::of(graph, through.symbol)?;
        Ok(Self { place: Place::of(graph, through.site)?, symbol, link: through.link })
    }

    fn json(&self) -> Value {
        let mut json = self.place.json();
        json["link"] = json!(self.link.as_str());
        json["symbol"] = json!(self.symbol.located());
        json
    }
}

fn found(graph: &Graph<'_>, asked: &Asked<'_>, metadata: &mut Metadata) -> Result<References, AppError> {
    let Asked { inquiry, question, name, .. } = *asked;
    let snapshot = graph.snapshot();
    let file = inquiry.paths.file_if_given(&[snapshot], question.path.as_deref())?;
    let handle = names::handle(snapshot, &inquiry.paths, name)?;
    let policy = Policy::MostUsed { graph, prefers: |_| true };
    let (target, others) = names::meant(snapshot, &handle, file.as_ref(), policy)?;
    let symbol = Shown::of(graph, target)?;
    let found = graph.named(&symbol.symbol().name)?;
    if !graph.knows(&symbol.file.language) {
        let message = format!("References of {} are not supported.", symbol.file.language);
        return Err(AppError::new(Code::NoEdgesAvailable, message)
            .hint("Use search_code with mode \"literal\" to find the word.")
            .advice("Use `codecompass grep -w` to find the word.")
            .data(json!({ "language": symbol.file.language })));
    }
    if !others.is_empty() && inquiry.form == Form::Json {
        metadata.warnings.push(graph::taken_warning(&symbol, name, others.len() + 1));
    }
    let is_kin = |language: &str| graph.are_kin(language, &symbol.file.language);
    let (mut sites, counts) = found.account(target, symbol.symbol(), is_kin);
    sites.retain(|site| question.kind.is_none_or(|kind| site.kind == kind));
    sites.retain(|site| question.tests.lists(is_test(graph, site)));
    let total = sites.len();
    if inquiry.form != Form::Json {
        // Two uses on one line share a row.
        sites.dedup_by_key(|site| (site.file.id, site.line, site.confidence));
    }
    let mut tests = Last::none();
    if inquiry.form != Form::Json && question.tests == Tests::Open {
        let (of_tests, of_code): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(|site| is_test(graph, site));
        sites = of_code;
        if asked.cursor.is_none() {
            let left = (!question.is_open).then(|| question.limit.saturating_sub(sites.len()));
            tests = Last::of(of_tests, left, |site| &site.file.path).try_map(|site| Place::of(graph, site))?;
        }
    }
    let path = file.as_ref().map(|file| &file.path);
    let chosen = question.tests.identity();
    let form = if inquiry.form == Form::Json { "" } else { " text" };
    let identity = format!("references {name:?} {path:?} {:?}{chosen}{form}", question.kind);
    let cursor = Cursor::of(Some(snapshot), &identity);
    let offset = cursor.read(asked.cursor)?;
    let listed = sites.len();
    let page = sites.into_iter().skip(offset).take(question.limit);
    let mut places: Vec<Place> = page.map(|site| Place::of(graph, site)).collect::<Result<_, _>>()?;
    let kept = match inquiry.form {
        Form::Json => shape::fitting(&places.iter().map(Place::json).collect::<Vec<_>>(), None, inquiry.room()),
        Form::Text(_) => {
            let length = |place: &Place| place.row().len() + place.site.file.path.len() / 2;
            rows::fitting(places.iter().map(length), inquiry.room() / 4 * 3)
        }
    };
    places.truncate(kept);
    let next = (offset + kept < listed).then(|| cursor.write(offset + kept));
    if next.is_some() {
        metadata.next_cursor.clone_from(&next);
        metadata.completeness = Completeness::Truncated;
    }
    if !found.is_complete() {
        let (seen, all) = (found.looked_at, found.total);
        metadata.warnings.push(format!("checked {seen} of {all} occurrences of the name (time limit)"));
    }
    let mut through = if offset == 0 { graph.through(&found, target)? } else { Vec::new() };
    through.retain(|one| question.tests.lists(is_test(graph, &one.site)));
    let total_through = through.len();
    through.truncate(question.limit);
    let through = through.into_iter().map(|one| Reached::of(graph, one)).collect::<Result<_, _>>()?;
    let texts = Texts::of(snapshot, &symbol.symbol().name, &found.files(is_kin))?;
    let text = match question.include_text && offset == 0 {
        true => Some(texts.lines(snapshot, question.limit)?),
        false => None,
    };
    let text_files = texts.files.len();
    let implementations = match offset {
        0 => graph.implementations(target),
        _ => Vec::new(),
    };
    let implementations = implementations.iter().map(|at| Ok((Shown::of(graph, *at)?, found.count(*at))));
    Ok(References {
        asked: name.to_owned(),
        implementations: implementations.collect::<Result<_, AppError>>()?,
        others: graph::others_of(graph, &others)?,
        limit: question.limit,
        room: inquiry.room(),
        counts,
        through,
        total_through,
        text_files,
        text,
        symbol,
        places,
        tests,
        offset,
        listed,
        total,
        next,
    })
}

impl Part for References {
    fn json(&self) -> Result<Value, AppError> {
        let mut json = json!({
            "symbol": self.symbol.located(),
            "references": self.places.iter().map(Place::json).collect::<Vec<_>>(),
            "total_references": self.total,
            "counts": graph::counts_json(&self.counts),
        });
        if !self.through.is_empty() {
            json["through"] = json!(self.through.iter().map(Reached::json).collect::<Vec<_>>());
            json["total_through"] = json!(self.total_through);
        }
        json["text_files"] = json!(self.text_files);
        if let Some(text) = &self.text {
            let line = |one: &TextLine| json!({ "path": one.path, "line_start": one.line, "context": one.context });
            json["text"] = json!(text.iter().map(line).collect::<Vec<_>>());
        }
        if !self.implementations.is_empty() {
            let listed = self.implementations.iter().take(graph::OTHERS).map(|(one, count)| {
                let mut mention = one.mention();
                mention["references"] = json!(count);
                mention
            });
            json["implementations"] = json!(listed.collect::<Vec<_>>());
        }
        if self.total == 0 {
            Before::of(TOOL.name, "symbol_name", &self.asked).add_to(&mut json, Known::default());
        }
        if !self.others.is_empty() {
            json["other_matches"] = json!(self.others.iter().map(Shown::mention).collect::<Vec<_>>());
        }
        Ok(json)
    }

    fn text(&self, reader: Reader) -> Result<String, AppError> {
        Ok(reference_text::text(self, reader))
    }
}
