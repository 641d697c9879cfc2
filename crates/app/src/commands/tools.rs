//! `codecompass tools`: the tools offered to agents, as in `tools/list`; as text, the reference page.

use codecompass_wire::commands::reference as wire;
use serde_json::Value;

use codecompass_serve::mcp;
use codecompass_tools::TOOLS;
use codecompass_tools::tool_spec::{Effect, Param, ParamKind, ToolSpec};
use codecompass_workspace::error::{AppError, Code};
use codecompass_workspace::metadata::Metadata;
use codecompass_workspace::output::{Answer, OutputFormat};

pub(crate) fn run() -> Result<Answer, AppError> {
    let tools = TOOLS.iter().map(|tool| mcp::to_mcp_tool(tool, OutputFormat::Json)).collect();
    let answer = wire::Tools { tools, metadata: Metadata::unknown() };
    Ok(Answer { text: page(), ..Answer::from_wire(&answer, 0)? })
}

/// The reference page, in Markdown.
fn page() -> String {
    let mut page = String::from(
        "# Tools\n\n\
         - Covers: every tool that `codecompass serve-mcp` offers, with its parameters, and every error code.\n\
         - Result: a test fails when this page differs from the program; the command line has the same functions \
         ([commands.md](commands.md)).\n\
         - Reproduce: `codecompass tools` prints this page; `UPDATE=1 cargo test -p codecompass --lib` writes it.\n\n\
         Every answer has `metadata`: the ref that it describes, how fresh and complete it is, and warnings. A failed \
         call has `isError` and the JSON `{\"error\": {\"code\", \"message\", \"data\"}, \"metadata\"}` as its text.\n",
    );
    TOOLS.iter().for_each(|tool| page += &tool_text(tool));
    page += "\n# Errors\n\nA code never changes its meaning. `data` contains what a client needs to recover.\n\n";
    page += "| code | meaning | exit code of commands |\n|---|---|---|\n";
    for code in Code::ALL {
        page += &format!("| `{}` | {} | {} |\n", code.as_str(), code.meaning(), code.exit_code());
    }
    page
}

fn tool_text(tool: &ToolSpec) -> String {
    let effect = match tool.effect {
        Effect::Reads => "Changes nothing.",
        Effect::Indexes => "Writes to the index, never to your files.",
        Effect::Switches => "Changes the ref of later calls on the same connection.",
    };
    let mut text = format!("\n## `{}`\n\n{} {effect}\n\n", tool.name, tool.description);
    text += "| parameter | type | default | |\n|---|---|---|---|\n";
    for param in tool.params {
        text += &format!("| `{}` | {} | {} | {} |\n", param.name, type_text(param), default_text(param), param.about);
    }
    let fields: Vec<String> = required_fields(tool).iter().map(|name| format!("`{name}`")).collect();
    text + &format!("\nReturns {} and `metadata`.\n", fields.join(", "))
}

fn type_text(param: &Param) -> String {
    match param.kind {
        ParamKind::Text => "string".into(),
        ParamKind::Flag(_) => "boolean".into(),
        ParamKind::Count(_) => "integer".into(),
        ParamKind::Share(_) => "number".into(),
        ParamKind::Object => "object".into(),
        ParamKind::List => "list of strings".into(),
        ParamKind::Choice(words, _) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
    }
}

fn default_text(param: &Param) -> String {
    let default = match param.kind {
        _ if param.required => return "required".into(),
        ParamKind::Flag(default) => Some(default.to_string()),
        ParamKind::Count(default) => default.map(|default| default.to_string()),
        ParamKind::Share(default) => Some(default.to_string()),
        ParamKind::Choice(_, default) => default.map(str::to_owned),
        ParamKind::Text | ParamKind::Object | ParamKind::List => None,
    };
    default.map(|default| format!("`{default}`")).unwrap_or_default()
}

/// The fields that every answer of a tool has, except the metadata.
fn required_fields(tool: &ToolSpec) -> Vec<String> {
    let schema = tool.output_schema();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).filter(|name| *name != "metadata").map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn reference_page_matches_the_tools() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
        codecompass_testkit::expect_file(&page, &super::page());
    }
}
