"""Steps that are longer than those of others at the same instant, on the common grid.

A counter that was not read for a while has one step over that time, beside the short steps of the others. What passed
in it is spread evenly, and what held in it holds all along: sums over a job's time are then right for each component.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from iosonde.model.metrics import Floats, Instants


def common_steps(at: NDArray[np.intp], step_ns: Instants, n: int) -> Instants:
    """(n,) The shortest step that any row has at each instant; 0 where all are states at an instant. ``at`` (R,)."""
    longest = np.iinfo(np.int64).max
    found = np.full(n, longest)
    np.minimum.at(found, at, np.where(step_ns > 0, step_ns, longest))
    return np.where(found == longest, 0, found)


class Long(NamedTuple):
    """Rows (L,) with a longer step than their instant's."""

    at: NDArray[np.intp]
    """Which instant of the grid."""
    column: NDArray[np.intp]
    """Which component."""
    step_ns: Instants
    value: Floats


def spread(value: Floats, grid_ns: Instants, steps_ns: Instants, long: Long, kind: str) -> None:
    """Put rows whose step is longer than their instant's over the instants that it covers.

    ``value`` (T, N), changed in place; instants at which the component has a value of its own keep that.
    What lies beyond the last step of the grid is left out. ``grid_ns``, ``steps_ns`` (T,): the grid, ascending.
    """
    upto = np.append(grid_ns[1:], grid_ns[-1] + steps_ns[-1])
    for at, column, step, amount in zip(*long, strict=True):
        end = grid_ns[at] + step
        last = int(np.searchsorted(grid_ns, end))
        rows = np.arange(at, last)
        rows = rows[(rows == at) | np.isnan(value[rows, column])]
        if kind == "gauge":
            value[rows, column] = amount
        else:
            within = np.minimum(upto[rows], end) - grid_ns[rows]
            value[rows, column] = amount * (within / step)
