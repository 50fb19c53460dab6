"""Which series are peers: the same operation on parts that are alike.

::

    a host        its targets whose names differ in numbers only (disk1, disk2; sda, sdb), or components of one whole
    a target      the hosts that watch it
    a parent      what imported tables of parts put into one enclosure, or under one model, wherever it is

Members of a group are compared only if there are at least ``LEAST``: with fewer nobody can say which is the odd one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from iosonde.model.names import host_of_rank

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from iosonde.model.frames import SeriesKey

LEAST = 4
_NUMBER = re.compile(r"\d+|(?<=\bsd|\bvd|\bhd)[a-z]{1,3}\b")
"""Numbers, and the letters that Linux counts disks by: sda, sdb, ..., sdaa."""
Shared = Literal["host", "target", "parent"]


class PeerGroup(NamedTuple):
    """Peers. ``shared``: what they have in common, and its ``name``; ``kind``: what names of targets have in common."""

    shared: Shared
    name: str
    kind: str
    op: str
    period_ns: int


def groups_of(
    keys: Iterable[SeriesKey],
    whole: Mapping[tuple[str, str], str],
    parents: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> dict[PeerGroup, list[SeriesKey]]:
    """Groups of at least ``LEAST`` members, these in order.

    ``whole``: of what a (host, target) is a component; ``parents``: of each ``host/target``, or of each target of any
    host.
    """
    found: dict[PeerGroup, list[SeriesKey]] = defaultdict(list)
    for key in sorted(keys):
        if host_of_rank(key.host) is not None:
            continue
        kind = whole.get((key.host, key.target)) or _NUMBER.sub("#", key.target)
        if kind != key.target:
            found[PeerGroup("host", key.host, kind, key.op, key.period_ns)].append(key)
        found[PeerGroup("target", key.target, key.target, key.op, key.period_ns)].append(key)
        for parent in {*parents.get(key.target, ()), *parents.get(f"{key.host}/{key.target}", ())}:
            found[PeerGroup("parent", parent, "", key.op, key.period_ns)].append(key)
    return {group: some for group, some in found.items() if len(some) >= LEAST}
