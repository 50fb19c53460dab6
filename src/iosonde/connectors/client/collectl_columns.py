"""Meaning of collectl's columns: name in a plot file -> level, component, metric, and factor to amounts."""

from __future__ import annotations

import re
from typing import NamedTuple

KIB = 1024.0


class CollectlColumn(NamedTuple):
    """Series of a column. ``scale`` times the number is per second (``rate``) or a gauge."""

    level: str
    part: str
    """Suffix of the host's name, for parts of it; "" for the host itself."""
    metric: str
    scale: float
    rate: bool
    system: str = ""


_SPLIT = re.compile(r"\[([A-Z]+)(?::([^\[\]]{1,100}))?\](\S{1,60})")
_STATES = {
    ("CPU", "Totl%"): ("cpu_percent", 1.0),
    ("CPU", "Wait%"): ("cpu_wait_percent", 1.0),
    ("MEM", "Used"): ("memory_used_bytes", KIB),
}
_DISK = {
    "Read": "read_ops",
    "Write": "write_ops",
    "ReadKB": "read_bytes",
    "WriteKB": "written_bytes",
}
_NET = {"RxKB": "in_bytes", "TxKB": "out_bytes"}
_NFS_DETAIL = {
    "Read": "read_ops", "Write": "write_ops", "Lookup": "lookups", "Getattr": "getattrs",
    "Setattr": "setattrs", "Readdir": "readdirs", "Readdirplus": "readdirs", "Create": "creates",
    "Remove": "unlinks", "Rename": "renames", "Link": "links", "Symlink": "links", "Mkdir": "mkdirs",
    "Rmdir": "rmdirs", "Mknod": "mknods", "Fsstat": "statfss", "Access": "accesses", "Commit": "syncs",
}  # fmt: skip
_NFS = {"Reads": "read_ops", "Writes": "write_ops", "Meta": "other_ops", "Commit": "syncs"}
_LUSTRE = {
    "Reads": "read_ops", "Read": "read_ops", "ReadKB": "read_bytes", "Writes": "write_ops",
    "Write": "write_ops", "WriteKB": "written_bytes", "Open": "opens", "Close": "closes",
    "GAttr": "getattrs", "Getattr": "getattrs", "SAttr": "setattrs", "Setattr": "setattrs",
    "Fsync": "syncs", "Sync": "syncs", "Unlink": "unlinks", "Mkdir": "mkdirs", "Rmdir": "rmdirs",
    "Statfs": "statfss", "Rename": "renames", "Create": "creates", "Getxattr": "getxattrs",
}  # fmt: skip
_LUSTRE_LEVEL = {"CLT": "client", "OST": "oss", "MDS": "mds", "OSTD": "oss", "MDSD": "mds"}


def meaning(column: str) -> CollectlColumn | None:
    """Series of a column; None for columns that are ignored.

    ``MetaC`` and ``MetaS`` of NFS are lookups, accesses, getattrs, setattrs and readdirs only.
    """
    match = _SPLIT.fullmatch(column)
    if match is None:
        return None
    group, detail, name = match[1], match[2] or "", match[3]
    if not detail and (group, name) in _STATES:
        metric, scale = _STATES[(group, name)]
        return CollectlColumn("server", "", metric, scale, False)
    if group in ("DSK", "NET"):
        return _device(group, detail, name)
    if group == "NFS":
        return _nfs(detail, name)
    if group in _LUSTRE_LEVEL and name in _LUSTRE:
        level = _LUSTRE_LEVEL[group]
        scale = KIB if name.endswith("KB") else 1.0
        system = detail if level == "client" else ""
        part = "" if level == "client" else detail
        return CollectlColumn(level, part, _LUSTRE[name], scale, True, system)
    return None


def _device(group: str, detail: str, name: str) -> CollectlColumn | None:
    """Series of a disk or network column: totals end in Tot, details of a disk in s."""
    names = _DISK if group == "DSK" else _NET
    bare = name if detail else name.removesuffix("Tot")
    if detail:
        bare = {"Reads": "Read", "Writes": "Write", "RKBytes": "ReadKB", "WKBytes": "WriteKB"}.get(
            name, name
        )
    elif bare == name:
        return None
    if bare not in names:
        return None
    part = detail or ("disks" if group == "DSK" else "net")
    scale = KIB if bare.endswith("KB") else 1.0
    return CollectlColumn("device", part, names[bare], scale, True)


def _nfs(detail: str, name: str) -> CollectlColumn | None:
    """Series of ``[NFS]ReadsC`` (all versions), ``[NFS:3cd]Read`` (one); C and c: client, S and s: server."""
    if detail:
        found = re.fullmatch(r"\d([cs])d?", detail)
        if found is None or name not in _NFS_DETAIL:
            return None
        level = "client" if found[1] == "c" else "server"
        return CollectlColumn(level, "", _NFS_DETAIL[name], 1, True)
    if name == "Retrans":
        return CollectlColumn("client", "", "retransmissions", 1, True)
    if name[:-1] in _NFS and name[-1] in "CS":
        return CollectlColumn(
            "client" if name[-1] == "C" else "server", "", _NFS[name[:-1]], 1, True
        )
    return None
