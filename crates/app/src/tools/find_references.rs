//! `find_references`: every place that means a symbol, the proved ones first.

use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

use codecompass_model::VersionId;
use codecompass_query::graph::{EdgeKind, Graph, Memory, Site, Through};
use codecompass_query::grep::{self, Pattern, Wanted};
use codecompass_store::{Need, Run, Snapshot};
use serde_json::{Map, Value, json};

use super::followups::{Before, Known};
use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::graph::{self, Shown, with_graph};
use super::input::{self, Cursor};
use super::shape;
use crate::config::Config;
use crate::error::{AppError, Code};
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::Paths;

/// So long an answer of the server may take.
pub(crate) const SERVED: Duration = Duration::from_millis(350);

const KINDS: &[&str] = &["imports", "calls", "implements", "extends", "references"];

pub(crate) const TOOL: Tool = Tool {
    name: "find_references",
    title: "Find references",
    description: "Every place that refers to a symbol, with the source line and the symbol around it: imports, calls, \
                  implements, extends, references. Proved places first; `heuristic` ones could not be proved. `counts` \
                  accounts for every place that bears the name. Use it before changing a symbol, in place of grep.",
    params: &[
        required("symbol_name", Kind::Text, "Name, end of a qualified name, or symbol_id"),
        REF,
        optional("kind", Kind::Choice(KINDS, None), "Only these edges"),
        optional("limit", Kind::Count(Some(20)), "At most 200"),
        optional("path", Kind::Text, "File of the definition, when several bear the name"),
        optional("include_text", Kind::Flag(false), "Also where comments, strings and other files hold the word"),
        shape::CURSOR,
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
        let arguments = &call.arguments;
        let input = Input {
            name: arguments.words("symbol_name"),
            path: arguments.text("path"),
            kind: arguments.text("kind"),
            include_text: arguments.flag("include_text"),
            limit: arguments.count("limit"),
            cursor: arguments.text("cursor"),
            patience: SERVED,
        };
        let question = input.check()?;
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.memory.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// What is asked, as it came in.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) path: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) include_text: bool,
    pub(crate) limit: i64,
    pub(crate) cursor: Option<String>,
    pub(crate) patience: Duration,
}

/// The input with nothing left to check.
pub(crate) struct Question {
    name: String,
    path: Option<String>,
    kind: Option<EdgeKind>,
    include_text: bool,
    pub(crate) limit: usize,
    cursor: Option<String>,
    patience: Duration,
    warnings: Vec<String>,
}

impl Input {
    /// Checks the input.
    pub(crate) fn check(self) -> Result<Question, AppError> {
        let words = EdgeKind::ALL.map(|kind| (kind.as_str(), kind));
        let kind = input::one_of("kind", self.kind.as_deref(), &words)?;
        let (limit, warnings) = input::limit(self.limit);
        let Input { name, path, include_text, cursor, patience, .. } = self;
        Ok(Question { name, path, kind, include_text, limit, cursor, patience, warnings })
    }
}

/// Answers from a snapshot.
pub(crate) fn answer(
    memory: Option<&Memory>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    metadata.warnings.extend(question.warnings.iter().cloned());
    let missing = || {
        AppError::new(Code::NoEdgesAvailable, "Nothing is indexed yet, so there are no edges.")
            .hint("Call index_repo, or run `codecompass index`.")
    };
    let Some(memory) = memory else { return Err(missing().about(metadata)) };
    let about = metadata.clone();
    let asked = with_graph(memory, question.patience, |graph| found(graph, question, paths, config, metadata));
    asked.map_err(|error| if error.more.metadata.is_some() { error } else { error.about(about) })
}

fn found(
    graph: &Graph<'_>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let snapshot = graph.snapshot();
    let file = paths.file_if_given(&[snapshot], question.path.as_deref())?;
    let candidates = graph::candidates(snapshot, &question.name, file.as_ref())?;
    let first = Shown::of(graph, candidates[0])?;
    let found = graph.named(&first.symbol().name)?;
    let meant = graph.meant(&found, &candidates);
    let target = meant.first().copied().unwrap_or(candidates[0]);
    let symbol = Shown::of(graph, target)?;
    if !graph.knows(&symbol.file.language) {
        let message = format!("{} has no rules for references.", symbol.file.language);
        return Err(AppError::new(Code::NoEdgesAvailable, message)
            .hint("search_code with mode \"literal\" finds the word.")
            .data(json!({ "language": symbol.file.language })));
    }
    let others = meant.get(1..).unwrap_or_default();
    if !others.is_empty() {
        metadata.warnings.push(graph::taken_warning(&symbol, &question.name, meant.len()));
    }
    let is_kin = |language: &str| graph.are_kin(language, &symbol.file.language);
    let (mut sites, counts) = found.account(target, symbol.symbol(), is_kin);
    sites.retain(|site| question.kind.is_none_or(|kind| site.kind == kind));
    let total = sites.len();
    let path = file.as_ref().map(|file| &file.path);
    let identity = format!("references {:?} {path:?} {:?}", question.name, question.kind);
    let cursor = Cursor::of(Some(snapshot), &identity);
    let offset = cursor.read(question.cursor.as_deref())?;
    let page: Vec<Site> = sites.into_iter().skip(offset).take(question.limit).collect();
    let mut references = Vec::with_capacity(page.len());
    for site in &page {
        references.push(site_json(graph, snapshot, site)?);
    }
    let kept = shape::fitting(&references, None, config.max_response_bytes);
    references.truncate(kept);
    if offset + kept < total {
        metadata.next_cursor = Some(cursor.write(offset + kept));
        metadata.completeness = "truncated";
    }
    if !found.is_complete() {
        let (seen, all) = (found.looked_at, found.total);
        metadata.warnings.push(format!("{seen} of {all} places that bear the name were looked at"));
    }
    let mut json = json!({
        "symbol": symbol.located(),
        "references": references,
        "total_references": total,
        "counts": graph::counts_json(&counts),
    });
    let through = graph.through(&found, target)?;
    if !through.is_empty() && offset == 0 {
        let listed = through.iter().take(question.limit).map(|one| through_json(graph, snapshot, one));
        json["through"] = json!(listed.collect::<Result<Vec<_>, _>>()?);
        json["total_through"] = json!(through.len());
    }
    let texts = Texts::of(snapshot, &symbol.symbol().name, &found.files(is_kin))?;
    json["text_files"] = json!(texts.files.len());
    if question.include_text && offset == 0 {
        json["text"] = json!(texts.lines(snapshot, question.limit)?);
    }
    let implementations = graph.implementations(target);
    if !implementations.is_empty() && offset == 0 {
        let mut listed = graph::others_json(graph, &implementations)?;
        for (one, at) in listed.iter_mut().zip(&implementations) {
            one["references"] = json!(found.count(*at));
        }
        json["implementations"] = json!(listed);
    }
    if total == 0 {
        Before::of(TOOL.name, "symbol_name", &question.name).add_to(&mut json, Known::default());
    }
    if !others.is_empty() {
        json["other_matches"] = json!(graph::others_json(graph, others)?);
    }
    graph::finish(graph, &mut metadata)?;
    let text = text(&symbol, &page[..kept.min(page.len())], &references, total, offset)
        + &through_text(&json)
        + &account_text(&json)
        + &metadata.warnings_text();
    json["metadata"] = metadata.to_json();
    Ok(Answer { text, json, code: u8::from(total == 0) })
}

fn site_json(graph: &Graph<'_>, snapshot: &Snapshot, site: &Site) -> Result<Value, AppError> {
    let mut fields = Map::new();
    fields.insert("path".into(), json!(site.file.path));
    fields.insert("line_start".into(), json!(site.line));
    if site.column > 0 {
        fields.insert("column".into(), json!(site.column + 1));
    }
    fields.insert("edge_type".into(), json!(site.kind.as_str()));
    fields.insert("confidence".into(), json!(site.confidence.as_str()));
    if site.confidence.as_str() == "heuristic" {
        fields.insert("reason".into(), json!(graph::reason(site)));
    }
    if let Some(layer) = snapshot.layer(site.file.id) {
        fields.insert("source_layer".into(), json!(layer.as_str()));
    }
    fields.insert("context".into(), json!(graph::line_of(snapshot, site.file.id, site.line)?));
    let from = match site.from {
        Some(place) => Shown::of(graph, codecompass_model::SymbolAt { file: site.file.id, place })?.identity(),
        None => graph::module_of(graph, site.file.id)?,
    };
    fields.insert("from_symbol".into(), Value::Object(from));
    Ok(Value::Object(fields))
}

/// A call of what the symbol implements, or of what implements it.
fn through_json(graph: &Graph<'_>, snapshot: &Snapshot, through: &Through) -> Result<Value, AppError> {
    let mut json = site_json(graph, snapshot, &through.site)?;
    json["link"] = json!(through.link.as_str());
    json["symbol"] = json!(Shown::of(graph, through.symbol)?.located());
    Ok(json)
}

/// The files that hold a name outside of the code that was accounted for: in comments, strings, and other languages.
struct Texts<'n> {
    name: &'n str,
    files: BTreeSet<VersionId>,
}

