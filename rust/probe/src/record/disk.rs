//! Everything the writer does to the store, as a small trait: files are appended to, replaced, listed, removed.
//!
//! [`RealDisk`] is the file system. A simulation may hand in a disk that is full, slow or cut short.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path};

use iosonde_core::clock::{Clock, RealClock};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

/// A file that is only ever appended to.
pub trait DiskFile: Send {
    /// Append some of `bytes`; returns how many. May be fewer than asked, as `write(2)`.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Its length now.
    fn len(&mut self) -> io::Result<u64>;
    /// True if the file is empty.
    fn is_empty(&mut self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Its last byte; none when it is empty.
    fn last_byte(&mut self) -> io::Result<Option<u8>>;
    /// Make it as short as it was.
    fn cut(&mut self, length: u64) -> io::Result<()>;
    /// Force what was appended to the device.
    fn sync(&mut self) -> io::Result<()>;
    /// True if a lock keeps others off the file.
    fn is_locked(&self) -> bool;
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Bytes of a regular file; none for a folder.
    pub bytes: Option<u64>,
}

/// Result of a request to remove a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// It is gone, by us.
    Done,
    /// Somebody holds a lock on it: it is being written or sealed.
    Locked,
    /// There was nothing, or something that is not a regular file.
    Nothing,
}

/// A place where files live.
pub trait Disk: Send + Sync {
    /// Begin a file that must not exist, and lock it, where its file system has locks; makes its folder.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Open a file to append to; makes it and its folder.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Write a file beside its place and move it there; makes its folder.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Remove a file that we made and that is of no use.
    fn discard(&self, path: &Path) -> io::Result<()>;
    /// The first bytes of a regular file.
    fn head(&self, path: &Path, bytes: usize) -> io::Result<Vec<u8>>;
    /// True if there is something at `path`.
    fn exists(&self, path: &Path) -> bool;
    /// Force the names in a folder to the device.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// Regular files and folders at `relative` below `root`; symbolic links are neither followed nor listed.
    /// A missing folder is empty.
    fn list(&self, root: &Path, relative: &Path) -> io::Result<Vec<Entry>>;
    /// Remove the regular file at `relative` below `root` unless it is locked or, where locks do not exist, was written
    /// to in the last two hours; follows no link on the way.
    fn remove(&self, root: &Path, relative: &Path) -> io::Result<Removal>;
    /// Remove the folder at `relative` below `root` if it is one and nothing is in it; whether it was.
    fn remove_empty(&self, root: &Path, relative: &Path) -> io::Result<bool>;
    /// Room of the file system at `path` or, if that does not exist yet, at the folder that will hold it.
    fn room(&self, path: &Path) -> io::Result<Room>;
    /// True if a call would return. A real disk tells only by returning; a simulated one may say no.
    fn answers(&self) -> bool {
        true
    }
}

/// Room on a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Bytes that we may still write.
    pub free_bytes: u64,
    /// Bytes it holds in all.
    pub total_bytes: u64,
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

struct RealFile {
    file: File,
    locked: bool,
}

impl DiskFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }
    fn len(&mut self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }
    fn last_byte(&mut self) -> io::Result<Option<u8>> {
        let length = self.file.metadata()?.len();
        if length == 0 {
            return Ok(None);
        }
        let mut byte = [0];
        std::os::unix::fs::FileExt::read_exact_at(&self.file, &mut byte, length - 1)?;
        Ok(Some(byte[0]))
    }
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }
    fn is_locked(&self) -> bool {
        self.locked
    }
}

/// Takes the lock of a file.
pub(super) type Lock = fn(&File) -> Result<(), TryLockError>;

/// Mode of the store's folders.
const PRIVATE: u32 = 0o700;
/// Folders of a store that the agent makes; a folder of each host lies in each.
const TABLES: [&str; 5] = ["baselines", "events", "spool", "state", "windows"];
const TABLE_DEPTH: usize = 2;

/// Age at which a file that nobody writes to is nobody's, if locks do not exist.
const SETTLED_S: i64 = 7200;

/// Take the lock of a file: whether we have it; none where its file system has no locks (Lustre as it is mounted by
/// default, some NFS).
fn take(file: &File, lock: Lock) -> io::Result<Option<bool>> {
    match lock(file) {
        Ok(()) => Ok(Some(true)),
        Err(TryLockError::WouldBlock) => Ok(Some(false)),
        Err(TryLockError::Error(error)) => match error.raw_os_error() {
            Some(libc::ENOSYS | libc::EOPNOTSUPP | libc::ENOLCK) => Ok(None),
            _ => Err(error),
        },
    }
}

