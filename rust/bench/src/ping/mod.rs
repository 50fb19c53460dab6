//! A short look at a directory: the probe's six operations and a listing, on a few files of its own.
//!
//! ```text
//! DIR/.iosonde-<uid>/ping-<16 hexadecimal digits>/MARK     what made it; locked while it is in use
//!                                                 block    the file that blocks are written to
//!                                                 files/   small objects
//! ```

mod session;

use std::path::Path;
use std::sync::Arc;

use rustix::fs::{Dir, OFlags, openat};
use rustix::io::Errno;

use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::backend::posix::{Access, PosixDirectory, PosixFile};
use iosonde_core::backend::{Backend, BlockFile, ObjectName};
use iosonde_core::clock::{Clock, Laps};
use iosonde_core::marked::{FOLLOW_NOTHING, MarkedError};
use iosonde_core::seed::Random;

use session::Session;

/// Blocks of the file that is read and written.
const BLOCKS: u64 = 8;

/// What can be timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Read a block that was written.
    DataRead,
    /// Write a block.
    DataWrite,
    /// Make a new object.
    Create,
    /// Size of an object.
    Stat,
    /// Read an object.
    Read,
    /// Remove the oldest object.
    Delete,
    /// Read every name of the objects' directory, as `ls` does.
    List,
}

impl Op {
    /// As the contract spells it; `md_list` is the listing.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "data_read" => Self::DataRead,
            "data_write" => Self::DataWrite,
            "md_create" => Self::Create,
            "md_stat" => Self::Stat,
            "md_read" => Self::Read,
            "md_delete" => Self::Delete,
            "md_list" => Self::List,
            _ => return None,
        })
    }
}

/// Files of its own in a directory, and operations on them.
pub struct Ping {
    session: Session,
    clock: Arc<dyn Clock>,
    objects: PosixDirectory,
    block: PosixFile,
    access: Access,
    transfer: AlignedBuffer,
    content: Vec<u8>,
    random: Random,
    oldest: u64,
    next: u64,
    written: u64,
    at: u64,
}

impl Ping {
    /// Make its directory below `target`; directories that a killed one left there go first.
    ///
    /// Small objects have `object_bytes`, transfers `block_bytes`: a multiple of 4 KiB for O_DIRECT.
    pub fn new(
        target: &Path,
        block_bytes: usize,
        object_bytes: usize,
        seed: u64,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, MarkedError> {
        let session = Session::begin(target, seed)?;
        let (block, access) = session.block_file()?;
        let objects = PosixDirectory::new(session.objects()?);
        let mut random = Random::stream(seed, "ping");
        let mut transfer = AlignedBuffer::new(block_bytes);
        random.fill(transfer.slice_mut());
        let mut content = vec![0; object_bytes];
        random.fill(&mut content);
        let block = PosixFile::new(block, access);
        Ok(Self {
            session,
            clock,
            objects,
            block,
            access,
            transfer,
            content,
            random,
            oldest: 0,
            next: 0,
            written: 0,
            at: 0,
        })
    }

    /// How blocks reach the storage.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Objects that exist.
    pub fn objects(&self) -> u64 {
        self.next - self.oldest
    }

    /// Run one operation: how long it took (ns), and its bytes, or names for a listing.
    ///
    /// `ENODATA` where there is nothing yet to read, stat or delete.
    pub fn run(&mut self, op: Op) -> (u64, Result<u64, Errno>) {
        let block = self.random.below(BLOCKS.min(self.written.max(1)));
        let object = ObjectName::new(match op {
            Op::Create => self.next,
            Op::Delete => self.oldest,
            _ => self.oldest + self.random.below(self.objects().max(1)),
        });
        let nothing = match op {
            Op::DataRead => self.written == 0,
            Op::Stat | Op::Read | Op::Delete => self.objects() == 0,
            Op::DataWrite | Op::Create | Op::List => false,
        };
        if nothing {
            return (0, Err(Errno::NODATA));
        }
        let length = self.transfer.slice().len() as u64;
        let offset = length * if op == Op::DataWrite { self.at } else { block };
        let clock = Arc::clone(&self.clock);
        let mut laps = Laps::new(clock.as_ref());
        let (answer, began_ns, ended_ns) = laps.lap(|| self.call(op, &object, offset));
        if answer.is_ok() {
            self.count(op, offset);
        } else if op == Op::Create {
            // What was made before it failed would stand in the way of the next one.
            let _ = self.objects.delete(&object);
        }
        (ended_ns - began_ns, answer)
    }

    fn call(&mut self, op: Op, object: &ObjectName, offset: u64) -> Result<u64, Errno> {
        Ok(match op {
            Op::DataRead => self.block.read_at(offset, self.transfer.slice_mut())? as u64,
            Op::DataWrite => self.block.write_at(offset, self.transfer.slice())? as u64,
            Op::Create => {
                self.objects.create(object, &self.content)?;
                self.content.len() as u64
            }
            Op::Stat => self.objects.stat(object)?,
            Op::Read => self.objects.read(object, &mut self.content)? as u64,
            Op::Delete => {
                self.objects.delete(object)?;
                0
            }
            Op::List => self.list()?,
        })
    }

    fn list(&self) -> Result<u64, Errno> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | FOLLOW_NOTHING;
        let directory = openat(self.session.root(), session::OBJECTS, flags, rustix::fs::Mode::empty())?;
        let mut names = 0;
        for entry in Dir::new(directory)? {
            entry?;
            names += 1;
        }
        Ok(names)
    }

