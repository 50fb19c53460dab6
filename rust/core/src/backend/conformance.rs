//! Conformance suite of all backends: requirements on an [`ObjectStore`], as named checks.
//!
//! What a backend cannot do is said by its [`Capabilities`](super::store::Capabilities); the checks hold it to
//! that, both ways. Every check begins on an empty root and leaves none.

use rustix::io::Errno;

use super::store::{Manner, ObjectStore, SetId};
use super::{Backend, ObjectName};
use crate::seed::Random;

const SIZE: usize = 3901;
const SET: SetId = SetId { rank: 3, set: 1 };
/// More entries than one page of any known listing.
const MANY: u64 = 1003;

/// Opens the place under test, as another rank would.
pub type Connect<'a> = dyn FnMut() -> Result<Box<dyn ObjectStore>, String> + 'a;
/// Puts a foreign object in place of the root (`true`), or removes it.
pub type Stranger<'a> = dyn FnMut(bool) -> Result<(), String> + 'a;
/// Name of a check and its failure.
pub type Verdict = (&'static str, Result<(), String>);

type Check = fn(&mut dyn ObjectStore, &mut dyn ObjectStore) -> Result<(), String>;

const CHECKS: [(&str, Check); 14] = [
    ("two ranks begin, and find what the other keeps", two_begin),
    ("a data set is made once and found", sets_are_found),
    ("a data set that does not exist says so", no_such_set),
    ("an object lives from create to delete", life),
    ("what does not exist says so", no_such_object),
    ("creating twice is an error and changes nothing", create_twice),
    ("a short object reads short", short),
    ("a long object fills a short buffer", long),
    ("an empty object is one", empty),
    ("content comes back unchanged", content_is_kept),
    ("a listing follows create and delete", list_follows),
    ("more than a thousand objects are listed", list_many),
    ("a data set that is not empty is not removed", remove_full),
    ("sets do not share objects", sets_are_apart),
];

/// Run every check, without that of a foreign object if none can be put.
pub fn run(connect: &mut Connect<'_>, stranger: Option<&mut Stranger<'_>>) -> Vec<Verdict> {
    let mut verdicts = vec![("end leaves nothing behind", end_leaves_nothing(connect))];
    for (name, check) in CHECKS {
        verdicts.push((name, on_empty_root(connect, check)));
    }
    if let Some(stranger) = stranger {
        verdicts.push(("what somebody else put there is left alone", strangers_are_left(connect, stranger)));
    }
    verdicts
}

fn want<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}: expected {wanted:?}, got {got:?}")) }
}

/// Name the failed call.
trait Named<T> {
    fn named(self, what: &str) -> Result<T, String>;
}

impl<T> Named<T> for Result<T, Errno> {
    fn named(self, what: &str) -> Result<T, String> {
        self.map_err(|errno| format!("{what}: {errno:?}"))
    }
}

fn on_empty_root(connect: &mut Connect<'_>, check: Check) -> Result<(), String> {
    let (mut one, mut other) = (connect()?, connect()?);
    one.begin().named("begin")?;
    let checked = check(one.as_mut(), other.as_mut()).map_err(|what| match one.problem() {
        Some(said) => format!("{what} (it last said: {said})"),
        None => what,
    });
    let cleaned = clean(one.as_mut());
    checked.and(cleaned)
}

fn clean(store: &mut dyn ObjectStore) -> Result<(), String> {
    for set in store.sets().named("sets")? {
        let mut objects = store.open_set(set, Manner::default()).named("open_set")?;
        for id in store.list_set(set).named("list_set")? {
            objects.delete(&ObjectName::new(id)).named("delete")?;
        }
        store.remove_set(set).named("remove_set")?;
    }
    store.end().named("end")
}

fn content(seed: u64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Random::stream(seed, "conformance").fill(&mut bytes);
    bytes
}

fn open(store: &mut dyn ObjectStore, set: SetId) -> Result<Box<dyn Backend>, String> {
    store.make_set(set).named("make_set")?;
    store.open_set(set, Manner::default()).named("open_set")
}

fn sorted(store: &mut dyn ObjectStore, set: SetId) -> Result<Vec<u64>, String> {
    let mut ids = store.list_set(set).named("list_set")?;
    ids.sort_unstable();
    Ok(ids)
}

