"""Tables with one row per operation, from any tool, to samples that are judged as a probe's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iosonde.connectors.benchmarks.kinds import SAMPLES
from iosonde.connectors.lines import FileDefaults, Warn
from iosonde.connectors.samples.table import SampleTable, TableDefaults
from iosonde.connectors.source import FileRead, Item, SampleRows, Settings
from iosonde.connectors.wall_times import WallTimes
from iosonde.engine.foreign.tables import as_text
from iosonde.ingest.days import Days
from iosonde.ingest.report import SamplesWritten
from iosonde.ingest.words import counted
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame
from iosonde.weather.samples.foreign import SampleStaging


def read(path: Path, given: FileDefaults, settings: Settings, warn: Warn) -> Iterator[Item]:
    """Yield rows of a table.

    ``given``: the run, host and target of rows that name none; what times before 1990 count from; the zone of clock
    times. ``settings.period_ns``: of rows that say none. Raises InputFileError: no row could be read.
    """
    defaults = TableDefaults(given.host, given.target or given.run, given.run, settings.size_bytes)
    with as_text(path, warn) as text:
        as_rows = text if text != path else None
        table = SampleTable(path, defaults, WallTimes(given.zone), given.started_ns, as_rows)
        sink, days, rows = _Rows(table, given, settings.period_ns), Days(path), 0
        for chunk in table.chunks(warn):
            n = days.room(chunk["due_ns"])
            yield SampleRows(sink, chunk.take(slice(0, n)))
            rows += n
            if n < len(chunk):
                warn(days.refusal())
                break
    if not rows:
        raise InputFileError(f"{path} holds no samples", expected="a row an operation")
    yield sink
    yield FileRead(path, SAMPLES, rows)


class _Rows:
    """Rows of a table, whose schedule is inferred from all of them."""

    def __init__(self, table: SampleTable, given: FileDefaults, period_ns: int | None) -> None:
        self._table, self._given, self._period_ns = table, given, period_ns
        self._n = 0

    def open(self, root: Path) -> None:
        self._staging = SampleStaging(root)

    def close(self) -> None:
        self._staging.__exit__()

    def add(self, file: int, rows: Frame) -> None:  # noqa: ARG002
        self._staging.add(rows)
        self._n += len(rows)

    def finish(self) -> Iterator[SamplesWritten]:
        table, staging = self._table, self._staging
        span = staging.span_ns() or (0, 0)
        schedules = staging.find_periods(self._period_ns)
        yield SamplesWritten(
            staging.write(table.known_by),
            self._n,
            staging.targets(),
            span,
            tuple(self._remarks()),
            schedules=schedules,
            unread=table.columns.others,
        )

    def _remarks(self) -> Iterator[str]:
        for note in self._table.clock.notes():
            yield f"{note.what} ({note.flag})"
        if n := self._table.missing:
            yield f"{counted(n, 'row')} without a latency left out (missing)"
        is_given = {"target": self._given.target, "host": self._given.host}
        for role, name in is_given.items():
            if name not in (None, FileDefaults("").host) and role in self._table.columns.roles:
                yield f"the column {role} counts before --{role}"
