//! Files and directories in memory.

use std::collections::{BTreeMap, HashMap};

use nfs3_types::nfs3::nfsstat3;

pub(super) const ROOT: u64 = 1;
const MAGIC: &[u8; 8] = b"iosondeq";

pub(super) enum Node {
    Directory(BTreeMap<Vec<u8>, u64>),
    File(Vec<u8>),
}

pub(super) struct Memory {
    nodes: HashMap<u64, Node>,
    next: u64,
    bytes: u64,
    most_bytes: u64,
    pub(super) writes: u64,
    pub(super) reads: u64,
}

type Result<T> = std::result::Result<T, nfsstat3>;

impl Memory {
    pub(super) fn new(most_bytes: u64) -> Self {
        let nodes = HashMap::from([(ROOT, Node::Directory(BTreeMap::new()))]);
        Self { nodes, next: ROOT + 1, bytes: 0, most_bytes, writes: 0, reads: 0 }
    }

    /// Names in all directories.
    pub(super) fn names(&self) -> usize {
        self.nodes.len() - 1
    }

    pub(super) fn node(&self, id: u64) -> Result<&Node> {
        self.nodes.get(&id).ok_or(nfsstat3::NFS3ERR_STALE)
    }

    fn entries(&mut self, id: u64) -> Result<&mut BTreeMap<Vec<u8>, u64>> {
        match self.nodes.get_mut(&id) {
            Some(Node::Directory(entries)) => Ok(entries),
            Some(Node::File(_)) => Err(nfsstat3::NFS3ERR_NOTDIR),
            None => Err(nfsstat3::NFS3ERR_STALE),
        }
    }

    pub(super) fn lookup(&mut self, directory: u64, name: &[u8]) -> Result<u64> {
        if name == b"." {
            return Ok(directory);
        }
        self.entries(directory)?.get(name).copied().ok_or(nfsstat3::NFS3ERR_NOENT)
    }

    pub(super) fn make(&mut self, directory: u64, name: &[u8], node: Node) -> Result<u64> {
        let id = self.next;
        let entries = self.entries(directory)?;
        if entries.contains_key(name) {
            return Err(nfsstat3::NFS3ERR_EXIST);
        }
        entries.insert(name.to_vec(), id);
        self.nodes.insert(id, node);
        self.next += 1;
        Ok(id)
    }

    pub(super) fn remove(&mut self, directory: u64, name: &[u8], want_directory: bool) -> Result<()> {
        let id = self.lookup(directory, name)?;
        match self.node(id)? {
            Node::Directory(_) if !want_directory => return Err(nfsstat3::NFS3ERR_ISDIR),
            Node::Directory(entries) if !entries.is_empty() => return Err(nfsstat3::NFS3ERR_NOTEMPTY),
            Node::File(_) if want_directory => return Err(nfsstat3::NFS3ERR_NOTDIR),
            Node::File(content) => self.bytes -= content.len() as u64,
            Node::Directory(_) => {}
        }
        self.entries(directory)?.remove(name);
        self.nodes.remove(&id);
        Ok(())
    }

    /// Rename within a directory or to another; a file that has the new name goes.
    pub(super) fn rename(&mut self, from: (u64, &[u8]), to: (u64, &[u8])) -> Result<()> {
        let id = self.lookup(from.0, from.1)?;
        if self.entries(to.0)?.get(to.1).is_some_and(|other| *other != id) {
            self.remove(to.0, to.1, false)?;
        }
        self.entries(from.0)?.remove(from.1);
        self.entries(to.0)?.insert(to.1.to_vec(), id);
        Ok(())
    }

    /// Names of a directory behind the `cookie`-th in their order, with their numbers.
    pub(super) fn list(&mut self, directory: u64, cookie: u64) -> Result<Vec<(Vec<u8>, u64)>> {
        let entries = self.entries(directory)?.iter().skip(usize::try_from(cookie).unwrap_or(usize::MAX));
        Ok(entries.map(|(name, id)| (name.clone(), *id)).collect())
    }

    /// Whether a file could take so many bytes there.
    pub(super) fn check_write(&self, file: u64, offset: u64, count: usize) -> Result<()> {
        match self.node(file)? {
            Node::Directory(_) => Err(nfsstat3::NFS3ERR_ISDIR),
            Node::File(content) => {
                let end = offset.checked_add(count as u64).ok_or(nfsstat3::NFS3ERR_FBIG)?;
                let more = end.saturating_sub(content.len() as u64);
                if self.bytes + more > self.most_bytes { Err(nfsstat3::NFS3ERR_NOSPC) } else { Ok(()) }
            }
        }
    }

    /// Cut a file, or make it longer with zeros.
    pub(super) fn resize(&mut self, file: u64, bytes: u64) -> Result<()> {
        let room = self.most_bytes - self.bytes;
        let content = match self.nodes.get_mut(&file) {
            Some(Node::File(content)) => content,
            Some(Node::Directory(_)) => return Err(nfsstat3::NFS3ERR_ISDIR),
            None => return Err(nfsstat3::NFS3ERR_STALE),
        };
        let before = content.len() as u64;
        if bytes.saturating_sub(before) > room {
            return Err(nfsstat3::NFS3ERR_NOSPC);
        }
        content.resize(bytes as usize, 0);
        self.bytes = self.bytes - before + bytes;
        Ok(())
    }

    /// Write. A file that has gone since the check takes nothing.
    pub(super) fn write(&mut self, file: u64, offset: u64, data: &[u8]) {
        if self.check_write(file, offset, data.len()).is_err() {
            return;
        }
        self.writes += 1;
        if let Some(Node::File(content)) = self.nodes.get_mut(&file) {
            let end = offset as usize + data.len();
            if content.len() < end {
                self.bytes += (end - content.len()) as u64;
                content.resize(end, 0);
            }
            content[offset as usize..end].copy_from_slice(data);
        }
    }

    /// What is there, and whether the file ends with it.
    pub(super) fn read(&mut self, file: u64, offset: u64, count: u32) -> Result<(&[u8], bool)> {
        self.reads += 1;
        match self.node(file)? {
            Node::Directory(_) => Err(nfsstat3::NFS3ERR_ISDIR),
            Node::File(content) => {
                let begin = content.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
                let end = content.len().min(begin + count as usize);
                Ok((&content[begin..end], end == content.len()))
            }
        }
    }
}

pub(super) fn handle(id: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..].copy_from_slice(&id.to_be_bytes());
    bytes
}

pub(super) fn id_of(handle: &[u8]) -> Result<u64> {
    let (magic, id) = handle.split_first_chunk::<8>().ok_or(nfsstat3::NFS3ERR_BADHANDLE)?;
    let id: [u8; 8] = id.try_into().map_err(|_| nfsstat3::NFS3ERR_BADHANDLE)?;
    if magic == MAGIC { Ok(u64::from_be_bytes(id)) } else { Err(nfsstat3::NFS3ERR_BADHANDLE) }
}
