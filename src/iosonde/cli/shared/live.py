"""The live view of a running probe: a screen for people, lines for pipes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from iosonde.cli.shared.terminal import raw
from iosonde.drawing.sparkline import levels, sparkline
from iosonde.model.ops import op_word
from iosonde.model.units import format_duration, format_slowdown, to_datetime
from iosonde.weather.slowdown.answers import verdict

if TYPE_CHECKING:
    from rich.console import Group

COLOURS = {
    "ok": "green",
    "info": "cyan",
    "slow": "yellow",
    "hung": "bold red",
    "unknown": "magenta",
}
_FIXED_COLUMNS = 74
"""Columns of the numbers beside a sparkline."""

_WORDS = ("learning", "failing", "hung")
"""States of an op that are shown instead of its slowdown."""

Recent = Callable[[str, str, int], Sequence[float | None]]
"""(target, op, n) -> the last n response times in ns."""


class View(Protocol):
    """Display of states until it is left."""

    def show(self, states: list[dict[str, Any]], now_ns: int, note: str) -> None:
        """Show current states; ``note`` is a line about the probe itself."""


def view(recent: Recent, window_ns: int) -> AbstractContextManager[View]:
    """A screen if stdout is a terminal with a movable cursor, else lines."""
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        return Screen(recent)
    return Lines(window_ns)


class Lines(AbstractContextManager[View]):
    """Prints a line per target on each change of its verdict's kind, and once per window."""

    def __init__(self, window_ns: int) -> None:
        self._window_ns = window_ns
        self._shown: dict[str, tuple[str, int]] = {}

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *error: object) -> None:
        sys.stdout.flush()

    def show(self, states: list[dict[str, Any]], now_ns: int, note: str) -> None:
        """Print the due lines."""
        del note  # for screens
        for state in states:
            finding, sentence, _ = verdict(state, now_ns)
            kind, at_ns = self._shown.get(finding.target, ("", 0))
            if finding.kind != kind or now_ns - at_ns >= self._window_ns:
                self._shown[finding.target] = (finding.kind, now_ns)
                clock = to_datetime(now_ns).isoformat(timespec="seconds")
                print(f"{clock} {finding.severity:<7} {sentence}", flush=True)


class Screen(AbstractContextManager[View]):
    """Redraws a table per target in place."""

    def __init__(self, recent: Recent) -> None:
        from rich.console import Console
        from rich.live import Live

        self._recent = recent
        self._console = Console(file=raw(sys.stdout))
        self._live = Live(console=self._console, auto_refresh=False, transient=True)

    def __enter__(self) -> Screen:
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def show(self, states: list[dict[str, Any]], now_ns: int, note: str) -> None:
        """Draw the states."""
        width = max(10, min(120, self._console.width - _FIXED_COLUMNS))
        unicode = self._console.encoding.lower().replace("-", "") == "utf8"
        sparks = Sparks(self._recent, width, ascii_only=not unicode)
        self._live.update(screen(states, sparks, now_ns, note), refresh=True)


class Sparks(NamedTuple):
    """Parameters of sparklines: source, width, characters."""

    recent: Recent
    width: int
    ascii_only: bool = False


def screen(states: list[dict[str, Any]], sparks: Sparks, now_ns: int, note: str) -> Group:
    """Renderable of all targets: sentence and a row per operation."""
    from rich.console import Group
    from rich.text import Text

    parts: list[Any] = []
    for state in states:
        finding, sentence, _ = verdict(state, now_ns)
        parts.append(Text(sentence, style=COLOURS[finding.severity]))
        parts.append(_table(state, sparks))
        parts.append(Text(""))
    parts.append(Text(note, style="dim"))
    return Group(*parts)


def _table(state: dict[str, Any], sparks: Sparks) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True, min_width=11)
    table.add_column("latest operations", no_wrap=True, width=sparks.width)
    for name, size in (("latest", 8), ("median", 8), ("p95", 8), ("slowdown", 16), ("lost", 5)):
        table.add_column(name, justify="right", no_wrap=True, min_width=size)
    for op in state["ops"]:
        shape = levels(
            sparks.recent(str(state["target"]), op["op"], sparks.width), op["baseline_ns"]
        )
        slowdown = format_slowdown(op["slowdown"], op["slowdown_lower"], op["slowdown_upper"])
        word = "info" if op["host_busy"] and op["state"] == "slow" else op["state"]
        style = COLOURS.get({"failing": "hung"}.get(word, word), "")
        table.add_row(
            Text(op_word(op["op"])),
            _coloured(sparkline(shape, ascii_only=sparks.ascii_only), shape),
            format_duration(op["latest_ns"]),
            _with_n(op["median_ns"], op.get("median_n"), op["n_seen"]),
            _with_n(op["q95_ns"], op.get("q95_n"), op["n_seen"]),
            Text(op["state"] if op["state"] in _WORDS else slowdown, style=style),
            str(op["n_lost"]),
        )
    return table


def _with_n(ns: float | None, n: int | None, n_window: int) -> str:
    """A quantile, and its number of operations unless of the last window."""
    text = format_duration(ns)
    return text if ns is None or n in (None, n_window) else f"{text} of {n}"


def _coloured(text: str, shape: Sequence[int | None]) -> Any:
    """Text coloured by level: up to 2.8x as usual, up to 6.7x slow, above that very slow."""
    from rich.text import Text

    line = Text()
    for letter, level in zip(text, shape, strict=True):
        worst = level is None or level >= 6
        line.append(letter, style="red" if worst else "yellow" if level in (4, 5) else "green")
    return line
