"""Comparison of two periods, targets, hosts or runs: faster, slower, same, or not enough data."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from iosonde.notebook.columns import of_records
from iosonde.notebook.display import Pictured

if TYPE_CHECKING:
    from iosonde.notebook.columns import Columns
    from iosonde.notebook.display import Figure
    from iosonde.weather.compare.answers import Comparison
    from iosonde.weather.compare.compare import Compared
    from iosonde.weather.compare.words import OpComparison

_LEVEL = (
    *("op", "verdict", "level", "ratio", "lower", "upper", "smallest", "p_value", "changed"),
    *("quantile_a_ns", "quantile_b_ns", "n_a", "n_b"),
)


class ComparisonResult(Pictured):
    """B relative to A. ``data``: a ``Compared``; ``verdicts``: one per operation; ``lines``: their sentences."""

    data: Compared
    verdicts: list[OpComparison]

    def __init__(self, found: Comparison, names: tuple[str, str]) -> None:
        self.data, self.verdicts = found.compared, found.verdicts
        self._found, self._names = found, names
        self.lines, self.notes = found.sentences(), tuple(found.cautions())

    @property
    def columns(self) -> Columns:
        """A row per operation and quantile: B / A with its 95% interval, and the smallest detectable ratio."""
        return of_records(self._found.records(), _LEVEL)

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        from iosonde.drawing.render_sheet import draw_sheet

        sheet = self._found.picture(self._names)
        return draw_sheet(sheet, width_in=width_in, dark=dark, zone=UTC)
