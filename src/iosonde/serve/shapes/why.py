"""The JSON of ``/api/why``, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from typing import Any

from iosonde.serve.shapes.weather import Instant, JsonModel, UnjudgedJson


class LinkJson(JsonModel):
    """One link of the answer."""

    standing: str
    """found, ruled out, not known."""
    reason: str | None
    """Why it is not known."""
    fact: dict[str, Any] | None
    """Numbers and names; docs/why.md."""


class LinkLineJson(JsonModel):
    """A line of the evidence, its link apart."""

    link: str
    """A name of ``links``, ``beside``, or empty."""
    standing: str
    """found, ruled out, not known."""
    text: str


class LinksJson(JsonModel):
    """All links."""

    slowness: LinkJson
    recurrence: LinkJson
    component: LinkJson
    load: LinkJson
    host: LinkJson
    change: LinkJson
    remedy: LinkJson


class LookedAtJson(JsonModel):
    """What was looked at."""

    targets: list[str]
    hosts: list[str]
    begin_ns: Instant
    end_ns: Instant
    dark: list[str]
    """Targets of which nothing was judged."""
    learning: list[str]
    """Those of them whose baseline was still learning."""
    not_judged: list[UnjudgedJson]


class AlertNoteJson(JsonModel):
    """What an alert carries."""

    summary: str
    description: str
    verdict: str


class WhyJson(JsonModel):
    """Why it is slow."""

    schema_version: int
    verdict: str
    sentence: str
    evidence: list[str]
    """A line a link."""
    lines: list[LinkLineJson]
    """The same with how each link stands."""
    event: str | None
    links: LinksJson
    looked: LookedAtJson
    others: list[str]
    """Other targets that were slow in the stretch."""
    annotation: AlertNoteJson