impl<'n> Texts<'n> {
    fn of(snapshot: &Snapshot, name: &'n str, accounted: &HashSet<VersionId>) -> Result<Self, AppError> {
        let need = Need::Run(Run::new(&name.to_lowercase(), (true, true)));
        let files = snapshot.may_hold(&need, false)?.into_iter().filter(|id| !accounted.contains(id)).collect();
        Ok(Self { name, files })
    }

    /// The lines that hold it.
    fn lines(&self, snapshot: &Snapshot, most: usize) -> Result<Vec<Value>, AppError> {
        let wanted = Wanted { text: self.name, literal: true, ignore_case: false, word: true };
        let Ok(pattern) = Pattern::new(&wanted) else { return Ok(Vec::new()) };
        let found = grep::find(snapshot, &pattern, |version| self.files.contains(&version.id), Some(most))?;
        let lines = found.files.iter().flat_map(|file| {
            file.lines.iter().map(|line| {
                let context = shape::cut(line.text.trim(), 160);
                json!({ "path": file.version.path, "line_start": line.number, "context": context })
            })
        });
        Ok(lines.take(most).collect())
    }
}

fn through_text(json: &Value) -> String {
    let mut text = String::new();
    for one in json["through"].as_array().into_iter().flatten() {
        let field = |name: &str| shown(one[name].as_str().unwrap_or_default()).into_owned();
        let symbol = shown(one["symbol"]["qualified_name"].as_str().unwrap_or_default()).into_owned();
        text += &format!(
            "  {}:{}  {} {symbol}\n      {}\n",
            style::path(&field("path")),
            one["line_start"],
            style::dim(&format!("through its {}", field("link"))),
            field("context"),
        );
    }
    text
}