/// [`Disk::create`] with this kind of lock.
pub(super) fn create_with(path: &Path, lock: Lock) -> io::Result<Box<dyn DiskFile>> {
    let file = in_folder(path, || File::options().create_new(true).read(true).append(true).open(path))?;
    match take(&file, lock) {
        // Nobody else has its name either way: it is new.
        Ok(Some(true)) => Ok(Box::new(RealFile { file, locked: true })),
        Ok(None) => Ok(Box::new(RealFile { file, locked: false })),
        refused => {
            let _ = std::fs::remove_file(path);
            refused?;
            Err(io::Error::other("somebody else took the lock of a new segment"))
        }
    }
}

/// [`Disk::remove`] with this kind of lock.
pub(super) fn remove_with(root: &Path, relative: &Path, lock: Lock) -> io::Result<Removal> {
    let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else {
        return Ok(Removal::Nothing);
    };
    let nothing = |error: &io::Error| {
        matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP | libc::ENXIO))
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = folder_below(root, parent).and_then(|folder| {
        let file = File::from(rustix::fs::openat(&folder, name, flags, Mode::empty())?);
        Ok((folder, file))
    });
    let (folder, file) = match opened {
        Err(error) if nothing(&error) => return Ok(Removal::Nothing),
        opened => opened?,
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(Removal::Nothing);
    }
    let age_s = || RealClock.wall_ns() / 1_000_000_000 - found.mtime();
    if !take(&file, lock)?.unwrap_or_else(|| age_s() > SETTLED_S) {
        return Ok(Removal::Locked);
    }
    rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
    Ok(Removal::Done)
}

/// `work` again, once, after its folder was made, if that was missing.
fn in_folder<T>(path: &Path, work: impl Fn() -> io::Result<T>) -> io::Result<T> {
    work().or_else(|error| match path.parent() {
        Some(folder) if error.kind() == io::ErrorKind::NotFound => {
            make_folders(folder)?;
            work()
        }
        _ => Err(error),
    })
}

/// Make a folder of a store, and those above it that are missing: the store for its owner alone, a table's with the
/// permissions of the folder that it lies in. `src/iosonde/engine/atomic.py` does the same.
fn make_folders(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.exists()).collect();
    let table = folder
        .ancestors()
        .take(TABLE_DEPTH)
        .find(|path| path.file_name().and_then(OsStr::to_str).is_some_and(|name| TABLES.contains(&name)));
    for one in missing.into_iter().rev() {
        match DirBuilder::new().mode(PRIVATE).create(one) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        if let (Some(above), true) = (one.parent(), table.is_some_and(|table| one.starts_with(table))) {
            let mode = std::fs::metadata(above)?.permissions().mode() & 0o777 | PRIVATE;
            std::fs::set_permissions(one, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

impl Disk for RealDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        create_with(path, File::try_lock)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        // Writing to a pipe that nobody reads would wait for ever.
        let open =
            || File::options().create(true).read(true).append(true).custom_flags(libc::O_NONBLOCK).open(path);
        let file = in_folder(path, open)?;
        if !file.metadata()?.is_file() {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        Ok(Box::new(RealFile { file, locked: false }))
    }
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let beside = path.with_file_name(format!(".{name}.tmp"));
        let written = in_folder(path, || std::fs::write(&beside, bytes));
        written.and_then(|()| std::fs::rename(&beside, path)).inspect_err(|_| {
            let _ = std::fs::remove_file(&beside);
        })
    }
    fn discard(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }
    fn head(&self, path: &Path, bytes: usize) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        let mut found = Vec::new();
        if !file.metadata()?.is_file() {
            return Ok(found);
        }
        file.take(bytes as u64).read_to_end(&mut found)?;
        Ok(found)
    }
    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }
    fn list(&self, root: &Path, relative: &Path) -> io::Result<Vec<Entry>> {
        let folder = match folder_below(root, relative) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut found = Vec::new();
        for entry in rustix::fs::Dir::read_from(&folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if name == "." || name == ".." {
                continue;
            }
            // It may have vanished since it was listed.
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let bytes = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Some(stat.st_size as u64),
                FileType::Directory => None,
                _ => continue,
            };
            found.push(Entry { name: name.to_owned(), bytes });
        }
        Ok(found)
    }
    fn remove(&self, root: &Path, relative: &Path) -> io::Result<Removal> {
        remove_with(root, relative, File::try_lock)
    }
    fn remove_empty(&self, root: &Path, relative: &Path) -> io::Result<bool> {
        let (Some(parent), Some(name)) = (relative.parent(), relative.file_name()) else { return Ok(false) };
        let removed = folder_below(root, parent)
            .and_then(|folder| Ok(rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR)?));
        let full = [libc::ENOTEMPTY, libc::EEXIST, libc::ENOENT, libc::ENOTDIR, libc::ELOOP];
        match removed {
            Ok(()) => Ok(true),
            Err(error) if error.raw_os_error().is_some_and(|number| full.contains(&number)) => Ok(false),
            Err(error) => Err(error),
        }
    }
    fn room(&self, path: &Path) -> io::Result<Room> {
        let there = path.ancestors().find(|place| place.exists()).unwrap_or(Path::new("."));
        let found = rustix::fs::statvfs(there)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Ok(Room { free_bytes: bytes(found.f_bavail), total_bytes: bytes(found.f_blocks) })
    }
}

