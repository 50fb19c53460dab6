"""Logs of io-probing become samples: a series with the period that their stamps show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iosonde.connectors.benchmarks.ioprobing import ProbingLog
from iosonde.connectors.lines import FileDefaults, Warn
from iosonde.engine.layout.dates import utc_date
from iosonde.model.errors import InputFileError
from iosonde.model.frames import Frame
from iosonde.model.ops import OPS
from iosonde.model.runs import RunRow
from iosonde.weather.samples.parts import PartsWritten
from iosonde.weather.samples.writer import Labels, Placed, Staging

_SIZE_BYTES, _BLOCK_BYTES = 3901, 1 << 20


@dataclass(frozen=True)
class Probed:
    """What a log held."""

    written: PartsWritten
    run_ids: tuple[str, ...]
    target: str
    rounds: int
    period_ns: int
    uninitialised: int
    """Quantiles that were left out: memory that nobody wrote."""
    several: int
    """Rounds with several operations of an op, of which the median was taken."""
    ranks: int
    """Ranks whose times the log adds up for data operations; a sample is their mean."""
    rows: tuple[RunRow, ...]
    """What is no round: precreate and cleanup."""


def import_probing(root: Path, path: Path, given: FileDefaults, warn: Warn) -> Probed:
    """Write a log's rounds as samples. ``given.started_ns`` counts for its runs only: rounds have stamps.

    Raises StoreError; InputFileError when nothing at all could be read.
    """
    log = ProbingLog(path, given, warn)
    rows: list[RunRow] = []
    with Staging(root, [path.name]) as staging:
        try:
            for piece in log.pieces():
                if isinstance(piece, Frame):
                    staging.add(0, _staged(piece))
                else:
                    rows.append(piece)
        except InputFileError as error:
            if not rows and not log.rounds:
                raise
            warn(error)
        extents = staging.extents()
        target = given.target or log.root or given.run
        placed = []
        for extent in extents:
            start, first_ns = log.stretches[extent.key.iteration]
            run = given.run if start == 1 else f"{given.run}-{start}"
            label = f"s{start}-{utc_date(first_ns)}-{extent.key.iteration}"
            placed.append(Placed(extent.key, label, run, first_ns, log.period_ns))
        size = _SIZE_BYTES if log.size_bytes is None else log.size_bytes
        block = _BLOCK_BYTES if log.block_bytes is None else log.block_bytes
        labels = Labels(target, given.host, min(size, 2**31 - 1), OPS, min(block, 2**31 - 1), False)
        written = staging.write(extents, placed, labels)
    run_ids = tuple(dict.fromkeys(phase.run_id for phase in placed))
    about = (log.rounds, log.period_ns, log.uninitialised, log.several, log.ranks)
    return Probed(written, run_ids, target, *about, tuple(rows))


def _staged(rounds: Frame) -> Frame:
    """Rows as they are staged: a stretch is an iteration of the only phase."""
    n = len(rounds)
    return Frame(
        {
            **{name: rounds[name] for name in ("op", "time_ns", "runtime_ns", "offset_bytes")},
            "phase": np.zeros(n, dtype=np.uint8),
            "iteration": rounds["stretch"],
            "rank": np.zeros(n, dtype=np.int32),
        }
    )
