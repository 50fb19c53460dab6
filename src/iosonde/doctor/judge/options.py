"""Findings on mount options that affect the probe's operations."""

from __future__ import annotations

from iosonde.doctor.finding import Findings, size
from iosonde.host.mounts import PARALLEL, Mount

_UNCUT_BYTES = 128 << 10


def judge_options(found: Findings, mount: Mount) -> None:
    """Findings by type of file system, and those common to all."""
    _every(found, mount)
    if mount.kind in ("nfs", "nfs4"):
        _nfs(found, mount)
    elif mount.kind == "lustre":
        _lustre(found, mount)
    elif mount.kind in ("ceph", "fuse.ceph-fuse"):
        _ceph(found, mount)
    elif mount.kind in ("cifs", "smb3"):
        _smb(found, mount)
    elif mount.kind in ("ext3", "ext4", "xfs"):
        _local(found, mount)
    if mount.fuse:
        _fuse(found, mount)
    if mount.kind in PARALLEL:
        says = f"{mount.kind} stripes: the big file lies on some of its servers only"
        found.add("parallel-servers", "note", says, file_system=mount.kind)


def _every(found: Findings, mount: Mount) -> None:
    options = mount.options
    word = next((w for w in ("noatime", "relatime", "strictatime") if w in options), "strictatime")
    # Network clients keep access times by themselves or not at all; for them the word means little.
    strict = word == "strictatime" and (mount.kind in ("ext3", "ext4", "xfs", "btrfs", "gpfs"))
    found.add("mount-atime", "note" if strict else "ok", f"access times: {word}", atime=word)
    sync = [w for w in ("sync", "dirsync") if w in options]
    says = f"mounted {' and '.join(sync)}" if sync else "writes are not forced to be synchronous"
    found.add("mount-sync", "note" if sync else "ok", says, options=sync)


def _nfs(found: Findings, mount: Mount) -> None:
    soft = next((w for w in ("softerr", "soft", "softreval") if w in mount.options), None)
    timeout_s, retrans = (mount.number("timeo") or 600) / 10, mount.number("retrans")
    retrans = 2 if retrans is None else retrans
    fails_s = timeout_s * (1 + retrans)
    facts = {"timeout_s": timeout_s, "retrans": retrans, "gives_up_s": fails_s}
    if soft in ("soft", "softerr"):
        says = f"{soft}: after about {fails_s:g} s without an answer an operation fails, writes too"
        found.add("nfs-hard", "warning", says, mode=soft, **facts)
    else:
        says = f"hard: operations wait for the server; the log complains after about {fails_s:g} s"
        found.add("nfs-hard", "ok", says, mode="hard", **facts)
    version = mount.options.get("vers") or mount.options.get("nfsvers")
    transport = mount.options.get("proto") or "tcp"
    old = transport.startswith("udp") or version == "2"
    says = f"NFS version {version or 'unknown'} over {transport}"
    found.add("nfs-version", "warning" if old else "ok", says, version=version, transport=transport)
    connections = mount.number("nconnect") or 1
    says = f"{connections} TCP connection{'s' if connections > 1 else ''} to the server"
    found.add("nfs-connections", "ok", says, connections=connections)
    _nfs_attributes(found, mount)
    _local_cache(found, mount)


def attribute_seconds(mount: Mount) -> tuple[int, int]:
    """Shortest and longest time that an NFS client caches a file's attributes."""
    if "noac" in mount.options:
        return 0, 0
    both = mount.number("actimeo")
    if both is not None:
        return both, both
    least, most = mount.number("acregmin"), mount.number("acregmax")
    return 3 if least is None else least, 60 if most is None else most


def _nfs_attributes(found: Findings, mount: Mount) -> None:
    least, most = attribute_seconds(mount)
    lookups, close = mount.options.get("lookupcache") or "all", "nocto" not in mount.options
    says = f"attributes are believed for {least} to {most} s"
    if most == 0:
        says = "no attribute cache: every stat asks the server, and writes are synchronous"
    says += "" if lookups == "all" else f"; lookupcache={lookups}"
    says += "" if close else "; nocto: opens do not ask the server"
    usual = (least, most, lookups, close) == (3, 60, "all", True)
    found.add(
        "nfs-attributes",
        "ok" if usual else "note",
        says,
        believed_min_s=least,
        believed_max_s=most,
        lookupcache=lookups,
        close_to_open=close,
    )


def _local_cache(found: Findings, mount: Mount) -> None:
    cached = "fsc" in mount.options
    says = "reads may come from FS-Cache on this host" if cached else "no FS-Cache"
    found.add("fs-cache", "warning" if cached else "ok", says, fscache=cached)


def _lustre(found: Findings, mount: Mount) -> None:
    word = next((w for w in ("localflock", "flock") if w in mount.options), "noflock")
    level = "note" if word == "noflock" else "ok"
    found.add("lustre-locks", level, f"locks: {word}", flock=word)
    lazy = "lazystatfs" in mount.options
    says = "lazystatfs: statfs leaves out servers that are down" if lazy else "nolazystatfs"
    found.add("lustre-statfs", "ok" if lazy else "warning", says, lazystatfs=lazy)


def _ceph(found: Findings, mount: Mount) -> None:
    if mount.kind == "ceph":
        word = next((w for w in ("nowsync", "wsync") if w in mount.options), None)
        says = {
            "wsync": "wsync: creates and deletes wait for the MDS",
            "nowsync": "nowsync: creates and deletes may return before the MDS has been asked",
            None: "neither wsync nor nowsync: creates are asynchronous on Linux 5.17 and later",
        }[word]
        found.add("ceph-async", "ok" if word == "wsync" else "note", says, option=word)
        _local_cache(found, mount)


def _smb(found: Findings, mount: Mount) -> None:
    cache = mount.options.get("cache") or "strict"
    believed = mount.number("actimeo")
    believed = 1 if believed is None else believed
    says = f"cache={cache}; attributes are believed for {believed} s"
    level = "warning" if cache == "loose" else "ok"
    found.add("smb-cache", level, says, cache=cache, believed_s=believed)


def _local(found: Findings, mount: Mount) -> None:
    off = "nobarrier" in mount.options or mount.options.get("barrier") == "0"
    mode = mount.options.get("data")
    says = "no write barriers" if off else "write barriers are on"
    says += f", data={mode}" if mode else ""
    found.add("local-barriers", "warning" if off else "ok", says, barriers=not off, data_mode=mode)


def _fuse(found: Findings, mount: Mount) -> None:
    most = mount.number("max_read")
    says = f"{mount.kind}: what the daemon caches cannot be seen from outside"
    if most is not None and 0 < most < _UNCUT_BYTES:
        says += f"; reads are cut into pieces of {size(most)}"
    found.add("fuse-daemon", "note", says, max_read_bytes=most)
