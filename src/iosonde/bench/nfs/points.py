"""Measurement at one rate of writes."""

from __future__ import annotations

import errno
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Ints

LEAST_DONE = 0.9
"""Share of the writes sent that a server must answer well for a point to be a load."""
LEAST_OF_Q99 = 100
"""Least number of operations for a 0.99 quantile."""


@dataclass(frozen=True)
class SweepPoint:
    """Point of a sweep. Latencies in ns from the due time of a call, of successful calls; shapes (calls,).

    ``due_ns``: of these reads, after the beginning of the point.
    """

    rate_per_s: float
    began_ns: int
    lasted_ns: int
    reads_due: int
    read_ns: Ints
    due_ns: Ints
    read_outcomes: Mapping[str, int]
    lag_ns: int
    """Largest lateness of this machine in sending a read."""
    write_ns: Ints
    writes: Mapping[str, int]
    """due, sent, done, done_in_time, failed, unanswered, strays, left_out, outstanding."""
    committed: tuple[int, int, int]
    ceiling: bool
    stopped: bool
    problems: tuple[str, ...]

    @property
    def longest_ns(self) -> float:
        """Longest read; NaN without any."""
        return float(self.read_ns.max()) if len(self.read_ns) else math.nan

    def quantile_ns(self, q: float) -> float:
        """The order statistic ceil(q n) of the reads; NaN if n is too small."""
        return quantile(self.read_ns, q)

    @property
    def achieved_per_s(self) -> float:
        """Rate of writes answered while writes were due."""
        return self.writes["done_in_time"] * 1e9 / self.lasted_ns if self.lasted_ns else math.nan

    @property
    def is_loaded(self) -> bool:
        """True if enough of its writes were answered well to speak of reads beside writes."""
        return self.rate_per_s > 0 and self.writes["done"] >= LEAST_DONE * self.writes["sent"] > 0

    @property
    def unanswered(self) -> int:
        """Number of reads without an answer at the end of the point."""
        return int(self.read_outcomes.get("ETIMEDOUT", 0))


def quantile(values: Ints, q: float) -> float:
    """The order statistic ceil(q n); NaN if n is too small."""
    n = len(values)
    if n == 0 or (q >= 0.99 and n < LEAST_OF_Q99):
        return math.nan
    at = max(0, math.ceil(q * n) - 1)
    return float(np.partition(values, at)[at])


def point_of(raw: Mapping[str, Any], rate_per_s: float) -> SweepPoint:
    """A point from the result of ``_core.NfsSession.point``."""
    due, sent, ended, number = (
        np.frombuffer(raw[f"probe_{name}"], np.int64)
        for name in ("due_ns", "sent_ns", "ended_ns", "errno")
    )
    good = (ended > 0) & (number == 0)
    outcomes: Counter[str] = Counter({"ok": int(good.sum())} if good.any() else {})
    for one in number[~good].tolist():
        outcomes[errno.errorcode.get(one or errno.ETIMEDOUT, "EIO")] += 1
    names = ("due", "sent", "done", "done_in_time", "failed", "unanswered", "strays", "left_out")
    return SweepPoint(
        rate_per_s=rate_per_s,
        began_ns=raw["began_ns"],
        lasted_ns=raw["lasted_ns"],
        reads_due=len(due),
        read_ns=(ended - due)[good],
        due_ns=due[good],
        read_outcomes=dict(outcomes),
        lag_ns=int((sent - due)[sent > 0].max(initial=0)),
        write_ns=np.frombuffer(raw["latency_ns"], np.int64),
        writes={name: raw[name] for name in (*names, "outstanding")},
        committed=tuple(raw["committed"]),
        ceiling=raw["ceiling"],
        stopped=raw["stopped"],
        problems=tuple(raw["problems"]),
    )
