//! The open connections of the HTTP transport: their maximum number, their timeouts, and which one is evicted first.
//!
//! A connection waits for a request, sends one, or is being served. Waiting and sending have a timeout each; being
//! served has none, because an answer may take long and an event stream has no end. Inactive connections do not block
//! new ones: at the maximum number, the connection that has owed a complete request for the longest time is evicted,
//! otherwise the one that was idle longest.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use http_body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::OnceCell;
use tokio::time::Sleep;

use super::peer::{self, Ends};

/// The limits of connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The timeout from the start of the connection, or the first byte of a further request, to the end of the head.
    pub(super) head: Duration,
    /// The timeout from there to the end of the body.
    pub(super) body: Duration,
    /// The timeout from the end of an answer to the next request.
    pub(super) idle: Duration,
    /// The timeout while the client reads nothing of an answer.
    pub(super) write: Duration,
    /// The maximum number of open connections.
    pub(super) max_connections: usize,
}

impl Limits {
    /// The limits for this maximum number of descriptors. Half of them are for stores and everything else that the
    /// process opens.
    pub(super) fn for_descriptors(descriptors: Option<u64>) -> Self {
        let half = descriptors.map_or(usize::MAX, |most| usize::try_from(most / 2).unwrap_or(usize::MAX));
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            idle: Duration::from_secs(120),
            write: Duration::from_secs(60),
            max_connections: half.clamp(8, 512),
        }
    }

    /// The maximum number of connections being served: a share is always left for connections that can be evicted or
    /// refused.
    fn max_served(&self) -> usize {
        self.max_connections - (self.max_connections / 8).max(1)
    }
}

/// The maximum length of a head. A longer head is not read, and the connection ends. `http` refuses slightly shorter
/// heads with an answer.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// Sent before a connection ends for this reason.
const HEAD_TOO_LONG: &[u8] =
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The head of a request is incomplete.
    Head,
    /// The body is incomplete.
    Body,
    /// Nothing was received since the last answer.
    Idle,
    Served,
}

/// All open connections.
pub(super) struct Sockets {
    pub(super) limits: Limits,
    open: Mutex<HashMap<u64, Arc<ConnectionState>>>,
    next: AtomicU64,
    served: AtomicUsize,
    /// The server is ending: new connections are refused as well.
    is_closing: AtomicBool,
}

struct ConnectionState {
    number: u64,
    ends: Ends,
    /// Whether the peer is our own user, once that was looked up.
    is_own_user: OnceCell<bool>,
    now: Mutex<PhaseState>,
}

struct PhaseState {
    phase: Phase,
    since: Instant,
    is_gone: bool,
    /// The task to wake when the connection was evicted.
    waker: Option<Waker>,
}

impl ConnectionState {
    fn lock(&self) -> MutexGuard<'_, PhaseState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the phase and returns the previous one.
    fn enter(&self, phase: Phase) -> Phase {
        let mut now = self.lock();
        let before = std::mem::replace(&mut now.phase, phase);
        now.since = Instant::now();
        wake(now);
        before
    }

    fn disconnect(&self) {
        let mut now = self.lock();
        now.is_gone = true;
        wake(now);
    }
}

