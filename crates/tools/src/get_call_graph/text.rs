//! Call graphs as text: a row per caller or callee, or a drawing.

use super::{CallList, CallRow, Calls, PathTo, PossibleCall};
use crate::graph::{self, EnclosingScope, GraphSymbol};
use crate::rows::{self, RowWriter};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::output::{Reader, style};

/// Renders the answer as text.
pub(super) fn text(calls: &Calls, reader: Reader) -> String {
    let symbol = calls.symbol.symbol();
    let name = style::name(&escape_control(&calls.symbol.short_name()));
    let head = format!("{name} {}", rows::location(&calls.symbol.file.path, symbol.lines));
    if calls.is_unknown {
        let all = std::iter::once(&calls.symbol).chain(&calls.others);
        let what = "several symbols with this name in this file; give one as path:line";
        return format!("{}: {what}: {}\n", escape_control(&symbol.name), graph::locations_text(all));
    }
    if let Some(path) = calls.path_to.as_ref().filter(|_| calls.callers.is_none() && calls.callees.is_none()) {
        return path_text(path, &head) + &graph::others_text(&calls.others);
    }
    if calls.is_one_of_many {
        return calls_in_lines(calls);
    }
    let mut sheet = RowWriter::new(calls.room);
    let mut cut = 0;
    let sides = [(&calls.callers, "called by"), (&calls.callees, "calls")];
    let shown: Vec<&str> = sides.iter().filter(|(side, _)| side.is_some()).map(|(_, title)| *title).collect();
    let is_empty = |side: &CallList| side.edges.is_empty() && side.tests.is_empty();
    let progress = calls.progress_text();
    if sides.iter().filter_map(|(side, _)| side.as_ref()).all(is_empty) {
        let what = match &progress {
            Some(progress) => format!("no calls found yet; {progress}"),
            None if shown == ["calls"] => "calls nothing here".into(),
            None if !calls.values.is_empty() => "no direct calls".into(),
            None => "no known calls".into(),
        };
        sheet.line(&format!("{head}: {what}"));
    }
    for (side, title) in sides {
        let is_cut = if title == "calls" { calls.are_callees_cut } else { calls.are_callers_cut };
        let progress = progress.as_ref().filter(|_| is_cut);
        let Some(side) = side.as_ref().filter(|side| !is_empty(side)) else {
            // The other direction has rows; without this line the answer would say that this one has none.
            let is_missing =
                side.is_some() && sides.iter().flat_map(|(side, _)| side.iter()).any(|side| !is_empty(side));
            if let Some(progress) = progress.filter(|_| is_missing) {
                sheet.end_file();
                sheet.line(&format!("{head} {title}: none found yet; {progress}"));
            }
            continue;
        };
        sheet.end_file();
        let note = match progress {
            Some(progress) => format!(" at least these; {progress}"),
            None if title == "called by" && side.edges.is_empty() && side.tests.rows.is_empty() => {
                " nothing confirmed outside tests".into()
            }
            None => String::new(),
        };
        sheet.line(&format!("{head} {title}{note}"));
        cut += write_rows(calls, side, title == "called by", &mut sheet);
    }
    cut += write_values(calls, &head, &mut sheet);
    if calls.lists_unresolved {
        cut += write_unresolved(calls, &mut sheet);
    } else if calls.lists_possible_callers() {
        sheet.end_file();
        let possible: Vec<&PossibleCall> = calls.possible.iter().take(MAX_POSSIBLE).collect();
        cut += write_possible(&possible, &mut sheet);
    }
    let mut text = sheet.finish();
    if cut > 0 {
        text += &format!("… {cut} more rows did not fit\n");
    }
    text += &footer(calls, reader);
    text
}

/// A chain of calls, or why there is none.
fn path_text(path: &PathTo, head: &str) -> String {
    if path.chain.is_empty() {
        return match path.is_cut {
            true => {
                let name = escape_control(&path.name);
                format!("{head}: no chain to {name} found yet (time limit); ask again\n")
            }
            false => format!("{head}: {}\n", path.why_missing()),
        };
    }
    let mut text = String::new();
    for (number, one) in path.chain.iter().enumerate() {
        let is_possible = number > 0 && path.possible.get(number - 1).copied().unwrap_or(false);
        text += match (number, is_possible) {
            (0, _) => "",
            (_, true) => " →? ",
            (_, false) => " → ",
        };
        text += &format!("{} {}", escape_control(&one.short_name()), one.location());
    }
    let is_proved = !path.possible.contains(&true);
    format!("{text}\n{}", if is_proved { "" } else { "→? is an unresolved call that may call it\n" })
}

