//! Whatever a repository's configuration contains, no program is run and no files outside are read.

use std::os::unix::fs::PermissionsExt;

use codecompass_index::source::{Limits, list_worktree, stat_paths};

use super::sandbox::{Sandbox, Tree};

#[test]
fn configured_programs_are_not_run() {
    let sandbox = Sandbox::new();
    let marker = sandbox.at("marker");
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs", "b/c.rs"]).commit("one");
    let program = tree.root.join("program.sh");
    std::fs::write(&program, format!("#!/bin/sh\ntouch {}\ncat\n", marker.display())).unwrap();
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();

    let command = program.to_str().unwrap();
    let settings = [
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "core.pager",
        "core.askPass",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
        "merge.evil.driver",
        "core.gitProxy",
        "alias.status",
        "sequence.editor",
        "core.alternateRefsCommand",
    ];
    for key in settings {
        tree.git(&["config", key, command]);
    }
    tree.git(&["config", "filter.evil.required", "true"]);
    tree.git(&["config", "core.hooksPath", tree.root.to_str().unwrap()]);
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"] {
        std::fs::copy(&program, tree.root.join(".git/hooks").join(hook)).unwrap();
        std::fs::copy(&program, tree.root.join(hook)).unwrap();
    }
    std::fs::write(tree.root.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n").unwrap();

    let ws = tree.workspace();
    let listing = list_worktree(&ws, &Limits::default()).unwrap();
    tree.versions(&listing);
    stat_paths(&ws, &["a.rs".to_owned()], &Limits::default()).unwrap();
    let repo = ws.repo.unwrap();
    let commit = repo.resolve("HEAD").unwrap().commit;
    for entry in repo.list_commit(&commit, &Limits::default()).unwrap().entries {
        let codecompass_index::source::ContentSource::Blob(id) = entry.source else {
            panic!("{} is not a blob", entry.path)
        };
        repo.reader().read(&id).unwrap();
    }
    let _ = (repo.head(), repo.default_branch(), repo.worktrees(), repo.resolve("nothing"));
    assert!(!marker.exists(), "a program was run");
}

#[test]
fn repository_cannot_redirect_its_work_tree() {
    let sandbox = Sandbox::new();
    sandbox.folder("private").touch(&["diary.md"]);
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    tree.git(&["config", "core.worktree", sandbox.at("private").to_str().unwrap()]);
    let ws = tree.workspace();
    assert_eq!(ws.root, tree.root);
    assert_eq!(tree.paths(), ["a.rs"]);
    assert_eq!(ws.repo.unwrap().worktrees().unwrap(), std::slice::from_ref(&tree.root));
}

#[test]
fn included_configuration_is_not_read() {
    let sandbox = Sandbox::new();
    sandbox.folder("other").write("config", "[core]\n\tbare = true\n");
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    let config = std::fs::read_to_string(tree.root.join(".git/config")).unwrap();
    let config = format!("{config}[include]\n\tpath = {}\n", sandbox.at("other/config").display());
    std::fs::write(tree.root.join(".git/config"), config).unwrap();
    assert!(!tree.repo().is_bare());
}

#[test]
fn forbidden_tree_names_are_skipped() {
    let sandbox = Sandbox::new();
    let tree = sandbox.init("repo");
    tree.touch(&["a.rs"]).commit("one");
    let blob = tree.git(&["rev-parse", "HEAD:a.rs"]);
    let raw: Vec<u8> = (0..20).map(|i| u8::from_str_radix(&blob[2 * i..2 * i + 2], 16).unwrap()).collect();
    let mut bytes = Vec::new();
    for name in ["..", ".git", "fine", "sl/ash"] {
        bytes.extend_from_slice(format!("100644 {name}\0").as_bytes());
        bytes.extend_from_slice(&raw);
    }
    let file = sandbox.at("tree");
    std::fs::write(&file, bytes).unwrap();
    let id = tree.git(&["hash-object", "-t", "tree", "--literally", "-w", file.to_str().unwrap()]);
    let commit = tree.git(&["commit-tree", &id, "-m", "evil"]);
    let listing = Tree::existing(tree.root).repo().list_commit(&commit, &Limits::default()).unwrap();
    assert_eq!(super::sandbox::paths(&listing), ["fine"]);
}
