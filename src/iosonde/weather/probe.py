"""Foreground probe: the agent's core in this process, without the daemon."""

import json
import math
import os
import struct
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

from iosonde import _core
from iosonde.engine.states import remove_files
from iosonde.model import errors

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
