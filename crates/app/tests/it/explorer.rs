//! The explorer over HTTP: access control, the three formats of each address, and escaping of everything from a
//! repository.

use crate::support;

use codecompass_testkit::Repository;
use serde_json::Value;
use support::Project;
use support::client::{HttpResponse, Server, http};

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A logged-in browser.
struct Visitor {
    server: Server,
    address: String,
    cookie: String,
}

impl Visitor {
    fn login(project: &Project) -> Self {
        let server = Server::command(project.repository.root(), project.home.path(), &["explore"]);
        let link = server.explorer();
        let (address, rest) = link.split_once('/').expect("a path");
        let opened = http(address, &format!("GET /{rest}"), &[], b"");
        assert_eq!(opened.status, 200, "{opened:?}");
        let cookie = opened.header("set-cookie").and_then(|set| set.split(';').next()).expect("a cookie").to_owned();
        Self { address: address.to_owned(), cookie, server }
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> HttpResponse {
        let mut all = vec![("Cookie", self.cookie.as_str()), ("Accept", "text/html")];
        all.retain(|(name, _)| !headers.iter().any(|(other, _)| other == name));
        all.extend(headers);
        http(&self.address, &format!("GET {path}"), &all, b"")
    }

    /// Requests a page that must exist.
    fn page(&self, path: &str) -> String {
        let answer = self.get(path, &[]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(answer.header("content-security-policy"), Some(POLICY), "{path}");
        answer.body
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path, &[("Accept", "application/json")]);
        assert_eq!(answer.header("content-type"), Some("application/json"), "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).expect("it is JSON")
    }

    fn text(&self, path: &str) -> String {
        let answer = self.get(path, &[("Accept", "text/plain")]);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/plain; charset=utf-8")), "{path}");
        answer.body
    }
}

/// Two files that call each other, on `main` and changed on `feature`.
fn project() -> Project {
    let repository = Repository::new();
    repository
        .write("src/lib.rs", "mod part;\n\n/// Adds one.\npub fn add_one(n: u32) -> u32 {\n    part::add(n, 1)\n}\n");
    repository.write("src/part.rs", "pub fn add(a: u32, b: u32) -> u32 {\n    a + b\n}\n");
    repository.write("Cargo.toml", "[package]\nname = \"small\"\n");
    repository.commit("two files");
    repository.git(&["checkout", "-q", "-b", "feature"]);
    repository.write("src/part.rs", "pub fn add(a: u32, b: u32, c: u32) -> u32 {\n    a + b + c\n}\n");
    repository.commit("three numbers");
    repository.git(&["checkout", "-q", "main"]);
    let project = Project::new(repository);
    project.run_ok("index");
    project
}

#[test]
fn login_address_works_once() {
    let project = project();
    let server = Server::command(project.repository.root(), project.home.path(), &["explore"]);
    let link = server.explorer();
    let (address, rest) = link.split_once('/').expect("a path");
    let get = |path: &str, headers: &[(&str, &str)]| http(address, &format!("GET {path}"), headers, b"");
    for path in ["/", "/file/src/lib.rs", "/assets/explorer.js", "/live", "/?token=0", "/status?as=json"] {
        let refused = get(path, &[]);
        assert_eq!(refused.status, 401, "{path}");
        assert!(!refused.body.contains("add_one") && !refused.body.contains("src"), "{path}: {}", refused.body);
    }
    let foreign = get("/", &[("Host", "evil.example")]);
    assert_eq!((foreign.status, foreign.header("content-security-policy")), (403, Some(POLICY)));
    let preview = http(address, &format!("HEAD /{rest}"), &[], b"");
    assert_eq!(preview.status, 401, "a preview of the link does not consume the token");
    assert_eq!(get("/", &[("Origin", "http://evil.example")]).status, 403);
    let opened = get(&format!("/{rest}"), &[]);
    let set = opened.header("set-cookie").expect("a cookie").to_owned();
    assert!(set.contains("; HttpOnly") && set.contains("; SameSite=Strict") && !set.contains("Domain"), "{set}");
    assert_eq!(get(&format!("/{rest}"), &[]).status, 401, "the token can be used once");
    let cookie = set.split(';').next().expect("a pair");
    let inside = get("/", &[("Cookie", cookie)]);
    assert_eq!(inside.status, 200);
    assert_eq!(inside.header("cache-control"), Some("no-store"));
    assert_eq!(inside.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(get("/", &[("Cookie", cookie), ("Host", "evil.example")]).status, 403);
    assert_eq!(http(address, "POST /", &[("Cookie", cookie)], b"x").status, 405);
    assert_eq!(get("/mcp", &[("Cookie", cookie)]).status, 404, "the endpoint for agents is not enabled");
    assert_ne!(server.explorer(), link, "another address was printed for the next browser");
}

#[test]
fn cross_site_requests_are_refused() {
    let project = project();
    let server = Server::command(project.repository.root(), project.home.path(), &["explore"]);
    let link = server.explorer();
    let (address, rest) = link.split_once('/').expect("a path");
    let get = |path: &str, headers: &[(&str, &str)]| http(address, &format!("GET {path}"), headers, b"");
    let navigated = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];
    // A link in a chat: the page offers the address, and the token is not consumed.
    let followed = get(&format!("/{rest}"), &[("Sec-Fetch-Site", "cross-site"), navigated[0], navigated[1]]);
    assert_eq!((followed.status, followed.header("set-cookie")), (403, None), "{followed:?}");
    assert_eq!(followed.header("content-security-policy"), Some(POLICY));
    assert!(followed.body.contains(&format!("href=\"/{rest}\"")), "{}", followed.body);
    // The browser that was started with the address, or a user who typed it.
    let opened = get(&format!("/{rest}"), &[("Sec-Fetch-Site", "none"), navigated[0], navigated[1]]);
    let cookie = opened.header("set-cookie").and_then(|set| set.split(';').next()).expect("a cookie").to_owned();
    let status = |path: &str, headers: &[(&str, &str)]| {
        let mut all = vec![("Cookie", cookie.as_str())];
        all.extend(headers);
        get(path, &all).status
    };
    for path in ["/", "/status?as=json", "/assets/explorer.js", "/file/src/lib.rs"] {
        for site in ["none", "same-origin"] {
            assert_eq!(status(path, &[("Sec-Fetch-Site", site)]), 200, "{path}: {site}");
        }
        assert_eq!(status(path, &[]), 200, "{path}: no browser");
        for site in ["cross-site", "same-site", "", "Same-Origin"] {
            assert_eq!(status(path, &[("Sec-Fetch-Site", site)]), 403, "{path}: {site}");
            assert_eq!(status(path, &[("Sec-Fetch-Site", site), navigated[0], navigated[1]]), 403, "{path}: {site}");
        }
        assert_eq!(status(path, &[("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")]), 403, "{path}");
    }
    let posted = [("Cookie", cookie.as_str()), ("Sec-Fetch-Site", "same-site")];
    assert_eq!(http(address, "POST /", &posted, b"x").status, 403);
    let elsewhere = get("//evil.example/", &[("Sec-Fetch-Site", "cross-site"), navigated[0], navigated[1]]);
    assert!(elsewhere.body.contains("href=\"/evil.example/\""), "{}", elsewhere.body);
}

#[test]
fn explorer_and_agents_have_separate_access() {
    let project = project();
    let arguments = ["--transport", "http", "--port", "0", "--explorer", "--require-token"];
    let token = [("CODECOMPASS_TOKEN", "0123456789abcdef")];
    let server = Server::start(project.repository.root(), project.home.path(), &arguments, &token);
    let address = server.address();
    let bearer = ("Authorization", "Bearer 0123456789abcdef");
    let status = |path: &str, headers: &[(&str, &str)]| http(&address, &format!("GET {path}"), headers, b"").status;
    assert_eq!((status("/health", &[]), status("/health", &[bearer])), (401, 200));
    assert_eq!((status("/", &[]), status("/", &[bearer])), (401, 401), "a program's token does not open pages");
    let link = server.explorer();
    let rest = link.split_once('/').expect("a path").1;
    assert_eq!(status(&format!("/{rest}"), &[]), 200);
    let refused = project.run_expecting("serve-mcp --explorer", 2);
    assert!(refused.contains("--transport http"), "{refused}");
}

#[test]
fn every_screen_has_page_json_and_text() {
    let project = project();
    let visitor = Visitor::login(&project);
    let id = visitor.json("/search?q=add_one")["results"][0]["symbol_id"].as_str().expect("an id").to_owned();
    let screens = [
        ("/".to_owned(), "folders", "src/"),
        ("/folder/src".to_owned(), "files", "part.rs"),
        ("/file/src/lib.rs".to_owned(), "source", "add_one"),
        ("/search?q=add_one".to_owned(), "results", "src/lib.rs:4"),
        (format!("/symbol/{id}"), "source", "add_one"),
        (format!("/calls/{id}?direction=callees"), "callees", "add"),
        (format!("/graph/{id}"), "callees", "add"),
        (format!("/references/{id}"), "references", "add_one"),
        (format!("/hierarchy/{id}"), "ancestors", "add_one"),
        ("/branch?base=main&head=feature".to_owned(), "changes", "add"),
        ("/compare/add?base=main&head=feature".to_owned(), "diff", "a + b + c"),
        ("/status".to_owned(), "status", "main"),
        ("/complete?q=ao".to_owned(), "completions", "add_one"),
        ("/why?q=add_one&path=src/lib.rs&line=4".to_owned(), "scoring", "add_one"),
    ];
    for (path, key, word) in &screens {
        let page = visitor.page(path);
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<main"), "{path}");
        assert!(
            !page.contains("style=\"") && !page.contains("<script>") && !page.contains(" onclick"),
            "{path}: {page}"
        );
        let json = visitor.json(path);
        assert!(json.get(key).is_some(), "{path}: {json}");
        let text = visitor.text(path);
        assert!(text.contains(word), "{path}: {text}");
        let part = visitor.get(path, &[("X-Part", "main")]);
        assert!(part.body.starts_with("<main"), "{path}: {}", part.body);
    }
}

#[test]
fn symbol_page_shows_callers_and_links() {
    let project = project();
    let visitor = Visitor::login(&project);
    let json = visitor.json("/symbol/add");
    let caller = &json["calls"]["callers"][0];
    assert_eq!(caller["symbol"]["name"], "add_one");
    let page = visitor.page("/symbol/add_one");
    let target = json["source"]["symbol"]["symbol_id"].as_str().expect("an id");
    assert!(page.contains(&format!("<a class=\"r\" href=\"/symbol/{target}\"")), "the call is a link: {page}");
    assert!(page.contains("<span class=\"c-keyword\">pub</span>"), "{page}");
    assert!(page.contains("Adds one."), "{page}");
}

#[test]
fn address_selects_ref_and_work_tree() {
    let project = project();
    let tree = tempfile::tempdir().expect("a temporary folder can be created");
    let place = tree.path().canonicalize().expect("it exists").join("other");
    let place = place.to_str().expect("a plain path");
    project.repository.git(&["worktree", "add", "-q", place, "feature"]);
    let visitor = Visitor::login(&project);
    let signature = |path: &str| visitor.json(path)["source"]["symbol"]["signature"].as_str().map(str::to_owned);
    assert_eq!(signature("/symbol/add").as_deref(), Some("pub fn add(a: u32, b: u32) -> u32"));
    assert_eq!(signature("/symbol/add?ref=feature").as_deref(), Some("pub fn add(a: u32, b: u32, c: u32) -> u32"));
    let page = visitor.page("/symbol/add?ref=feature");
    assert!(page.contains("ref=feature\""), "links keep the ref: {page}");
    let there = format!("/symbol/add?tree={}", place.replace('/', "%2F"));
    // A work tree without an index is indexed first.
    let found = support::client::wait_until(std::time::Duration::from_secs(30), || signature(&there).is_some());
    assert!(found, "{}", visitor.json(&there));
    assert_eq!(signature(&there).as_deref(), Some("pub fn add(a: u32, b: u32, c: u32) -> u32"));
}

#[test]
fn branch_changes_link_to_the_branch() {
    let project = project();
    project.repository.git(&["checkout", "-q", "feature"]);
    project.repository.write("src/new.rs", "pub fn new_one() -> u32 {\n    crate::part::add(1, 2, 3)\n}\n");
    project
        .repository
        .write("src/lib.rs", "mod new;\nmod part;\n\npub fn add_one(n: u32) -> u32 {\n    part::add(n, 1, 1)\n}\n");
    project.repository.commit("a file that main has not");
    project.repository.git(&["checkout", "-q", "main"]);
    let visitor = Visitor::login(&project);
    let page = visitor.page("/branch?base=main&head=feature");
    let main = page.split("<main").nth(1).expect("a main part");
    let links: Vec<&str> = main.split(" href=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.iter().any(|link| link.contains("new.rs")), "{links:?}");
    for link in links {
        let path = link.split('#').next().unwrap_or_default().replace("&amp;", "&");
        let answer = visitor.get(&path, &[]);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }
    // A name with definitions in several files gives a choice.
    let which = visitor.get("/hierarchy/add_one", &[]);
    assert_eq!(which.status, 200, "{}", which.body);
}

#[test]
fn nothing_outside_the_workspace_is_shown() {
    let project = project();
    let secret = Project::indexed(&[("secret.rs", "pub fn other_workspace() {}\n")]);
    let outside = secret.repository.root().to_str().expect("a plain path").to_owned();
    let visitor = Visitor::login(&project);
    for path in [
        "/file/../../etc/passwd".to_owned(),
        "/file/%2e%2e/%2e%2e/etc/passwd".to_owned(),
        "/file//etc/passwd".to_owned(),
        "/file/%2fetc%2fpasswd".to_owned(),
        format!("/file/{outside}/secret.rs"),
        "/folder/../..".to_owned(),
        format!("/?tree={outside}"),
        format!("/symbol/other_workspace?tree={outside}"),
        "/symbol/other_workspace?workspace=x".to_owned(),
        "/file/src/none.rs".to_owned(),
        "/symbol/none".to_owned(),
        "/nothing".to_owned(),
        "/?ref=none".to_owned(),
    ] {
        let answer = visitor.get(&path, &[]);
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
        assert!(
            !answer.body.contains("root:") && !answer.body.contains("other_workspace()"),
            "{path}: {}",
            answer.body
        );
    }
    for kind in ["application/json", "text/plain"] {
        let missing = visitor.get("/nothing", &[("Accept", kind)]);
        assert_eq!(missing.status, 404);
        assert!(missing.header("content-type").is_some_and(|found| found.starts_with(kind)), "{missing:?}");
    }
    let said = visitor.server.stderr_text();
    assert!(!said.contains("panicked"), "{said}");
}

/// Names, code, docs and refs that contain mark-up, scripts, and worse.
const HOSTILE: &[&str] = &[
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'-alert(1)-'",
    "</code></pre><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{7*7}} ${7*7} <%= 7 %>",
    "\u{202e}gnp.exe\u{2066}",
    "&lt;b&gt; &amp; %3Cscript%3E",
    "]]><!--<style>*{display:none}</style>",
];

#[test]
fn repository_text_is_escaped() {
    let repository = Repository::new();
    let mut code = String::new();
    for (at, text) in HOSTILE.iter().enumerate() {
        let comment = text.replace('\n', " ");
        code += &format!(
            "/// {comment}\npub fn f{at}() -> &'static str {{\n    // {comment}\n    r####\"{text}\"####\n}}\n\n"
        );
        let name: String = text.chars().filter(|char| *char != '/').collect();
        repository.write(&format!("odd/{name}.md"), format!("# {text}\n\n{text}\n"));
    }
    repository.write("src/lib.rs", &code);
    repository.commit("hostile");
    let branch = "x<script>alert(1)<-script>\"onload='y'";
    repository.git(&["checkout", "-q", "-b", branch]);
    repository.write("src/lib.rs", code.replace("pub fn f0()", "pub fn f0(n: u32)"));
    repository.commit("<script>");
    let project = Project::new(repository);
    project.run_ok("index");
    let visitor = Visitor::login(&project);
    let encoded = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let mut paths: Vec<String> = [
        "/",
        "/folder/odd",
        "/file/src/lib.rs",
        "/symbol/f0",
        "/references/f1",
        "/graph/f2",
        "/hierarchy/f3",
        "/status",
        "/branch?base=main",
        "/compare/f0?base=main",
    ]
    .map(str::to_owned)
    .to_vec();
    for text in HOSTILE {
        let name: String = text.chars().filter(|char| *char != '/').collect();
        paths.push(format!("/file/{}", encoded(&format!("odd/{name}.md"))));
        paths.push(format!("/search?q={}", encoded(text)));
        for one in ["symbol", "folder", "file", "calls", "compare"] {
            paths.push(format!("/{one}/{}", encoded(text)));
        }
        paths.push(format!("/?ref={}&tree={}", encoded(text), encoded(text)));
        paths.push(format!("/search?q=alert&kind={0}&language={0}&path={0}&tests={0}&cursor={0}", encoded(text)));
        paths.push(format!("/branch?base={0}&head={0}", encoded(text)));
        paths.push(format!("/why?q={0}&path={0}&line=1", encoded(text)));
    }
    paths.push(format!("/?ref={}", encoded(branch)));
    for path in &paths {
        let answer = visitor.get(path, &[]);
        assert!(answer.status < 500, "{path}: {} {}", answer.status, answer.body);
        check(path, &answer.body);
    }
    let shown = visitor.page("/file/src/lib.rs");
    assert!(shown.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && shown.contains("\\u{202e}"), "{shown}");
}

/// Checks that our templates contain every tag and attribute of a page, and that no character reverses the text
/// direction.
fn check(path: &str, page: &str) {
    const TAGS: &[&str] = &[
        "!DOCTYPE", "html", "head", "meta", "title", "link", "script", "body", "a", "header", "form", "input",
        "datalist", "option", "select", "nav", "button", "main", "div", "p", "span", "code", "pre", "h1", "h2", "h3",
        "ul", "ol", "li", "details", "summary", "section", "table", "thead", "tr", "th", "td", "dl", "dt", "dd",
        "dialog", "kbd", "strong", "del", "ins", "label", "svg", "defs", "marker", "noscript", "path", "rect", "text",
        "progress",
    ];
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        let tag = &rest[at + 1..];
        let end = tag.find('>').unwrap_or_else(|| panic!("{path}: a tag does not end: {tag:.80}"));
        let inner = &tag[..end];
        let name = inner.trim_start_matches('/').split([' ', '\n']).next().unwrap_or_default();
        assert!(TAGS.contains(&name), "{path}: <{inner}>");
        let unquoted: String = inner.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
        assert!(!unquoted.contains(" on") && !unquoted.contains('\''), "{path}: <{inner}>");
        assert!(!inner.contains("href=\"javascript") && !inner.contains("style="), "{path}: <{inner}>");
        rest = &tag[end + 1..];
    }
    assert_eq!(
        page.matches("<script").count(),
        page.matches("<script type=\"module\" src=\"/assets/explorer.js\">").count(),
        "{path}"
    );
    // The field shows the user's text unchanged.
    let outside: String =
        page.split(" value=\"").map(|part| part.split_once('"').map_or(part, |(_, rest)| rest)).collect();
    assert!(!outside.contains(['\u{202e}', '\u{2066}']), "{path}");
}
