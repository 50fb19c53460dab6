//! The big file: where reads and writes of blocks go.
//!
//! Where O_DIRECT is granted the client's cache is out of the way, and a gibibyte is enough. Elsewhere it should be larger
//! than memory, so that the cache cannot answer, as far as there is room. It is filled with bytes that neither compress
//! nor repeat, has no holes, and filling goes on where an earlier start was interrupted.

use std::os::fd::OwnedFd;

use rustix::fs::{OFlags, fstat, fstatfs, ftruncate};
use rustix::io::Errno;

use super::fill_pace::FillPace;
use super::place::Place;
use super::room::room_bytes;
use crate::config::first_start::{DIRECT_BYTES, SHARE_OF_ROOM};
use crate::config::{Direct, TargetPlan};
use crate::probe::origin::Origin;
use crate::probe::{ProbeError, Progress};
use iosonde_core::aligned::AlignedBuffer;
use iosonde_core::backend::posix::{Access, PosixFile, direct_alignment};
use iosonde_core::clock::Clock;
use iosonde_core::marked::{self, MarkedError};
use iosonde_core::sample::Op;
use iosonde_core::seed::Random;

/// Memory times this, in percent, is "larger than memory".
pub const OVER_MEMORY_PERCENT: u64 = 125;
const CHUNK: usize = 4 << 20;
/// Its name in the place.
pub const NAME: &str = "data";
const TMPFS: u64 = 0x0102_1994;
const RAMFS: u64 = 0x8584_58f6;

/// A big file, ready.
#[derive(Debug)]
pub struct BigFile {
    /// Its size.
    pub bytes: u64,
    /// Access mode: through the cache or around it.
    pub access: Access,
    /// Remark for the user about the file.
    pub note: String,
}

impl BigFile {
    /// Make, complete or reuse the big file of a place.
    pub fn prepare(
        place: &Place,
        plan: &TargetPlan,
        (origin, clock): (&Origin, &dyn Clock),
        random: &mut Random,
        progress: &mut Progress<'_>,
    ) -> Result<Self, ProbeError> {
        let failed = |what| move |errno| ProbeError::Failed { path: place.path.join(NAME), what, errno };
        let access = grant(place, plan)?;
        // Before it is filled: a full server would be told of too late.
        place.check_component(NAME)?;
        let have = existing(place).map_err(failed("cannot stat the big file"))?;
        let free = room_bytes(&place.directory).map_err(failed("cannot ask for free space"))?;
        let (bytes, mut note) = choose(plan, access, origin.memory_bytes, free + have);
        let missing = bytes.saturating_sub(have);
        if missing > free / 10 * 9 {
            let fits = (free + have) / 2 / plan.block_bytes * plan.block_bytes;
            let suggestion = format!("{}MiB (or less)", fits >> 20);
            return Err(ProbeError::NoSpace { path: place.path.clone(), needed: missing, free, suggestion });
        }
        if fill(place, bytes, random, &mut Filling { plan, host: &origin.host, clock, progress })? {
            note.push_str("; it had holes and was written anew");
        }
        Ok(Self { bytes, access, note })
    }

    /// The big file that an earlier worker made ready.
    pub fn existing(place: &Place, plan: &TargetPlan) -> Result<Self, ProbeError> {
        let failed = |errno| ProbeError::Failed {
            path: place.path.join(NAME),
            what: "cannot open the big file",
            errno,
        };
        let file = place.open_file(NAME, OFlags::RDONLY).map_err(failed)?;
        let bytes = fstat(&file).map_err(failed)?.st_size as u64;
        let direct =
            plan.direct != Direct::Never && place.open_file(NAME, OFlags::RDONLY | OFlags::DIRECT).is_ok();
        let memory = is_memory(&file).map_err(failed)?;
        let access = match (memory, direct) {
            (true, _) => Access::Memory,
            (false, true) => Access::Direct,
            (false, false) => Access::Buffered,
        };
        Ok(Self { bytes, access, note: String::new() })
    }

    /// Open it for one lane. Not with O_CREAT: that would wait for a frozen file system even if the file is there.
    pub fn open(&self, place: &Place, op: Op) -> Result<PosixFile, ProbeError> {
        let mut flags = if op == Op::DataWrite { OFlags::WRONLY } else { OFlags::RDONLY };
        if self.access == Access::Direct {
            flags |= OFlags::DIRECT;
        }
        place
            .open_file(NAME, flags)
            .map(|file| PosixFile::new(file, self.access))
            .map_err(|errno| ProbeError::Failed { path: place.path.join(NAME), what: "cannot open", errno })
    }
}

