"""Data that travels between layers.

Arrays follow one missing-data rule, the core's: a missing duration or ratio is NaN in a float64
column, a missing instant is ``NULL_NS`` in an int64 column. Nothing else stands for "missing".
numpy is imported by whoever fills a frame, not here, so that ``iosonde now`` stays quick.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypedDict

if TYPE_CHECKING:
    from iosonde.model.arrays import Column
    from iosonde.model.events import SlowEvent
    from iosonde.model.verdicts import Unjudged


NULL_NS = -(2**63)
"""Null of an int64 column (instants)."""


class TargetRef(NamedTuple):
    """One watched directory as seen from one probing host."""

    host: str
    target: str


class SeriesKey(NamedTuple):
    """One time series. The period belongs to it: an idle client answers slower than a busy one."""

    host: str
    target: str
    op: str
    period_ns: int


class Frame:
    """Columns of equal length, in a fixed order.

    ``frame["due_ns"]`` is an array, ``len(frame)`` its rows.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: Mapping[str, Column]) -> None:
        self.columns: dict[str, Column] = dict(columns)
        lengths = {len(column) for column in self.columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of different lengths: {sorted(lengths)}")

    def __getitem__(self, name: str) -> Column:
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def keys(self) -> list[str]:
        """Column names in order."""
        return list(self.columns)

    def take(self, rows: Column | slice) -> Frame:
        """The rows of a mask, an index array or a slice."""
        return Frame({name: column[rows] for name, column in self.columns.items()})

    def with_columns(self, more: Mapping[str, Column]) -> Frame:
        """A frame with ``more`` columns added or replaced."""
        return Frame({**self.columns, **more})

    def series(self) -> Iterator[tuple[SeriesKey, slice]]:
        """Each run of equal (host, target, op, period_ns) rows.

        The frame must be sorted by these.
        """
        import numpy as np

        n = len(self)
        if n == 0:
            return
        keys = [self.columns[name] for name in ("host", "target", "op", "period_ns")]
        changed = np.zeros(n - 1, dtype=bool)
        for key in keys:
            changed |= np.asarray(key[1:] != key[:-1], dtype=bool)
        edges = [0, *(np.flatnonzero(changed) + 1).tolist(), n]
        for begin, end in itertools.pairwise(edges):
            host, target, op, period = (key[begin] for key in keys)
            yield SeriesKey(str(host), str(target), str(op), int(period)), slice(begin, end)


WindowTable = Frame
"""Rows of ``schema/tables/windows.toml``, sorted by host, target, op, period_ns, start_ns."""


@dataclass(frozen=True)
class SlowSpan:
    """Consecutive slow windows of one series.

    ``start_ns`` is refined to the first slow sample where possible (``refined``), ``end_ns`` is the
    end of the last slow window. ``slowdown`` = pooled median service time of the span's ok
    samples (``n`` of them) over the baseline that held when it began, with its 95% interval; None
    when n is too small.
    """

    key: SeriesKey
    start_ns: int
    end_ns: int
    refined: bool
    windows: int
    n: int
    baseline_ns: float
    median_ns: float | None
    slowdown: float | None
    lower: float | None
    upper: float | None
    host_busy: bool
    ongoing: bool
    """The last window of the series is part of it."""
    unknown_since_ns: int | None = None
    """The probe stopped while it went on: its end is not known."""


@dataclass(frozen=True)
class LostSpan:
    """Consecutive windows of one series in which more operations were lost than chance explains.

    Of ``n_due`` operations due in [start, end) ``n_lost`` were held up by others, did not come back or failed.
    """

    key: SeriesKey
    start_ns: int
    end_ns: int
    n_due: int
    n_lost: int


@dataclass(frozen=True)
class LateSpan:
    """Consecutive windows of one series in which the probing host was busy, by how late it was.

    Of ``n_due`` operations due in [start, end) it alone began ``n_late`` late or never.
    """

    key: SeriesKey
    start_ns: int
    end_ns: int
    n_due: int
    n_late: int


@dataclass(frozen=True)
class Usual:
    """What is usual for one series at the end of a range, and how the range compares.

    Slowdowns are those of the statistic that was asked for; None when unknown.
    """

    key: SeriesKey
    baseline_ns: float | None
    """None while learning."""
    windows: int
    """Windows of the range with a median."""
    slow_windows: int
    """Slow ones; the probing host explains ``busy_windows`` more."""
    busy_windows: int
    n_due: int
    n: int
    """Samples of the range that ended ok."""
    last: tuple[float | None, float | None, float | None]
    """Slowdown of the last such window, with its interval."""
    peak: float | None
    peak_ns: int | None
    """The largest slowdown of a window that the probing host does not explain, and when that window began."""


@dataclass(frozen=True)
class EpochChange:
    """A lasting change of what is usual: from ``began_ns`` on the middle latency is ``factor`` x before."""

    key: SeriesKey
    epoch: int
    began_ns: int
    factor: float


@dataclass(frozen=True)
class Choice:
    """Which baseline: ``guarded``, ``all-time``, ``period`` (of [since, until)) or ``sliding``."""

    kind: str = "guarded"
    since_ns: int | None = None
    until_ns: int | None = None


class SampleChoice(TypedDict, total=False):
    """Which part of a store: all of these, due in [since, until). What is left out or None takes all."""

    target: str | None
    host: str | None
    ops: Sequence[str] | None
    since_ns: int | None
    until_ns: int | None


class WhichSamples(SampleChoice, total=False):
    """The same, and of which runs."""

    runs: Sequence[str] | None


@dataclass(frozen=True)
class SlowdownQuery:
    """What ``weather.slowdown.slowdown.analyse`` is asked. Times in ns since the epoch; None = open."""

    host: str | None = None
    target: str | None = None
    ops: tuple[str, ...] | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    window_ns: int = 60_000_000_000
    statistic: str = "typ"
    trailing_ns: int = 7 * 86_400_000_000_000
    """How far the sliding median looks back: the baseline itself, or until there is another one."""
    choice: Choice = Choice()
    runs: tuple[str, ...] | None = None
    """Samples of these runs only; of figures of single operations."""
    rolled: bool = False
    """Take windows of whole ten minutes from roll-ups: much quicker, and levels are within 1%."""
    own_windows: bool = False
    """Take each series in the windows that it is judged in; ``window_ns`` does not count."""

    def which(self) -> SampleChoice:
        """The part of a store that it is about, for ``Store``'s questions."""
        ends: SampleChoice = {"since_ns": self.since_ns, "until_ns": self.until_ns}
        return {"target": self.target, "host": self.host, "ops": self.ops, **ends}

    def which_samples(self) -> WhichSamples:
        """The same with the runs, where there are samples of runs."""
        return {**self.which(), "runs": self.runs}


@dataclass(frozen=True)
class SlowdownResult:
    """Windows with what ``weather.slowdown.slowdown`` adds, and what follows from them."""

    query: SlowdownQuery
    windows: WindowTable
    spans: list[SlowSpan] = field(default_factory=list)
    usual: list[Usual] = field(default_factory=list)
    changes: list[EpochChange] = field(default_factory=list)
    """Lasting changes of what is usual, within the range."""
    lost: list[LostSpan] = field(default_factory=list)
    """Stretches in which operations were lost, by series and begin."""
    late: list[LateSpan] = field(default_factory=list)
    """Stretches in which only the probing host made operations late, likewise."""
    hung: list[SlowEvent] = field(default_factory=list)
    """Hangs, which windows of samples show only when they are over; by begin."""
    not_judged: list[Unjudged] = field(default_factory=list)
    """Intervals of the range that were not judged."""
