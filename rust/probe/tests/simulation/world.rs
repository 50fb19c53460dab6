//! One schedule: targets, faults, lives that end well or by a kill, from one seed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use iosonde_core::clock::{Clock, SimClock};
use iosonde_core::sample::{Op, Sample};
use iosonde_core::seed::{Random, fresh};
use iosonde_probe::config::Config;
use iosonde_probe::probe::simulate::Simulation;
use iosonde_probe::record::faulty::FaultyDisk;
use rustix::io::Errno;

use crate::check;

const SECOND: u64 = 1_000_000_000;
/// A disk that is never full.
const ROOMY: u64 = 1 << 40;
pub const POOL: usize = 16;
pub const OBJECT_BYTES: u64 = 100;
pub const STRANGER: &str = "somebody-elses.txt";

/// What the schedules met, so that a run cannot be lucky without saying so.
#[derive(Debug, Default)]
pub struct Seen {
    lives: u64,
    kills: u64,
    hangs: u64,
    steps: u64,
    full: u64,
    rows: u64,
    files_dropped: u64,
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Self) {
        self.lives += other.lives;
        self.kills += other.kills;
        self.hangs += other.hangs;
        self.steps += other.steps;
        self.full += other.full;
        self.rows += other.rows;
        self.files_dropped += other.files_dropped;
    }
}

impl Seen {
    pub fn is_rich(&self) -> bool {
        [self.kills, self.hangs, self.steps, self.full].iter().all(|&met| met > 100) && self.rows > 100_000
    }
}

/// One target of a schedule.
pub struct Target {
    pub name: String,
    pub path: PathBuf,
    pub period_ns: u64,
    pub posix: bool,
    options: String,
}

/// What one life was like.
pub struct Life {
    pub context: String,
    pub killed: bool,
    pub stepped: bool,
    pub disk_trouble: bool,
    /// Ops that may have been slow or stuck, by target.
    pub troubled: Vec<[bool; 6]>,
    pub ended_ns: i64,
    pub flush_ns: u64,
}

pub struct World {
    pub seed: u64,
    random: Random,
    pub root: PathBuf,
    pub targets: Vec<Target>,
    disk: FaultyDisk,
    wall_ns: i64,
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
        let targets = (0..1 + random.below(2)).map(|i| target(&root, i, &mut random)).collect();
        let disk = FaultyDisk::new(seed, ROOMY);
        Self { seed, random, root, targets, disk, wall_ns: 1_790_000_000_000_000_000, seen: Seen::default() }
    }

    pub fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// Some lives with trouble, then one without, after which everything must be in order.
    pub fn live(mut self) -> Seen {
        for _ in 0..1 + self.random.below(3) {
            self.one_life();
        }
        self.last_life();
        std::mem::take(&mut self.seen)
    }

    /// Nothing but the seed decides.
    pub fn keeping(mut self) -> Self {
        self.targets.iter_mut().for_each(|target| target.posix = false);
        self
    }

    pub fn samples_of_one_life(mut self) -> Vec<Sample> {
        self.one_life();
        check::rows(&self.store(), None)
    }

    fn config(&self, faults: &str, flush_ms: u64) -> Config {
        let mut text = format!(
            "store = '{}'\nseed = {}\nhost = 'h'\nwindow = '10s'\nflush = '{flush_ms}ms'\nkeep = {{ free = 0 }}\n",
            self.store().display(),
            self.seed
        );
        for target in &self.targets {
            let backend = if target.posix { "posix" } else { "null" };
            let _ = write!(
                text,
                "[[target]]\nname = '{}'\npath = '{}'\nbackend = '{backend}'\n{}\n{}",
                target.name,
                target.path.display(),
                target.options,
                faults.replace("TARGET", &target.name)
            );
        }
        Config::from_toml(&text, "schedule").expect("a valid configuration")
    }

    fn one_life(&mut self) {
        let (faults, troubled, hangs) = faults(&mut self.random);
        let flush_ms = [200, 1000, 2000][self.random.below(3) as usize];
        let clock = SimClock::new(self.wall_ns);
        let config = self.config(&faults, flush_ms);
        let mut simulation =
            Simulation::new(config, clock.clone(), Box::new(self.disk.clone())).expect("it begins");
        let view = std::sync::Arc::clone(simulation.view());
        let length_s = 3 + self.random.below(60);
        let mut life = Life {
            context: format!("IOSONDE_SEED={}, {length_s} s, faults:\n{faults}", self.seed),
            killed: self.random.below(3) == 0,
            stepped: false,
            disk_trouble: self.disk_in_trouble(),
            troubled: vec![troubled; self.targets.len()],
            ended_ns: 0,
            flush_ns: flush_ms * 1_000_000,
        };
        for second in 1..=length_s {
            simulation.run_until(SECOND + second * SECOND);
            self.mischief(&clock, &mut life);
        }
        // The middle of nowhere.
        simulation.run_until(SECOND + length_s * SECOND + self.random.below(SECOND));
        life.ended_ns = clock.wall_ns();
        self.wall_ns = clock.wall_ns() + self.random.below(100 * SECOND) as i64 + 1;
        let health = view.health.clone().expect("there is a store");
        if life.killed {
            drop(simulation);
            check::tear(&self.store(), &view.run_id, &mut self.random);
        } else {
            simulation.finish();
        }
        self.seen.lives += 1;
        self.seen.kills += u64::from(life.killed);
        self.seen.hangs += u64::from(hangs);
        let rows = check::life(self, &life, &view, &health);
        self.seen.rows += rows;
        self.seen.files_dropped += health.files_dropped.load(std::sync::atomic::Ordering::Relaxed);
    }

    fn mischief(&mut self, clock: &SimClock, life: &mut Life) {
        if self.random.below(40) == 0 {
            let steps = [-3600, -5, 5, 3600, 86_400];
            clock.step_wall(steps[self.random.below(5) as usize] * SECOND as i64);
            life.stepped = true;
            self.seen.steps += 1;
        }
        match self.random.below(30) {
            0 => {
                let room = self.random.below(20_000);
                self.disk.faults(|faults| faults.room = room);
                life.disk_trouble = true;
                self.seen.full += 1;
            }
            1 => {
                self.disk.faults(|faults| (faults.short, faults.fail, faults.errno) = (0.3, 0.1, Errno::IO));
                life.disk_trouble = true;
            }
            2..=7 => self.heal(),
            _ => {}
        }
    }

    fn heal(&self) {
        self.disk.faults(|faults| (faults.room, faults.short, faults.fail) = (ROOMY, 0.0, 0.0));
    }

    /// What an earlier life did to the disk outlasts it.
    fn disk_in_trouble(&self) -> bool {
        self.disk.faults(|faults| faults.room < ROOMY / 2 || faults.short > 0.0 || faults.fail > 0.0)
    }

    /// Without trouble: the pools must be whole again, and everything that waited must be written.
    fn last_life(&mut self) {
        self.heal();
        let clock = SimClock::new(self.wall_ns);
        let mut simulation =
            Simulation::new(self.config("", 500), clock.clone(), Box::new(self.disk.clone()))
                .expect("it begins");
        let view = std::sync::Arc::clone(simulation.view());
        simulation.run_until(12 * SECOND);
        let health = view.health.clone().expect("there is a store");
        let life = Life {
            context: format!("IOSONDE_SEED={}, the last life", self.seed),
            killed: false,
            stepped: false,
            disk_trouble: false,
            troubled: vec![[false; 6]; self.targets.len()],
            ended_ns: clock.wall_ns(),
            flush_ns: SECOND / 2,
        };
        simulation.finish();
        check::life(self, &life, &view, &health);
        for target in self.targets.iter().filter(|target| target.posix) {
            check::place(target, &life.context);
        }
    }
}

