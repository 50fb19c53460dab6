//! Segments and files of windows that somebody damaged, from a printed seed: no panic, no memory beyond the input's,
//! and not one row that does not come from a frame whose checksum was right.
//!
//! `IOSONDE_FUZZ_SEED` replays a run, `IOSONDE_FUZZ_INPUTS` sets how many inputs are tried.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use iosonde_core::sample::{Op, Sample};
use iosonde_core::seed::{Random, fresh};
use iosonde_core::slowdown::window::ClosedWindow;
use iosonde_probe::record::frames::encode;
use iosonde_probe::record::{spool, windows};

/// Bytes that reading may take per byte of input, and beside.
const PER_BYTE: usize = 16;
const BESIDE: usize = 4 << 10;

/// Counts what the current thread has allocated at its height.
struct Counting;

thread_local! {
    static NOW: Cell<usize> = const { Cell::new(0) };
    static HEIGHT: Cell<usize> = const { Cell::new(0) };
}

fn grown(by: usize) {
    let _ = NOW.try_with(|now| {
        now.set(now.get().wrapping_add(by));
        let _ = HEIGHT.try_with(|height| height.set(height.get().max(now.get())));
    });
}

fn shrunk(by: usize) {
    let _ = NOW.try_with(|now| now.set(now.get().saturating_sub(by)));
}

// SAFETY: every call is passed on to the system's allocator as it is; the counters are plain thread-local cells.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        shrunk(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The height of allocation during `work`, beyond what there was.
fn height_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = NOW.with(Cell::get);
    HEIGHT.with(|height| height.set(before));
    let done = work();
    (done, HEIGHT.with(Cell::get).saturating_sub(before))
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// A file as it should be: magic, header, frames.
struct Good {
    magic: [u8; 8],
    header: Vec<u8>,
    payloads: Vec<Vec<u8>>,
}

impl Good {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.magic.to_vec();
        bytes.extend(encode(&self.header));
        self.payloads.iter().for_each(|payload| bytes.extend(encode(payload)));
        bytes
    }
}

fn segment(random: &mut Random) -> Good {
    let targets = 1 + random.below(3);
    let target = |i| spool::Target { name: format!("/t{i}"), period_ns: 1, size_bytes: vec![1; 6] };
    let header = spool::Header {
        schema_version: spool::SCHEMA_VERSION,
        run_id: format!("{:016x}", random.bits()),
        host: "h".into(),
        seed: random.bits() >> 11,
        segment: 0,
        opened_ns: 1,
        targets: (0..targets).map(target).collect(),
    };
    let payloads = (0..random.below(5)).map(|_| {
        let mut payload = vec![0; spool::ROW * (1 + random.below(6) as usize)];
        random.fill(&mut payload);
        for row in payload.chunks_exact_mut(spool::ROW) {
            row[40..44].copy_from_slice(&[random.below(targets) as u8, 0, 0, 0]);
            row[44..48].copy_from_slice(&[random.below(6) as u8, random.below(5) as u8, 0, 0]);
        }
        payload
    });
    let payloads = payloads.collect();
    Good { magic: *spool::MAGIC, header: serde_json::to_vec(&header).expect("a header"), payloads }
}

fn window(random: &mut Random) -> ClosedWindow {
    let value = |random: &mut Random| (random.below(3) > 0).then(|| random.bits() as i64 >> random.below(60));
    ClosedWindow {
        op: Op::ALL[random.below(6) as usize],
        start_ns: random.below(1 << 60) as i64,
        n_due: 60 + random.below(10),
        n_seen: random.below(60),
        mean_ns: (random.below(2) > 0).then(|| random.unit()),
        values_ns: std::array::from_fn(|_| value(random)),
    }
}

fn month(random: &mut Random) -> Good {
    let header = windows::Header {
        schema_version: windows::SCHEMA_VERSION,
        host: "h".into(),
        target: "/t".into(),
        period_ns: 1,
        window_ns: 60,
    };
    let payloads = (0..random.below(5)).map(|_| {
        let some: Vec<ClosedWindow> = (0..=random.below(6)).map(|_| window(random)).collect();
        windows::encode(&some)
    });
    let payloads = payloads.collect();
    Good { magic: *windows::MAGIC, header: serde_json::to_vec(&header).expect("a header"), payloads }
}

