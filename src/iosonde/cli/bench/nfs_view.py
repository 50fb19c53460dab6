"""Progress of a sweep."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from iosonde.bench.nfs.answers import SweepPoint, latency_word, rate_word
from iosonde.cli.shared import options
from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.progress import JsonLines, bars, on_terminal


class SweepView:
    """Progress bar on a terminal, JSON lines for programs."""

    def __init__(self, interrupt: Interrupt) -> None:
        self._interrupt = interrupt
        self._lines = JsonLines()
        self.bar: Any = None
        self._task: Any = None

    def preparing(self, done_bytes: int, all_bytes: int) -> None:
        """Show progress of creating the files."""
        if self.bar is not None:
            self._show("filling two files", done_bytes, all_bytes)
        elif self._lines.due("files"):
            fields = {"what": "filling two files", "done_bytes": done_bytes}
            self._lines.write({**fields, "all_bytes": all_bytes}, "files")

    def measuring(self, rate_per_s: float, writes: int, reads: int, longest_ns: int) -> None:
        """Show progress of a point."""
        if self.bar is not None:
            text = f"{rate_word(rate_per_s)} writes/s: {writes:,} written, {reads} reads"
            self._show(f"{text}, longest {latency_word(longest_ns)}", reads, None)
        elif self._lines.due():
            fields = {"writes_per_s": rate_per_s, "written": writes, "read": reads}
            self._lines.write({**fields, "longest_read_ns": longest_ns})

    def measured(self, point: SweepPoint) -> None:
        """Print a line for a finished point."""
        if self.bar is not None:
            text = f"{rate_word(point.rate_per_s)} writes/s: longest read {latency_word(point.longest_ns)}"
            self.bar.console.print(text, markup=False, highlight=False)

    def _show(self, text: str, done: int, total: int | None) -> None:
        if self._task is None:
            self._task = self.bar.add_task(text, total=total, rate="")
        self.bar.update(self._task, description=text, completed=done, total=total)

    def note(self, text: str) -> None:
        """Print a message."""
        options.note(f"note: {text}")

    def wanted(self) -> bool:
        """True if Ctrl-C was pressed."""
        return self._interrupt.wanted

    def wait(self, seconds: float) -> None:
        """Sleep until the time is over or Ctrl-C is pressed."""
        self._interrupt.wait(seconds)


class SweepBar(AbstractContextManager[None]):
    """Draws progress while entered, if stderr is a terminal."""

    def __init__(self, view: SweepView) -> None:
        self._view = view

    def __enter__(self) -> None:
        if on_terminal():
            self._view.bar = bars()
            self._view.bar.start()

    def __exit__(self, *error: object) -> None:
        if self._view.bar is not None:
            self._view.bar.stop()
