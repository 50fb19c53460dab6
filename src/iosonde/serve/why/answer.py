"""``/api/why``: slow target, start, component, load; the same document as ``iosonde why --json``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from fastapi import Query, Request
from pydantic import Field
from starlette.responses import Response

from iosonde.model.advice import spelled
from iosonde.model.errors import NothingMeasuredError, UsageError
from iosonde.serve import params, wire
from iosonde.serve.answers import json_answer, json_body
from iosonde.serve.errors import page
from iosonde.serve.params import Parameters, RefusalError
from iosonde.serve.privacy.why import aliased_why
from iosonde.why.answers import WhyQuestion, targets_called, why

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from iosonde.serve.privacy.pseudonyms import Pseudonyms
    from iosonde.serve.shared import Shared


class WhyQuery(Parameters):
    """Parameters of ``/api/why``."""

    target: Annotated[str, Field(min_length=1, max_length=4096)] | None = Field(
        None, description="a target as /api/targets lists it, all its servers (default: all)"
    )
    at_ns: params.Instant | None = Field(
        None, description="the slow stretch at this instant (default: now, else the last of a day)"
    )
    event: Annotated[str, Field(min_length=1, max_length=4096)] | None = Field(
        None, description="an event's id, as /api/annotations has it; not with at_ns"
    )
    model: params.Flag = Field(False, description="fit the queue model, which takes seconds")
    zone: params.Zone = None


class WhyRoute:
    """Handler of ``/api/why``. ``shared`` has a thread for slow questions."""

    def __init__(
        self, root: Path, names: Pseudonyms, shared: Shared, clock: Callable[[], int]
    ) -> None:
        self._root, self._names, self._shared, self._clock = root, names, shared, clock

    async def answer(self, request: Request, query: Annotated[WhyQuery, Query()]) -> Response:
        """The verdict, its sentence, a line of evidence per link, and all links as data."""
        if query.event is not None and (query.at_ns is not None or query.target is not None):
            raise RefusalError("event stands alone", expected="event, or target and at_ns")
        body = await self._shared.answer(query, lambda: json_body(wire.dumps(self._why(query))))
        return json_answer(request, body)

    def _why(self, query: WhyQuery) -> dict[str, Any]:
        with _refused():
            question = WhyQuestion(
                targets=() if query.target is None else targets_called(self._root, query.target),
                at_ns=query.at_ns,
                event=query.event,
                zone=query.zone,
                model=query.model,
            )
            found = aliased_why(why(self._root, question, self._clock()), self._names)
        return {**found.data(), "annotation": found.annotation()}


@contextmanager
def _refused() -> Iterator[None]:
    """Convert errors about unknown targets and events to 404."""
    try:
        yield
    except (UsageError, NothingMeasuredError) as error:
        expected, hint = (spelled(part, page) for part in (error.expected, error.hint))
        raise RefusalError(error.what, expected=expected, hint=hint, status=404) from error