fn open(place: &Place, direct: bool) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE;
    place.open_file(NAME, if direct { flags | OFlags::DIRECT } else { flags })
}

/// Ask the file system, by opening, what it grants; by its type, whether it is memory.
fn grant(place: &Place, plan: &TargetPlan) -> Result<Access, ProbeError> {
    let path = || place.path.join(NAME);
    let buffered = open(place, false).map_err(|errno| MarkedError::NotWritable { path: path(), errno })?;
    let memory = is_memory(&buffered).map_err(|errno| ProbeError::Failed {
        path: path(),
        what: "cannot statfs",
        errno,
    })?;
    if plan.direct == Direct::Never || memory && plan.direct == Direct::Auto {
        return Ok(if memory { Access::Memory } else { Access::Buffered });
    }
    let alignment = direct_alignment(&buffered).unwrap_or(4096);
    let direct = open(place, true).and_then(|file| try_direct(&file, alignment));
    match direct {
        Ok(()) if memory => Ok(Access::Memory),
        Ok(()) if plan.block_bytes.is_multiple_of(alignment) => Ok(Access::Direct),
        Ok(()) | Err(_) if plan.direct == Direct::Auto => Ok(Access::Buffered),
        Ok(()) => Err(ProbeError::NoDirect { path: path(), errno: Errno::INVAL }),
        Err(errno) => Err(ProbeError::NoDirect { path: path(), errno }),
    }
}

fn is_memory(file: &OwnedFd) -> Result<bool, Errno> {
    fstatfs(file).map(|status| matches!(status.f_type as u64, TMPFS | RAMFS))
}

/// Some file systems accept the flag and refuse the read.
fn try_direct(file: &OwnedFd, alignment: u64) -> Result<(), Errno> {
    let mut buffer = AlignedBuffer::new(alignment.max(4096) as usize);
    rustix::io::pread(file, buffer.slice_mut(), 0).map(|_| ())
}

/// Chooses the size, with a sentence that gives the reason.
fn choose(plan: &TargetPlan, access: Access, memory: u64, room: u64) -> (u64, String) {
    let whole = |bytes: u64| bytes.div_ceil(plan.block_bytes).max(2) * plan.block_bytes;
    let over_memory = memory / 100 * OVER_MEMORY_PERCENT;
    let bytes = whole(match (plan.file_bytes, access) {
        (Some(bytes), _) => bytes,
        (None, Access::Buffered) if over_memory <= room / SHARE_OF_ROOM => over_memory,
        (None, _) => DIRECT_BYTES.min(room / SHARE_OF_ROOM),
    });
    let size = format!("big file {} MiB", bytes >> 20);
    let note = match access {
        Access::Direct => format!("{size}; reads and writes bypass the client's cache (O_DIRECT)"),
        Access::Memory => format!("{size}; the target is memory (tmpfs): this measures no storage"),
        Access::Buffered if bytes >= over_memory => {
            format!("{size}, larger than memory: reads go through the cache and mostly miss it")
        }
        Access::Buffered => format!(
            "{size}, smaller than memory and O_DIRECT is not used: the cache may answer; \
             each sample says if it could"
        ),
    };
    (bytes, note)
}

/// Callbacks that filling uses on its way.
struct Filling<'a, 'b> {
    plan: &'a TargetPlan,
    host: &'a str,
    clock: &'a dyn Clock,
    progress: &'a mut Progress<'b>,
}