/// Change the parts, then seal them with right checksums: a hostile writer.
fn mutate_parts(good: &mut Good, random: &mut Random) {
    let part = random.below(good.payloads.len() as u64 + 1) as usize;
    let part = if part == 0 { &mut good.header } else { &mut good.payloads[part - 1] };
    mutate_bytes(part, random);
    if random.below(4) == 0 {
        let text = String::from_utf8_lossy(&good.header).into_owned();
        let words = ["-1", "1e999", "99999999999999999999", "null", "[]", "{}", "\"\"", "[[[[[[[[", "true"];
        let (from, to) =
            (["1", ":", "\"", "[", "h"][random.below(5) as usize], words[random.below(9) as usize]);
        good.header = text.replacen(from, to, 1 + random.below(3) as usize).into_bytes();
    }
    // A frame holds something, or its writer would have refused.
    good.payloads.retain(|payload| !payload.is_empty());
    if good.header.is_empty() {
        good.header.push(b' ');
    }
}

/// Change bytes without knowing what they mean.
fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let length = bytes.len() as u64;
        let at = random.below(length + 1) as usize;
        match random.below(8) {
            0 => bytes.truncate(at),
            1 | 2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 => {
                let end = at + random.below(length + 1 - at as u64) as usize;
                let piece: Vec<u8> = bytes[at..end].to_vec();
                let to = random.below(length + 1) as usize;
                bytes.splice(to..to, piece);
            }
            4 => {
                let huge = [u32::MAX, 0, 1, 64 << 20, (64 << 20) + 1, 0x7fff_ffff][random.below(6) as usize];
                let at = at.min(bytes.len().saturating_sub(4));
                for (place, byte) in bytes[at..].iter_mut().zip(huge.to_le_bytes()) {
                    *place = byte;
                }
            }
            5 => {
                let end = at + random.below((length + 1 - at as u64).min(64)) as usize;
                bytes.drain(at..end);
            }
            6 => {
                let mut noise = vec![0; random.below(64) as usize];
                random.fill(&mut noise);
                bytes.splice(at..at, noise);
            }
            _ => bytes.extend(std::iter::repeat_n(0, random.below(80) as usize)),
        }
    }
}

/// Payloads of the frames behind the header whose checksums are right, found without the code under test.
fn believable(bytes: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = bytes.get(8..).unwrap_or(&[]);
    while let Some((head, behind)) = rest.split_first_chunk::<8>() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let checksum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let Some(payload) = behind.get(..length).filter(|payload| !payload.is_empty()) else { break };
        if crc32fast::hash(payload) != checksum {
            break;
        }
        found.push(payload);
        rest = &behind[length..];
    }
    found
}

fn check_segment(bytes: &[u8], context: &str) {
    let (chunk, height) = height_of(|| spool::parse(bytes, 0));
    assert!(height <= PER_BYTE * bytes.len() + BESIDE, "{context}: {height} bytes for {}", bytes.len());
    let _ = spool::parse(bytes, bytes.len() as u64 / 2);
    let Ok(chunk) = chunk else { return };
    let frames = believable(bytes);
    let due: Vec<i64> = frames[1..]
        .iter()
        .flat_map(|payload| payload.chunks_exact(spool::ROW))
        .map(|row| i64::from_le_bytes(row[..8].try_into().expect("8 bytes")))
        .collect();
    // Rows whose op or target is none are left out; the others come in the order of the file.
    let mut behind = due.iter();
    for row in &chunk.samples {
        assert!(behind.any(|&due_ns| due_ns == row.due_ns), "{context}: a row from nowhere");
        assert!(usize::from(row.target) < chunk.header.targets.len(), "{context}: a target from nowhere");
    }
    assert!(chunk.next_offset <= bytes.len() as u64, "{context}");
    assert_eq!(chunk.torn.is_none(), chunk.next_offset == bytes.len() as u64, "{context}");
}

