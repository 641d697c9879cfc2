//! Starts a server and a browser for the tests, and drives both.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use codecompass_testkit::{HOME, Home, Repository};
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::{Value, json};

/// Time limit for something to appear on a page.
pub const PAGE_TIMEOUT: Duration = Duration::from_secs(20);

/// A process that is killed at the end of the test.
pub struct RunningProcess(Child);

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `codecompass explore` for a repository.
pub struct Explorer {
    pub repository: Repository,
    /// The address with the token; `origin` is the prefix of all other addresses.
    pub link: String,
    pub origin: String,
    pub server: RunningProcess,
    _home: Home,
}

impl Explorer {
    pub fn start(repository: Repository) -> Self {
        let home = Home::new();
        let mut child = Command::new(program_path())
            .args(["explore", "--port", "0"])
            .current_dir(repository.root())
            .env(HOME, home.path())
            .env("HOME", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("because the program can be started");
        let lines =
            BufReader::new(child.stderr.take().expect("because the stream is piped")).lines().map_while(Result::ok);
        let server = RunningProcess(child);
        let (found, link) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            lines.for_each(|line| drop(line.find("http://").map(|at| found.send(line[at..].to_owned()))));
        });
        let link = link.recv_timeout(PAGE_TIMEOUT).expect("because the server prints its address");
        let origin = link.split("/?").next().expect("because the link has an origin").to_owned();
        Self { repository, link, origin, server, _home: home }
    }
}

fn program_path() -> PathBuf {
    let given = std::env::var_os("CODECOMPASS").expect("because $CODECOMPASS names the program to test");
    PathBuf::from(given).canonicalize().expect("because the program exists")
}

/// A browser with a window, and its driver.
pub struct Browser {
    pub page: Client,
    _driver: RunningProcess,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts a browser. Prints a message and returns `None` where none is installed.
    pub async fn start(has_script: bool) -> Option<Self> {
        let (Some(driver), Some(browser)) = (find(&["chromedriver"]), find(&["chromium", "google-chrome"])) else {
            eprintln!("chromium or chromedriver is not installed: the pages were not tested");
            return None;
        };
        let mut child = Command::new(driver)
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("because the driver can be started");
        let mut lines =
            BufReader::new(child.stdout.take().expect("because the stream is piped")).lines().map_while(Result::ok);
        let driver = RunningProcess(child);
        let port = lines.find_map(|line| {
            line.strip_prefix("ChromeDriver was started successfully on port ")?
                .trim_end_matches('.')
                .parse::<u16>()
                .ok()
        });
        std::thread::spawn(move || lines.for_each(drop));
        let port = port.expect("because the driver prints its port");
        let profile = tempfile::tempdir().expect("because a temporary folder can be created");
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
            "--window-size=1440,900",
        ];
        let mut arguments: Vec<String> = arguments.map(str::to_owned).to_vec();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let script = if has_script { 1 } else { 2 };
        let wanted = json!({
            "goog:chromeOptions": {
                "binary": browser, "args": arguments,
                "prefs": { "profile.managed_default_content_settings.javascript": script },
            },
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let wanted: Capabilities = wanted.as_object().expect("because the capabilities are an object").clone();
        let page = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(wanted)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("because the browser can be started");
        Some(Self { page, _driver: driver, _profile: profile })
    }

    pub async fn go(&self, address: &str) {
        self.page.goto(address).await.unwrap_or_else(|error| panic!("{address}: {error}"));
    }

    /// Waits for an element.
    pub async fn wait_for_element(&self, css: &str) -> fantoccini::elements::Element {
        let found = self.page.wait().at_most(PAGE_TIMEOUT).for_element(Locator::Css(css)).await;
        match found {
            Ok(found) => found,
            Err(error) => panic!("no {css} on {}: {error}\n{}", self.address().await, self.text().await),
        }
    }

    /// Waits until the page shows a text.
    pub async fn wait_for_text(&self, words: &str) {
        self.wait_for_script(
            &format!("the words {words:?}"),
            "return document.body.innerText.includes(arguments[0])",
            &[json!(words)],
        )
        .await;
    }

    /// Waits until a script returns `true`.
    pub async fn wait_for_script(&self, what: &str, script: &str, arguments: &[Value]) {
        let began = std::time::Instant::now();
        while began.elapsed() < PAGE_TIMEOUT {
            // The page may be replaced while the script runs.
            if self.page.execute(script, arguments.to_vec()).await.is_ok_and(|answer| answer == true) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{what} did not appear on {}: {}", self.address().await, self.text().await);
    }

    pub async fn run_script(&self, script: &str) -> Value {
        self.page.execute(script, vec![]).await.expect("because the script can be run")
    }

    pub async fn text(&self) -> String {
        self.run_script("return document.body.innerText").await.as_str().unwrap_or_default().to_owned()
    }

    pub async fn address(&self) -> String {
        self.page.current_url().await.map(String::from).unwrap_or_default()
    }

    /// Types into the focused element.
    pub async fn press(&self, keys: &str) {
        let focus = self.page.active_element().await.expect("because an element has the focus");
        focus.send_keys(keys).await.expect("because keys can be sent");
    }

    /// Sets the colour scheme and the window width.
    pub async fn set_theme_and_width(&self, scheme: &str, width: u32) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools_command("Emulation.setEmulatedMedia", json!({ "features": features })).await;
        let metrics = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.devtools_command("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    async fn devtools_command(&self, command: &str, parameters: Value) {
        let body = json!({ "cmd": command, "params": parameters });
        self.page
            .issue_cmd(CustomCommand { path: "goog/cdp/execute", body })
            .await
            .expect("because the browser supports the command");
    }

    /// Returns the new entries of the console log or the network log.
    pub async fn log(&self, kind: &str) -> Vec<Value> {
        let body = json!({ "type": kind });
        let log = self
            .page
            .issue_cmd(CustomCommand { path: "se/log", body })
            .await
            .expect("because the driver provides the log");
        log.as_array().cloned().unwrap_or_default()
    }

    /// Checks that there is no error, no violation of the content security policy, and no request to another origin.
    pub async fn check(&self, origin: &str) {
        let console = self.log("browser").await;
        let is_bad = |entry: &&Value| {
            entry["level"] == "SEVERE"
                || entry["message"].as_str().is_some_and(|text| text.contains("Content Security Policy"))
        };
        let bad: Vec<&Value> = console.iter().filter(is_bad).collect();
        assert!(bad.is_empty(), "{bad:?}");
        let mut requests = 0;
        for entry in self.log("performance").await {
            let message: Value =
                serde_json::from_str(entry["message"].as_str().unwrap_or_default()).unwrap_or_default();
            if message["message"]["method"] != "Network.requestWillBeSent" {
                continue;
            }
            let address = message["message"]["params"]["request"]["url"].as_str().unwrap_or_default().to_owned();
            requests += 1;
            assert!(
                // The browser's own first page has addresses that begin with `chrome`.
                address.starts_with(origin) || address.starts_with("data:") || address.starts_with("chrome"),
                "{address}"
            );
        }
        assert!(requests > 0, "the request log is empty");
    }

    pub async fn quit(self) {
        let _ = self.page.clone().close().await;
    }
}

/// A driver command that only Chromium has.
#[derive(Debug)]
struct CustomCommand {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for CustomCommand {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}

fn find(names: &[&str]) -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let there = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file: &PathBuf| Path::is_file(file));
    names.iter().find_map(there)
}
