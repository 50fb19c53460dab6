"""The ranks of this process: orders in, answers out."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from iosonde import _core
from iosonde.bench.backends.places import Place
from iosonde.bench.ranks import Processes
from iosonde.model.errors import IosondeError, MeasureError, UsageError

POLL_MS = 100
PATIENCE_S = 10.0
"""What has not returned this long after an end was wanted is given up."""


class HangingError(MeasureError):
    """A rank does not answer any more; nothing else can be asked of it."""


@contextlib.contextmanager
def core_errors(place: str) -> Iterator[None]:
    """The core's errors as ours, with the place: UsageError where the request was wrong, else MeasureError."""
    try:
        yield
    except _core.BenchError as error:
        text, wrong = error.args
        named = text if place in text else f"{place}: {text}"
        raise (UsageError(named) if wrong else MeasureError(named)) from None


class Crew:
    """Gives the ranks of one process orders and waits for their answers."""

    def __init__(
        self,
        place: Place,
        parameters: dict[str, Any],
        first: int,
        count: int,
        faults: tuple[dict[str, Any], ...],
        *,
        wanted: Callable[[], bool] = lambda: False,
    ) -> None:
        self._place, self._count, self._wanted = place, count, wanted
        try:
            with core_errors(place.name):
                self.core = _core.Metadata(
                    json.dumps(parameters), place.core, first, count, json.dumps(faults)
                )
        except OSError as error:
            raise MeasureError(
                f"{count} ranks cannot be started in one process: {error.strerror or error}",
                expected="fewer ranks than this machine lets a process have threads",
                hint="a smaller -n, or more processes with mpirun",
            ) from None
        self.ask(None)

    def ask(self, order: dict[str, Any] | None) -> list[Any]:
        """Answers of all ranks. Raises MeasureError or UsageError with the first that is an error.

        HangingError when an end is wanted and a rank does not answer.
        """
        with core_errors(self._place.name):
            if order is not None:
                self.core.order(json.dumps(order))
            asked_to_end: float | None = None
            while not self.core.wait(POLL_MS):
                if self._wanted() and asked_to_end is None:
                    asked_to_end = time.monotonic()
                if asked_to_end is not None and time.monotonic() - asked_to_end > PATIENCE_S:
                    what = "open its store" if order is None else str(order["do"]).replace("_", " ")
                    raise HangingError(
                        f"{self._place.name}: a rank does not return from '{what}': it was given up"
                    )
            return [None if text is None else json.loads(text) for text in self.core.answers()]

    def close(self) -> None:
        """The ranks end after what they are at and let go what they hold; nothing can be asked of them again."""
        self.core.close(int(PATIENCE_S * 1000))

    def first(self, order: dict[str, Any]) -> Any:
        """The answer to an order for the first rank only."""
        return self.ask(order)[0]


def read_kept(
    place: Place, processes: Processes, wanted: Callable[[], bool] = lambda: False
) -> dict[str, Any] | None:
    """What a kept tree at a place says of itself; None if there is none. Raises MeasureError, UsageError."""
    found: dict[str, Any] | None = None
    error: IosondeError | None = None
    if processes.number == 0:
        try:
            text = Crew(place, {"ranks": 1}, 0, 1, (), wanted=wanted).first({"do": "note"})
            found = None if text is None else _kept(json.loads(text))
        except IosondeError as raised:
            error = raised
        except (ValueError, KeyError, TypeError):
            error = MeasureError(
                f"{place.name}: what the kept tree says of itself is damaged, or of another version",
                expected="a tree made by this version of iosonde",
                hint="removing what it made there by hand",
            )
    error, found = processes.first_says((error, found))
    if error is not None:
        raise error
    return found


def _kept(note: dict[str, Any]) -> dict[str, Any]:
    """The note as ``Spec.kept`` makes it. Raises KeyError, TypeError, ValueError."""
    names = ("ranks", "data_sets", "objects", "size_bytes", "seed")
    if note["format"] != 1 or not all(type(note[name]) is int for name in names):
        raise ValueError("not a note of this version")
    return note
