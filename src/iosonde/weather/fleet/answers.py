"""What doors ask of a fleet: the matrix of hosts and targets, its verdict, its sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.engine.states import read_states
from iosonde.host.clocks import ClockOffset, clock_offsets
from iosonde.model.units import HOUR_NS
from iosonde.weather import answers
from iosonde.weather.fleet import words
from iosonde.weather.fleet.matrix import FleetMatrix, of_findings, of_windows
from iosonde.weather.fleet.shapes import FleetPart, slow_part
from iosonde.weather.forget import current

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from iosonde.weather.store import Store

INTERVAL_NS = HOUR_NS
"""Of this length, around the instant, is an interval that has only an instant."""


@dataclass(frozen=True)
class Fleet:
    """``sentence`` says what ``part`` of ``matrix`` is slow; ``clocks``: hosts whose clocks are wrong."""

    matrix: FleetMatrix
    part: FleetPart
    sentence: str
    clocks: tuple[ClockOffset, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON; ``rows`` has a row a host, the slowest first."""
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
                {"host": host, "slowdown": _plain(matrix.slowdown[row]), "words": list(words_of)}
                for row, (host, words_of) in enumerate(zip(matrix.hosts, matrix.words, strict=True))
            ],
            "clocks": [clock._asdict() | {"sentence": words.clock(clock)} for clock in self.clocks],
        }


def _plain(row: Any) -> list[float | None]:
    """Ratios; null where nothing is known, and where operations hang: ``words`` says which."""
    return [float(value) if np.isfinite(value) else None for value in row]


def fleet_now(states: Sequence[dict[str, Any]], now_ns: int) -> Fleet:
    """Hosts beside each other as their probes see every target now."""
    states = current(states, now_ns)
    clocks = clock_offsets(states, now_ns)
    findings = answers.now(states, now_ns)
    fleet = _judged(of_findings(findings), clocks)
    ages = [one.evidence["age_ns"] for one in findings if "shipped_ns" in one.evidence]
    if not ages:
        return fleet
    return replace(fleet, sentence=f"{fleet.sentence}; {words.seen(max(ages))}")


def fleet_of(root: Path, now_ns: int) -> Fleet:
    """``fleet_now`` of a store. Raises StoreError."""
    return fleet_now(read_states(root), now_ns)


def fleet_at(store: Store, span_ns: tuple[int, int], now_ns: int) -> Fleet:
    """The same in an interval [begin, end) of the past, from samples. Raises StoreError."""
    from iosonde.model.frames import SlowdownQuery
    from iosonde.weather.slowdown.own_windows import analyse_own
    from iosonde.weather.slowdown.slowdown import learned

    query = SlowdownQuery(since_ns=span_ns[0], until_ns=span_ns[1])
    windows = analyse_own(store, query, learned(store, query)).windows
    return _judged(of_windows(windows), clock_offsets(store.states(), now_ns))


def _judged(matrix: FleetMatrix, clocks: tuple[ClockOffset, ...]) -> Fleet:
    part = slow_part(matrix.slowdown)
    return Fleet(matrix, part, words.say(part, matrix), clocks)
