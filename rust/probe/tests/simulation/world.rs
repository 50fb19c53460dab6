//! One schedule: targets, faults, lives that end well or by a kill, from one seed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use iosonde_core::clock::{Clock, SimClock};
use iosonde_core::sample::{Op, Sample};
use iosonde_core::seed::{Random, fresh};
use iosonde_probe::config::Config;
use iosonde_probe::probe::simulate::Simulation;
use iosonde_probe::probe::view::{View, Watched};
use iosonde_probe::record::faulty::FaultyDisk;
use rustix::io::Errno;

use crate::check;
use crate::faults::{self, Spell};
use crate::model::Span;
use crate::seen::Seen;

const SECOND: u64 = 1_000_000_000;
/// A disk that is never full.
const ROOMY: u64 = 1 << 40;
/// One schedule of so many has a hang of a hundred thousand ticks.
const LONG: u64 = 120;
/// A life has a few notes; a log that is slow for longer than this gets them without end.
const MOST_BLOCKED_NS: u64 = 3600 * SECOND;
/// Ticks of a life of a target that is not of those.
const TICKS: u64 = 600;
const FLUSHES_MS: [u64; 6] = [10, 200, 1000, 2000, 10_000, 60_000];
const PERIODS_MS: [u64; 10] = [1, 5, 20, 50, 100, 100, 200, 200, 500, 500];
pub const POOL: usize = 16;
pub const OBJECT_BYTES: u64 = 100;
pub const STRANGER: &str = "somebody-elses.txt";

/// One target of a schedule.
#[derive(Clone)]
pub struct Target {
    pub name: String,
    pub path: PathBuf,
    pub period_ms: u64,
    pub posix: bool,
    replacements: usize,
    options: String,
}

/// What one life was like.
pub struct Life {
    pub context: String,
    pub killed: bool,
    pub stepped: bool,
    pub disk_trouble: bool,
    pub flush_ns: u64,
    /// Targets as they were watched.
    pub spans: Vec<Span>,
    /// All that was ever watched.
    pub watched: Vec<Arc<Watched>>,
}

impl Life {
    pub fn new(context: String, flush_ms: u64) -> Self {
        let (spans, watched) = (Vec::new(), Vec::new());
        let flush_ns = flush_ms * 1_000_000;
        Self { context, killed: false, stepped: false, disk_trouble: false, flush_ns, spans, watched }
    }

    /// What is watched from now on, and what no more.
    pub fn watches(&mut self, view: &View, targets: &[Target], faults: &[Spell], now_ns: i64) {
        let watched = view.targets();
        for span in self.spans.iter_mut().filter(|span| span.ended_ns == i64::MAX) {
            if watched.iter().all(|one| one.number != span.number) {
                span.ended_ns = now_ns;
            }
        }
        for one in watched {
            if self.spans.iter().any(|span| span.number == one.number) {
                continue;
            }
            let target = targets.iter().find(|target| target.name == one.plan.name).expect("asked for");
            self.spans.push(Span {
                number: one.number,
                name: target.name.clone(),
                period_ns: target.period_ms as i64 * 1_000_000,
                posix: target.posix,
                replacements: target.replacements,
                faults: faults.to_vec(),
                from_ns: now_ns,
                ended_ns: i64::MAX,
                blocked_ns: 0,
            });
            self.watched.push(one);
        }
    }

    /// Nothing is watched any more.
    pub fn ends(&mut self, now_ns: i64, blocked_ns: u64) {
        for span in &mut self.spans {
            span.ended_ns = span.ended_ns.min(now_ns);
            span.blocked_ns = blocked_ns as i64;
        }
    }
}

/// A log that takes its time; how long in all.
#[derive(Clone, Default)]
pub struct SlowLog {
    each_ns: Arc<AtomicU64>,
    blocked_ns: Arc<AtomicU64>,
}

pub struct World {
    pub seed: u64,
    random: Random,
    pub root: PathBuf,
    pub targets: Vec<Target>,
    pub disk: FaultyDisk,
    long: bool,
    pub wall_ns: i64,
    seen: Seen,
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }
}