/// The folder at `relative` below `root`, whose own name may be a link; nothing below it may.
fn folder_below(root: &Path, relative: &Path) -> io::Result<std::os::fd::OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
    for part in relative.components() {
        let Component::Normal(name) = part else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a path inside the store was expected"));
        };
        folder = rustix::fs::openat(&folder, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("iosonde-disk-{name}-{}", iosonde_core::seed::fresh()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn links_are_neither_listed_nor_followed_nor_removed() {
        let root = folder("links");
        std::fs::create_dir_all(root.join("real")).unwrap();
        std::fs::write(root.join("real/file"), "kept").unwrap();
        std::os::unix::fs::symlink(root.join("real"), root.join("link")).unwrap();
        std::os::unix::fs::symlink(root.join("real/file"), root.join("real/alias")).unwrap();
        let names = |at: &str| RealDisk.list(&root, Path::new(at)).map(|found| found.len());
        assert_eq!(names("").unwrap(), 1);
        assert_eq!(names("real").unwrap(), 1);
        assert!(names("link").is_err());
        assert_eq!(names("missing").unwrap(), 0);
        for at in ["link/file", "real/alias", "real", "missing/file"] {
            assert_eq!(RealDisk.remove(&root, Path::new(at)).unwrap(), Removal::Nothing, "{at}");
        }
        for at in ["link", "real", "real/file", "real/alias", "missing", "link/x", ""] {
            assert!(!RealDisk.remove_empty(&root, Path::new(at)).unwrap(), "{at}");
        }
        std::fs::create_dir(root.join("real/empty")).unwrap();
        assert!(RealDisk.remove_empty(&root, Path::new("real/empty")).unwrap());
        assert!(RealDisk.remove(&root, Path::new("../x/file")).is_err());
        assert_eq!(RealDisk.remove(&root, Path::new("real/file")).unwrap(), Removal::Done);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_store_is_its_owners_and_a_host_has_the_permissions_of_its_table() {
        let above = folder("modes");
        let mode = |at: &Path| std::fs::metadata(at).unwrap().permissions().mode() & 0o777;
        let root = above.join("store");
        RealDisk.replace(&root.join("state/n1/a.json"), b"{}").unwrap();
        assert_eq!([mode(&root), mode(&root.join("state")), mode(&root.join("state/n1"))], [0o700; 3]);
        for (at, bits) in [(&root, 0o755), (&root.join("state"), 0o750)] {
            std::fs::set_permissions(at, Permissions::from_mode(bits)).unwrap();
        }
        RealDisk.replace(&root.join("state/n2/a.json"), b"{}").unwrap();
        drop(RealDisk.create(&root.join("spool/n1/r.spool")).unwrap());
        let found = ["state/n2", "spool", "spool/n1"].map(|at| mode(&root.join(at)));
        assert_eq!(found, [0o750, 0o755, 0o755]);
        std::fs::remove_dir_all(above).unwrap();
    }

    #[test]
    fn nothing_is_appended_to_a_pipe() {
        let root = folder("pipe");
        let kind = FileType::Fifo;
        rustix::fs::mknodat(CWD, root.join("a"), kind, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(RealDisk.open(&root.join("a")).is_err());
        assert_eq!(RealDisk.head(&root.join("a"), 8).unwrap(), b"");
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_locked_file_is_not_removed() {
        let root = folder("locked");
        let held = RealDisk.create(&root.join("a")).unwrap();
        assert_eq!(RealDisk.remove(&root, Path::new("a")).unwrap(), Removal::Locked);
        drop(held);
        assert_eq!(RealDisk.remove(&root, Path::new("a")).unwrap(), Removal::Done);
        std::fs::remove_dir_all(root).unwrap();
    }
}
