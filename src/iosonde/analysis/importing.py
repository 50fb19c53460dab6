"""From other tools' files to samples: what they are called, and when they happened.

The files count from the barrier at which a phase began. The phases of a run lie one after the other on the
time axis, a second apart, in the order in which the benchmark does them: precreate, the iterations (in each
the waiting factors, ascending), cleanup. Files given together whose names begin alike are one run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.connectors.mdworkbench import OPS, PHASES, parse_name, read_latencies, run_name
from iosonde.model.errors import InputFileError, UsageError
from iosonde.model.names import slug
from iosonde.store.imported import Extent, Labels, Phase, Placed, Staging, Written

SIZE_BYTES = 3901
"""What the benchmark writes into a file unless told otherwise."""
_BETWEEN_NS = 1_000_000_000
_MOST_PIECES = 200_000
"""Each becomes a file of the store."""
_ORDER = {"precreate": 0, "benchmark": 1, "cleanup": 2}


@dataclass(frozen=True)
class Naming:
    """What the files do not say. None: the default of the field's note."""

    target: str | None = None
    """The name of the (first) file's run."""
    host: str = "import"
    """Ranks get ``.rank0000`` and so on behind it."""
    run: str | None = None
    """Run ids begin with it; the name of each file's run."""
    started_ns: int | None = None
    """When the first phase began; so that the last ends when the youngest file was written."""
    size_bytes: int = SIZE_BYTES


@dataclass(frozen=True)
class Imported:
    """What an import did. ``broken`` tells of files whose rows count only up to a place."""

    written: Written
    target: str
    run_ids: tuple[str, ...]
    started_ns: int
    broken: tuple[InputFileError, ...]


def import_latencies(
    root: Path,
    paths: Sequence[Path],
    naming: Naming,
    report: Callable[[Path, int], None] | None = None,
) -> Imported:
    """Import files of md-workbench. ``report`` gets each file and its rows when it was read.

    Raises UsageError (no file, a file twice), StoreError, and InputFileError when no row could be read.
    """
    if not paths:
        raise UsageError("no file to import", expected="latency files of md-workbench")
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("a file is named twice", expected="each file once")
    with Staging(root, [run_name(path) for path in paths]) as staging:
        broken = _read(staging, paths, report)
        extents = staging.extents()
        if not extents:
            raise (
                broken[0]
                if broken
                else InputFileError(f"{paths[0]} holds no rows", expected="one row an operation")
            )
        pieces = sum(len(extent.ranks) for extent in extents)
        if pieces > _MOST_PIECES:
            raise UsageError(
                f"the files hold {pieces} ranks and phases", expected=f"at most {_MOST_PIECES}"
            )
        started = naming.started_ns
        if started is None:
            started = max(path.stat().st_mtime_ns for path in paths) - _length(paths, extents)
        placed = _placed(paths, extents, naming, started)
        target = naming.target or run_name(paths[extents[0].key.file])
        ops = tuple(OPS.values())
        labels = Labels(target, naming.host, naming.size_bytes, ops)
        written = staging.write(extents, placed, labels)
    run_ids = tuple(dict.fromkeys(phase.run_id for phase in placed))
    return Imported(written, target, run_ids, started, tuple(broken))


def _read(
    staging: Staging, paths: Sequence[Path], report: Callable[[Path, int], None] | None
) -> list[InputFileError]:
    broken = []
    for number, path in enumerate(paths):
        rows = 0
        try:
            for chunk in read_latencies(path):
                staging.add(number, chunk)
                rows += len(chunk)
        except InputFileError as error:
            broken.append(error)
        if report:
            report(path, rows)
    return broken


def _turn(path: Path, key: Phase) -> tuple[str, int, int, float]:
    """Which run a phase belongs to, and its place in it."""
    named = parse_name(path.name)
    waiting = float(named.waiting) if named and named.waiting else 0.0
    prefix = named.prefix if named else run_name(path)
    return prefix, _ORDER[PHASES[key.phase]], key.iteration, waiting


def _starts(
    paths: Sequence[Path], extents: Sequence[Extent]
) -> dict[tuple[str, int, int, float], int]:
    """When each phase of each run begins, ns since the run's first."""
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
    paths: Sequence[Path], extents: Sequence[Extent], naming: Naming, started_ns: int
) -> list[Placed]:
    starts = _starts(paths, extents)
    placed = []
    for extent in extents:
        path, key = paths[extent.key.file], extent.key
        phase = PHASES[key.phase]
        label = f"i{key.iteration}" if phase == "benchmark" else phase
        run = naming.run or run_name(path)
        start = started_ns + starts[_turn(path, key)]
        placed.append(Placed(key, slug(label), f"{run}-{label}", start))
    return placed