fn end_leaves_nothing(connect: &mut Connect<'_>) -> Result<(), String> {
    let mut store = connect()?;
    store.begin().named("begin")?;
    store.set_note("of the first").named("set_note")?;
    drop(open(store.as_mut(), SET)?);
    if store.capabilities().stores {
        want("end with a data set left", store.end(), Err(Errno::NOTEMPTY))?;
        want("sets after that", store.sets(), Ok(vec![SET]))?;
    }
    clean(store.as_mut())?;
    store.end().named("end, a second time")?;
    let mut later = connect()?;
    later.begin().named("begin again")?;
    want("note of a new root", later.note(), Ok(None))?;
    want("sets of a new root", later.sets(), Ok(Vec::new()))?;
    later.end().named("end")
}

fn strangers_are_left(connect: &mut Connect<'_>, stranger: &mut Stranger<'_>) -> Result<(), String> {
    stranger(true)?;
    let mut store = connect()?;
    let refused = want("begin beside a stranger", store.begin(), Err(Errno::EXIST));
    let said = store.problem();
    stranger(false)?;
    refused?;
    if said.is_none() {
        return Err("it refused and did not say why".into());
    }
    store.begin().named("begin after it left")?;
    store.end().named("end")
}

fn two_begin(one: &mut dyn ObjectStore, other: &mut dyn ObjectStore) -> Result<(), String> {
    other.begin().named("the other's begin")?;
    one.begin().named("begin, a second time")?;
    one.lock().named("lock")?;
    match other.lock() {
        Ok(()) | Err(Errno::BUSY) => {}
        Err(errno) => return Err(format!("the other's lock: expected EBUSY if anything, got {errno:?}")),
    }
    want("a note before there is one", one.note(), Ok(None))?;
    for text in ["{\"first\": 1}", "second, with \"quotes\" and ü"] {
        one.set_note(text).named("set_note")?;
        if one.capabilities().stores {
            want("the note the other finds", other.note(), Ok(Some(text.into())))?;
        }
    }
    Ok(())
}

fn sets_are_found(one: &mut dyn ObjectStore, other: &mut dyn ObjectStore) -> Result<(), String> {
    let all = [SetId { rank: 0, set: 0 }, SetId { rank: 0, set: 11 }, SetId { rank: 100_000, set: 2 }];
    for set in all {
        one.make_set(set).named("make_set")?;
        one.make_set(set).named("make_set, a second time")?;
    }
    other.begin().named("the other's begin")?;
    let mut found = other.sets().named("sets")?;
    found.sort_unstable();
    if one.capabilities().stores { want("sets", found, all.to_vec()) } else { Ok(()) }
}

fn no_such_set(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    one.remove_set(SET).named("remove_set of none")?;
    if one.capabilities().stores {
        want("list_set of none", one.list_set(SET), Err(Errno::NOENT))?;
        want("open_set of none", one.open_set(SET, Manner::default()).map(|_| ()), Err(Errno::NOENT))?;
    }
    Ok(())
}

fn life(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    for id in [0, 7, u64::MAX] {
        let (name, written) = (ObjectName::new(id), content(id, SIZE));
        want("create", objects.create(&name, &written), Ok(()))?;
        want("stat", objects.stat(&name), Ok(SIZE as u64))?;
        let mut read = vec![0; SIZE];
        want("read", objects.read(&name, &mut read), Ok(SIZE))?;
        want("delete", objects.delete(&name), Ok(()))?;
    }
    Ok(())
}

fn no_such_object(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let can = one.capabilities();
    let mut objects = open(one, SET)?;
    if !can.stores {
        return Ok(());
    }
    let name = ObjectName::new(1);
    objects.create(&name, b"soon gone").named("create")?;
    objects.delete(&name).named("delete")?;
    for name in [name, ObjectName::new(2)] {
        want("stat of none", objects.stat(&name), Err(Errno::NOENT))?;
        want("read of none", objects.read(&name, &mut [0; 8]), Err(Errno::NOENT))?;
        let told = if can.delete_tells { Err(Errno::NOENT) } else { Ok(()) };
        want("delete of none", objects.delete(&name), told)?;
    }
    Ok(())
}

fn create_twice(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let can = one.capabilities();
    let mut objects = open(one, SET)?;
    let (name, first, second) = (ObjectName::new(2), content(2, SIZE), content(3, SIZE));
    objects.create(&name, &first).named("create")?;
    let told = if can.exclusive { Err(Errno::EXIST) } else { Ok(()) };
    want("create of what exists", objects.create(&name, &second), told)?;
    if !can.stores {
        return Ok(());
    }
    let mut read = vec![0; SIZE];
    want("read", objects.read(&name, &mut read), Ok(SIZE))?;
    want("it is the first", read == first, can.exclusive)?;
    want("it is the second", read == second, !can.exclusive)
}

