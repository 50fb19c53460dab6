"""The JSON of answers about benchmark runs, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from iosonde.bench.report.answers import ListedRun
from iosonde.serve.shapes.weather import JsonModel


class RunsJson(JsonModel):
    """The newest runs of those that match."""

    n: int
    """Runs of the target and range, of any kind."""
    total: int
    """Those that match."""
    kinds: list[str]
    targets: list[str]
    runs: list[ListedRun]


class TableJson(JsonModel):
    """A table as people read it."""

    head: list[str]
    rows: list[list[str]]


class RunComponentsJson(JsonModel):
    """Which component is slow, and what the run cannot tell."""

    say: list[str]
    findings: TableJson
    limits: list[str]


class RunPictureJson(JsonModel):
    """A picture that can be asked for."""

    name: str
    title: str
    caption: list[str]


class RunJson(JsonModel):
    """A run, as `iosonde report RUN` says it."""

    title: str
    subtitle: str
    headline: str
    slow: bool
    """Whether the headline or a finding is bad news."""
    rates: TableJson
    notes: list[str]
    components: RunComponentsJson | None
    """null: the store has no transfers of it."""
    cautions: list[str]
    parameters: list[tuple[str, str]]
    machine: list[tuple[str, str]]
    command: str | None
    """How to repeat it."""
    pictures: list[RunPictureJson]


class ComparedRunsJson(JsonModel):
    """Run B as seen from run A."""

    say: list[str]
    table: TableJson
    note: str
    """How the runs differ; may be empty."""
