"""A lap of this process's ranks, as somebody looks on: progress, snapshots, and the patience with what hangs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace

from iosonde.bench.metadata import local_ranks as crew
from iosonde.bench.metadata.local_ranks import POLL_MS, Crew, core_errors
from iosonde.bench.metadata.result import PhaseResult, Watch
from iosonde.bench.metadata.tallies import Lap, OpLap

_SNAPSHOT_S = 2.0


class Going:
    """Lets the ranks of a crew go; the first of them has number ``first``."""

    def __init__(self, crew: Crew, place: str, first: int, watch: Watch) -> None:
        self._crew, self._place, self._first, self._watch = crew, place, first, watch
        self._last_snapshot = 0.0

    def go(
        self, limit: dict[str, int | None], waiting_factor: float, seen: PhaseResult | None
    ) -> list[Lap]:
        """Go on with what was loaded, up to a limit. ``seen``: the phase to tell of meanwhile; None: of none."""
        core = self._crew.core
        order = {"do": "go", "limit": limit, "waiting_factor": waiting_factor}
        core.order(json.dumps(order))
        asked_to_end: float | None = None
        while not core.wait(POLL_MS):
            now = time.monotonic()
            self._look(seen, now)
            if self._watch.wanted() and asked_to_end is None:
                asked_to_end = now
                core.stop()
            if asked_to_end is not None and now - asked_to_end > crew.PATIENCE_S:
                break
        with core_errors(self._place):
            answers = core.answers()
        return [
            self._hanging(at) if text is None else Lap.from_core(text)
            for at, text in enumerate(answers)
        ]

    def _look(self, seen: PhaseResult | None, now: float) -> None:
        readings = json.loads(self._crew.core.read())
        if seen is None:
            return
        counts = [sum(r[name] for r in readings) for name in ("ended", "planned", "failed")]
        self._watch.progress(seen.phase, *counts)
        if now - self._last_snapshot > _SNAPSHOT_S:
            self._last_snapshot = now
            laps = [self._so_far(at, ops) for at, ops in self._copies()]
            if laps:
                self._watch.result(replace(seen, laps=tuple(laps), snapshot=True))

    def _copies(self) -> list[tuple[int, list[OpLap]]]:
        copies = json.loads(self._crew.core.so_far())
        return [
            (at, [OpLap.from_core(op) for op in ops])
            for at, ops in enumerate(copies)
            if ops is not None
        ]

    def _so_far(self, at: int, ops: list[OpLap]) -> Lap:
        return Lap(self._first + at, None, 0, "limit", 0, 0, 0, 0, tuple(ops))

    def _hanging(self, at: int) -> Lap:
        """A rank that does not answer: what it had done when it last could say so."""
        known = dict(self._copies())
        reading = json.loads(self._crew.core.read())[at]
        lap = self._so_far(at, known.get(at, []))
        op, ns = reading["open"] or ("", 0)
        op = op.removeprefix("md_") or "what is between operations"
        self._watch.note(f"rank {lap.rank} hangs in {op} for {ns / 1e9:.0f} s: it was given up")
        return replace(lap, end="hanging")

    def samples(self, laps: Sequence[Lap]) -> tuple[tuple[int, int, dict[str, bytes]], ...]:
        """The kept operations of a phase: rank, when it began, columns."""
        found = [(lap, self._crew.core.rows(at)) for at, lap in enumerate(laps)]
        return tuple(
            (lap.rank, lap.began_ns, rows)
            for lap, rows in found
            if rows is not None and lap.began_ns is not None
        )
