//! One suite for every backend. What a backend cannot do is said by its capabilities, not skipped in a test.
//!
//! Stores of objects have theirs in `backend::conformance`; servers and Python backends run it in tests/services.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use iosonde_core::backend::conformance::{Stranger, run};
use iosonde_core::backend::faulty::Faulty;
use iosonde_core::backend::null::{Latency, Null, NullStore};
use iosonde_core::backend::posix::{Access, PosixDirectory, PosixFile};
use iosonde_core::backend::store::{Capabilities, Manner, ObjectStore, SetId};
use iosonde_core::backend::tree::Tree;
use iosonde_core::backend::{Backend, BlockFile, ObjectName};
use iosonde_core::clock::{Clock, RealClock};
use iosonde_core::marked::own_name;
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

/// Run the suite on a store; a stranger is a file where the tree would be.
fn check_store(name: &str, store: impl Fn() -> Box<dyn ObjectStore>, stranger: Option<PathBuf>) {
    let mut connect = || Ok(store());
    let mut put = |there: bool| {
        let Some(folder) = &stranger else { return Err("no place for it".into()) };
        let done = if there {
            std::fs::create_dir_all(folder).and_then(|()| std::fs::write(folder.join("stranger"), "mine"))
        } else {
            std::fs::remove_dir_all(folder)
        };
        done.map_err(|error| error.to_string())
    };
    let stranger: Option<&mut Stranger<'_>> = if stranger.is_some() { Some(&mut put) } else { None };
    let wrong: Vec<_> =
        run(&mut connect, stranger).into_iter().filter(|(_, verdict)| verdict.is_err()).collect();
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

#[test]
fn stores_of_objects_pass_their_suite() {
    let clock: Arc<dyn Clock> = Arc::new(RealClock);
    let null = || {
        let random = Random::stream(1, "null");
        NullStore::new(Arc::clone(&clock), Latency::default(), SIZE as u64, random)
    };
    check_store("null", || Box::new(null()), None);
    let folder = std::env::temp_dir().join(format!("iosonde-conformance-{}", fresh()));
    std::fs::create_dir(&folder).expect("a folder");
    let root = folder.join(own_name()).join("bench-metadata");
    check_store("posix", || Box::new(Tree::new(folder.clone())), Some(root));
    let left = std::fs::read_dir(&folder).expect("it is listed").flatten().map(|entry| entry.file_name());
    let left: Vec<_> = left.collect();
    std::fs::remove_dir_all(&folder).expect("it goes");
    assert!(left.is_empty() || left == [own_name().as_str()], "{left:?}");
}

/// A store that forgets every tenth object: the suite must see it.
struct Forgetful(Box<dyn ObjectStore>);

struct ForgetfulSet(Box<dyn Backend>);

impl Backend for ForgetfulSet {
    fn create(&mut self, name: &ObjectName, content: &[u8]) -> Result<(), Errno> {
        self.0.create(name, content)?;
        let forget = ObjectName::parse(name.as_c_str().to_bytes()).is_some_and(|id| id % 10 == 7);
        if forget { self.0.delete(name) } else { Ok(()) }
    }
    fn stat(&mut self, name: &ObjectName) -> Result<u64, Errno> {
        self.0.stat(name)
    }
    fn read(&mut self, name: &ObjectName, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.0.read(name, buffer)
    }
    fn delete(&mut self, name: &ObjectName) -> Result<(), Errno> {
        self.0.delete(name)
    }
}

impl ObjectStore for Forgetful {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }
    fn begin(&mut self) -> Result<(), Errno> {
        self.0.begin()
    }
    fn note(&mut self) -> Result<Option<String>, Errno> {
        self.0.note()
    }
    fn set_note(&mut self, text: &str) -> Result<(), Errno> {
        self.0.set_note(text)
    }
    fn sets(&mut self) -> Result<Vec<SetId>, Errno> {
        self.0.sets()
    }
    fn make_set(&mut self, set: SetId) -> Result<(), Errno> {
        self.0.make_set(set)
    }
    fn open_set(&mut self, set: SetId, manner: Manner) -> Result<Box<dyn Backend>, Errno> {
        Ok(Box::new(ForgetfulSet(self.0.open_set(set, manner)?)))
    }
    fn list_set(&mut self, set: SetId) -> Result<Vec<u64>, Errno> {
        self.0.list_set(set)
    }
    fn remove_set(&mut self, set: SetId) -> Result<(), Errno> {
        self.0.remove_set(set)
    }
    fn end(&mut self) -> Result<(), Errno> {
        self.0.end()
    }
}

#[test]
fn the_suite_sees_a_store_that_forgets() {
    let folder = std::env::temp_dir().join(format!("iosonde-conformance-{}", fresh()));
    std::fs::create_dir(&folder).expect("a folder");
    let mut connect = || {
        let store = Forgetful(Box::new(Tree::new(folder.clone())));
        Ok(Box::new(store) as Box<dyn ObjectStore>)
    };
    let verdicts = run(&mut connect, None);
    let _ = std::fs::remove_dir_all(&folder);
    let wrong: Vec<_> =
        verdicts.into_iter().filter(|(_, verdict)| verdict.is_err()).map(|(name, _)| name).collect();
    assert_eq!(
        wrong,
        ["an object lives from create to delete", "more than a thousand objects are listed"],
        "object 7 is the first that is forgotten"
    );
}
