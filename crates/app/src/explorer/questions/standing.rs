//! Where one stands: the state that is shown, a sum over its content that tells whether anything changed, and what else there is to
//! look at.

use serde_json::{Value, json};

use crate::call::Held;
use crate::error::AppError;
use crate::output::Answer;
use crate::server::places::Unknown;
use crate::tools::frame::{Effect, Kind, REF, Tool, WORKSPACE, optional};

/// So many branches and as many tags are offered to choose from; others can be typed.
const MOST_REFS: usize = 300;

pub(crate) const TOOL: Tool = Tool {
    name: "standing",
    title: "Standing",
    description: "What is shown and what else there is, for a page.",
    params: &[optional("choices", Kind::Flag(false), "Also what there is to choose from"), REF, WORKSPACE],
    output: || json!({}),
    always: &[],
    effect: Effect::Reads,
    first: false,
    call: |call| {
        let has_choices = call.arguments.flag("choices");
        let held = call.session(Unknown::Project)?;
        let choices = if has_choices { choices(&held)? } else { Value::Null };
        let root = held.root();
        let mut answer = call.inquire(|inquiry| {
            let state = inquiry.snapshot().map(|snapshot| {
                let info = snapshot.info();
                // The sum over the content is the same for the same files, whoever indexed them; the generation is not.
                json!({ "digest": format!("{:x}", info.totals.digest), "edited": snapshot.edited().len(), "files": info.totals.files })
            });
            let metadata = inquiry.metadata(&[]).to_json();
            Ok(Answer { text: String::new(), json: json!({ "root": root, "state": state, "metadata": metadata }), code: 0 })
        })?;
        if has_choices {
            answer.json["choices"] = choices;
        }
        Ok(answer)
    },
};

/// The branches, tags and work trees of a repository.
fn choices(held: &Held) -> Result<Value, AppError> {
    let Some(repo) = &held.workspace.repo else { return Ok(json!({ "branches": [], "tags": [], "trees": [] })) };
    let names = repo.ref_names(MOST_REFS)?;
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
