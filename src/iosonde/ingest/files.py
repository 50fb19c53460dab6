"""Files of other tools, whatever they are: recognised by what they hold, then runs and samples."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import NamedTuple

from iosonde.connectors.benchmarks.recognise import LATENCIES, OPS, PROBING, SAMPLES
from iosonde.connectors.lines import FileDefaults
from iosonde.ingest.bandwidth import BESIDE, BandwidthImport, import_bandwidth
from iosonde.ingest.bandwidth import KINDS as BANDWIDTH
from iosonde.ingest.io_probing import Probed, import_probing
from iosonde.ingest.kinds import kind_of
from iosonde.ingest.latencies import LatencyImport, Naming, import_latencies
from iosonde.ingest.runs import READERS, RunImport, keep_runs, text_rows
from iosonde.ingest.samples import SamplesImport, import_samples
from iosonde.ingest.transfer_tables import keep_transfers
from iosonde.model.errors import InputFileError, UsageError

_TOLD = 5
"""Lines of one file that cannot be read and are told of one by one."""
_ENDING = r"(?:\.(?:txt|log|out|csv|json|gz))+$"
Report = Callable[[Path, str, int], None]
"""Gets each file, its kind and how many rows it had."""


@dataclass
class Done:
    """What an import did. ``broken`` tells of lines that could not be read."""

    latencies: LatencyImport | None = None
    probed: list[Probed] = field(default_factory=list)
    samples: list[SamplesImport] = field(default_factory=list)
    bandwidth: BandwidthImport | None = None
    runs: list[RunImport] = field(default_factory=list)
    broken: list[InputFileError] = field(default_factory=list)


def import_files(
    root: Path,
    paths: Sequence[Path],
    naming: Naming,
    now_ns: int,
    *,
    report: Report | None = None,
    zone: tzinfo | None = None,
) -> Done:
    """Import files of every kind that can be read. ``zone``: of clock times in them.

    A file that is none of them is told of; the others are imported. Raises UsageError, StoreError, and
    InputFileError when nothing could be read at all.
    """
    if not paths:
        raise UsageError(
            "no file to import", expected="files of md-workbench, mdtest, IOR, IO500 or io-probing"
        )
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise UsageError("a file appears twice", expected="each file once")
    done = Done()
    of_kind: dict[str, list[Path]] = {}
    for path in paths:
        try:
            of_kind.setdefault(kind_of(path), []).append(path)
        except InputFileError as error:
            done.broken.append(error)
    if not of_kind:
        raise done.broken[0]
    tell: Report = report or _silent
    if any(kind in of_kind for kind in BANDWIDTH):
        several = sum(len(of_kind[kind]) for kind in of_kind if kind not in BESIDE) > 1
        found = _bandwidth(of_kind, lambda path: _given(path, naming, several, zone), done)
        kept = keep_runs(root, found.rows, now_ns)
        done.runs += kept
        _keep_transfers(root, found, kept)
        for path, kind, n in found.counts:
            tell(path, kind, n)
    timed = {path: kind for kind in (LATENCIES, OPS) for path in of_kind.get(kind, ())}
    texts = [
        (path, kind) for kind in (*READERS, PROBING, SAMPLES) for path in of_kind.get(kind, ())
    ]
    if timed:
        mine = [path for path in paths if path in timed]
        _timed(root, mine, naming, done, lambda path, n: tell(path, timed[path], n))
        done.runs += keep_runs(root, done.latencies.rows if done.latencies else (), now_ns)
    for path, kind in texts:
        given = _given(path, naming, len(texts) > 1 or bool(timed), zone)
        told = _Told(path, done.broken)
        if kind == SAMPLES:
            n = _samples(_Source(root, path, given, told), naming, done)
        else:
            n = _text(_Source(root, path, given, told), kind, done, now_ns)
        told.rest()
        tell(path, kind, n)
    if done.broken and not (done.latencies or done.probed or done.samples or done.runs):
        raise done.broken[0]
    return done


def _keep_transfers(root: Path, found: BandwidthImport, kept: Sequence[RunImport]) -> None:
    """Write what ranks moved when, of runs that are new in the store."""
    names = dict.fromkeys(row.run_id for row in found.rows)
    of_name = dict(zip(names, kept, strict=True))
    for transfers in found.transfers:
        run = of_name.get(transfers.run)
        if run is not None and run.new:
            keep_transfers(root, transfers, run.run_id)


def _silent(_path: Path, _kind: str, _rows: int) -> None:
    """Reports nothing."""


def _bandwidth(
    of_kind: dict[str, list[Path]], given: Callable[[Path], FileDefaults], done: Done
) -> BandwidthImport:
    """Read files of IOR and IO500, and take them out of ``of_kind``."""
    told: dict[Path, _Told] = {}

    def warn_of(path: Path) -> _Told:
        return told.setdefault(path, _Told(path, done.broken))

    done.bandwidth = import_bandwidth(of_kind, given, warn_of, dict.fromkeys(READERS, text_rows))
    for one in told.values():
        one.rest()
    return done.bandwidth


class _Source(NamedTuple):
    """One file on its way into a store."""

    root: Path
    path: Path
    given: FileDefaults
    told: _Told


def _text(source: _Source, kind: str, done: Done, now_ns: int) -> int:
    """Import what a program printed; how many rows or rounds it has."""
    root, path, given, told = source
    if kind == PROBING:
        probed = import_probing(root, path, given, told)
        done.probed.append(probed)
        rows, n = list(probed.rows), probed.rounds + len(probed.rows)
    else:
        rows = text_rows(path, kind, given, told)
        n = len(rows)
    done.runs += keep_runs(root, rows, now_ns)
    return n


def _samples(source: _Source, naming: Naming, done: Done) -> int:
    """Import a table of samples; how many rows it has. One that has none is told of."""
    root, path, given, told = source
    try:
        found = import_samples(
            root, path, given, told, size_bytes=naming.size_bytes, period_ns=naming.period_ns
        )
    except InputFileError as error:
        told(error)
        return 0
    done.samples.append(found)
    return found.rows


def _timed(
    root: Path, paths: list[Path], naming: Naming, done: Done, report: Callable[[Path, int], None]
) -> None:
    """Import files of latencies; told of, when there are other files and none in these."""
    try:
        done.latencies = import_latencies(root, paths, naming, report)
    except InputFileError as error:
        done.broken.append(error)
        return
    done.broken += done.latencies.broken


def _given(path: Path, naming: Naming, several: bool, zone: tzinfo | None) -> FileDefaults:
    """What a text does not say; of several texts each is a run of its own name."""
    stem = re.sub(_ENDING, "", path.name) or path.name
    run = stem if naming.run is None else f"{naming.run}-{stem}" if several else naming.run
    return FileDefaults(run, naming.host, naming.target, naming.started_ns, zone)


class _Told:
    """Takes what cannot be read in a file: the first few lines, and how many more there were."""

    def __init__(self, path: Path, broken: list[InputFileError]) -> None:
        self._path, self._broken, self._n = path, broken, 0

    def __call__(self, error: InputFileError) -> None:
        self._n += 1
        if self._n <= _TOLD:
            self._broken.append(error)

    def rest(self) -> None:
        """Tell of those that were not told of."""
        if self._n > _TOLD:
            more = f"{self._path}: {self._n - _TOLD} more lines cannot be read"
            self._broken.append(InputFileError(more))
