"""The JSON of hosts beside each other, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from iosonde.model.json_types import Instant, Ns
from iosonde.serve.shapes.weather import JsonModel


class FleetRowJson(JsonModel):
    """A host: how slow it sees each of ``targets``."""

    host: str
    slowdown: list[float | None]
    """Ratios to what is usual; null: ``words`` says why there is none."""
    words: list[str]
    """hung, failing, lost, busy, learning, few, away; empty: a number, or nobody probes."""


class ClockJson(JsonModel):
    """A host whose clock is wrong."""

    host: str
    offset_ns: Ns
    error_ns: Ns
    against: str
    """storage or reader."""
    sentence: str


class FleetJson(JsonModel):
    """Node or storage: the verdict of hosts x targets."""

    sentence: str
    verdict: str
    """nothing, cell, host, hosts, target, targets, block, everything, undecided, few hosts."""
    slow_hosts: list[str]
    slow_targets: list[str]
    slowdown: float | None
    lower: float | None
    upper: float | None
    probability: float
    targets: list[str]
    rows: list[FleetRowJson]
    """The slowest first."""
    clocks: list[ClockJson]


class NowTargetJson(JsonModel):
    """What ``iosonde now`` says of a target."""

    host: str
    target: str
    kind: str
    severity: str
    sentence: str


class NowJson(JsonModel):
    """All targets now, the worst first, and their hosts beside each other."""

    as_of_ns: Instant
    summary: str
    targets: list[NowTargetJson]
    fleet: FleetJson | None
    """Null: no probe runs."""
