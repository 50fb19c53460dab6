"""Tables with one row per job to records of the store, by a mapping, cleaned as for analysis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.connectors.source import MetricSaid
from iosonde.connectors.tables.builtin_mappings import known_mappings
from iosonde.connectors.tables.jobs import jobs_of
from iosonde.connectors.tables.mapping import Mapping
from iosonde.connectors.tables.table import choose, read_table
from iosonde.engine.foreign.tables import as_text, columns_of
from iosonde.jobs.table.hygiene import clean
from iosonde.model.errors import InputFileError, UsageError

if TYPE_CHECKING:
    from iosonde.connectors.source import Head, Item, Settings, Warn


class TableReader:
    """Connector for tables of one mapping; notes come before the jobs."""

    def __init__(self, mapping: Mapping) -> None:
        if not mapping.job_id.columns or mapping.begin is None:
            lacks = "begin" if mapping.job_id.columns else "job_id"
            raise UsageError(
                f"{mapping.place}, table job: there is no {lacks}",
                expected="job_id and begin: the store knows a job by them",
            )
        self.KIND = f"table of jobs ({mapping.name})"
        self._mapping = mapping

    def recognises(self, head: Head) -> bool:  # noqa: ARG002 - chosen by ``table_reader``
        """False: mappings are tried once, as a whole list."""
        return False

    def read(self, path: Path, settings: Settings, warn: Warn) -> Iterator[Item]:
        """Yield notes, reasons for dropped rows, descriptions of metrics, and a job per row. Raises InputFileError.

        ``source`` of a job is the mapping's name: the same row from another file is the same job. Zeros of a
        monitor that was down and the like are missing, with their flag. What can be derived is not kept:
        a fraction of peak is another one when more jobs are known.
        """
        with as_text(path, warn) as text:
            read = read_table(path, settings, warn, self._mapping, text=text)
        table, more = clean(read.table)
        yield from (*read.notes, *more)
        yield from (str(reason) for reason in table.reasons if reason.note is None)
        for place, name in enumerate(table.metrics):
            yield MetricSaid(self._mapping.name, name, place, table.abouts.get(name))
        keys = Counter(zip(table.job_id, table.start_ns.tolist(), table.step, strict=True))
        rows = zip(jobs_of(table), table.start_ns.tolist(), strict=True)
        for job, start in rows:
            # Two rows of a job at one instant are told apart by what they are rows of.
            again = keys[job.job_id, start, job.step] > 1
            parts = (job.step, job.file_system, job.motif) if again else (job.step,)
            step = " ".join(part for part in parts if part)
            yield replace(job, source=self._mapping.name, step=step)


def given_reader(path: Path, given: Sequence[Mapping]) -> TableReader | None:
    """Reader for a table that one of ``given`` fits, even if it also looks like another kind; None: none fits.

    Only a mapping that says which job a row is and when it began says enough: one without would fit anything.
    """
    enough = [one for one in given if one.job_id.columns and one.begin is not None]
    if not enough:
        return None
    try:
        return TableReader(choose(path, enough, names=columns_of(path)))
    except (InputFileError, UsageError):
        return None


def table_reader(path: Path, given: Sequence[Mapping]) -> TableReader | None:
    """Reader for a table: the first fitting mapping of ``given``, else of the built-in ones; None: none fits.

    Raises UsageError: none of ``given`` fits.
    """
    try:
        mapping = choose(path, given, names=columns_of(path))
    except InputFileError:
        return None
    known = any(mapping is one for one in known_mappings())
    return TableReader(mapping) if given or known else None
