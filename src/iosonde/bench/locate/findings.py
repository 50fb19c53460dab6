"""Findings of ``locate``, as data. Factors are times: 1.8 takes 1.8 times as long."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Fault(StrEnum):
    """Kinds of slow components."""

    OST = "slow OST"
    SERVER = "slow server"
    LINK = "degraded link"
    ROUTER = "slow router group"
    FAILOVER = "failed-over servers"
    HOST = "slow client"
    DIP = "transient dip"


class Cause(StrEnum):
    """Causes of uneven times without a slow component."""

    IMBALANCE = "uneven files"
    POSITION = "disk position"
    GENERATIONS = "two generations"


class CannotTell(StrEnum):
    """Questions that a run cannot answer."""

    NO_TARGETS = "OSTs of the files"
    NO_SERVERS = "servers"
    NO_GROUPS = "router groups"
    NO_PAIRS = "failover pairs"
    NO_HOSTS = "client hosts"
    FEW_HOSTS = "few client hosts"
    ONE_HOST_A_TARGET = "client or OST"
    NO_POSITION = "disk position"
    NO_RATES = "dips"
    FEW_GROUPS = "few router groups"
    FEW_TARGETS = "few OSTs"
    FEW_FILES = "few files"
    STRIPED = "stripes"
    ONE_REPETITION = "one repetition"


@dataclass(frozen=True)
class TimeFactor:
    """Factor of the transfer time in a direction, with its 95% interval."""

    direction: str
    factor: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Slow:
    """A slow component. ``components`` at ``level``; ``also`` names others that the fault slows (a group's servers).

    ``chance``: probability of such a finding in a healthy run. ``repetitions`` of ``of_repetitions`` show it.
    ``rivals``: (level, component) that explain nearly as much. ``span_s``: seconds of a dip since its phase began.
    """

    fault: Fault
    level: str
    components: tuple[str, ...]
    effects: tuple[TimeFactor, ...]
    chance: float
    repetitions: int
    of_repetitions: int
    peers: int
    """Healthy components of the level."""
    rivals: tuple[tuple[str, str], ...] = ()
    also: tuple[str, ...] = ()
    span_s: tuple[float, float] | None = None


@dataclass(frozen=True)
class Uneven:
    """A cause without a slow component.

    ``factor``: most over mean bytes on a target; time at the inner edge over the outer; time of the slower kind.
    ``loss``: share of the sustained rate that it costs, None where it is not computed. ``components``: which of
    ``of`` targets.
    """

    cause: Cause
    factor: float
    lower: float
    upper: float
    loss: float | None = None
    components: tuple[str, ...] = ()
    of: int = 0


@dataclass(frozen=True)
class Counts:
    """Sizes of a run."""

    targets: int
    servers: int
    groups: int
    files: int
    transfers: int
    repetitions: int
    directions: tuple[str, ...]


@dataclass(frozen=True)
class ComponentFindings:
    """Findings: slow components, causes of uneven times, and unanswerable questions."""

    slow: tuple[Slow, ...]
    uneven: tuple[Uneven, ...]
    limits: tuple[CannotTell, ...]
    counts: Counts
