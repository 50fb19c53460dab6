"""Source of a table of jobs: files, or the store. The one place that chooses."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from iosonde.connectors.source import Settings
from iosonde.connectors.tables.mapping import Mapping
from iosonde.jobs.store.jobs import job_sources, read_jobs
from iosonde.jobs.store.meant import meant
from iosonde.jobs.store.metric_descriptions import described_performances, read_described
from iosonde.jobs.store.table import read_table
from iosonde.jobs.table.benchmark_jobs import own_runs
from iosonde.jobs.table.derived import (
    FRACTION,
    PERFORMANCES,
    Peak,
    fractions_of_peak,
    with_derived,
)
from iosonde.jobs.table.from_files import Loaded, load_tables, mappings, merged
from iosonde.jobs.table.known_id import known_id
from iosonde.jobs.table.sizes import sized
from iosonde.model.advice import TABLE, Action, Advice
from iosonde.model.errors import InputFileError, NothingMeasuredError
from iosonde.model.jobs import JobTable

Told = Callable[[str], None]
_MOST_TOLD = 5


def from_files(
    paths: Sequence[Path],
    given: Sequence[Path | Mapping],
    settings: Settings,
    warn: Told,
    of: Peak = "max",
) -> JobTable:
    """Jobs of tables with one row per job, cleaned and with derived columns.

    ``given``: mappings, or files (or folders) of them, that say what columns mean; none: as they are known, or
    called. ``warn`` gets what was left out and why. Raises UsageError (mapping), InputFileError (unreadable).
    """
    refused: list[InputFileError] = []
    loaded = load_tables(paths, mappings(given), settings, refused.append, of)
    table = sized(merged([one.table for one in loaded]))
    if len(loaded) > 1 and (shares := fractions_of_peak(table, of)) is not None:
        # the best of a kind may be in another table
        table = table.with_metrics({FRACTION: shares})
    for line in remarks(loaded, refused):
        warn(line)
    return table


def remarks(loaded: Sequence[Loaded], refused: Sequence[InputFileError]) -> list[str]:
    """Remarks on tables, unique lines: malformed rows, left-out rows, doubtful numbers.

    A note that only says why rows were left out is told as that.
    """
    lines = [f"left out: {error}" for error in refused[:_MOST_TOLD]]
    if len(refused) > _MOST_TOLD:
        lines.append(f"left out: {len(refused) - _MOST_TOLD} more rows")
    for one in loaded:
        lines += [f"{one.table.source}: {reason}" for reason in one.table.reasons]
        said = {reason.note for reason in one.table.reasons}
        lines += [str(note) for note in one.notes if note not in said]
    return list(dict.fromkeys(lines))


def from_store(
    root: Path,
    of: Peak = "max",
    *,
    metrics: Collection[str] | None = None,
    scheduled: bool = False,
    job_id: str | None = None,
    shown: Callable[[JobTable], JobTable] | None = None,
) -> JobTable:
    """Jobs of a store and iosonde's own runs. Raises NothingMeasuredError: it has none.

    ``scheduled``: also those that only a scheduler recorded, without performance.

    ``job_id``: of the store's jobs those of the file systems on which this one ran; all where it is not known.
    ``metrics``: of the store's jobs only these numbers, what their sources describe as a performance, and what follows.
    ``shown``: the store's jobs as they may be shown, before kinds of job are told apart (None: as they are).
    """
    if metrics is not None:
        metrics = {*metrics, *described_performances(read_described(root))}
    read = read_table(root, metrics=metrics, scheduled=scheduled, job_id=job_id)
    read = read if shown is None else shown(read)
    parts = [part for part in (read, own_runs(root)) if len(part)]
    if not parts and (sources := job_sources(root)):
        raise NothingMeasuredError(
            f"the jobs in {root} come from {', '.join(sources)}, without I/O performance",
            expected="their Darshan logs, or a table with their performance",
            hint=Advice(Action("import")),
        )
    if not parts:
        raise NothingMeasuredError(
            f"there are no jobs in {root}", hint=Advice(Action("import"), ", or ", TABLE)
        )
    return with_derived(merged(parts), of).table


LISTED = frozenset((*PERFORMANCES, FRACTION, "own_bytes"))
"""Numbers needed for a list of jobs, one of which shows that they did I/O."""


def must_have(root: Path, table: JobTable, job_id: str) -> None:
    """Raise NothingMeasuredError if the store knows the job, but not the rate of its I/O."""
    job_id = known_id(table, job_id)
    if (table.job_id == job_id).any():
        return
    found = meant(root, job_id)
    if found is not None:
        known = read_jobs(root, job_ids=[job.job_id for job in found.jobs], scalars=False)
        sources = ", ".join(dict.fromkeys(job.source for job in known))
        raise NothingMeasuredError(
            f"job {job_id} comes from {sources}, without I/O performance",
            expected="its Darshan log, or a table with its performance",
            hint=Advice(Action("import")),
        )
