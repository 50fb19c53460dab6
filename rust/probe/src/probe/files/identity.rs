//! Identity of files and directories regardless of their names, and the mount points they lie under.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::io::Errno;

/// Device and inode of a file or directory.
pub type Identity = (u32, u32, u64);

/// Identity of an open directory.
pub fn of(directory: impl AsFd) -> Result<Identity, Errno> {
    identity(statx(directory, c"", AtFlags::EMPTY_PATH, StatxFlags::INO))
}

/// Identity that a path leads to. A server is asked for names only: attributes may be as old as they are.
pub fn at(directory: impl AsFd, path: &Path) -> Result<Identity, Errno> {
    identity(statx(directory, path, AtFlags::STATX_DONT_SYNC, StatxFlags::INO))
}

fn identity(found: Result<rustix::fs::Statx, Errno>) -> Result<Identity, Errno> {
    found.map(|found| (found.stx_dev_major, found.stx_dev_minor, found.stx_ino))
}

/// Mount point of the file system an open directory lies on; none if the kernel does not tell.
pub fn mount_of(directory: impl AsFd) -> Option<PathBuf> {
    let found = statx(directory, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    let known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    let text = known.then(|| std::fs::read_to_string("/proc/self/mountinfo").ok()).flatten()?;
    mount_point(&text, found.stx_mnt_id)
}

/// The mount point of an id: the fifth word of its line, with octal escapes.
fn mount_point(mountinfo: &str, id: u64) -> Option<PathBuf> {
    let mut lines = mountinfo.lines().map(|line| line.split(' '));
    let mut line = lines.find_map(|mut words| (words.next()?.parse() == Ok(id)).then_some(words))?;
    let mut point = line.nth(3)?.to_owned();
    for (escaped, plain) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        point = point.replace(escaped, plain);
    }
    Some(point.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_as_they_are_written() {
        let text = "22 1 0:20 / /proc rw - proc proc rw\n35 22 8:1 /x /mnt/a\\040b rw shared:1 - ext4 /dev/sda1 rw\n";
        assert_eq!(mount_point(text, 35), Some(PathBuf::from("/mnt/a b")));
        assert_eq!(mount_point(text, 36), None);
        let here = std::fs::File::open("/proc").unwrap();
        assert_eq!(mount_of(&here), Some(PathBuf::from("/proc")));
    }
}
