"""Missing data of an h5lmt file: marked samples, steps after a gap, and size histograms that stayed empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.connectors.lustre import hdf5_steps
from iosonde.connectors.lustre.hdf5_steps import taken

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Places


def marked(missing: Any, columns: Places, series: int, *, of_servers: bool) -> Flags:
    """(T, N): samples that FSMissingGroup marks, by server. ``series``: N; not ``of_servers``: no marks."""
    none = np.zeros((len(columns), series), dtype=np.bool_)
    if missing is None or not of_servers or missing.shape[1] <= int(columns.max()):
        return none
    marks = taken(missing, columns, axis=-1).T != 0
    servers = marks.shape[1]
    if servers and series % servers == 0:
        return np.repeat(marks, series // servers, axis=1)
    anyone: Flags = none | marks.any(axis=1)[:, None]
    return anyone


def without_begin(value: Floats, begin: Flags) -> Flags:
    """(T, N): zero rates in steps whose start was not observed: pyLMT may have had no value.

    A rate above 0 was measured: what passed in its step is known, what passed in the gap before it is not.
    """
    lost: Flags = begin & (value == 0)
    return lost


def rows_with_any(data: Any) -> Flags:
    """(N,): rows of a dataset with a value other than zero."""
    found = np.zeros(data.shape[0], dtype=np.bool_)
    width = max(1, hdf5_steps.BLOCK_VALUES // max(1, data.size // data.shape[-1]))
    for begin in range(0, data.shape[-1], width):
        part = np.asarray(data[..., begin : begin + width])
        found |= (part != 0).reshape(len(found), -1).any(axis=1)
    return found


def empty_histograms(counts: Floats, moved: Floats, dead: Flags) -> Flags:
    """(T, N): zero counts that are missing: bytes moved meanwhile, or the row is ``dead`` (N,) and never counted."""
    wrong: Flags = (counts == 0) & ((moved > 0) | dead)
    return wrong
