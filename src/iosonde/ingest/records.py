"""Records of monitors, schedulers and jobs into the store, whatever they are: each file read once, as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.connectors.many_files import named
from iosonde.connectors.sources import Connector, connector_of
from iosonde.ingest.tables import TableReader, given_reader, table_reader
from iosonde.ingest.writer import FileImport, Writer
from iosonde.model.errors import InputFileError
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.connectors.source import Item, Settings
    from iosonde.connectors.tables.mapping import Mapping
    from iosonde.jobs.store.metric_descriptions import Described

__all__ = ["FileImport", "Records", "Told", "import_records", "imported", "split"]

Records = list[tuple[Path, Connector | TableReader]]
"""Files, each with what reads it."""

_ONE_BY_ONE = 10
"""So many files of a kind are told of one by one."""
_TOLD = 5


class Told:
    """Takes what cannot be read: of each file the first few, and how many more there were."""

    def __init__(self) -> None:
        self.errors: list[InputFileError] = []
        self._n = 0

    def __call__(self, error: InputFileError) -> None:
        """Tell of one."""
        self._n += 1
        if self._n <= _TOLD:
            self.errors.append(error)

    def rest(self, name: str) -> None:
        """Tell of those that were not told of; the next file begins anew."""
        if self._n > _TOLD:
            more = f"{name}: {self._n - _TOLD} more rows cannot be read"
            self.errors.append(InputFileError(more))
        self._n = 0


def split(paths: Sequence[Path], mappings: Sequence[Mapping] = ()) -> tuple[Records, list[Path]]:
    """What a connector can read, with it, and what none can. A folder is one of Darshan logs, or of a kernel's tree.

    A table that one of ``mappings`` fits is read by that, also where a connector would know it (``sacct`` by its
    ``JobID``); what nothing else can read, by a mapping that is known. Raises UsageError: none of ``mappings`` fits a
    file that nothing else can read.
    """
    records: Records = []
    others: list[Path] = []
    for path in paths:
        reader: Connector | TableReader | None = None
        if not path.is_dir():
            reader = given_reader(path, mappings)
        if reader is None:
            with suppress(InputFileError):
                reader = connector_of(path)
        if reader is None and not path.is_dir():
            reader = table_reader(path, mappings)
        if reader is None:
            others.append(path)
        else:
            records.append((path, reader))
    return records, others


Work = Callable[[str], AbstractContextManager[Callable[[int, int], None]]]
"""Is told what is being read; gives what gets how much is done, of how much."""


def import_records(
    root: Path, records: Records, settings: Settings, told: Told, work: Work | None = None
) -> Iterator[FileImport]:
    """Import files, those of one kind together where that says more (two readings of a counter).

    Raises StoreError.
    """
    groups: dict[str, Records] = {}
    for path, connector in records:
        groups.setdefault(connector.KIND, []).append((path, connector))
    for kind, group in groups.items():
        with nullcontext() if work is None else work(f"reading {kind}") as progress:
            of_kind = settings if progress is None else replace(settings, progress=progress)
            yield from _group(root, group, of_kind, told)


def _group(root: Path, group: Records, settings: Settings, told: Told) -> Iterator[FileImport]:
    """Files of one kind, each with its own progress if it tells, else file by file."""
    connector = group[0][1]
    many = getattr(connector, "read_many", None)
    if many is not None and len(group) > 1:
        paths = [path for path, _ in group]
        items = many(paths, settings, told)
        yield imported(root, named(paths), connector.KIND, items, told)
        return
    if len(group) > _ONE_BY_ONE:
        place = named([path for path, _ in group])
        yield imported(root, place, connector.KIND, _chained(group, settings, told), told)
        return
    within = replace(settings, progress=None) if len(group) > 1 else settings
    for done, (path, one) in enumerate(group, 1):
        items = one.read(path, within, told)
        yield imported(root, str(path), one.KIND, items, told)
        if settings.progress is not None and len(group) > 1:
            settings.progress(done, len(group))


def _chained(
    group: Records, settings: Settings, told: Told
) -> Iterator[Item | Note | str | Described]:
    """Very many files as one: what they hold is written together, not file by file."""
    for done, (path, one) in enumerate(group, 1):
        try:
            yield from one.read(path, replace(settings, progress=None), told)
        except InputFileError as error:
            told(error)
        if settings.progress is not None:
            settings.progress(done, len(group))


def imported(
    root: Path, name: str, kind: str, items: Iterator[Item | Note | str | Described], told: Told
) -> FileImport:
    """Everything of one file, several of a kind, or a server. What was good before an error is in the store.

    A note of ``items`` is about all jobs behind it: their flags of that name are not counted again.
    """
    done = FileImport(name, kind)
    writer = Writer(Path(root), done)
    try:
        for item in items:
            writer.take(item)
    except InputFileError as error:
        told(error)
    finally:
        writer.flush()
    told.rest(name)
    return done
