"""Import of files into a store, with a result per file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.connectors.source import FileRead, Settings
from iosonde.ingest.answers import FileImport, Imported, Question, import_files
from iosonde.jobs.environment.answers import JoinCounts
from iosonde.jobs.table.answers import mappings
from iosonde.model.errors import UsageError
from iosonde.model.quality import QUALITY
from iosonde.notebook.arguments import now_ns, python
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Answer, TableResult

if TYPE_CHECKING:
    from iosonde.notebook.columns import Columns

_COLUMNS = ("file", "kind", "jobs", "samples", "missing", "new", "first_ns", "last_ns", "noticed")


class ImportResult(Answer):
    """Result of an import, a row per file. ``missing``: of ``samples``; ``new``: rows new to the store.

    ``data``: everything that it did; ``joined``: jobs that were looked at, and of how many something of servers is
    known; ``errors``: what could not be read (what could is in the store).
    """

    def __init__(self, data: Imported) -> None:
        self.data, self.joined = data, data.joined or JoinCounts(0, 0)
        self.errors = (*data.unopened, *data.errors)
        self._rows = [*map(_row, data.files), *map(_row_of_run, data.read)]
        remarks = [f"{Path(one.name).name}: {text}" for one in data.files for text in one.remarks]
        self.lines = (*(error.text(python) for error in self.errors), *remarks)

    @property
    def columns(self) -> Columns:
        """A row per file."""
        return of_records(self._rows, _COLUMNS)

    @property
    def noticed(self) -> TableResult:
        """Quality problems, a row per file and flag: count, meaning, the first few places."""
        rows = [
            {
                "file": Path(one.name).name,
                "flag": flag,
                "n": n,
                "means": QUALITY[flag],
                "places": one.examples[flag],
            }
            for one in self.data.files
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


def _row_of_run(one: FileRead) -> dict[str, Any]:
    nothing = dict.fromkeys(_COLUMNS) | {"jobs": 0, "missing": 0, "noticed": ""}
    return nothing | {"file": one.path.name, "kind": one.kind, "samples": one.rows}


def import_all(
    root: Path, paths: Sequence[Path], mapping: Sequence[Path], settings: Settings
) -> ImportResult:
    """Import files of every kind, and join jobs and servers: new jobs, and those of new series.

    Raises UsageError (no file, or a mapping fits nothing), InputFileError (nothing can be read), StoreError.
    """
    if address := next((str(path) for path in paths if ":/" in str(path)), ""):
        raise UsageError(f"{address} is an address", expected="files", hint="'iosonde import URL'")
    done = import_files(root, Question(paths, settings, mappings(mapping)), now_ns())
    if done.nothing and done.errors:
        raise done.errors[0]
    return ImportResult(done)
