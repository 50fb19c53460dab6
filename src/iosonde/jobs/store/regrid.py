"""Resampling of rows of components, read at different times, to one grid.

The grid has every instant at which a step of some component begins; its steps reach to the next instant, or end
before it where nothing was recorded. A row whose step is longer than the grid's is spread over what it covers: an
amount by the shares of time, a state as it is. So sums over a job's time, and rates, are right for each component
and for all. Steps that differ by a monitor's jitter are left as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Instants, Places


_JITTER, _FAR = 1.05, 1.5


class SeriesRows(NamedTuple):
    """Rows (R,) of a series."""

    at: Places
    """Grid index of each row's start."""
    column: Places
    """Component index of each row."""
    step_ns: Instants
    """0: a state at an instant."""
    value: Floats

    def take(self, rows: Flags) -> SeriesRows:
        """Rows selected by a mask."""
        return SeriesRows(self.at[rows], self.column[rows], self.step_ns[rows], self.value[rows])


def grid_steps(grid_ns: Instants, rows: SeriesRows) -> Instants:
    """(T,) Shortest step of the rows at each instant, not beyond the next; 0 if all are states at an instant."""
    longest = np.iinfo(np.int64).max
    shortest = np.full(len(grid_ns), longest)
    np.minimum.at(shortest, rows.at, np.where(rows.step_ns > 0, rows.step_ns, longest))
    shortest[shortest == longest] = 0
    to_next = np.diff(grid_ns)
    shortest[:-1] = np.where(_JITTER * to_next < shortest[:-1], to_next, shortest[:-1])
    return shortest


def is_long(rows: SeriesRows, steps_ns: Instants) -> Flags:
    """(R,) True for steps longer than the grid's, by more than jitter."""
    return rows.step_ns > _JITTER * steps_ns[rows.at]


def long_gaps(rows: SeriesRows) -> bool:
    """True if some step is far beyond the usual one: its amount has no finer resolution."""
    return bool(rows.step_ns.max() > _FAR * np.median(rows.step_ns))


def spread(
    value: Floats, grid_ns: Instants, steps_ns: Instants, long: SeriesRows, kind: str
) -> None:
    """Distribute rows with steps longer than the grid's over the instants that they cover.

    ``value`` (T, N), changed in place; instants at which the component has a value of its own keep that.
    What lies beyond the last step of the grid is left out. ``grid_ns``, ``steps_ns`` (T,): the grid, ascending.
    """
    end = grid_ns[long.at] + long.step_ns
    count = np.searchsorted(grid_ns, end) - long.at
    of = np.repeat(np.arange(len(count)), count)
    into = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    at, column = long.at[of] + into, long.column[of]
    free = (into == 0) | np.isnan(value[at, column])
    of, at, column = of[free], at[free], column[free]
    amount = long.value[of]
    if kind == "delta":
        upto = np.append(grid_ns[1:], grid_ns[-1] + steps_ns[-1])
        amount = amount * ((np.minimum(upto[at], end[of]) - grid_ns[at]) / long.step_ns[of])
    value[at, column] = amount