impl Calls {
    /// How far the search came, if its time was up.
    fn progress_text(&self) -> Option<String> {
        let rest = || "not all symbols examined, ask again for the rest".to_owned();
        (self.are_callers_cut || self.are_callees_cut).then(|| self.progress.map_or_else(rest, graph::progress_text))
    }
}

/// Renders several symbols that match the request: one line per direction. Overloads are called by the same code, and
/// share a line.
fn calls_in_lines(calls: &Calls) -> String {
    let mut lines: Vec<(String, String, Vec<String>)> = Vec::new();
    for one in std::iter::once(calls).chain(&calls.variants) {
        let name = style::name(&escape_control(&one.symbol.short_name()));
        let head = format!("{name} {}:", style::path(&escape_control(&one.symbol.file.path)));
        let at = rows::lines_text(one.symbol.symbol().lines);
        for (title, is_up) in [("called by", true), ("calls", false)] {
            let Some(shown) = direction_in_line(one, is_up) else { continue };
            let shown = format!("{title} {shown}");
            match lines.iter_mut().find(|(known, calls, _)| *known == head && *calls == shown) {
                Some((.., places)) => places.push(at.clone()),
                None => lines.push((head.clone(), shown, vec![at.clone()])),
            }
        }
    }
    lines.into_iter().map(|(head, shown, places)| format!("{head}{} {shown}\n", places.join(","))).collect()
}

/// The callers or the callees of a symbol in one line.
fn direction_in_line(calls: &Calls, is_up: bool) -> Option<String> {
    let side = if is_up { calls.callers.as_ref()? } else { calls.callees.as_ref()? };
    let all = || side.edges.iter().chain(&side.tests.rows);
    let place = |edge: &CallRow| -> (String, u32, String) {
        let name = edge.far.name().map(|name| escape_control(&name).into_owned()).unwrap_or_default();
        match &edge.far {
            EnclosingScope::Symbol(callee) if !is_up => (callee.file.path.clone(), callee.symbol().lines.start, name),
            _ => (edge.call.path.clone(), edge.call.line, name),
        }
    };
    let places: Vec<(String, u32, String)> = all().map(place).collect();
    let folded = side.tests.count() - side.tests.rows.len();
    let folded = if folded > 0 { format!(", {}", rows::count(folded, "test")) } else { String::new() };
    let is_cut = if is_up { calls.are_callers_cut } else { calls.are_callees_cut };
    let progress = calls.progress_text().filter(|_| is_cut);
    let shown = match places.is_empty() {
        true if progress.is_some() => "nothing found yet".to_owned(),
        true => "nothing".to_owned(),
        false => rows::locations(places.iter().map(|(path, line, name)| (path.as_str(), *line, name.clone()))),
    };
    let progress = progress.map(|progress| format!("; {progress}")).unwrap_or_default();
    Some(format!("{shown}{folded}{progress}"))
}

/// Writes the rows of one direction; returns the number of rows that did not fit.
fn write_rows(calls: &Calls, side: &CallList, is_up: bool, sheet: &mut RowWriter) -> usize {
    let mut cut = 0;
    for (title, edges) in [("", &side.edges), ("tests", &side.tests.rows)] {
        if !title.is_empty() && !edges.is_empty() {
            sheet.end_file();
            sheet.line(title);
        }
        for edge in edges {
            if !is_up && is_covered_by_class(edge, edges) {
                continue;
            }
            let is_here = !is_up && edge.call.path == calls.symbol.file.path && title.is_empty();
            let row = row(edge, is_up);
            // The calls of a function are in its own file, which the heading names.
            let fits = if is_here { sheet.line(&format!(" {row}")) } else { sheet.row(&edge.call.path, &row) };
            cut += usize::from(!fits);
        }
    }
    cut
}

/// Whether the edge is the constructor of a class called on the same lines: the row of the class covers it.
fn is_covered_by_class(edge: &CallRow, edges: &[CallRow]) -> bool {
    let EnclosingScope::Symbol(far) = &edge.far else { return false };
    let Some(parent) = far.symbol().parent else { return false };
    edges.iter().any(|other| match &other.far {
        EnclosingScope::Symbol(class) => {
            let names_it = || class.constructor().is_some_and(|one| std::ptr::eq(one, far.symbol()));
            let is_same = other.call.line == edge.call.line && other.call.lines == edge.call.lines;
            class.place == parent && is_same && names_it()
        }
        EnclosingScope::Module(_) => false,
    })
}

