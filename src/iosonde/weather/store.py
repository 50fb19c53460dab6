"""Facade of a store folder."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

import numpy as np

from iosonde.engine.cluster import run
from iosonde.engine.contract import DERIVED, LEVEL_COLUMNS, SAMPLE_TYPES, WINDOW_KEY
from iosonde.engine.layout.months import window_series
from iosonde.engine.layout.segments import parquet_segments, rollup_segments, spool_segments
from iosonde.engine.order_statistics import floats
from iosonde.engine.ordering import in_order
from iosonde.engine.query import Query, rows
from iosonde.engine.reader import SampleFilter
from iosonde.engine.states import read_states
from iosonde.model.errors import UsageError
from iosonde.model.frames import (
    NULL_NS,
    Frame,
    SampleChoice,
    SeriesKey,
    TargetRef,
    WhichSamples,
    WindowTable,
)
from iosonde.weather.rollups.at_hand import RollupsAtHand
from iosonde.weather.rollups.fallback import dropped_targets, with_dropped
from iosonde.weather.rollups.files import IntervalColumns
from iosonde.weather.rollups.intervals import Rollups
from iosonde.weather.rollups.kept_windows import (
    kept_targets,
    kept_windows,
    merged,
    pooled_with_kept,
)
from iosonde.weather.rollups.rollups import rollups
from iosonde.weather.rollups.windows import rolled_windows, wanted
from iosonde.weather.samples.boxes import boxes_query
from iosonde.weather.samples.counts import tally_sql
from iosonde.weather.samples.operations import Operations, operations_query
from iosonde.weather.samples.time_bins import cells_sql, levels_sql, sparse_sql
from iosonde.weather.samples.windows import pooled_query, tagged, windows_query

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tags = Mapping[str, NDArray[Any]]

T = TypeVar("T")

_INSTANTS = ("due_ns", "began_ns", "ended_ns")
_NULLABLE = ("level", "offset_bytes", "control_runq_ns", *DERIVED)


class Store:
    """Samples and states below one folder.

    Holds no open file, no connection and no lock between calls, so one instance may be used from
    several threads, while probes write and a sealer runs.

    Errors: ``StoreError`` (folder unreadable), ``DamagedFileError`` (names the file).
    """

    def __init__(self, root: Path, at_hand: RollupsAtHand | None = None) -> None:
        self.root = Path(root)
        self._at_hand = at_hand

    def with_rollups(
        self, host: str | None, target: str | None, ops: Sequence[str] | None
    ) -> Store:
        """The store with the roll-ups of a scope cached. Raises StoreError."""
        scope = SampleFilter(host, target, None if ops is None else tuple(ops))
        return Store(self.root, RollupsAtHand.read(self.root, scope))

    def states(self) -> list[dict[str, Any]]:
        """The live state of every target (see ``engine.states``)."""
        return read_states(self.root)

    def probed(self) -> bool:
        """True if it has a state, samples, kept windows or roll-ups of any target."""
        kept = (
            spool_segments(self.root)
            or parquet_segments(self.root)
            or rollup_segments(self.root)
            or window_series(self.root)
        )
        return bool(kept or read_states(self.root))

    def targets(self) -> list[TargetRef]:
        """Every (host, target) with a state, samples, kept windows or roll-ups, sorted."""
        sql = "SELECT DISTINCT host, target FROM samples"
        known = self._ask(Query((sql,), _pairs, merge=operator.or_))
        living = [(s["host"], s["target"]) for s in self.states() if s["state"] != "damaged"]
        kept = kept_targets(self.root) | dropped_targets(self.root)
        return sorted(TargetRef(*pair) for pair in {*known, *living, *kept})

    def windows(
        self,
        window_ns: int,
        *,
        statistics: Sequence[str] | None = None,
        levels: bool = False,
        **which: Unpack[SampleChoice],
    ) -> WindowTable:
        """Window statistics of [since, until), widened to whole windows.

        Columns as in windows.toml, sorted by host, target, op, period_ns, start_ns. Missing
        statistics are NaN (float64). ``statistics`` limits the computed columns (quicker). Where
        raw samples were dropped a window is as the agent kept it, if it kept windows of this length
        (see ``weather.rollups.kept_windows``), else as roll-ups have it, if it is a multiple of ten minutes (see
        ``rolled_windows``).

        ``levels`` adds exact quantiles with the ends of their 95% intervals, each end by itself:
        ``levels_ns`` int64 (windows, 19, 3): service time at .05, .10 ... .95 as lower, point,
        upper; ``response_ns`` int64 (windows, 2, 3): response time at .90, .95; ``n_response``,
        ``n_lost``, ``n_late`` and ``n_missed`` (by the host alone: ``weather.lateness``). Missing is -1: n is
        too small for that end, or nothing is left that knows. Where raw samples were dropped they are those
        of roll-ups, within 1%.
        """
        if window_ns <= 0:
            raise UsageError(
                f"a window of {window_ns} ns is not possible", expected="a window above 0"
            )
        scope = _whole_windows(_scope(which), window_ns)
        parts = self._ask(windows_query(scope, window_ns, statistics, levels=levels))
        raw = in_order(parts, window_ns)
        names = [name for name in raw.columns if name not in (*WINDOW_KEY, *LEVEL_COLUMNS)]
        table = merged(raw, kept_windows(self.root, scope, window_ns, names), window_ns)
        return with_dropped(self.root, scope, window_ns, table)

    def rollups(self, **which: Unpack[SampleChoice]) -> Rollups:
        """Histograms of ten minutes of every series (see ``weather.rollups.rollups``).

        The first call after a day's sealing makes that day's, the others only read.
        """
        return self._rollups(_scope(which), None)

    def rolled_windows(
        self,
        window_ns: int,
        *,
        statistics: Sequence[str] | None = None,
        levels: bool = False,
        **which: Unpack[SampleChoice],
    ) -> WindowTable:
        """``windows`` from roll-ups: quick, and available after raw samples are gone.

        ``window_ns`` is a multiple of ten minutes. Counts, mean, min and max are exact, and so are
        quantiles of ten minutes; those of longer windows, of ten minutes that two segments share, and
        levels are within 1%. response_q99, runq_q50 and late_q50 are missing.
        """
        scope = _whole_windows(_scope(which), window_ns)
        found = self._rollups(scope, wanted(window_ns, statistics, levels))
        return rolled_windows(found, window_ns, statistics, levels=levels)

    def samples(
        self,
        columns: Sequence[str] = ("due_ns", "service_ns", "response_ns", "outcome"),
        **which: Unpack[WhichSamples],
    ) -> Frame:
        """Samples due in [since, until), sorted by due_ns.

        Columns of samples.toml, and ``service_ns`` and ``response_ns`` (float64, NaN when unknown).
        Missing instants are ``NULL_NS``.
        """
        sql = f"SELECT {_selected(columns)} FROM samples ORDER BY samples.due_ns"
        scope = _scope(which)
        return self._ask(Query((sql,), _frame, scope))

    def operations(
        self, series: Sequence[SeriesKey], since_ns: int, until_ns: int
    ) -> dict[SeriesKey, Operations]:
        """Every operation of ``series`` due in [since, until), in one pass; a series without any is absent."""
        scope = SampleFilter(since_ns=since_ns, until_ns=until_ns)
        return self._ask(operations_query(scope, series))

    def count(self, **which: Unpack[WhichSamples]) -> int:
        """Number of samples due in [since, until)."""
        sql = "SELECT count(*) AS n FROM samples"
        return self._ask(Query[int]((sql,), _number, _scope(which), merge=operator.add))

    def cells(
        self,
        bin_ns: int,
        per_decade: int,
        **which: Unpack[WhichSamples],
    ) -> Frame:
        """Exact counts of samples on a grid of time and log latency: nothing is left out.

        Columns: host, target, op, period_ns, ``start_ns`` (due, cut to ``bin_ns``), ``bin_ns``,
        ``kind`` (ok, failed, skipped, pending), ``level`` (floor(per_decade * log10(latency in
        ns)); NaN when there is none) and ``n``. The latency is service for ok samples, response for the
        others.
        """
        if bin_ns <= 0 or per_decade <= 0:
            raise UsageError("a grid needs cells", expected="a bin and cells a decade above 0")
        scope = _scope(which)
        sql = cells_sql(bin_ns, per_decade)
        return self._ask(Query((sql,), _frame, scope))

    def levels(
        self,
        per_decade: int,
        *,
        by_run: bool = False,
        **which: Unpack[WhichSamples],
    ) -> Frame:
        """Exact counts of successful operations on a grid of log service time: ``target run_id op level n``.

        ``level``: floor(per_decade * log10(latency in ns)). Hosts and periods are pooled; runs too, with
        an empty ``run_id``, unless ``by_run``.
        """
        scope = _scope(which)
        sql = levels_sql(per_decade, by_run)
        return self._ask(Query((sql,), partial(_frame, known=("level",)), scope))

    def sparse(
        self,
        wanted: int,
        above_ns: int,
        seed: int,
        *,
        by_run: bool = False,
        **which: Unpack[WhichSamples],
    ) -> Frame:
        """Random samples, about ``wanted`` per op, and all above ``above_ns`` or failed.

        Columns: ``target run_id op of_all due_ns outcome service_ns response_ns``, sorted; ``of_all``: how many
        there were to choose from. Hosts are pooled; runs too unless ``by_run``.
        """
        scope = _scope(which)
        sql = sparse_sql(wanted, above_ns, seed, by_run)
        return self._ask(Query((sql,), _frame, scope))

    def boxes(
        self,
        reach: float,
        least: int,
        **which: Unpack[WhichSamples],
    ) -> tuple[Frame, Frame]:
        """Box of every series' service times, and all outliers.

        Boxes, sorted by host, target, op, period_ns: ``n_due n q25_ns q50_ns q75_ns low_ns high_ns``
        (exact nearest ranks; whiskers end within ``reach`` log box heights; NaN below ``least`` ok
        samples). Outside: ``latency_ns n``, single samples (n = 1) or, of many, exact counts at the
        middles of levels.
        """
        return self._ask(boxes_query(_scope(which), reach, least))

    def tally(self, **which: Unpack[SampleChoice]) -> Frame:
        """Totals of each series: ``n_due n_lost n_begun moved_bytes busy_ns``.

        ``n_lost``: due, and held up by more than a tenth of the period, skipped, timed out, failed or
        pending. ``busy_ns``: sum of service times. Then one column a cache state with how many
        ok operations had it. Raw samples only; sorted by host, target, op, period_ns.
        """
        return self._ask(Query((tally_sql(),), _frame, _scope(which)))

    def tagged_samples(self, tags: Tags, window_ns: int) -> Frame:
        """``tag due_ns service_ns`` of the samples in tagged windows, sorted by tag and due_ns.

        ``tags``: columns host, target, op, period_ns, start_ns (a window of ``window_ns``) and tag
        (int64).
        """
        service = f"{DERIVED['service_ns']} AS service_ns"
        sql = f"SELECT tag, due_ns, {service} FROM {tagged(window_ns)} ORDER BY ALL"
        return self._ask(Query((sql,), _frame, _tag_scope(tags, window_ns), {"tags": tags}))

    def pooled(self, tags: Tags, window_ns: int, statistics: Sequence[str]) -> Frame:
        """``tag n_due n_seen`` and ``statistics`` over all windows of a tag together.

        Where raw samples were dropped, a tag of one window has the statistics that were kept of it;
        a tag of several has its counts, and NaN: what a part of its samples says is not said of all.
        """
        scope = _tag_scope(tags, window_ns)
        raw = self._ask(pooled_query(scope, tags, window_ns, statistics))
        kept = kept_windows(self.root, scope, window_ns, statistics)
        return pooled_with_kept(raw, kept, tags)

    def _rollups(self, scope: SampleFilter, columns: IntervalColumns | None) -> Rollups:
        found = None if self._at_hand is None else self._at_hand.part(scope)
        return rollups(self.root, scope, columns) if found is None else found

    def _ask(self, query: Query[T]) -> T:
        return run(self.root, [query])[0]


def _scope(which: SampleChoice | WhichSamples) -> SampleFilter:
    asked: dict[str, Any] = dict(which)
    several = {name: tuple(asked[name]) for name in ("ops", "runs") if asked.get(name) is not None}
    return SampleFilter(**asked | several)


def _whole_windows(scope: SampleFilter, window_ns: int) -> SampleFilter:
    """The scope widened to whole windows."""
    since, until = scope.since_ns, scope.until_ns
    return replace(
        scope,
        since_ns=None if since is None else since // window_ns * window_ns,
        until_ns=None if until is None else -(-until // window_ns) * window_ns,
    )


def _tag_scope(tags: Tags, window_ns: int) -> SampleFilter:
    """Time range covered by the tagged windows."""
    starts = tags["start_ns"]
    if len(starts) == 0:
        return SampleFilter(since_ns=0, until_ns=0)
    return SampleFilter(since_ns=int(starts.min()), until_ns=int(starts.max()) + window_ns)


def _selected(columns: Sequence[str]) -> str:
    unknown = [name for name in columns if name not in SAMPLE_TYPES and name not in DERIVED]
    if unknown:
        raise UsageError(
            f"samples have no column {unknown[0]!r}", expected=", ".join([*SAMPLE_TYPES, *DERIVED])
        )
    return ", ".join(f"{DERIVED[name]} AS {name}" if name in DERIVED else name for name in columns)


def _pairs(fetched: Mapping[str, Any]) -> set[tuple[Any, ...]]:
    return set(rows(fetched))


def _number(fetched: Mapping[str, Any]) -> int:
    return int(fetched["n"][0])


def _frame(fetched: Mapping[str, Any], known: Sequence[str] = ()) -> Frame:
    """Fetched columns with this package's missing-data rule; ``known`` columns have no nulls."""
    columns: dict[str, Any] = {}
    for name, column in fetched.items():
        if name in _NULLABLE and name not in known:
            columns[name] = floats(column)
        elif name in _INSTANTS:
            columns[name] = np.ma.filled(column, NULL_NS)
        else:
            columns[name] = np.ma.getdata(column)
    return Frame(columns)
