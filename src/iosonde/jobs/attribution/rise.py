"""Operations that came with a slowdown: how much more than at other times, whose, and whether as many were harmless.

Shares of operations need no model of how storage answers to load. They say who did much when it was slow, not that it
was the cause; a total that was harmless at other times says that no load was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from iosonde.model.arrays import Flags, Floats, Places

STANDS_OUT = 0.5
"""Part of the event's operations that one load, or a few together, have in excess of their usual."""
FEW = 3
"""Most of a few, ..."""
PART_OF_FEW = 0.2
"""... each of which has this part ..."""
COMPARABLE = 1 / 3
"""... and this much of the first's."""
HIGH = 0.9
"""Quantile of the totals at other times that the event's total exceeds where it has risen."""
AS_BUSY = 0.95
"""Part of the event's total from which on another slot is as busy."""
FEWEST_OTHERS = 12
"""Least slots of other times."""
FEWEST_BUSY = 3
"""Least slots as busy."""
HARMLESS = 1 / 3
"""Part of the event's slowdown (its logarithm) below which the middle of them was harmless."""


class Rise(NamedTuple):
    """``part`` (M,): of the event's operations that each load has in excess of its mean at other times, 0 to 1.

    ``risen``: the total, or the bytes, are above what other times have. ``harmless``: as many operations, and as many
    bytes, did no harm at other times.
    """

    part: Floats
    risen: bool
    harmless: bool

    def standing_out(self) -> Places:
        """The load that made most of what came, or the few of comparable size that did; none if nothing came."""
        order = np.argsort(-self.part, kind="stable")[:FEW]
        part = self.part[order]
        if not self.risen or self.harmless or not len(part):
            return order[:0]
        few = part >= max(PART_OF_FEW, COMPARABLE * part[0])
        return order[few] if part[few].sum() >= STANDS_OUT else order[:0]


def rise(
    loads: Floats, slowdown: Floats, event: Flags, apart: Flags, moved: Floats | None = None
) -> Rise:
    """What came with the event; ``apart`` (K,): slots of other times.

    ``moved`` (K,): bytes of all in the same slots, where they are known. As many operations as before are not harmless
    if they moved more than before.

    ``loads`` (M, K) operations, ``slowdown`` (K,) NaN where it is not known; the event has known slots. With less than
    ``FEWEST_OTHERS`` other slots nothing is said.
    """
    known = np.isfinite(slowdown)
    inside, others = event & known, apart & known
    if others.sum() < FEWEST_OTHERS:
        return Rise(np.zeros(len(loads)), risen=False, harmless=False)
    total = loads.sum(axis=0)
    usual = loads[:, others].mean(axis=1)
    more = loads[:, inside].mean(axis=1) - usual
    part = np.clip(more / max(float(total[inside].mean()), 1e-300), 0.0, 1.0)
    logs = np.log(np.maximum(slowdown, 1e-3))
    # In an event that goes on and off, the load is that of its slow half.
    slow = inside & (logs >= np.median(logs[inside]))
    base = float(np.median(logs[others]))
    limit = base + HARMLESS * float(np.median(logs[slow]) - base)
    totals = [total] if moved is None else [total, moved]
    risen, harmless = False, True
    for one in totals:
        level = float(np.median(one[slow]))
        risen |= level > float(np.quantile(one[others], HIGH))
        busy = others & (one >= AS_BUSY * level)
        harmless &= int(busy.sum()) >= FEWEST_BUSY and float(np.median(logs[busy])) < limit
    return Rise(part, risen, harmless)
