"""What must be readable, in sets of segments: the law, apart from all that it is held against.

Of each store::

    must    segments whose rows a reader gets, each once
    may     segments whose rows a reader may get, each at most once: a kill stopped what would bring or remove them
    rolled  segments that count in roll-ups, each once, also when their samples are gone
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


class ViolationError(AssertionError):
    """A store does not keep the law."""


@dataclass
class Law:
    """What must hold of one store."""

    name: str
    must: set[str] = field(default_factory=set)
    may: set[str] = field(default_factory=set)
    rolled: set[str] = field(default_factory=set)
    lost: dict[str, int] = field(default_factory=dict)
    """When retention last took a segment's samples, or may have (a step)."""
    unrolled: dict[str, int] = field(default_factory=dict)
    """The same of its roll-up."""

    def written(self, segment: str) -> None:
        """The agent has said that its rows are written."""
        self.must.add(segment)
        self.may.add(segment)
        self.rolled.add(segment)

    def may_come(self, segments: Iterable[str]) -> None:
        """A shipment has begun."""
        self.may |= set(segments)

    def came(self, samples: set[str], rollups: set[str], since: int) -> None:
        """A shipment has ended: these came or were there, but what retention took since its begin."""
        self.must |= {one for one in samples if self.lost.get(one, -1) < since}
        self.may |= samples
        self.rolled |= {one for one in rollups | samples if self.unrolled.get(one, -1) < since}

    def may_go(self, segments: Iterable[str], step: int) -> None:
        """Retention has begun to take samples."""
        gone = set(segments)
        self.must -= gone
        self.lost |= dict.fromkeys(gone, step)

    def may_unroll(self, segments: set[str], step: int) -> None:
        """Samples go of which no roll-up is kept, or the roll-up goes."""
        self.rolled -= segments
        self.unrolled |= dict.fromkeys(segments, step)


def check_rows(found: Mapping[str, int], must: set[str], may: set[str], where: str) -> None:
    """Raise ViolationError unless each segment that must counts once, and no other that may not."""
    twice = [segment for segment, times in found.items() if times != 1]
    if twice:
        raise ViolationError(f"{where}: counted {found[twice[0]]} times: {twice}")
    if lost := must - found.keys():
        raise ViolationError(f"{where}: lost: {sorted(lost)}")
    if strange := found.keys() - may:
        raise ViolationError(f"{where}: from nowhere: {sorted(strange)}")


def check_sums(
    found: Counter[int],
    known: set[str],
    rows: Mapping[str, Mapping[int, int]],
    exact: bool,
    where: str,
) -> None:
    """Raise ViolationError unless intervals count the rows of ``known`` segments; not ``exact``: at most."""
    right: Counter[int] = Counter()
    for segment in known:
        right.update(rows[segment])
    over = {interval: n for interval, n in found.items() if n > right[interval]}
    if over:
        raise ViolationError(f"{where}: roll-ups count too much: {over}, right: {dict(right)}")
    if exact and found != right:
        raise ViolationError(f"{where}: roll-ups count {dict(found)}, right: {dict(right)}")
