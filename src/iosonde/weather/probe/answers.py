"""A probe in the foreground, and what it found: ``iosonde probe``."""

from __future__ import annotations

import json
import math
import os
import struct
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from iosonde import _core
from iosonde.engine.states import remove_files
from iosonde.model import errors
from iosonde.model.answer import TableBlock
from iosonde.model.ops import op_word
from iosonde.model.units import format_count, format_duration, format_size
from iosonde.weather.slowdown.findings import from_state
from iosonde.weather.slowdown.words import say

if TYPE_CHECKING:
    from iosonde.model.answer import Block
    from iosonde.weather.slowdown.summary import Pooled

Progress = Callable[[str, str, int, int], bool]
"""``(target, what, done_bytes, all_bytes)``; returns False to stop. Asked with an empty ``what`` too."""


def worker_binary() -> str | None:
    """Path of the agent installed beside this Python; its processes may hang without harm.

    None if there is none: operations then run in threads, and one that hangs keeps the process.
    """
    beside = Path(sysconfig.get_path("scripts")) / "iosonde-agent"
    return str(beside) if os.access(beside, os.X_OK) else None


def _of_probes(root: Path) -> set[Path]:
    """Files of states and baselines."""
    return {path for folder in ("state", "baselines") for path in root.glob(f"{folder}/*/*")}


class ForegroundProbe:
    """Probes the targets of a configuration until stopped.

    ``config`` has the keys of the agent's TOML file (docs/agent.md).
    Raises ``UsageError`` for a wrong configuration, ``MeasureError`` when no target can be probed.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        self._root = Path(config["store"])
        self._there = _of_probes(self._root)
        try:
            self._probe = _core.Probe(json.dumps(config), worker_binary())
        except _core.ConfigError as error:
            raise errors.UsageError(str(error)) from None

    def prepare(self, progress: Progress) -> list[str]:
        """Prepare big files and pools; returns remarks on each target.

        A target that cannot be probed leaves no state: a path that was mistyped is nobody's news.
        """
        try:
            return self._probe.prepare(progress)
        except _core.ProbeError as error:
            self.stop()
            remove_files(_of_probes(self._root) - self._there)
            raise errors.MeasureError(str(error)) from None

    def start(self) -> None:
        """Start the schedule."""
        try:
            self._probe.start()
        except _core.ProbeError as error:
            raise errors.MeasureError(str(error)) from None

    def snapshot(self) -> list[dict[str, Any]]:
        """Current state of every target, as in the state folder."""
        states: list[dict[str, Any]] = json.loads(self._probe.snapshot())
        return states

    def recent(self, target: str, op: str, n: int) -> Sequence[float | None]:
        """The last ``n`` response times in ns, oldest first; None for rows that did not end ok."""
        raw = self._probe.recent(target, op, n)
        values = struct.unpack(f"={len(raw) // 8}d", raw)
        return [None if math.isnan(value) else value for value in values]

    def stop(self) -> dict[str, Any]:
        """End the schedule, write everything, return the summary. May be called repeatedly."""
        summary: dict[str, Any] = json.loads(self._probe.stop()) or {}
        return summary

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class ProbeSummary(NamedTuple):
    """What a probe found until it stopped: the last state of every target, and its series with all samples pooled."""

    states: list[dict[str, Any]]
    series: list[Pooled]
    root: Path
    troubles: list[str]
    """Rows that were lost, or that cannot be read."""

    def shown(self) -> list[Block]:
        """Every target's verdict, and a table of its operations."""
        head = ("", "median", "95% interval", "p95", "max", "ended ok", "lost")
        blocks: list[Block] = []
        for state in self.states:
            rows = [_row(one) for one in self.series if one.key.target == state["target"]]
            last = from_state(state | {"running": True, "state": "ok"}, state["written_ns"])
            blocks += ["", say(last), TableBlock(head, rows)]
        return blocks

    def notes(self) -> list[str]:
        """Places of rows and of test files, which stay for the next probe."""
        kept = [
            f"{format_size(size)} of test files stay for the next probe; "
            f"'iosonde store clean {state['path']}' removes them"
            for state in self.states
            if (size := _files_bytes(state))
        ]
        return [f"kept in {self.root}; 'iosonde slowdown' and 'iosonde serve' show it", *kept]


def summary(root: Path, ended: dict[str, Any], window_ns: int, since_ns: int) -> ProbeSummary:
    """What the samples since ``since_ns`` amount to. ``ended``: as ``ForegroundProbe.stop`` gives it."""
    from iosonde.weather.slowdown.summary import pooled
    from iosonde.weather.store import Store

    states = {state["target"]: state for state in ended.get("targets", [])}
    host = next(iter({state["host"] for state in states.values()}), None)
    troubles = []
    if ended.get("store_error"):
        troubles.append(f"note: rows lost: {ended['rows_lost']} ({ended['store_error']})")
    series: list[Pooled] = []
    try:
        series = pooled(Store(root), window_ns, since_ns, host=host, targets=tuple(states))
    except errors.StoreError as error:
        troubles.append(f"iosonde: {error}")
    return ProbeSummary(list(states.values()), series, root, troubles)


def say_files(states: Sequence[dict[str, Any]]) -> list[str]:
    """``/work: 1.00 GiB in 1,001 files of the probe``; nothing for a target without files."""
    return [
        f"{state['path']}: {format_size(size)} in {state['pool'] + 1:,} files of the probe"
        for state in states
        if (size := _files_bytes(state))
    ]


def _files_bytes(state: dict[str, Any]) -> int:
    """Bytes of the big file and the pool; 0 if not in the state."""
    parts = (state.get("file_bytes"), state.get("pool"), state.get("object_bytes"))
    if any(part is None for part in parts):
        return 0
    file_bytes, pool, object_bytes = (int(part or 0) for part in parts)
    return file_bytes + pool * object_bytes


def _row(row: Pooled) -> tuple[str, ...]:
    interval = "n/a"
    if row.lower_ns is not None and row.upper_ns is not None:
        interval = f"{format_duration(row.lower_ns)} - {format_duration(row.upper_ns)}"
    return (
        op_word(row.key.op),
        format_duration(row.median_ns),
        interval,
        format_duration(row.q95_ns),
        format_duration(row.max_ns),
        format_count(row.n),
        format_count(row.n_due - row.n),
    )
