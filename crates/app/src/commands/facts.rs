//! `codecompass facts PATH…`: the facts extracted from files on disk, for debugging a language.
//!
//! Nothing is registered, stored or looked up: the file is read, extracted and shown.

use std::path::{Path, PathBuf};

use codecompass_index::source::{Workspace, content_skip_reason, real_path};
use codecompass_lang::{Extracted, extract, has_visibility};
use codecompass_model::ids::{StableId, SymbolId};
use codecompass_model::{Binding, ExprId, FileFacts, Import, Lines, Problem, Reference, Symbol, ValuePart};
use codecompass_wire::ErrorData;
use codecompass_wire::commands::facts as wire;

use super::read_error;
use crate::cli::Common;
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::escape::escape_control;
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::Answer;

pub(crate) fn run(common: &Common, paths: &[PathBuf]) -> Result<Answer, AppError> {
    let (mut text, mut files) = (String::new(), Vec::new());
    for path in paths {
        let (name, extracted, skip) = read(common, path)?;
        if common.json {
            files.push(file_facts(name, &extracted, skip));
        } else {
            text += &file_text(&name, &extracted, skip);
        }
    }
    let answer = wire::Answer { files, metadata: Metadata::unknown() };
    Ok(Answer { text, ..Answer::from_wire(&answer, 0)? })
}

/// Reads and extracts a file under its path in the index; also returns why an index would skip it.
fn read(common: &Common, path: &Path) -> Result<(String, Extracted, Option<&'static str>), AppError> {
    let wrong = |error: std::io::Error| {
        AppError::new(Code::InvalidInput, format!("{}.", read_error(path, &error))).data(ErrorData::SOURCE)
    };
    let real = real_path(path).or_else(|error| resolve_from_root(common, path).ok_or(error)).map_err(wrong)?;
    let bytes = std::fs::read(&real).map_err(wrong)?;
    let folder = real.parent().unwrap_or(Path::new("/"));
    let root = Workspace::discover(folder, None).map(|workspace| workspace.root);
    let inside = root.ok().and_then(|root| real.strip_prefix(root).ok().map(Path::to_owned));
    let name = inside.unwrap_or_else(|| PathBuf::from(real.file_name().unwrap_or_default()));
    let name = name.to_string_lossy().replace('\\', "/");
    let skip = content_skip_reason(&name, &bytes).map(|reason| reason.phrase());
    let extracted = extract(&name, bytes);
    Ok((name, extracted, skip))
}

/// The file relative to the root of the workspace, if the current folder has no file at that path.
fn resolve_from_root(common: &Common, path: &Path) -> Option<PathBuf> {
    let asked = common.workspace.as_deref().unwrap_or(Path::new("."));
    real_path(&Workspace::discover(asked, None).ok()?.root.join(path)).ok()
}

/// A file's facts with every index resolved.
struct ResolvedFacts<'f> {
    path: &'f str,
    language: &'f str,
    facts: &'f FileFacts,
    text: &'f str,
}

impl<'f> ResolvedFacts<'f> {
    fn name(&self, index: u32) -> &'f str {
        self.facts.names.get(index as usize).map_or("", String::as_str)
    }

    fn symbol(&self, index: Option<u32>) -> Option<&'f Symbol> {
        self.facts.symbols.get(index? as usize)
    }

    fn binding(&self, index: Option<u32>) -> Option<&'f Binding> {
        self.facts.bindings.get(index? as usize)
    }

    fn type_part_text(&self, part: ValuePart) -> String {
        match part {
            ValuePart::Whole => "whole".into(),
            ValuePart::Element => "element".into(),
            ValuePart::Payload => "payload".into(),
            ValuePart::Index(at) => format!("index {at}"),
            ValuePart::Field(name) => format!("field {}", self.name(name)),
            ValuePart::Inside => "inside".into(),
        }
    }

    fn expression(&self, at: Option<ExprId>) -> Option<String> {
        at.map(|at| self.facts.render_expr(at))
    }

    fn symbol_name(&self, index: Option<u32>) -> Option<String> {
        self.symbol(index).map(|symbol| symbol.qualified_name.clone())
    }

    fn wire_symbol(&self, symbol: &Symbol) -> wire::Symbol {
        let parent = self.symbol(symbol.parent).map(|parent| SymbolId::new(self.path, parent).to_string());
        let visibility = symbol.visibility.filter(|_| has_visibility(self.language));
        wire::Symbol {
            symbol_id: SymbolId::new(self.path, symbol).to_string(),
            symbol_stable_id: StableId::new(self.language, symbol).to_string(),
            kind: symbol.kind.as_str().into(),
            name: symbol.name.clone(),
            qualified_name: symbol.qualified_name.clone(),
            parent_symbol_id: parent,
            impl_trait: symbol.impl_trait.clone(),
            line_start: symbol.lines.start,
            line_end: symbol.lines.end,
            name_line: symbol.name_line,
            signature: symbol.signature.clone(),
            visibility: visibility.map(|visibility| visibility.as_str().into()),
            visibility_text: symbol.visibility_text.clone(),
            doc: symbol.doc.map(|doc| doc.text(self.text).to_owned()),
            annotation: self.expression(symbol.annotation),
            value: self.expression(symbol.value),
            content_hash: format!("{:016x}", symbol.content_hash),
        }
    }

    fn wire_reference(&self, reference: &Reference) -> wire::Reference {
        wire::Reference {
            name: self.name(reference.name).to_owned(),
            shape: reference.shape.as_str().into(),
            qualifier: self.expression(reference.qualifier),
            line: reference.line,
            column: reference.column,
            container: self.symbol_name(reference.symbol),
            local: self.binding(reference.binding).map(|binding| binding.line),
        }
    }

    fn wire_binding(&self, binding: &Binding) -> wire::Binding {
        wire::Binding {
            name: self.name(binding.name).to_owned(),
            kind: binding.kind.as_str().into(),
            annotation: self.expression(binding.annotation),
            value: self.expression(binding.value),
            part: self.type_part_text(binding.part),
            line: binding.line,
            container: self.symbol_name(binding.symbol),
        }
    }

    fn reference_text(&self, reference: &Reference) -> String {
        let qualifier = reference.qualifier.map(|at| format!(" on {}", self.facts.render_expr(at))).unwrap_or_default();
        let around = self.symbol(reference.symbol).map(|symbol| format!(" in {}", symbol.qualified_name));
        let local = self.binding(reference.binding).map(|binding| format!(", local of line {}", binding.line));
        format!(
            "  {:>5}:{:<3} {:<11} {}{qualifier}{}{}\n",
            reference.line,
            reference.column,
            reference.shape.as_str(),
            self.name(reference.name),
            around.unwrap_or_default(),
            local.unwrap_or_default(),
        )
    }

    fn binding_text(&self, binding: &Binding) -> String {
        let annotation = binding.annotation.map(|at| format!(": {}", self.facts.render_expr(at))).unwrap_or_default();
        let value = binding.value.map(|at| format!(" = {}", self.facts.render_expr(at))).unwrap_or_default();
        let part = if binding.part == ValuePart::Whole {
            String::new()
        } else {
            format!(" ({})", self.type_part_text(binding.part))
        };
        format!(
            "  {:>5} {:<10} {}{annotation}{value}{part}\n",
            binding.line,
            binding.kind.as_str(),
            self.name(binding.name)
        )
    }
}

