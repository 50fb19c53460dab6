"""A run within the history of its kind, metric by metric: ``iosonde explain --diagram``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.umami.diagram import STANDARD, History, Umami, standard_rows
from iosonde.jobs.umami.diagram import umami as diagram
from iosonde.jobs.umami.figure import UmamiFigure
from iosonde.jobs.umami.shown import MOST_ROWS, MOST_RUNS, Shown
from iosonde.model.answer import Block, PageFormat, PlainPicture, RowTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from iosonde.jobs.umami.since import Since
    from iosonde.model.jobs import JobTable

__all__ = [
    "MOST_ROWS",
    "MOST_RUNS",
    "STANDARD",
    "DiagramAnswer",
    "History",
    "Shown",
    "UmamiFigure",
    "umami",
]


class DiagramAnswer(NamedTuple):
    """A diagram. ``most``: how much of it is drawn; ``sentence``: stands below a picture."""

    umami: Umami
    most: Shown = Shown()
    sentence: str = ""

    def shown(self) -> list[Block]:
        """As wide as the page, with as many runs as fit."""
        return [self.text]

    def text(self, page: PageFormat) -> str:
        """Lines for a page."""
        from iosonde.jobs.umami.figure import umami_figure
        from iosonde.jobs.umami.text import umami_text

        figure = umami_figure(self.umami, self.most._replace(runs=None))
        colours = {"coloured": page.coloured, "ascii_only": page.ascii_only}
        return "\n".join(umami_text(figure, page.columns(100), **colours))

    def data(self) -> dict[str, Any]:
        """A record a metric with the values of all runs; missing is None."""
        from iosonde.jobs.umami.records import as_json

        return as_json(self.umami)

    def records(self) -> list[dict[str, Any]]:
        """A record a metric: value, class, box of the history."""
        from iosonde.jobs.umami.records import records

        return records(self.umami)

    def table(self) -> RowTable:
        """A row a metric."""
        from iosonde.jobs.umami.records import flat_records

        return RowTable(*flat_records(self.umami))

    def picture(self) -> PlainPicture:
        """The diagram with its sentence."""
        from iosonde.jobs.umami.figure import to_json, umami_figure
        from iosonde.jobs.umami.render import draw_umami

        figure = umami_figure(self.umami, self.most, *([self.sentence] if self.sentence else []))
        return PlainPicture(partial(to_json, figure), partial(draw_umami, figure))


def umami(
    table: JobTable,
    job_id: str,
    step: str | None = None,
    *,
    metrics: Sequence[str] | None = None,
    also: Sequence[str] = (),
    history: History = "earlier",
    last: int | None = None,
    since: Since | None = None,
) -> DiagramAnswer:
    """A run within its history. ``metrics``: the rows; None: the usual ones, and ``also``.

    ``since``: the last lasting change of its performance: classes and boxes are those of the runs of its time.

    Raises UsageError: no such job, run or metric.
    """
    if metrics is None and also:
        metrics = [*standard_rows(table), *also]
    return DiagramAnswer(
        diagram(table, job_id, step, metrics=metrics, last=last, history=history, since=since)
    )
