"""Latencies of md-workbench and mdtest to samples, and to runs with statistics of the samples.

The files count from the barrier at which a phase began. The phases of a run lie one after the other on the
time axis, a second apart, in the order in which the benchmark does them: precreate, the iterations (in each
the waiting factors, ascending), cleanup. Files given together whose names begin alike are one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.connectors.benchmarks.mdtest import ops as mdtest_ops
from iosonde.connectors.benchmarks.mdworkbench import latencies as mdworkbench
from iosonde.connectors.benchmarks.mdworkbench.latencies import parse_name, read_latencies
from iosonde.connectors.lines import Warn, storable
from iosonde.connectors.source import FileRead, Item, RunRows, SampleRows, Settings
from iosonde.ingest.days import Days
from iosonde.ingest.report import SamplesWritten
from iosonde.ingest.run_statistics import Group, rows_of
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.frames import Frame
from iosonde.model.names import slug
from iosonde.model.runs import RunRow
from iosonde.weather.samples.writer import Extent, FilePhase, Labels, Placed, Staging

if TYPE_CHECKING:
    from numpy.typing import NDArray

OPS = (*mdworkbench.OPS.values(), *mdtest_ops.OPS)
"""Op of each code in rows: first md-workbench's codes, then mdtest's."""
PHASES = (*mdworkbench.PHASES, *mdtest_ops.PHASES)
_FIRST_OP, _FIRST_PHASE = len(mdworkbench.OPS), len(mdworkbench.PHASES)

_MEANT = {0.06: 1 / 16, 0.12: 1 / 8}
"""Exact waiting factors of adaptive mode, which file names round to two decimals."""
_BETWEEN_NS = 1_000_000_000
_MOST_PIECES = 200_000
"""Most pieces; each becomes a file of the store."""
_ORDER = {"precreate": 0, "benchmark": 1, "cleanup": 2}
_ORDER |= {phase: place for place, phase in enumerate(mdtest_ops.PHASES)}


def run_name(path: Path) -> str:
    """Name of a file's run: the prefix of the file's name, or the name without its endings."""
    named = mdtest_ops.parse_name(path.name)
    return storable(mdworkbench.run_name(path) if named is None else named.prefix)


def read(
    files: Sequence[tuple[Path, str]], settings: Settings, warn_of: Callable[[Path], Warn]
) -> Iterator[Item]:
    """Samples and runs of files of given kinds; of a truncated file the rows before count."""
    sink = LatencySink([path for path, _ in files], settings)
    counts = [0] * len(files)
    for number, (path, _) in enumerate(files):
        days = Days(path)
        try:
            for chunk in _frames(path):
                n = days.room(chunk["time_ns"])
                yield SampleRows(sink, chunk.take(slice(0, n)), number)
                counts[number] += n
                if n < len(chunk):
                    raise days.refusal()
        except InputFileError as error:
            sink.broken = True
            warn_of(path)(error)
    if any(counts):
        yield sink
    elif not sink.broken:
        what = f"{files[0][0]} holds no rows"
        warn_of(files[0][0])(InputFileError(what, expected="one row an operation"))
    for (path, kind), n in zip(files, counts, strict=True):
        yield FileRead(path, kind, n)


class LatencySink:
    """Sink for rows with times relative to their phases, which are placed once all rows are there."""

    def __init__(self, paths: Sequence[Path], settings: Settings) -> None:
        self._paths, self._settings = paths, settings
        self.broken = False
        """Whether a file broke off: then its run is not complete."""

    def open(self, root: Path) -> None:
        """Begin."""
        self._staging = Staging(root, [run_name(path) for path in self._paths])

    def add(self, file: int, rows: Frame) -> None:
        """Add rows of a file."""
        self._staging.add(file, rows)

    def close(self) -> None:
        """End."""
        self._staging.__exit__()

    def finish(self) -> Iterator[SamplesWritten | RunRows]:
        """Write samples, and yield runs. Raises UsageError (too many ranks), StoreError."""
        paths, naming, staging = self._paths, self._settings, self._staging
        extents = staging.extents()
        pieces = sum(len(extent.ranks) for extent in extents)
        if pieces > _MOST_PIECES:
            raise UsageError(
                f"the files hold {pieces} ranks and phases", expected=f"at most {_MOST_PIECES}"
            )
        started, length = naming.started_ns, _length(paths, extents)
        if started is None:
            started = max(path.stat().st_mtime_ns for path in paths) - length
        placed = _placed(paths, extents, naming, started)
        target = naming.target or run_name(paths[extents[0].key.file])
        labels = Labels(target, naming.host, naming.size_bytes, OPS)
        written = staging.write(extents, placed, labels)
        measured = _runs(staging, paths, placed, Group(naming.run or "", target, naming.host))
        yield SamplesWritten(
            written,
            sum(extent.rows for extent in extents),
            tuple(dict.fromkeys(phase.target or target for phase in placed)),
            (started, started + length),
            run_ids=tuple(dict.fromkeys(phase.run_id for phase in placed)),
        )
        yield RunRows(_marked(measured, self.broken))


def _marked(rows: Sequence[RunRow], broken: bool) -> tuple[RunRow, ...]:
    """Mark runs with a truncated file as incomplete."""
    return tuple(replace(row, complete=False) for row in rows) if broken else tuple(rows)


def _runs(
    staging: Staging, paths: Sequence[Path], placed: Sequence[Placed], like: Group
) -> list[RunRow]:
    """A run per prefix of the files' names, with all its waiting factors."""
    groups: dict[tuple[str, float], list[int]] = {}
    for number, path in enumerate(paths):
        if any(phase.key.file == number for phase in placed):
            prefix, _, _, waiting = _turn(path, FilePhase(number, 0, 0))
            groups.setdefault((prefix, waiting), []).append(number)
    several = len({prefix for prefix, _ in groups}) > 1
    rows: list[RunRow] = []
    for (prefix, waiting), files in groups.items():
        begins: dict[tuple[int, int], int] = {}
        for phase in placed:
            if phase.key.file in files:
                key = (phase.key.phase, phase.key.iteration)
                begins[key] = min(begins.get(key, phase.start_ns), phase.start_ns)
        run = prefix if not like.run_id else f"{like.run_id}-{prefix}" if several else like.run_id
        group = like._replace(
            run_id=run,
            target=next(p.target or like.target for p in placed if p.key.file in files),
            waiting=waiting,
            digests=tuple(sorted(staging.digest(number) for number in files)),
            mdtest=all(mdtest_ops.parse_name(paths[number].name) for number in files),
            only_rank=_only_rank([paths[number] for number in files]),
        )
        rows += rows_of(staging.measured(files), group, begins, PHASES, OPS)
    return rows


