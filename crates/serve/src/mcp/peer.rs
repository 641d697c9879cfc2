//! Determines the user at the other end of a connection from this machine.
//!
//! Linux lists both ends of such a connection, with the user of each, in `/proc/net/tcp` and `/proc/net/tcp6`. The peer
//! is accepted if its end belongs to the user of our end, or to root, who can read our files and memory anyway. An end
//! whose process has closed it is listed as root's with inode 0 and is not accepted: any user could have closed it. A
//! client behind a forwarder (`ssh -L`, a proxy) has the user of the forwarder.
//!
//! Other systems have no such list. There every local user is accepted, as documented, unless a token is required.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) ours: SocketAddr,
    pub(super) theirs: SocketAddr,
}

/// The lists of connections by IPv4 and IPv6.
const TCP: &str = "/proc/net/tcp";
const TCP6: &str = "/proc/net/tcp6";

/// How often the lists are read: a list that changes while it is read may miss a line.
const ATTEMPTS: usize = 3;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Whether the peer is our own user or root. Also `false` if the system does not report it.
pub(super) async fn is_own_user(ends: Ends) -> bool {
    if !cfg!(target_os = "linux") {
        return true;
    }
    for attempt in 0..ATTEMPTS {
        if attempt > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        // Reading a list takes milliseconds, and must not delay other connections.
        if let Ok(Some(is_accepted)) = tokio::task::spawn_blocking(move || look_up(ends)).await {
            return is_accepted;
        }
    }
    false
}

/// Whether the lists show that a peer is our own user or root; `None` if an end is missing. One end of an IPv4
/// connection may be an IPv6 socket, so the other list is read only if the first one lacks an end.
fn look_up(ends: Ends) -> Option<bool> {
    let is_v4 = canonical(ends.ours).is_ipv4();
    let mut search = Search::new(ends);
    for path in if is_v4 { [TCP, TCP6] } else { [TCP6, TCP] } {
        let Ok(table) = File::open(path) else { continue };
        let lines = BufReader::new(table).lines().map_while(Result::ok);
        if let Some(is_accepted) = search.read(lines) {
            return Some(is_accepted);
        }
    }
    None
}

/// The entries found for the two ends of a connection.
struct Search {
    ends: Ends,
    ours: Option<End>,
    theirs: Option<End>,
}

impl Search {
    fn new(ends: Ends) -> Self {
        let ends = Ends { ours: canonical(ends.ours), theirs: canonical(ends.theirs) };
        Self { ends, ours: None, theirs: None }
    }

    /// Reads a list until both ends are known; returns whether the peer is accepted.
    fn read(&mut self, lines: impl Iterator<Item = impl AsRef<str>>) -> Option<bool> {
        for line in lines {
            let Some(end) = End::parse(line.as_ref()) else { continue };
            match (end.local, end.remote) {
                (local, remote) if local == self.ends.ours && remote == self.ends.theirs => self.ours = Some(end),
                (local, remote) if local == self.ends.theirs && remote == self.ends.ours => self.theirs = Some(end),
                _ => continue,
            }
            if let (Some(ours), Some(theirs)) = (self.ours, self.theirs) {
                let is_open = ours.inode != 0 && theirs.inode != 0;
                return Some(is_open && (theirs.user == ours.user || theirs.user == 0));
            }
        }
        None
    }
}

/// One end of a connection, as in a line of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    local: SocketAddr,
    remote: SocketAddr,
    user: u32,
    /// 0 if no process holds it.
    inode: u64,
}

impl End {
    /// Parses `sl: local remote st queues timer retransmits uid timeout inode …`. The first line of a list is a header.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let local = address(fields.nth(1)?)?;
        let remote = address(fields.next()?)?;
        let user = fields.nth(4)?.parse().ok()?;
        let inode = fields.nth(1)?.parse().ok()?;
        Some(Self { local, remote, user, inode })
    }
}

/// Parses `0100007F:1F90`, or the same with an address of 32 digits. Each word of an address is a number whose bytes in
/// memory are the address.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| Some(u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match ip.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        32 => {
            let mut bytes = [0; 16];
            for at in 0..4 {
                bytes[at * 4..at * 4 + 4].copy_from_slice(&word(at)?);
            }
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, port)))
}

