"""``/api/simulate``: the storage queue of ``iosonde simulate`` with a few bounded parameters.

The slowest question within these limits takes a tenth of a second, so nobody can keep the server busy with one.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.engine.files import csv_text
from iosonde.queue.answers import DISCIPLINES, Knobs, explored
from iosonde.serve import wire
from iosonde.serve.answers import attachment, json_answer, json_body
from iosonde.serve.drawn.sheets import sheet_file
from iosonde.serve.params import DIGITS, RefusalError
from iosonde.serve.pictures import PictureParameters

if TYPE_CHECKING:
    from iosonde.serve.shared import Shared

    Discipline = str
else:
    Discipline = Literal[DISCIPLINES]


class SimulateQuery(PictureParameters):
    """Parameters of ``/api/simulate``."""

    service_ticks: Annotated[int, Field(ge=1, le=100), DIGITS] = Field(
        4, description="N: the storage executes one operation in so many ticks"
    )
    queue: Annotated[int, Field(ge=1, le=10_000), DIGITS] = Field(
        500, description="M: so many operations find room in the queue"
    )
    processes: Annotated[int, Field(ge=0, le=16), DIGITS] = Field(
        2, description="processes that read and write in turn, with pauses"
    )
    writers: Annotated[int, Field(ge=0, le=4), DIGITS] = Field(
        1, description="processes that write without end, from 30% of the time on"
    )
    writes: Annotated[int, Field(ge=0, le=100), DIGITS] = Field(
        33, description="writes among the operations of a process, percent"
    )
    discipline: Discipline = Field("fifo", description="who goes next")
    ticks: Annotated[int, Field(ge=1000, le=200_000), DIGITS] = Field(
        20_000, description="length of the simulation, ticks"
    )
    seed: Annotated[int, Field(ge=0, le=2**53), DIGITS] = Field(
        1, description="all randomness follows from it"
    )

    @property
    def knobs(self) -> Knobs:
        """Parameters of the queue. Raises RefusalError."""
        if self.processes + self.writers == 0:
            raise RefusalError(
                "nobody uses the storage", expected="at least one of processes and writers"
            )
        return Knobs(
            service_ticks=self.service_ticks,
            queue=self.queue,
            processes=self.processes,
            writers=self.writers,
            writes=self.writes / 100,
            discipline=self.discipline,
            ticks=self.ticks,
            seed=self.seed,
        )


class SimulateRoute:
    """Handler of ``/api/simulate``. ``shared`` has a thread for simulations, ``drawings`` the one for pictures."""

    def __init__(self, shared: Shared, drawings: Shared) -> None:
        self._shared, self._drawings = shared, drawings

    async def answer(self, request: Request, query: Annotated[SimulateQuery, Query()]) -> Response:
        """A simulated storage queue: sentences, a table and traces, or its picture."""
        knobs = query.knobs
        if query.format == "json":
            answer = await self._shared.answer(
                knobs, lambda: json_body(wire.dumps(explored(knobs).page()))
            )
            return json_answer(request, answer)
        if query.format == "csv":
            body = await self._shared.answer(("csv", knobs), lambda: traces_csv(knobs))
        else:
            key = ("simulate", query)
            body = await self._drawings.answer(key, lambda: drawn(knobs, query))
        return attachment(body, query.format, ("simulate",))


def traces_csv(knobs: Knobs) -> bytes:
    """A line a client and bin, as ``iosonde simulate --rows traces --format csv`` has it; times are ticks."""
    columns = explored(knobs).table().columns
    rows = (
        {
            name: None if isinstance(value, float) and isnan(value) else value
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*(column.tolist() for column in columns.values()), strict=True)
    )
    return csv_text(rows, tuple(columns)).encode()


def drawn(knobs: Knobs, query: SimulateQuery) -> bytes:
    """The picture of ``iosonde simulate --plot``."""
    found = explored(knobs)
    return sheet_file(found.picture([found.sentence]), query)