fn wake(mut now: MutexGuard<'_, PhaseState>) {
    let waker = now.waker.take();
    drop(now);
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl Sockets {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        let (next, served, is_closing) = (AtomicU64::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Self { limits, open: Mutex::default(), next, served, is_closing })
    }

    /// Adds a new connection, and evicts another one at the maximum number.
    fn admit(self: &Arc<Self>, stream: TcpStream, ends: Ends) -> SocketStream {
        // An answer is sent in several writes, and none of them waits for the acknowledgement of the previous one.
        let _ = stream.set_nodelay(true);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let now = PhaseState { phase: Phase::Head, since: Instant::now(), is_gone: false, waker: None };
        let state = Arc::new(ConnectionState { number, ends, is_own_user: OnceCell::new(), now: Mutex::new(now) });
        let mut open = self.lock();
        let leaver = if open.len() >= self.limits.max_connections { eviction_candidate(&open) } else { None };
        if let Some(leaver) = &leaver {
            open.remove(&leaver.number);
        }
        open.insert(number, Arc::clone(&state));
        // Checked under the lock: either `close_waiting` sees this connection in the list, or this connection sees the
        // flag.
        let is_late = self.is_closing.load(Ordering::Relaxed);
        drop(open);
        if is_late {
            state.disconnect();
        }
        if let Some(leaver) = leaver {
            leaver.disconnect();
        }
        let socket = Socket { sockets: Arc::clone(self), state };
        SocketStream { stream, socket, timer: None, stalled: None, head_bytes: 0 }
    }

    /// Evicts a connection, if one can be evicted.
    fn evict_one(&self) {
        let leaver = eviction_candidate(&self.lock());
        if let Some(leaver) = leaver {
            leaver.disconnect();
        }
    }

    /// Disconnects all connections that are not being served: they would keep the server from ending.
    pub(super) fn close_waiting(&self) {
        self.is_closing.store(true, Ordering::Relaxed);
        let open: Vec<Arc<ConnectionState>> = self.lock().values().cloned().collect();
        open.iter().filter(|state| state.lock().phase != Phase::Served).for_each(|state| state.disconnect());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<ConnectionState>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection to evict: the one that has owed a request for the longest time, otherwise the one idle longest.
fn eviction_candidate(open: &HashMap<u64, Arc<ConnectionState>>) -> Option<Arc<ConnectionState>> {
    let rank = |state: &Arc<ConnectionState>| {
        let now = state.lock();
        let is_idle = now.phase == Phase::Idle;
        (now.phase != Phase::Served && !now.is_gone).then(|| (is_idle, now.since, state.number, Arc::clone(state)))
    };
    let found = open.values().filter_map(rank).min_by_key(|(is_idle, since, number, _)| (*is_idle, *since, *number));
    found.map(|(.., state)| state)
}

/// One connection, as its requests see it.
#[derive(Clone)]
pub(super) struct Socket {
    sockets: Arc<Sockets>,
    state: Arc<ConnectionState>,
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Socket").field(&self.state.number).finish()
    }
}

impl Socket {
    /// The head of a request is complete. The turn lasts until the answer has been sent.
    pub(super) fn turn(&self) -> Turn {
        self.state.enter(Phase::Body);
        Turn(self.clone())
    }

    /// The request is complete. Returns `false` if too many are being served already.
    pub(super) fn start_serving(&self) -> bool {
        let most = self.sockets.limits.max_served();
        let one_more = |served| (served < most).then_some(served + 1);
        let has_room = self.sockets.served.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok();
        if has_room {
            self.state.enter(Phase::Served);
        }
        has_room
    }

    pub(super) fn limits(&self) -> Limits {
        self.sockets.limits
    }

    /// The address of the peer.
    pub(super) fn peer_ip(&self) -> IpAddr {
        self.state.ends.theirs.ip().to_canonical()
    }

    /// Whether the peer is our own user or root, looked up once per connection.
    pub(super) async fn is_own_user(&self) -> bool {
        *self.state.is_own_user.get_or_init(|| peer::is_own_user(self.state.ends)).await
    }
}

/// The time from the head of a request to the end of its answer, see [`Socket::turn`].
pub(super) struct Turn(Socket);

impl Drop for Turn {
    fn drop(&mut self) {
        if self.0.state.enter(Phase::Idle) == Phase::Served {
            self.0.sockets.served.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Turn {
    /// Wraps the body of the answer so that the turn ends when the body has been sent or dropped.
    pub(super) fn hold_until_sent(self, body: Body) -> Body {
        Body::new(TrackedBody { body, _turn: self })
    }
}

struct TrackedBody {
    body: Body,
    _turn: Turn,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Accepts connections despite errors: a process without free descriptors evicts a connection and continues.
pub(super) struct LimitedListener {
    pub(super) listener: TcpListener,
    pub(super) sockets: Arc<Sockets>,
}

/// How long to wait before accepting again if the system has no resources.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

impl Listener for LimitedListener {
    type Io = SocketStream;
    type Addr = Socket;

    async fn accept(&mut self) -> (SocketStream, Socket) {
        loop {
            match self.listener.accept().await {
                Ok((stream, theirs)) => {
                    // A connection that has already ended has no address and needs none.
                    let Ok(ours) = stream.local_addr() else { continue };
                    let io = self.sockets.admit(stream, Ends { ours, theirs });
                    let socket = io.socket.clone();
                    return (io, socket);
                }
                // The client disconnected before it was accepted.
                Err(error) if is_client_error(&error) => {}
                Err(_) => {
                    self.sockets.evict_one();
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Socket> {
        Err(io::Error::other("this listener has no address"))
    }
}

fn is_client_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

impl Connected<IncomingStream<'_, LimitedListener>> for Socket {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Self {
        stream.remote_addr().clone()
    }
}

/// The stream of a connection, which ends on a timeout or when the connection is evicted.
pub(super) struct SocketStream {
    stream: TcpStream,
    socket: Socket,
    timer: Option<Pin<Box<Sleep>>>,
    /// The time since which the client has read nothing of an answer.
    stalled: Option<Instant>,
    /// The number of bytes read of an incomplete head.
    head_bytes: usize,
}

impl Drop for SocketStream {
    fn drop(&mut self) {
        self.socket.sockets.lock().remove(&self.socket.state.number);
    }
}

impl SocketStream {
    /// Records received bytes.
    fn on_bytes_read(&mut self, count: usize) {
        let mut now = self.socket.state.lock();
        let phase = now.phase;
        if phase == Phase::Idle {
            (now.phase, now.since) = (Phase::Head, Instant::now());
        }
        drop(now);
        self.head_bytes = match phase {
            Phase::Head => self.head_bytes + count,
            Phase::Idle => count,
            Phase::Body | Phase::Served => 0,
        };
    }

    /// Whether everything read so far is an incomplete head that is too long. The head is parsed after each read.
    fn is_head_too_long(&self) -> bool {
        self.head_bytes > MAX_HEAD_BYTES && self.socket.state.lock().phase == Phase::Head
    }

    fn is_gone(&self) -> bool {
        self.socket.state.lock().is_gone
    }

    /// Nothing can be read or written now: checks whether a timeout has passed.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let limits = self.socket.limits();
        let deadline = {
            let mut now = self.socket.state.lock();
            if now.is_gone {
                return Poll::Ready(disconnected_error());
            }
            now.waker = Some(cx.waker().clone());
            let own = match now.phase {
                Phase::Head => Some(now.since + limits.head),
                Phase::Idle => Some(now.since + limits.idle),
                // The reader of the body has its own timeout and sends an answer.
                Phase::Body | Phase::Served => None,
            };
            let taking = self.stalled.map(|since| since + limits.write);
            own.into_iter().chain(taking).min()
        };
        let Some(deadline) = deadline.map(tokio::time::Instant::from_std) else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        timer.as_mut().poll(cx).map(|()| io::ErrorKind::TimedOut.into())
    }
}

fn disconnected_error() -> io::Error {
    io::ErrorKind::ConnectionAborted.into()
}

impl AsyncRead for SocketStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.is_gone() {
            return Poll::Ready(Err(disconnected_error()));
        }
        if self.is_head_too_long() {
            // A client that does not read it, or has no buffer space for it, only sees the connection end.
            let _ = self.stream.try_write(HEAD_TOO_LONG);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        let before = into.filled().len();
        match Pin::new(&mut self.stream).poll_read(cx, into) {
            Poll::Ready(outcome) => {
                let count = into.filled().len() - before;
                if count > 0 {
                    self.on_bytes_read(count);
                }
                Poll::Ready(outcome)
            }
            Poll::Pending => self.poll_timeout(cx).map(Err),
        }
    }
}

impl SocketStream {
    /// Writes, and measures the time in which nothing is read.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut TcpStream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.is_gone() {
            return Poll::Ready(Err(disconnected_error()));
        }
        match write(Pin::new(&mut self.stream), cx) {
            Poll::Ready(outcome) => {
                self.stalled = None;
                Poll::Ready(outcome)
            }
            Poll::Pending => {
                self.stalled.get_or_insert_with(Instant::now);
                self.poll_timeout(cx).map(Err)
            }
        }
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.write(cx, |stream, cx| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.write(cx, |stream, cx| stream.poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{SocketAddr, TcpStream as Client};

    use axum::Router;
    use axum::extract::{ConnectInfo, Request};
    use axum::middleware::{self, Next};
    use axum::response::{IntoResponse, Response};
    use axum::routing::{get, post};

    use super::*;

    const SHORT_TIMEOUT: Duration = Duration::from_millis(60);
    const LONG_TIMEOUT: Duration = Duration::from_secs(30);
    const LIMITS: Limits =
        Limits { head: LONG_TIMEOUT, body: LONG_TIMEOUT, idle: LONG_TIMEOUT, write: LONG_TIMEOUT, max_connections: 8 };

    async fn attend(ConnectInfo(socket): ConnectInfo<Socket>, request: Request, next: Next) -> Response {
        let turn = socket.turn();
        let response = if socket.start_serving() { next.run(request).await } else { "busy".into_response() };
        response.map(|body| turn.hold_until_sent(body))
    }

    /// Runs `look` with a server with these limits. It has a short answer, one of 64 MiB, and one that never comes.
    fn with_server(limits: Limits, look: impl FnOnce(SocketAddr, &Sockets)) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let sockets = Sockets::new(limits);
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/long", get(|| async { vec![b'x'; 64 << 20] }))
            .route("/never", post(|| async { std::future::pending::<()>().await }))
            .layer(middleware::from_fn(attend));
        let door = LimitedListener { listener, sockets: Arc::clone(&sockets) };
        let serving = axum::serve(door, router.into_make_service_with_connect_info::<Socket>());
        runtime.spawn(async move { serving.await });
        look(address, &sockets);
    }

    fn connect(address: SocketAddr, sent: &str) -> Client {
        let mut client = Client::connect(address).expect("it listens");
        client.set_read_timeout(Some(LONG_TIMEOUT)).expect("a timeout can be set");
        client.write_all(sent.as_bytes()).expect("it is taken");
        client
    }

    /// Everything received until the connection ends, in whatever way.
    fn read_to_end(client: &mut Client) -> String {
        let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            match client.read(&mut chunk) {
                Ok(count) if count > 0 => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock) => panic!("the connection stays open"),
                _ => return String::from_utf8_lossy(&bytes).into_owned(),
            }
        }
    }

    fn request_once(client: &mut Client) {
        let mut answer = [0; 4096];
        let count = client.read(&mut answer).expect("an answer");
        assert!(String::from_utf8_lossy(&answer[..count]).ends_with("hello"));
    }

    /// Waits for a condition, and fails after a minute.
    fn wait_until(is_true: impl Fn() -> bool) {
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        while !is_true() {
            assert!(std::time::Instant::now() < deadline, "the condition did not become true in a minute");
            std::thread::yield_now();
        }
    }

    const REQUEST: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

    #[test]
    fn slow_request_head_times_out() {
        with_server(Limits { head: SHORT_TIMEOUT, ..LIMITS }, |address, _| {
            for sent in ["", "GET", "GET / HTTP/1.1\r\nHost: x\r\n"] {
                assert_eq!(read_to_end(&mut connect(address, sent)), "", "{sent:?}");
            }
            let mut second = connect(address, REQUEST);
            request_once(&mut second);
            second.write_all(b"GET / HT").expect("it is taken");
            assert_eq!(read_to_end(&mut second), "", "a second request has no more time than the first");
        });
    }

    #[test]
    fn idle_connections_time_out_and_served_ones_do_not() {
        with_server(Limits { idle: SHORT_TIMEOUT, head: LONG_TIMEOUT, ..LIMITS }, |address, sockets| {
            let served = connect(address, "POST /never HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
            let mut idle = connect(address, REQUEST);
            request_once(&mut idle);
            assert_eq!(read_to_end(&mut idle), "");
            assert_eq!(sockets.served.load(Ordering::Relaxed), 1, "a connection being served stays open");
            drop(served);
        });
    }

    #[test]
    fn stalled_readers_are_disconnected() {
        with_server(Limits { write: SHORT_TIMEOUT, ..LIMITS }, |address, sockets| {
            let mut client = connect(address, "GET /long HTTP/1.1\r\nHost: x\r\n\r\n");
            wait_until(|| sockets.served.load(Ordering::Relaxed) > 0);
            wait_until(|| sockets.lock().is_empty());
            assert!(read_to_end(&mut client).len() < 64 << 20);
        });
    }

    #[test]
    fn eviction_order() {
        with_server(LIMITS, |address, _| {
            let mut idle = connect(address, REQUEST);
            request_once(&mut idle);
            let mut half: Vec<Client> = (0..7).map(|_| connect(address, "GET / HT")).collect();
            // A connection counts once the server has accepted it, in the order of the connections.
            let mut next = connect(address, REQUEST);
            request_once(&mut next);
            assert_eq!(read_to_end(&mut half[0]), "");
            idle.write_all(REQUEST.as_bytes()).expect("it is there");
            request_once(&mut idle);
            half[1].write_all(b"TP/1.1\r\nHost: x\r\n\r\n").expect("it is there");
            request_once(&mut half[1]);
            // Five owe a request; after them the idle ones are evicted.
            let mut more: Vec<Client> = Vec::new();
            for _ in 0..6 {
                more.push(connect(address, REQUEST));
                request_once(more.last_mut().expect("it was just made"));
            }
            (2..7).for_each(|at| assert_eq!(read_to_end(&mut half[at]), "", "{at}"));
            assert_eq!(read_to_end(&mut next), "", "it was idle longest");
        });
    }

    #[test]
    fn slots_are_reserved_for_busy_replies() {
        with_server(LIMITS, |address, sockets| {
            let ask = "POST /never HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n";
            let served: Vec<Client> = (0..7).map(|_| connect(address, ask)).collect();
            while sockets.served.load(Ordering::Relaxed) < 7 {
                std::thread::yield_now();
            }
            for _ in 0..20 {
                let mut refused = connect(address, &REQUEST.replace("Host", "Connection: close\r\nHost"));
                assert!(read_to_end(&mut refused).ends_with("busy"));
            }
            drop(served);
        });
    }

    #[test]
    fn shutdown_disconnects_idle_clients() {
        with_server(LIMITS, |address, sockets| {
            let mut half = connect(address, "GET / HT");
            while sockets.lock().is_empty() {
                std::thread::yield_now();
            }
            sockets.close_waiting();
            assert_eq!(read_to_end(&mut half), "");
            // The listener may still accept a connection before it is closed.
            let mut late = connect(address, "GET / HT");
            assert_eq!(read_to_end(&mut late), "");
        });
    }

    #[test]
    fn half_of_the_descriptors_are_reserved() {
        let most = |descriptors| Limits::for_descriptors(descriptors).max_connections;
        assert_eq!([most(None), most(Some(1024)), most(Some(256)), most(Some(4))], [512, 512, 128, 8]);
    }
}
