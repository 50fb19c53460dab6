use super::super::disk::RealDisk;
use super::super::faulty::FaultyDisk;
use super::super::job::{Job, Setup};
use super::super::writer::Writer;
use super::*;
use iosonde_core::sample::{Cache, Op, Outcome, Sample};

const HOUR: i64 = SEGMENT_NS;
const NOTHING: Keep = Keep { max_age_ns: None, max_bytes: None, min_free_bytes: 0, windows_max_age_ns: None };
/// 2026-09-21 14:13:20 UTC.
const NOW: i64 = 1_790_000_000_000_000_000;

const THEN: Time = Time { now_ns: NOW, aged_ns: Some(NOW) };

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("iosonde-retention-{name}-{}", iosonde_core::seed::fresh()))
}

fn header(run: u32, segment: u32, opened_ns: i64) -> spool::Header {
    spool::Header {
        schema_version: spool::SCHEMA_VERSION,
        run_id: format!("{run:016x}"),
        host: "h".into(),
        seed: 0,
        segment,
        opened_ns,
        targets: vec![spool::Target { name: "/t".into(), period_ns: 1, size_bytes: vec![1; 6] }],
    }
}

/// A closed segment of about `bytes`.
fn segment(root: &Path, run: u32, number: u32, opened_ns: i64, bytes: usize) -> PathBuf {
    let folder = root.join("spool/h");
    let (mut tail, path) = spool::create(&RealDisk, &folder, &header(run, number, opened_ns)).unwrap();
    super::super::frames::append(&mut tail, &vec![0; bytes]).unwrap();
    path
}

fn file(root: &Path, at: &str, bytes: usize) -> PathBuf {
    let path = root.join(at);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, vec![1; bytes]).unwrap();
    path
}

fn check(root: &Path, keep: Keep) -> Health {
    let health = Health::default();
    Retention::new(root.to_owned(), "h".into(), keep).check(&RealDisk, &health, THEN, true).unwrap();
    health
}

fn dropped(health: &Health) -> u64 {
    health.files_dropped.load(Ordering::Relaxed)
}

