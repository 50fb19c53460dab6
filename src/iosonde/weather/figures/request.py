"""Request for a figure: kind, range, phases; the same from the terminal and the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from iosonde.model.errors import UsageError
from iosonde.model.names import runs_called
from iosonde.model.ops import SECOND_NS

if TYPE_CHECKING:
    from iosonde.model.frames import SlowdownQuery
    from iosonde.model.phases import Phase
    from iosonde.weather.samples.periods import RunRef
    from iosonde.weather.slowdown.baseline import LearntBaselines

KINDS = ("points", "hosts", "phases", "statistics", "timeline", "slowdown", "bursts", "density")
_HOUR = 3600 * SECOND_NS
SPANS_NS = {
    "points": 600 * SECOND_NS,
    "hosts": _HOUR,
    "phases": _HOUR,
    "statistics": 30 * 24 * _HOUR,
    "timeline": 30 * 24 * _HOUR,
    "slowdown": 30 * 24 * _HOUR,
    "bursts": 24 * _HOUR,
    "density": 24 * _HOUR,
}
"""Default range of each kind of figure."""
_INTERVALS = 200
_ROUND_NS = tuple(s * SECOND_NS for s in (10, 30, 60, 300, 600, 1800, 3600, 14_400, 86_400))
SPARSE, ABOVE_NS, SEED = 1500, 100_000_000, 1
"""Sparse figure of points: number at random, latency above which all are drawn, and the random seed."""
OF_RUNS = ("points", "statistics", "density", "bursts")
"""Figures that may show a run."""
_AIR = 0.04
"""Margin around the phases, as a share of their length."""


@dataclass(frozen=True)
class FigureRequest:
    """Request for a figure. ``query`` has a range: neither end is None.

    ``expected`` is what phases are compared with (``weather.figures.phases``), ``windows_ns`` the lengths
    of the slowdown figure, ``short_ns`` that of the bursts' windows (None: what their density allows).
    ``sparse``: about so many points of an op at random, and each above ``above_ns`` (None: all points).
    """

    kind: str
    query: SlowdownQuery
    phases: tuple[Phase, ...] = ()
    expected: str = "usual"
    windows_ns: tuple[int, ...] = (600 * SECOND_NS, 4 * _HOUR)
    short_ns: int | None = None
    sparse: int | None = None
    above_ns: int = ABOVE_NS
    known: LearntBaselines | None = None
    """Known baselines, if available."""
    now_ns: int | None = None
    """None: the end of the range."""

    @property
    def span_ns(self) -> tuple[int, int]:
        """[since, until)."""
        since, until = self.query.since_ns, self.query.until_ns
        if since is None or until is None:
            raise ValueError("a figure needs a range with two ends")
        return since, until


def default_range(
    kind: str, since_ns: int | None, until_ns: int | None, now_ns: int, phases: Sequence[Phase] = ()
) -> tuple[int, int]:
    """[since, until) of a figure: as requested, else around its phases, else the default range."""
    if phases:
        first, last = min(p.start_ns for p in phases), max(p.end_ns for p in phases)
        air = int((last - first) * _AIR)
        since_ns = first - air if since_ns is None else since_ns
        until_ns = last + air if until_ns is None else until_ns
    until = now_ns if until_ns is None else until_ns
    since = until - SPANS_NS[kind] if since_ns is None else since_ns
    return since, until


def suited_window(kind: str, length_ns: int) -> int:
    """Interval (ns) for a range: the shortest round one with at most ``_INTERVALS`` of it.

    Phases have minutes, as their paper has.
    """
    if kind == "phases":
        return 60 * SECOND_NS
    fits = (w for w in _ROUND_NS if length_ns <= w * _INTERVALS)
    return next(fits, _ROUND_NS[-1])


def suited_windows(length_ns: int) -> tuple[int, int]:
    """A short and a long interval (ns) for slowdown: ten minutes and four hours for weeks, less for less."""
    long = suited_window("slowdown", length_ns)
    shorter = [w for w in _ROUND_NS if w * 12 <= long]
    return (shorter or [long])[-1], long


class RunSpan(NamedTuple):
    """Runs with samples, and the range of their due times."""

    run_ids: tuple[str, ...]
    since_ns: int
    until_ns: int


def runs_named(words: Sequence[str], known: Sequence[RunRef]) -> RunSpan:
    """Runs with these ids, or with ids that start so, as ``mdw`` for ``mdw-i0``. Raises UsageError."""
    found: list[RunRef] = []
    for word in words:
        ids = runs_called(word, [run.run_id for run in known])
        some = [run for run in known if run.run_id in ids]
        if not some:
            ids = list(dict.fromkeys(run.run_id for run in known))
            listed = ", ".join(ids[-8:]) + (", ..." if len(ids) > 8 else "")
            raise UsageError(
                f"no run with samples is called {word!r}", expected=f"one of {listed or 'none'}"
            )
        found += some
    first, last = min(run.first_ns for run in found), max(run.last_ns for run in found)
    chosen = tuple(dict.fromkeys(run.run_id for run in found))
    return RunSpan(chosen, first, last + 1)