def _only_rank(files: Sequence[Path]) -> int | None:
    """0 for files of md-workbench 2019 without --latency-all: the operations of rank 0."""
    named = [parse_name(path.name) for path in files]
    return 0 if all(n and n.waiting is not None and not n.all_ranks for n in named) else None


def _frames(path: Path) -> Iterator[Frame]:
    """Rows of a file of md-workbench or mdtest."""
    named = mdtest_ops.parse_name(path.name)
    if named is None or parse_name(path.name) is not None:
        yield from read_latencies(path)
        return
    for chunk in mdtest_ops.read_ops(path):
        n = len(chunk)
        same: dict[str, NDArray[Any]] = {
            "op": np.full(n, _FIRST_OP + named.place, dtype=np.uint8),
            "phase": np.full(n, _FIRST_PHASE + named.place, dtype=np.uint8),
            "iteration": np.zeros(n, dtype=np.int32),
            "rank": np.full(n, named.rank, dtype=np.int32),
        }
        yield chunk.with_columns(same)


def _turn(path: Path, key: FilePhase) -> tuple[str, int, int, float]:
    """Run of a phase, and its sort key within the run."""
    named = parse_name(path.name)
    waiting = float(named.waiting) if named and named.waiting else 0.0
    waiting = _MEANT.get(waiting, waiting)
    prefix = storable(named.prefix) if named else run_name(path)
    return prefix, _ORDER[PHASES[key.phase]], key.iteration, waiting


def _starts(
    paths: Sequence[Path], extents: Sequence[Extent]
) -> dict[tuple[str, int, int, float], int]:
    """Start of each phase of each run, ns since the run's first."""
    lengths: dict[tuple[str, int, int, float], int] = {}
    for extent in extents:
        turn = _turn(paths[extent.key.file], extent.key)
        lengths[turn] = max(lengths.get(turn, 0), extent.end_ns)
    starts: dict[tuple[str, int, int, float], int] = {}
    used: dict[str, int] = {}
    for turn in sorted(lengths):
        starts[turn] = used.get(turn[0], 0)
        used[turn[0]] = starts[turn] + lengths[turn] + _BETWEEN_NS
    return starts


def _length(paths: Sequence[Path], extents: Sequence[Extent]) -> int:
    starts = _starts(paths, extents)
    return max(starts[_turn(paths[e.key.file], e.key)] + e.end_ns for e in extents)


def _placed(
    paths: Sequence[Path], extents: Sequence[Extent], naming: Settings, started_ns: int
) -> list[Placed]:
    starts = _starts(paths, extents)
    placed = []
    for extent in extents:
        path, key = paths[extent.key.file], extent.key
        phase = PHASES[key.phase]
        label = f"i{key.iteration}" if phase == "benchmark" else phase
        run = naming.run or run_name(path)
        start = started_ns + starts[_turn(path, key)]
        target = naming.target or run_name(path)
        placed.append(Placed(key, slug(label), f"{run}-{label}", start, target=target))
    return placed
