"""Files into a store, and what became of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.connectors.benchmarks.recognise import KINDS
from iosonde.connectors.source import Settings
from iosonde.ingest.files import Done, import_files
from iosonde.ingest.join import join_new
from iosonde.ingest.latencies import Naming
from iosonde.ingest.records import FileImport, Told, import_records, split
from iosonde.jobs.environment.join import JoinCounts
from iosonde.jobs.table.from_files import mappings
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.quality import QUALITY
from iosonde.notebook.arguments import now_ns, python
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer, TableResult

if TYPE_CHECKING:
    from iosonde.notebook.columns import Columns

_COLUMNS = ("file", "kind", "jobs", "samples", "missing", "new", "first_ns", "last_ns", "noticed")


class ImportResult(Answer):
    """What an import did, a row a file. ``missing``: of ``samples``; ``new``: rows that the store did not have.

    ``data``: records of monitors, schedulers and jobs; ``others``: benchmarks, None without one; ``joined``: jobs that
    were looked at, and of how many something of servers is known; ``errors``: what could not be read (what could is
    in the store).
    """

    def __init__(
        self,
        data: Sequence[FileImport],
        others: Done | None,
        rows: Sequence[dict[str, Any]],
        joined: JoinCounts,
        errors: Sequence[InputFileError],
    ) -> None:
        self.data, self.others, self.joined = tuple(data), others, joined
        self.errors = tuple(errors)
        self._rows = [*map(_row, data), *rows]
        remarks = [f"{Path(one.name).name}: {text}" for one in data for text in one.remarks]
        self.lines = (*(error.text(python) for error in errors), *remarks)

    @property
    def columns(self) -> Columns:
        """A row a file."""
        return of_records(self._rows, _COLUMNS)

    @property
    def noticed(self) -> TableResult:
        """What is wrong with numbers, a row a file and flag: how often, what it means, the first few places."""
        rows = [
            {
                "file": Path(one.name).name,
                "flag": flag,
                "n": n,
                "means": QUALITY[flag],
                "places": one.examples[flag],
            }
            for one in self.data
            for flag, n in sorted(one.flags.items())
        ]
        return TableResult(of_records(rows, ("file", "flag", "n", "means", "places")), rows)


def _row(one: FileImport) -> dict[str, Any]:
    first, last = one.span_ns or (None, None)
    return {
        "file": Path(one.name).name,
        "kind": one.kind,
        "jobs": one.jobs,
        "samples": one.samples,
        "missing": one.missing,
        "new": one.new_samples + one.new_jobs + one.new_edges,
        "first_ns": first,
        "last_ns": last,
        "noticed": ", ".join(sorted(one.flags)),
    }


def import_all(
    root: Path, paths: Sequence[Path], mapping: Sequence[Path], settings: Settings, naming: Naming
) -> ImportResult:
    """Import files of every kind, and put jobs and servers together: jobs that are new, and those of new series.

    Raises UsageError (no file, or a mapping fits nothing), InputFileError (nothing can be read), StoreError.
    """
    if address := next((str(path) for path in paths if ":/" in str(path)), ""):
        raise UsageError(f"{address} is an address", expected="files", hint="'iosonde import URL'")
    told = Told()
    records, others = split(paths, mappings(mapping))
    recorded = list(import_records(root, records, settings, told))
    done: Done | None = None
    rows: list[dict[str, Any]] = []
    if others or not paths:
        try:
            done = import_files(
                root, others, naming, now_ns(), report=_reporter(rows), zone=settings.zone
            )
            told.errors += done.broken
        except InputFileError as error:
            if not recorded:
                raise
            told.errors.append(error)
    joined = join_new(root, recorded, settings.progress)
    return ImportResult(recorded, done, rows, joined, told.errors)


def _reporter(rows: list[dict[str, Any]]) -> Callable[[Path, str, int], None]:
    nothing = dict.fromkeys(_COLUMNS) | {"jobs": 0, "missing": 0, "noticed": ""}

    def report(path: Path, kind: str, n: int) -> None:
        rows.append(nothing | {"file": path.name, "kind": KINDS[kind], "samples": n})

    return report
