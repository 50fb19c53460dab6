"""A Darshan log as ``Transfers``, the input of ``iosonde locate``.

Times of small and large accesses do not compare: of each direction the files count that lie within a factor of two of
the size that moved most bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.connectors.darshan.log import readable
from iosonde.connectors.darshan.on_lustre import LEAST_BYTES
from iosonde.connectors.darshan.reader import AHEAD, Reader
from iosonde.model.errors import InputFileError
from iosonde.model.names import slug
from iosonde.model.transfers import Stripes, Transfers

if TYPE_CHECKING:
    from iosonde.model.arrays import Floats

PREFIX = "darshan-"
"""Prefix of the run's name; job, program and start second follow."""
_EXPECTED = "records of POSIX, and of LUSTRE with each file's OSTs"


def transfers_of_log(path: Path) -> Transfers:
    """Transfers of a log's files on Lustre; hosts are unknown. Raises InputFileError (none, or a damaged log),
    MissingPartError.
    """
    (found,) = transfers_of_logs([path])
    if isinstance(found, InputFileError):
        raise found
    return found


def transfers_of_logs(paths: Sequence[Path]) -> Iterator[Transfers | InputFileError]:
    """Transfers of several logs, in their order, read by one worker. Raises MissingPartError."""
    waiting = deque(paths)
    with Reader() as reader:
        sent: deque[Path | InputFileError] = deque()
        while waiting or sent:
            while waiting and len(reader.waiting) < AHEAD:
                path = waiting.popleft()
                try:
                    readable(path)
                except InputFileError as error:
                    sent.append(error)
                else:
                    reader.send(path, "transfers")
                    sent.append(path)
            first = sent.popleft()
            if isinstance(first, InputFileError):
                yield first
                continue
            _, answer = reader.receive()
            if isinstance(answer, InputFileError):
                yield answer
            else:
                yield _transfers(first, answer)


def _transfers(path: Path, answer: dict[str, Any]) -> Transfers | InputFileError:
    """Transfers from the worker's answer; an error if no file is usable."""
    rows = np.array(answer["rows"], dtype=np.float64).reshape(-1, 6)
    rows = rows[_alike(rows)]
    if not len(rows):
        return InputFileError(
            f"{path}: no file on Lustre of {LEAST_BYTES >> 20} MiB or more with its OSTs",
            expected=_EXPECTED,
        )
    way, rank, file, size = (rows[:, column].astype(np.int64) for column in range(4))
    osts = answer["osts"]
    numbers = sorted({ost for one in osts for ost in one})
    place = {ost: at for at, ost in enumerate(numbers)}
    count = np.array([len(osts[one]) for one in file.tolist()], dtype=np.int64)
    target = [place[ost] for one in file.tolist() for ost in osts[one]]
    begin = int(answer["start_ns"]) + np.rint(rows[:, 4] * 1e9).astype(np.int64)
    return Transfers(
        run=slug(PREFIX + answer["run"]),
        repetition=np.zeros(len(rows), dtype=np.int64),
        direction=way,
        rank=rank,
        host=np.full(len(rows), -1, dtype=np.int64),
        file=file,
        bytes=size,
        transfer_begin_ns=begin,
        transfer_end_ns=begin + np.rint(rows[:, 5] * 1e9).astype(np.int64),
        stripes=Stripes(
            np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
            np.array(target, dtype=np.int64),
            np.repeat(1 / count, count),
        ),
        hosts=(),
        files=tuple(f"file {one}" for one in range(len(osts))),
        targets=tuple(f"OST{ost:04x}" for ost in numbers),
    )


def _alike(rows: Floats) -> Any:
    """Mask of rows within a factor of two of the size that moved most bytes, per direction; shape (rows,)."""
    keep = np.zeros(len(rows), dtype=bool)
    for way in (0, 1):
        mine = np.flatnonzero(rows[:, 0] == way)
        if not len(mine):
            continue
        order = mine[np.argsort(rows[mine, 3])]
        moved = np.cumsum(rows[order, 3])
        middle = rows[order[np.searchsorted(moved, moved[-1] / 2)], 3]
        keep[mine] = (rows[mine, 3] <= 2 * middle) & (rows[mine, 3] >= middle / 2)
    return keep
