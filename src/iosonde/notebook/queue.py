"""Python interface of the storage queue: ``iosonde.simulate``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.model.errors import InputFileError
from iosonde.notebook.columns import of_frame
from iosonde.notebook.display import Pictured, TableResult
from iosonde.queue import answers

if TYPE_CHECKING:
    import os

    from iosonde.notebook.columns import Columns
    from iosonde.notebook.display import Figure
    from iosonde.queue.simulate import Simulated


class Simulation(Pictured):
    """A simulated queue. ``data``: ``queue.simulate.Simulated``; ``columns``: a row per client and time bin.

    ``clients``, ``reads`` and ``phases`` are tables of their own: docs/simulate.md has their columns.
    """

    data: Simulated

    def __init__(self, found: answers.SimulatedAnswer) -> None:
        data = found.found
        self._found, self.data = found, data
        self.lines = tuple(found.sentences())
        self.clients = TableResult(of_frame(data.clients))
        self.reads = TableResult(of_frame(data.reads))
        self.phases = TableResult(of_frame(data.phases))
        if data.unrecorded:
            self.notes = (f"{data.unrecorded:,} reads and phases have no row",)

    @property
    def columns(self) -> Columns:
        """``queue.simulate.Simulated.traces``; ticks, not seconds."""
        return of_frame(self.data.traces)

    def _drawn(self, width_in: float, dark: bool) -> Figure:
        from iosonde.drawing.render_sheet import draw_sheet

        return draw_sheet(self._found.picture(self.lines), width_in=width_in, dark=dark)


def simulated(scenario: str | os.PathLike[str], fields: Mapping[str, Any]) -> Simulation:
    """Simulate a scenario. Raises UsageError (a field), InputFileError (the file)."""
    path = Path(scenario)
    try:
        return Simulation(answers.simulated(path, tuple(fields.items()), lambda _done, _all: True))
    except OSError as error:
        raise InputFileError(
            f"{path}: {error.strerror or error}", expected="a scenario as docs/simulate.md has it"
        ) from None