/// What the places are that the list does not show.
fn account_text(json: &Value) -> String {
    let counts = &json["counts"];
    let mut text = String::new();
    if counts["undecided"] != 0 {
        text += &format!("{} proved, {} undecided (?)\n", counts["proved"], counts["undecided"]);
    }
    if json["total_references"] == 0 {
        let (elsewhere, outside) = (&counts["elsewhere"], &counts["outside"]);
        text += &format!(
            "The name stands {elsewhere} times for something else here, {outside} times for something outside.\n"
        );
    }
    for line in json["text"].as_array().into_iter().flatten() {
        let field = |name: &str| shown(line[name].as_str().unwrap_or_default()).into_owned();
        text += &format!("  {}:{}  {}\n", style::path(&field("path")), line["line_start"], field("context"));
    }
    match json["text_files"].as_u64() {
        None | Some(0) => text,
        Some(1) => text + "1 other file holds the word in text\n",
        Some(count) => text + &format!("{count} other files hold the word in text\n"),
    }
}

fn text(symbol: &Shown, sites: &[Site], references: &[Value], total: usize, offset: usize) -> String {
    let mut text = format!(
        "{}:{}  {} {}\n",
        style::path(&shown(&symbol.file.path)),
        style::number(symbol.symbol().lines.start),
        style::dim(symbol.symbol().kind.as_str()),
        style::name(&shown(&symbol.symbol().qualified_name)),
    );
    for (site, reference) in sites.iter().zip(references) {
        let from = reference["from_symbol"]["name"].as_str().unwrap_or_default();
        let guess = if reference["confidence"] == "heuristic" { " ?" } else { "" };
        text += &format!(
            "  {}:{}  {}{guess} in {}\n      {}\n",
            style::path(&shown(&site.file.path)),
            style::number(site.line),
            style::dim(site.kind.as_str()),
            shown(from),
            shown(reference["context"].as_str().unwrap_or_default()),
        );
    }
    let seen = offset + references.len();
    match total {
        0 => text + "No references.\n",
        _ if seen < total => text + &format!("{seen} of {total} references; --limit or --all shows more\n"),
        _ => text,
    }
}
