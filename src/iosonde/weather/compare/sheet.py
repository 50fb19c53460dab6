"""Sheet of a comparison: for every op the shift of each quantile, B / A, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from iosonde.drawing.marks import RatioMarks
from iosonde.drawing.sheet import RATIO, Pane, Sheet
from iosonde.model.ops import op_word
from iosonde.model.units import format_count
from iosonde.weather.compare.compare import Compared, OpShift
from iosonde.weather.compare.ratios import level_name

CHANGED_AT = 0.05
"""Largest adjusted p value of a change, as in the table."""
_EXPLAINED = (
    "changed: judged for all rows of all operations together; mean: the geometric mean of all latencies; "
    "n/a: no interval at this quantile; every operation has its own axis"
)


def shifts_sheet(
    compared: Compared,
    margin: float,
    verdicts: Mapping[str, str],
    names: tuple[str, str],
    say: Sequence[str] = (),
) -> Sheet:
    """A pane per op, a row per quantile and one for all latencies; the band is the equivalence margin.

    ``verdicts`` by op, ``names`` of both sides and the sentences ``say`` are what findings have.
    """
    panes = tuple(
        Pane(
            f"{op_word(op.op)}: {verdicts.get(op.op, '')}".removesuffix(": "),
            "B / A",
            RATIO,
            (_shifts(op, compared.levels, margin),),
            op.a.used + op.b.used,
            f"n = {format_count(op.a.used)}, {format_count(op.b.used)}",
        )
        for op in compared.ops
    )
    return Sheet(
        kind="shifts",
        title="Latency ratio B / A by quantile",
        columns=("B / A",),
        panes=panes,
        since_s=None,
        until_s=None,
        caption=(f"A: {names[0]}", f"B: {names[1]}", *say, _EXPLAINED),
    )


def _shifts(op: OpShift, levels: tuple[float, ...], margin: float) -> RatioMarks:
    """Quantiles from low to high, then all latencies; an interval without an end has no number."""
    found, whole = op.shift, op.shift.whole
    columns = (
        np.append(found.ratio, whole.ratio),
        np.append(found.lower, whole.lower),
        np.append(found.upper, whole.upper),
    )
    known = np.isfinite(columns).all(axis=0)
    value, lower, upper = (np.where(known, column, np.nan) for column in columns)
    changed = known & (np.append(op.adjusted, op.adjusted_whole) <= CHANGED_AT)
    names = (*map(level_name, levels), "mean")
    return RatioMarks(names, value, lower, upper, changed, margin)
