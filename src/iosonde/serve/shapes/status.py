"""The JSON of status, badges and annotations, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from iosonde.model.json_types import Instant, Millisecond, Op, Severity
from iosonde.serve.shapes.weather import JsonModel


class StatusTargetJson(JsonModel):
    """A target as seen from a host."""

    host: str
    target: str
    severity: Severity
    kind: str
    """The verdict."""
    sentence: str
    brief: str
    """The same in two or three words."""
    slowdown: float | None
    """Of the worst operation that is slow; null: none is, or nobody knows."""
    as_of_ns: Instant


class FleetVerdictJson(JsonModel):
    """Whether it is one node or the storage, as /api/now has it with its matrix."""

    sentence: str
    verdict: str


class StatusJson(JsonModel):
    """How storage is now."""

    as_of_ns: Instant
    severity: Severity
    """The worst of all that match; unknown where nothing is watched."""
    sentence: str
    """Of the worst."""
    summary: str
    """How many targets are how; empty where there is only one."""
    fleet: FleetVerdictJson | None
    """null: fewer than two hosts watch, or one target or host is asked for."""
    counts: dict[str, int]
    """Targets by severity."""
    total: int
    """Targets that match."""
    targets: list[StatusTargetJson]
    """A page of them, the worst first."""


class ShieldJson(JsonModel):
    """A badge as shields.io reads it."""

    schemaVersion: int  # noqa: N815 - its name for it
    label: str
    message: str
    color: str


class AnnotationJson(JsonModel):
    """An event as dashboards mark it."""

    id: str | None
    """What /api/why takes as an event; null: it is no slow stretch and no hang."""
    time: Millisecond
    timeEnd: Millisecond | None  # noqa: N815 - Grafana's name for it
    """null: it lasts, or nobody saw its end."""
    title: str
    text: str
    """The sentence of the event; of those that why is asked of, its answer, a line a link."""
    tags: list[str]
    kind: str
    host: str
    target: str | None
    op: Op | None
    """The operation that was slow or hung; null: the event is about the whole target or host."""


class AnnotationsJson(JsonModel):
    """The newest events of a range, the oldest of them first."""

    total: int
    """Events that match."""
    annotations: list[AnnotationJson]
    not_judged: list[str]
    """A sentence a reason of what was not judged in the range."""
    peers: list[str]
    """A sentence a part that is slow beside parts like it, however long."""
