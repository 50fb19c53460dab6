"""Hosts whose name two machines have: their states replace each other, and their samples count as one host's.

Light imports only: ``iosonde now`` runs through here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

TOGETHER_NS = 10_000_000_000
"""States of two boots that were written so close together are of two machines: none restarts within that."""


def namesakes(states: Sequence[dict[str, Any]]) -> list[str]:
    """Names of hosts, sorted. A probe found another's state in place of its own, or two boots write at once."""
    found = {str(one["host"]) for one in states if one.get("namesake_ns") is not None}
    boots: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for state in states:
        boot, written_ns = state.get("boot_id"), state.get("written_ns")
        if state["running"] and boot and written_ns is not None:
            boots[str(state["host"])].append((int(written_ns), str(boot)))
    for host, each in boots.items():
        newest_ns = max(written_ns for written_ns, _ in each)
        if len({boot for written_ns, boot in each if newest_ns - written_ns <= TOGETHER_NS}) > 1:
            found.add(host)
    return sorted(found)