impl World {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::stream(seed, "schedule");
        let memory = Path::new("/dev/shm");
        let base = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let root = base.join(format!("iosonde-simulation-{:016x}", fresh()));
        let long = seed.is_multiple_of(LONG);
        let (count, periods) = if long { (1, &[1][..]) } else { (1 + random.below(2), &PERIODS_MS[..]) };
        let mut targets: Vec<Target> = (0..count).map(|i| target(&root, i, periods, &mut random)).collect();
        targets.iter_mut().for_each(|target| target.posix &= !long);
        let disk = FaultyDisk::new(seed, ROOMY);
        let (wall_ns, seen) = (1_790_000_000_000_000_000, Seen::default());
        Self { seed, random, root, targets, disk, long, wall_ns, seen }
    }

    pub fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// Some lives with trouble, then one without, after which everything must be in order.
    pub fn live(mut self) -> Seen {
        if self.long {
            self.one_life();
        } else {
            for _ in 0..1 + self.random.below(3) {
                self.one_life();
            }
        }
        self.last_life();
        std::mem::take(&mut self.seen)
    }

    /// Nothing but the seed decides.
    pub fn keeping(mut self) -> Self {
        self.targets.iter_mut().for_each(|target| target.posix = false);
        self
    }

    /// One target of a usual kind, of which nothing but the seed decides.
    pub fn steady(mut self) -> Self {
        self.long = false;
        let mut random = Random::stream(self.seed, "steady");
        let target = target(&self.root, 0, &[40], &mut random);
        self.targets = vec![Target { posix: false, ..target }];
        self
    }

    pub fn samples_of_one_life(mut self) -> Vec<Sample> {
        self.one_life();
        check::rows(&self.store(), None)
    }

    pub fn config(&self, targets: &[Target], faults: &str, flush_ms: u64) -> Config {
        let mut text = format!(
            "store = '{}'\nseed = {}\nhost = 'h'\nwindow = '{}s'\nflush = '{flush_ms}ms'\nkeep = {{ free = 0 }}\n",
            self.store().display(),
            self.seed,
            if self.long { 1 } else { 10 },
        );
        for target in targets {
            let backend = if target.posix { "posix" } else { "null" };
            let _ = write!(
                text,
                "[[target]]\nname = '{}'\npath = '{}'\nbackend = '{backend}'\nperiod = '{}ms'\n{}\n{faults}",
                target.name,
                target.path.display(),
                target.period_ms,
                target.options,
            );
        }
        Config::from_toml(&text, "schedule").expect("a valid configuration")
    }

    fn one_life(&mut self) {
        let spells = if self.long {
            faults::long_hang(3, 100 + self.random.below(10) as i64)
        } else {
            faults::some(&mut self.random)
        };
        let faults = faults::toml(&spells);
        // The fastest target decides how long a life may be.
        let fastest_ms = self.targets.iter().map(|target| target.period_ms).min().unwrap_or(1);
        // Each round looks at a whole window: with thousands of ticks in it, many rounds would take minutes.
        let seldom = if self.long { 2 } else { u64::from(fastest_ms < 20) };
        let flush_ms = FLUSHES_MS[(seldom + self.random.below(6 - seldom)) as usize];
        let longest_s = (TICKS * fastest_ms / 1000).clamp(3, 63);
        let length_s =
            if self.long { 106 + self.random.below(20) } else { 3 + self.random.below(longest_s - 2) };
        let context =
            format!("IOSONDE_SEED={}, {length_s} s, flush {flush_ms} ms, faults:\n{faults}", self.seed);
        let mut life = Life::new(context, flush_ms);
        (life.killed, life.disk_trouble) = (self.random.below(3) == 0, self.disk_in_trouble());
        let clock = SimClock::new(self.wall_ns);
        let (log, mut targets) = (SlowLog::default(), self.targets.clone());
        let mut simulation = self.begin(self.config(&targets, &faults, flush_ms), &clock, &log);
        let view = Arc::clone(simulation.view());
        life.watches(&view, &targets, &spells, clock.wall_ns());
        for second in 1..=length_s {
            simulation.run_until(SECOND + second * SECOND);
            self.mischief(&clock, &log, &mut life);
            if self.random.below(25) == 0 && !self.long {
                self.change(&mut targets, second);
                let now_ns = clock.wall_ns();
                let config = self.config(&targets, &faults, flush_ms);
                simulation.reload(&config).expect("it is reloaded");
                life.watches(&view, &targets, &spells, now_ns);
                self.seen.reloads += 1;
            }
        }
        // The middle of nowhere.
        simulation.run_until(SECOND + length_s * SECOND + self.random.below(SECOND));
        life.ends(clock.wall_ns(), log.blocked_ns.load(Relaxed));
        self.wall_ns = clock.wall_ns() + self.random.below(100 * SECOND) as i64 + 1;
        let health = view.health.clone().expect("there is a store");
        if life.killed {
            drop(simulation);
            check::tear(&self.store(), &view.run_id, &mut self.random);
        } else {
            simulation.finish();
        }
        let rows = check::life(self, &life, &view, &health);
        self.seen.lived(&life, rows, &health, spells.iter().any(Spell::hangs), self.long);
    }

    pub fn begin(&self, config: Config, clock: &SimClock, log: &SlowLog) -> Simulation {
        let (log, slow, seed) = (log.clone(), clock.clone(), self.seed);
        let on_note = Box::new(move |note: iosonde_probe::probe::collector::Note<'_>| {
            let each_ns = log.each_ns.load(Relaxed);
            slow.advance(each_ns);
            let blocked_ns = log.blocked_ns.fetch_add(each_ns, Relaxed);
            assert!(blocked_ns < MOST_BLOCKED_NS, "IOSONDE_SEED={seed}, notes without end: {note:?}");
        });
        Simulation::noted(config, clock.clone(), Box::new(self.disk.clone()), on_note).expect("it begins")
    }

    /// Targets come, go and change; those with files stay as they are.
    fn change(&mut self, targets: &mut Vec<Target>, second: u64) {
        let files = targets.iter().filter(|target| target.posix).count();
        match self.random.below(3) {
            0 if targets.len() < 3 => {
                let mut new = target(&self.root, 10 + second, &PERIODS_MS[2..], &mut self.random);
                new.posix = false;
                targets.push(new);
            }
            1 if targets.len() - files > usize::from(files == 0) => {
                let at = targets.iter().position(|target| !target.posix).expect("one without files");
                targets.remove(at);
            }
            _ => {
                let periods = [20, 50, 100, 200, 300];
                let period_ms = periods[self.random.below(5) as usize];
                targets
                    .iter_mut()
                    .filter(|target| !target.posix)
                    .for_each(|target| target.period_ms = period_ms);
            }
        }
    }

    fn mischief(&mut self, clock: &SimClock, log: &SlowLog, life: &mut Life) {
        if self.random.below(40) == 0 {
            let steps = [-3600, -5, 5, 3600, 86_400, 400 * 86_400];
            clock.step_wall(steps[self.random.below(6) as usize] * SECOND as i64);
            life.stepped = true;
            self.seen.steps += 1;
        }
        match self.random.below(40) {
            0 => {
                let room = self.random.below(20_000);
                self.disk.faults(|faults| faults.room = room);
                self.seen.full += 1;
            }
            1 => self.disk.faults(|faults| (faults.short, faults.fail, faults.errno) = (0.3, 0.1, Errno::IO)),
            2 => {
                let errno =
                    [Errno::ACCESS, Errno::ROFS, Errno::DQUOT, Errno::IO][self.random.below(4) as usize];
                self.disk.faults(|faults| (faults.fail, faults.errno) = (1.0, errno));
                self.seen.refused += 1;
            }
            3 => {
                self.disk.faults(|faults| faults.hangs = true);
                self.seen.store_hangs += 1;
            }
            4 => self.disk.faults(|faults| faults.lockless = !faults.lockless),
            5 => {
                log.each_ns.store((1 + self.random.below(40)) * SECOND / 10, Relaxed);
                self.seen.blocked += 1;
            }
            6..=13 => self.heal(log),
            _ => {}
        }
        life.disk_trouble |= self.disk_in_trouble();
    }

    fn heal(&self, log: &SlowLog) {
        log.each_ns.store(0, Relaxed);
        self.disk.faults(|faults| {
            (faults.room, faults.short, faults.fail, faults.hangs) = (ROOMY, 0.0, 0.0, false);
            faults.dies_after = None;
        });
    }

    /// What an earlier life did to the disk outlasts it.
    fn disk_in_trouble(&self) -> bool {
        self.disk.faults(|faults| {
            faults.room < ROOMY / 2 || faults.short > 0.0 || faults.fail > 0.0 || faults.hangs
        })
    }

    /// Without trouble: the pools must be whole again, and everything that waited must be written.
    pub fn last_life(&mut self) {
        let log = SlowLog::default();
        self.heal(&log);
        let clock = SimClock::new(self.wall_ns);
        let mut simulation = self.begin(self.config(&self.targets, "", 500), &clock, &log);
        let view = Arc::clone(simulation.view());
        let mut life = Life::new(format!("IOSONDE_SEED={}, the last life", self.seed), 500);
        life.watches(&view, &self.targets, &[], clock.wall_ns());
        let fast = self.targets.iter().any(|target| target.period_ms < 10);
        simulation.run_until(if fast { 3 } else { 12 } * SECOND);
        life.ends(clock.wall_ns(), 0);
        let health = view.health.clone().expect("there is a store");
        simulation.finish();
        check::life(self, &life, &view, &health);
        for target in self.targets.iter().filter(|target| target.posix) {
            check::place(target, &life.context);
        }
    }
}

