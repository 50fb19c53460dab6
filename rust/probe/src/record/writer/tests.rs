use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::super::faulty::FaultyDisk;
use super::super::job::{BACKLOG_APPENDS, BACKLOG_ROWS};
use super::super::spool;
use super::super::spooler::SEGMENT_NS;
use super::*;
use crate::config::Keep;
use iosonde_core::sample::{Cache, Op, Outcome, Sample};

const RUN: &str = "0000000000000001";
const SECOND: i64 = 1_000_000_000;

fn header() -> spool::Header {
    spool::Header {
        schema_version: spool::SCHEMA_VERSION,
        run_id: RUN.into(),
        host: "h".into(),
        seed: 0,
        segment: 0,
        opened_ns: 0,
        targets: vec![spool::Target { name: "/t".into(), period_ns: 1, size_bytes: vec![1; 6] }],
    }
}

fn rows(n: i64) -> Vec<Sample> {
    let row = |due_ns| Sample {
        due_ns,
        began_ns: None,
        ended_ns: None,
        offset_bytes: None,
        control_runq_ns: None,
        target: 0,
        op: Op::MdStat,
        outcome: Outcome::SKIPPED,
        cache: Cache::Unknown,
    };
    (0..n).map(row).collect()
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("iosonde-writer-{name}-{}", iosonde_core::seed::fresh()))
}

fn setup(root: &Path) -> Setup {
    Setup::new(root.to_owned(), "h".into(), header())
}

fn faulty(root: &Path, disk: &FaultyDisk) -> Writer {
    Writer::inline(Setup { disk: Box::new(disk.clone()), ..setup(root) })
}

fn send_rows(writer: &Writer, n: i64, now_ns: i64) {
    writer.send(Job::Rows { samples: rows(n), now_ns });
}

fn segment(root: &Path, number: u32) -> Vec<Sample> {
    let path = root.join("spool/h").join(spool::stem(RUN, number)).with_extension("spool");
    spool::read(&path, 0).map(|chunk| chunk.samples).unwrap_or_default()
}

