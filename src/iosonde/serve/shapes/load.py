"""The JSON of answers about loads, for ``/openapi.json``; see ``shapes``. Rates are operations per second."""

from __future__ import annotations

from iosonde.model.json_types import Instant, Ns
from iosonde.serve.shapes.jobs import Name
from iosonde.serve.shapes.weather import JsonModel


class NoLoad(JsonModel):
    """There are no operations of nodes beside jobs."""

    n: int
    sentence: str


class RecordedJson(JsonModel):
    """From when to when nodes recorded, and how long a record is."""

    begin_ns: Instant
    end_ns: Instant
    step_ns: Ns


class LoadPartJson(JsonModel):
    """What one of the columns did."""

    name: Name
    ops: int
    share: float
    """Of all operations recorded then, 0 to 1."""


class LoadColumnJson(LoadPartJson):
    """The same with the largest rate of a record's length."""

    most_per_s: float


class TotalsJson(JsonModel):
    """How long the total rate was between two edges."""

    edges_per_s: list[float]
    seconds: list[float]


class LoadBandJson(JsonModel):
    """The time in which the total was within two limits, and who did how much then."""

    low_per_s: float
    high_per_s: float
    seconds: float
    share_of_time: float
    ops: int
    half: int | None
    """How many of the largest make more than half; null: all of them do not."""
    ranked: list[LoadPartJson]


class LoadJson(JsonModel):
    """Who did how many operations in a range; /api/load/cells has the rates by cell."""

    n: int
    """Columns that did something, in the answer or not."""
    version: int
    """Grows whenever the store is read anew."""
    by: str
    noun: str
    nouns: str
    hashed: bool
    """Whether aliases stand for names."""
    sentence: str
    recorded: RecordedJson
    begin_ns: Instant
    """Begin of the first cell."""
    step_ns: Ns
    """Length of a cell."""
    cells: int
    ops: int
    """All operations recorded, jobs' or not."""
    most_per_s: float
    half: int | None
    columns: list[LoadColumnJson]
    totals: TotalsJson
    band: LoadBandJson | None
    left_out: list[str]
    """Jobs that could not be placed, and why."""
