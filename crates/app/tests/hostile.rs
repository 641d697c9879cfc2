//! Hostile input to a server: no argument, address or repository aborts it, and each is answered or refused in time.

mod support;

use std::time::{Duration, Instant};

use serde_json::json;
use support::Project;
use support::client::{Client, Pipe, Server, http};

/// A path of this many steps that all have the same name.
fn deep(steps: usize) -> String {
    vec!["a"; steps].join("/")
}

#[test]
fn a_path_argument_of_very_many_steps_is_refused_and_the_server_goes_on() {
    let project = Project::indexed(&[("a/a/b.py", "def found():\n    pass\n")]);
    let mut client = Pipe::open(project.repository.root(), project.home.path(), &["--no-watch", "--no-prewarm"]);
    for steps in [2_048, 3_100, 500_000] {
        let path = deep(steps);
        let began = Instant::now();
        for (tool, arguments) in [
            ("get_file_outline", json!({ "path": path })),
            ("find_references", json!({ "symbol_name": "found", "path": path })),
        ] {
            let (code, error) = client.fails(tool, arguments);
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
fn an_address_of_very_many_steps_is_refused_and_the_explorer_goes_on() {
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
