"""Every target with its verdict: the same sentence as the terminal's."""

from __future__ import annotations

import contextlib
import threading
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.engine.reader import SampleFilter, with_samples
from iosonde.engine.states import read_states
from iosonde.model.errors import StoreError
from iosonde.model.names import host_of_rank
from iosonde.weather.fleet.answers import fleet_now
from iosonde.weather.slowdown import answers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from iosonde.weather.slowdown.answers import TargetVerdict

MOST_WHOLE = 40
"""Most targets that ``in_brief`` returns whole."""
_BRIEF = ("written_ns", "period_ns", "window_ns")
_PAST_EVERY_NS = 600_000_000_000
"""Interval between scans for targets without a live state, which read the history."""


class Targets:
    """The targets of one store. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._past: list[tuple[str, str, int]] = []
        self._past_read_ns: int | None = None

    def states(self) -> list[dict[str, Any]]:
        """States of all probes. Raises StoreError: their folder cannot be read."""
        return read_states(self.root)

    def verdicts(
        self, zone: tzinfo | None, now_ns: int, every: list[dict[str, Any]] | None = None
    ) -> Sequence[TargetVerdict]:
        """Targets with a state or samples, the worst first; sentences in ``zone``. ``every``: ``states``, read before.

        Raises StoreError only when the folder of states cannot be read.
        """
        every = self.states() if every is None else every
        past = self._past_targets(now_ns)
        # The page shows the past, too: of a target with samples, however old.
        states = answers.current(every, now_ns, {(host, target) for host, target, _ in past})
        living = {(state["host"], state["target"]) for state in every}
        # Ranks of a benchmark are no probes: their samples belong to its run.
        gone = [one for one in past if one[:2] not in living and host_of_rank(one[0]) is None]
        return answers.now(states, now_ns, zone=zone, past=gone).targets

    def described(self, zone: tzinfo | None, now_ns: int) -> list[dict[str, Any]]:
        """Targets of ``/api/targets``, the worst first. Raises StoreError as ``verdicts``."""
        return list(map(_described, self.verdicts(zone, now_ns)))

    def now(self, zone: tzinfo | None, now_ns: int) -> dict[str, Any]:
        """Content of ``/api/now``: relevant probes, the worst first, and their hosts side by side.

        Raises StoreError.
        """
        states = answers.current(self.states(), now_ns)
        found = answers.now(states, now_ns, zone=zone)
        told = ("host", "target", "kind", "severity")
        return {
            "as_of_ns": now_ns,
            "summary": found.summary(),
            "targets": [
                {name: getattr(one.finding, name) for name in told} | {"sentence": one.sentence}
                for one in found.targets
            ],
            "fleet": fleet_now(states, now_ns).to_json() if states else None,
        }

    def fleet(self, now_ns: int, every: list[dict[str, Any]]) -> dict[str, str] | None:
        """Verdict node or storage; None: fewer than two hosts watch. ``every``: ``states``."""
        states = answers.current(every, now_ns)
        if len({state["host"] for state in states}) < 2:
            return None
        found = fleet_now(states, now_ns)
        return {"sentence": found.sentence, "verdict": str(found.part.shape)}

    def _past_targets(self, now_ns: int) -> list[tuple[str, str, int]]:
        """(host, target, last due) of all stored series, some minutes old."""
        with self._lock:
            read_ns = self._past_read_ns
            if read_ns is None or not 0 <= now_ns - read_ns < _PAST_EVERY_NS:
                self._past_read_ns = now_ns
                # /api/series reports damage; the states are still readable.
                with contextlib.suppress(StoreError):
                    self._past = with_samples(self.root, SampleFilter(), _last_due)
            return self._past


def in_brief(described: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The targets whole if few; else without notes and operations, which are most of the bytes."""
    if len(described) <= MOST_WHOLE:
        return described
    return [
        {
            **one,
            "state": {name: one["state"].get(name) for name in _BRIEF} | {"notes": [], "ops": []},
        }
        for one in described
    ]


def _last_due(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str, int]]:
    return con.execute("SELECT host, target, max(due_ns) FROM samples GROUP BY ALL").fetchall()


def _described(one: TargetVerdict) -> dict[str, Any]:
    finding = one.finding
    return {
        "host": finding.host,
        "target": finding.target,
        "slug": one.state["slug"],
        "kind": finding.kind,
        "severity": finding.severity,
        "sentence": one.sentence,
        "brief": one.brief,
        "slowdown": finding.slowdown,
        "as_of_ns": finding.at_ns,
        "state": one.state,
    }
