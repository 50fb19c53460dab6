//! A lock on an export without a lock manager: a file that says who holds it, beaten while its holder lives.
//!
//! ```text
//! pid 4711 on node7, since 2026-03-01T10:00:00Z, run 5f...      for people
//! boot=<boot id> pids=<pid namespace> start=<start of the process> beat=<seconds, UTC>
//! ```
//! A holder of this machine is gone when its process is. Of another machine it is gone when it has not beaten for
//! [`STALE_S`]: then nobody's connection to the server has lived that long either.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use iosonde_core::clock::{Clock, Stop};
use iosonde_core::seed::fresh;
use nfs3_types::nfs3::stable_how;

use crate::connection::Connection;
use crate::error::NfsError;
use crate::files::Handle;
use crate::link::Link;
use crate::objects::read_whole;

/// Seconds without a beat after which a holder on another machine is taken for gone.
pub const STALE_S: i64 = 180;
const BEAT_NS: u64 = 15_000_000_000;
/// A lock without a text is being written, or its holder died within a moment.
const EMPTY_NS: u64 = 2_000_000_000;
const BYTES: usize = 512;
const EXIST: u32 = 17;
const NOENT: u32 = 2;

/// This process, as a lock names it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Process {
    boot: String,
    pids: String,
    pid: u32,
    start: String,
}

impl Process {
    fn own() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
        let pids = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let pid = std::process::id();
        Self {
            boot: read("/proc/sys/kernel/random/boot_id"),
            pids: pids.to_string_lossy().replace(' ', ""),
            pid,
            start: start_of(pid).unwrap_or_default(),
        }
    }
}

/// When a process began, in ticks since boot: a number that is used again has another one.
fn start_of(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19).map(str::to_owned)
}

/// Whether whoever wrote a lock cannot use it any more.
fn is_gone(text: &str, own: &Process, now_s: i64) -> bool {
    let word = |name: &str| text.split_ascii_whitespace().find_map(|word| word.strip_prefix(name));
    let pid = text.strip_prefix("pid ").and_then(|rest| rest.split(',').next()?.parse().ok());
    let (Some(boot), Some(pids), Some(start), Some(pid)) =
        (word("boot="), word("pids="), word("start="), pid)
    else {
        return false;
    };
    if !boot.is_empty() && boot == own.boot && pids == own.pids {
        return start_of(pid).as_deref() != Some(start);
    }
    word("beat=").and_then(|beat| beat.parse::<i64>().ok()).is_some_and(|beat| now_s - beat > STALE_S)
}

/// A lock that is held until it is released; dropped, it is left to be found stale.
pub struct Hold {
    stop: Arc<Stop>,
    lost: Arc<AtomicBool>,
    beating: Option<JoinHandle<()>>,
    name: &'static str,
    directory: Handle,
    who: String,
}

/// Where a lock lies and who takes it.
pub struct Claim<'a> {
    /// Handle of the directory.
    pub directory: &'a [u8],
    /// Name of the file.
    pub name: &'static str,
    /// `on node7, since ..., run ...`: for people. A lock that ends in the same run is this run's own.
    pub words: &'a str,
}

impl Hold {
    /// Take it. None where this run has it already. `beats` is a way of its own for the beats. Errors: all; Held.
    pub fn take(
        connection: &mut Connection,
        beats: Link,
        claim: &Claim<'_>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Option<Self>, NfsError> {
        let own = Process::own();
        let who = format!("pid {}, {}", own.pid, claim.words);
        let file = match connection.create_with(claim.directory, claim.name, 0o644) {
            Err(NfsError::Status { status: EXIST, .. }) => {
                let text = holder(connection, claim, clock)?;
                let same_run = claim.words.rsplit(", ").next().filter(|run| run.starts_with("run "));
                if same_run.is_some_and(|run| first_line(&text).ends_with(run)) {
                    return Ok(None);
                }
                if !text.is_empty() && !is_gone(&text, &own, clock.wall_ns() / 1_000_000_000) {
                    return Err(NfsError::Held { holder: first_line(&text).to_owned() });
                }
                put_aside(connection, claim, &text)?;
                match connection.create_with(claim.directory, claim.name, 0o644) {
                    Err(NfsError::Status { status: EXIST, .. }) => {
                        let text = holder(connection, claim, clock)?;
                        return Err(NfsError::Held { holder: first_line(&text).to_owned() });
                    }
                    made => made?,
                }
            }
            made => made?,
        };
        let text = line(&who, &own, clock.wall_ns());
        connection.write(&file, 0, text.as_bytes(), stable_how::FILE_SYNC)?;
        let (stop, lost) = (Stop::new(), Arc::new(AtomicBool::new(false)));
        let mut hold = Self {
            stop: Arc::clone(&stop),
            lost: Arc::clone(&lost),
            beating: None,
            name: claim.name,
            directory: claim.directory.to_vec(),
            who: who.clone(),
        };
        let beater = Beater { link: beats, file, who, own, clock: Arc::clone(clock), stop, lost };
        let thread = std::thread::Builder::new().name("nfs-lock".into()).stack_size(128 << 10);
        // Without beats other machines take it for stale after a while.
        hold.beating = thread.spawn(move || beater.run()).ok();
        Ok(Some(hold))
    }