fn target(root: &Path, i: u64, random: &mut Random) -> Target {
    let mut pick = |from: &[u64]| from[random.below(from.len() as u64) as usize];
    let period_ms = pick(&[50, 100, 200, 500]);
    let options = format!(
        "period = '{period_ms}ms'\npool = {POOL}\nobject_size = {OBJECT_BYTES}\nblock_size = 4096\n\
         file_size = '64KiB'\ndirect = 'never'\ndeadline = '{}ms'\nretry = '{}ms'\nretry_max = '8s'\n\
         replacements = {}\n[target.latency]\nsigma = 0.5\ndata_read = '5ms'\ndata_write = '4ms'\n\
         md_create = '1ms'\nmd_stat = '200us'\nmd_read = '400us'\nmd_delete = '600us'",
        pick(&[1000, 2000, 5000]),
        pick(&[500, 2000]),
        pick(&[0, 1, 3])
    );
    let posix = random.below(3) == 0;
    let path = root.join(format!("target{i}"));
    std::fs::create_dir_all(&path).expect("a folder");
    std::fs::write(path.join(STRANGER), "years of work").expect("a file");
    Target { name: format!("t{i}"), path, period_ns: period_ms * 1_000_000, posix, options }
}

/// Faults for every target; which ops they may make slow; whether one hangs.
fn faults(random: &mut Random) -> (String, [bool; 6], bool) {
    let kinds = ["hang = true", "delay = '700ms'", "multiply = 300.0", "error = 'EIO'", "error = 'ESTALE'"];
    let mut text = String::new();
    let mut troubled = [false; 6];
    let mut hangs = false;
    for _ in 0..random.below(5) {
        let kind = kinds[random.below(5) as usize];
        let (after, lasts) = (random.below(50), 1 + random.below(40));
        let op = random.below(7) as usize;
        let named = Op::NAMES.get(op).map_or(String::new(), |name| format!("op = '{name}'\n"));
        let _ = write!(text, "[[target.fault]]\n{named}after = '{after}s'\nfor = '{lasts}s'\n{kind}\n");
        if !kind.starts_with("error") {
            troubled.iter_mut().enumerate().for_each(|(i, slow)| *slow |= op == 6 || op == i);
        }
        hangs |= kind.starts_with("hang");
    }
    (text, troubled, hangs)
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