/// A healthy storage's: every operation ends well within its period.
fn latency(period_ms: u64) -> String {
    let us = |usual: u64| usual * period_ms.min(100) / 100;
    format!(
        "[target.latency]\nsigma = 0.5\ndata_read = '{}us'\ndata_write = '{}us'\nmd_create = '{}us'\n\
         md_stat = '{}us'\nmd_read = '{}us'\nmd_delete = '{}us'",
        us(5000),
        us(4000),
        us(1000),
        us(200),
        us(400),
        us(600)
    )
}

fn target(root: &Path, i: u64, periods_ms: &[u64], random: &mut Random) -> Target {
    let mut pick = |from: &[u64]| from[random.below(from.len() as u64) as usize];
    let period_ms = pick(periods_ms);
    let replacements = pick(&[0, 1, 3]) as usize;
    let options = format!(
        "pool = {POOL}\nobject_size = {OBJECT_BYTES}\nblock_size = 4096\n\
         file_size = '64KiB'\ndirect = 'never'\ndeadline = '{}ms'\nretry = '{}ms'\nretry_max = '8s'\n\
         replacements = {replacements}\n{}",
        pick(&[1000, 2000, 5000]),
        pick(&[500, 2000]),
        latency(period_ms),
    );
    let posix = random.below(3) == 0;
    let path = root.join(format!("target{i}"));
    std::fs::create_dir_all(&path).expect("a folder");
    std::fs::write(path.join(STRANGER), "years of work").expect("a file");
    Target { name: format!("t{i}"), path, period_ms, posix, replacements, options }
}

