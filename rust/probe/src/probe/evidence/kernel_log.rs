//! Lines of the kernel log that complain about the storage of one target, or about one thread: read from `/dev/kmsg`, and what
//! the target lies on from `/proc/self/mountinfo` and `/sys/dev/block`, never from the target.

use std::collections::VecDeque;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Lines of the kernel log that are kept.
const LINES: usize = 8;
/// Phrases that a kernel writes when storage does not answer.
const COMPLAINTS: [&str; 10] = [
    "not responding",
    "blocked for more than",
    "I/O error",
    "timed out",
    "still trying",
    "LustreError",
    "connection lost",
    "Connection to",
    "mds0",
    "osd",
];
/// File systems whose kernel lines name no server of the mount: whatever they say begins like this.
const CLUSTERS: [(&str, &[&str]); 2] = [("ceph", &["ceph:", "libceph:"]), ("gpfs", &["mmfs", "GPFS"])];

/// Kernel names of a target's storage, and of the threads that wait for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// Devices, servers, names of file systems, `name:number` of threads: whole words of a line.
    words: Vec<String>,
    /// Or how its lines begin.
    begins: Vec<String>,
}

impl Subject {
    /// The file system that `mount` is the mount point of, or that `path` lies on by its name, and these threads.
    pub fn of(path: &Path, mount: Option<&Path>, threads: &[u32]) -> Self {
        let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let above = |number: &str| {
            let link = std::fs::read_link(Path::new("/sys/dev/block").join(number)).ok();
            link.map_or(Vec::new(), |link| devices(&link))
        };
        let mut subject = Self::in_table(&table, mount.unwrap_or(path), &above);
        subject.words.extend(threads.iter().map(|thread| format!("task iosonde-worker:{thread}")));
        subject.words.extend(threads.iter().map(|thread| format!(":{thread} blocked")));
        subject
    }

    /// Parses the last mount of the longest mount point above `path`. `above`: block devices behind a device number.
    fn in_table(table: &str, path: &Path, above: &dyn Fn(&str) -> Vec<String>) -> Self {
        let mounts = table.lines().filter_map(Mount::parse).filter(|mount| path.starts_with(&mount.point));
        let Some(mount) = mounts.max_by_key(|mount| Path::new(&mount.point).components().count()) else {
            return Self::default();
        };
        let mut words = above(mount.number);
        match mount.source.rsplit_once(":/") {
            // `10.0.0.1@tcp:/work` of Lustre, whose lines speak of `work-OST0001`; of NFS the server.
            Some((_, name)) if mount.kind == "lustre" => words.push(name.to_owned()),
            Some((server, _)) => words.push(server.trim_matches(['[', ']']).to_owned()),
            None => words.extend(mount.source.strip_prefix("/dev/").map(str::to_owned)),
        }
        words.retain(|word| !word.is_empty());
        let begins =
            CLUSTERS.iter().find(|(kind, _)| *kind == mount.kind).map_or(&[][..], |(_, begins)| begins);
        Self { words, begins: begins.iter().map(|&begin| begin.to_owned()).collect() }
    }

    fn is_in(&self, line: &str) -> bool {
        self.begins.iter().any(|begin| line.starts_with(begin.as_str()))
            || self.words.iter().any(|word| has_word(line, word))
    }
}

/// True if the line has the word whole, not as a part of a longer one: `sda` is not `sda1`.
fn has_word(line: &str, word: &str) -> bool {
    let part = |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let begins = !part(before) || !part(word.chars().next());
        begins && !part(line[at + word.len()..].chars().next())
    })
}

/// `../../devices/.../block/sda/sda1`: `sda` and `sda1`.
fn devices(link: &Path) -> Vec<String> {
    let names = link.iter().map(|name| name.to_string_lossy().into_owned());
    names.skip_while(|name| name != "block").skip(1).collect()
}

/// A line of `mountinfo`.
struct Mount<'a> {
    number: &'a str,
    point: String,
    kind: &'a str,
    source: String,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (head, tail) = line.split_once(" - ")?;
        let mut head = head.split(' ');
        let (number, point) = (head.nth(2)?, head.nth(1)?);
        let mut tail = tail.split(' ');
        let (kind, source) = (tail.next()?, tail.next()?);
        Some(Self { number, point: plain(point), kind, source: plain(source) })
    }
}

/// Blanks of a path are written as octal numbers.
fn plain(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, blank)| text.replace(code, blank))
}