    /// Whether somebody else has it by now.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Give it back. Errors: all.
    pub fn release(&mut self, connection: &mut Connection) -> Result<(), NfsError> {
        self.silence();
        let (file, _) = match connection.look(&self.directory, self.name) {
            Err(NfsError::Status { status: NOENT, .. }) => return Ok(()),
            found => found?,
        };
        if first_line(&text_of(connection, &file)?) != self.who {
            return Ok(());
        }
        connection.remove(&self.directory, self.name)
    }

    fn silence(&self) {
        self.stop.raise(self.beating.iter().map(JoinHandle::thread));
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.silence();
    }
}

struct Beater {
    link: Link,
    file: Handle,
    who: String,
    own: Process,
    clock: Arc<dyn Clock>,
    stop: Arc<Stop>,
    lost: Arc<AtomicBool>,
}

impl Beater {
    /// Until told to stop or until the lock is another's. A server that does not answer delays beats, for others too.
    fn run(mut self) {
        loop {
            self.clock.sleep_until(self.clock.monotonic_ns() + BEAT_NS, &self.stop);
            if self.stop.raised() {
                return;
            }
            let text = line(&self.who, &self.own, self.clock.wall_ns());
            let (file, who) = (&self.file, &self.who);
            let beaten = self.link.call(|connection| {
                let ours = first_line(&text_of(connection, file)?) == who;
                if ours {
                    connection.write(file, 0, text.as_bytes(), stable_how::FILE_SYNC)?;
                }
                Ok(ours)
            });
            let gone = matches!(beaten, Err(NfsError::Status { status: NOENT | 70, .. }));
            if gone || matches!(beaten, Ok(false)) {
                self.lost.store(true, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Always of the same length: a beat leaves nothing of an earlier one.
fn line(who: &str, own: &Process, wall_ns: i64) -> String {
    let Process { boot, pids, start, .. } = own;
    let words = format!("{who}\nboot={boot} pids={pids} start={start} beat={}", wall_ns / 1_000_000_000);
    format!("{words:<width$}\n", width = BYTES - 1)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end()
}

fn text_of(connection: &mut Connection, file: &[u8]) -> Result<String, NfsError> {
    let mut bytes = [0; BYTES];
    let n = read_whole(connection, file, &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
    Ok(text.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect())
}

/// What a lock says that is there; empty when it says nothing for long, or has gone.
fn holder(
    connection: &mut Connection,
    claim: &Claim<'_>,
    clock: &Arc<dyn Clock>,
) -> Result<String, NfsError> {
    const ACCESS: u32 = 13;
    let give_up = clock.monotonic_ns() + EMPTY_NS;
    loop {
        let found =
            connection.look(claim.directory, claim.name).and_then(|(file, _)| text_of(connection, &file));
        match found {
            Err(NfsError::Status { status: NOENT | 70, .. }) => return Ok(String::new()),
            Err(NfsError::Status { status: ACCESS, .. }) => {
                return Err(NfsError::Held { holder: "another user".into() });
            }
            Ok(text) if text.is_empty() && clock.monotonic_ns() < give_up => {
                clock.sleep_until(clock.monotonic_ns() + EMPTY_NS / 20, &Stop::default());
            }
            text => return text,
        }
    }
}

/// Take a stale lock away: under another name, so that only one of several succeeds, and not one that is new.
fn put_aside(connection: &mut Connection, claim: &Claim<'_>, stale: &str) -> Result<(), NfsError> {
    let aside = format!("{}.{:x}", claim.name, fresh());
    match connection.rename(claim.directory, claim.name, &aside) {
        Err(NfsError::Status { status: NOENT, .. }) => return Ok(()),
        moved => moved?,
    }
    let (file, _) = connection.look(claim.directory, &aside)?;
    let text = text_of(connection, &file)?;
    if first_line(&text) != first_line(stale) {
        connection.rename(claim.directory, &aside, claim.name)?;
        return Err(NfsError::Held { holder: first_line(&text).to_owned() });
    }
    connection.remove(claim.directory, &aside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_holder_is_gone_with_its_process_or_when_it_beats_no_more() {
        let own = Process::own();
        let text = line(&format!("pid {}, on here, run a", own.pid), &own, 1_000_000_000_000);
        assert_eq!(text.len(), BYTES);
        assert!(!is_gone(&text, &own, 1_000_000));
        let earlier = Process { start: "1".into(), ..own.clone() };
        assert!(is_gone(&line(&format!("pid {}, run a", own.pid), &earlier, 0), &own, 0));
        let elsewhere = Process { boot: "other".into(), ..own.clone() };
        let text = line("pid 1, on there, run a", &elsewhere, 1_000_000_000_000);
        assert!(!is_gone(&text, &own, 1000 + STALE_S));
        assert!(is_gone(&text, &own, 1001 + STALE_S));
        for strange in ["", "pid x", "boot= pids= start= beat=9", "pid 1, boot=a pids=b start=c beat=no"] {
            assert!(!is_gone(strange, &own, i64::MAX), "{strange}");
        }
    }
}
