"""Who did how many operations when: of all, of one job over time, of the jobs behind a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from iosonde.jobs.load.at import JobLoads, jobs_at
from iosonde.jobs.load.data import CSV, cell_bytes, cell_records, load_data
from iosonde.jobs.load.from_store import load_of_store
from iosonde.jobs.load.history import COLUMNS, LoadHistory
from iosonde.jobs.load.view import Asked, LoadView, load_view
from iosonde.model.answer import RowTable

if TYPE_CHECKING:
    from datetime import tzinfo

    from iosonde.drawing.sheet import Sheet
    from iosonde.jobs.load.course import JobCourse

__all__ = [
    "COLUMNS",
    "CSV",
    "Asked",
    "CourseAnswer",
    "JobLoads",
    "LoadAnswer",
    "LoadHistory",
    "course",
    "jobs_at",
    "load",
    "load_of_store",
]


class LoadAnswer(NamedTuple):
    """A load in view, of a history."""

    history: LoadHistory
    view: LoadView

    def data(self) -> dict[str, Any]:
        """Columns, totals, a band, the sentence; numbers of cells apart."""
        return load_data(self.view, self.history)

    def cells(self) -> bytes:
        """Little-endian 32-bit floats: means and maxima of the total and of each column, by cell."""
        return cell_bytes(self.view)

    def table(self, zone: tzinfo | None) -> RowTable:
        """A row a cell and column that did something; ``zone``: of times (None: the machine's)."""
        return RowTable(CSV, cell_records(self.view, zone))

    def picture(self) -> Sheet | None:
        """Columns over time; None: the view has no cell."""
        from iosonde.jobs.load.sheet import load_sheet

        return load_sheet(self.view) if self.view.axis.cells else None


class CourseAnswer(NamedTuple):
    """A job's own operations beside all."""

    course: JobCourse

    @property
    def sentence(self) -> str:
        """The answer in one line."""
        from iosonde.jobs.load.words import say_course

        return say_course(self.course)


def load(history: LoadHistory, asked: Asked) -> LoadAnswer:
    """Who did most in a span of time."""
    return LoadAnswer(history, load_view(history, asked))


def course(
    history: LoadHistory, job: str, span_ns: tuple[int, int], cells: int
) -> CourseAnswer | None:
    """A job's operations over time, in at most ``cells``; None: nobody recorded them."""
    from iosonde.jobs.load.course import course_of

    found = course_of(history, job, span_ns, cells)
    return None if found is None else CourseAnswer(found)
