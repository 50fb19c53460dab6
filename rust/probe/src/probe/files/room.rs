//! Room left on a target: free space, and the rest of the user's quota.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};

use rustix::fs::fstatvfs;
use rustix::io::Errno;

/// `Q_GETQUOTA` for users, as `quotactl_fd` takes it.
const GET_USER_QUOTA: libc::c_int = libc::QCMD(libc::Q_GETQUOTA, libc::USRQUOTA);
/// Space limits of a quota are in units of 1 KiB.
const QUOTA_BLOCK: u64 = 1024;

/// Bytes of the file system of `file` that this user may still write: the smaller of free space and quota. A quota that the
/// kernel cannot tell (NFS, Lustre) counts when it is hit.
pub fn room_bytes(file: impl AsFd) -> Result<u64, Errno> {
    let fs = fstatvfs(&file)?;
    let free = fs.f_bavail * fs.f_frsize;
    Ok(quota(file).map_or(free, |quota| free.min(quota.left_bytes())))
}

/// The space limits of a user on one file system; 0 means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quota {
    soft_bytes: u64,
    hard_bytes: u64,
    used_bytes: u64,
}

impl Quota {
    /// Beyond the soft limit a user may write for a week, then not at all: it is a limit here.
    fn left_bytes(self) -> u64 {
        let limits = [self.soft_bytes, self.hard_bytes].into_iter().filter(|&limit| limit > 0);
        limits.min().map_or(u64::MAX, |limit| limit.saturating_sub(self.used_bytes))
    }
}

fn quota(file: impl AsFd) -> Option<Quota> {
    let user = rustix::process::geteuid().as_raw();
    let mut found = MaybeUninit::<libc::dqblk>::zeroed();
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most one `dqblk` behind the pointer, which has room for it.
    let code = unsafe { libc::syscall(libc::SYS_quotactl_fd, fd, GET_USER_QUOTA, user, found.as_mut_ptr()) };
    if code != 0 {
        return None;
    }
    // SAFETY: zeroed is a valid `dqblk`, and the call filled it in.
    let found = unsafe { found.assume_init() };
    Some(Quota {
        soft_bytes: found.dqb_bsoftlimit.saturating_mul(QUOTA_BLOCK),
        hard_bytes: found.dqb_bhardlimit.saturating_mul(QUOTA_BLOCK),
        used_bytes: found.dqb_curspace,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_limit_counts() {
        let quota = |soft_bytes, hard_bytes| Quota { soft_bytes, hard_bytes, used_bytes: 300 };
        assert_eq!(quota(0, 0).left_bytes(), u64::MAX);
        assert_eq!(quota(0, 1000).left_bytes(), 700);
        assert_eq!(quota(500, 1000).left_bytes(), 200);
        assert_eq!(quota(200, 1000).left_bytes(), 0);
    }

    #[test]
    fn room_is_at_most_what_is_free() {
        let here = std::fs::File::open(".").unwrap();
        let fs = fstatvfs(&here).unwrap();
        // Others write meanwhile: only the order of magnitude is certain.
        assert!(room_bytes(&here).unwrap() <= fs.f_blocks * fs.f_frsize);
    }
}
