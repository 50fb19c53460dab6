"""Agents' knowledge of the pinged place: their verdicts, and the usual latencies there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from iosonde.host.mounts import Mount, below, mount_of
from iosonde.weather.slowdown.findings import Finding, from_states, is_live, worst_first

BLOCK_BYTES = 1 << 20
OBJECT_BYTES = 3901
"""Object size of a probe without options."""


class Watched(NamedTuple):
    """``findings``: of every live probe of the same file system, the worst first.

    ``usual_ns``: of each op its usual median, from this host's probe where there is one; empty: not known. A ping with
    transfers and objects of ``block_bytes`` and ``object_bytes`` can be compared with it.
    """

    findings: tuple[Finding, ...]
    usual_ns: Mapping[str, float]
    block_bytes: int
    object_bytes: int


def watched(
    states: Sequence[dict[str, Any]], mounts: Sequence[Mount], path: str, host: str, now_ns: int
) -> Watched:
    """Knowledge about ``path``, absolute. Text work: it touches no file system except that of the states."""
    near = [state for state in states if state["path"] and _same_place(mounts, state["path"], path)]
    findings = from_states(near, now_ns)
    live = [
        (state, finding) for state, finding in zip(near, findings, strict=True) if is_live(finding)
    ]
    ranked = sorted(live, key=lambda one: (one[0]["host"] != host, -len(one[0]["path"])))
    head = ranked[0][0] if ranked else {}
    usual = {
        str(op["op"]): float(op["baseline_ns"]) for op in head.get("ops", []) if op["baseline_ns"]
    }
    return Watched(
        tuple(worst_first([finding for _, finding in live])),
        usual,
        head.get("block_bytes") or BLOCK_BYTES,
        head.get("object_bytes") or OBJECT_BYTES,
    )


def _same_place(mounts: Sequence[Mount], watched_path: str, path: str) -> bool:
    """True if both lie on one mount, or one below the other if the mount table does not tell."""
    here, there = mount_of(mounts, path), mount_of(mounts, watched_path)
    if here is None or there is None:
        return below(path, watched_path)
    return (here.point, here.device) == (there.point, there.device)