/// Maps an IPv4-mapped IPv6 address to its IPv4 address. Scopes and flow labels are not in the lists.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list as a little-endian machine writes it.
    #[cfg(target_endian = "little")]
    const LISTED: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:238C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1594 1 0000000047 100 0 0 10 0
   1: 0100007F:238C 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 1601 1 0000000047 20 4 30 10 -1
   2: 0100007F:D431 0100007F:238C 01 00000000:00000000 00:00000000 00000000  1000        0 1600 1 0000000047 20 4 30 10 -1
   3: 0100007F:238C 0100007F:D432 01 00000000:00000000 00:00000000 00000000  1000        0 1603 1 0000000047 20 4 30 10 -1
   4: 0100007F:D432 0100007F:238C 01 00000000:00000000 00:00000000 00000000  1001        0 1602 1 0000000047 20 4 30 10 -1
   5: 0100007F:238C 0100007F:D433 08 00000000:00000000 00:00000000 00000000  1000        0 1605 1 0000000047 20 4 30 10 -1
   6: 0100007F:D433 0100007F:238C 05 00000000:00000000 03:00001770 00000000     0        0 0 2 0000000047
   7: 0100007F:238C 0100007F:D434 01 00000000:00000000 00:00000000 00000000  1000        0 1607 1 0000000047 20 4 30 10 -1
   8: 0100007F:D434 0100007F:238C 01 00000000:00000000 00:00000000 00000000     0        0 1606 1 0000000047 20 4 30 10 -1
   9: 0100007F:238C 0100007F:D435 01 00000000:00000000 00:00000000 00000000  1000        0 1609 1 0000000047 20 4 30 10 -1
";
    #[cfg(target_endian = "little")]
    const LISTED6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0000000000000000FFFF00000100007F:D435 0000000000000000FFFF00000100007F:238C 01 00000000:00000000 00:00000000 00000000  1000        0 1608 1 0000000047 20 4 30 10 -1
   1: 00000000000000000000000001000000:238C 00000000000000000000000001000000:D436 01 00000000:00000000 00:00000000 00000000  1000        0 1611 1 0000000047 20 4 30 10 -1
   2: 00000000000000000000000001000000:D436 00000000000000000000000001000000:238C 01 00000000:00000000 00:00000000 00000000  1002        0 1610 1 0000000047 20 4 30 10 -1
";

    #[cfg(target_endian = "little")]
    #[test]
    fn only_our_own_user_and_root_are_accepted() {
        let judge = |ip: &str, port: u16| {
            let ip: IpAddr = ip.parse().expect("an address");
            let mut search = Search::new(Ends { ours: SocketAddr::new(ip, 0x238C), theirs: SocketAddr::new(ip, port) });
            search.read(LISTED.lines()).or_else(|| search.read(LISTED6.lines()))
        };
        assert_eq!(judge("127.0.0.1", 0xD431), Some(true), "our own user");
        assert_eq!(judge("127.0.0.1", 0xD432), Some(false), "another user");
        assert_eq!(judge("127.0.0.1", 0xD433), Some(false), "closed by its process, which is listed as root's");
        assert_eq!(judge("127.0.0.1", 0xD434), Some(true), "root");
        assert_eq!(judge("127.0.0.1", 0xD435), Some(true), "a socket of IPv6 that is connected by IPv4");
        assert_eq!(judge("::ffff:127.0.0.1", 0xD431), Some(true), "the same from the other side");
        assert_eq!(judge("::1", 0xD436), Some(false), "another user by IPv6");
        assert_eq!(judge("127.0.0.1", 0xD437), None, "not in the list");
    }

    #[test]
    fn lines_that_are_no_ends_are_skipped() {
        for line in ["", "sl local_address rem_address", "0: 0100007F 0100007F:1 01", "0: 0100:1 0100:2 01 0 0 0 0 0 0"]
        {
            assert_eq!(End::parse(line), None, "{line}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_connection_to_ourselves_is_our_own() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let client = std::net::TcpStream::connect(address).expect("it listens");
        let (_accepted, theirs) = listener.accept().expect("a connection");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        assert!(runtime.block_on(is_own_user(Ends { ours: address, theirs })));
        drop(client);
    }
}
