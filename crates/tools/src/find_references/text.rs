//! References as text: a row per occurrence under the path of its file, tests last.

use std::collections::HashSet;

use codecompass_model::Confidence;
use codecompass_query::graph::DispatchLink;

use super::{DispatchRow, ReferenceRow, References};
use crate::graph;
use crate::rows::{self, RowWriter};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::{Reader, style};

/// Renders the answer as text.
pub(super) fn text(found: &References, reader: Reader) -> String {
    let symbol = found.symbol.symbol();
    let mut counts = vec![rows::count(found.total, "reference")];
    if !found.implementations.is_empty() {
        counts.push(rows::count(found.implementations.len(), "implementation"));
    }
    let name = style::name(&escape_control(&found.symbol.short_name()));
    let place = rows::location(&found.symbol.file.path, symbol.lines);
    let mut sheet = RowWriter::new(found.room);
    sheet.line(&format!("{name} {place}: {}", counts.join(", ")));
    found.references.iter().for_each(|place| {
        sheet.row(&place.site.file.path, &place.row());
    });
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
    if !found.implementations.is_empty() {
        sheet.end_file();
        sheet.line("implementations");
        for (one, _) in &found.implementations {
            let (name, place) = (escape_control(&one.short_name()).into_owned(), one.location());
            cut += usize::from(!sheet.line(&format!(" {place} {name}")));
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
    if found.total == 0 && found.counts.elsewhere + found.counts.outside > 0 {
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
    text +=
        &rows::Remainder { seen, total: found.listed, what: "", by_limit, cursor: found.next.as_deref() }.text(reader);
    text + &graph::others_text(&found.others)
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
