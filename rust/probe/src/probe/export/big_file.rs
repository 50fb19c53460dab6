//! The big file of an export: filled with bytes that neither compress nor repeat, without holes; filling goes on where an
//! earlier start was interrupted.

use iosonde_core::clock::Clock;
use iosonde_core::seed::Random;
use iosonde_nfs::error::NfsError;
use iosonde_nfs::files::{Handle, stable_how};
use rustix::io::Errno;

use super::place::ExportPlace;
use crate::config::TargetPlan;
use crate::config::first_start::{DIRECT_BYTES, SHARE_OF_ROOM};
use crate::probe::files::fill_pace::FillPace;
use crate::probe::{ProbeError, Progress};

/// Its name in the place.
pub const NAME: &str = "data";
const CHUNK: u64 = 1 << 20;

/// Make, complete or reuse it: handle and bytes. `most`: bytes that the server takes in one WRITE.
pub fn prepare(
    place: &mut ExportPlace,
    plan: &TargetPlan,
    (host, clock, most): (&str, &dyn Clock, u32),
    random: &mut Random,
    progress: &mut Progress<'_>,
) -> Result<(Handle, u64), ProbeError> {
    let made = place.try_call(|connection, directory| connection.create(directory, NAME));
    if let Err(error) = made.as_ref().map(drop)
        && error.errno() != Errno::EXIST
    {
        return Err(place.error(error));
    }
    let (file, found) = place.existing(NAME)?;
    let directory = place.directory();
    let free = place.call(|connection, _| connection.space(&directory))?.free_bytes;
    let bytes = choose(plan, free + found.size);
    let holes = found.used < found.size / 10 * 9;
    let mut have = if holes { 0 } else { found.size };
    if holes || have > bytes {
        have = have.min(bytes);
        place.call(|connection, _| connection.cut(&file, have))?;
    }
    let missing = bytes - have;
    if missing > free / 10 * 9 {
        let suggestion = format!("{}MiB (or less)", ((free + have) / 2) >> 20);
        return Err(ProbeError::NoSpace { path: place.path.clone(), needed: missing, free, suggestion });
    }
    // Filling may have died inside a chunk; that chunk is written again.
    have = if have < bytes { have / CHUNK * CHUNK } else { have };
    if have < bytes {
        let stopped = || ProbeError::Stopped { path: place.path.join(NAME) };
        let mut pace =
            FillPace::begin(plan, host, clock, (bytes - have, bytes), progress).ok_or_else(stopped)?;
        let mut chunk = vec![0_u8; CHUNK as usize];
        while have < bytes {
            random.fill(&mut chunk);
            let length = (bytes - have).min(CHUNK);
            let part = &chunk[..length as usize];
            place
                .try_call(|nfs, _| write(nfs, &file, have, part, most))
                .map_err(|error| full(place, error))?;
            have += length;
            let stopped = || ProbeError::Stopped { path: place.path.join(NAME) };
            pace.wrote(length, have, progress).ok_or_else(stopped)?;
        }
    }
    Ok((file, bytes))
}

/// As large as asked for; else a gibibyte, where that is a small share of the room.
fn choose(plan: &TargetPlan, room: u64) -> u64 {
    let bytes = plan.file_bytes.unwrap_or_else(|| DIRECT_BYTES.min(room / SHARE_OF_ROOM));
    bytes.div_ceil(plan.block_bytes).max(2) * plan.block_bytes
}

fn write(
    nfs: &mut iosonde_nfs::connection::Connection,
    file: &[u8],
    at: u64,
    content: &[u8],
    most: u32,
) -> Result<(), NfsError> {
    let piece = most.clamp(4096, 1 << 18) as usize;
    for (number, part) in (0..).zip(content.chunks(piece)) {
        nfs.write(file, at + number * piece as u64, part, stable_how::UNSTABLE)?;
    }
    // Written back as we go: a server full of dirty pages would stall everybody at the end.
    nfs.commit(file)
}

/// A full disk hurts everybody on it: what was taken goes back.
fn full(place: &mut ExportPlace, error: NfsError) -> ProbeError {
    if matches!(error.errno(), Errno::NOSPC | Errno::DQUOT) {
        let _ = place.try_call(|connection, directory| connection.remove(directory, NAME));
        let directory = place.directory();
        let space = place.try_call(|connection, _| connection.space(&directory));
        let free = space.map_or(0, |space| space.free_bytes);
        let suggestion = format!("{}MiB (or less)", (free / 2) >> 20);
        return ProbeError::NoSpace { path: place.path.clone(), needed: free + 1, free, suggestion };
    }
    place.error(&error)
}
