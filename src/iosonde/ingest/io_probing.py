"""Logs of io-probing to samples: a series with the period of the time stamps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from iosonde.connectors.benchmarks.ioprobing import ProbingLog
from iosonde.connectors.benchmarks.kinds import PROBING
from iosonde.connectors.lines import FileDefaults, Warn, file_name
from iosonde.connectors.source import FileRead, Item, RunRows, SampleRows
from iosonde.engine.layout.dates import utc_date
from iosonde.ingest.days import Days
from iosonde.ingest.report import SamplesWritten
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame
from iosonde.model.ops import OPS
from iosonde.model.runs import RunRow
from iosonde.model.units import format_count, format_option
from iosonde.weather.samples.writer import Labels, Placed, Staging

_SIZE_BYTES, _BLOCK_BYTES = 3901, 1 << 20


def read(path: Path, given: FileDefaults, warn: Warn) -> Iterator[Item]:
    """Rounds of a log as samples, precreate and cleanup as runs, which start at ``given.started_ns``.

    Raises InputFileError: nothing at all could be read.
    """
    log = ProbingLog(path, given, warn)
    sink, days, rows = _Rounds(path, log, given), Days(path), list[RunRow]()
    try:
        for piece in log.pieces():
            if isinstance(piece, Frame):
                first_ns = np.array([one.first_ns for one in log.stretches], dtype=np.int64)
                n = days.room(first_ns[piece["stretch"]])
                yield SampleRows(sink, piece.take(slice(0, n)))
                if n < len(piece):
                    raise days.refusal()
            else:
                rows.append(piece)
    except InputFileError as error:
        if not rows and not log.rounds:
            raise
        warn(error)
    if log.rounds:
        yield sink
    yield RunRows(rows)
    yield FileRead(path, PROBING, log.rounds + len(rows))


class _Rounds:
    """Rounds of a log: a program start is an iteration of the only phase."""

    def __init__(self, path: Path, log: ProbingLog, given: FileDefaults) -> None:
        self._path, self._log, self._given = path, log, given

    def open(self, root: Path) -> None:
        self._staging = Staging(root, [file_name(self._path)])

    def close(self) -> None:
        self._staging.__exit__()

    def add(self, file: int, rows: Frame) -> None:
        n = len(rows)
        columns = {name: rows[name] for name in ("op", "time_ns", "runtime_ns", "offset_bytes")}
        columns["phase"] = np.zeros(n, dtype=np.uint8)
        columns["iteration"], columns["rank"] = rows["stretch"], np.zeros(n, dtype=np.int32)
        self._staging.add(file, Frame(columns))

    def finish(self) -> Iterator[SamplesWritten]:
        log, given = self._log, self._given
        extents = self._staging.extents()
        target = given.target or log.root or given.run
        placed, last_ns = [], 0
        for extent in extents:
            start, first_ns = log.stretches[extent.key.iteration]
            run = given.run if start == 1 else f"{given.run}-{start}"
            label = f"s{start}-{utc_date(first_ns)}-{extent.key.iteration}"
            placed.append(Placed(extent.key, label, run, first_ns, log.period_ns))
            last_ns = max(last_ns, first_ns + extent.end_ns)
        size = _SIZE_BYTES if log.size_bytes is None else log.size_bytes
        block = _BLOCK_BYTES if log.block_bytes is None else log.block_bytes
        labels = Labels(target, given.host, min(size, 2**31 - 1), OPS, min(block, 2**31 - 1), False)
        yield SamplesWritten(
            self._staging.write(extents, placed, labels),
            sum(extent.rows for extent in extents),
            (target,),
            (min(phase.start_ns for phase in placed), last_ns),
            tuple(self._remarks()),
            tuple(dict.fromkeys(phase.run_id for phase in placed)),
        )

    def _remarks(self) -> Iterator[str]:
        log = self._log
        every = format_option(log.period_ns)
        yield f"{format_count(log.rounds)} rounds, every {every} by their stamps of whole seconds"
        if log.uninitialised:
            n = format_count(log.uninitialised)
            yield f"{n} quantiles of one operation are uninitialised, left out"
        if log.several:
            n = format_count(log.several)
            yield f"{n} rounds have several operations an op: their median counts"
        if log.ranks > 1:
            yield f"reads and writes are sums over {log.ranks} ranks: imported as their mean"
