"""Results of probes for data frames: slowdown over time with slow spans, and events."""

from __future__ import annotations

from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.engine.states import read_states
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.model.frames import Choice, Frame, SlowdownQuery
from iosonde.notebook.arguments import now_ns, span
from iosonde.notebook.columns import of_frame, of_records
from iosonde.notebook.display import Answer, Pictured, TableResult, displayable
from iosonde.weather.events import answers as of_events
from iosonde.weather.series import answers as of_series
from iosonde.weather.slowdown import answers as of_now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.drawing.sheet import Sheet
    from iosonde.notebook.columns import Columns
    from iosonde.notebook.display import Figure
    from iosonde.weather.events.answers import EventsAnswer
    from iosonde.weather.series.answers import SlowdownAnswer
    from iosonde.weather.slowdown.answers import NowAnswer

_EVENT = ("kind", "host", "target", "op", "start_ns", "end_ns", "peak", "median", "lost", "n")

_NOW = (
    *("host", "target", "severity", "kind", "slowdown", "slowdown_lower", "slowdown_upper", "n"),
    *("start_ns", "at_ns", "sentence"),
)


class NowResult(Answer):
    """Verdict of every watched target, a row each, the worst first. ``data``: the findings; ``lines``: sentences.

    ``start``: since when; ``at``: when the probe was heard of last.
    """

    def __init__(self, answer: NowAnswer) -> None:
        self.data = [one.finding for one in answer.targets]
        self.lines = tuple(one.sentence for one in answer.targets)

    @property
    def columns(self) -> Columns:
        """A row per target as seen from a host."""
        rows = [
            {
                **{name: getattr(one, name) for name in ("host", "target", "severity", "kind")},
                "slowdown": one.slowdown,
                "slowdown_lower": one.lower,
                "slowdown_upper": one.upper,
                "n": one.n,
                "start_ns": one.since_ns,
                "at_ns": one.evidence.get("written_ns"),
                "sentence": sentence,
            }
            for one, sentence in zip(self.data, self.lines, strict=True)
        ]
        return of_records(rows, _NOW)

    def _shown(self) -> Columns | None:
        return {name: self.columns[name] for name in ("host", "target", "severity", "slowdown")}


def now(root: Path, targets: Sequence[str] | None) -> NowResult:
    """Ask for verdicts. Raises NothingMeasuredError: no probe left a state, or none of these targets has one."""
    at_ns = now_ns()
    states = read_states(root)
    matters = of_now.relevant(states, at_ns)
    if targets is not None:
        matters = [one for one in states if one["target"] in targets or one["path"] in targets]
    if not matters:
        raise NothingMeasuredError(
            f"no probe has a state of that in {root}",
            expected="a running probe",
            hint=".targets() lists the targets of probes",
        )
    return NowResult(of_now.now(states, at_ns, matters, zone=UTC))


class WindowsResult(TableResult):
    """Statistics of windows, a row each; ``plot`` draws all statistics over time."""

    def __init__(self, data: Frame, root: Path, query: SlowdownQuery) -> None:
        super().__init__(of_frame(data), data)
        self._root, self._query = root, query

    def plot(self, *, width_in: float = 10.0, dark: bool = False) -> Figure:
        """Draw a matplotlib figure: a row per operation, a column per target, a line per statistic.

        Raises NothingMeasuredError (no window), MissingPartError (no matplotlib), UsageError (width).
        """
        from iosonde.drawing.render_sheet import draw_sheet
        from iosonde.weather.figures.answers import FigureRequest, figure

        sheet = figure(self._root, FigureRequest("timeline", self._query), now_ns(), UTC)
        if sheet is None:
            raise NothingMeasuredError(
                f"there are no samples for this question in {self._root}",
                hint="an earlier since=, or .targets()",
            )
        return displayable(draw_sheet(sheet, width_in=width_in, dark=dark, zone=UTC))


class Slowdown(Pictured):
    """Slowdown over time, a row per window of an operation. ``data``: a ``SlowdownResult`` (windows, spans, usual).

    ``lines``: the latest slow stretches, losses and lasting changes, and what was not judged, in UTC.
    """

    def __init__(self, answer: SlowdownAnswer) -> None:
        self.data, self._answer = answer.result, answer
        self.lines = tuple(answer.sentences())

    @property
    def columns(self) -> Columns:
        """Columns of ``schema/tables/windows.toml`` and ``weather.slowdown.slowdown.analyse``; durations are ns."""
        return of_frame(self.data.windows)

    @property
    def figures(self) -> list[Sheet]:
        """Sheets, one per target, host and rate."""
        return self._answer.sheets()

    def plot(self, *, width_in: float = 10.0, dark: bool = False, place: int = 0) -> Figure:
        """As ``Pictured.plot``; ``place``: index into ``figures``."""
        return displayable(self._drawn(width_in, dark, place))

    def _drawn(self, width_in: float, dark: bool, place: int = 0) -> Figure:
        from iosonde.drawing.render_sheet import draw_sheet

        figures = self.figures
        if not 0 <= place < len(figures):
            raise UsageError(f"there is no place {place}", expected=f"0 to {len(figures) - 1}")
        return draw_sheet(figures[place], width_in=width_in, dark=dark, zone=UTC)


def slowdown(root: Path, query: SlowdownQuery) -> Slowdown:
    """Compute slowdown. Raises NothingMeasuredError: no samples for this question."""
    found = of_series.slowdown(root, query, now_ns(), UTC)
    if found.is_empty:
        raise NothingMeasuredError(
            f"there are no samples for this question in {root}",
            hint="an earlier since=, or .targets()",
        )
    return Slowdown(found)


def choice(baseline: Any) -> Choice:
    """Parse a choice of baseline. Raises UsageError."""
    if baseline in ("guarded", "all-time"):
        return Choice(baseline)
    if isinstance(baseline, tuple) and len(baseline) == 2:
        since, until = span(*baseline)
        if since is not None and until is not None:
            return Choice("period", since, until)
    raise UsageError(
        f"there is no baseline {baseline!r}",
        expected="guarded, all-time, or the two ends of a period",
    )


class EventsResult(Answer):
    """Events, a row each, by start; ``end`` is missing for an ongoing one.

    ``data``: slow events, as the store shows them; ``noted``: hangs, outages and the like, as agents noted them;
    ``seen``: who saw what, where several hosts watch a target. ``peak``, ``median`` (slowdowns) and ``lost`` are of
    ``op``. ``not_judged``: intervals that were not judged, with the reason of each; ``peers``: parts that are slow
    beside parts like them, however long.
    """

    def __init__(self, answer: EventsAnswer) -> None:
        found = answer.found
        self.data, self.seen, self.not_judged = found.slow, found.seen, found.not_judged
        self.peers = [*answer.peers.found]
        self.lines = (*answer.witnesses(), *answer.not_judged(), *answer.peers.sentences())
        self._rows = [mark._asdict() for mark in answer.marks()]

    @property
    def columns(self) -> Columns:
        """A row per event, with its sentence."""
        return of_records(self._rows, (*_EVENT, "sentence"))


def events(
    root: Path, since_ns: int | None, until_ns: int | None, target: str | None
) -> EventsResult:
    """Slow spans and logged events of agents; an alarm within a slow span shares its row."""
    now, span_ns = now_ns(), (since_ns, until_ns)
    log = of_events.event_log(root, span_ns, now)
    wanted = () if target is None else (target,)
    return EventsResult(of_events.events(root, log, span_ns, now, targets=wanted, zone=UTC))