fn check_windows(bytes: &[u8], context: &str) {
    let mut found = 0;
    let mut take = |window: ClosedWindow| {
        assert!(window.n_seen <= window.n_due, "{context}");
        found += 1;
    };
    let (read, height) = height_of(|| windows::each(bytes, i64::MIN, i64::MAX, &mut take));
    assert!(height <= PER_BYTE * bytes.len() + BESIDE, "{context}: {height} bytes for {}", bytes.len());
    let _ = windows::header_of(bytes);
    let inside = |window: ClosedWindow| assert!((5..1 << 59).contains(&window.start_ns), "{context}");
    let _ = windows::each(bytes, 5, 1 << 59, &mut { inside });
    let Ok(read) = read else { return };
    let frames = believable(bytes);
    let room: usize = frames[1..].iter().map(|payload| payload.len() / 8).sum();
    assert!(found <= room, "{context}: more windows than their frames can hold");
    assert!(read.good <= bytes.len(), "{context}");
    assert!(read.torn.is_some() || read.good == bytes.len(), "{context}");
}

#[test]
fn damaged_files_give_good_rows_or_none() {
    let seed = number("IOSONDE_FUZZ_SEED").unwrap_or_else(fresh);
    let inputs = number("IOSONDE_FUZZ_INPUTS").unwrap_or(200_000);
    println!("IOSONDE_FUZZ_SEED={seed} IOSONDE_FUZZ_INPUTS={inputs}");
    let mut random = Random::stream(seed, "fuzz");
    for input in 0..inputs {
        let windows = input % 2 == 1;
        let mut good = if windows { month(&mut random) } else { segment(&mut random) };
        if random.below(3) == 0 {
            mutate_parts(&mut good, &mut random);
        }
        let mut bytes = good.bytes();
        if random.below(4) > 0 {
            mutate_bytes(&mut bytes, &mut random);
        }
        let context = format!("seed {seed}, input {input}");
        if windows { check_windows(&bytes, &context) } else { check_segment(&bytes, &context) }
    }
    println!("mischief: kind=mutated-frames tried={inputs} violations=0 seed={seed}");
}

#[test]
fn a_torn_tail_loses_only_the_torn_frame() {
    let seed = number("IOSONDE_FUZZ_SEED").unwrap_or_else(fresh);
    println!("IOSONDE_FUZZ_SEED={seed}");
    let mut random = Random::stream(seed, "tails");
    for _ in 0..60 {
        let (rows, month) = (segment(&mut random), month(&mut random));
        for (good, is_rows) in [(rows, true), (month, false)] {
            let bytes = good.bytes();
            let begin = 8 + encode(&good.header).len();
            for cut in begin..=bytes.len() {
                let mut end = begin;
                let whole = good.payloads.iter().take_while(|payload| {
                    end += encode(payload).len();
                    end <= cut
                });
                let whole: Vec<&Vec<u8>> = whole.collect();
                let read = if is_rows { rows_of(&bytes[..cut]) } else { windows_of(&bytes[..cut]) };
                let expected: usize = if is_rows {
                    whole.iter().map(|payload| payload.len() / spool::ROW).sum()
                } else {
                    let kept = Good { payloads: whole.into_iter().cloned().collect(), ..good_head(&good) };
                    windows_of(&kept.bytes())
                };
                assert_eq!(read, expected, "seed {seed}, cut at {cut} of {}", bytes.len());
            }
        }
    }
}

fn good_head(good: &Good) -> Good {
    Good { magic: good.magic, header: good.header.clone(), payloads: Vec::new() }
}

fn rows_of(bytes: &[u8]) -> usize {
    spool::parse(bytes, 0).expect("a whole header").samples.iter().map(|_: &Sample| 1).sum()
}

fn windows_of(bytes: &[u8]) -> usize {
    let mut found = 0;
    windows::each(bytes, i64::MIN, i64::MAX, &mut |_| found += 1).expect("a whole header");
    found
}
