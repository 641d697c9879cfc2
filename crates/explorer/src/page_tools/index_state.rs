//! The state of the index: the shown view, a checksum of its content that shows whether anything changed, and the
//! available refs and work trees.

use codecompass_wire::pages::{Choices, IndexState, ViewState, WorkTree};
use serde_json::Map;

use codecompass_tools::call::CallSession;
use codecompass_tools::call::host::UnknownWorkspace;
use codecompass_tools::tool_spec::{Effect, ParamKind, REF, ToolCall, ToolSpec, WORKSPACE, optional};
use codecompass_workspace::error::AppError;
use codecompass_workspace::output::Answer;

/// The maximum number of branches, and of tags, offered as choices; others can be typed.
const MAX_REFS: usize = 300;

pub(crate) const TOOL: ToolSpec = ToolSpec {
    name: "standing",
    title: "Standing",
    description: "What is shown and what else there is, for a page.",
    params: &[optional("choices", ParamKind::Flag(false), "Also what there is to choose from"), REF, WORKSPACE],
    output: Map::new,
    effect: Effect::Reads,
    first: false,
    call: ToolCall::Anywhere(|call| {
        let has_choices = call.arguments.flag("choices");
        let held = call.session(UnknownWorkspace::Project)?;
        let choices = if has_choices { Some(ref_choices(&held)?) } else { None };
        let root = held.root();
        call.answer_query(|inquiry| {
            let state = inquiry.snapshot().map(|snapshot| {
                let totals = snapshot.info().totals;
                // The checksum is the same for the same files in every index; the generation is not.
                let digest = format!("{:x}", totals.digest);
                ViewState { digest, edited: snapshot.edited().len(), files: totals.files }
            });
            Answer::from_wire(&IndexState { root, state, metadata: inquiry.metadata(&[]), choices }, 0)
        })
    }),
};

/// The branches, tags and work trees of a repository.
fn ref_choices(held: &CallSession) -> Result<Choices, AppError> {
    let Some(repo) = &held.workspace.repo else { return Ok(Choices::default()) };
    let names = repo.ref_names(MAX_REFS)?;
    let tree = |root: &std::path::PathBuf| {
        let opened = repo.discover(root).ok();
        let head = opened.and_then(|workspace| workspace.repo?.head().ok());
        let (branch, is_this) = (head.and_then(|head| head.branch), *root == held.workspace.root);
        Some(WorkTree { path: root.to_str()?.to_owned(), branch, is_this })
    };
    Ok(Choices {
        branches: names.branches,
        tags: names.tags,
        trees: repo.worktrees()?.iter().filter_map(tree).collect(),
        checked_out: repo.head().ok().and_then(|head| head.branch),
        default: held.default_branch(),
    })
}
