"""Progress of a benchmark on stderr: a bar on a terminal, JSON lines for programs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from iosonde.bench.bandwidth.answers import format_bandwidth
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.progress import JsonLines, bars, on_terminal
from iosonde.model.runs import RunRow
from iosonde.model.units import format_count, format_waiting_factor


class ProgressView:
    """Shows progress of a run; ``quiet`` in all processes but the first."""

    def __init__(self, interrupt: Interrupt, *, quiet: bool) -> None:
        self._interrupt, self.quiet = interrupt, quiet
        self._tidying = False
        self.stopped = False
        self._place, self._run = "", ""
        self._lines = JsonLines()
        self.bar: Any = None
        self._task: Any = None

    def begins(self, place: str, ranks: int, number: int, of: int) -> None:
        """Show the name of the next run."""
        many = f"run {number} of {of}: " if of > 1 else ""
        self._place = place
        self._run = f"{many}{place}, N {ranks}"

    def progress(self, phase: str, ended: int, planned: int, failed: int) -> None:
        """Move the bar, or write a line about once a second."""
        if self.quiet:
            return
        if self.bar is not None:
            text = f"{self._run}: {phase}" + (f", {failed} failed" if failed else "")
            if self._task is None:
                self._task = self.bar.add_task(text, total=planned, rate="")
            self.bar.update(self._task, description=text, completed=ended, total=planned or None)
            return
        if self._lines.due():
            counts = {"ended": ended, "planned": planned, "failed": failed}
            self._lines.write({"target": self._place, "phase": phase, **counts})

    def ended(self, rows: Sequence[RunRow]) -> None:
        """Print a line for a finished phase on a terminal."""
        if self.bar is None or self._task is None:
            return
        self.bar.remove_task(self._task)
        self._task = None
        for row in rows[:1]:
            rate = (
                "n/a" if row.rate_per_s is None else f"{format_count(round(row.rate_per_s))} ops/s"
            )
            if row.last_bytes_per_s is not None:
                rate = format_bandwidth(row.last_bytes_per_s)
            failed = f", {row.failed} failed" if row.failed else ""
            factor = (
                f", T {format_waiting_factor(row.waiting_factor)}" if row.waiting_factor else ""
            )
            self.bar.console.print(
                f"{row.target}: {row.phase} {row.repetition}{factor}: {rate}{failed}",
                markup=False,
                highlight=False,
            )

    def note(self, text: str) -> None:
        """Print a message."""
        if not self.quiet:
            options.note(f"note: {text}")

    def wanted(self) -> bool:
        """True if Ctrl-C was pressed; while tidying up, if pressed twice."""
        return self._interrupt.wanted and not self._tidying

    def tidying(self) -> None:
        """Announce the removal of objects."""
        self.stopped = True
        self._tidying = True
        self.note("ending: removing what was made; Ctrl-C again leaves it there")


class ProgressBar(AbstractContextManager[None]):
    """Draws the bar while entered, if stderr is a terminal."""

    def __init__(self, view: ProgressView) -> None:
        self._view = view

    def __enter__(self) -> None:
        if self._view.quiet or not on_terminal():
            return
        self._view.bar = bars()
        self._view.bar.start()

    def __exit__(self, *error: object) -> None:
        if self._view.bar is not None:
            self._view.bar.stop()
