"""Effect of each phase of a self-test on each operation of the probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from iosonde.model.frames import NULL_NS, Frame
from iosonde.model.ops import op_order
from iosonde.model.phases import Phase
from iosonde.stats.ranks import quantile_ranks
from iosonde.weather.slowdown import rules
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats

QUIET = "quiet"
LOST_AT = 0.05
"""Share of lost operations in a phase above which it is reported."""
_COLUMNS = (
    *("host", "op", "due_ns", "began_ns", "service_ns", "response_ns", "outcome"),
    "control_runq_ns",
)


@dataclass(frozen=True, slots=True)
class ProbeSamples:
    """Samples of one op in time order; shapes (n,).

    ``latency_ns``: service time of what ended ok; of an operation whose turn passed while an earlier one was
    under way, the time until that one ended; NaN: lost. ``unqueued_ns``: without waits for a processor.
    """

    due_ns: Floats
    latency_ns: Floats
    unqueued_ns: Floats
    late_ns: Floats

    def within(self, begin_ns: int, end_ns: int) -> ProbeSamples:
        """Samples due in [begin, end)."""
        inside: Flags = (self.due_ns >= begin_ns) & (self.due_ns < end_ns)
        columns = (self.due_ns, self.latency_ns, self.unqueued_ns, self.late_ns)
        return ProbeSamples(*(column[inside] for column in columns))


@dataclass(frozen=True, slots=True)
class PhaseEffect:
    """Effect of one phase on one op, relative to the quiet time; ratios with an interval, None if unknown.

    ``verdict``: ``slow`` (the storage), ``host`` (slow, and the probing host explains it), ``lost`` (operations
    were lost), ``usual``, or ``unknown``. ``lost``: share of the ``n_due`` operations.
    """

    phase: str
    op: str
    n_due: int
    n: int
    median_ns: float | None
    slowdown: float | None
    lower: float | None
    upper: float | None
    lost: float
    verdict: str


def probe_samples(
    store: Store, target: str, since_ns: int, until_ns: int
) -> dict[str, ProbeSamples]:
    """The probe's operations due in [since, until) by op, in the order of ops. Raises StoreError."""
    frame = store.samples(_COLUMNS, target=target, since_ns=since_ns, until_ns=until_ns)
    found = {}
    for op in sorted(set(frame["op"].tolist()), key=op_order):
        found[op] = _columns(frame.take((frame["op"] == op) & (frame["outcome"] != "shed")))
    return found


def _columns(frame: Frame) -> ProbeSamples:
    ok, skipped = frame["outcome"] == "ok", frame["outcome"] == "skipped"
    latency = np.where(
        ok, frame["service_ns"], np.where(skipped, frame["response_ns"], np.nan)
    ).astype(np.float64)
    waited = np.nan_to_num(np.asarray(frame["control_runq_ns"], dtype=np.float64))
    began = frame["began_ns"]
    late = np.where(began == NULL_NS, np.nan, (began - frame["due_ns"]).astype(np.float64))
    return ProbeSamples(frame["due_ns"], latency, latency - np.where(ok, waited, 0.0), late)


def phase_effects(
    samples: dict[str, ProbeSamples], quiet_ns: tuple[int, int], phases: Sequence[Phase]
) -> list[PhaseEffect]:
    """Effects on every op in every phase, phase by phase.

    The interval is distribution-free and cautious: the phase's median at one end of its 95% interval over the quiet
    median at the other end of its own.
    """
    quiet = {op: _Middle.of(one.within(*quiet_ns).latency_ns) for op, one in samples.items()}
    return [
        _effect(phase, op, one.within(phase.start_ns, phase.end_ns), quiet[op])
        for phase in phases
        for op, one in samples.items()
    ]


@dataclass(frozen=True, slots=True)
class _Middle:
    """A median with its interval, ns; NaN if there are too few samples."""

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, values: Floats) -> _Middle:
        known = np.sort(values[~np.isnan(values)])
        if not len(known):
            return cls(*(float("nan"),) * 3)
        ranks = quantile_ranks(len(known), 0.5)
        if ranks is None:
            return cls(float(known[(len(known) - 1) // 2]), float("nan"), float("nan"))
        lower, point, upper = (float(known[rank - 1]) for rank in ranks)
        return cls(point, lower, upper)


def _effect(phase: Phase, op: str, inside: ProbeSamples, quiet: _Middle) -> PhaseEffect:
    middle = _Middle.of(inside.latency_ns)
    n_due, n = len(inside.due_ns), int(np.count_nonzero(~np.isnan(inside.latency_ns)))
    ratio = middle.value / quiet.value
    lower, upper = middle.lower / quiet.upper, middle.upper / quiet.lower
    lost = 1 - n / n_due if n_due else 0.0
    return PhaseEffect(
        phase.name,
        op,
        n_due,
        n,
        _known(middle.value),
        _known(ratio),
        _known(lower),
        _known(upper),
        lost,
        _verdict(inside, quiet, (ratio, lower), lost),
    )


def _verdict(inside: ProbeSamples, quiet: _Middle, ratio: tuple[float, float], lost: float) -> str:
    value, lower = ratio
    if lost >= LOST_AT and lost * len(inside.due_ns) >= 2:
        return "lost"
    if np.isnan(lower):
        return "unknown"
    scale = quiet.value
    if not rules.slow(np.array([value * scale]), np.array([lower * scale]), np.array([scale]))[0]:
        return "usual"
    unqueued = float(np.nanmedian(inside.unqueued_ns)) / scale
    late = float(np.nanmedian(inside.late_ns)) if not np.isnan(inside.late_ns).all() else 0.0
    slowdown, alone, late_ns, middle_ns = (
        np.array([one]) for one in (value, unqueued, late, scale)
    )
    return "host" if rules.host_busy(slowdown, alone, late_ns, middle_ns)[0] else "slow"


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value
