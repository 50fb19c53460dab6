//! The writer without its thread: one round at a time.

use std::sync::Arc;

use super::aging::Aging;
use super::appender::Appender;
use super::disk::Disk;
use super::health::{Busy, Health, Trouble};
use super::inbox::Inbox;
use super::job::{Look, Setup};
use super::retention::{Retention, Time};
use super::spooler::Spooler;
use iosonde_core::clock::Clock;

/// Interval at which written data is forced to the device; a crash of the process alone loses nothing of it.
const SYNC_NS: i64 = 60 * 1_000_000_000;

/// The writer without its thread.
pub struct Engine {
    disk: Box<dyn Disk>,
    spooler: Spooler,
    appender: Appender,
    retention: Retention,
    health: Arc<Health>,
    /// Looks that failed so far.
    looks: Vec<Look>,
    clock: Arc<dyn Clock>,
    aging: Aging,
    now_ns: i64,
    synced_ns: Option<i64>,
}

impl Engine {
    /// Nothing written yet.
    pub fn new(setup: Setup, health: Arc<Health>) -> Self {
        let folder = setup.root.join("spool").join(&setup.host);
        let appender = Appender::new(&setup.header.run_id);
        Self {
            disk: setup.disk,
            spooler: Spooler::new(folder, setup.header, setup.keep.max_bytes, Arc::clone(&health)),
            appender,
            retention: Retention::new(setup.root, setup.host, setup.keep),
            health,
            looks: Vec::new(),
            clock: setup.clock,
            aging: Aging::default(),
            now_ns: 0,
            synced_ns: None,
        }
    }

    /// True if the store would answer now.
    pub fn answers(&self) -> bool {
        self.disk.answers()
    }

    /// Time passed of which no job told.
    pub fn wait(&mut self, for_ns: i64) {
        self.now_ns = self.now_ns.saturating_add(for_ns);
    }

    /// Do what came and what waits.
    pub fn round(&mut self, jobs: Inbox) {
        let _busy = Busy::new(&self.health);
        self.looks.extend(jobs.looks);
        let mut trouble = self.look();
        let mut turned_over = false;
        if let Some(targets) = jobs.targets {
            // What the old segment lacks of its device is tried again with the next.
            let _ = self.spooler.extend(self.disk.as_ref(), targets);
        }
        let mut batches = jobs.rows;
        // Without new rows those that wait are tried too.
        if batches.is_empty() {
            batches.push_back((self.now_ns, Vec::new()));
        }
        for (now_ns, samples) in batches {
            self.now_ns = now_ns;
            self.spooler.queue(samples);
            match self.flush() {
                Ok(begun) => turned_over |= begun,
                Err(error) => {
                    trouble.get_or_insert(self.health.failed(&error, self.spooler.folder()));
                }
            }
        }
        self.health.set_unlocked(self.spooler.is_unlocked());
        self.appender.queue(jobs.appends, jobs.replacements, &self.health);
        let disk = self.disk.as_ref();
        let refused = self.appender.work(disk, &mut self.retention, &self.health, self.now_ns);
        trouble = trouble.or(refused);
        if let Err(error) = self.sync_if_due() {
            trouble.get_or_insert(self.health.failed(&error, self.spooler.folder()));
        }
        let aged_ns = self.aging.now(self.now_ns, self.clock.monotonic_ns());
        let time = Time { now_ns: self.now_ns, aged_ns };
        // A store that cannot be listed or asked for its room says so when it is written to.
        let roomy = self.retention.check(self.disk.as_ref(), &self.health, time, turned_over);
        if trouble.is_none() {
            self.health.fine_at(self.now_ns, roomy.unwrap_or(false));
        }
        self.health.ended(trouble, self.now_ns);
    }

    /// Look at the store; the first trouble.
    fn look(&mut self) -> Option<Trouble> {
        let (disk, health, mut trouble) = (self.disk.as_ref(), &self.health, None);
        self.looks.retain_mut(|look| match look.0(disk) {
            Ok(()) => false,
            Err(error) => {
                trouble.get_or_insert(health.unread(&error));
                true
            }
        });
        trouble
    }

    fn flush(&mut self) -> std::io::Result<bool> {
        let (disk, spooler, now_ns) = (self.disk.as_ref(), &mut self.spooler, self.now_ns);
        let needed = spooler.needed_bytes();
        let begun = self
            .retention
            .making_room(disk, &self.health, now_ns, needed, &mut || spooler.flush(disk, now_ns));
        self.retention.open_stem = self.spooler.open_stem().map(str::to_owned);
        begun
    }

    fn sync_if_due(&mut self) -> std::io::Result<()> {
        let synced_ns = *self.synced_ns.get_or_insert(self.now_ns);
        if self.now_ns.saturating_sub(synced_ns).unsigned_abs() < SYNC_NS.unsigned_abs() {
            return Ok(());
        }
        self.synced_ns = Some(self.now_ns);
        self.sync()
    }

    fn sync(&mut self) -> std::io::Result<()> {
        let disk = self.disk.as_ref();
        self.spooler.sync(disk).and(self.appender.sync(disk))
    }

    /// End the segment and force everything to the device.
    pub fn close(&mut self) {
        let _busy = Busy::new(&self.health);
        let closed = self.spooler.close(self.disk.as_ref());
        if let Err(error) = closed.and(self.appender.sync(self.disk.as_ref())) {
            let trouble = self.health.failed(&error, self.spooler.folder());
            self.health.ended(Some(trouble), self.now_ns);
        }
    }
}