    fn count(&mut self, op: Op, offset: u64) {
        match op {
            Op::Create => self.next += 1,
            Op::Delete => self.oldest += 1,
            Op::DataWrite => {
                self.written = (self.written + 1).min(BLOCKS);
                self.at = (self.at + 1) % BLOCKS;
                self.block.forget(offset, self.transfer.slice().len());
            }
            Op::DataRead => self.block.forget(offset, self.transfer.slice().len()),
            Op::Stat | Op::Read | Op::List => {}
        }
    }

    /// Remove everything it made.
    pub fn remove(self) -> Result<(), Errno> {
        let Self { session, objects, block, .. } = self;
        drop((objects, block));
        session.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_core::clock::RealClock;
    use std::path::PathBuf;

    fn target() -> PathBuf {
        let path = std::env::temp_dir().join(format!("iosonde-ping-test-{}", iosonde_core::seed::fresh()));
        std::fs::create_dir(&path).unwrap();
        path
    }

    fn ping(target: &Path, seed: u64) -> Ping {
        Ping::new(target, 65536, 3901, seed, Arc::new(RealClock)).unwrap()
    }

    fn entries(path: &Path) -> usize {
        std::fs::read_dir(path).unwrap().count()
    }

    #[test]
    fn every_operation_answers_and_nothing_stays() {
        let target = target();
        let mut one = ping(&target, 1);
        for op in [Op::DataRead, Op::Stat, Op::Read, Op::Delete] {
            assert_eq!(one.run(op), (0, Err(Errno::NODATA)), "{op:?}");
        }
        for round in 0..20 {
            for (op, expected) in [
                (Op::Create, 3901),
                (Op::Create, 3901),
                (Op::Stat, 3901),
                (Op::Read, 3901),
                // With the names of the directory itself and the one above.
                (Op::List, round + 4),
                (Op::DataWrite, 65536),
                (Op::DataRead, 65536),
                (Op::Delete, 0),
            ] {
                let (took_ns, answer) = one.run(op);
                assert_eq!(answer, Ok(expected), "{op:?}");
                assert!(took_ns > 0, "{op:?}");
            }
        }
        assert_eq!(one.objects(), 20);
        one.remove().unwrap();
        assert_eq!(entries(&target), 0);
        std::fs::remove_dir(target).unwrap();
    }

    #[test]
    fn one_that_was_killed_is_swept_and_one_that_runs_is_not() {
        let target = target();
        let (mut killed, mut running) = (ping(&target, 1), ping(&target, 2));
        killed.run(Op::Create).1.unwrap();
        running.run(Op::Create).1.unwrap();
        // What a kill does: descriptors close, files stay.
        drop(killed);
        let young = ping(&target, 4);
        drop(young);
        let own = target.join(iosonde_core::marked::own_name());
        for seed in [1, 2] {
            let mark = own.join(format!("ping-{seed:016x}/MARK"));
            let file = std::fs::File::options().write(true).open(mark).unwrap();
            file.set_modified(std::time::UNIX_EPOCH).unwrap();
        }
        std::fs::write(own.join("stranger"), "stays").unwrap();
        std::fs::create_dir(own.join("ping-without-mark")).unwrap();
        let third = ping(&target, 3);
        let mut names: Vec<String> = iosonde_core::marked::names(
            &rustix::fs::open(&own, OFlags::DIRECTORY, rustix::fs::Mode::empty()).unwrap(),
        )
        .unwrap();
        names.sort();
        let session = |seed: u64| format!("ping-{seed:016x}");
        let expected = [session(2), session(3), session(4), "ping-without-mark".into(), "stranger".into()];
        assert_eq!(names, expected);
        assert_eq!(running.run(Op::Stat).1, Ok(3901));
        running.remove().unwrap();
        third.remove().unwrap();
        std::fs::remove_file(own.join("stranger")).unwrap();
        std::fs::remove_dir_all(target).unwrap();
    }

    #[test]
    fn a_link_in_the_way_is_not_followed() {
        let (target, elsewhere) = (target(), target());
        std::os::unix::fs::symlink(&elsewhere, target.join(iosonde_core::marked::own_name())).unwrap();
        let error = Ping::new(&target, 4096, 10, 1, Arc::new(RealClock)).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("symbolic link"), "{error}");
        assert_eq!(entries(&elsewhere), 0);
        std::fs::remove_dir_all(target).unwrap();
        std::fs::remove_dir_all(elsewhere).unwrap();
    }
}
