"""The ranks of this process: orders in, answers out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from iosonde import _core
from iosonde.measure.places import Place
from iosonde.measure.ranks import Processes
from iosonde.model.errors import IosondeError, MeasureError, UsageError

POLL_MS = 100


@contextlib.contextmanager
def core_errors() -> Iterator[None]:
    """The core's errors as ours: UsageError where the request was wrong, else MeasureError."""
    try:
        yield
    except _core.BenchError as error:
        text, wrong = error.args
        raise (UsageError(text) if wrong else MeasureError(text)) from None


class Crew:
    """Gives the ranks of one process orders and waits for their answers."""

    def __init__(
        self,
        place: Place,
        parameters: dict[str, Any],
        first: int,
        count: int,
        faults: tuple[dict[str, Any], ...],
    ) -> None:
        self._place = place
        with core_errors():
            self.core = _core.Metadata(
                json.dumps(parameters), place.core, first, count, json.dumps(faults)
            )
        self.ask(None)

    def ask(self, order: dict[str, Any] | None) -> list[Any]:
        """Answers of all ranks. Raises MeasureError or UsageError with the first that is an error."""
        with core_errors():
            if order is not None:
                self.core.order(json.dumps(order))
            while not self.core.wait(POLL_MS):
                pass
            return [None if text is None else json.loads(text) for text in self.core.answers()]

    def first(self, order: dict[str, Any]) -> Any:
        """The answer to an order for the first rank only."""
        return self.ask(order)[0]


def read_kept(place: Place, processes: Processes) -> dict[str, Any] | None:
    """What a kept tree at a place says of itself; None if there is none. Raises MeasureError, UsageError."""
    found: dict[str, Any] | None = None
    error: IosondeError | None = None
    if processes.number == 0:
        try:
            text = Crew(place, {"ranks": 1}, 0, 1, ()).first({"do": "note"})
            found = None if text is None else json.loads(text)
        except IosondeError as raised:
            error = raised
        except ValueError:
            error = MeasureError(
                f"{place.name}: the note beside the data sets is damaged",
                expected="a tree made by iosonde",
                hint="removing its .iosonde directory",
            )
    error, found = processes.first_says((error, found))
    if error is not None:
        raise error
    return found
