"""Protocol of a workload, as the runtime uses it: orders in, answers, tallies and records out.

A workload has the ranks ``first .. first + count`` of one process, each with a thread of its own, in whatever language.
Its timed sections never call the runtime: the runtime polls ten times a second.

::

    start(first, count) -> workload      the ranks connect; that is the first answer
    order(action, arguments)             to all ranks, or to the first where that is enough -> answers()
    load(phase, work)                    make ready for a phase -> answers(): operations planned by each rank
    go(phase, limit)                     go on with what was loaded, up to the limit -> tallies()
    poll(ms) ... progress(), partial()   while the ranks are at it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from iosonde.bench.runtime.histogram import Counts
from iosonde.bench.runtime.op_tally import OpTally
from iosonde.bench.runtime.tallies import RankTally


@dataclass(frozen=True, slots=True)
class PhaseKey:
    """Identity of a phase within a run: columns of its rows."""

    name: str
    repetition: int = 0
    """Number of the repetition of the whole phase."""
    waiting_factor: float = 0.0
    measurement: int = 0
    """Number of the measurement at this waiting factor."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Time or step limit of every rank; None: no such limit."""

    after_ns: int | None = None
    """Time since the rank started the loaded work."""
    steps: int | None = None


class RankProgress(NamedTuple):
    """Progress of a rank in a phase: operations, and the one in progress."""

    ended: int
    planned: int
    failed: int
    open_op: str | None = None
    open_ns: int = 0


class RankRecords(NamedTuple):
    """Single events of one rank and phase, a row each. They stay in the rank's process."""

    rank: int
    began_ns: int
    """Start of the rank's part of the phase, UTC."""
    columns: Mapping[str, Counts]


class Workload(Protocol):
    """The ranks of one process. Errors are ``IosondeError`` and name the place."""

    def order(self, action: str, arguments: Mapping[str, Any], /) -> None:
        """Give an order other than a phase; wait for the answers before the next."""

    def load(self, phase: PhaseKey, work: Mapping[str, Any], /) -> None:
        """Order all ranks to prepare a phase. Each answers with the operations it plans."""

    def go(self, phase: PhaseKey, limit: Limit, /) -> None:
        """Let all ranks run the loaded phase; they start together."""

    def poll(self, timeout_ms: int, /) -> bool:
        """True if every rank has answered; waits at most this long for the next answer."""
        ...

    def answers(self) -> list[Any]:
        """Answers by rank, None from one that has not answered. Raises the first error among them."""
        ...

    def tallies(self) -> list[RankTally | None]:
        """Tally of each rank since it was loaded; None if it has not answered. Raises the first error."""
        ...

    def progress(self) -> list[RankProgress]:
        """Progress of each rank."""
        ...

    def partial(self) -> list[tuple[OpTally, ...] | None]:
        """Operations of each rank so far, as of the last call; None if there is no copy yet."""
        ...

    def records(self, at: int, /) -> Mapping[str, Counts] | None:
        """Columns of the last phase's records of the ``at``-th rank; None while it is at work."""
        ...

    def stop(self) -> None:
        """Ask every rank to end after its current step."""

    def resume(self) -> None:
        """Revoke ``stop``."""

    def close(self, timeout_ms: int, /) -> None:
        """End the ranks and release their resources; wait at most this long for each."""


StartWorkload = Callable[[int, int], Workload]
"""(first, count) -> workload. Raises IosondeError, or OSError if resources for so many ranks are missing."""