/// The lines of the calls and the symbol at the far end.
fn row(edge: &CallRow, is_up: bool) -> String {
    let call = &edge.call;
    let mut lines: Vec<String> = match call.lines.is_empty() {
        true => vec![call.line.to_string()],
        false => call.lines.iter().map(u32::to_string).collect(),
    };
    lines.dedup();
    if call.sites > call.lines.len().max(1) && call.lines.len() >= 10 {
        lines.push(format!("… {} more", call.sites - call.lines.len()));
    }
    let guess = if call.confidence == codecompass_model::Confidence::Heuristic { "?" } else { "" };
    let name = match &edge.far {
        EnclosingScope::Symbol(shown_symbol) => style::name(&escape_control(&shown_symbol.short_name())),
        EnclosingScope::Module(_) => "(file level)".into(),
    };
    let mut row = format!("{}{guess} {name}", style::marked_number(&lines.join(",")));
    if let (false, EnclosingScope::Symbol(callee)) = (is_up, &edge.far) {
        row += &format!(" {}", callee.location());
        if let Some(constructor) = callee.constructor() {
            row += &format!(" {}:{}", escape_control(&constructor.name), constructor.lines.start);
        }
        if edge.implementations > 0 {
            row += &format!(" (interface, {})", rows::count(edge.implementations, "implementation"));
        }
    }
    if let Some(via) = &edge.via {
        let arrow = if is_up { "→" } else { "←" };
        row += &style::dim(&format!(" {arrow} {}", escape_control(&via.short_name())));
    }
    row
}

/// The maximum number of listed sites that pass or register a function.
const MAX_VALUES: usize = 10;

/// Writes the sites that pass or register the function, because it is called through them.
fn write_values(calls: &Calls, head: &str, sheet: &mut RowWriter) -> usize {
    if calls.values.is_empty() || calls.offset > 0 {
        return 0;
    }
    sheet.end_file();
    sheet.line(&format!("{head} passed or registered at"));
    let mut cut = calls.values.len().saturating_sub(MAX_VALUES);
    for one in calls.values.iter().take(MAX_VALUES) {
        let name = one.from.name().unwrap_or_else(|| "(file level)".into());
        let row = format!("{} {}", one.site.line, escape_control(&name));
        cut += usize::from(!sheet.row(&one.site.file.path, &row));
    }
    cut
}

/// Writes the unresolved calls in the symbol and the possible calls of it.
fn write_unresolved(calls: &Calls, sheet: &mut RowWriter) -> usize {
    let mut cut = 0;
    sheet.end_file();
    for (line, name, why) in calls.unresolved() {
        cut += usize::from(!sheet.line(&format!(" {line}? {}: {}", escape_control(name), escape_control(why))));
    }
    // A graph that follows possible calls has rows for them.
    let is_row = |one: &&PossibleCall| {
        let rows = calls.callers.iter().flat_map(|side| side.edges.iter().chain(&side.tests.rows));
        let mut same = rows.filter(|row| row.call.path == one.site.file.path);
        same.any(|row| row.call.lines.contains(&one.site.line))
    };
    let possible: Vec<&PossibleCall> = calls.possible.iter().filter(|one| !is_row(one)).collect();
    cut + write_possible(&possible, sheet)
}

/// The maximum number of possible calls that are listed unasked, because no call is confirmed.
const MAX_POSSIBLE: usize = 10;

impl Calls {
    /// Whether the possible calls are all that is known of the callers.
    fn lists_possible_callers(&self) -> bool {
        self.offset == 0 && self.callers.as_ref().is_some_and(|side| side.edges.is_empty())
    }
}

/// Writes possible calls.
fn write_possible(possible: &[&PossibleCall], sheet: &mut RowWriter) -> usize {
    let mut cut = 0;
    if !possible.is_empty() {
        sheet.line("possible calls");
    }
    for one in possible {
        let (path, row) = one.row();
        cut += usize::from(!sheet.row(path, &escape_control(&row)));
    }
    cut
}

