//! Ways to a server that outlive connections, blocks in pieces, and locks on an export.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{connector, place, server};
use iosonde_core::backend::{Backend, BlockFile, ObjectName};
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::seed::Random;
use iosonde_nfs::blocks::Blocks;
use iosonde_nfs::error::NfsError;
use iosonde_nfs::files::stable_how;
use iosonde_nfs::hold::{Claim, Hold};
use iosonde_nfs::link::Link;
use iosonde_nfs::mount::mount;
use iosonde_nfs::objects::Objects;
use iosonde_nfs::server::{Model, Server};
use iosonde_nfs::session::LOCK;
use rustix::io::Errno;

const LIMIT: Duration = Duration::from_secs(20);

fn way(port: u16) -> (Link, Vec<u8>) {
    let mounted = mount(&connector(LIMIT), &place(port)).unwrap();
    (Link::new(connector(LIMIT), mounted.nfs, Random::stream(3, "test")), mounted.root)
}

fn content(bytes: usize) -> Vec<u8> {
    let mut content = vec![0; bytes];
    Random::stream(bytes as u64, "content").fill(&mut content);
    content
}

#[test]
fn a_block_goes_and_comes_in_pieces() {
    // In a queue reads and writes take their turns: pieces come back in any case.
    for service_ns in [0, 1000] {
        let server = server(service_ns, 8);
        let (mut link, root) = way(server.port());
        let file = link.call(|nfs| nfs.create(&root, "data")).unwrap();
        let mut blocks = Blocks::new(link, file, 4096);
        for (at, bytes) in [(0, 300_000), (4096, 4096), (7, 1), (299_000, 5000)] {
            let whole = content(bytes);
            assert_eq!(blocks.write_at(at, &whole), Ok(bytes));
            let mut back = vec![0; bytes];
            assert_eq!(blocks.read_at(at, &mut back), Ok(bytes));
            assert!(back == whole, "{bytes} bytes at {at}");
        }
        let mut beyond = vec![0; 20_000];
        assert_eq!(blocks.read_at(300_000, &mut beyond), Ok(4000));
        assert_eq!(blocks.read_at(1 << 40, &mut beyond), Ok(0));
    }
}

#[test]
fn a_link_comes_back_with_its_server() {
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let model = Model { service_ns: 0, queue: 1, most_bytes: 1 << 20 };
    let server = Server::start(model, 0, Arc::clone(&clock)).unwrap();
    let port = server.port();
    let (link, root) = way(port);
    let mut objects = Objects::new(link, root, stable_how::FILE_SYNC);
    let name = ObjectName::new(1);
    assert_eq!(objects.create(&name, b"content"), Ok(()));
    drop(server);
    assert!(matches!(objects.stat(&name), Err(Errno::CONNREFUSED | Errno::CONNRESET)));
    let again = Server::start(Model { service_ns: 0, queue: 1, most_bytes: 1 << 20 }, port, clock).unwrap();
    assert_eq!(objects.stat(&name), Err(Errno::NOENT));
    assert_eq!(objects.create(&name, b"content"), Ok(()));
    drop(again);
}

#[test]
fn a_lock_is_held_once_and_found_stale_when_its_process_is_gone() {
    let server = server(0, 1);
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let (mut link, root) = way(server.port());
    let mut take = |words: &str| {
        let (beats, _) = way(server.port());
        let claim = Claim { directory: &root, name: LOCK, words };
        link.call(|nfs| Hold::take(nfs, beats, &claim, &clock))
    };
    let mut first = take("on here, run a").unwrap().unwrap();
    assert!(matches!(take("on here, run b"), Err(NfsError::Held { holder }) if holder.ends_with("run a")));
    assert!(take("on here, run a").unwrap().is_none());
    let (mut other, _) = way(server.port());
    other.call(|nfs| first.release(nfs)).unwrap();
    assert_eq!(server.executed().names, 0);
    // One whose process is gone: its number belongs to a process that began at another time.
    drop(take("on here, run c").unwrap().unwrap());
    let stale = other.call(|nfs| nfs.lookup(&root, LOCK)).unwrap();
    let text = other.call(|nfs| nfs.read(&stale, 0, 512)).unwrap();
    let text = String::from_utf8(text).unwrap();
    let start = text.split_ascii_whitespace().find(|word| word.starts_with("start=")).unwrap();
    let dead = text.replace(start, "start=1");
    other.call(|nfs| nfs.cut(&stale, 0)).unwrap();
    other.call(|nfs| nfs.write(&stale, 0, dead.as_bytes(), stable_how::FILE_SYNC)).unwrap();
    assert!(take("on here, run d").unwrap().is_some());
    assert_eq!(server.executed().names, 1);
    // One that died before it said who it is.
    let file = other.call(|nfs| nfs.lookup(&root, LOCK)).unwrap();
    other.call(|nfs| nfs.cut(&file, 0)).unwrap();
    assert!(take("on here, run e").unwrap().is_some());
}
