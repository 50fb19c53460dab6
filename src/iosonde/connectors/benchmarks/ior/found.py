"""Result of reading IOR files: rows of runs, rank times, and notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from iosonde.connectors.benchmarks.ior.phase_data import OpTimes, RankTimes, Result
from iosonde.connectors.benchmarks.ior.setup import Setup
from iosonde.connectors.benchmarks.ior.timers import INSTANTS, RankTimers
from iosonde.model.frames import NULL_NS
from iosonde.model.transfers import DIRECTIONS, Stripes, Transfers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from iosonde.model.arrays import Flags, Floats, Instants, Ints
    from iosonde.model.runs import RunRow

EPOCH_FROM_NS = 1_000_000_000 * 10**9
"""2001. A timer below this counts from the start of the machine, not from 1970."""


class PhaseTimes(NamedTuple):
    """Ranks of one phase and repetition. Shapes (ranks,), ascending by rank."""

    access: str
    repetition: int
    rank: Ints
    instants: Instants
    """(ranks, 6) in the order of ``INSTANTS``, ns since the epoch; ``NULL_NS`` if not printed."""
    file: tuple[str, ...]
    skew_ns: int = 0
    """Largest difference between the ranks' clocks, if they were aligned."""


Turn = tuple[str, int]
"""Access and repetition."""


@dataclass
class IorRun:
    """A test: a run in the store."""

    run_id: str
    setup: Setup
    results: list[Result] = field(default_factory=list)
    phases: list[PhaseTimes] = field(default_factory=list)
    times: dict[Turn, RankTimes] = field(default_factory=dict)
    """Times of ranks, from timers or from the table of ranks."""
    ops: dict[Turn, OpTimes] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    rows: list[RunRow] = field(default_factory=list)
    """Rows of the run, set by ``assemble.finish``."""

    def transfers(self) -> Transfers | None:
        """A row per rank, phase and repetition with both ends of a transfer known; None without any."""
        parts = [phase for phase in self.phases if phase.access in DIRECTIONS]
        if not parts:
            return None
        moved = {
            (row.phase, row.repetition, row.rank): row.bytes
            for row in self.rows
            if row.rank is not None and row.op is None
        }
        files = tuple(dict.fromkeys(name for phase in parts for name in phase.file))
        number = {name: place for place, name in enumerate(files)}
        instants = np.concatenate([phase.instants for phase in parts])
        columns = dict(zip(INSTANTS, instants.T, strict=True))
        ranks = np.concatenate([phase.rank for phase in parts])

        def column(values: Sequence[int]) -> Ints:
            return np.repeat(np.array(values, dtype=np.int64), [len(phase.rank) for phase in parts])

        sizes = [
            moved.get((phase.access, phase.repetition, int(rank))) or 0
            for phase in parts
            for rank in phase.rank
        ]
        names = [number[name] for phase in parts for name in phase.file]
        unknown = np.full(len(ranks), -1, dtype=np.int64)
        return Transfers(
            run=self.run_id,
            repetition=column([phase.repetition for phase in parts]),
            direction=column([DIRECTIONS.index(phase.access) for phase in parts]),
            rank=ranks,
            host=unknown,
            file=np.array(names, dtype=np.int64),
            bytes=np.array(sizes, dtype=np.int64),
            transfer_begin_ns=columns["transfer_begin"],
            transfer_end_ns=columns["transfer_end"],
            stripes=Stripes.single(unknown),
            hosts=(),
            files=files,
            targets=(),
            open_begin_ns=columns["open_begin"],
            open_end_ns=columns["open_end"],
            close_begin_ns=columns["close_begin"],
            close_end_ns=columns["close_end"],
        )


def phase_times(
    turn: Turn,
    found: Mapping[int, RankTimers],
    files: Mapping[int, str],
    usual_file: str | None,
    began_ns: int | None,
) -> PhaseTimes:
    """Convert timers of ranks to instants.

    Timers that do not count from 1970 (MPI_Wtime of some libraries) are laid so that the first begins at
    ``began_ns``. Where ranks that left one barrier began seconds apart, their clocks differ: each is laid so that
    it begins when the first one did.
    """
    ranks = sorted(found)
    instants = np.array([found[rank].ns for rank in ranks], dtype=np.int64)
    instants = instants.reshape(len(ranks), len(INSTANTS))
    known = instants != NULL_NS
    # Clocks that step back by a few us would make a close end before it began.
    instants = np.where(known, np.maximum.accumulate(np.where(known, instants, 0), axis=1), NULL_NS)
    skew = _skew(instants, known)
    if skew:
        begin = instants[:, :1]
        instants = np.where(known, instants - (begin - begin.min()), NULL_NS)
    if known.any():
        first = int(instants[known].min())
        if first < EPOCH_FROM_NS and began_ns is not None:
            instants = np.where(known, instants - first + began_ns, NULL_NS)
    names = tuple(files.get(rank, usual_file or "") for rank in ranks)
    return PhaseTimes(*turn, np.array(ranks, np.int64), instants, names, skew)


def _skew(instants: Instants, known: Flags) -> int:
    """Difference between the ranks' clocks in ns; 0 if none is measurable."""
    begins = instants[:, 0]
    if len(begins) < 2 or not (known[:, 0] & known[:, -1]).all():
        return 0
    apart = int(begins.max() - begins.min())
    longest = int((instants[:, -1] - begins).max())
    return apart if apart > 1_000_000_000 and apart > 0.05 * longest else 0


def rank_times(phase: PhaseTimes) -> RankTimes:
    """Durations of each rank."""

    def span(begin: int, end: int) -> Floats:
        first, last = phase.instants[:, begin], phase.instants[:, end]
        known = (first != NULL_NS) & (last != NULL_NS)
        return np.where(known, np.where(known, last - first, 0) / 1e9, np.nan)

    def began(place: int) -> Ints:
        return np.where(phase.instants[:, place] == NULL_NS, -1, phase.instants[:, place])

    return RankTimes(phase.rank, span(0, 5), span(2, 3), began(0), began(2))