fn short(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    let name = ObjectName::new(4);
    objects.create(&name, b"short").named("create")?;
    if !one.capabilities().stores {
        return Ok(());
    }
    let mut buffer = [1; 64];
    want("read", objects.read(&name, &mut buffer), Ok(5))?;
    want("what was read", &buffer[..6], b"short\x01".as_slice())?;
    want("stat", objects.stat(&name), Ok(5))
}

fn long(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    let (name, written) = (ObjectName::new(5), content(5, 100_000));
    objects.create(&name, &written).named("create")?;
    if !one.capabilities().stores {
        return Ok(());
    }
    for _ in 0..3 {
        let mut buffer = [0; 10];
        want("read of the beginning", objects.read(&name, &mut buffer), Ok(10))?;
        want("what was read", &buffer[..], &written[..10])?;
    }
    want("stat after that", objects.stat(&name), Ok(100_000))
}

fn empty(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    let name = ObjectName::new(6);
    objects.create(&name, b"").named("create")?;
    if one.capabilities().stores {
        want("stat", objects.stat(&name), Ok(0))?;
        want("read", objects.read(&name, &mut [0; 8]), Ok(0))?;
        want("list_set", one.list_set(SET), Ok(vec![6]))?;
    }
    objects.read(&name, &mut []).named("read into nothing")?;
    objects.delete(&name).named("delete")
}

fn content_is_kept(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    for (id, length) in [(8, 1), (9, SIZE), (10, 1 << 20)] {
        let (name, written) = (ObjectName::new(id), content(id, length));
        objects.create(&name, &written).named("create")?;
        let mut read = vec![0; length];
        want("read", objects.read(&name, &mut read), Ok(length))?;
        if one.capabilities().stores && read != written {
            return Err(format!("{length} bytes came back changed"));
        }
    }
    Ok(())
}

fn list_follows(one: &mut dyn ObjectStore, other: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    if !one.capabilities().stores {
        return Ok(());
    }
    want("an empty set", sorted(one, SET)?, vec![])?;
    for id in [1, 2, 0xffff_ffff_ffff] {
        objects.create(&ObjectName::new(id), b"x").named("create")?;
    }
    other.begin().named("the other's begin")?;
    want("after three", sorted(other, SET)?, vec![1, 2, 0xffff_ffff_ffff])?;
    objects.delete(&ObjectName::new(2)).named("delete")?;
    want("after one went", sorted(one, SET)?, vec![1, 0xffff_ffff_ffff])
}

fn list_many(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    if !one.capabilities().stores {
        return Ok(());
    }
    for id in 0..MANY {
        objects.create(&ObjectName::new(id), b"x").named("create")?;
    }
    want("all of them", sorted(one, SET)?, (0..MANY).collect())
}

fn remove_full(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let mut objects = open(one, SET)?;
    let name = ObjectName::new(1);
    objects.create(&name, b"x").named("create")?;
    if one.capabilities().stores {
        want("remove_set", one.remove_set(SET), Err(Errno::NOTEMPTY))?;
        want("stat after that", objects.stat(&name), Ok(1))?;
    }
    objects.delete(&name).named("delete")?;
    drop(objects);
    one.remove_set(SET).named("remove_set when empty")?;
    one.remove_set(SET).named("remove_set when gone")?;
    want("sets", one.sets(), Ok(vec![]))
}

fn sets_are_apart(one: &mut dyn ObjectStore, _: &mut dyn ObjectStore) -> Result<(), String> {
    let near = [SetId { rank: 1, set: 2 }, SetId { rank: 1, set: 21 }, SetId { rank: 12, set: 1 }];
    let mut opened = near.iter().map(|set| open(one, *set)).collect::<Result<Vec<_>, _>>()?;
    for (objects, bytes) in opened.iter_mut().zip([b"a".as_slice(), b"bb", b"ccc"]) {
        objects.create(&ObjectName::new(1), bytes).named("create")?;
    }
    if !one.capabilities().stores {
        return Ok(());
    }
    for (objects, bytes) in opened.iter_mut().zip(1..) {
        want("stat", objects.stat(&ObjectName::new(1)), Ok(bytes))?;
    }
    opened[0].delete(&ObjectName::new(1)).named("delete")?;
    want("the first after delete", one.list_set(near[0]), Ok(vec![]))?;
    want("the second after that", one.list_set(near[1]), Ok(vec![1]))
}
