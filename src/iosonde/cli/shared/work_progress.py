"""Progress of long work on stderr: a bar with rate and time left on a terminal, JSON lines for programs."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Gets how much is done, of how much."""
_EVERY_S = 1.0


@contextmanager
def working(what: str) -> Iterator[Progress]:
    """A context that gives the callback. Work of less than a second leaves no trace."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        with _bar(what) as report:
            yield report
    else:
        yield _json_lines(what)


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import (
        Progress as Bars,
    )

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    rate, left = TextColumn("{task.fields[rate]}", markup=False), TimeRemainingColumn()
    with Bars(*columns, rate, left, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None, rate="")
        began = time.monotonic()

        def report(done: int, total: int) -> None:
            spent = time.monotonic() - began
            rate = f"{done / spent:.0f}/s" if spent > 0.5 else ""
            bars.update(task, completed=done, total=total, rate=rate)

        yield report


def _json_lines(what: str) -> Progress:
    began = last = time.monotonic()
    ended = False

    def report(done: int, total: int) -> None:
        nonlocal last, ended
        now = time.monotonic()
        finished = done >= total and last > began and not ended
        if now - last < _EVERY_S and not finished:
            return
        last, ended = now, ended or finished
        line = {"type": "progress", "what": what, "done": done, "all": total}
        line["per_s"] = round(done / (now - began), 1)
        print(json.dumps(line), file=sys.stderr, flush=True)

    return report
