"""Finding on stats of the pool: answered by a server, or by this client's cache."""

from __future__ import annotations

from typing import Any

from iosonde.doctor.finding import Findings
from iosonde.doctor.judge.options import attribute_seconds
from iosonde.host.mounts import LOCAL, MEMORY, Mount
from iosonde.model.units import format_duration

_HOLDERS = {
    "lustre": "this client holds the lock of what it created (ldlm lru_max_age) and may answer",
    "gpfs": "this node holds the token of what it created and may answer (maxStatCache)",
    "ceph": "this client may hold the capability of what it created and answer itself",
    "fuse.ceph-fuse": "this client may hold the capability of what it created and answer itself",
}


def judge_stat(
    found: Findings, mount: Mount | None, place: dict[str, Any] | None, period_ns: int
) -> None:
    """Judge stats by file age: a file is first statted a third of the pool after its creation."""
    pools = (place or {}).get("pools") or []
    if mount is None or not pools:
        return
    files = max(pool["files"] for pool in pools)
    age_ns = files // 3 * period_ns
    age = format_duration(age_ns)
    facts: dict[str, Any] = {"age_ns": age_ns, "files": files, "period_ns": period_ns}
    believed_s = _believed_s(mount)
    if believed_s is not None:
        facts["believed_s"] = believed_s
        if age_ns > believed_s * 1e9:
            says = (
                f"a file is statted {age} after its creation: attributes of {believed_s} s are past"
            )
            found.add("stat-cache", "ok", says, **facts)
        else:
            says = (
                f"a file is statted {age} after its creation, and attributes are believed for up to "
                f"{believed_s} s: the client may answer"
            )
            found.add("stat-cache", "note", says, **facts)
        return
    says = f"a file is statted {age} after its creation; {_holder(mount)}"
    found.add("stat-cache", "note", says, **facts)


def _believed_s(mount: Mount) -> int | None:
    if mount.kind in ("nfs", "nfs4"):
        return attribute_seconds(mount)[1]
    if mount.kind in ("cifs", "smb3"):
        believed = mount.number("actimeo")
        return 1 if believed is None else believed
    return None


def _holder(mount: Mount) -> str:
    if mount.kind in _HOLDERS:
        return _HOLDERS[mount.kind]
    if mount.kind in MEMORY:
        return "it is memory"
    if mount.kind in LOCAL:
        return "the kernel's inode cache answers while it has room: this is no measure of the disk"
    if mount.fuse:
        return "the daemon decides how long attributes are believed"
    return "this client's caching of attributes is unknown"
