//! `codecompass callers` and `codecompass callees`.

use serde_json::Value;

use super::bounds;
use super::references::PATIENCE;
use crate::cli::{CallsArgs, Common};
use crate::error::AppError;
use crate::output::Answer;
use crate::paths::Paths;
use crate::published::Published;
use crate::session::Session;
use crate::tools::get_call_graph::{self, Input};
use crate::tools::input;

/// How a graph is drawn.
#[derive(Clone, Copy)]
enum Drawing {
    Mermaid,
    Dot,
}

const DRAWINGS: &[(&str, Drawing)] = &[("mermaid", Drawing::Mermaid), ("dot", Drawing::Dot)];

pub(crate) fn run(common: &Common, args: &CallsArgs, direction: &'static str) -> Result<Answer, AppError> {
    let drawing = input::one_of("format", args.format.as_deref(), DRAWINGS)?;
    let mut question = Input {
        name: args.name.clone(),
        path: args.file.clone(),
        direction: Some(direction.to_owned()),
        depth: args.depth,
        limit: args.limit,
        cursor: args.cursor.clone(),
        path_to: None,
        list_unresolved: false,
        patience: PATIENCE,
    }
    .check()?;
    let access = args.access.check()?;
    let session = Session::open(common, None)?;
    let config = bounds(&session.config, args.all, &mut question.limit);
    let published = Published::open(&session, access)?;
    let memory = published.memory.as_deref();
    let paths = Paths::from_here(&session);
    let mut answer = get_call_graph::answer(memory, &question, &paths, &config, published.metadata)?;
    if answer.json["total_edges"] == 0 {
        answer.code = 1;
    }
    if let Some(drawing) = drawing {
        answer.text = drawn(&answer.json, direction, drawing);
    }
    Ok(answer)
}

/// The graph as a drawing program takes it; callers point at what they call.
fn drawn(json: &Value, direction: &str, drawing: Drawing) -> String {
    let name = |symbol: &Value| symbol["qualified_name"].as_str().unwrap_or_default().to_owned();
    let key = |symbol: &Value| symbol["symbol_id"].as_str().map_or_else(|| name(symbol), str::to_owned);
    let start = &json["symbol"];
    let mut nodes = vec![(key(start), name(start))];
    let mut arrows = Vec::new();
    for edge in json[direction].as_array().into_iter().flatten() {
        let far = key(&edge["symbol"]);
        if !nodes.iter().any(|(known, _)| *known == far) {
            nodes.push((far.clone(), name(&edge["symbol"])));
        }
        let near = edge["via"]["symbol_id"].as_str().map_or_else(|| key(start), str::to_owned);
        let is_guess = edge["confidence"] == "heuristic";
        arrows.push(if direction == "callers" { (far, near, is_guess) } else { (near, far, is_guess) });
    }
    let number = |key: &str| nodes.iter().position(|(known, _)| known == key).unwrap_or_default();
    let label = |text: &str| text.replace('"', "'");
    match drawing {
        Drawing::Mermaid => {
            let mut text = String::from("flowchart LR\n");
            nodes.iter().enumerate().for_each(|(at, (_, name))| text += &format!("  n{at}[\"{}\"]\n", label(name)));
            for (from, to, is_guess) in &arrows {
                let arrow = if *is_guess { "-.->" } else { "-->" };
                text += &format!("  n{} {arrow} n{}\n", number(from), number(to));
            }
            text
        }
        Drawing::Dot => {
            let mut text = String::from("digraph calls {\n  rankdir=LR;\n  node [shape=box];\n");
            nodes
                .iter()
                .enumerate()
                .for_each(|(at, (_, name))| text += &format!("  n{at} [label=\"{}\"];\n", label(name)));
            for (from, to, is_guess) in &arrows {
                let style = if *is_guess { " [style=dashed]" } else { "" };
                text += &format!("  n{} -> n{}{style};\n", number(from), number(to));
            }
            text + "}\n"
        }
    }
}
