"""Verdict of an adaptive run from its rows: clients, servers or background work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from iosonde.bench.adaptive.rates import Rates, rates
from iosonde.bench.adaptive.verdict import LimitVerdict, RateTrend, judge
from iosonde.bench.runs.host import PRESSED, QUEUED
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.runs import RunRow
from iosonde.queue.capacity import Capacity, capacity

PHASE = "benchmark"
BUSY_CPU = 0.9
"""Share of the CPUs used by the ranks above which the client may be the limit."""
COMPUTED = 0.70
"""Share of an operation's time in computing above which the client's own work dominates."""
FEWEST_FITTED = 3
"""Least number of measurements for capacity, which has no interval below."""
FAILED = 0.01
"""Share of failed operations above which the words mention it."""


@dataclass(frozen=True)
class ClientPressure:
    """CPU pressure: medians over measurements without waits, shares from 0 to 1; None = unknown.

    ``queued``: of their time ranks waited for a processor, at the level where they did most; ``stalled``: in which some
    task of the host did (PSI); ``host``: of the host's processors that were busy; ``computed``: of the operations' time
    that the ranks computed.
    """

    queued: float | None = None
    stalled: float | None = None
    host: float | None = None
    computed: float | None = None

    @property
    def limiting(self) -> bool:
        """True if the operations' time is the client's own: computing, or waiting for a CPU."""
        if (self.computed or 0.0) >= COMPUTED:
            return True
        if self.queued is not None:
            return self.queued >= QUEUED
        if self.stalled is not None:
            return self.stalled >= PRESSED
        return (self.host or 0.0) >= BUSY_CPU


@dataclass(frozen=True)
class AdaptiveResult:
    """Result of one adaptive run.

    ``capacity`` is None where the rates are not those of clients and servers alone (they fall, or rise by more than
    waits explain, or by those of a single client), and of fewer than ``FEWEST_FITTED`` measurements. ``cpu_share``: of
    the client's CPUs, used by the ranks without waits, 0 to 1, and ``cpu_share_waiting`` at the largest T;
    ``failed_share`` of operations; None = missing. ``clients``: ranks, each with one operation at a time.
    """

    run_id: str
    target: str
    backend: str
    clients: int
    rates: Rates
    verdict: LimitVerdict
    capacity: Capacity | None
    cpu_share: float | None
    cpu_share_waiting: float | None
    failed_share: float | None
    pressure: ClientPressure
    one_of_many: bool = False
    """True if the rows are of one rank out of an unknown number: the total rate, and capacity, are unknown."""

    @property
    def without_waits_per_s(self) -> float:
        """Median over measurements of the rate at T = 0."""
        return float(np.nanmedian(self.rates.corrected_per_s[:, 0]))

    def levels(self) -> list[tuple[float, float, int]]:
        """Waiting factor, median of its corrected rate, and number of its measurements."""
        per_s = self.rates.corrected_per_s
        medians, n = np.nanmedian(per_s, axis=0), np.isfinite(per_s).sum(axis=0)
        return list(zip(self.rates.level.tolist(), medians.tolist(), n.tolist(), strict=True))

    @property
    def client_limited(self) -> bool:
        """True if this client's CPUs are the limit, whatever the rates look like."""
        return self.pressure.limiting or self.client_busy

    @property
    def client_busy(self) -> bool:
        """True if the client's CPUs are saturated without waits."""
        return self.cpu_share is not None and self.cpu_share >= BUSY_CPU

    @property
    def busy_waiting(self) -> bool:
        """True if the CPUs are saturated even at the largest think time."""
        return self.cpu_share_waiting is not None and self.cpu_share_waiting >= BUSY_CPU