/// The footer: folded tests, cut rows and possible calls.
fn footer(calls: &Calls, reader: Reader) -> String {
    let mut text = String::new();
    for side in [&calls.callers, &calls.callees].into_iter().flatten() {
        text += &side.tests.text(reader);
        let seen = calls.offset + side.edges.len();
        let (cursor, total) = (calls.next.as_deref(), side.listed);
        text += &rows::Remainder { seen, total, what: "", by_limit: calls.by_limit, cursor }.text(reader);
    }
    let (unproved, unresolved) = (calls.possible.len(), calls.unresolved().count());
    let listed = if calls.lists_possible_callers() { unproved.min(MAX_POSSIBLE) } else { 0 };
    if !calls.lists_unresolved && unproved > listed {
        let how = reader.switch("list_unresolved", "unresolved");
        let some = if listed > 0 { format!("{listed} of ") } else { String::new() };
        text += &format!("possible: {some}{} ({how})\n", rows::count(unproved, "call"));
    } else if !calls.lists_unresolved && unresolved > 0 && calls.callees.is_some() {
        let how = reader.switch("list_unresolved", "unresolved");
        text += &format!("unresolved: {} ({how})\n", rows::count(unresolved, "call"));
    }
    for (frontier, title) in calls.frontier.iter().zip(["calls of", "calls in"]) {
        if !frontier.is_empty() {
            let how = match calls.lists_unresolved {
                true => String::new(),
                false => format!("; {}", reader.switch("list_unresolved", "unresolved")),
            };
            text += &format!("ended at unresolved {title}: {}{how}\n", super::frontier_text(frontier));
        }
    }
    text + &graph::others_text(&calls.others)
}

/// The format of a graph drawing.
#[derive(Clone, Copy)]
pub(super) enum Drawing {
    Mermaid,
    Dot,
}

impl Drawing {
    /// The names of the formats.
    pub(super) const NAMES: &'static [(&'static str, Self)] = &[("mermaid", Drawing::Mermaid), ("dot", Drawing::Dot)];
}

impl Calls {
    /// Renders the graph for a drawing program; edges point from callers to callees.
    pub(super) fn draw(&self, drawing: Drawing) -> String {
        let key = |shown: &GraphSymbol| (shown.file.path.clone(), shown.place);
        let mut nodes = vec![(key(&self.symbol), self.symbol.symbol().qualified_name.clone())];
        let mut arrows = Vec::new();
        for (side, is_up) in [(&self.callers, true), (&self.callees, false)] {
            for edge in side.iter().flat_map(|side| &side.edges) {
                let (far, name) = match &edge.far {
                    EnclosingScope::Symbol(shown) => (key(shown), shown.symbol().qualified_name.clone()),
                    EnclosingScope::Module(module) => {
                        ((edge.call.path.clone(), u32::MAX), module.qualified_name.clone())
                    }
                };
                if !nodes.iter().any(|(known, _)| *known == far) {
                    nodes.push((far.clone(), name));
                }
                let near = edge.via.as_ref().map_or_else(|| key(&self.symbol), key);
                let is_guess = edge.call.confidence == codecompass_model::Confidence::Heuristic;
                arrows.push(if is_up { (far, near, is_guess) } else { (near, far, is_guess) });
            }
        }
        let number = |key: &(String, u32)| nodes.iter().position(|(known, _)| known == key).unwrap_or_default();
        let label = |text: &str| escape_control(text).replace('"', "'");
        let nodes_of = |line: fn(usize, &str) -> String| -> String {
            nodes.iter().enumerate().map(|(at, (_, name))| line(at, &label(name))).collect()
        };
        let arrows_of = |line: fn(usize, usize, bool) -> String| -> String {
            arrows.iter().map(|(from, to, is_guess)| line(number(from), number(to), *is_guess)).collect()
        };
        match drawing {
            Drawing::Mermaid => {
                let nodes = nodes_of(|at, name| format!("  n{at}[\"{name}\"]\n"));
                let arrow = |from, to, is_guess| format!("  n{from} {} n{to}\n", if is_guess { "-.->" } else { "-->" });
                format!("flowchart LR\n{nodes}{}", arrows_of(arrow))
            }
            Drawing::Dot => {
                let nodes = nodes_of(|at, name| format!("  n{at} [label=\"{name}\"];\n"));
                let arrow = |from, to, is_guess| {
                    format!("  n{from} -> n{to}{};\n", if is_guess { " [style=dashed]" } else { "" })
                };
                let head = "digraph calls {\n  rankdir=LR;\n  node [shape=box];\n";
                format!("{head}{nodes}{}}}\n", arrows_of(arrow))
            }
        }
    }
}
