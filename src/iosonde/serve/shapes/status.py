"""The JSON of status, badges and annotations, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from iosonde.serve.shapes.weather import Instant, JsonModel

Millisecond = Annotated[int, Field(description="ms since the epoch")]


class StatusTargetJson(JsonModel):
    """A target as seen from a host."""

    host: str
    target: str
    severity: str
    """ok, info, unknown, slow or hung."""
    kind: str
    """The verdict."""
    sentence: str
    brief: str
    """The same in two or three words."""
    slowdown: float | None
    """Of the worst operation that is slow; null: none is, or nobody knows."""
    as_of_ns: Instant


class StatusJson(JsonModel):
    """How storage is now."""

    as_of_ns: Instant
    severity: str
    """The worst of all that match; unknown where nothing is watched."""
    sentence: str
    """Of the worst."""
    counts: dict[str, int]
    """Targets by severity."""
    n: int
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

    time: Millisecond
    timeEnd: Millisecond | None  # noqa: N815 - Grafana's name for it
    """null: it lasts, or nobody saw its end."""
    title: str
    text: str
    """The sentence of the event."""
    tags: list[str]
    kind: str
    host: str
    target: str | None


class AnnotationsJson(JsonModel):
    """The newest events of a range, the oldest of them first."""

    n: int
    """Events that match."""
    annotations: list[AnnotationJson]