def adaptive(rows: Iterable[RunRow], *, servers: int = 1) -> AdaptiveResult:
    """Verdict of one run. Ignores rows of other phases, of single ops, and without a rate.

    Where there is no row of all ranks together, rows of ranks are added up if every rank has one. Shares of
    CPUs are ``machine["cpu_share"]`` of the rows: CPU time of the ranks over duration times CPUs they may use.
    ``servers``: how many serve one queue.
    Raises NothingMeasuredError without rates at T = 0 and above, UsageError for rows of several runs.
    """
    measured = phase_rows(rows)
    if len(names := list(dict.fromkeys(row.run_id for row in measured))) > 1:
        raise UsageError(
            f"a verdict is of one run, not of {len(names)}",
            expected="one of " + ", ".join(names[:4]),
        )
    totals = _totals(measured)
    try:
        found = rates(
            _numbers(totals),
            [row.waiting_factor for row in totals],
            [_measured(row) for row in totals],
            [np.nan if row.corrected_per_s is None else row.corrected_per_s for row in totals],
        )
        verdict = judge(found)
    except ValueError as error:
        raise NothingMeasuredError(
            f"there is no verdict on this run: {error}",
            hint="'iosonde bench metadata --adaptive'",
        ) from error
    clients = max(row.ranks or 1 for row in totals)
    one_of_many = any("only_rank" in row.parameters.get("reported", {}) for row in totals)
    seen = (verdict.trend, verdict.leaning)
    # A client that is alone meets no queue of its own: where its rate rises, something else is the reason.
    alone = one_of_many or (clients == 1 and RateTrend.INCREASES in seen)
    sound = verdict.plausible and RateTrend.DECREASES not in seen and not alone
    enough = found.measurements >= FEWEST_FITTED
    first = totals[0]
    cpu_share, pressure = _machine_share(totals, 0.0, "cpu_share"), _pressure(totals)
    sound &= not pressure.limiting and (cpu_share or 0.0) < BUSY_CPU
    return AdaptiveResult(
        first.run_id,
        first.target,
        first.backend,
        clients,
        found,
        verdict,
        capacity(found.measured, found.corrected_per_s, clients, servers)
        if sound and enough
        else None,
        cpu_share,
        _machine_share(totals, float(found.level[-1]), "cpu_share"),
        _failed_share(totals),
        pressure,
        one_of_many,
    )


def phase_rows(rows: Iterable[RunRow]) -> list[RunRow]:
    """Rows of the benchmark phase, all ops together, of single ranks and of all ranks."""
    return [row for row in rows if row.phase == PHASE and row.op is None]


def _numbers(totals: Sequence[RunRow]) -> list[int]:
    """Measurement number of each row: for other tools' runs, which repeat all waiting factors, the repetition."""
    numbered = any(row.measurement for row in totals)
    return [row.measurement if numbered else row.repetition for row in totals]


def _measured(row: RunRow) -> float:
    """Measured T; NaN = missing."""
    if not row.op_time_ns or row.wait_time_ns is None:
        return np.nan
    return row.wait_time_ns / row.op_time_ns


def _totals(rows: Sequence[RunRow]) -> list[RunRow]:
    """Row of each measurement: that of all ranks, or the sum of the ranks' rows."""
    together = [row for row in rows if row.rank is None]
    done = {_measurement(row) for row in together}
    parts: dict[tuple[float, int, int], list[RunRow]] = defaultdict(list)
    for row in rows:
        if row.rank is not None and _measurement(row) not in done:
            parts[_measurement(row)].append(row)
    whole = [ranks for ranks in parts.values() if len(ranks) == ranks[0].ranks]
    return together + [_sum(ranks) for ranks in whole]


def _measurement(row: RunRow) -> tuple[float, int, int]:
    return row.waiting_factor, row.measurement, row.repetition


def _sum(ranks: Sequence[RunRow]) -> RunRow:
    from dataclasses import replace

    def total(name: str) -> int | None:
        values = [getattr(row, name) for row in ranks]
        return None if None in values else sum(values)

    per_s = [row.corrected_per_s for row in ranks if row.corrected_per_s is not None]
    return replace(
        ranks[0],
        rank=None,
        ops=total("ops"),
        failed=total("failed"),
        op_time_ns=total("op_time_ns"),
        wait_time_ns=total("wait_time_ns"),
        corrected_per_s=sum(per_s) if len(per_s) == len(ranks) else None,
    )


def _pressure(totals: Sequence[RunRow]) -> ClientPressure:
    computed = [
        row.cpu_time_ns / row.op_time_ns
        for row in totals
        if row.waiting_factor == 0 and row.op_time_ns and row.cpu_time_ns is not None
    ]
    # Clients that wait pay for a pressed host when they wake up.
    levels = sorted({row.waiting_factor for row in totals})
    waited = [_machine_share(totals, level, "cpu_queue_share") for level in levels]
    return ClientPressure(
        max((share for share in waited if share is not None), default=None),
        _machine_share(totals, 0.0, "cpu_pressure"),
        _machine_share(totals, 0.0, "host_cpu_share"),
        float(np.median(computed)) if computed else None,
    )


def _machine_share(totals: Sequence[RunRow], factor: float, name: str) -> float | None:
    at = [row.machine or {} for row in totals if row.waiting_factor == factor]
    found = [machine.get(name) for machine in at]
    shares = [float(share) for share in found if isinstance(share, int | float)]
    return float(np.median(shares)) if shares else None


def _failed_share(totals: Sequence[RunRow]) -> float | None:
    if any(row.failed is None or row.ops is None for row in totals):
        return None
    ops = sum(row.ops or 0 for row in totals)
    return sum(row.failed or 0 for row in totals) / ops if ops else None
