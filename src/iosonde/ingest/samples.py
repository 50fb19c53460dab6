"""Tables with a row an operation, of any tool, become samples: judged as those of a probe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.connectors.lines import FileDefaults, Warn
from iosonde.connectors.samples.table import SampleTable, TableDefaults
from iosonde.connectors.wall_times import WallTimes
from iosonde.engine.foreign.tables import as_text
from iosonde.model.errors import InputFileError
from iosonde.weather.samples.foreign import SampleStaging, Schedules
from iosonde.weather.samples.parts import PartsWritten


@dataclass(frozen=True)
class SamplesImport:
    """What a table held."""

    written: PartsWritten
    rows: int
    targets: Sequence[str]
    span_ns: tuple[int, int]
    """When the first and the last operation were due."""
    schedules: Schedules
    unread: Sequence[str]
    """Columns that mean nothing here."""
    remarks: Sequence[str]


def import_samples(
    root: Path,
    path: Path,
    given: FileDefaults,
    warn: Warn,
    *,
    size_bytes: int,
    period_ns: int | None = None,
) -> SamplesImport:
    """Write the rows of a table as samples.

    ``given``: the run, host and target of rows that name none; what times before 1990 count from; the zone of clock
    times. ``period_ns``: of rows that say none; None: the regular step of their due times, else 0.
    Raises StoreError; InputFileError: no row could be read.
    """
    defaults = TableDefaults(given.host, given.target or given.run, given.run, size_bytes)
    clock = WallTimes(given.zone)
    with as_text(path, warn) as text, SampleStaging(root) as staging:
        as_rows = text if text != path else None
        table = SampleTable(path, defaults, clock, given.started_ns, as_rows)
        rows = 0
        for chunk in table.chunks(warn):
            staging.add(chunk)
            rows += len(chunk)
        span = staging.span_ns()
        if span is None:
            raise InputFileError(f"{path} holds no samples", expected="a row an operation")
        schedules = staging.find_periods(period_ns)
        written = staging.write(table.known_by)
        targets = staging.targets()
    remarks = [f"{note.what} ({note.flag})" for note in clock.notes()]
    options = {"target": given.target is not None, "host": given.host != FileDefaults("").host}
    remarks += [
        f"the column {role} counts before --{role}"
        for role, is_given in options.items()
        if is_given and role in table.columns.roles
    ]
    return SamplesImport(
        written, rows, targets, span, schedules, table.columns.others, tuple(remarks)
    )