/// The last lines of the kernel log that complain about a subject, not older than asked.
pub fn complaints(subject: &Subject, since_boot_ns: u64) -> Vec<String> {
    let open = std::fs::File::options().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
    let Ok(mut log) = open else { return Vec::new() };
    let mut found = VecDeque::new();
    let mut record = [0_u8; 8192];
    // One record a read; the kernel's ring holds some thousands.
    for _ in 0..100_000 {
        let n = match log.read(&mut record) {
            Ok(0) => break,
            Ok(n) => n,
            // Overwritten while we read: go on with the next.
            Err(error) if error.raw_os_error() == Some(libc::EPIPE) => continue,
            Err(_) => break,
        };
        let record = String::from_utf8_lossy(&record[..n]);
        let Some(line) = complaint(&record, subject, since_boot_ns) else { continue };
        found.push_back(line);
        if found.len() > LINES {
            found.pop_front();
        }
    }
    found.into()
}

/// `priority,number,microseconds,flags;text` as a line, if it is young enough and complains about the subject.
fn complaint(record: &str, subject: &Subject, since_boot_ns: u64) -> Option<String> {
    let (head, text) = record.split_once(';')?;
    let micros: u64 = head.split(',').nth(2)?.parse().ok()?;
    let text = text.lines().next()?;
    let speaks = COMPLAINTS.iter().any(|words| text.contains(words)) && subject.is_in(text);
    (speaks && micros.saturating_mul(1000) >= since_boot_ns)
        .then(|| format!("[{}.{:06}] {text}", micros / 1_000_000, micros % 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 7:5 / /scratch\\040a rw - ext4 /dev/loop5 rw
41 22 0:50 / /home rw - nfs4 filer.site:/export/home rw
42 22 0:51 / /work rw - lustre 10.0.0.1@tcp:10.0.0.2@tcp:/workfs rw
43 22 0:52 / /ceph rw - ceph 10.0.0.9:6789:/ rw
44 22 0:53 / /mnt/fuse rw - fuse.bindfs /src rw";

    fn subject(path: &str) -> Subject {
        let above = |number: &str| match number {
            "8:1" => vec!["sda".to_owned(), "sda1".to_owned()],
            "7:5" => vec!["loop5".to_owned()],
            _ => Vec::new(),
        };
        Subject::in_table(TABLE, Path::new(path), &above)
    }

    #[test]
    fn only_young_lines_about_the_own_storage() {
        let lines = [
            "I/O error, dev loop5, sector 8",
            "I/O error, dev loop50, sector 8",
            "I/O error, dev sda, sector 8",
            "nfs: server filer.site not responding, still trying",
            "nfs: server other.site not responding, still trying",
            "LustreError: 11-0: workfs-OST0001-osc-ff00: operation ost_read failed: rc = -5",
            "LustreError: 11-0: homefs-OST0001-osc-ff00: operation ost_read failed: rc = -5",
            "libceph: osd3 (1)10.0.0.9:6801 socket closed",
        ];
        let about = |path: &str| {
            let subject = subject(path);
            let found = |line: &&str| {
                complaint(&format!("4,1,5000000,-;{line}\n SUBSYSTEM=x"), &subject, 1).is_some()
            };
            lines.iter().enumerate().filter(|(_, line)| found(line)).map(|(i, _)| i).collect::<Vec<_>>()
        };
        assert_eq!(about("/scratch a/x"), [0]);
        assert_eq!(about("/var"), [2]);
        assert_eq!(about("/home/u"), [3]);
        assert_eq!(about("/work"), [5]);
        assert_eq!(about("/ceph"), [7]);
        assert_eq!(about("/mnt/fuse"), [0_usize; 0]);
    }

    #[test]
    fn a_line_about_the_own_thread_counts_and_an_old_one_never() {
        let subject = Subject::of(Path::new("/nowhere"), None, &[4711]);
        let line = "3,9,5000000,-;INFO: task iosonde-worker:4711 blocked for more than 120 seconds.";
        let said =
            Some("[5.000000] INFO: task iosonde-worker:4711 blocked for more than 120 seconds.".to_owned());
        assert_eq!(complaint(line, &subject, 5_000_000_000), said);
        assert_eq!(complaint(line, &subject, 5_000_001_000), None);
        assert_eq!(complaint(&line.replace("4711", "47110"), &subject, 0), None);
        assert_eq!(complaint("garbage", &subject, 0), None);
    }

    #[test]
    fn devices_of_a_link_are_the_disk_and_its_part() {
        let link = Path::new("../../devices/pci0000:00/ata1/host0/block/sda/sda1");
        assert_eq!(devices(link), ["sda", "sda1"]);
        assert_eq!(devices(Path::new("../../devices/virtual/block/dm-3")), ["dm-3"]);
    }
}