/// Bring the file to exactly `bytes`, without holes. Returns whether it had to begin anew.
fn fill(
    place: &Place,
    bytes: u64,
    random: &mut Random,
    filling: &mut Filling<'_, '_>,
) -> Result<bool, ProbeError> {
    let path = place.path.join(NAME);
    let failed = |what| {
        let path = path.clone();
        move |errno| ProbeError::Failed { path, what, errno }
    };
    let file = open(place, false).map_err(failed("cannot open the big file"))?;
    let status = fstat(&file).map_err(failed("cannot stat the big file"))?;
    let mut have = status.st_size as u64;
    let holes = (status.st_blocks as u64) * 512 < have / 10 * 9;
    if holes || have > bytes {
        have = if holes { 0 } else { bytes };
        ftruncate(&file, have).map_err(failed("cannot cut the big file"))?;
    }
    // Filling may have died inside a chunk; that chunk is written again.
    have = if have < bytes { have / CHUNK as u64 * CHUNK as u64 } else { have };
    if have < bytes {
        write_from(place, &file, (have, bytes), random, filling)?;
    }
    rustix::fs::fdatasync(&file).map_err(|errno| give_back(place, &file, errno))?;
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    Ok(holes)
}

fn write_from(
    place: &Place,
    file: &OwnedFd,
    (mut have, bytes): (u64, u64),
    random: &mut Random,
    Filling { plan, host, clock, progress }: &mut Filling<'_, '_>,
) -> Result<(), ProbeError> {
    let stopped = || ProbeError::Stopped { path: place.path.join(NAME) };
    let mut pace =
        FillPace::begin(plan, host, *clock, (bytes - have, bytes), progress).ok_or_else(stopped)?;
    let mut chunk = vec![0_u8; CHUNK];
    while have < bytes {
        random.fill(&mut chunk);
        let length = (bytes - have).min(CHUNK as u64);
        if let Err(errno) = write_chunk(file, &chunk[..length as usize], have) {
            return Err(give_back(place, file, errno));
        }
        have += length;
        pace.wrote(length, have, progress).ok_or_else(stopped)?;
    }
    Ok(())
}

fn write_chunk(file: &OwnedFd, chunk: &[u8], at: u64) -> Result<(), Errno> {
    let mut done = 0;
    while done < chunk.len() {
        match rustix::io::pwrite(file, &chunk[done..], at + done as u64) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    // Written back as we go: a cache full of dirty pages would stall everybody at the end.
    rustix::fs::fdatasync(file)?;
    let _ = rustix::fs::fadvise(file, at, None, rustix::fs::Advice::DontNeed);
    Ok(())
}

/// A full disk hurts everybody on it: what was taken goes back.
fn give_back(place: &Place, file: &OwnedFd, errno: Errno) -> ProbeError {
    if matches!(errno, Errno::NOSPC | Errno::DQUOT) {
        let _ = marked::remove_file(&place.directory, NAME);
        let free = room_bytes(file).unwrap_or(0);
        let suggestion = format!("{}MiB (or less)", (free / 2) >> 20);
        return ProbeError::NoSpace { path: place.path.clone(), needed: free + 1, free, suggestion };
    }
    ProbeError::Failed { path: place.path.join(NAME), what: "cannot fill the big file", errno }
}

fn existing(place: &Place) -> Result<u64, Errno> {
    Ok(fstat(open(place, false)?)?.st_size as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(file_bytes: Option<u64>) -> TargetPlan {
        let text = "[[target]]\npath='/t'";
        let mut plans = crate::config::Config::from_toml(text, "t").unwrap().plans().unwrap();
        plans[0].file_bytes = file_bytes;
        plans.remove(0)
    }

    fn chosen(file_bytes: Option<u64>, memory: u64, room: u64, access: Access) -> (u64, String) {
        choose(&plan(file_bytes), access, memory, room)
    }

    #[test]
    fn larger_than_memory_only_where_the_cache_is_in_the_way_and_space_allows() {
        const GIB: u64 = 1 << 30;
        let (bytes, note) = chosen(None, 16 * GIB, 1024 * GIB, Access::Buffered);
        assert!(bytes > 16 * GIB && note.contains("larger than memory"), "{note}");
        let (bytes, note) = chosen(None, 512 * GIB, 1 << 50, Access::Direct);
        assert!(bytes == GIB && note.contains("O_DIRECT"), "{note}");
        assert_eq!(chosen(None, 16 * GIB, 2 * GIB, Access::Direct).0, (GIB / 5).div_ceil(1 << 20) << 20);
        assert_eq!(chosen(None, 16 * GIB, 40 * GIB, Access::Buffered).0, GIB);
        let (bytes, note) = chosen(Some(3 << 20), 16 * GIB, 40 * GIB, Access::Buffered);
        assert!(bytes == 3 << 20 && note.contains("smaller than memory"), "{note}");
    }
}
