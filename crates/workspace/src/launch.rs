//! The only file that starts processes: our own program as a client would start it, the user's pager and editor, and the
//! browser.
//!
//! Nothing that a repository names is ever run. Our own program is started by its own path, whatever path an entry
//! names, and only with the arguments that `setup` writes into entries: any other command, option or variable is
//! refused.

use std::io::{BufRead, BufReader, Error, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use codecompass_store::private;
use serde_json::{Value, json};

use crate::data_location::VARIABLE as DATA_VARIABLE;

/// `$PAGER`, or less, fed with the printed text and waited for at the end. The variable is not interpreted by a shell.
pub struct Pager {
    child: Child,
    input: Option<ChildStdin>,
}

impl Pager {
    /// Starts the pager, if there is one.
    pub fn start() -> Option<Self> {
        let mut child = pager().spawn().ok()?;
        let input = child.stdin.take();
        Some(Self { child, input })
    }

    /// Writes more text. A reader who has seen enough closes the pipe.
    pub fn write(&mut self, text: &str) -> std::io::Result<()> {
        let closed = || Error::from(std::io::ErrorKind::BrokenPipe);
        self.input.as_mut().ok_or_else(closed)?.write_all(text.as_bytes())
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

fn pager() -> Command {
    let named = std::env::var("PAGER").unwrap_or_default();
    let mut words = named.split_whitespace();
    let program = words.next().unwrap_or("less");
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Exit at once if the text fits on the screen, show colours, leave the text on the screen.
        command.env("LESS", "FRX");
    }
    command
}

/// Opens a file in the user's editor and waits for it. The variable is not interpreted by a shell.
pub fn edit_file(path: &Path) -> std::io::Result<()> {
    let named = ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let named = named.unwrap_or_else(|| if cfg!(windows) { "notepad" } else { "vi" }.to_owned());
    let mut words = named.split_whitespace();
    let status = Command::new(words.next().unwrap_or("vi")).args(words).arg(path).status()?;
    if status.success() { Ok(()) } else { Err(Error::other(format!("{named}: {status}"))) }
}

/// Opens an address in the user's browser; returns whether one could be started. The address contains a token, and
/// other users of the machine can see the arguments of all processes. So the browser gets a file that only its owner
/// can read and that redirects there. `failed` is called if it ends with an error.
pub fn open_browser(address: &str, data: &Path, failed: impl FnOnce() + Send + 'static) -> bool {
    let file = data.join(format!("explore-{}.html", std::process::id()));
    let page = format!(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={address}\"><title>CodeCompass</title>\n"
    );
    if private::write(&file, page.as_bytes()).is_err() {
        return false;
    }
    let opener = match () {
        () if cfg!(target_os = "macos") => "open",
        () if cfg!(windows) => "explorer",
        () => "xdg-open",
    };
    let mut command = Command::new(opener);
    command.arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else {
        let _ = std::fs::remove_file(&file);
        return false;
    };
    // The browser reads the file when it starts; after that the file is useless.
    std::thread::spawn(move || {
        let ended = child.wait();
        // The opener of Windows exits with 1 in any case.
        if !cfg!(windows) && !ended.is_ok_and(|status| status.success()) {
            failed();
        }
        std::thread::sleep(ADDRESS_FILE_LIFETIME);
        let _ = std::fs::remove_file(&file);
    });
    true
}

/// How long the file exists, so that the browser has time to read it.
const ADDRESS_FILE_LIFETIME: Duration = Duration::from_secs(60);

/// The command that an entry starts.
#[derive(Debug, PartialEq, Eq)]
pub struct ServerCommand {
    pub program: String,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// The variables that are passed on besides those that the client always passes.
    pub passed: Vec<String>,
}

/// How a client starts our program.
pub struct Launch {
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    folder: PathBuf,
}

/// The program that a word names: a path, or a name that is looked up as a shell would.
pub fn resolve_program(word: &str, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    find_program(word, path)?.canonicalize().ok()
}

/// The same as an absolute path whose links are not resolved.
pub fn find_program(word: &str, path: Option<&std::ffi::OsStr>) -> Option<PathBuf> {
    let asked = Path::new(word);
    if asked.components().count() > 1 || asked.is_absolute() {
        return std::path::absolute(asked).ok();
    }
    let folders = std::env::split_paths(path?).filter(|folder| folder.is_absolute());
    let named = |folder: PathBuf| [folder.join(asked), folder.join(format!("{word}{}", std::env::consts::EXE_SUFFIX))];
    folders.flat_map(named).find(|file| file.is_file())
}

/// Whether a word names this program.
pub fn is_this_program(word: &str, path: Option<&std::ffi::OsStr>) -> bool {
    let own = std::env::current_exe().and_then(|own| own.canonicalize()).ok();
    own.is_some() && resolve_program(word, path) == own
}

impl Launch {
    /// Reads an entry; fails if it has anything that `setup` does not write. `opened` replaces the client's placeholder
    /// for its folder.
    pub fn from_entry(line: &ServerCommand, opened: &Path, folder: &Path) -> Result<Self, String> {
        let mut words = line.arguments.iter();
        if words.next().map(String::as_str) != Some("serve-mcp") {
            return Err("it does not run serve-mcp".into());
        }
        let mut arguments = vec!["serve-mcp".to_owned(), "--verbose".to_owned()];
        while let Some(word) = words.next() {
            match word.as_str() {
                // Checking whether the server answers is no reason to index anything.
                "--auto-index" => {}
                "--answers" | "--tools" | "--workspace" => {
                    let value = words.next().ok_or_else(|| format!("{word} has no value"))?;
                    let value = value.replace("${workspaceFolder}", &opened.display().to_string());
                    arguments.extend([word.clone(), value]);
                }
                _ => return Err(format!("unknown argument: {word}")),
            }
        }
        let strange = line.variables.iter().find(|(name, _)| name != DATA_VARIABLE);
        match strange {
            Some((name, _)) => Err(format!("unknown variable: {name}")),
            None => Ok(Self { arguments, variables: line.variables.clone(), folder: folder.to_owned() }),
        }
    }

    /// Starts the program with these variables and no others.
    pub fn start(&self, passed: &[(String, std::ffi::OsString)]) -> Result<SpawnedServer, Error> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .envs(passed.iter().map(|(name, value)| (name, value)))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let mut server =
            SpawnedServer { child, input, said: lines(output), logged: lines(errors), last: 0, roots: None };
        match server.input {
            Some(_) => Ok(server),
            None => {
                server.end();
                Err(Error::other("it has no pipe"))
            }
        }
    }
}

/// The lines of a pipe, read by a thread that ends with the pipe.
fn lines(pipe: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    if let Some(pipe) = pipe {
        std::thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

/// A server that we started; it ends with us.
pub struct SpawnedServer {
    child: Child,
    input: Option<ChildStdin>,
    said: Receiver<String>,
    logged: Receiver<String>,
    last: u64,
    /// Our answer when the server asks for our roots.
    roots: Option<PathBuf>,
}

impl SpawnedServer {
    /// Opens a session like a client that works in this folder, and announces the folder as a root if `roots` is given.
    pub fn open(&mut self, roots: Option<&Path>, patience: Duration) -> Result<Value, String> {
        self.roots = roots.map(Path::to_owned);
        let capabilities = if roots.is_some() { json!({ "roots": {} }) } else { json!({}) };
        let about = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "codecompass doctor", "version": env!("CARGO_PKG_VERSION") },
        });
        let hello = self.ask("initialize", about, patience)?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(hello)
    }

    /// Sends a request and waits for its result, up to the given time.
    pub fn ask(&mut self, method: &str, params: Value, patience: Duration) -> Result<Value, String> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self.said.recv_timeout(left).map_err(|_| self.no_answer_reason(method))?;
            let message: Value =
                serde_json::from_str(&line).map_err(|_| "it wrote an invalid message to standard output")?;
            if message["method"] == "roots/list" {
                let uri = self.roots.as_deref().map(|root| format!("file://{}", path_to_uri(root))).unwrap_or_default();
                self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": [{ "uri": uri }] } }))?;
            } else if message["id"] == id {
                return match message.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(format!("it refused {method}: {}", message["error"]["message"])),
                };
            }
        }
    }

    /// The last log line so far with this prefix; waits for the first one.
    pub fn find_log_line(&self, beginning: &str, patience: Duration) -> Option<String> {
        let until = Instant::now() + patience;
        let is_such = |line: String| line.strip_prefix(beginning).map(str::to_owned);
        loop {
            let line = self.logged.recv_timeout(until.saturating_duration_since(Instant::now())).ok()?;
            if let Some(first) = is_such(line) {
                return self.logged.try_iter().filter_map(is_such).last().or(Some(first));
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("its pipe is closed")?;
        writeln!(input, "{message}").and_then(|()| input.flush()).map_err(|_| self.no_answer_reason("a message"))
    }

    /// Why there was no answer: the last output before the end, or that the process still runs.
    fn no_answer_reason(&mut self, method: &str) -> String {
        let ended = self.child.try_wait().ok().flatten();
        let last = self.logged.try_iter().last();
        match (ended, last) {
            (Some(_), Some(line)) => format!("it ended: {line}"),
            (Some(status), None) => format!("it ended: {status}"),
            (None, _) => format!("it does not answer {method} in time"),
        }
    }

    fn end(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for SpawnedServer {
    fn drop(&mut self) {
        self.end();
    }
}

/// A path as in a URI: with slashes, also one before a drive letter.
fn path_to_uri(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let path = path.to_string_lossy();
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() };
    let slash = if path.starts_with('/') { "" } else { "/" };
    format!("{slash}{path}")
        .into_bytes()
        .into_iter()
        .map(|byte| if plain(byte) { (byte as char).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(arguments: &[&str], variables: &[(&str, &str)]) -> ServerCommand {
        ServerCommand {
            program: "codecompass".into(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            passed: Vec::new(),
        }
    }

    #[test]
    fn only_setup_entries_are_started() {
        let here = Path::new("/");
        let fine = line(
            &["serve-mcp", "--auto-index", "--answers", "text", "--workspace", "${workspaceFolder}"],
            &[(DATA_VARIABLE, "/d")],
        );
        let launch = Launch::from_entry(&fine, Path::new("/repo"), here).expect("it is ours");
        assert_eq!(launch.arguments, ["serve-mcp", "--verbose", "--answers", "text", "--workspace", "/repo"]);
        for (arguments, variables) in [
            (&["forget", "/repo"][..], &[][..]),
            (&[], &[]),
            (&["serve-mcp", "--transport", "http"], &[]),
            (&["serve-mcp", "--config", "/tmp/x"], &[]),
            (&["serve-mcp"], &[("LD_PRELOAD", "/tmp/x.so")]),
            (&["serve-mcp", "--tools"], &[]),
        ] {
            assert!(
                Launch::from_entry(&line(arguments, variables), here, here).is_err(),
                "{arguments:?} {variables:?}"
            );
        }
    }

    #[test]
    fn is_this_program_checks_the_path() {
        let own = std::env::current_exe().expect("it is known");
        assert!(is_this_program(&own.display().to_string(), None));
        assert!(
            !is_this_program("/bin/sh", None) && !is_this_program("codecompass", None) && !is_this_program("", None)
        );
        let (folder, name) = (own.parent().expect("a folder"), own.file_name().expect("a name"));
        assert!(is_this_program(&name.to_string_lossy(), Some(folder.as_os_str())));
    }

    #[test]
    fn paths_become_uris() {
        assert_eq!(path_to_uri(Path::new("/a b/ü#x")), "/a%20b/%C3%BC%23x");
        assert_eq!(path_to_uri(Path::new("c:/work")), "/c%3A/work");
    }
}
