//! What must hold after a life, whatever happened in it.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use iosonde_core::sample::{Op, Outcome, Sample};
use iosonde_core::seed::Random;
use iosonde_probe::probe::view::{View, Watched};
use iosonde_probe::record::health::Health;
use iosonde_probe::record::spool;

use crate::faults::troubled;
use crate::model::Span;
use crate::world::{Life, OBJECT_BYTES, POOL, STRANGER, Target, World};

const SECOND: i64 = 1_000_000_000;

fn segments(store: &Path, run_id: Option<&str>) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(store.join("spool/h")) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    let named = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).unwrap_or("").to_owned();
    paths.retain(|path| run_id.is_none_or(|run| named(path).starts_with(run)));
    paths.sort();
    paths
}

/// Every row of a run, or of all.
pub fn rows(store: &Path, run_id: Option<&str>) -> Vec<Sample> {
    let read = |path: &PathBuf| spool::read(path, 0).expect("a readable segment").samples;
    segments(store, run_id).iter().flat_map(read).collect()
}

/// A kill in the middle of a write: the newest segment ends in the beginning of a frame.
pub fn tear(store: &Path, run_id: &str, random: &mut Random) {
    let Some(path) = segments(store, Some(run_id)).pop() else { return };
    let mut torn = vec![0_u8; random.below(200) as usize];
    random.fill(&mut torn);
    if let Some(first) = torn.first_mut() {
        *first = 0xff;
    }
    let mut file = std::fs::File::options().append(true).open(path).expect("it opens");
    file.write_all(&torn).expect("it is written");
}

/// Check a life; returns how many rows it left.
pub fn life(world: &World, life: &Life, view: &View, health: &Health) -> u64 {
    let context = &life.context;
    let flushed = health.rows_written.load(Relaxed);
    let samples = rows(&world.store(), Some(&view.run_id));
    if health.files_dropped.load(Relaxed) == 0 {
        assert_eq!(samples.len() as u64, flushed, "a flushed row is lost or there twice: {context}");
    } else {
        assert!(samples.len() as u64 <= flushed, "a row is there twice: {context}");
    }
    let of = |target: &Arc<Watched>| {
        target.accounts().iter().map(|a| a.totals.counts.iter().sum::<u64>()).sum::<u64>()
    };
    let counted: u64 = life.watched.iter().map(of).sum();
    let known = flushed + health.rows_waiting.load(Relaxed) + health.rows_dropped.load(Relaxed);
    if !life.killed {
        assert_eq!(counted, known, "counted otherwise than written: {context}");
    }
    let mut series: HashMap<(u16, Op), Vec<&Sample>> = HashMap::new();
    for sample in &samples {
        sound(sample, context);
        series.entry((sample.target, sample.op)).or_default().push(sample);
    }
    series.values_mut().for_each(|rows| rows.sort_by_key(|row| row.due_ns));
    let there = health.files_dropped.load(Relaxed) == 0 && health.rows_dropped.load(Relaxed) == 0;
    for span in life.spans.iter().filter(|_| !life.stepped && there) {
        let start_ns = series.get(&(span.number, Op::DataRead)).map(|rows| rows[0].due_ns);
        for op in Op::ALL {
            let what = format!("{} {}: {context}", span.name, op.name());
            let rows = series.remove(&(span.number, op)).unwrap_or_default();
            grid(&rows, span, life, health, op, &what);
            let whole = !life.killed && health.rows_waiting.load(Relaxed) == 0;
            if let Some(start_ns) = start_ns.filter(|_| whole) {
                span.check(op, start_ns, &rows, &what);
            }
        }
    }
    world.targets.iter().for_each(|target| strangers(target, context));
    samples.len() as u64
}

fn sound(sample: &Sample, what: &str) {
    if sample.began_ns.is_none() {
        let unbegun = matches!(sample.outcome, Outcome::SKIPPED | Outcome::SHED)
            || sample.outcome.kind() == "error" && sample.ended_ns.is_none();
        assert!(unbegun, "{what}: {sample:?}");
    }
    assert!(sample.response_ns().is_none_or(|response| response >= 0), "{what}: {sample:?}");
    assert!(sample.service_ns().is_none_or(|service| service >= 0), "{what}: {sample:?}");
}

