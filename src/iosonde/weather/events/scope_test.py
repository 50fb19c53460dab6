"""Host or storage: several probing hosts watch one target.

One host alone cannot tell; two blame the storage for every sixth fault of a client, so three are
asked for. Source: docs/methods/events.md.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iosonde.model.arrays import Flags, Floats

ENOUGH_HOSTS = 3
SLOW_LOG = float(np.log(2.0))
"""A slowdown of two, on the log scale of this page."""
_BELIEVED = float(np.log(1.5))


class WindowScope(IntEnum):
    """Who is slow in one window."""

    UNDECIDED = 0
    """Fewer than three hosts were seen."""
    NOBODY = 1
    CLIENT = 2
    """Some hosts are, the middle one is not."""
    STORAGE = 3
    """The middle host is."""


class Decision(NamedTuple):
    """One entry a window; ``slow`` is (windows, hosts)."""

    scope: NDArray[np.int8]
    slow: Flags
    storage: Floats
    """The slowdown that all hosts share: exp(median over hosts), NaN when undecided."""


def offsets(typ: Floats) -> Floats:
    """How each host usually sees the target: what to take off its ln typ.

    Shape: (windows, hosts) -> (hosts,), the windows of the last 14 days. Unit: log ratio.
    It is the median of what sets the host apart from the middle host, which a slow storage does not
    change, plus the middle host's own usual level, of which at most ln 1.5 is believed: a storage
    that is slow for a week must not become usual. Missing data: NaN; windows with fewer than three
    hosts do not count, and a host that was never seen beside two others has only the level.
    """
    log = np.log(typ)
    enough = np.sum(~np.isnan(log), axis=1) >= ENOUGH_HOSTS
    middle = _median(log[enough], axis=1)
    apart = _median(log[enough] - middle[:, None], axis=0)
    level = np.clip(np.nan_to_num(_median(middle[None], axis=1)[0]), -_BELIEVED, _BELIEVED)
    return np.asarray(np.nan_to_num(apart) + level)


def decide(typ: Floats, offset: Floats) -> Decision:
    """Who is slow, window by window.

    Shape: (windows, hosts), (hosts,). Unit: ratios, log ratios. Missing data: NaN; windows with
    fewer than three hosts are undecided and nobody is called slow in them.
    """
    log = np.log(typ) - offset
    decided = np.sum(~np.isnan(log), axis=1) >= ENOUGH_HOSTS
    middle = np.where(decided, _median(log, axis=1), np.nan)
    storage = middle >= SLOW_LOG
    slow = (log >= SLOW_LOG) & decided[:, None]
    scope = np.full(len(typ), WindowScope.NOBODY, dtype=np.int8)
    scope[slow.any(axis=1)] = WindowScope.CLIENT
    scope[storage] = WindowScope.STORAGE
    scope[~decided] = WindowScope.UNDECIDED
    return Decision(scope, slow, np.exp(middle))


def _median(values: Floats, axis: int) -> Floats:
    """Medians that leave out NaN; NaN where nothing is left, without a warning."""
    ranked = np.sort(np.moveaxis(values, axis, -1), axis=-1)  # NaN comes last
    n = np.sum(~np.isnan(ranked), axis=-1, keepdims=True)
    if ranked.shape[-1] == 0:
        return np.full(ranked.shape[:-1], np.nan)
    low = np.take_along_axis(ranked, np.maximum(n - 1, 0) // 2, axis=-1)
    high = np.take_along_axis(ranked, np.minimum(n // 2, ranked.shape[-1] - 1), axis=-1)
    return np.asarray(np.where(n > 0, (low + high) / 2, np.nan)[..., 0], dtype=np.float64)
