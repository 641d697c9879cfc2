//! The state of the index: the shown view, a checksum of its content that shows whether anything changed, and the
//! available refs and work trees.

use serde_json::{Map, Value, json};

use crate::call::CallSession;
use crate::call::host::UnknownWorkspace;
use crate::error::AppError;
use crate::metadata::MetadataText;
use crate::output::Answer;
use crate::tools::tool_spec::{Effect, Output, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional};

/// The maximum number of branches, and of tags, offered as choices; others can be typed.
const MAX_REFS: usize = 300;

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "standing",
    title: "Standing",
    description: "What is shown and what else there is, for a page.",
    params: &[optional("choices", ParamKind::Flag(false), "Also what there is to choose from"), REF, WORKSPACE],
    output: Output::Typed(Map::new),
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let has_choices = call.arguments.flag("choices");
        let held = call.session(UnknownWorkspace::Project)?;
        let choices = if has_choices { ref_choices(&held)? } else { Value::Null };
        let root = held.root();
        let mut answer = call.answer_query(|inquiry| {
            let state = inquiry.snapshot().map(|snapshot| {
                let info = snapshot.info();
                // The checksum is the same for the same files in every index; the generation is not.
                json!({ "digest": format!("{:x}", info.totals.digest), "edited": snapshot.edited().len(), "files": info.totals.files })
            });
            let metadata = inquiry.metadata(&[]).to_json();
            Ok(Answer { text: String::new(), json: json!({ "root": root, "state": state, "metadata": metadata }), code: 0 })
        })?;
        if has_choices {
            answer.json["choices"] = choices;
        }
        Ok(answer)
    }),
};

/// The branches, tags and work trees of a repository.
fn ref_choices(held: &CallSession) -> Result<Value, AppError> {
    let Some(repo) = &held.workspace.repo else { return Ok(json!({ "branches": [], "tags": [], "trees": [] })) };
    let names = repo.ref_names(MAX_REFS)?;
    let tree = |root: &std::path::PathBuf| {
        let opened = repo.discover(root).ok();
        let head = opened.and_then(|workspace| workspace.repo?.head().ok());
        json!({
            "path": root.to_str(),
            "branch": head.as_ref().and_then(|head| head.branch.clone()),
            "is_this": *root == held.workspace.root,
        })
    };
    let trees: Vec<Value> = repo.worktrees()?.iter().filter(|root| root.to_str().is_some()).map(tree).collect();
    let own = repo.head().ok().and_then(|head| head.branch);
    Ok(
        json!({ "branches": names.branches, "tags": names.tags, "trees": trees, "checked_out": own, "default": held.default_branch() }),
    )
}
