"""Reads beside ever faster writes over NFS: a sweep with its rows in the store, a sweep of a known server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.backends.nfs_place import NfsPlace, parse_nfs
from iosonde.bench.nfs.check import (
    CheckVerdict,
    KnownQueue,
    NfsCheck,
    check_connections,
    check_knee,
)
from iosonde.bench.nfs.points import SweepPoint, quantile
from iosonde.bench.nfs.rows import run_id_of, sweep_rows
from iosonde.bench.nfs.spec import STABILITIES, SweepSpec
from iosonde.bench.nfs.sweep import Sweep, SweepObserver, run_sweep
from iosonde.bench.nfs.words import caution, latency_word, rate_word, say_sweep
from iosonde.bench.runs import store
from iosonde.model.answer import Block, Prose, TableBlock
from iosonde.model.errors import StoreError
from iosonde.model.runs import RunRow

if TYPE_CHECKING:
    from iosonde.drawing.sheet import Sheet

__all__ = [
    "STABILITIES",
    "CheckVerdict",
    "KnownQueue",
    "MeasuredSweep",
    "SweepPoint",
    "SweepSpec",
    "check_client",
    "latency_word",
    "measure_sweep",
    "parse_nfs",
    "rate_word",
]
_BUSY = "This host was busy: what it explains says nothing of the client; try again on a quiet one."
_HEAD = ("writes/s", "answered/s", "reads", "longest", "q99", "median", "write q50", "")


@dataclass
class MeasuredSweep:
    """A sweep, its rows, and the reason why the store did not take them."""

    sweep: Sweep
    rows: list[RunRow]
    problem: StoreError | None

    def shown(self) -> list[Block]:
        """A row a rate, and what it comes to."""
        return _sweep_blocks(self.sweep)

    def picture(self, name: str) -> Sheet | None:
        """Reads over the rate of writes; None: no read was answered under load."""
        from iosonde.bench.nfs.sheet import sweep_sheet

        return sweep_sheet(self.sweep, name)


def measure_sweep(
    place: NfsPlace,
    spec: SweepSpec,
    root: Path | None,
    observer: SweepObserver,
    now_ns: Callable[[], int],
) -> MeasuredSweep:
    """Run a sweep and store it; ``root`` None stores nothing. Raises MeasureError, UsageError."""
    began_ns = now_ns()
    sweep = run_sweep(place, spec, observer, now_ns)
    rows = sweep_rows(run_id_of(began_ns), place, spec, sweep.points)
    problem = None
    if root is not None and rows:
        try:
            store.write(root, rows, began_ns)
        except StoreError as error:
            problem = error
    return MeasuredSweep(sweep, rows, problem)


@dataclass
class CheckedClient:
    """Numbers measured of a known server, beside the true ones."""

    sweep: Sweep
    checks: list[NfsCheck]

    @property
    def verdict(self) -> CheckVerdict:
        """The worst verdict of all checks."""
        found = {check.verdict for check in self.checks}
        worst = (CheckVerdict.WRONG, CheckVerdict.BUSY)
        return next((one for one in worst if one in found), CheckVerdict.GOOD)

    def shown(self) -> list[Block]:
        """The sweep, and a row a check."""
        rows = [[check.what, check.true, check.found, check.verdict] for check in self.checks]
        table = TableBlock(("", "true", "measured", ""), rows)
        busy = any(check.verdict is CheckVerdict.BUSY for check in self.checks)
        return [*_sweep_blocks(self.sweep), "", table, *(("", _BUSY) if busy else ())]


def check_client(
    queue: KnownQueue, connections: Sequence[int], observer: SweepObserver
) -> CheckedClient | None:
    """Measure a known server with so many connections each, then its knee; None: the observer wanted an end."""
    checks = []
    for number in connections:
        checks += check_connections(queue, number, observer)
        if observer.wanted():
            return None
    sweep, knee = check_knee(queue, observer)
    return None if observer.wanted() else CheckedClient(sweep, checks + knee)


def _sweep_blocks(sweep: Sweep) -> list[Block]:
    """A row a rate, rising, and what it comes to."""
    rows = [
        [
            rate_word(p.rate_per_s),
            rate_word(p.achieved_per_s) if p.rate_per_s else "",
            f"{p.read_outcomes.get('ok', 0)}/{p.reads_due}",
            latency_word(p.longest_ns),
            latency_word(p.quantile_ns(0.99)),
            latency_word(p.quantile_ns(0.5)),
            latency_word(quantile(p.write_ns, 0.5)) if p.rate_per_s else "",
            caution(p),
        ]
        for p in sorted(sweep.points, key=lambda p: p.rate_per_s)
    ]
    return [TableBlock(_HEAD, rows, 0), "", *(Prose(text) for text in say_sweep(sweep))]
