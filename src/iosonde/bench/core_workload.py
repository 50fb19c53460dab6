"""Ranks of the core as a workload: orders and answers are JSON, whatever the benchmark."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from iosonde import _core
from iosonde.bench.runtime import decode
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import RankProgress
from iosonde.model.errors import MeasureError, UsageError

CoreRanks = _core.Metadata | _core.Bandwidth
"""Ranks of one process, for each benchmark of the core."""


class CoreWorkload:
    """Common part of the core's workloads. ``place``: its name, for errors."""

    def __init__(self, place: str, ranks: CoreRanks) -> None:
        self._place, self._ranks = place, ranks

    def order(self, action: str, arguments: Mapping[str, Any]) -> None:
        """Pass any order to the core."""
        with core_errors(self._place):
            self._ranks.order(json.dumps({"do": action, **arguments}))

    def poll(self, timeout_ms: int) -> bool:
        """See ``Workload``."""
        return self._ranks.wait(timeout_ms)

    def answers(self) -> list[Any]:
        """See ``Workload``."""
        return [None if text is None else json.loads(text) for text in self._texts()]

    def tallies(self) -> list[RankTally | None]:
        """See ``Workload``."""
        return [None if text is None else decode.rank_tally(text) for text in self._texts()]

    def _texts(self) -> list[str | None]:
        with core_errors(self._place):
            return self._ranks.answers()

    def progress(self) -> list[RankProgress]:
        """See ``Workload``."""
        return decode.progress(self._ranks.read())

    def partial(self) -> list[tuple[OpTally, ...] | None]:
        """See ``Workload``."""
        return decode.op_tallies(self._ranks.so_far())

    def stop(self) -> None:
        """See ``Workload``."""
        self._ranks.stop()

    def resume(self) -> None:
        """See ``Workload``."""
        self._ranks.resume()

    def close(self, timeout_ms: int) -> None:
        """See ``Workload``."""
        self._ranks.close(timeout_ms)


@contextlib.contextmanager
def core_errors(place: str) -> Iterator[None]:
    """Convert the core's errors to ours, with the place: UsageError for a wrong request, else MeasureError."""
    try:
        yield
    except _core.BenchError as error:
        text, wrong = error.args
        named = text if place in text else f"{place}: {text}"
        raise (UsageError(named) if wrong else MeasureError(named)) from None