/// No tick twice; after a kill an unbroken grid up to the last flush, unless rows of hangs were still owed.
fn grid(rows: &[&Sample], span: &Span, life: &Life, health: &Health, op: Op, what: &str) {
    for pair in rows.windows(2) {
        assert_ne!(pair[0].due_ns, pair[1].due_ns, "a tick twice: {pair:?} {what}");
        assert_eq!((pair[1].due_ns - pair[0].due_ns) % span.period_ns, 0, "off the grid: {what}");
    }
    let waiting = health.rows_waiting.load(Relaxed) > 0;
    if !life.killed || waiting || life.disk_trouble || span.blocked_ns > 0 || troubled(&span.faults, op) {
        return;
    }
    for pair in rows.windows(2) {
        let step = pair[1].due_ns - pair[0].due_ns;
        assert_eq!(step, span.period_ns, "ticks without a row before {}: {what}", pair[1].due_ns);
    }
    let last = rows.last().map_or(span.from_ns, |row| row.due_ns);
    let late =
        life.flush_ns as i64 + 600_000_000 + 2 * span.period_ns + if rows.is_empty() { SECOND } else { 0 };
    assert!(span.ended_ns - last <= late, "the last {} ns are missing: {what}", span.ended_ns - last);
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// Nothing outside the marked directory was made, changed or deleted.
fn strangers(target: &Target, context: &str) {
    let stranger = std::fs::read_to_string(target.path.join(STRANGER));
    assert_eq!(stranger.expect("it is still there"), "years of work", "{context}");
    let others: Vec<String> = names(&target.path)
        .into_iter()
        .filter(|name| name != STRANGER && !name.starts_with(".iosonde-"))
        .collect();
    assert!(others.is_empty(), "{others:?}: {context}");
    let Ok(uid) = std::fs::read_dir(&target.path).map(|_| rustix::process::geteuid().as_raw()) else {
        return;
    };
    let pool = target.path.join(format!(".iosonde-{uid}/h/pool-{OBJECT_BYTES}"));
    if pool.is_dir() {
        let stranger = pool.join(STRANGER);
        if stranger.exists() {
            assert_eq!(std::fs::read_to_string(&stranger).expect("readable"), "mine too", "{context}");
        } else {
            std::fs::write(stranger, "mine too").expect("a file");
        }
    }
}

/// After a life without trouble: whole files, the right number of them, nothing left over.
pub fn place(target: &Target, context: &str) {
    let uid = rustix::process::geteuid().as_raw();
    let place = target.path.join(format!(".iosonde-{uid}/h"));
    let pool = format!("pool-{OBJECT_BYTES}");
    let expected = ["MARK", "data", "lock", &pool].map(str::to_owned);
    assert_eq!(names(&place), expected.into(), "{context}");
    let files: Vec<PathBuf> = std::fs::read_dir(place.join(pool))
        .expect("a pool")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| !path.ends_with(STRANGER))
        .collect();
    assert!((POOL..=POOL + 1).contains(&files.len()), "{} files in the pool: {context}", files.len());
    let whole = |path: &PathBuf| std::fs::metadata(path).expect("it is there").len() == OBJECT_BYTES;
    assert!(files.iter().all(whole), "half-made files: {context}");
}

/// Due times of one op of a target by name, ascending.
pub fn due(store: &Path, target: &str, op: Op) -> Vec<i64> {
    let mut due = Vec::new();
    for path in segments(store, None) {
        let chunk = spool::read(&path, 0).expect("a readable segment");
        let named = |sample: &&Sample| chunk.header.targets[usize::from(sample.target)].name == target;
        due.extend(chunk.samples.iter().filter(named).filter(|sample| sample.op == op).map(|s| s.due_ns));
    }
    due.sort_unstable();
    due
}
