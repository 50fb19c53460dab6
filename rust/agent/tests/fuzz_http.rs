//! Thousands of ill-mannered clients at a running agent: it goes on answering the others, and keeps nothing of them.
//!
//! `IOSONDE_FUZZ_CONNECTIONS` says how many, `IOSONDE_FUZZ_SEED` replays what they do (not when).

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use iosonde_core::clock::{Clock, RealClock, Stop};
use iosonde_core::seed::{self, Random};

const SECOND_NS: u64 = 1_000_000_000;
/// What the others wait at most.
const PATIENCE_NS: u64 = 2 * SECOND_NS;
/// Ill-mannered clients at a time, and how many connections each keeps.
const CROWD: u64 = 4;
const KEPT: usize = 60;

struct Agent {
    process: Child,
    address: SocketAddr,
    folder: PathBuf,
}

impl Agent {
    fn start() -> Self {
        let folder = std::env::temp_dir().join(format!("iosonde-fuzz-http-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let config = folder.join("agent.toml");
        std::fs::write(&config, "listen = '127.0.0.1:0'\n[[target]]\npath = '/fuzz'\nbackend = 'null'\n")
            .expect("a configuration");
        let mut process = Command::new(env!("CARGO_BIN_EXE_iosonde-agent"))
            .args([&PathBuf::from("--config"), &config])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the agent");
        let mut lines =
            BufReader::new(process.stderr.take().expect("its messages")).lines().map_while(Result::ok);
        let address =
            lines.find_map(|line| Some(line.split_once("http://")?.1.split_once("/metrics")?.0.to_owned()));
        let address = address.and_then(|text| text.parse().ok()).expect("the agent says where it listens");
        // Nobody may be left with a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, address, folder }
    }

    fn ask(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: fuzz\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    }

    /// Entries of a folder of its `/proc`.
    fn count(&self, what: &str) -> usize {
        std::fs::read_dir(format!("/proc/{}/{what}", self.process.id())).expect("a running agent").count()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn pause(ns: u64) {
    RealClock.sleep_until(RealClock.monotonic_ns() + ns, &Stop::default());
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let deadline_ns = RealClock.monotonic_ns() + 30 * SECOND_NS;
    while !condition() {
        assert!(RealClock.monotonic_ns() < deadline_ns, "waited 30 s in vain for {what}");
        pause(SECOND_NS / 100);
    }
}

/// Close with a reset instead of a goodbye.
fn reset(stream: TcpStream) {
    let _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
}

/// One ill-mannered connection; those that hang on are kept.
fn misbehave(
    address: SocketAddr,
    random: &mut Random,
    kept: &mut VecDeque<TcpStream>,
) -> std::io::Result<()> {
    let whole = [
        "GET /metrics HTTP/1.1\r\n\r\n",
        "GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n",
        "HEAD / HTTP/1.0\r\n\r\n",
        "DELETE / HTTP/1.1\r\n\r\n",
    ][random.below(4) as usize];
    let some = &whole.as_bytes()[..random.below(whole.len() as u64) as usize];
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut answer = Vec::new();
    match random.below(10) {
        0 => {}
        1 => stream.write_all(some)?,
        2 => {
            for byte in whole.bytes() {
                stream.write_all(&[byte])?;
                pause(random.below(300_000));
            }
            stream.read_to_end(&mut answer)?;
        }
        3 => {
            stream.write_all(some)?;
            reset(stream);
            return Ok(());
        }
        4 => {
            // Gone while it is being answered.
            stream.write_all(whole.as_bytes())?;
            pause(random.below(200_000));
            reset(stream);
            return Ok(());
        }
        5 => {
            let filler = vec![b'a'; 8_000 + random.below(100_000) as usize];
            stream.write_all(&[b"GET /", filler.as_slice(), b" HTTP/1.1\r\n\r\n"].concat())?;
            stream.read_to_end(&mut answer)?;
        }
        6 => {
            stream.write_all(whole.repeat(1 + random.below(50) as usize).as_bytes())?;
            stream.read_to_end(&mut answer)?;
        }
        7 => {
            // Asks for the page and never reads it.
            stream.write_all(whole.as_bytes())?;
        }
        8 => {
            stream.write_all(some)?;
            stream.shutdown(Shutdown::Write)?;
            stream.read_to_end(&mut answer)?;
        }
        _ => {
            let mut noise = vec![0; random.below(3000) as usize];
            random.fill(&mut noise);
            stream.write_all(&noise)?;
        }
    }
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 "), "{:?}", String::from_utf8_lossy(&answer));
    kept.push_back(stream);
    if kept.len() > KEPT {
        let gone = kept.pop_front();
        if random.below(2) == 0 {
            gone.into_iter().for_each(reset);
        }
    }
    Ok(())
}

/// Ask as a scraper would until `crowd` is zero; how long each answer took.
fn witness(agent: &Agent, crowd: &AtomicU64) -> Vec<u64> {
    let mut took = Vec::new();
    while crowd.load(Ordering::SeqCst) > 0 {
        let began_ns = RealClock.monotonic_ns();
        let answer = agent.ask("/-/healthy").expect("an answer for the well-mannered");
        took.push(RealClock.monotonic_ns() - began_ns);
        assert!(answer.ends_with("healthy\n"), "{answer}");
        pause(SECOND_NS / 50);
    }
    took.sort_unstable();
    took
}

#[test]
fn ill_mannered_clients_starve_nobody_and_leave_nothing_behind() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("IOSONDE_FUZZ_SEED").unwrap_or_else(seed::fresh);
    let connections = number("IOSONDE_FUZZ_CONNECTIONS").unwrap_or(4_000);
    println!("IOSONDE_FUZZ_SEED={seed} IOSONDE_FUZZ_CONNECTIONS={connections}");
    let agent = Agent::start();
    wait_for("a probed target", || agent.ask("/-/ready").is_ok_and(|said| said.starts_with("HTTP/1.1 200")));
    let before = (agent.count("fd"), agent.count("task"));
    let (crowd, refused) = (AtomicU64::new(CROWD), AtomicU64::new(0));
    let took = std::thread::scope(|scope| {
        for client in 0..CROWD {
            let (agent, crowd, refused) = (&agent, &crowd, &refused);
            scope.spawn(move || {
                let mut random = Random::stream(seed, &format!("client {client}"));
                let mut kept = VecDeque::new();
                for _ in 0..connections / CROWD {
                    // Being cut off is what they deserve.
                    if misbehave(agent.address, &mut random, &mut kept).is_err() {
                        refused.fetch_add(1, Ordering::SeqCst);
                    }
                }
                crowd.fetch_sub(1, Ordering::SeqCst);
            });
        }
        witness(&agent, &crowd)
    });
    let at = |q: f64| took[((took.len() - 1) as f64 * q) as usize] as f64 / 1e6;
    println!(
        "{} cut off; others waited {:.1} ms (median), {:.1} (99 %), {:.1} (longest), n = {}",
        refused.into_inner(),
        at(0.5),
        at(0.99),
        at(1.0),
        took.len()
    );
    assert!(took.last().is_some_and(|&longest| longest < PATIENCE_NS), "somebody waited {} ms", at(1.0));
    wait_for("the descriptors to be closed", || agent.count("fd") <= before.0);
    assert_eq!(agent.count("task"), before.1, "threads");
    assert!(agent.ask("/metrics").unwrap().contains("iosonde_build_info"));
}
