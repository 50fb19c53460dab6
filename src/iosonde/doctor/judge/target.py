"""Findings on a target: answers, mount, device, free space."""

from __future__ import annotations

from typing import Any

from iosonde.doctor.finding import Findings, size
from iosonde.host.child import Reply
from iosonde.host.mounts import LOCAL, MEMORY, NETWORK, OVERLAY, PSEUDO, Mount

ERRORS = {
    "ESTALE": "the handle is stale: the server no longer knows this file system",
    "ENOTCONN": "nobody answers behind it: the FUSE daemon has died",
    "EHOSTDOWN": "the server is down",
    "ENOENT": "there is no such directory",
    "ENOTDIR": "it is not a directory",
    "EACCES": "this user may not list it",
    "EIO": "it answers with an input/output error",
}


def judge_answer(found: Findings, reply: Reply, mount: Mount | None) -> bool:
    """True if the target answered everything and can be listed."""
    if reply.hang is not None:
        hang = reply.hang
        on = f" ({mount.kind} from {mount.source})" if mount is not None else ""
        where = f"; wchan {hang.wchan}" if hang.wchan else ""
        stack = f"; stack {' < '.join(hang.stack[:3])}" if hang.stack else ""
        says = f"does not answer{on}: {hang.trying} for {hang.seconds:.1f} s{where}{stack}"
        found.add(
            "target-answers",
            "problem",
            says,
            trying=hang.trying,
            waited_s=round(hang.seconds, 3),
            process_state=hang.state,
            wchan=hang.wchan,
            stack=list(hang.stack),
            child_pid=hang.pid,
        )
        return False
    took_s = reply.took_ns / 1e9
    if reply.error is not None:
        found.add("target-answers", "problem", f"the question broke: {reply.error}", took_s=took_s)
        return False
    level = "ok" if took_s < 1 else "note"
    found.add("target-answers", level, f"answered everything in {took_s:.2f} s", took_s=took_s)
    error = reply.facts.get("errno")
    if error is not None:
        says = f"{ERRORS.get(error, reply.facts['error'])} ({error})"
        found.add("target-readable", "problem", says, error=error)
        return False
    says = (
        "can be listed" if reply.facts["complete"] else "is large: only some names were looked at"
    )
    found.add("target-readable", "ok", says, complete=reply.facts["complete"])
    return True


def judge_mount(
    found: Findings, path: str, mount: Mount | None, root: Mount | None, missing: str | None
) -> None:
    """Finding on the mount: the storage, or the local disk below a missing mount."""
    if missing is not None:
        says = f"/etc/fstab mounts {missing}, and it is not mounted: this is the file system below"
        found.add("target-mount", "problem", says, path=path, missing_mount=missing)
    elif mount is None:
        found.add("target-mount", "note", "is on no mount that this process can see", path=path)
    else:
        facts = {"path": path, "mount_point": mount.point, "source": mount.source}
        local = root is not None and (mount == root or mount.device == root.device)
        if local and path != "/":
            says = f"is a directory of the root file system ({mount.kind} on {mount.source})"
            found.add("target-mount", "warning", says, **facts)
        else:
            says = f"is mounted at {mount.point} from {mount.source}"
            found.add("target-mount", "ok", says, **facts)
    if mount is not None:
        _kind(found, mount)


def _kind(found: Findings, mount: Mount) -> None:
    kind = mount.kind
    facts = {"file_system": kind, "options": sorted(mount.options)}
    if kind in MEMORY:
        found.add("target-file-system", "problem", f"{kind} is memory, no storage", **facts)
    elif kind in OVERLAY:
        says = (
            f"{kind} is a layer over other file systems: creates and reads may go to different ones"
        )
        found.add("target-file-system", "warning", says, **facts)
    elif kind == "autofs":
        says = "autofs: the storage itself is mounted on access only, and is not mounted now"
        found.add("target-file-system", "warning", says, **facts)
    elif kind in PSEUDO:
        says = f"{kind} is the kernel's own, no storage"
        found.add("target-file-system", "problem", says, **facts)
    else:
        known = kind in LOCAL or kind in NETWORK or mount.fuse
        says = f"file system {kind}" + ("" if known else ", without checks of its own")
        found.add("target-file-system", "ok" if known else "note", says, **facts)
    read_only = "ro" in mount.options
    says = "is mounted read-only" if read_only else "is mounted read-write"
    found.add("target-read-only", "problem" if read_only else "ok", says, read_only=read_only)


def judge_device(found: Findings, device: dict[str, Any] | None) -> None:
    """Finding on the block device of a local file system; none for others."""
    if device is None:
        return
    rotates = {"1": "rotates", "0": "does not rotate"}.get(device["rotational"] or "", "")
    scheduler = (device["scheduler"] or "").partition("[")[2].partition("]")[0] or None
    cache = device["write_cache"]
    parts = [
        rotates,
        f"scheduler {scheduler}" if scheduler else "",
        f"cache {cache}" if cache else "",
    ]
    says = f"device {device['name']}: " + ", ".join(part for part in parts if part)
    backing = device["backing_file"]
    if backing is not None:
        says += f"; it is a loop over {backing}"
    found.add(
        "target-device",
        "ok" if backing is None else "note",
        says,
        device=device["name"],
        rotational=device["rotational"] == "1",
        scheduler=scheduler,
        write_cache=cache,
        backing_file=backing,
    )


def judge_space(found: Findings, space: dict[str, int]) -> None:
    """Finding on space for bytes and files; file systems without a fixed number of inodes report 0."""
    total, free = space["total_bytes"], space["free_bytes"]
    if total > 0:
        share = free / total
        level = "problem" if share < 0.01 else "warning" if share < 0.05 else "ok"
        says = f"{size(free)} free of {size(total)} ({100 * share:.0f}%)"
        found.add("target-space", level, says, free_bytes=free, total_bytes=total)
    inodes, free_inodes = space["inodes"], space["free_inodes"]
    if inodes > 0:
        share = free_inodes / inodes
        level = "problem" if share < 0.01 else "warning" if share < 0.05 else "ok"
        says = f"{100 * share:.0f}% of {inodes:,} inodes free"
        found.add("target-inodes", level, says, free_inodes=free_inodes, inodes=inodes)


def judge_state(found: Findings, state: dict[str, Any] | None) -> None:
    """Finding on the probe's last state; hangs of writes are outside the doctor's scope."""
    if state is None or not state["running"]:
        return
    bad = [op["op"] for op in state["ops"] if op["state"] in ("hung", "failing")]
    busy = [op["op"] for op in state["ops"] if op["host_busy"]]
    if bad:
        says = f"the probe says {state['state']}: " + ", ".join(bad)
        found.add("target-state", "problem", says, state=state["state"], ops=bad)
    elif busy:
        says = "slow, but the probing host explains it: " + ", ".join(busy)
        found.add("target-state", "note", says, state=state["state"], ops=busy)
    else:
        found.add("target-state", "ok", f"the probe says {state['state']}", state=state["state"])
