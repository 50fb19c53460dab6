"""A store, to query and to import into."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.bench.report.answers import runs_of
from iosonde.connectors.source import Settings
from iosonde.engine.contract import SERIES_KEY
from iosonde.engine.layout.root import default_root
from iosonde.engine.remote.named import folder_of, is_remote
from iosonde.jobs.answers import BlameQuestion, Grouping
from iosonde.jobs.environment.answers import JoinCounts, join, series
from iosonde.model.errors import UsageError
from iosonde.model.frames import SampleChoice, SlowdownQuery, TargetRef
from iosonde.model.ops import DEFAULT_WINDOW_NS
from iosonde.notebook.arguments import (
    duration,
    in_python,
    instant,
    names_of,
    now_ns,
    ops_of,
    paths_of,
    span,
    zone_of,
)
from iosonde.notebook.blamed import BlameResult, blame
from iosonde.notebook.columns import of_frame, of_records
from iosonde.notebook.compared import ComparisonResult
from iosonde.notebook.display import TableResult
from iosonde.notebook.explained import WhyResult, explained
from iosonde.notebook.imported import ImportResult, import_all
from iosonde.notebook.jobs import Jobs, of_store
from iosonde.notebook.probed import (
    EventsResult,
    NowResult,
    Slowdown,
    WindowsResult,
    choice,
    events,
    now,
    slowdown,
)
from iosonde.notebook.run_columns import of_runs
from iosonde.notebook.series import Block, Names, read
from iosonde.weather.compare.answers import MARGIN, compare
from iosonde.weather.stored import answers as stored
from iosonde.why.answers import WhyQuestion, targets_called

if TYPE_CHECKING:
    from iosonde.jobs.correlate.answers import Peak
    from iosonde.notebook.arguments import Duration, Instant, Paths, Zone

Ops = str | Sequence[str] | None
_SAMPLE = (*SERIES_KEY, "due_ns", "service_ns", "response_ns", "outcome")


class Station:
    """Interface of one store. Every call reads the current content; nothing is held open.

    Times: text as the commands take it, a datetime, a Timestamp, or ns; UTC where nothing says a zone. All raise
    StoreError where the folder cannot be read.
    """

    def __init__(self, root: Path, remote: str | None = None) -> None:
        self.root = root
        self._remote = remote

    def __repr__(self) -> str:
        return f"iosonde.open({self._remote or str(self.root)!r})"

    def _writable(self) -> Path:
        """The folder; UsageError where it is a copy of a bucket, or links to several stores."""
        if self._remote is not None:
            raise UsageError(
                f"{self._remote} can only be read",
                expected="the folder of one store",
                hint="import into the folder that is shipped there",
            )
        return self.root

    @in_python
    def import_files(
        self,
        paths: Paths,
        *,
        zone: Zone = None,
        system: str = "",
        mapping: Paths = (),
        target: str | None = None,
        host: str = "import",
        run: str | None = None,
        started: Instant = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> ImportResult:
        """Import files of monitors, schedulers, jobs and other benchmarks (docs/importing.md), and ``join``.

        Files are recognised by what they hold; folders of Darshan logs and patterns with ``*`` will do. What is in the
        store already is left out. ``zone``: of clock times without one (None: this machine's, noted); ``system``: file
        system of records that name none; ``mapping``: what the columns of a table mean; ``target host run started``: of
        benchmarks. ``progress`` gets done and total. Rows that cannot be read are ``errors`` of the answer, the others
        are kept. Raises UsageError (no file; a mapping fits nothing), InputFileError (nothing can be read), StoreError.
        """
        settings = Settings(
            system=system,
            node="" if host == "import" else host,
            zone=zone_of(zone),
            progress=progress,
            target=target,
            host=host,
            run=run,
            started_ns=instant(started),
        )
        return import_all(self._writable(), paths_of(paths), paths_of(mapping), settings)

    @in_python
    def join(self, *, progress: Callable[[int, int], None] | None = None) -> JoinCounts:
        """Join all jobs with records of servers, nodes and other jobs.

        An import does so for what is new. How many jobs were looked at, and of how many something is known.
        """
        return join(self._writable(), progress)

    @in_python
    def series(self, *, since: Instant = None, until: Instant = None) -> Names:
        """The series of servers there are on the days of [since, until)."""
        return Names(series(self.root, *span(since, until)))

    @in_python
    def read(
        self, series: str | Sequence[str], begin: Instant = None, end: Instant = None
    ) -> Block:
        """All values of one series that overlap [begin, end); None: all of it.

        ``series``: one of ``series()``, or words that only one of them has: ``"work mdt opens"``. Raises UsageError (no
        series, or several), NothingMeasuredError (nothing in that time).
        """
        return read(self.root, series, begin, end)

    @in_python
    def jobs(self, *, peak: Peak = "max", scheduled: bool = False) -> Jobs:
        """All jobs with known performance, and iosonde's own runs; with numbers of servers.

        ``peak``: what is 100% of a kind: the best (``max``), ``p99``, ``mean`` or ``median``. ``scheduled``: also jobs
        that only a scheduler recorded (docs/jobs.md). Raises NothingMeasuredError: there are none.
        """
        return of_store(self.root, peak, scheduled=scheduled)

    @in_python
    def targets(self) -> TableResult:
        """Watched targets, current and former, with their hosts."""
        found = stored.targets(self.root)
        return TableResult(of_records([one._asdict() for one in found], TargetRef._fields), found)

    @in_python
    def now(self, target: str | Sequence[str] | None = None) -> NowResult:
        """Verdict of each watched target with its sentence, the worst first, as ``iosonde now``.

        ``target``: one or several, by name or path. Raises NothingMeasuredError: nothing is watched.
        """
        return now(self.root, names_of(target))

    @in_python
    def samples(
        self,
        target: str | None = None,
        *,
        op: Ops = None,
        host: str | None = None,
        since: Instant = None,
        until: Instant = None,
        columns: str | Sequence[str] = _SAMPLE,
    ) -> TableResult:
        """Operations of probes, a row each, by due time (docs/reading-the-data.md).

        A failed, late or missing one is a row: ``outcome`` is not ok. ``service_ns``: how long the storage took;
        ``response_ns``: how long a user waited. ``columns``: any of schema/tables/samples.toml.
        """
        which = self._which(target, op, host, since, until)
        found = stored.samples(self.root, names_of(columns) or _SAMPLE, **which)
        return TableResult(of_frame(found), found)

    @in_python
    def windows(
        self,
        target: str | None = None,
        *,
        window: Duration = "60s",
        op: Ops = None,
        host: str | None = None,
        since: Instant = None,
        until: Instant = None,
    ) -> WindowsResult:
        """Statistics of every window and operation (schema/tables/windows.toml): quantiles with their intervals, n."""
        which = self._which(target, op, host, since, until)
        length = duration(window)
        found = stored.windows(self.root, length, **which)
        first, last = which["since_ns"], which["until_ns"]
        query = SlowdownQuery(host, target, ops_of(op), first, last, length)
        return WindowsResult(found, self.root, query)

    @in_python
    def slowdown(
        self,
        target: str | None = None,
        *,
        window: Duration | None = None,
        stat: str = "typ",
        baseline: str | tuple[Instant, Instant] = "guarded",
        op: Ops = None,
        host: str | None = None,
        since: Instant = None,
        until: Instant = None,
    ) -> Slowdown:
        """Observed latency over the usual one, window by window, and slow spans (docs/methods/slowdown.md).

        ``window`` None: the one that each series is judged in. ``baseline``: ``guarded``, ``all-time``, or the two
        ends of a period. Raises UsageError, NothingMeasuredError.
        """
        first, last = span(since, until)
        query = SlowdownQuery(
            host=host,
            target=target,
            ops=ops_of(op),
            since_ns=first,
            until_ns=last,
            window_ns=DEFAULT_WINDOW_NS if window is None else duration(window),
            own_windows=window is None,
            statistic=stat,
            choice=choice(baseline),
        )
        return slowdown(self.root, query)

    @in_python
    def events(
        self, target: str | None = None, *, since: Instant = "-7d", until: Instant = None
    ) -> EventsResult:
        """Slow spans, hangs and outages, a row each (docs/methods/events.md)."""
        return events(self.root, *span(since, until), target)

    @in_python
    def blame(
        self,
        what: str | None = None,
        *,
        at: Instant = None,
        since: Instant = None,
        until: Instant = None,
        by: Grouping = "job",
        band: tuple[float, float] | None = None,
        systems: str | Sequence[str] | None = None,
    ) -> BlameResult:
        """Causes of a slow event or of an interval's operations (docs/blame.md), a row each, the surest first.

        ``what``: a target (its last slow event), or an event's id; ``at``: the event at this time. ``since until``: an
        interval. ``by``: job, user, account, name or node. ``band``: moments with so many operations per second.
        Raises UsageError, NothingMeasuredError (no event; no records of nodes or jobs).
        """
        first, last = span(since, until)
        chosen = None if systems is None else tuple(names_of(systems) or ())
        return blame(self.root, BlameQuestion(what, instant(at), first, last, by, band, chosen))

    @in_python
    def why(
        self,
        target: str | None = None,
        *,
        at: Instant = None,
        event: str | None = None,
        systems: str | Sequence[str] | None = None,
        model: bool = True,
    ) -> WhyResult:
        """Reasons for slow storage now, else in the last slow span of a day (docs/why.md).

        ``target``: one, or all servers of one; ``at``: the stretch at this time; ``event``: an event's id instead.
        ``model``: fit the queue model, which takes seconds. Raises UsageError, NothingMeasuredError (no samples).
        """
        names = () if target is None else targets_called(self.root, target)
        chosen = None if systems is None else tuple(names_of(systems) or ())
        question = WhyQuestion(names, instant(at), event, chosen, UTC, model=model)
        return explained(self.root, question)

    @in_python
    def compare(
        self,
        a: str,
        b: str,
        *,
        target: str | None = None,
        op: Ops = None,
        host: str | None = None,
        since: Instant = None,
        until: Instant = None,
        margin: float = MARGIN,
    ) -> ComparisonResult:
        """Compare B with A: faster, slower, same, or inconclusive (docs/methods/compare.md).

        A side is a target, host or run, a period, or both joined by @, as for the command: ``"yesterday"``,
        ``"/work@2026-11-01..2026-11-07"``; days are UTC. ``margin``: ratios up to it count as the same.
        Raises UsageError (no such side; both are the same), NothingMeasuredError.
        """
        if not 1 < margin <= 10:
            raise UsageError(f"a margin of {margin:g} is not possible", expected="1.1; at most 10")
        found = compare(
            self.root,
            (a, b),
            now_ns(),
            target=target,
            host=host,
            span_ns=span(since, until),
            ops=ops_of(op),
            margin=margin,
            zone=UTC,
        )
        return ComparisonResult(found, (a, b))

    @in_python
    def runs(
        self,
        target: str | None = None,
        *,
        since: Instant = None,
        until: Instant = None,
        each: str = "run",
    ) -> TableResult:
        """Benchmark runs, measured here or imported, a row per run, as in ``iosonde runs``.

        ``each="row"``: the rows of schema/tables/runs.toml, one of a phase, op and rank; ``"factor"``: a row a waiting
        factor of a run. Quartiles are ``q75_read_ns`` and so on. Raises UsageError: there is no such form.
        """
        if each not in ("run", "factor", "row"):
            raise UsageError(f"there is no form {each!r}", expected="run, factor or row")
        first, last = span(since, until)
        found = runs_of(self.root, target=target, since_ns=first, until_ns=last)
        if each == "row":
            return TableResult(of_frame(found.table()), list(found.rows))
        runs = found.summaries(every_factor=each == "factor")
        return TableResult(of_runs(runs), runs)

    def _which(
        self, target: str | None, op: Ops, host: str | None, since: Instant, until: Instant
    ) -> SampleChoice:
        first, last = span(since, until)
        ops = ops_of(op)
        return {"target": target, "host": host, "ops": ops, "since_ns": first, "until_ns": last}


@in_python
def opened(store: str | os.PathLike[str] | None) -> Station:
    """See ``iosonde.open``."""
    named = os.environ.get("IOSONDE_STORE", "") if store is None else str(store)
    if is_remote(named):
        return Station(folder_of(named, os.environ), named)
    root = default_root(os.environ) if store is None else Path(store).expanduser()
    if "://" in named or root.is_file():
        raise UsageError(
            f"{named or root} is no store",
            expected="a folder, or s3://bucket/prefix, 'A,B' or '/shared/*' to read",
            hint="iosonde.read_jobs() for a table, .import_files() for other files",
        )
    return Station(root)
