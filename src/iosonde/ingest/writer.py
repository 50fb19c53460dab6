"""Writer of items of any source into the store, in large batches."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from iosonde.connectors.lines import storable
from iosonde.connectors.source import FileRead, Item, MetricSaid, RunRows, SampleRows, SampleSink
from iosonde.ingest.days import Days
from iosonde.ingest.report import FileImport, Imported, SamplesWritten
from iosonde.ingest.runs import keep_runs
from iosonde.ingest.step_means import StepMeans
from iosonde.ingest.transfer_tables import keep_transfers
from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.metric_descriptions import Described, write_described
from iosonde.jobs.store.series import put_block, write_edges
from iosonde.jobs.store.zones import drop_other_zone
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.quality import Note
from iosonde.model.runs import RunRow

if TYPE_CHECKING:
    from iosonde.model.arrays import Instants

MOST_CELLS = 30_000_000
"""Most values held for a batch: parts of a day are merged by rewriting the day."""
_MOST_JOBS = 20_000
_MOST_EDGES = 500_000
_OF_A_SYSTEM = ("filesystem", "ost", "mdt", "nsd", "pool")
_EXAMPLES = 3
_AHEAD_NS = 26 * 3600 * 10**9
"""Most that a clock time read in another zone lies ahead."""
_MOST_NAMES = 500
T = TypeVar("T", MetricBlock, Job, Edge, RunRow)


class Writer:
    """Collects items for batched writes."""

    def __init__(self, root: Path, done: FileImport, report: Imported, now_ns: int) -> None:
        self._root, self._done, self._report, self._now_ns = root, done, report, now_ns
        self._blocks: dict[tuple[str, ...], list[MetricBlock]] = {}
        self._cells = 0
        self._means = StepMeans()
        self._days, self._full = Days(done.name), False
        self._jobs: list[Job] = []
        self._described: list[Described] = []
        self._edges: list[Edge] = []
        self._sinks: list[SampleSink] = []
        self._noted: set[str] = set()
        self._ahead: dict[str, None] = {}
        self._shared: dict[int, Note] = {}
        """Notes that were counted: held, so that no other can be taken for one of them."""

    def take(self, item: Item | SamplesWritten) -> None:
        """Take one item: count it, and write a full batch. Raises StoreError."""
        match item:
            case MetricBlock():
                self._take_block(printable(item))
            case Job():
                self._take_job(printable(item))
            case Edge():
                if self._days.knows(item.time_ns) or self._room(np.array([item.time_ns])):
                    self._edges.append(printable(item))
                    self._done.edges += 1
                if len(self._edges) >= _MOST_EDGES:
                    self._flush_edges()
            case Note():
                self._noted.add(item.flag)
                self._note(*item)
            case str():
                self._done.remarks.append(item)
            case MetricSaid():
                self._described.append(Described(*item))
            case _:
                self._take_runs_and_samples(item)

    def _take_runs_and_samples(
        self, item: RunRows | SampleRows | SampleSink | SamplesWritten | FileRead
    ) -> None:
        match item:
            case RunRows():
                self._take_runs(item)
            case SampleRows():
                if item.sink not in self._sinks:
                    item.sink.open(self._root)
                    self._sinks.append(item.sink)
                item.sink.add(item.file, item.rows)
            case SamplesWritten():
                self._report.samples.append(item)
            case FileRead():
                self._report.read.append(item)
            case _:
                for more in item.finish():
                    self.take(more)
                self.close()

    def close(self) -> None:
        """Discard samples that were not written."""
        while self._sinks:
            self._sinks.pop().close()

    def _take_runs(self, found: RunRows) -> None:
        rows = [printable(row) for row in found.rows]
        kept = keep_runs(self._root, rows, self._now_ns)
        self._report.runs += kept
        of_name = dict(zip(dict.fromkeys(row.run_id for row in rows), kept, strict=True))
        for transfers in found.transfers:
            run = of_name.get(transfers.run)
            if run is not None and run.new:
                keep_transfers(self._root, transfers, run.run_id)

    def _room(self, time_ns: Instants) -> int:
        """Number of rows within the day limit; the first excess is reported."""
        n = self._days.room(time_ns)
        if n < len(time_ns) and not self._full:
            self._full = True
            self._report.told.of(self._done.name)(self._days.refusal())
        return n

    def _take_block(self, block: MetricBlock) -> None:
        done = self._done
        if (n := self._room(block.time_ns)) < len(block.time_ns):
            rows = slice(0, n)
            block = replace(
                block,
                time_ns=block.time_ns[rows],
                step_ns=block.step_ns[rows],
                value=block.value[rows],
            )
        done.samples += block.value.size
        done.missing += int(np.isnan(block.value).sum())
        done.series.add((block.system, block.metric))
        done.unnamed |= not block.system and block.level in _OF_A_SYSTEM
        for note in block.notes:
            # One that several blocks share is of them all: it counts once.
            if id(note) not in self._shared:
                self._shared[id(note)] = note
                self._note(note.flag, note.what, note.n)
        self._means.take(block)
        if len(block.time_ns):
            self._saw(int(block.time_ns[0]), int(block.time_ns[-1]))
            self._to_come(f"{block.metric} of {block.level}", int(block.time_ns[-1]))
        key = (block.source, block.system, block.level, block.metric, *block.components)
        self._blocks.setdefault(key, []).append(block)
        self._cells += block.value.size
        if self._cells >= MOST_CELLS:
            self._flush_blocks()

    def _take_job(self, job: Job) -> None:
        self._jobs.append(job)
        self._done.jobs += 1
        for name, scalar in job.scalars.items():
            for flag in scalar.flags:
                if flag not in self._noted:
                    self._note(flag, f"job {job.written_id}", 1)
                if (name, flag, job.end_ns) == ("duration_s", "missing", None):
                    self._done.endless.append(f"{job.written_id}.{job.step}".rstrip("."))
        if job.start_ns is not None:
            self._saw(job.start_ns, job.end_ns or job.start_ns)
            self._to_come(f"job {job.written_id}", job.end_ns or job.start_ns)
        if job.scalars:
            self._done.keys.append(job.key)
        if len(self._jobs) >= _MOST_JOBS:
            self._flush_jobs()

    def _saw(self, first: int, last: int) -> None:
        span = self._done.span_ns
        self._done.span_ns = (
            (first, last) if span is None else (min(span[0], first), max(span[1], last))
        )

    def _to_come(self, what: str, last_ns: int) -> None:
        """Keep the name of what is later than now, beyond what other zones and clocks explain."""
        if last_ns > self._now_ns + _AHEAD_NS:
            self._ahead.setdefault(what)

    def _note(self, flag: str, what: str, n: int) -> None:
        self._done.flags[flag] += n
        names = self._done.left_out
        if flag == "left-out" and (what in names or len(names) < _MOST_NAMES):
            names[what] += n
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
        write_described(self._root, self._described)
        self._described = []
        if remark := drop_other_zone(self._root, self._jobs):
            self._done.remarks.append(remark)
        self._done.new_jobs += write_jobs(self._root, self._jobs)
        self._jobs = []

    def _flush_edges(self) -> None:
        self._done.new_edges += write_edges(self._root, self._edges)
        self._edges = []

    def flush(self) -> None:
        """Write all held items."""
        self._flush_blocks()
        self._flush_jobs()
        self._flush_edges()
        if names := list(self._ahead):
            some = ", ".join(names[:_EXAMPLES]) + (", ..." if len(names) > _EXAMPLES else "")
            self._done.remarks.append(f"times that are still to come, taken as written: {some}")
        self._report.samples += self._means.write(self._root, self._done.name)


def _joined(blocks: list[MetricBlock]) -> MetricBlock:
    """Concatenate pieces of one series with the same components; for a repeated instant the last piece counts."""
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


def printable(item: T) -> T:
    """An item with texts that UTF-8 can encode: lone surrogates of foreign JSON and file names are replaced."""
    names = item._fields if isinstance(item, Edge) else [one.name for one in fields(item)]
    new = {}
    for name in names:
        old = getattr(item, name)
        if isinstance(old, str | tuple) and (text := _storable(old)) != old:
            new[name] = text
    if not new:
        return item
    return item._replace(**new) if isinstance(item, Edge) else replace(item, **new)


def _storable(value: Any) -> Any:
    """Convert a text, a note's, or all of a tuple; return anything else unchanged."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Note):
        what = storable(value.what)
        return value if what == value.what else value._replace(what=what)
    return tuple(map(_storable, value)) if type(value) is tuple else value
