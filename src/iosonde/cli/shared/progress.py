"""Progress of preparations on stderr: a bar on a terminal, JSON lines for programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from iosonde.cli.shared.interrupt import Interrupt

Report = Callable[[str, str, int, int], bool]
_EVERY_S = 1.0


def preparing(interrupt: Interrupt) -> AbstractContextManager[Report]:
    """A context that gives the callback for ``ForegroundProbe.prepare``; False after Ctrl-C."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return _Bars(interrupt)
    return nullcontext(_json_lines(interrupt))


class _Bars(AbstractContextManager[Report]):
    """One bar a target and thing to make, with rate and time left."""

    def __init__(self, interrupt: Interrupt) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        self._interrupt = interrupt
        self._progress = Progress(
            TextColumn("preparing {task.description}", markup=False),
            BarColumn(),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._tasks: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> Report:
        self._progress.start()
        return self._report

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def _report(self, target: str, what: str, done: int, total: int) -> bool:
        if not what:
            return not self._interrupt.wanted
        if (target, what) not in self._tasks:
            self._tasks[target, what] = self._progress.add_task(f"{target}: {what}", total=total)
        self._progress.update(self._tasks[target, what], completed=done, total=total)
        return not self._interrupt.wanted


def _json_lines(interrupt: Interrupt) -> Report:
    """``{"type": "progress", ...}`` about once a second and at the end of each part."""
    last: dict[tuple[str, str], float] = {}

    def report(target: str, what: str, done: int, total: int) -> bool:
        now = time.monotonic()
        if what and (done >= total or now - last.get((target, what), -_EVERY_S) >= _EVERY_S):
            last[target, what] = now
            line: dict[str, Any] = {"type": "progress", "target": target, "what": what}
            line |= {"done_bytes": done, "all_bytes": total}
            print(json.dumps(line), file=sys.stderr, flush=True)
        return not interrupt.wanted

    return report
