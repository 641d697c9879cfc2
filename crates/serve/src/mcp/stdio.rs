//! The server on standard input and output: one client, which started the process.

use std::sync::Arc;
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::stdio_pipes;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;

use super::Handler;
use super::http::Signals;
use super::message::{MessageCheck, check_message, error_response, request};
use crate::server::Server;
use codecompass_workspace::error::{AppError, Code};

/// The interval of checks whether the parent process still exists.
const PARENT_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The maximum size of a message.
const MAX_MESSAGE_BYTES: u64 = 4 << 20;

/// The buffer size between this transport and the SDK.
const DUPLEX_BUFFER_BYTES: usize = 64 << 10;

/// Serves until the client closes the pipe or dies, or a signal arrives.
pub async fn serve(server: &Arc<Server>) -> Result<(), AppError> {
    let parent = parent();
    let signals = Signals::new();
    let mut signals =
        signals.map_err(|error| AppError::new(Code::InternalError, format!("Cannot listen for signals: {error}.")))?;
    let (input, output) = stdio_pipes();
    let (to_sdk, sdk_reads) = tokio::io::duplex(DUPLEX_BUFFER_BYTES);
    let (sdk_writes, from_sdk) = tokio::io::duplex(DUPLEX_BUFFER_BYTES);
    let (complaints, heard) = mpsc::channel(16);
    tokio::spawn(filter_input(input, to_sdk, complaints));
    let writing = tokio::spawn(write(from_sdk, heard, output));
    let serving = async {
        match Handler::new(server, true).serve((sdk_reads, sdk_writes)).await {
            Ok(running) => drop(running.waiting().await),
            // A client that only probes the server closes the pipe before it opens a session.
            Err(error) => server.log(1, || format!("the session ended: {error}")),
        }
        let _ = writing.await;
    };
    let orphaned = async {
        loop {
            tokio::time::sleep(PARENT_POLL_INTERVAL).await;
            if self::parent() != parent {
                return;
            }
        }
    };
    tokio::select! {
        () = serving => {}
        () = orphaned => {}
        () = signals.recv() => {}
    }
    Ok(())
}

/// Passes valid messages on; others get an error at once, because the SDK would silently drop them. Before the client
/// has opened a session, only requests are passed on: the SDK ends the server at a notification or a response.
async fn filter_input(input: impl AsyncRead + Unpin, mut to_sdk: DuplexStream, complaints: mpsc::Sender<Value>) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    let mut is_open = false;
    loop {
        line.clear();
        let read = (&mut input).take(MAX_MESSAGE_BYTES).read_until(b'\n', &mut line).await;
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < MAX_MESSAGE_BYTES;
        let verdict = match read {
            Ok(0) | Err(_) => return,
            Ok(_) if !is_whole => {
                skip_line(&mut input).await;
                MessageCheck::Invalid(error_response(-32600, "The message is too long.", Value::Null))
            }
            Ok(_) => check_message(&line),
        };
        if !line.ends_with(b"\n") {
            // The SDK would wait for the rest of a last line without a line end.
            line.push(b'\n');
        }
        let passed = match verdict {
            MessageCheck::Invalid(complaint) => complaints.send(complaint).await.is_ok(),
            MessageCheck::Ignored(_) => true,
            MessageCheck::Valid => {
                let is_request = is_open || request(&line).is_some();
                is_open = is_open || opens_session(&line);
                !is_request || to_sdk.write_all(&line).await.is_ok()
            }
        };
        if !passed {
            return;
        }
    }
}

/// Whether a message opens a session. A request that declares its revision needs none: the SDK serves it at once.
fn opens_session(line: &[u8]) -> bool {
    request(line).is_some_and(|request| request.method == "initialize" || request.declares_revision)
}

async fn skip_line(input: &mut (impl AsyncBufReadExt + Unpin)) {
    loop {
        let (used, is_end) = match input.fill_buf().await {
            Ok([]) | Err(_) => return,
            Ok(bytes) => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (bytes.len(), false),
            },
        };
        input.consume(used);
        if is_end {
            return;
        }
    }
}

/// Writes the lines of the SDK and our own, each as a whole.
async fn write(from_sdk: DuplexStream, mut heard: mpsc::Receiver<Value>, mut output: impl AsyncWrite + Unpin) {
    let mut lines = BufReader::new(from_sdk).split(b'\n');
    loop {
        let line = tokio::select! {
            line = lines.next_segment() => line.ok().flatten(),
            Some(complaint) = heard.recv() => Some(complaint.to_string().into_bytes()),
        };
        // After the end of the SDK, an error about the last messages may still be queued.
        let Some(mut line) = line.or_else(|| Some(heard.try_recv().ok()?.to_string().into_bytes())) else { return };
        line.push(b'\n');
        if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

#[cfg(unix)]
fn parent() -> u32 {
    std::os::unix::process::parent_id()
}

#[cfg(not(unix))]
fn parent() -> u32 {
    0
}
