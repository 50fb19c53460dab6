//! Appending to a file so that a failed attempt leaves nothing behind.

use std::io;

use super::disk::DiskFile;

/// The end of a file that grows.
pub struct Tail {
    file: Box<dyn DiskFile>,
    good: u64,
    dirty: bool,
}

impl Tail {
    /// Append from where `file` ends now.
    pub fn new(mut file: Box<dyn DiskFile>) -> io::Result<Self> {
        let good = file.len()?;
        Ok(Self { file, good, dirty: false })
    }
    /// Append from `good` on: what lies behind it was left by an attempt that could not be taken back.
    pub fn from(file: Box<dyn DiskFile>, good: u64) -> Self {
        Self { file, good, dirty: true }
    }
    /// Bytes that count.
    pub fn good(&self) -> u64 {
        self.good
    }
    /// True if more lies behind the whole frames, because it could not be cut off yet.
    pub fn dirty(&self) -> bool {
        self.dirty
    }
    /// True if a lock keeps others off the file.
    pub fn is_locked(&self) -> bool {
        self.file.is_locked()
    }
    /// The file itself.
    pub fn file(&mut self) -> &mut dyn DiskFile {
        self.file.as_mut()
    }
    /// All of `bytes` or nothing. What cannot be cut off after an error is cut off before the next attempt.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.dirty {
            self.file.cut(self.good)?;
            self.dirty = false;
        }
        let mut written = 0;
        while written < bytes.len() {
            match self.file.write(&bytes[written..]) {
                Ok(0) => return self.give_up(written, io::ErrorKind::WriteZero.into()),
                Ok(some) => written += some,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return self.give_up(written, error),
            }
        }
        self.good += bytes.len() as u64;
        Ok(())
    }

    fn give_up(&mut self, written: usize, error: io::Error) -> io::Result<()> {
        // Another process may have appended to a shared file meanwhile: its lines are not ours to cut.
        let alone = self.file.len().is_ok_and(|length| length == self.good + written as u64);
        self.dirty = alone && written > 0 && self.file.cut(self.good).is_err();
        Err(error)
    }
}
