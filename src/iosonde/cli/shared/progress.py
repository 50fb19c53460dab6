"""Progress of long work on stderr: a bar with rate and time left on a terminal, JSON lines for programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from iosonde.cli.shared.interrupt import Interrupt
from iosonde.cli.shared.terminal import raw

if TYPE_CHECKING:
    from rich.progress import Progress

Working = Callable[[int, int], None]
"""Callback with done and total."""
Preparing = Callable[[str, str, int, int], bool]
"""Callback with target, part, bytes done, bytes in all; False after Ctrl-C."""
_EVERY_S = 1.0


def on_terminal() -> bool:
    """True if stderr can draw a bar."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def bars(*, of_bytes: bool = False) -> Progress:
    """Bars that vanish at their end. A task of a count has a field ``rate``: text, "" for none."""
    from rich import progress
    from rich.console import Console

    counted: tuple[progress.ProgressColumn, ...] = (
        (progress.DownloadColumn(binary_units=True), progress.TransferSpeedColumn())
        if of_bytes
        else (
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[rate]}", markup=False),
        )
    )
    return progress.Progress(
        progress.TextColumn("{task.description}", markup=False),
        progress.BarColumn(),
        *counted,
        progress.TimeRemainingColumn(),
        console=Console(file=raw(sys.stderr)),
        transient=True,
    )


class JsonLines:
    """Writer of ``{"type": "progress", ...}``, of each key about once a second."""

    def __init__(self) -> None:
        self._last: dict[Hashable, float] = {}

    def due(self, key: Hashable = None) -> bool:
        """True if the last line of ``key`` is a second old."""
        return time.monotonic() - self._last.get(key, -_EVERY_S) >= _EVERY_S

    def write(self, fields: dict[str, Any], key: Hashable = None) -> None:
        """Write a line now."""
        self._last[key] = time.monotonic()
        print(json.dumps({"type": "progress", **fields}), file=sys.stderr, flush=True)


@contextmanager
def working(what: str) -> Iterator[Working]:
    """Context with the callback. Work of less than a second leaves no trace."""
    if not on_terminal():
        yield _counted_lines(what)
        return
    with bars() as drawn:
        task = drawn.add_task(what, total=None, rate="")
        began = time.monotonic()

        def report(done: int, total: int) -> None:
            spent = time.monotonic() - began
            rate = f"{done / spent:.0f}/s" if spent > 0.5 else ""
            drawn.update(task, completed=done, total=total, rate=rate)

        yield report


def _counted_lines(what: str) -> Working:
    lines = JsonLines()
    began = last = time.monotonic()
    ended = False

    def report(done: int, total: int) -> None:
        nonlocal last, ended
        now = time.monotonic()
        finished = done >= total and last > began and not ended
        if now - last < _EVERY_S and not finished:
            return
        last, ended = now, ended or finished
        rate = round(done / (now - began), 1)
        lines.write({"what": what, "done": done, "all": total, "per_s": rate})

    return report


@contextmanager
def preparing(interrupt: Interrupt) -> Iterator[Preparing]:
    """Context with the callback for ``ForegroundProbe.prepare``."""
    if not on_terminal():
        yield _prepared_lines(interrupt)
        return
    with bars(of_bytes=True) as drawn:
        tasks: dict[tuple[str, str], Any] = {}

        def report(target: str, what: str, done: int, total: int) -> bool:
            if what:
                if (target, what) not in tasks:
                    tasks[target, what] = drawn.add_task(f"preparing {target}: {what}", total=total)
                drawn.update(tasks[target, what], completed=done, total=total)
            return not interrupt.wanted

        yield report


def _prepared_lines(interrupt: Interrupt) -> Preparing:
    """Callback that also writes a line at the end of each part."""
    lines = JsonLines()

    def report(target: str, what: str, done: int, total: int) -> bool:
        if what and (done >= total or lines.due((target, what))):
            fields = {"target": target, "what": what, "done_bytes": done, "all_bytes": total}
            lines.write(fields, (target, what))
        return not interrupt.wanted

    return report
