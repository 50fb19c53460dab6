//! The six operations: what is made ready before, what is timed, what is tidied after.

use rustix::io::Errno;

use super::pool::Pool;
use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::backend::{Backend, BlockFile, ObjectName};
use iosonde_core::sample::{Cache, Outcome};
use iosonde_core::seed::Random;

/// State of an operation before it begins.
#[derive(Debug, Clone, Copy)]
pub struct Ready {
    /// Place in the big file.
    pub offset_bytes: Option<u64>,
    /// Part that the cache will be able to play.
    pub cache: Cache,
}

/// An operation of one kind on one target. Only [`run`](Operation::run) is timed.
pub trait Operation: Send {
    /// Choose a place or a file; none when there is nothing to operate on.
    fn prepare(&mut self) -> Option<Ready>;
    /// The operation itself.
    fn run(&mut self) -> Outcome;
    /// Keep account of what happened. `late`: it was given up meanwhile and others have taken over.
    fn settle(&mut self, outcome: Outcome, late: bool);
    /// Drops an operation that was made ready and will not be run.
    fn cancel(&mut self) {}
}

fn outcome_of(result: Result<usize, Errno>, expected: usize) -> Outcome {
    match result {
        Ok(n) if n == expected => Outcome::OK,
        Ok(_) => Outcome::SHORT,
        Err(errno) => Outcome::error(errno),
    }
}

/// Places in the big file, at random.
struct Places {
    blocks: u64,
    block: usize,
    random: Random,
    offset: u64,
}

impl Places {
    fn new(file_bytes: u64, block: usize, random: Random) -> Self {
        Self { blocks: (file_bytes / block as u64).max(1), block, random, offset: 0 }
    }
    fn choose(&mut self) -> u64 {
        self.offset = self.random.below(self.blocks) * self.block as u64;
        self.offset
    }
}

/// Reads a block.
pub struct DataRead {
    file: Box<dyn BlockFile>,
    places: Places,
    buffer: AlignedBuffer,
}

impl DataRead {
    /// Reads blocks of the buffer's length, anywhere in the first `file_bytes`.
    pub fn new(file: Box<dyn BlockFile>, file_bytes: u64, buffer: AlignedBuffer, random: Random) -> Self {
        Self { file, places: Places::new(file_bytes, buffer.len(), random), buffer }
    }
}

impl Operation for DataRead {
    fn prepare(&mut self) -> Option<Ready> {
        let offset = self.places.choose();
        let cache = self.file.cache(offset, self.places.block);
        Some(Ready { offset_bytes: Some(offset), cache })
    }
    fn run(&mut self) -> Outcome {
        let block = self.places.block;
        outcome_of(self.file.read_at(self.places.offset, self.buffer.slice_mut()), block)
    }
    fn settle(&mut self, _: Outcome, _: bool) {
        self.file.forget(self.places.offset, self.places.block);
    }
}

/// Writes a block.
pub struct DataWrite {
    file: Box<dyn BlockFile>,
    places: Places,
    buffer: AlignedBuffer,
}

impl DataWrite {
    /// Writes blocks of the buffer's length, anywhere in the first `file_bytes`.
    pub fn new(
        file: Box<dyn BlockFile>,
        file_bytes: u64,
        mut buffer: AlignedBuffer,
        mut random: Random,
    ) -> Self {
        random.fill(buffer.slice_mut());
        Self { file, places: Places::new(file_bytes, buffer.len(), random), buffer }
    }
}

impl Operation for DataWrite {
    fn prepare(&mut self) -> Option<Ready> {
        let offset = self.places.choose();
        // A few fresh bytes in every page: storage that recognises repeated pages finds none.
        for page in self.buffer.slice_mut().chunks_mut(4096) {
            let mark = self.places.random.bits().to_le_bytes();
            let length = mark.len().min(page.len());
            page[..length].copy_from_slice(&mark[..length]);
        }
        let cache = match self.file.cache(offset, self.places.block) {
            known @ (Cache::Direct | Cache::Cached) => known,
            _ => Cache::Buffered,
        };
        Some(Ready { offset_bytes: Some(offset), cache })
    }
    fn run(&mut self) -> Outcome {
        let block = self.places.block;
        outcome_of(self.file.write_at(self.places.offset, self.buffer.slice()), block)
    }
    fn settle(&mut self, _: Outcome, _: bool) {
        self.file.forget(self.places.offset, self.places.block);
    }
}

/// State shared by the metadata operations of one target.
pub struct Files {
    /// Their own way to the pool's directory.
    pub backend: Box<dyn Backend>,
    /// The pool.
    pub pool: Pool,
    /// Bytes of a file.
    pub object_bytes: usize,
    /// Part that the cache can play, if it is the same for every op.
    pub cache: Option<Cache>,
}

impl Files {
    fn ready(&self, otherwise: Cache) -> Option<Ready> {
        Some(Ready { offset_bytes: None, cache: self.cache.unwrap_or(otherwise) })
    }
}

/// Creates the newest file.
pub struct Create {
    files: Files,
    content: Vec<u8>,
    random: Random,
    id: u64,
    name: ObjectName,
}

