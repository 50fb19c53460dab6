"""The JSON of ``/api/why``, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from iosonde.model.json_types import Instant, Op
from iosonde.serve.shapes.weather import JsonModel, OpenJsonModel, UnjudgedJson

Standing = Literal["found", "ruled out", "not known"]
Fact = TypeVar("Fact")


class LinkJson(JsonModel, Generic[Fact]):
    """One link of the answer."""

    standing: Standing
    reason: str | None
    """Why it is not known."""
    fact: Fact | None
    """Numbers and names; docs/why.md."""


class SlownessJson(OpenJsonModel):
    """The slow stretch."""

    host: str
    target: str
    op: Op
    begin_ns: Instant
    end_ns: Instant | None
    """Null: it goes on."""
    seen_until_ns: Instant


class CulpritJson(OpenJsonModel):
    """A job whose load explains the slowdown, or all jobs of a user or an account together."""

    by: Literal["job", "user", "account"]
    job: str
    """Empty where it is no single job."""


class LoadFactJson(OpenJsonModel):
    """Jobs whose load explains the slowdown, the largest first."""

    culprits: list[CulpritJson]


class LinkLineJson(JsonModel):
    """A line of the evidence, its link apart."""

    link: str
    """A name of ``links``, ``beside``, or empty."""
    standing: Standing
    text: str


class LinksJson(JsonModel):
    """All links."""

    slowness: LinkJson[SlownessJson]
    recurrence: LinkJson[dict[str, Any]]
    component: LinkJson[dict[str, Any]]
    load: LinkJson[LoadFactJson]
    host: LinkJson[dict[str, Any]]
    change: LinkJson[dict[str, Any]]
    remedy: LinkJson[dict[str, Any]]


class PeerJson(JsonModel):
    """A part that is slow beside parts like it, however long."""

    host: str
    target: str
    op: str
    shared: str
    """What they share: host, target, or a parent in an imported table of parts; ``shared_name`` is its name."""
    shared_name: str
    peers: int
    """The others."""
    ratio: float
    lower: float
    upper: float
    slow_blocks: int
    """Of ``blocks`` of ``block_s`` each."""
    blocks: int
    block_s: float
    since_ns: Instant | None
    """Null: it was so in all that is known."""
    sentence: str


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
    peers: list[PeerJson]
    """Parts that are slow beside others like them, where no stretch was slow."""


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
