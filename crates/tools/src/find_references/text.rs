//! References as text: a row per occurrence under the path of its file, tests last.

use std::collections::HashSet;

use codecompass_model::Confidence;
use codecompass_query::graph::DispatchLink;

use super::{DispatchRow, Implementation, ReferenceRow, References};
use crate::graph;
use crate::rows::{self, RowWriter};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::{Reader, style};

/// The maximum number of implementations with a row.
const MAX_IMPLEMENTATION_ROWS: usize = 40;

/// Renders the answer as text.
pub(super) fn text(found: &References, reader: Reader) -> String {
    let symbol = found.symbol.symbol();
    let name = style::name(&escape_control(&found.symbol.short_name()));
    let place = rows::location(&found.symbol.file.path, symbol.lines);
    let mut sheet = RowWriter::new(found.room);
    sheet.line(&format!("{name} {place}: {}", headline(found)));
    let mut last_use = None;
    for place in &found.references {
        if let Some(count) = found.uses.get(&place.type_use).filter(|_| last_use != Some(place.type_use)) {
            sheet.end_file();
            sheet.line(&format!("{} ({count})", place.type_use.as_str()));
            last_use = Some(place.type_use);
        }
        sheet.row(&place.site.file.path, &place.row());
    }
    let mut cut = 0;
    let mut headings: Vec<String> = found.dispatch.iter().map(DispatchRow::heading).collect();
    let mut seen = HashSet::new();
    headings.retain(|heading| seen.insert(heading.clone()));
    for heading in &headings {
        sheet.end_file();
        sheet.line(heading);
        for one in found.dispatch.iter().filter(|one| one.heading() == *heading) {
            cut += usize::from(!sheet.row(&one.place.site.file.path, &one.place.row()));
        }
    }
    // A row of the references may show the declaration of an implementer already.
    let is_shown = |one: &Implementation| {
        let is_row = |row: &ReferenceRow| {
            row.site.file.id == one.symbol.file.id
                && row.site.from == Some(one.symbol.place)
                && Some(row.site.kind) == one.relation
        };
        found.references.iter().any(is_row)
    };
    let implementations: Vec<&Implementation> = found.implementations.iter().filter(|one| !is_shown(one)).collect();
    if !implementations.is_empty() {
        sheet.end_file();
        sheet.line("implementations");
        for one in implementations.iter().take(MAX_IMPLEMENTATION_ROWS) {
            let (name, place) = (escape_control(&one.symbol.short_name()).into_owned(), one.symbol.location());
            let relation = one.relation.map(|relation| format!(" {}", relation.as_str())).unwrap_or_default();
            cut += usize::from(!sheet.line(&format!(" {place} {name}{}", style::dim(&relation))));
        }
        if implementations.len() > MAX_IMPLEMENTATION_ROWS {
            sheet.line(&format!(" {} more", implementations.len() - MAX_IMPLEMENTATION_ROWS));
        }
    }
    if !found.tests.rows.is_empty() {
        sheet.end_file();
        sheet.line("tests");
        for place in &found.tests.rows {
            cut += usize::from(!sheet.row(&place.site.file.path, &place.row()));
        }
    }
    let lines = found.text.iter().flatten();
    for (number, line) in lines.enumerate() {
        if number == 0 {
            sheet.end_file();
            sheet.line("in text");
        }
        let row = format!("{} {}", style::number(line.line), rows::source(&line.context));
        cut += usize::from(!sheet.row(&line.path, &row));
    }
    let mut text = sheet.finish();
    if found.total_dispatch > found.dispatch.len() {
        text += &format!("… {} of {} dispatch calls\n", found.dispatch.len(), found.total_dispatch);
    }
    if found.total == 0 && found.progress.is_none() && found.counts.elsewhere + found.counts.outside > 0 {
        let (elsewhere, outside) = (found.counts.elsewhere, found.counts.outside);
        text += &format!("the name refers {elsewhere} times to other symbols, {outside} to external ones\n");
    }
    if found.text.is_none() && found.text_files > 0 {
        let how = reader.switch("include_text", "text");
        text += &format!("in text: {} ({how})\n", rows::count(found.text_files, "file"));
    }
    if cut > 0 {
        text += &format!("… {cut} more rows did not fit\n");
    }
    text += &found.tests.text(reader);
    let seen = found.offset + found.references.len();
    let by_limit = found.references.len() == found.limit;
    let what = if found.tests.is_empty() { "" } else { "outside tests" };
    text += &rows::Remainder { seen, total: found.listed, what, by_limit, cursor: found.next.as_deref() }.text(reader);
    text + &graph::others_text(&found.others)
}

/// The numbers of references: `8 references, 20 possible (marked ?), 4 of them in tests`. If the time was up, they are
/// lower bounds, and the line says how far the scan came.
fn headline(found: &References) -> String {
    let mut counts = Vec::new();
    let proved = found.total - found.possible;
    if found.progress.is_none() || found.total > 0 {
        counts.push(rows::count(proved, "reference"));
    }
    if found.possible > 0 {
        counts.push(format!("{} possible (marked ?)", found.possible));
    }
    if found.in_tests > 0 && found.in_tests < found.total {
        counts.push(format!("{} of them in tests", found.in_tests));
    }
    if !found.implementations.is_empty() {
        counts.push(rows::count(found.implementations.len(), "implementation"));
    }
    let counts = counts.join(", ");
    match found.progress.map(graph::progress_text) {
        None => counts,
        Some(progress) if counts.is_empty() => format!("none found yet; {progress}"),
        Some(progress) => format!("at least {counts}; {progress}"),
    }
}

impl ReferenceRow {
    /// The line and its enclosing symbol; a heuristic match has a mark.
    pub(super) fn row(&self) -> String {
        let guess = if self.site.confidence == Confidence::Heuristic { "?" } else { "" };
        let name =
            self.around.name().map(|name| format!("{}: ", style::dim(&escape_control(&name)))).unwrap_or_default();
        format!("{}{guess} {name}{}", style::number(self.site.line), rows::source(&self.context))
    }
}

impl DispatchRow {
    /// The callee and its relation to the symbol.
    pub(super) fn heading(&self) -> String {
        let how = match self.link {
            DispatchLink::Declaration => "which it implements",
            DispatchLink::Implementation => "which implements it",
        };
        format!("via {} {}, {how}", escape_control(&self.symbol.short_name()), self.symbol.location())
    }
}