#[test]
fn the_oldest_raw_samples_go_and_nothing_that_is_not_ours() {
    let root = folder("ours");
    let stem = format!("{:016x}-000000", 1);
    let old = file(&root, &format!("samples/date=2026-01-01/host=h/{stem}.parquet"), 100);
    let oldest = segment(&root, 2, 0, 0, 10);
    let kept = [
        file(&root, &format!("samples/date=2026-01-01/host=other/{stem}.parquet"), 100),
        file(&root, &format!("samples/date=2026-01-01/host=h/.{stem}.0123.parquet"), 100),
        file(&root, "samples/date=2026-01-01/host=h/notes.parquet", 100),
        file(&root, &format!("samples/2026-01-01/host=h/{stem}.parquet"), 100),
        file(&root, &format!("spool/other/{stem}.spool"), 100),
        file(&root, &format!("spool/h/{stem}.spool"), 100),
        file(&root, &format!("spool/h/{stem}.torn"), 100),
        file(&root, "spool/h/README", 100),
        file(&root, "windows/h/t.1000ms-60s.2020-01.windows", 100),
        file(&root, "events/h/2020-01.jsonl", 100),
        file(&root, "state/h/t.json", 100),
        file(&root, &format!("elsewhere/{stem}.parquet"), 100),
    ];
    std::fs::create_dir_all(root.join("samples/date=2026-01-02")).unwrap();
    std::os::unix::fs::symlink(root.join("elsewhere"), root.join("samples/date=2026-01-02/host=h")).unwrap();
    let health = check(&root, Keep { max_bytes: Some(0), ..NOTHING });
    assert!(!old.exists() && !oldest.exists());
    assert_eq!((dropped(&health), kept.iter().filter(|path| !path.exists()).count()), (2, 0));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn age_and_size_have_their_limits() {
    let root = folder("limits");
    let ages =
        [1, 30, 31, 300].map(|hours| segment(&root, 400 - hours, 0, NOW - i64::from(hours) * HOUR, 1000));
    let left = || ages.iter().filter(|path| path.exists()).count();
    check(&root, Keep { max_age_ns: Some(29 * HOUR as u64), ..NOTHING });
    assert_eq!(left(), 2, "a segment is as old as its last row");
    check(&root, Keep { max_bytes: Some(1_300), ..NOTHING });
    assert_eq!((left(), ages[0].exists()), (1, true), "the oldest goes first");
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_segment_and_its_parquet_file_go_together_and_a_locked_one_stays() {
    let root = folder("pair");
    let held = spool::create(&RealDisk, &root.join("spool/h"), &header(1, 0, 0)).unwrap();
    let twin = file(&root, "samples/date=1970-01-01/host=h/0000000000000001-000000.parquet", 50);
    let keep = Keep { max_bytes: Some(0), ..NOTHING };
    check(&root, keep);
    assert!(held.1.exists() && twin.exists());
    drop(held.0);
    assert_eq!(dropped(&check(&root, keep)), 2);
    assert!(!held.1.exists() && !twin.exists());
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn what_is_left_of_a_torn_segment_goes_with_its_parquet_file() {
    let root = folder("torn");
    let torn = [NOW - 40 * HOUR, NOW - HOUR].map(|opened_ns| {
        let path = segment(&root, 500 - (opened_ns < NOW - HOUR) as u32, 0, opened_ns, 1000);
        std::fs::rename(&path, path.with_extension("torn")).unwrap();
        path.with_extension("torn")
    });
    let stem = torn[0].file_stem().unwrap().to_str().unwrap();
    let twin = file(&root, &format!("samples/date={}/host=h/{stem}.parquet", date_of(NOW - 40 * HOUR)), 50);
    check(&root, NOTHING);
    assert!(torn[0].exists() && twin.exists());
    let health = check(&root, Keep { max_age_ns: Some(30 * HOUR as u64), ..NOTHING });
    assert!(!torn[0].exists() && !twin.exists() && torn[1].exists());
    assert_eq!(dropped(&health), 2);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn empty_folders_of_days_that_are_over_go() {
    let root = folder("empty");
    let day = |days: i64, host: &str| {
        let path = root.join(format!("samples/date={}/host={host}", date_of(NOW - days * DAY_NS)));
        std::fs::create_dir_all(&path).unwrap();
        path
    };
    let (gone, young, other) = (day(9, "h"), day(1, "h"), day(8, "other"));
    let (shared, used) = (day(7, "h"), day(6, "h"));
    std::fs::create_dir_all(shared.with_file_name("host=other")).unwrap();
    std::fs::write(used.join("notes"), "kept").unwrap();
    let strange = root.join("samples/2020-01-01");
    std::fs::create_dir(&strange).unwrap();
    check(&root, NOTHING);
    assert!(!gone.parent().unwrap().exists() && !shared.exists());
    for path in [&young, &other, &shared.with_file_name("host=other"), &used, &strange] {
        assert!(path.exists(), "{path:?}");
    }
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn kept_windows_go_by_their_own_age_only() {
    let root = folder("windows");
    let old = file(&root, "windows/h/t.1000ms-60s.2020-01.windows", 10);
    let new = file(&root, "windows/h/t.1000ms-60s.2026-09.windows", 10);
    let other = file(&root, "windows/h/t.2020-01.txt", 10);
    check(&root, Keep { max_age_ns: Some(0), max_bytes: Some(0), ..NOTHING });
    assert!(old.exists());
    check(&root, Keep { windows_max_age_ns: Some(365 * DAY_NS as u64), ..NOTHING });
    assert!(!old.exists() && new.exists() && other.exists());
    std::fs::remove_dir_all(root).unwrap();
}

fn row() -> Sample {
    Sample {
        due_ns: NOW,
        began_ns: None,
        ended_ns: None,
        offset_bytes: None,
        control_runq_ns: None,
        target: 0,
        op: Op::MdStat,
        outcome: Outcome::SKIPPED,
        cache: Cache::Unknown,
    }
}

fn writer(root: &Path, disk: &FaultyDisk, keep: Keep) -> Writer {
    let setup = Setup::new(root.to_owned(), "h".into(), header(9, 0, 0));
    Writer::inline(Setup { keep, disk: Box::new(disk.clone()), ..setup })
}

#[test]
fn on_a_full_disk_the_oldest_go_until_the_rows_fit() {
    let root = folder("full");
    let old = [1, 2, 3].map(|run| segment(&root, run, 0, NOW - 100 * HOUR, 2000));
    let window = file(&root, "windows/h/t.1000ms-60s.2020-01.windows", 5000);
    let disk = FaultyDisk::new(1, 100);
    let writer = writer(&root, &disk, NOTHING);
    writer.send(Job::Rows { samples: vec![row(); 60], now_ns: NOW });
    let health = writer.health();
    assert_eq!(health.rows_written.load(Ordering::Relaxed), 60);
    assert_eq!(old.map(|path| path.exists()), [false, false, true], "2880 bytes need two of them");
    assert!(window.exists());
    assert_eq!(health.store_full_since_ns(), Some(NOW));
    disk.faults(|faults| faults.room = 2000);
    writer.send(Job::Rows { samples: vec![row()], now_ns: NOW + 59_000_000_000 });
    assert_eq!(
        health.store_full_since_ns(),
        Some(NOW),
        "no room to speak of, and nothing refused for a minute yet"
    );
    writer.send(Job::Rows { samples: vec![row()], now_ns: NOW + 61_000_000_000 });
    assert_eq!((health.store_full_since_ns(), health.last_error()), (None, None));
    disk.faults(|faults| faults.room = 0);
    writer.send(Job::Rows { samples: vec![row(); 60], now_ns: NOW + 62_000_000_000 });
    assert_eq!(dropped(health), 3);
    writer.send(Job::Rows { samples: vec![row(); 60], now_ns: NOW + 63_000_000_000 });
    assert!(health.rows_waiting.load(Ordering::Relaxed) > 0, "nothing of ours is left to drop");
    disk.faults(|faults| faults.room = 1 << 20);
    writer.send(Job::Rows { samples: vec![], now_ns: NOW + 65_000_000_000 });
    assert_eq!(health.rows_written.load(Ordering::Relaxed), 182);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn too_little_free_space_is_made_up_for_at_once() {
    let root = folder("free");
    let old = [1, 2, 3].map(|run| segment(&root, run, 0, NOW - 100 * HOUR, 2000));
    let disk = FaultyDisk::new(1, 100_000);
    let writer = writer(&root, &disk, Keep { min_free_bytes: 50_000, ..NOTHING });
    writer.send(Job::Rows { samples: vec![row()], now_ns: NOW });
    assert_eq!(dropped(writer.health()), 0);
    disk.faults(|faults| faults.room = 47_000);
    writer.send(Job::Rows { samples: vec![row()], now_ns: NOW + 70_000_000_000 });
    assert_eq!(old.map(|path| path.exists()), [false, false, true]);
    assert_eq!(writer.health().store_full_since_ns(), Some(NOW + 70_000_000_000));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn room_that_is_not_ours_to_make_does_not_cost_everything() {
    let root = folder("fruitless");
    let old: Vec<PathBuf> = (0..30).map(|run| segment(&root, run, 0, NOW, 1 << 20)).collect();
    let disk = FaultyDisk::new(1, 1 << 30);
    disk.faults(|faults| (faults.fail, faults.errno) = (0.0, rustix::io::Errno::DQUOT));
    let health = Health::default();
    let mut retention = Retention::new(root.clone(), "h".into(), NOTHING);
    let refused: io::Result<()> =
        retention.making_room(&disk, &health, NOW, 10, &mut || Err(rustix::io::Errno::DQUOT.into()));
    assert!(refused.is_err());
    assert_eq!(old.iter().filter(|path| !path.exists()).count(), 8);
    let again: io::Result<()> =
        retention.making_room(&disk, &health, NOW + 1, 10, &mut || Err(rustix::io::Errno::DQUOT.into()));
    assert!(again.is_err());
    assert_eq!(dropped(&health), 8);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_store_is_full_no_longer_once_room_is_seen() {
    let root = folder("seen");
    for min_free_bytes in [0, 50_000] {
        let disk = FaultyDisk::new(1, 0);
        let writer =
            writer(&root.join(min_free_bytes.to_string()), &disk, Keep { min_free_bytes, ..NOTHING });
        let full_at = |second: i64| {
            writer.send(Job::Rows { samples: vec![row()], now_ns: NOW + second * 1_000_000_000 });
            writer.health().store_full_since_ns()
        };
        assert_eq!((full_at(0), full_at(2)), (Some(NOW), Some(NOW)));
        disk.faults(|faults| faults.room = 1 << 30);
        assert_eq!(full_at(4), None);
        assert_eq!(writer.health().rows_written.load(Ordering::Relaxed), 3);
    }
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn the_open_segment_counts_to_the_size_and_stays() {
    let root = folder("open");
    let old = [1, 2].map(|run| segment(&root, run, 0, NOW - 100 * HOUR, 20_000));
    let disk = FaultyDisk::new(1, 1 << 30);
    let writer = writer(&root, &disk, Keep { max_bytes: Some(60_000), ..NOTHING });
    let left = || old.iter().filter(|path| path.exists()).count();
    writer.send(Job::Rows { samples: vec![row(); 100], now_ns: NOW });
    assert_eq!(left(), 2, "5 kB are open");
    writer.send(Job::Rows { samples: vec![row(); 400], now_ns: NOW + 601_000_000_000 });
    assert_eq!(left(), 1, "24 kB are open");
    writer.send(Job::Rows { samples: vec![row(); 2000], now_ns: NOW + 1_202_000_000_000 });
    assert_eq!(left(), 0, "120 kB are open");
    assert_eq!(writer.health().rows_written.load(Ordering::Relaxed), 2500);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_clock_that_is_wrong_for_a_while_deletes_nothing() {
    let root = folder("clock");
    let ages =
        [40, 26, 20, 1].map(|hours| segment(&root, 400 - hours, 0, NOW - i64::from(hours) * HOUR, 1000));
    let left = || ages.iter().filter(|path| path.exists()).count();
    let clock = iosonde_core::clock::SimClock::new(NOW);
    let keep =
        Keep { max_age_ns: Some(24 * HOUR as u64), windows_max_age_ns: Some(30 * DAY_NS as u64), ..NOTHING };
    let window = file(&root, "windows/h/t.1000ms-60s.2026-08.windows", 5000);
    let setup = Setup::new(root.clone(), "h".into(), header(900, 0, 0));
    let writer = Writer::inline(Setup { keep, clock: std::sync::Arc::new(clock.clone()), ..setup });
    let pass = |seconds: u64| {
        for _ in 0..seconds.div_ceil(100) {
            use iosonde_core::clock::Clock;
            clock.advance(seconds.min(100) * 1_000_000_000);
            writer.send(Job::Rows { samples: vec![row()], now_ns: clock.wall_ns() });
        }
        left()
    };
    assert_eq!(pass(3000), 4, "whether the clock is right shows in an hour");
    assert_eq!(pass(1300), 2, "what is older than a day went");
    clock.step_wall(400 * DAY_NS);
    assert_eq!(pass(20), 2);
    clock.step_wall(-400 * DAY_NS);
    assert_eq!((pass(3000), pass(1500)), (2, 2));
    clock.step_wall(400 * DAY_NS);
    assert_eq!(pass(2 * 3600), 2, "hours of it age nothing by more than hours: 19 h become 24");
    assert_eq!(pass(3600), 1);
    assert!(window.exists());
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn where_locks_do_not_exist_what_was_just_written_stays() {
    let root = folder("lockless");
    let old = [1, 2].map(|run| segment(&root, run, 0, NOW - 100 * HOUR, 2000));
    let now_ns = iosonde_core::clock::Clock::wall_ns(&iosonde_core::clock::RealClock);
    let before = std::time::UNIX_EPOCH + std::time::Duration::from_nanos((now_ns - 3 * HOUR) as u64);
    std::fs::File::options().append(true).open(&old[0]).unwrap().set_modified(before).unwrap();
    let disk = FaultyDisk::new(1, 100);
    disk.faults(|faults| faults.lockless = true);
    let writer = writer(&root, &disk, NOTHING);
    writer.send(Job::Rows { samples: vec![row(); 60], now_ns: NOW });
    assert_eq!(old.map(|path| path.exists()), [false, true]);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn only_stems_of_ours_are_stems() {
    assert!(is_stem("00000000000000af-000001") && is_stem("00000000000000af-1000000"));
    for other in ["00000000000000AF-000001", "../x-000001", "00000000000000af-1", "00000000000000af", "-"] {
        assert!(!is_stem(other), "{other}");
    }
}
