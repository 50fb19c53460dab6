"""Clock offsets of hosts: a probe's time in its state file against the file's time from the storage.

::

    written_ns   the probe's wall clock, when it wrote the state
    shipped_ns   the same clock, when a copy was made: then that is what the file's time is held against
    heard_ns     the modification time of the file: the file server's clock (NFS), or the client's (local disks, Lustre)

Every host of a store on NFS is measured against one clock, the server's. Where the client sets the time both are of one
clock: then the difference says nothing, and only a state from the future tells of a clock that is ahead.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

_FRESH_NS = 60_000_000_000
"""Largest age of a state file; an older one may be a copy with the time of copying."""
WRONG_NS = 2_000_000_000
"""Least offset reported; a smaller one may be the duration of a write."""


class ClockOffset(NamedTuple):
    """A host's clock minus that of the storage, or of the reader (ns); ``error_ns``: largest error."""

    host: str
    offset_ns: int
    error_ns: int
    against: str
    """``storage`` or ``reader``."""


def clock_offsets(states: Sequence[dict[str, Any]], now_ns: int) -> tuple[ClockOffset, ...]:
    """Hosts whose clocks are off by more than ``WRONG_NS``, the worst first.

    A state without ``heard_ns`` is compared with the reader's clock, which shows clocks that are ahead only.
    """
    found: dict[str, list[tuple[int, str]]] = {}
    for state in states:
        written, heard = state.get("written_ns"), state.get("heard_ns")
        if written is not None and state.get("shipped_ns") is not None:
            written = state["shipped_ns"]
        if written is None or not state.get("running"):
            continue
        if heard is not None and abs(now_ns - int(heard)) > _FRESH_NS:
            heard = None
        offset = _offset(int(written), heard, now_ns)
        found.setdefault(str(state["host"]), []).append(offset)
    wrong = []
    for host, each in found.items():
        middle = int(median(offset for offset, _ in each))
        if abs(middle) > WRONG_NS:
            spread = max(abs(offset - middle) for offset, _ in each)
            wrong.append(ClockOffset(host, middle, max(spread, WRONG_NS // 2), each[0][1]))
    return tuple(sorted(wrong, key=lambda one: (-abs(one.offset_ns), one.host)))


def _offset(written_ns: int, heard_ns: int | None, now_ns: int) -> tuple[int, str]:
    if heard_ns is not None and abs(written_ns - heard_ns) > WRONG_NS:
        return written_ns - heard_ns, "storage"
    ahead = written_ns - now_ns
    return (ahead, "reader") if ahead > WRONG_NS else (0, "storage")
