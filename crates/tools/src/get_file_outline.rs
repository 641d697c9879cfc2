//! `get_file_outline`: the symbols of a file, nested.

use codecompass_query::{Outline, outline};
use codecompass_store::Snapshot;
use codecompass_wire::get_file_outline::{self as wire, OutlineSymbol};
use codecompass_wire::{ErrorData, Tree, schema};
use serde_json::Value;

use super::input::Cursor;
use super::shape::{self, CURSOR};
use super::tool_spec::{Arguments, Effect, NO_SYNC, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional, required};
use super::{outline_folder, outline_text, similar_paths, unused};
use crate::call::QueryContext;
use codecompass_workspace::error::AppError;
use codecompass_workspace::metadata::{Completeness, MetadataText};
use codecompass_workspace::output::{Answer, OutputFormat, Reader};
use codecompass_workspace::paths::Absence;

pub const TOOL: ToolSpec = ToolSpec {
    name: "get_file_outline",
    title: "Outline of a file",
    description: "All symbols of one file as a nested tree with lines and signatures. Use it instead of reading a \
                  file to see its content.",
    params: &[
        required("path", ParamKind::Text, "File, from the repository root or absolute").brief("").positional("FILE"),
        REF,
        optional("depth", ParamKind::Choice(&["top", "all"], Some("all")), "top: without nested symbols"),
        optional("name", ParamKind::Text, "Only names that contain this"),
        optional(
            "unused",
            ParamKind::Flag(false),
            "Only symbols that nothing uses, with the reason; also for a folder",
        )
        .brief("Only unused symbols, with the reason; path may be a folder"),
        optional("language", ParamKind::Text, "Ignored: detected from the file").server_only().json_only(),
        CURSOR,
        optional("all", ParamKind::Flag(false), "All declarations of a folder, however large it is").cli_only(),
        NO_SYNC,
        shape::FRESHNESS,
        WORKSPACE,
    ],
    output: schema::<wire::Answer>,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let question = OutlineArgs::parse(&call.arguments);
        call.answer_query(|inquiry| answer(inquiry, &question))
    }),
};

/// The parsed arguments.
pub struct OutlineArgs {
    path: String,
    is_deep: bool,
    /// A substring of the wanted names, in lower case.
    name: Option<String>,
    cursor: Option<String>,
    unused: bool,
    /// Whether a folder is not folded.
    all: bool,
}

impl OutlineArgs {
    /// Parses the arguments.
    pub fn parse(arguments: &Arguments) -> Self {
        Self {
            path: arguments.required_text("path"),
            is_deep: arguments.text("depth").as_deref() != Some("top"),
            name: arguments.text("name").map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()),
            cursor: arguments.text("cursor"),
            unused: arguments.flag("unused"),
            all: arguments.is_given("all"),
        }
    }

    /// Whether a symbol, or a symbol inside it, matches the name filter.
    fn matches_name(&self, outline: &Outline, place: u32) -> bool {
        let Some(name) = &self.name else { return true };
        outline.symbol(place).name.to_lowercase().contains(name)
            || self.is_deep && outline.children_of(place).iter().any(|inner| self.matches_name(outline, *inner))
    }
}

