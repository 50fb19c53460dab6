"""The sheet of densities: a pane per op, a curve per target or run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iosonde.drawing.marks import Curve
from iosonde.drawing.sheet import SECONDS, Pane, Sheet
from iosonde.model.ops import op_order, op_word
from iosonde.model.text import clean_text
from iosonde.model.units import format_count
from iosonde.stats.density import LEAST
from iosonde.weather.figures.densities import OpDensity

MOST_CURVES = 8
"""Most curves of a pane that can be told apart."""


def density_sheet(found: Sequence[OpDensity]) -> Sheet | None:
    """Sheet of the largest densities, with the number of others in the caption; None without operations."""
    if not found:
        return None
    totals: dict[str, int] = {}
    for one in found:
        totals[one.name] = totals.get(one.name, 0) + one.n
    drawn = sorted(totals, key=lambda name: -totals[name])[:MOST_CURVES]
    names = [name for name in totals if name in drawn]
    panes = []
    for op in sorted({one.op for one in found}, key=op_order):
        here = [one for one in found if one.op == op and one.name in names]
        curves = tuple(curve for one in here if (curve := _curve(one)) is not None)
        if here:
            counts = [format_count(one.n) for one in here]
            few = sum(one.density is None for one in here)
            note = "n = " + (
                ", ".join(counts) if len(counts) <= 3 else format_count(sum(o.n for o in here))
            )
            note += f", {few} of them below {LEAST}" if few else ""
            panes.append(Pane(op_word(op), "density", SECONDS, curves, len(curves), note))
    widths = [one.density.bandwidth for one in found if one.density is not None]
    caption = [
        "height (logarithmic): share of operations per decade of latency; "
        f"n = {format_count(sum(totals.values()))}"
    ]
    if widths:
        caption.append(
            "Gaussian kernel on log10 of latency, bandwidth 0.9 min(s, IQR/1.34) n^(-1/5) (Silverman): "
            f"{_span(widths)} decades; lines down: medians"
        )
    if len(totals) > len(names):
        caption.append(f"{len(totals) - len(names)} curves with fewer operations are not drawn")
    title = f"Density of latency: {names[0] if len(names) == 1 else f'{len(names)} curves'}"
    return Sheet(
        "density", clean_text(title), ("density",), tuple(panes), None, None, tuple(caption)
    )


def _span(widths: Sequence[float]) -> str:
    first, last = f"{min(widths):.2g}", f"{max(widths):.2g}"
    return first if first == last else f"{first} to {last}"


def _curve(one: OpDensity) -> Curve | None:
    density = one.density
    if density is None:
        return None
    return Curve(
        clean_text(one.name),
        np.asarray(10.0 ** (density.log10 - 9), dtype=np.float64),
        density.density,
        float(10.0 ** (density.median_log10 - 9)),
        one.n,
        density.bandwidth,
    )