fn wire_import(import: &Import) -> wire::Import {
    wire::Import {
        module: import.module.clone(),
        name: import.name.clone(),
        alias: import.alias.clone(),
        glob: import.glob,
        reexport: import.reexport,
        form: import.form.as_str().into(),
        line: import.line,
    }
}

fn wire_problem(problem: &Problem) -> wire::Problem {
    wire::Problem { kind: problem.kind.as_str().into(), line: problem.line, count: problem.count }
}

fn file_facts(path: String, extracted: &Extracted, skip: Option<&'static str>) -> wire::FileFacts {
    let facts = &extracted.facts;
    let shown = ResolvedFacts { path: &path, language: extracted.language, facts, text: &extracted.text };
    let chunk = |lines: Lines| wire::Chunk { line_start: lines.start, line_end: lines.end };
    wire::FileFacts {
        language: extracted.language.into(),
        facts_version: extracted.facts_version,
        left_out: skip.map(Into::into),
        lines: facts.lines,
        symbols: facts.symbols.iter().map(|one| shown.wire_symbol(one)).collect(),
        imports: facts.imports.iter().map(wire_import).collect(),
        bindings: facts.bindings.iter().map(|one| shown.wire_binding(one)).collect(),
        references: facts.references.iter().map(|one| shown.wire_reference(one)).collect(),
        chunks: facts.chunks.iter().map(|one| chunk(one.lines)).collect(),
        problems: facts.problems.iter().map(wire_problem).collect(),
        path,
    }
}

fn file_text(path: &str, extracted: &Extracted, skip: Option<&str>) -> String {
    let facts = &extracted.facts;
    let resolved = ResolvedFacts { path, language: extracted.language, facts, text: &extracted.text };
    let mut text = format!(
        "{}: {}, facts version {}, {} lines\n",
        escape_control(path),
        extracted.language,
        extracted.facts_version,
        facts.lines
    );
    if let Some(reason) = skip {
        text += &format!("skipped by the index: {reason}\n");
    }
    let line = |text: String| format!("{}\n", escape_control(text.trim_end_matches('\n')));
    text += &format!("symbols ({})\n", facts.symbols.len());
    for symbol in facts.symbols.iter() {
        let depth = std::iter::successors(resolved.symbol(symbol.parent), |one| resolved.symbol(one.parent)).count();
        let indent = "  ".repeat(depth);
        text += &line(format!(
            "  {:>5}-{:<5} {indent}{} {}  {}",
            symbol.lines.start, symbol.lines.end, symbol.kind, symbol.qualified_name, symbol.signature
        ));
    }
    text += &format!("imports ({})\n", facts.imports.len());
    for import in &facts.imports {
        let name = import.name.as_deref().unwrap_or(if import.glob { "*" } else { "" });
        let alias = import.alias.as_deref().map(|alias| format!(" as {alias}")).unwrap_or_default();
        let again = if import.reexport { " (re-exported)" } else { "" };
        text += &line(format!("  {:>5} {} {} {name}{alias}{again}", import.line, import.form.as_str(), import.module));
    }
    text += &format!("bindings ({})\n", facts.bindings.len());
    facts.bindings.iter().for_each(|one| text += &line(resolved.binding_text(one)));
    text += &format!("references ({})\n", facts.references.len());
    facts.references.iter().for_each(|one| text += &line(resolved.reference_text(one)));
    text += &format!("chunks ({})\n", facts.chunks.len());
    for chunk in &facts.chunks {
        text += &line(format!("  {:>5}-{}", chunk.lines.start, chunk.lines.end));
    }
    for problem in &facts.problems {
        text += &format!("problem: {} from line {}, {} times\n", problem.kind.as_str(), problem.line, problem.count);
    }
    text
}
