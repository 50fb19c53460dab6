"""Metadata operations as a workload of the runtime. The only module that knows ``_core.Metadata``.

Orders and answers of the core are JSON (``metadata::team::Order``); ``decode`` makes tallies of them.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from iosonde import _core
from iosonde.bench.backends.places import StorageLocation
from iosonde.bench.metadata import decode
from iosonde.bench.runtime.histogram import Counts
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import Limit, PhaseKey, RankProgress, StartWorkload
from iosonde.model.errors import MeasureError, UsageError


class MetadataWorkload:
    """Ranks of the core on one place. ``parameters`` and ``faults``: as the core reads them."""

    def __init__(
        self,
        place: StorageLocation,
        parameters: Mapping[str, Any],
        faults: tuple[dict[str, Any], ...],
        first: int,
        count: int,
    ) -> None:
        self._place, self._first = place.name, first
        with core_errors(place.name):
            self._core = _core.Metadata(
                json.dumps(parameters), place.core, first, count, json.dumps(faults)
            )

    @classmethod
    def starter(
        cls,
        place: StorageLocation,
        parameters: Mapping[str, Any],
        faults: tuple[dict[str, Any], ...] = (),
    ) -> StartWorkload:
        """What starts it for the ranks of a process."""
        return functools.partial(cls, place, parameters, faults)

    def order(self, action: str, arguments: Mapping[str, Any]) -> None:
        """Any order of the core but ``load`` and ``go``."""
        with core_errors(self._place):
            self._core.order(json.dumps({"do": action, **arguments}))

    def load(self, phase: PhaseKey, work: Mapping[str, Any]) -> None:
        """``work``: as the core reads it."""
        self.order("load", {"work": work, "iteration": phase.repetition})

    def go(self, phase: PhaseKey, limit: Limit) -> None:
        """See ``Workload``."""
        bounds = {"after_ns": limit.after_ns, "steps": limit.steps}
        self.order("go", {"limit": bounds, "waiting_factor": phase.waiting_factor})

    def poll(self, timeout_ms: int) -> bool:
        """See ``Workload``."""
        return self._core.wait(timeout_ms)

    def answers(self) -> list[Any]:
        """See ``Workload``."""
        return [None if text is None else json.loads(text) for text in self._texts()]

    def tallies(self) -> list[RankTally | None]:
        """See ``Workload``."""
        return [None if text is None else decode.rank_tally(text) for text in self._texts()]

    def _texts(self) -> list[str | None]:
        with core_errors(self._place):
            return self._core.answers()

    def progress(self) -> list[RankProgress]:
        """See ``Workload``."""
        return decode.progress(self._core.read())

    def partial(self) -> list[tuple[OpTally, ...] | None]:
        """See ``Workload``."""
        return decode.op_tallies(self._core.so_far())

    def records(self, at: int) -> dict[str, Counts] | None:
        """Operations: ``began_ns`` since the phase began, ``latency_ns``, ``op``, ``outcome`` (codes)."""
        columns = self._core.rows(at)
        if columns is None:
            return None
        return {name: np.frombuffer(data, np.int64) for name, data in columns.items()}

    def stop(self) -> None:
        """See ``Workload``."""
        self._core.stop()

    def resume(self) -> None:
        """See ``Workload``."""
        self._core.resume()

    def close(self, timeout_ms: int) -> None:
        """See ``Workload``."""
        self._core.close(timeout_ms)


@contextlib.contextmanager
def core_errors(place: str) -> Iterator[None]:
    """The core's errors as ours, with the place: UsageError where the request was wrong, else MeasureError."""
    try:
        yield
    except _core.BenchError as error:
        text, wrong = error.args
        named = text if place in text else f"{place}: {text}"
        raise (UsageError(named) if wrong else MeasureError(named)) from None
