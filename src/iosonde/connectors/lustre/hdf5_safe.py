"""Safe access to foreign HDF5 files: no links out of the file, no plug-ins, no impossible sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.model.errors import InputFileError

if TYPE_CHECKING:
    pass

MAGIC = b"\x89HDF\r\n\x1a\n"
MOST_STEPS = 20_000_000
_MOST_VALUES = 4_000_000_000
_MOST_CHUNK_BYTES = 1 << 28
_MOST_COLUMNS = 100_000


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """An ``h5py.File`` for reading. Every error of the file becomes an InputFileError."""
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
    """Error with the library's message in one line."""
    reason = (str(error).splitlines() or [repr(error)])[0][:300]
    return InputFileError(f"cannot read {path}: {reason}", expected="a whole HDF5 file")


def dataset(file: Any, name: str, dimensions: tuple[int, ...] = (2,)) -> Any | None:
    """A dataset of numbers stored in this file; None if there is none of that name.

    Raises ValueError: a link elsewhere, a virtual or external dataset, another shape or type, sizes that
    cannot be meant.
    """
    import h5py

    at = file
    for part in name.split("/"):
        link = at.get(part, getlink=True) if isinstance(at, h5py.Group) else None
        if link is None:
            return None
        if not isinstance(link, h5py.HardLink):  # before anything follows it
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


def names_of(file: Any, name: str, attribute: str) -> tuple[str, ...]:
    """Names attached to a dataset; () if missing or not readable."""
    try:
        data = dataset(file, name, (1, 2, 3))
    except ValueError:
        return ()
    return () if data is None else texts(data.attrs.get(attribute, ()))


def texts(values: Any) -> tuple[str, ...]:
    """An attribute as names; () if malformed."""
    array = np.atleast_1d(np.asarray(values))
    if array.ndim != 1 or len(array) > _MOST_COLUMNS or array.dtype.kind not in "SUO":
        return ()
    return tuple(text(item) for item in array.tolist())


def text(value: Any) -> str:
    """An attribute as text, at most 128 characters; "" if malformed."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return value.strip("\x00 ")[:128] if isinstance(value, str) else ""
