"""The JSON of a simulated storage queue, for ``/openapi.json``; see ``shapes``."""

from __future__ import annotations

from iosonde.serve.shapes.runs import TableJson
from iosonde.serve.shapes.weather import JsonModel


class ClientTraceJson(JsonModel):
    """What the storage did for one process, a number a bin of ``bin_ticks``."""

    name: str
    reads: list[float]
    """Executed reads, as a share of what the storage can execute."""
    writes: list[float]
    """Executed writes, likewise."""
    longest_read_ticks: list[float | None]
    """Of the reads that ended in the bin; null: none did."""


class SimulatedJson(JsonModel):
    """A storage queue and its clients, simulated."""

    sentence: str
    say: list[str]
    table: TableJson
    """A row a client."""
    ticks: int
    bin_ticks: int
    queue: int | None
    """Room for operations of all clients; null: each client has a queue of its own."""
    most_waiting: list[int]
    """Operations in the storage, the most in each bin."""
    clients: list[ClientTraceJson]
