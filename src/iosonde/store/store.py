"""The face of a store folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.model.frames import Frame, TargetRef, WindowTable
from iosonde.store.state import read_states


class Store:
    """Samples and states below one folder. Holds no open file, no connection and no lock between calls, so one
    instance may be used from several threads, while probes write and a sealer runs.

    Errors: ``StoreError`` (folder unreadable), ``DamagedFile`` (names the file), ``MissingPart`` (no native core).
    """

    def __init__(self, root: Path) -> None:
        self.root = Path(root)

    def states(self) -> list[dict[str, Any]]:
        """The live state of every target (see ``store.state``)."""
        return read_states(self.root)

    def targets(self) -> list[TargetRef]:
        """Every (host, target) that has a state or samples, sorted."""
        raise NotImplementedError

    def windows(
        self,
        window_ns: int,
        target: str | None = None,
        host: str | None = None,
        ops: Sequence[str] | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
    ) -> WindowTable:
        """Window statistics of [since, until), widened to whole windows; columns as in windows.toml, sorted by host,
        target, op, period_ns, start_ns. Missing statistics are NaN (float64)."""
        raise NotImplementedError

    def samples(
        self,
        columns: Sequence[str] = ("due_ns", "service_ns", "felt_ns", "outcome"),
        target: str | None = None,
        host: str | None = None,
        ops: Sequence[str] | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
    ) -> Frame:
        """Samples due in [since, until), sorted by due_ns. Columns of samples.toml, and ``service_ns`` and ``felt_ns``
        (float64, NaN when unknown). Missing instants are ``NULL_NS``."""
        raise NotImplementedError
