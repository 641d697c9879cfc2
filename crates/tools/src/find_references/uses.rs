//! The lines that use a symbol, as an addition to another answer.

use codecompass_model::{Confidence, SymbolAt};
use codecompass_query::graph::{EdgeKind, Graph};
use codecompass_wire::find_references as wire;

use super::{ReferenceRow, is_test};
use crate::graph::GraphSymbol;
use crate::rows::{self, RowWriter};
use codecompass_workspace::error::AppError;

/// The lines that use a symbol, in tests or outside of them.
pub(crate) struct Uses {
    /// `callers` or `tests`.
    heading: &'static str,
    rows: Vec<ReferenceRow>,
    proved: usize,
    possible: usize,
    is_complete: bool,
}

impl Uses {
    /// Finds the uses of a symbol, at most this many rows. Imports are no uses.
    pub(crate) fn find(graph: &Graph<'_>, target: SymbolAt, in_tests: bool, limit: usize) -> Result<Self, AppError> {
        let symbol = GraphSymbol::load(graph, target)?;
        let found = graph.references_to_name(&symbol.symbol().name)?;
        let is_kin = |language: &str| graph.can_interop(language, &symbol.file.language);
        let (mut sites, _) = found.classify(graph, target, symbol.symbol(), is_kin);
        sites.retain(|site| site.kind != EdgeKind::Imports && is_test(graph, site) == in_tests);
        sites.dedup_by_key(|site| (site.file.id, site.line, site.confidence));
        let possible = sites.iter().filter(|site| site.confidence == Confidence::Heuristic).count();
        let proved = sites.len() - possible;
        let rows =
            sites.into_iter().take(limit).map(|site| ReferenceRow::new(graph, site)).collect::<Result<_, _>>()?;
        let heading = if in_tests { "tests" } else { "callers" };
        Ok(Self { heading, rows, proved, possible, is_complete: found.is_complete() })
    }

    /// The rows under a line with their number, within a size.
    pub(crate) fn text(&self, room: usize) -> String {
        let at_least = if self.is_complete { "" } else { "at least " };
        let possible =
            if self.possible > 0 { format!(", {} possible (marked ?)", self.possible) } else { String::new() };
        let mut sheet = RowWriter::new(room);
        sheet.line(&format!("{}: {at_least}{}{possible}", self.heading, self.proved));
        let shown = self.rows.iter().take_while(|row| sheet.row(&row.site.file.path, &row.row())).count();
        let mut text = sheet.finish();
        let total = self.proved + self.possible;
        if shown < total {
            text += &format!("… {shown} of {}; find_references lists all\n", rows::count(total, "row"));
        }
        text
    }

    /// The rows for machines.
    pub(crate) fn wire(&self) -> Vec<wire::Reference> {
        self.rows.iter().map(ReferenceRow::wire).collect()
    }
}
