"""The JSON of answers about the server itself, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from iosonde.model.json_types import Ns
from iosonde.serve.shapes.weather import JsonModel


class ProbeCostJson(JsonModel):
    """What a probe asks of its storage; null: its state does not say."""

    host: str
    target: str
    period_ns: Ns | None
    ops_per_s: float | None
    bytes_per_s: float | None
    stored_bytes: int | None
    """Bytes of its files."""
    budget: dict[str, float]
    """Limits that are set: bytes_per_s, ops_per_s, cpu_ns_per_s."""
    sentence: str


class CostJson(JsonModel):
    """What all running probes ask for."""

    sentence: str
    """Of all together; empty: none runs."""
    total: int
    """Probes that run."""
    probes: list[ProbeCostJson]


class WordJson(JsonModel):
    """A word and its meaning; code stands in backquotes."""

    word: str
    meaning: str


class SectionJson(JsonModel):
    """Words of one subject."""

    title: str
    words: list[WordJson]


class GlossaryJson(JsonModel):
    """The glossary of the documentation."""

    sections: list[SectionJson]
    """Empty: this copy was installed without its page."""
