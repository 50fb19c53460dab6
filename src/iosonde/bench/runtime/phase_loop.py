"""Loop over a phase of this process's ranks: progress, snapshots, and a timeout for hung ranks."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.rank_group import POLL_MS, Patience, RankGroup
from iosonde.bench.runtime.result import PhaseResult, Watch
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import Limit, PhaseKey, RankRecords
from iosonde.host.pressure import CpuPressure, PressureMeter

_SNAPSHOT_S = 2.0


class PhaseLoop:
    """Runs loaded phases of a group and reports to a watch."""

    def __init__(self, group: RankGroup, watch: Watch) -> None:
        self._group, self._workload, self._watch = group, group.workload, watch
        self._last_snapshot = 0.0
        self.pressure: CpuPressure | None = None
        """Of this host, since ``forget_pressure``, while ranks were at work."""

    def forget_pressure(self) -> None:
        """Reset the CPU pressure for another phase."""
        self.pressure = None

    def run(self, key: PhaseKey, limit: Limit, *, report: bool = True) -> list[RankTally]:
        """Run the loaded work up to a limit. A hung rank is a tally too. Raises MeasureError."""
        meter = PressureMeter()
        self._workload.go(key, limit)
        patience = Patience(self._watch.wanted, self._workload.stop)
        while not self._workload.poll(POLL_MS):
            if report:
                self._report(key)
            if patience.over():
                break
        spent = meter.ended()
        self.pressure = spent if self.pressure is None else self.pressure.plus(spent)
        return [
            self._hanging(at) if tally is None else tally
            for at, tally in enumerate(self._workload.tallies())
        ]

    def records(self, ranks: Sequence[RankTally]) -> tuple[RankRecords, ...]:
        """Single events of the finished phase."""
        found = [(rank, self._workload.records(at)) for at, rank in enumerate(ranks)]
        return tuple(
            RankRecords(rank.rank, rank.began_ns, columns)
            for rank, columns in found
            if columns is not None and rank.began_ns is not None
        )

    def _report(self, key: PhaseKey) -> None:
        readings = self._workload.progress()
        sums = [sum(each) for each in zip(*(reading[:3] for reading in readings), strict=True)]
        self._watch.progress(key.name, *sums)
        now = time.monotonic()
        if now - self._last_snapshot > _SNAPSHOT_S:
            self._last_snapshot = now
            parts = enumerate(self._workload.partial())
            ranks = tuple(self._so_far(at, ops) for at, ops in parts if ops is not None)
            if ranks:
                self._watch.result(PhaseResult(key, ranks, snapshot=True))

    def _so_far(self, at: int, ops: Sequence[OpTally]) -> RankTally:
        return RankTally(self._group.first + at, None, 0, "limit", 0, 0, 0, 0, tuple(ops))

    def _hanging(self, at: int) -> RankTally:
        """Tally of a hung rank: its state at the last copy."""
        reading = self._workload.progress()[at]
        tally = self._so_far(at, self._workload.partial()[at] or ())
        op = (reading.open_op or "").removeprefix("md_") or "the code between operations"
        self._watch.note(
            f"rank {tally.rank} hangs in {op} for {reading.open_ns / 1e9:.0f} s: iosonde gave it up"
        )
        return replace(tally, end="hanging")
