"""Ranks of this process: orders in, answers out, with a timeout for hung ranks."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from iosonde.bench.runtime.workload import StartWorkload
from iosonde.model.errors import MeasureError

POLL_MS = 100
PATIENCE_S = 10.0
"""Seconds after the user's end before a hung operation is abandoned."""


class HangingError(MeasureError):
    """A rank that does not answer and cannot take another order."""


class RankGroup:
    """Starts ``count`` ranks numbered from ``first``, gives them orders and waits for their answers.

    ``wanted``: whether an end is wanted. Raises what the workload raises when it starts, MeasureError when there is no
    room for so many ranks.
    """

    def __init__(
        self,
        start: StartWorkload,
        place: str,
        first: int,
        count: int,
        wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        self.place, self.first, self._wanted = place, first, wanted
        try:
            self.workload = start(first, count)
        except OSError as error:
            raise MeasureError(
                f"{count} ranks cannot be started in one process: {error.strerror or error}",
                expected="fewer ranks than this machine lets a process have threads",
                hint="a smaller -n, or more processes with mpirun",
            ) from None
        self._answers("open its store")

    def ask(self, action: str, **arguments: Any) -> list[Any]:
        """Answers of the ranks to an order. Raises the first error among them.

        HangingError when an end is wanted and a rank does not answer.
        """
        self.workload.order(action, arguments)
        return self._answers(action.replace("_", " "))

    def wait(self, what: str) -> None:
        """Wait until every rank has answered ``what``. Raises HangingError as ``ask``."""
        patience = Patience(self._wanted)
        while not self.workload.poll(POLL_MS):
            if patience.over():
                raise HangingError(
                    f"{self.place}: a rank does not return from '{what}': iosonde gave it up"
                )

    def _answers(self, what: str) -> list[Any]:
        self.wait(what)
        return self.workload.answers()

    def load(self, *order: Any) -> list[int]:
        """Number of operations that each rank plans for a phase; ``order`` as ``Workload.load``."""
        self.workload.load(*order)
        return self._answers("load")

    def close(self) -> None:
        """End the ranks after their current step; they release resources and take no further order."""
        self.workload.close(int(PATIENCE_S * 1000))


class Patience:
    """Timeout for a rank once an end is wanted. ``began``: called when that happens."""

    def __init__(self, wanted: Callable[[], bool], began: Callable[[], None] | None = None) -> None:
        self._wanted, self._began = wanted, began
        self._since_s: float | None = None

    def over(self) -> bool:
        """True if an end was wanted ``PATIENCE_S`` ago."""
        now = time.monotonic()
        if self._since_s is None and self._wanted():
            self._since_s = now
            if self._began is not None:
                self._began()
        return self._since_s is not None and now - self._since_s > PATIENCE_S
