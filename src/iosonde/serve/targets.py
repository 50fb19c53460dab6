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
from iosonde.weather import answers
from iosonde.weather.forget import current
from iosonde.weather.slowdown.brief import brief
from iosonde.weather.slowdown.findings import Finding, worst_first
from iosonde.weather.slowdown.words import say_all, summary

if TYPE_CHECKING:
    import duckdb

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

    def described(
        self, zone: tzinfo | None, now_ns: int, every: list[dict[str, Any]] | None = None
    ) -> list[dict[str, Any]]:
        """Targets of ``/api/targets``, the worst first; sentences in ``zone``. ``every``: ``states``, read before.

        Raises StoreError only when the folder of states cannot be read.
        """
        every = self.states() if every is None else every
        past = self._past_targets(now_ns)
        # The page shows the past, too: of a target with samples, however old.
        states = current(every, now_ns, {(host, target) for host, target, _ in past})
        living = {(state["host"], state["target"]) for state in every}
        findings = answers.now(states, now_ns)
        found = {(f.host, f.target): (f, state) for f, state in zip(findings, states, strict=True)}
        for host, target, last_ns in past:
            # Ranks of a benchmark are no probes: their samples belong to its run.
            if (host, target) not in living and host_of_rank(host) is None:
                finding = Finding("stale", "unknown", host, target, now_ns, since_ns=last_ns)
                found[host, target] = finding, _past_state(host, target, last_ns)
        ranked = worst_first([finding for finding, _ in found.values()])
        return [
            _described(finding, sentence, found[finding.host, finding.target][1])
            for finding, sentence in zip(ranked, say_all(ranked, zone), strict=True)
        ]

    def now(self, zone: tzinfo | None, now_ns: int) -> dict[str, Any]:
        """Content of ``/api/now``: relevant probes, the worst first, and their hosts side by side.

        Raises StoreError.
        """
        from iosonde.weather.fleet.answers import fleet_now

        states = current(read_states(self.root), now_ns)
        findings = worst_first(answers.now(states, now_ns))
        told = ("host", "target", "kind", "severity")
        return {
            "as_of_ns": now_ns,
            "summary": summary(findings),
            "targets": [
                {name: getattr(one, name) for name in told} | {"sentence": sentence}
                for one, sentence in zip(findings, say_all(findings, zone), strict=True)
            ],
            "fleet": fleet_now(states, now_ns).to_json() if states else None,
        }

    def fleet(self, now_ns: int, every: list[dict[str, Any]]) -> dict[str, str] | None:
        """Verdict node or storage; None: fewer than two hosts watch. ``every``: ``states``."""
        from iosonde.weather.fleet.answers import fleet_now

        states = current(every, now_ns)
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


def _described(finding: Finding, sentence: str, state: dict[str, Any]) -> dict[str, Any]:
    return {
        "host": finding.host,
        "target": finding.target,
        "slug": state["slug"],
        "kind": finding.kind,
        "severity": finding.severity,
        "sentence": sentence,
        "brief": brief(finding.kind, finding.slowdown),
        "slowdown": finding.slowdown,
        "as_of_ns": finding.at_ns,
        "state": state,
    }


def _past_state(host: str, target: str, last_ns: int) -> dict[str, Any]:
    """State of a target with samples but no live state."""
    return {
        "host": host,
        "target": target,
        "slug": "",  # the name of a state file, and there is none
        "state": "stopped",
        "running": False,
        "written_ns": last_ns,
        "period_ns": None,
        "window_ns": None,
        "notes": [],
        "ops": [],
    }
