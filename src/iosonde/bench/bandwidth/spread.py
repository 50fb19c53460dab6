"""Ranks of one process over several directories: rank r has its file in directory r modulo their number."""

from __future__ import annotations

import fcntl
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from iosonde.bench.bandwidth.workload import BandwidthWorkload
from iosonde.bench.runtime.histogram import Counts
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.tallies import RankTally
from iosonde.bench.runtime.workload import Limit, PhaseKey, RankProgress, StartWorkload
from iosonde.model.errors import IosondeError, MeasureError

_ONE_A_DIRECTORY = ("note", "set_note", "sweep", "end")
"""Orders that one rank per directory executes for all."""
T = TypeVar("T")


def start_on(places: Sequence[str], parameters: Mapping[str, Any]) -> StartWorkload:
    """Starter of a process's ranks on one directory, on several, or (none) on nothing."""
    if len(places) < 2:
        return BandwidthWorkload.starter(places[0] if places else None, parameters)
    return functools.partial(SpreadWorkload, tuple(places), parameters)


class SpreadWorkload:
    """A team per rank, so that every rank has its own directory. Implements ``Workload``.

    Process 0 needs a rank in every directory: it makes them, holds them and removes them.
    """

    def __init__(
        self, places: Sequence[str], parameters: Mapping[str, Any], first: int, count: int
    ) -> None:
        self._places = [places[(first + at) % len(places)] for at in range(count)]
        self._ranks = [
            BandwidthWorkload(place, parameters, first + at, 1)
            for at, place in enumerate(self._places)
        ]
        self._leaders = [self._ranks[self._places.index(p)] for p in dict.fromkeys(self._places)]
        self._asked = self._ranks
        self._to_hold, self._held = False, list[int]()

    def order(self, action: str, arguments: Mapping[str, Any]) -> None:
        """See ``Workload``."""
        self._asked = self._leaders if action in _ONE_A_DIRECTORY else self._ranks
        self._to_hold = action == "begin" and bool(arguments.get("hold"))
        for one in self._asked:
            one.order(action, arguments)

    def load(self, phase: PhaseKey, work: Mapping[str, Any]) -> None:
        """See ``Workload``."""
        self._asked = self._ranks
        for one in self._ranks:
            one.load(phase, work)

    def go(self, phase: PhaseKey, limit: Limit) -> None:
        """See ``Workload``. Ranks start on receipt of the order, some microseconds apart."""
        self._asked = self._ranks
        for one in self._ranks:
            one.go(phase, limit)

    def poll(self, timeout_ms: int) -> bool:
        """See ``Workload``."""
        return all(one.poll(timeout_ms) for one in self._asked)

    def answers(self) -> list[Any]:
        """See ``Workload``; for orders executed by one rank per directory, those ranks' answers."""
        found = [answer for part in _every(self._asked, _answers) for answer in part]
        if self._to_hold:
            self._to_hold = False
            self._hold()
        return found

    def tallies(self) -> list[RankTally | None]:
        """See ``Workload``."""
        return [tally for part in _every(self._ranks, _tallies) for tally in part]

    def progress(self) -> list[RankProgress]:
        """See ``Workload``."""
        return [one.progress()[0] for one in self._ranks]

    def partial(self) -> list[tuple[OpTally, ...] | None]:
        """See ``Workload``."""
        return [one.partial()[0] for one in self._ranks]

    def records(self, at: int) -> Mapping[str, Counts] | None:
        """See ``Workload``."""
        return self._ranks[at].records(0)

    def stop(self) -> None:
        """See ``Workload``."""
        for one in self._ranks:
            one.stop()

    def resume(self) -> None:
        """See ``Workload``."""
        for one in self._ranks:
            one.resume()

    def close(self, timeout_ms: int) -> None:
        """See ``Workload``."""
        for one in self._ranks:
            one.close(timeout_ms)
        for lock in self._held:
            os.close(lock)
        self._held = []

    def _hold(self) -> None:
        """Lock the directories that rank 0 does not lock. Raises MeasureError."""
        for place in dict.fromkeys(self._places[1:]):
            if place == self._places[0]:
                continue
            path = Path(place) / f".iosonde-{os.geteuid()}" / "bench-bandwidth" / "lock"
            try:
                lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
                self._held.append(lock)
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise MeasureError(
                    f"{place}: another run uses the tree below it",
                    expected="one at a time: wait for it, or choose another directory",
                ) from None
            except OSError:
                continue  # a file system without locks is measured all the same


def _answers(one: BandwidthWorkload) -> list[Any]:
    return one.answers()


def _tallies(one: BandwidthWorkload) -> list[RankTally | None]:
    return one.tallies()


def _every(ranks: Sequence[BandwidthWorkload], call: Callable[[BandwidthWorkload], T]) -> list[T]:
    """Result of each rank; raises the first error after all have answered."""
    found, errors = list[T](), list[IosondeError]()
    for one in ranks:
        try:
            found.append(call(one))
        except IosondeError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return found
