"""Sheet of a comparison: for every op the shift of each quantile, B / A, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.drawing.marks import RatioMarks
from iosonde.drawing.sheet import RATIO, Pane, Sheet, thousands
from iosonde.model.ops import op_word
from iosonde.weather.compare.compare import Compared, OpShift

CHANGED_AT = 0.05
"""Adjusted p values up to this are a change, as in the table."""
_EXPLAINED = (
    "changed: judged for all quantiles of all operations together; every operation has its own axis"
)


def shifts_sheet(
    compared: Compared,
    margin: float,
    verdicts: Mapping[str, str],
    names: tuple[str, str],
    say: Sequence[str] = (),
) -> Sheet:
    """A pane an op, a row a quantile; the band is what counts as the same.

    ``verdicts`` by op, ``names`` of both sides and the sentences ``say`` are what findings have.
    """
    panes = tuple(
        Pane(
            f"{op_word(op.op)}: {verdicts.get(op.op, '')}".removesuffix(": "),
            "B / A",
            RATIO,
            (_shifts(op, compared.levels, margin),),
            op.a.used + op.b.used,
            f"n = {thousands(op.a.used)}, {thousands(op.b.used)}",
        )
        for op in compared.ops
    )
    return Sheet(
        kind="shifts",
        title="B / A: how many times as long each quantile is",
        columns=("B / A",),
        panes=panes,
        since_s=None,
        until_s=None,
        caption=(f"A: {names[0]}", f"B: {names[1]}", *say, _EXPLAINED),
    )


def _shifts(op: OpShift, levels: tuple[float, ...], margin: float) -> RatioMarks:
    """Quantiles from low to high; one whose interval has no end has no number."""
    found = op.shift
    known = ~np.isnan(found.lower) & ~np.isnan(found.upper) & ~np.isnan(found.ratio)
    value, lower, upper = (
        np.where(known, column, np.nan) for column in (found.ratio, found.lower, found.upper)
    )
    changed = known & (op.adjusted <= CHANGED_AT)
    names = tuple(f"q{level * 100:g}" for level in levels)
    return RatioMarks(names, value, lower, upper, changed, margin)