impl Create {
    /// With incompressible content.
    pub fn new(files: Files, mut random: Random) -> Self {
        let mut content = vec![0; files.object_bytes];
        random.fill(&mut content);
        Self { files, content, random, id: 0, name: ObjectName::new(0) }
    }
    fn choose(&mut self) -> bool {
        let Some(id) = self.files.pool.next_to_create() else { return false };
        (self.id, self.name) = (id, ObjectName::new(id));
        let mark = self.random.bits().to_le_bytes();
        let length = mark.len().min(self.content.len());
        self.content[..length].copy_from_slice(&mark[..length]);
        true
    }
    fn account(&mut self, outcome: Outcome) {
        if outcome == Outcome::OK {
            self.files.pool.created(self.id);
        } else {
            // Whatever the failed attempt left behind goes; if nothing, there is nothing to do.
            let _ = self.files.backend.delete(&self.name);
        }
    }
}

impl Operation for Create {
    fn prepare(&mut self) -> Option<Ready> {
        self.choose().then(|| self.files.ready(Cache::Buffered)).flatten()
    }
    fn run(&mut self) -> Outcome {
        match self.files.backend.create(&self.name, &self.content) {
            Ok(()) => Outcome::OK,
            Err(errno) => Outcome::error(errno),
        }
    }
    fn settle(&mut self, outcome: Outcome, late: bool) {
        if late {
            // Nobody waits for this file any more.
            let _ = self.files.backend.delete(&self.name);
            return;
        }
        self.account(outcome);
        // One more, untimed, while files are missing after a hang.
        if outcome == Outcome::OK && self.files.pool.len() < self.files.pool.size() && self.choose() {
            let outcome = self.run();
            self.account(outcome);
        }
    }
}

/// Stats a file of the pool.
pub struct Stat {
    files: Files,
    id: u64,
    name: ObjectName,
}

impl Stat {
    /// Works on the files of a pool.
    pub fn new(files: Files) -> Self {
        Self { files, id: 0, name: ObjectName::new(0) }
    }
}

impl Operation for Stat {
    fn prepare(&mut self) -> Option<Ready> {
        self.id = self.files.pool.next_to_stat()?;
        self.name = ObjectName::new(self.id);
        self.files.ready(Cache::Unknown)
    }
    fn run(&mut self) -> Outcome {
        let size = self.files.backend.stat(&self.name).map(|bytes| bytes as usize);
        outcome_of(size, self.files.object_bytes)
    }
    fn settle(&mut self, outcome: Outcome, _: bool) {
        if outcome == Outcome::error(Errno::NOENT) {
            self.files.pool.lost(self.id);
        }
    }
}

/// Opens, reads and closes a file of the pool.
pub struct Read {
    files: Files,
    id: u64,
    name: ObjectName,
    buffer: Vec<u8>,
}

impl Read {
    /// Works on the files of a pool.
    pub fn new(files: Files) -> Self {
        let buffer = vec![0; files.object_bytes];
        Self { files, id: 0, name: ObjectName::new(0), buffer }
    }
}

impl Operation for Read {
    fn prepare(&mut self) -> Option<Ready> {
        self.id = self.files.pool.next_to_read()?;
        self.name = ObjectName::new(self.id);
        self.files.ready(Cache::Unknown)
    }
    fn run(&mut self) -> Outcome {
        outcome_of(self.files.backend.read(&self.name, &mut self.buffer), self.files.object_bytes)
    }
    fn settle(&mut self, outcome: Outcome, _: bool) {
        if outcome == Outcome::error(Errno::NOENT) {
            self.files.pool.lost(self.id);
        }
    }
}

/// Deletes the oldest file.
pub struct Delete {
    files: Files,
    id: u64,
    name: ObjectName,
}

impl Delete {
    /// From a pool.
    pub fn new(files: Files) -> Self {
        Self { files, id: 0, name: ObjectName::new(0) }
    }
    fn choose(&mut self) -> bool {
        let Some(id) = self.files.pool.next_to_delete() else { return false };
        (self.id, self.name) = (id, ObjectName::new(id));
        true
    }
    fn account(&mut self, outcome: Outcome) {
        if outcome != Outcome::OK && outcome != Outcome::error(Errno::NOENT) {
            self.files.pool.kept(self.id);
        }
    }
}

impl Operation for Delete {
    fn prepare(&mut self) -> Option<Ready> {
        self.choose().then(|| self.files.ready(Cache::Unknown)).flatten()
    }
    fn run(&mut self) -> Outcome {
        match self.files.backend.delete(&self.name) {
            Ok(()) => Outcome::OK,
            Err(errno) => Outcome::error(errno),
        }
    }
    fn settle(&mut self, outcome: Outcome, late: bool) {
        self.account(outcome);
        // One more, untimed, while there are too many after a hang.
        if !late && outcome == Outcome::OK && self.files.pool.len() > self.files.pool.size() && self.choose()
        {
            let outcome = self.run();
            self.account(outcome);
        }
    }
    fn cancel(&mut self) {
        self.files.pool.kept(self.id);
    }
}
