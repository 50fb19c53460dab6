"""Hosts beside each other: the matrix of hosts and targets, its verdict, its sentence; ``iosonde now --hosts``.

Light imports only: ``iosonde now`` runs through here.
"""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.engine.states import read_states
from iosonde.model.answer import Prose, TableBlock
from iosonde.model.units import HOUR_NS, format_factor, format_time
from iosonde.weather.peers.answers import PeersAnswer, peers
from iosonde.weather.slowdown.answers import current
from iosonde.weather.slowdown.findings import from_states

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.host.clocks import ClockOffset
    from iosonde.model.answer import Block
    from iosonde.weather.fleet.matrix import FleetMatrix
    from iosonde.weather.fleet.shapes import FleetPart
    from iosonde.weather.store import Store

SCHEMA_VERSION = 1


class Fleet(NamedTuple):
    """``sentence`` says what ``part`` of ``matrix`` is slow; ``clocks``: hosts whose clocks are wrong."""

    matrix: FleetMatrix
    part: FleetPart
    sentence: str
    clocks: tuple[ClockOffset, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON; ``rows`` has a row a host, the slowest first."""
        from iosonde.weather.fleet import words

        part, matrix = self.part, self.matrix
        return {
            "sentence": self.sentence,
            "verdict": str(part.shape),
            "slow_hosts": [matrix.hosts[place] for place in part.hosts],
            "slow_targets": [matrix.targets[place] for place in part.targets],
            "slowdown": part.factor,
            "lower": part.lower,
            "upper": part.upper,
            "probability": part.sure,
            "targets": list(matrix.targets),
            "rows": [
                {
                    "host": host,
                    "slowdown": _plain(matrix.slowdown[row].tolist()),
                    "words": list(words_of),
                }
                for row, (host, words_of) in enumerate(zip(matrix.hosts, matrix.words, strict=True))
            ],
            "clocks": [clock._asdict() | {"sentence": words.clock(clock)} for clock in self.clocks],
        }


def _plain(row: list[float]) -> list[float | None]:
    """Ratios; null where nothing is known, and where operations hang: ``words`` says which."""
    return [value if isfinite(value) else None for value in row]


class HostsAnswer(NamedTuple):
    """Hosts beside each other in a span (None: now), and parts slow beside their peers. ``most``: hosts shown."""

    fleet: Fleet
    peers: PeersAnswer
    now_ns: int
    span_ns: tuple[int, int] | None = None
    most: int = 20

    @property
    def is_empty(self) -> bool:
        """True without any host."""
        return not self.fleet.matrix.hosts

    def shown(self) -> list[Block]:
        """The sentence, a table with hosts as lines, the slowest first, and targets as columns."""
        blocks: list[Block] = [Prose(self.fleet.sentence)]
        if self.span_ns is not None:
            begin, end = (format_time(ns, self.now_ns) for ns in self.span_ns)
            blocks.append(f"from {begin} to {end}")
        matrix = self.fleet.matrix
        rows = [
            [host, *map(_cell, values, words)]
            for host, values, words in zip(
                matrix.hosts, matrix.slowdown.tolist(), matrix.words, strict=True
            )
        ]
        blocks += ["", TableBlock(("host", *matrix.targets), rows[: self.most])]
        if len(rows) > self.most:
            blocks.append(f"{len(rows) - self.most} more hosts (--most {len(rows)})")
        blocks += [Prose(clock["sentence"]) for clock in self.fleet.to_json()["clocks"]]
        return [*blocks, *self.peers.shown()]

    def data(self) -> dict[str, Any]:
        """The whole matrix with its verdict, and peers."""
        begin, end = self.span_ns or (None, self.now_ns)
        about = {"schema_version": SCHEMA_VERSION, "since_ns": begin, "until_ns": end}
        return about | self.fleet.to_json() | {"peers": self.peers.data()}


def _cell(value: float, word: str) -> str:
    """``3.1x``; a word for a missing number; a dash without a probe."""
    return word or ("-" if isnan(value) else f"{format_factor(value)}x")


def around(at_ns: int) -> tuple[int, int]:
    """The hour around an instant, ns."""
    return at_ns - HOUR_NS // 2, at_ns + HOUR_NS // 2


def hosts(
    root: Path, now_ns: int, span_ns: tuple[int, int] | None = None, *, most: int = 20
) -> HostsAnswer:
    """Hosts beside each other now, or in a span of the past. ``most``: hosts shown to people. Raises StoreError."""
    from iosonde.weather.store import Store

    beside = peers(root, span_ns or (None, None), now_ns)
    past = None if span_ns is None else fleet_at(Store(root), span_ns, now_ns)
    fleet = past or fleet_now(read_states(root), now_ns)
    return HostsAnswer(fleet, beside, now_ns, span_ns, most)


def fleet_now(states: Sequence[dict[str, Any]], now_ns: int) -> Fleet:
    """Hosts beside each other as their probes see every target now."""
    from iosonde.host.clocks import clock_offsets
    from iosonde.weather.fleet import words
    from iosonde.weather.fleet.matrix import of_findings

    states = current(states, now_ns)
    clocks = clock_offsets(states, now_ns)
    findings = from_states(states, now_ns)
    fleet = _judged(of_findings(findings), clocks)
    ages = [one.evidence["age_ns"] for one in findings if "shipped_ns" in one.evidence]
    if not ages:
        return fleet
    return fleet._replace(sentence=f"{fleet.sentence}; {words.seen(max(ages))}")


def fleet_at(store: Store, span_ns: tuple[int, int], now_ns: int) -> Fleet:
    """The same in an interval [begin, end) of the past, from samples. Raises StoreError."""
    from iosonde.host.clocks import clock_offsets
    from iosonde.model.frames import SlowdownQuery
    from iosonde.weather.fleet.matrix import of_windows
    from iosonde.weather.slowdown.own_windows import analyse_own
    from iosonde.weather.slowdown.slowdown import learned

    query = SlowdownQuery(since_ns=span_ns[0], until_ns=span_ns[1])
    windows = analyse_own(store, query, learned(store, query)).windows
    return _judged(of_windows(windows), clock_offsets(store.states(), now_ns))


def _judged(matrix: FleetMatrix, clocks: tuple[ClockOffset, ...]) -> Fleet:
    from iosonde.weather.fleet import words
    from iosonde.weather.fleet.shapes import slow_part

    part = slow_part(matrix.slowdown)
    return Fleet(matrix, part, words.say(part, matrix), clocks)
