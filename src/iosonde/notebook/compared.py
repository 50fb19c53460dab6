"""Comparison of two periods, targets, hosts or runs: faster, slower, same, or not enough data."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from iosonde.notebook.arguments import now_ns
from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Pictured
from iosonde.weather import answers
from iosonde.weather.compare.compare import Compared
from iosonde.weather.compare.words import OpComparison, say_comparison
from iosonde.weather.selectors import Defaults
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from iosonde.notebook.columns import Columns
    from iosonde.notebook.display import Figure

_LEVEL = (
    *("op", "verdict", "level", "ratio", "lower", "upper", "smallest", "p_value", "changed"),
    *("quantile_a_ns", "quantile_b_ns", "n_a", "n_b"),
)


class ComparisonResult(Pictured):
    """B relative to A. ``data``: a ``Compared``; ``verdicts``: one per operation; ``lines``: their sentences."""

    data: Compared
    verdicts: list[OpComparison]

    def __init__(self, found: answers.Comparison, margin: float, names: tuple[str, str]) -> None:
        self.data, self.verdicts = found
        self._margin, self._names = margin, names
        self.lines = tuple(say_comparison(one, margin) for one in self.verdicts)
        self.notes = tuple(dict.fromkeys(note for one in self.verdicts for note in one.notes))

    @property
    def columns(self) -> Columns:
        """A row per operation and quantile: B / A with its 95% interval, and the smallest detectable ratio."""
        rows = [
            {"op": one.op, "verdict": one.verdict, **level._asdict()}
            | {"n_a": one.a.used, "n_b": one.b.used}
            for one in self.verdicts
            for level in one.levels
        ]
        return of_records(rows, _LEVEL)

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        from iosonde.drawing.render_sheet import draw_sheet
        from iosonde.weather.compare.sheet import shifts_sheet

        verdicts = {one.op: one.verdict for one in self.verdicts}
        sheet = shifts_sheet(self.data, self._margin, verdicts, self._names, self.lines)
        return draw_sheet(sheet, width_in=width_in, dark=dark, zone=UTC)


def compared(
    store: Store,
    names: tuple[str, str],
    defaults: Defaults,
    ops: tuple[str, ...] | None,
    margin: float,
) -> ComparisonResult:
    """Compare. Raises UsageError (an unknown side, or both the same), NothingMeasuredError."""
    found = answers.compare(store, names, defaults, now_ns(), ops=ops, margin=margin, zone=UTC)
    return ComparisonResult(found, margin, names)
