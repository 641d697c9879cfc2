//! Hostile input to a server: no argument, address or repository aborts it, and each is answered or refused in time.

use crate::support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::Project;
use support::client::{Client, Server, StdioClient, http};

/// Returns a path with this many steps of the same name.
fn deep(steps: usize) -> String {
    vec!["a"; steps].join("/")
}

#[test]
fn deep_path_arguments_are_refused() {
    let project = Project::indexed(&[("a/a/b.py", "def found():\n    pass\n")]);
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch", "--no-prewarm"]);
    for steps in [2_048, 3_100, 500_000] {
        let path = deep(steps);
        let began = Instant::now();
        for (tool, arguments) in [
            ("get_file_outline", json!({ "path": path })),
            ("find_references", json!({ "symbol_name": "found", "path": path })),
        ] {
            let (code, error) = client.call_error(tool, arguments);
            let is_refused = code == "invalid_input" || steps == 2_048;
            assert!(is_refused, "{tool} with {steps} steps: {code}");
            assert!(error.to_string().len() < 20_000, "{tool} with {steps} steps repeats the path");
        }
        let answer = client.result("read_code", json!({ "what": [path] }));
        let is_named = answer.to_string().contains("4096");
        assert!(is_named || steps == 2_048, "read_code with {steps} steps does not name the limit");
        assert!(began.elapsed() < Duration::from_secs(10), "{steps} steps took {:?}", began.elapsed());
    }
    let found = client.call("locate_symbol", json!({ "name": "found" }));
    assert_eq!(found["total_candidates"], 1, "{found}");
}

#[test]
fn deep_explorer_addresses_are_refused() {
    let project = Project::indexed(&[("a/a/b.py", "def found():\n    pass\n")]);
    let server = Server::command(project.repository.root(), project.home.path(), &["explore"]);
    let link = server.explorer();
    let (address, rest) = link.split_once('/').expect("a path");
    let opened = http(address, &format!("GET /{rest}"), &[], b"");
    let cookie = opened.header("set-cookie").and_then(|set| set.split(';').next()).expect("a cookie");
    let get = |path: &str| http(address, &format!("GET {path}"), &[("Cookie", cookie), ("Accept", "text/html")], b"");
    for screen in ["file", "folder"] {
        for steps in [3_100, 30_000, 500_000] {
            let status = get(&format!("/{screen}/{}", deep(steps))).status;
            // An address of a megabyte is refused before it is read.
            assert!(matches!(status, 400 | 414 | 431), "/{screen}/ with {steps} steps: {status}");
        }
    }
    assert_eq!(get("/file/a/a/b.py").status, 200);
}

/// Creates a commit whose tree has 10^10 files, from one blob and ten trees.
fn tree_bomb(project: &Project) -> String {
    let repository = &project.repository;
    let mut id = repository.git(&["rev-parse", "HEAD:a.py"]).trim().to_owned();
    for level in 0..10 {
        let mode = if level == 0 { "100644" } else { "40000" };
        let raw: Vec<u8> = (0..20).map(|at| u8::from_str_radix(&id[2 * at..2 * at + 2], 16).expect("hex")).collect();
        let entry = |at: usize| [format!("{mode} {at}\0").as_bytes(), &raw].concat();
        let file = repository.path(".git/tree-object");
        std::fs::write(&file, (0..10).flat_map(entry).collect::<Vec<u8>>()).expect("it can be written");
        let file = file.to_str().expect("temp folders have names in UTF-8");
        id = repository.git(&["hash-object", "-t", "tree", "--literally", "-w", file]).trim().to_owned();
    }
    repository.git(&["commit-tree", &id, "-m", "bomb"]).trim().to_owned()
}

/// Returns the peak memory of a process, in MiB; 0 where the system does not report it.
fn peak_mib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).map_or(0, |kib| kib >> 10)
}

#[test]
fn tree_bomb_ref_is_refused_by_a_server() {
    let project = Project::indexed(&[("a.py", "def found():\n    pass\n")]);
    let bomb = tree_bomb(&project);
    project.repository.git(&["branch", "bomb", &bomb]);
    let mut client = StdioClient::open(project.repository.root(), project.home.path(), &["--no-watch", "--no-prewarm"]);
    let began = Instant::now();
    let (code, error) = client.call_error("search_code", json!({ "query": "found", "ref": bomb }));
    assert_eq!(code, "invalid_input", "{error}");
    assert!(error["message"].to_string().contains("1000000"), "{error}");
    let (code, error) = client.call_error("diff_context", json!({ "base_ref": "main", "head_ref": bomb }));
    assert!(code == "invalid_input" || code == "merge_base_failed", "{error}");
    assert!(began.elapsed() < Duration::from_secs(30), "took {:?}", began.elapsed());
    let found = client.call("locate_symbol", json!({ "name": "found" }));
    assert_eq!(found["total_candidates"], 1, "{found}");
    let peak = peak_mib(client.server.pid());
    assert!(peak < 600, "the server took {peak} MiB");
}