impl World {
    /// One target stays, one changes, one goes, one comes: an unbroken grid for the first, no tick of the others twice.
    pub fn reload(self) {
        let target = |name: &str, period_ms: u64| {
            format!(
                "[[target]]\nname='{name}'\npath='/{name}'\nbackend='null'\nperiod='{period_ms}ms'\npool=16\n"
            )
        };
        let head =
            format!("store = '{}'\nhost = 'h'\nwindow = '10s'\nflush = '500ms'\n", self.store().display());
        let config = |targets: &[String]| {
            Config::from_toml(&(head.clone() + &targets.concat()), "reload").expect("a valid configuration")
        };
        let clock = SimClock::new(self.wall_ns);
        let before = config(&[target("goes", 100), target("stays", 100), target("changes", 100)]);
        let mut simulation = Simulation::new(before, clock, Box::new(self.disk.clone())).expect("it begins");
        simulation.run_until(11 * SECOND);
        let after = config(&[target("stays", 100), target("changes", 200), target("comes", 100)]);
        simulation.reload(&after).expect("it is reloaded");
        simulation.run_until(21 * SECOND);
        let names: Vec<String> =
            simulation.view().targets().iter().map(|target| target.plan.name.clone()).collect();
        assert_eq!(names, ["stays", "changes", "comes"]);
        simulation.finish();
        for op in Op::ALL {
            let due = check::due(&self.store(), "stays", op);
            assert!(due.windows(2).all(|pair| pair[1] - pair[0] == 100_000_000), "{}", op.name());
            assert!((198..=200).contains(&due.len()), "{}", due.len());
            for (name, least) in [("goes", 98), ("changes", 98 + 48), ("comes", 98)] {
                let due = check::due(&self.store(), name, op);
                assert!(due.windows(2).all(|pair| pair[1] > pair[0]), "{name} has a tick twice");
                assert!((least..=least + 4).contains(&due.len()), "{name}: {}", due.len());
            }
        }
    }
}
