"""Records of monitors, schedulers and jobs into the store, whatever they are: each file read once, as a stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.analysis.import_tables import TableReader, table_reader
from iosonde.connectors.many_files import named
from iosonde.connectors.sources import Connector, connector_of
from iosonde.model.errors import InputFileError
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.quality import Note
from iosonde.store.jobs import write_jobs
from iosonde.store.metrics import put_block, write_edges

if TYPE_CHECKING:
    from iosonde.connectors.source import Item, Settings
    from iosonde.connectors.tables.mapping import Mapping

Records = list[tuple[Path, Connector | TableReader]]
"""Files, each with what reads it."""

MOST_CELLS = 30_000_000
"""Values that wait to be written together: parts of a day are merged by rewriting the day."""
_MOST_JOBS = 20_000
_MOST_EDGES = 500_000
_OF_A_SYSTEM = ("filesystem", "ost", "mdt", "nsd", "pool")
_ONE_BY_ONE = 10
"""So many files of a kind are told of one by one."""
_EXAMPLES = 3
_TOLD = 5


@dataclass
class Recorded:
    """What a file amounted to. ``new_*``: what the store did not have."""

    name: str
    """Of the file, or of the first of several and how many more."""
    kind: str
    samples: int = 0
    new_samples: int = 0
    changed_samples: int = 0
    """Values that the store had otherwise."""
    missing: int = 0
    jobs: int = 0
    new_jobs: int = 0
    edges: int = 0
    new_edges: int = 0
    unnamed: bool = False
    """Whether components of a file system are in it, and not of which."""
    series: set[tuple[str, str]] = field(default_factory=set)
    """(system, metric)."""
    flags: Counter[str] = field(default_factory=Counter)
    """How often each flag of ``model.quality.QUALITY`` was raised."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """The first few places of each."""
    remarks: list[str] = field(default_factory=list)
    """What else there is to say, for people."""
    span_ns: tuple[int, int] | None = None
    """From the first to the last instant."""
    keys: list[tuple[str, str, str, int | None]] = field(default_factory=list)
    """Of jobs with numbers of their own."""

    @property
    def rows(self) -> int:
        """Of everything."""
        return self.samples + self.jobs + self.edges


class _Writer:
    """Holds what is to be written until it is worth it."""

    def __init__(self, root: Path, done: Recorded) -> None:
        self._root, self._done = root, done
        self._blocks: dict[tuple[str, ...], list[MetricBlock]] = {}
        self._cells = 0
        self._jobs: list[Job] = []
        self._edges: list[Edge] = []
        self._noted: set[str] = set()
        self._shared: dict[int, Note] = {}
        """Notes that were counted: held, so that no other can be taken for one of them."""

    def take(self, item: Item | Note | str) -> None:
        if isinstance(item, MetricBlock):
            self._take_block(item)
        elif isinstance(item, Note):
            self._noted.add(item.flag)
            self._note(*item)
        elif isinstance(item, str):
            self._done.remarks.append(item)
        elif isinstance(item, Edge):
            self._edges.append(item)
            self._done.edges += 1
            if len(self._edges) >= _MOST_EDGES:
                self._flush_edges()
        else:
            self._take_job(item)

    def _take_block(self, block: MetricBlock) -> None:
        done = self._done
        done.samples += block.value.size
        done.missing += int(np.isnan(block.value).sum())
        done.series.add((block.system, block.metric))
        done.unnamed |= not block.system and block.level in _OF_A_SYSTEM
        for note in block.notes:
            # One that several blocks share is of them all: it counts once.
            if id(note) not in self._shared:
                self._shared[id(note)] = note
                self._note(note.flag, note.what, note.n)
        if len(block.time_ns):
            self._saw(int(block.time_ns[0]), int(block.time_ns[-1]))
        key = (block.source, block.system, block.level, block.metric, *block.components)
        self._blocks.setdefault(key, []).append(block)
        self._cells += block.value.size
        if self._cells >= MOST_CELLS:
            self._flush_blocks()

    def _take_job(self, job: Job) -> None:
        self._jobs.append(job)
        self._done.jobs += 1
        for scalar in job.scalars.values():
            for flag in scalar.flags:
                if flag not in self._noted:
                    self._note(flag, f"job {job.job_id}", 1)
        if job.start_ns is not None:
            self._saw(job.start_ns, job.end_ns or job.start_ns)
        if job.scalars:
            self._done.keys.append(job.key)
        if len(self._jobs) >= _MOST_JOBS:
            self._flush_jobs()

    def _saw(self, first: int, last: int) -> None:
        span = self._done.span_ns
        self._done.span_ns = (
            (first, last) if span is None else (min(span[0], first), max(span[1], last))
        )

    def _note(self, flag: str, what: str, n: int) -> None:
        self._done.flags[flag] += n
        told = self._done.examples.setdefault(flag, [])
        if len(told) < _EXAMPLES and what not in told:
            told.append(what)

    def _flush_blocks(self) -> None:
        for some in self._blocks.values():
            put = put_block(self._root, _joined(some))
            self._done.new_samples += put.new
            self._done.changed_samples += put.changed
        self._blocks, self._cells = {}, 0

    def _flush_jobs(self) -> None:
        self._done.new_jobs += write_jobs(self._root, self._jobs)
        self._jobs = []

    def _flush_edges(self) -> None:
        self._done.new_edges += write_edges(self._root, self._edges)
        self._edges = []

    def flush(self) -> None:
        self._flush_blocks()
        self._flush_jobs()
        self._flush_edges()


def _joined(blocks: list[MetricBlock]) -> MetricBlock:
    """Pieces of one series with the same components; of an instant that is in several the last piece counts."""
    if len(blocks) == 1:
        return blocks[0]
    times = np.concatenate([block.time_ns for block in blocks])
    steps = np.concatenate([block.step_ns for block in blocks])
    values = np.concatenate([block.value for block in blocks])
    _, last = np.unique(times[::-1], return_index=True)
    rows = len(times) - 1 - last
    notes = dict.fromkeys(note for block in blocks for note in block.notes)
    return replace(
        blocks[0], time_ns=times[rows], step_ns=steps[rows], value=values[rows], notes=tuple(notes)
    )


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

    A table of jobs is read where one of ``mappings`` fits, or else one that is known. Raises UsageError: none of
    ``mappings`` fits a file that nothing else can read.
    """
    records: Records = []
    others: list[Path] = []
    for path in paths:
        reader: Connector | TableReader | None = None
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
) -> Iterator[Recorded]:
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


def _group(root: Path, group: Records, settings: Settings, told: Told) -> Iterator[Recorded]:
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


def _chained(group: Records, settings: Settings, told: Told) -> Iterator[Item | Note | str]:
    """Very many files as one: what they hold is written together, not file by file."""
    for done, (path, one) in enumerate(group, 1):
        try:
            yield from one.read(path, replace(settings, progress=None), told)
        except InputFileError as error:
            told(error)
        if settings.progress is not None:
            settings.progress(done, len(group))


def imported(
    root: Path, name: str, kind: str, items: Iterator[Item | Note | str], told: Told
) -> Recorded:
    """Everything of one file, several of a kind, or a server. What was good before an error is in the store.

    A note of ``items`` is about all jobs behind it: their flags of that name are not counted again.
    """
    done = Recorded(name, kind)
    writer = _Writer(Path(root), done)
    try:
        for item in items:
            writer.take(item)
    except InputFileError as error:
        told(error)
    finally:
        writer.flush()
    told.rest(name)
    return done
