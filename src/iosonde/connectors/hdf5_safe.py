"""HDF5 files of strangers: no links out of the file, no plug-ins, no sizes that the file cannot mean."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import InputFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MAGIC = b"\x89HDF\r\n\x1a\n"
MOST_STEPS = 20_000_000
_MOST_VALUES = 4_000_000_000
_MOST_CHUNK_BYTES = 1 << 28
_MOST_COLUMNS = 100_000
BLOCK_VALUES = 2_000_000
"""Values that are read at a time."""


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An ``h5py.File`` for reading. Every fault of the file becomes an InputFileError."""
    import h5py  # type: ignore[import-untyped]

    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, RuntimeError, LookupError, ValueError, TypeError, ArithmeticError) as error:
        raise _broken(path, error) from error
    except (
        AttributeError,
        MemoryError,
    ) as error:  # a table where a group should be; a size too large
        raise _broken(path, error) from error


def _broken(path: Path, error: Exception) -> InputFileError:
    """What the library says of a file, in one line."""
    reason = (str(error).splitlines() or [repr(error)])[0][:300]
    return InputFileError(f"cannot read {path}: {reason}", expected="a whole HDF5 file")


def dataset(file: Any, name: str, dimensions: tuple[int, ...] = (2,)) -> Any | None:
    """A dataset of numbers that lies in this file; None if there is none of that name.

    Raises ValueError: a link elsewhere, a virtual or external dataset, another shape or type, sizes that
    cannot be meant.
    """
    import h5py

    at = file
    for part in name.split("/"):
        if not isinstance(at, h5py.Group) or part not in at:
            return None
        if not isinstance(at.get(part, getlink=True), h5py.HardLink):
            raise ValueError(f"{name} is a link")
        at = at[part]
    if not isinstance(at, h5py.Dataset):
        return None
    if at.is_virtual or at.external:
        raise ValueError(f"{name} lies in another file")
    if at.ndim not in dimensions or at.dtype.kind not in "iuf":
        raise ValueError(f"{name} has shape {at.shape} of {at.dtype}")
    if at.size > _MOST_VALUES or max(at.shape, default=0) > MOST_STEPS:
        raise ValueError(f"{name} claims {at.size} values")
    if at.chunks and math.prod(at.chunks) * at.dtype.itemsize > _MOST_CHUNK_BYTES:
        raise ValueError(f"{name} is stored in pieces of {math.prod(at.chunks)} values")
    return at


def texts(values: Any) -> tuple[str, ...]:
    """An attribute as names; () for what is none."""
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or len(array) > _MOST_COLUMNS or array.dtype.kind not in "SUO":
        return ()
    return tuple(text(item) for item in array.tolist())


def text(value: Any) -> str:
    """An attribute as one text, at most 128 characters; "" for what is none."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value.strip("\x00 ")[:128] if isinstance(value, str) else ""


class Steps:
    """Time stamps of a file, s since the epoch, put in order: where each row lies and how long its step is."""

    def __init__(self, stamps: NDArray[Any]) -> None:
        """``stamps`` (T,): as they are in the file. Zeros, negative ones and those beyond 2262 are no times."""
        seconds = np.asarray(stamps, dtype=np.float64)
        good = np.isfinite(seconds) & (seconds > 0) & (seconds < 9.2e9)
        rows = np.flatnonzero(good)
        times = (np.asarray(stamps)[rows].astype(np.float64) * 1e9).round().astype(np.int64)
        if stamps.dtype.kind in "iu":
            times = stamps[rows].astype(np.int64) * 1_000_000_000
        self.late = int((np.diff(times) < 0).sum())
        order = np.argsort(times, kind="stable")
        times, rows = times[order], rows[order]
        fresh = np.diff(times, prepend=np.int64(-1)) != 0
        self.twice = int((~fresh).sum())
        self.unset = int((~good).sum())
        self.time_ns, self.rows = times[fresh], rows[fresh]
        gaps = np.diff(self.time_ns)
        values, counts = np.unique(gaps, return_counts=True)
        self.step_ns = int(values[np.argmax(counts)]) if len(values) else 0
        """The usual step; 0 if there is only one time."""

    def slices(self, columns: int) -> Iterator[slice]:
        """Spans of rows that hold at most ``BLOCK_VALUES`` values."""
        rows = max(1, BLOCK_VALUES // max(columns, 1))
        for begin in range(0, len(self.time_ns), rows):
            yield slice(begin, min(begin + rows, len(self.time_ns)))

    def lengths(self, rows: slice) -> NDArray[np.int64]:
        """How long each step is: the usual length, or less where the next begins earlier."""
        ends = np.append(self.time_ns[1:], np.iinfo(np.int64).max)[rows]
        length: NDArray[np.int64] = np.minimum(ends - self.time_ns[rows], self.step_ns)
        return length


def taken(data: Any, rows: NDArray[np.intp], axis: int = 0) -> Floats:
    """Rows of a dataset (along its last axis: ``axis`` -1) as float64, in the order asked for."""
    low, high = int(rows.min()), int(rows.max()) + 1
    picked = rows - low
    if high - low > 4 * len(rows) + 1000:  # rows from all over: one after the other
        parts = [data[int(r)] if axis == 0 else data[..., int(r)] for r in rows]
        return np.stack([np.asarray(p, dtype=np.float64) for p in parts], axis=axis)
    block = data[low:high] if axis == 0 else data[..., low:high]
    if len(picked) == high - low and bool((np.diff(picked) == 1).all()):
        return np.asarray(block, dtype=np.float64)
    return np.take(np.asarray(block, dtype=np.float64), picked, axis=axis)
