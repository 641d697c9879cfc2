//! `get_file_outline`: the symbols of a file, nested.

use codecompass_model::SymbolKind;
use codecompass_model::ids::SymbolId;
use codecompass_query::{Outline, outline};
use codecompass_store::Snapshot;
use serde_json::{Map, Value, json};

use super::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional, required, schema};
use super::input::Cursor;
use super::shape::{self, CURSOR};
use super::trees::{self, Cut};
use crate::config::Config;
use crate::error::AppError;
use crate::escape::shown;
use crate::metadata::Metadata;
use crate::output::{Answer, style};
use crate::paths::{Absence, Paths};

pub(crate) const TOOL: Tool = Tool {
    name: "get_file_outline",
    title: "Outline of a file",
    description: "All symbols of one file as a nested tree with lines and signatures. Use it instead of reading a \
                  file to see what is in it.",
    params: &[
        required("path", Kind::Text, "File, from the repository root or absolute"),
        REF,
        optional("depth", Kind::Choice(&["top", "all"], Some("all")), "top: without what stands inside"),
        optional("language", Kind::Text, "Not needed: it is known from the file"),
        CURSOR,
        WORKSPACE,
    ],
    output: || {
        let symbol = schema::object(
            &["kind", "name", "symbol_id", "visibility", "signature"],
            &["line_start", "line_end", "children_omitted"],
            &[("children", schema::list(schema::any_object()))],
        );
        json!({ "file_path": schema::text(), "language": schema::text(), "symbols": schema::list(symbol) })
    },
    always: &["file_path", "language", "symbols"],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let arguments = &call.arguments;
        let question = Question {
            path: arguments.words("path"),
            is_deep: arguments.text("depth").as_deref() != Some("top"),
            cursor: arguments.text("cursor"),
        };
        call.query(|session, published| {
            let paths = Paths::from_root(session);
            answer(published.snapshot.as_deref(), &question, &paths, &session.config, published.metadata)
        })
    },
};

/// What is asked.
pub(crate) struct Question {
    pub(crate) path: String,
    pub(crate) is_deep: bool,
    pub(crate) cursor: Option<String>,
}

/// Answers from a snapshot.
pub(crate) fn answer(
    snapshot: Option<&Snapshot>,
    question: &Question,
    paths: &Paths<'_>,
    config: &Config,
    mut metadata: Metadata,
) -> Result<Answer, AppError> {
    let Some(snapshot) = snapshot else {
        return Err(AppError::index_not_ready().about(metadata));
    };
    let file = paths.file(&[snapshot], "path", &question.path).map_err(|error| error.about(metadata.clone()))?;
    let path = file.path.as_str();
    let Some(outline) = outline(snapshot, path)? else {
        let absence = file.absence.unwrap_or(Absence::Unknown);
        return Err(not_found(snapshot, path, &absence, &metadata.ref_name)?.about(metadata));
    };
    let cursor = Cursor::of(Some(snapshot), &format!("outline {path:?} {}", question.is_deep));
    let offset = cursor.read(question.cursor.as_deref())?;
    let rest = outline.top().get(offset..).unwrap_or_default();
    let listed = rest.iter().map(|place| symbol_json(&outline, *place, question.is_deep)).collect();
    let Cut { trees: symbols, kept, total } = trees::cut(listed, config.max_response_bytes);
    if kept < total {
        metadata.completeness = "truncated";
        metadata.warnings.push(format!(
            "the outline is too long for one answer: {kept} of {total} symbols are here; get_symbol_hierarchy with \
             direction \"descendants\" has what stands inside one"
        ));
    }
    if symbols.len() < rest.len() {
        metadata.next_cursor = Some(cursor.write(offset + symbols.len()));
    }
    metadata.symbol_count = Some(outline.count());
    Ok(Answer {
        text: text(&outline, question.is_deep) + &metadata.warnings_text(),
        json: json!({
            "file_path": outline.version.path,
            "language": outline.version.language,
            "symbols": symbols,
            "metadata": metadata.to_json(),
        }),
        code: 0,
    })
}

/// The file that is not there: why, where that is known, else those that bear its name.
fn not_found(snapshot: &Snapshot, path: &str, absence: &Absence, ref_name: &str) -> Result<AppError, AppError> {
    const MOST: usize = 5;
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_near = |known: &String| known.rsplit('/').next() == Some(name) || known.ends_with(&format!("/{path}"));
    let mut near: Vec<String> =
        snapshot.catalogue()?.values().map(|version| version.path.clone()).filter(is_near).collect();
    near.sort();
    near.truncate(MOST);
    let mut error = absence.error(path, ref_name);
    if let (Some(first), Absence::Unknown) = (near.first(), absence) {
        error = error.hint(format!("There is {first}."));
    }
    let mut data = json!({ "path": path, "nearest_paths": near });
    if let Some(reason) = absence.left_out() {
        data["left_out"] = json!(reason);
    }
    Ok(error.data(data))
}

fn symbol_json(outline: &Outline, place: u32, is_deep: bool) -> Value {
    let symbol = outline.symbol(place);
    let mut fields = Map::new();
    fields.insert("kind".into(), json!(symbol.kind.as_str()));
    let is_import = symbol.kind == SymbolKind::Use;
    fields.insert("name".into(), json!(symbol.name));
    fields.insert("line_start".into(), json!(symbol.lines.start));
    fields.insert("line_end".into(), json!(symbol.lines.end));
    if let Some(visibility) = &symbol.visibility_text {
        fields.insert("visibility".into(), json!(visibility));
    }
    if !is_import {
        fields.insert("signature".into(), json!(shape::cut(&symbol.signature, shape::SIGNATURE)));
    }
    fields.insert("symbol_id".into(), json!(SymbolId::of(&outline.version.path, symbol).to_string()));
    let inside = outline.inside(place);
    if is_deep && !inside.is_empty() {
        let children: Vec<Value> = inside.iter().map(|child| symbol_json(outline, *child, true)).collect();
        fields.insert("children".into(), json!(children));
    }
    Value::Object(fields)
}

fn text(outline: &Outline, is_deep: bool) -> String {
    fn lines(outline: &Outline, places: &[u32], level: usize, is_deep: bool, text: &mut String) {
        for place in places {
            let symbol = outline.symbol(*place);
            let line = format!("{:>6}", symbol.lines.start);
            let what = match symbol.kind {
                SymbolKind::Use => format!("use {}", symbol.name),
                _ => symbol.signature.clone(),
            };
            *text += &format!("{}  {}{}\n", style::dim(&line), "  ".repeat(level), shown(&shape::cut(&what, 160)));
            if is_deep {
                lines(outline, outline.inside(*place), level + 1, is_deep, text);
            }
        }
    }
    let mut text = format!("{} ({})\n", style::path(&shown(&outline.version.path)), outline.version.language);
    lines(outline, outline.top(), 0, is_deep, &mut text);
    text
}
