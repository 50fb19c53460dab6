"""What goes with the performance of jobs: ``iosonde correlate``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.correlate.words import REGION, claimed, say_doubt, say_warning
from iosonde.jobs.table.derived import FRACTION, PEAKS, Peak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.correlate.correlate import Correlated
    from iosonde.jobs.table.from_files import Loaded
    from iosonde.model.answer import Block
    from iosonde.model.arrays import Texts
    from iosonde.model.frames import Frame
    from iosonde.model.jobs import By, JobTable

__all__ = [
    "FRACTION",
    "PEAKS",
    "REGION",
    "CorrelateAnswer",
    "Peak",
    "TableCorrelations",
    "correlate",
]


class TableCorrelations(NamedTuple):
    """Correlations of the rows of one table, group by group."""

    found: Correlated
    rows: JobTable

    def label(self, metric: str) -> str:
        """A metric in words."""
        return self.rows.about(metric).label

    def warnings(self) -> tuple[str, ...]:
        """Why not to believe coefficients over all rows."""
        return tuple(say_warning(one, self.label) for one in self.found.warnings)

    def records(self) -> list[dict[str, Any]]:
        """A record a group and metric, each name of ``by`` with the group's (None: all rows)."""
        by = self.found.by
        return [
            dict(zip(by, one.group or (None,) * len(by), strict=True))
            | one._asdict()
            | {"claimed": claimed(one), "doubt": say_doubt(one) or None}
            for one in self.found.rows
        ]


class CorrelateAnswer(NamedTuple):
    """Correlations of several tables. ``most``: metrics of a group that are shown, the strongest; 0: all."""

    parts: Sequence[TableCorrelations]
    loaded: Sequence[Loaded]
    most: int = 0

    def shown(self) -> list[Block]:
        """A sentence a table, a table a group."""
        from iosonde.jobs.correlate.text import table_blocks

        blocks: list[Block] = []
        for part in self.parts:
            blocks += [""] * bool(blocks) + table_blocks(part.found, part.label, self.most)
        return blocks

    def notes(self) -> list[str]:
        """Metrics that mislead over all rows, or how many do where those are too many."""
        from iosonde.jobs.correlate.text import misleading

        return [text for one in self.parts for text in misleading(one.found, one.label, self.most)]

    def data(self) -> dict[str, Any]:
        """Tables, each with its correlations and warnings."""
        from iosonde.jobs.correlate.data import correlations_data

        return correlations_data(self.parts, self.loaded)

    def table(self) -> Frame:
        """A row a table, group and metric."""
        from iosonde.jobs.correlate.data import correlations_frame

        return correlations_frame([part.found for part in self.parts])


def correlate(
    table: JobTable,
    y: str,
    metrics: Sequence[str] | None = None,
    by: Sequence[By] = ("file_system", "motif"),
    controls: Sequence[str] = (),
    *,
    regions: Texts | None = None,
) -> TableCorrelations:
    """What goes with ``y``. ``metrics``: None: those that could explain it; ``regions``: as ``regions_of``.

    Raises UsageError (no such metric), NothingMeasuredError (no row with y; no metric).
    """
    from iosonde.jobs.correlate.correlate import correlate as correlated

    return TableCorrelations(correlated(table, y, metrics, by, controls, regions=regions), table)