/// Answers the request.
pub fn answer(inquiry: &QueryContext<'_>, question: &OutlineArgs) -> Result<Answer, AppError> {
    let mut metadata = inquiry.metadata(&[]);
    let Some(snapshot) = inquiry.snapshot() else {
        return Err(AppError::index_not_ready().with_metadata(metadata));
    };
    let file = inquiry
        .paths
        .resolve_file(&[snapshot], "path", &question.path)
        .map_err(|error| inquiry.with_view_context(error))?;
    let path = file.path.as_str();
    if question.unused
        && let Some(answer) = unused::answer(inquiry, path, question.name.as_deref(), &mut metadata)?
    {
        return Ok(answer);
    }
    let Some(outline) = outline(snapshot, path)? else {
        if let OutputFormat::Text(reader) = inquiry.form
            && let Some(folder) = inquiry.paths.resolve_folder(snapshot, path)?
        {
            let name = question.name.as_deref();
            let text = match reader {
                Reader::Person if question.all => outline_folder::text(snapshot, &folder, name)?,
                Reader::Person => outline_folder::folded_text(snapshot, &folder, name)?,
                Reader::Agent => outline_folder::bounded_text(snapshot, &folder, name, inquiry.max_bytes())?,
            };
            if let Some(text) = text {
                return Ok(Answer { text: text + &metadata.notes(), json: Value::Null, code: 0 });
            }
        }
        let absence = file.absence.unwrap_or(Absence::Unknown);
        return Err(not_found(snapshot, path, &absence, &metadata.ref_name)?.with_metadata(metadata));
    };
    let named = question.name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
    let cursor = Cursor::new(Some(snapshot), &format!("outline {path:?} {}{named}", question.is_deep));
    let offset = cursor.decode(question.cursor.as_deref())?;
    let wanted = outline.top_level().iter().copied().filter(|place| question.matches_name(&outline, *place));
    let rest: Vec<u32> = wanted.skip(offset).collect();
    metadata.symbol_count = Some(outline.count());
    if inquiry.form != OutputFormat::Json {
        let told = outline_text::text(&outline, question.is_deep, question.name.as_deref(), &rest, inquiry.max_bytes());
        let next = (told.tops < rest.len()).then(|| cursor.encode(offset + told.tops));
        let text = told.finish(next.as_deref(), inquiry.form) + &metadata.notes();
        return Ok(Answer { text, json: Value::Null, code: 0 });
    }
    let mut symbols = rest.iter().map(|place| symbol_tree(&outline, *place, question)).collect();
    let (kept, total) = OutlineSymbol::cut_to_size(&mut symbols, inquiry.max_bytes());
    if kept < total {
        metadata.completeness = Completeness::Truncated;
        metadata.warnings.push(format!(
            "the outline is too long for one answer: {kept} of {total} symbols; get_symbol_hierarchy with \
             direction \"descendants\" lists the members of one"
        ));
    }
    if symbols.len() < rest.len() {
        metadata.next_cursor = Some(cursor.encode(offset + symbols.len()));
    }
    let Outline { version, .. } = outline;
    let answer =
        wire::Answer { file_path: version.path.clone(), language: version.language.clone(), symbols, metadata };
    Answer::from_wire(&answer, 0)
}

/// The error for a missing file: the reason if it is known, otherwise files with the same name.
fn not_found(snapshot: &Snapshot, path: &str, absence: &Absence, ref_name: &str) -> Result<AppError, AppError> {
    let near = similar_paths::similar_paths(snapshot, path)?;
    let mut error = absence.error(path, ref_name);
    if let (Some(hint), Absence::Unknown) = (similar_paths::did_you_mean(&near), absence) {
        error = error.hint(hint);
    }
    Ok(error.data(ErrorData::FileNotFound {
        path: path.to_owned(),
        nearest_paths: near,
        left_out: absence.skip_reason().map(Into::into),
    }))
}

fn symbol_tree(outline: &Outline, place: u32, question: &OutlineArgs) -> OutlineSymbol {
    let symbol = outline.symbol(place);
    // All members of a symbol that matches the filter itself are included.
    let is_meant = question.name.as_ref().is_none_or(|name| symbol.name.to_lowercase().contains(name));
    let inside = outline.children_of(place).iter().filter(|child| is_meant || question.matches_name(outline, **child));
    let open = OutlineArgs {
        name: None,
        path: String::new(),
        cursor: None,
        is_deep: question.is_deep,
        unused: false,
        all: false,
    };
    let inner = if is_meant { &open } else { question };
    OutlineSymbol {
        children: match question.is_deep {
            true => inside.map(|child| symbol_tree(outline, *child, inner)).collect(),
            false => Vec::new(),
        },
        ..unused::symbol_entry(&outline.version.path, symbol)
    }
}