#[test]
fn segments_turn_over_with_the_hour() {
    let root = folder("hour");
    let writer = Writer::inline(setup(&root));
    send_rows(&writer, 3, SEGMENT_NS - 1);
    let mut samples = rows(2);
    samples[0].due_ns = SEGMENT_NS;
    writer.send(Job::Rows { samples, now_ns: SEGMENT_NS });
    // What was due before the hour ended goes where the rest of the hour is, though it came after it.
    assert_eq!((segment(&root, 0).len(), segment(&root, 1).len()), (4, 1));
    send_rows(&writer, 1, SEGMENT_NS + 1);
    assert_eq!((segment(&root, 0).len(), segment(&root, 1).len()), (4, 2));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_limit_of_size_holds_within_the_hour() {
    let root = folder("size");
    let keep = Keep { max_bytes: Some(1 << 20), min_free_bytes: 0, ..Keep::default() };
    let writer = Writer::inline(Setup { keep, ..setup(&root) });
    let bytes = || {
        let files = std::fs::read_dir(root.join("spool/h")).unwrap();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>()
    };
    let mut most = 0;
    for second in 0..60 {
        send_rows(&writer, 3_000, second * SECOND);
        most = most.max(bytes());
    }
    assert!(most > 1 << 19 && most <= (1 << 20) + (1 << 18), "{most}");
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn rows_wait_while_the_store_cannot_take_them() {
    let root = folder("blocked");
    std::fs::write(&root, "a file where the folder should be").unwrap();
    let writer = Writer::inline(setup(&root));
    send_rows(&writer, 4, 0);
    assert_eq!(writer.health().rows_waiting.load(Ordering::Relaxed), 4);
    assert!(writer.health().last_error().is_some());
    std::fs::remove_file(&root).unwrap();
    send_rows(&writer, 0, 1);
    assert_eq!(writer.health().rows_written.load(Ordering::Relaxed), 4);
    assert_eq!(writer.health().rows_waiting.load(Ordering::Relaxed), 0);
    assert_eq!(writer.health().last_error(), None);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn only_a_bounded_number_of_rows_waits() {
    let root = folder("bounded");
    std::fs::write(&root, "in the way").unwrap();
    let writer = Writer::inline(setup(&root));
    send_rows(&writer, BACKLOG_ROWS as i64, 0);
    send_rows(&writer, 7, 0);
    let health = writer.finish();
    assert_eq!(health.rows_dropped.load(Ordering::Relaxed), 7);
    assert_eq!(health.rows_waiting.load(Ordering::Relaxed), BACKLOG_ROWS as u64);
    std::fs::remove_file(root).unwrap();
}

#[test]
fn the_inbox_of_a_writer_that_hangs_is_bounded_too() {
    let (health, mut inbox) = (Health::default(), Inbox::default());
    for i in 0..300 {
        inbox.push(Job::Rows { samples: rows(1000), now_ns: i }, &health);
    }
    let kept: usize = inbox.rows.iter().map(|(_, rows)| rows.len()).sum();
    assert_eq!(kept, BACKLOG_ROWS);
    assert_eq!(health.rows_dropped.load(Ordering::Relaxed), 100_000);
    for i in 0..BACKLOG_APPENDS + 5 {
        inbox.push(Job::Line { path: "f".into(), text: i.to_string() }, &health);
        inbox.push(Job::Replace { path: "r".into(), bytes: vec![0] }, &health);
    }
    assert_eq!((inbox.appends.len(), inbox.replacements.len()), (BACKLOG_APPENDS, 1));
    assert_eq!(health.appends_dropped.load(Ordering::Relaxed), 5);
}

#[test]
fn lines_and_frames_wait_in_order_and_replacements_as_the_newest() {
    let root = folder("order");
    std::fs::create_dir_all(&root).unwrap();
    let disk = FaultyDisk::new(1, u64::MAX / 2);
    let writer = faulty(&root, &disk);
    let (line, state) = (root.join("events/h/x.jsonl"), root.join("state/h/t.json"));
    disk.faults(|faults| faults.fail = 1.0);
    for i in 0..5 {
        writer.send(Job::Line { path: line.clone(), text: format!("{i}\n") });
        writer.send(Job::Replace { path: state.clone(), bytes: vec![b'0' + i] });
    }
    assert!(!line.exists() && !state.exists());
    assert_eq!(writer.health().appends_waiting.load(Ordering::Relaxed), 5);
    disk.faults(|faults| faults.fail = 0.0);
    send_rows(&writer, 0, 1);
    assert_eq!(std::fs::read_to_string(&line).unwrap(), "0\n1\n2\n3\n4\n");
    assert_eq!(std::fs::read(&state).unwrap(), b"4");
    assert_eq!(writer.health().last_error(), None);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_line_after_a_torn_one_spoils_nothing() {
    let root = folder("torn");
    std::fs::create_dir_all(&root).unwrap();
    let path = root.join("x.jsonl");
    std::fs::write(&path, "{\"a\":1}\n{\"b").unwrap();
    let writer = Writer::inline(setup(&root));
    writer.send(Job::Line { path: path.clone(), text: "{\"c\":3}".into() });
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"a\":1}\n{\"b\n{\"c\":3}\n");
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_disk_that_fails_and_cuts_short_loses_and_doubles_nothing() {
    let seed = iosonde_core::seed::fresh();
    println!("seed {seed}");
    let root = folder("short");
    std::fs::create_dir_all(&root).unwrap();
    let disk = FaultyDisk::new(seed, u64::MAX / 2);
    let writer = faulty(&root, &disk);
    let (line, frame) = (root.join("x.jsonl"), root.join("x.windows"));
    disk.faults(|faults| (faults.short, faults.fail) = (0.6, 0.2));
    for i in 0..400 {
        let mut samples = rows(3);
        samples.iter_mut().for_each(|row| row.due_ns += 3 * i);
        writer.send(Job::Rows { samples, now_ns: i * SECOND });
        writer.send(Job::Line { path: line.clone(), text: format!("{i:040}\n") });
        writer.send(Job::Frame {
            path: frame.clone(),
            head: b"HEAD".into(),
            payload: i.to_le_bytes().into(),
        });
    }
    disk.faults(|faults| (faults.short, faults.fail) = (0.0, 0.0));
    send_rows(&writer, 0, 401 * SECOND);
    writer.finish();
    let due: Vec<i64> = (0..9).flat_map(|n| segment(&root, n)).map(|row| row.due_ns).collect();
    assert_eq!(due, (0..1200).collect::<Vec<_>>(), "seed {seed}");
    let text = std::fs::read_to_string(&line).unwrap();
    let lines: Vec<i64> = text.lines().filter(|l| !l.is_empty()).map(|l| l.parse().unwrap()).collect();
    assert_eq!(lines, (0..400).collect::<Vec<_>>(), "seed {seed}");
    let bytes = std::fs::read(&frame).unwrap();
    let mut frames = super::super::frames::Frames::new(bytes.strip_prefix(b"HEAD").unwrap(), 0);
    let numbers: Vec<i64> = frames.by_ref().map(|p| i64::from_le_bytes(p.try_into().unwrap())).collect();
    assert_eq!((numbers, frames.torn()), ((0..400).collect(), None), "seed {seed}");
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn without_any_job_the_waiting_rows_go_out() {
    let root = folder("idle");
    std::fs::write(&root, "in the way").unwrap();
    let writer = Writer::start(setup(&root)).unwrap();
    send_rows(&writer, 5, SECOND);
    let health = Arc::clone(writer.health());
    while health.errors.load(Ordering::Relaxed) == 0 {
        std::thread::yield_now();
    }
    std::fs::remove_file(&root).unwrap();
    // No further job: the writer looks around by itself.
    while health.rows_written.load(Ordering::Relaxed) < 5 {
        std::thread::yield_now();
    }
    assert_eq!(segment(&root, 0).len(), 5);
    writer.finish();
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn every_refusal_has_its_kind_and_a_count_that_moves_until_all_is_written() {
    use super::super::refusal::Kind;
    use rustix::io::Errno;
    let kinds = [
        (Errno::ACCESS, Kind::Denied),
        (Errno::ROFS, Kind::ReadOnly),
        (Errno::DQUOT, Kind::Quota),
        (Errno::NOSPC, Kind::Full),
        (Errno::IO, Kind::Device),
        (Errno::STALE, Kind::Away),
        (Errno::NOTDIR, Kind::InTheWay),
        (Errno::BADMSG, Kind::Other),
    ];
    let root = folder("kinds");
    std::fs::create_dir_all(&root).unwrap();
    for (i, (errno, kind)) in kinds.into_iter().enumerate() {
        let disk = FaultyDisk::new(1, u64::MAX / 2);
        let writer = faulty(&root.join(i.to_string()), &disk);
        let at = |second: i64| {
            send_rows(&writer, 1, second * SECOND);
            writer.health().refusal()
        };
        assert_eq!(at(1), None);
        disk.faults(|faults| (faults.fail, faults.errno) = (1.0, errno));
        let seen = [at(2), at(3), at(4)].map(|refusal| refusal.expect("it refuses"));
        assert_eq!(seen.each_ref().map(|refusal| (refusal.kind, refusal.since_ns)), [(kind, 2 * SECOND); 3]);
        assert!(seen[0].count < seen[1].count && seen[1].count < seen[2].count, "{seen:?}");
        let said = errno.to_string();
        assert!(seen[2].text.contains(kind.remedy()) && seen[2].text.contains("spool/h"), "{said} {seen:?}");
        disk.faults(|faults| faults.fail = 0.0);
        assert_eq!(at(5), None);
        assert_eq!(writer.health().rows_written.load(Ordering::Relaxed), 5);
        // The next trouble is counted from its beginning.
        disk.faults(|faults| faults.fail = 1.0);
        assert_eq!(at(6).map(|refusal| (refusal.count, refusal.since_ns)), Some((seen[0].count, 6 * SECOND)));
    }
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_store_without_locks_takes_rows_and_says_so() {
    let root = folder("lockless");
    let disk = FaultyDisk::new(1, u64::MAX / 2);
    disk.faults(|faults| faults.lockless = true);
    let writer = faulty(&root, &disk);
    send_rows(&writer, 4, 0);
    assert_eq!((segment(&root, 0).len(), writer.health().last_error()), (4, None));
    assert!(writer.health().is_unlocked());
    disk.faults(|faults| faults.lockless = false);
    let mut samples = rows(2);
    samples.iter_mut().for_each(|row| row.due_ns += SEGMENT_NS);
    writer.send(Job::Rows { samples, now_ns: SEGMENT_NS + 1 });
    assert!(!writer.health().is_unlocked());
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn a_store_that_hangs_for_a_while_gets_what_waited_in_order() {
    let root = folder("hangs");
    let disk = FaultyDisk::new(1, u64::MAX / 2);
    let writer = faulty(&root, &disk);
    disk.faults(|faults| faults.hangs = true);
    for i in 0..5 {
        send_rows(&writer, 2, i);
    }
    assert_eq!(writer.health().rows_waiting.load(Ordering::Relaxed), 10);
    disk.faults(|faults| faults.hangs = false);
    send_rows(&writer, 0, 6);
    assert_eq!((segment(&root, 0).len(), writer.health().rows_waiting.load(Ordering::Relaxed)), (10, 0));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn rows_reach_the_device_within_a_minute_though_no_more_come() {
    let root = folder("sync");
    std::fs::create_dir_all(&root).unwrap();
    let disk = FaultyDisk::new(1, u64::MAX / 2);
    let writer = faulty(&root, &disk);
    let syncs = || disk.faults(|faults| faults.syncs);
    send_rows(&writer, 3, SECOND);
    writer.send(Job::Line { path: root.join("x.jsonl"), text: "{}".into() });
    send_rows(&writer, 0, 60 * SECOND);
    assert_eq!(syncs(), 0);
    send_rows(&writer, 0, 61 * SECOND);
    assert_eq!(syncs(), 3, "the segment, its folder, the line");
    send_rows(&writer, 0, 200 * SECOND);
    assert_eq!(syncs(), 3, "nothing new");
    writer.finish();
    assert_eq!(syncs(), 3);
    std::fs::remove_dir_all(root).unwrap();
}
