"""What a record amounted to, and its items into the store: held until they are worth a write."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from iosonde.jobs.store.jobs import write_jobs
from iosonde.jobs.store.metric_descriptions import Described, write_described
from iosonde.jobs.store.series import put_block, write_edges
from iosonde.model.jobs import Job
from iosonde.model.metrics import Edge, MetricBlock
from iosonde.model.quality import Note

if TYPE_CHECKING:
    from iosonde.connectors.source import Item

MOST_CELLS = 30_000_000
"""Values that wait to be written together: parts of a day are merged by rewriting the day."""
_MOST_JOBS = 20_000
_MOST_EDGES = 500_000
_OF_A_SYSTEM = ("filesystem", "ost", "mdt", "nsd", "pool")
_EXAMPLES = 3
_MOST_NAMES = 500


@dataclass
class FileImport:
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
    left_out: Counter[str] = field(default_factory=Counter)
    """What was not read, by name and why; at most 500 of them."""
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


class Writer:
    """Holds what is to be written until it is worth it."""

    def __init__(self, root: Path, done: FileImport) -> None:
        self._root, self._done = root, done
        self._blocks: dict[tuple[str, ...], list[MetricBlock]] = {}
        self._cells = 0
        self._jobs: list[Job] = []
        self._described: list[Described] = []
        self._edges: list[Edge] = []
        self._noted: set[str] = set()
        self._shared: dict[int, Note] = {}
        """Notes that were counted: held, so that no other can be taken for one of them."""

    def take(self, item: Item | Note | str | Described) -> None:
        """One item: counted, and written when it is worth it. A text is a remark for people."""
        if isinstance(item, MetricBlock):
            self._take_block(item)
        elif isinstance(item, Note):
            self._noted.add(item.flag)
            self._note(*item)
        elif isinstance(item, str):
            self._done.remarks.append(item)
        elif isinstance(item, Described):
            self._described.append(item)
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
        self._done.new_jobs += write_jobs(self._root, self._jobs)
        self._jobs = []

    def _flush_edges(self) -> None:
        self._done.new_edges += write_edges(self._root, self._edges)
        self._edges = []

    def flush(self) -> None:
        """Write what is held."""
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
