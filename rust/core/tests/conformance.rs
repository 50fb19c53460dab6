//! One suite for every backend. What a backend cannot do is said in its case, not skipped in a test.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use iosonde_core::backend::faulty::Faulty;
use iosonde_core::backend::null::{Latency, Null};
use iosonde_core::backend::posix::{Access, PosixDirectory, PosixFile};
use iosonde_core::backend::{Backend, BlockFile, ObjectName};
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::seed::{Random, fresh};
use rustix::io::Errno;

const SIZE: usize = 3901;
const BLOCK: usize = 4096;

/// One backend under test.
struct Case {
    name: &'static str,
    objects: Box<dyn Backend>,
    blocks: Box<dyn BlockFile>,
    /// Whether what was written can be read back, and what was deleted is gone.
    stores: bool,
    folder: PathBuf,
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn cases() -> Vec<Case> {
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let null = || Null::new(Arc::clone(&clock), Latency::default(), SIZE as u64, Random::stream(1, "null"));
    let posix = || {
        let folder = std::env::temp_dir().join(format!("iosonde-conformance-{}", fresh()));
        std::fs::create_dir(&folder).expect("a folder");
        let directory = OwnedFd::from(std::fs::File::open(&folder).expect("it opens"));
        let big = folder.join("big");
        let file =
            std::fs::File::options().create_new(true).read(true).write(true).open(big).expect("a file");
        file.set_len(16 * BLOCK as u64).expect("room");
        (PosixDirectory::new(directory), PosixFile::new(file.into(), Access::Buffered), folder)
    };
    let faulty = |inner| Faulty::new(inner, Arc::clone(&clock), 0, Vec::new());
    let (objects, blocks, folder) = posix();
    let plain =
        Case { name: "posix", objects: Box::new(objects), blocks: Box::new(blocks), stores: true, folder };
    let (objects, blocks, folder) = posix();
    let wrapped = Case {
        name: "faulty over posix",
        objects: Box::new(faulty(objects)),
        blocks: Box::new(Faulty::new(blocks, Arc::clone(&clock), 0, Vec::new())),
        stores: true,
        folder,
    };
    let nothing = Case {
        name: "null",
        objects: Box::new(null()),
        blocks: Box::new(null()),
        stores: false,
        folder: PathBuf::new(),
    };
    vec![plain, wrapped, nothing]
}

fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Random::stream(seed, "conformance").fill(&mut bytes);
    bytes
}

#[test]
fn an_object_lives_from_create_to_delete() {
    for mut case in cases() {
        let (name, written) = (ObjectName::new(7), content(7, SIZE));
        assert_eq!(case.objects.create(&name, &written), Ok(()), "{}", case.name);
        assert_eq!(case.objects.stat(&name), Ok(SIZE as u64), "{}", case.name);
        let mut read = vec![0; SIZE];
        assert_eq!(case.objects.read(&name, &mut read), Ok(SIZE), "{}", case.name);
        assert!(!case.stores || read == written, "{}", case.name);
        assert_eq!(case.objects.delete(&name), Ok(()), "{}", case.name);
    }
}

#[test]
fn what_does_not_exist_says_so() {
    for mut case in cases().into_iter().filter(|case| case.stores) {
        let name = ObjectName::new(1);
        assert_eq!(case.objects.stat(&name), Err(Errno::NOENT), "{}", case.name);
        assert_eq!(case.objects.read(&name, &mut [0; 8]), Err(Errno::NOENT), "{}", case.name);
        assert_eq!(case.objects.delete(&name), Err(Errno::NOENT), "{}", case.name);
    }
}

#[test]
fn creating_twice_is_an_error_and_changes_nothing() {
    for mut case in cases().into_iter().filter(|case| case.stores) {
        let (name, first) = (ObjectName::new(2), content(2, SIZE));
        case.objects.create(&name, &first).unwrap();
        assert_eq!(case.objects.create(&name, &content(3, SIZE)), Err(Errno::EXIST), "{}", case.name);
        let mut read = vec![0; SIZE];
        case.objects.read(&name, &mut read).unwrap();
        assert!(read == first, "{}", case.name);
    }
}

#[test]
fn a_short_object_reads_short() {
    for mut case in cases().into_iter().filter(|case| case.stores) {
        let name = ObjectName::new(4);
        case.objects.create(&name, b"short").unwrap();
        assert_eq!(case.objects.read(&name, &mut [0; 64]), Ok(5), "{}", case.name);
        assert_eq!(case.objects.stat(&name), Ok(5), "{}", case.name);
    }
}

#[test]
fn blocks_come_back_where_they_were_written() {
    for mut case in cases() {
        for k in [3_u64, 0, 15, 3] {
            let written = content(k, BLOCK);
            assert_eq!(case.blocks.write_at(k * BLOCK as u64, &written), Ok(BLOCK), "{}", case.name);
            case.blocks.forget(k * BLOCK as u64, BLOCK);
            let mut read = vec![0; BLOCK];
            assert_eq!(case.blocks.read_at(k * BLOCK as u64, &mut read), Ok(BLOCK), "{}", case.name);
            assert!(!case.stores || read == written, "{} block {k}", case.name);
        }
    }
}

#[test]
fn reading_past_the_end_is_short_and_no_error() {
    for mut case in cases().into_iter().filter(|case| case.stores) {
        let mut read = vec![0; BLOCK];
        assert_eq!(case.blocks.read_at(15 * BLOCK as u64 + 100, &mut read), Ok(BLOCK - 100), "{}", case.name);
        assert_eq!(case.blocks.read_at(16 * BLOCK as u64, &mut read), Ok(0), "{}", case.name);
    }
}
