"""``/api/figure``: a figure's numbers, or its picture."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from iosonde.model import parameters
from iosonde.model.ops import OF_WINDOW, OPS, SECOND_NS
from iosonde.model.phases import Phase
from iosonde.serve import params, wire
from iosonde.serve.answers import MEDIA_TYPES, attachment
from iosonde.serve.drawn.sheets import sheet_file
from iosonde.serve.params import RefusalError
from iosonde.serve.pictures import PictureParameters
from iosonde.serve.shared import Shared
from iosonde.weather.figures.answers import KINDS, FigureRequest, figure, request

if TYPE_CHECKING:
    Kind = str
    Op = str
    Statistic = str
else:
    Kind, Op, Statistic = Literal[KINDS], Literal[OPS], Literal[OF_WINDOW]

Window = Annotated[
    int, Field(ge=SECOND_NS, le=params.LONGEST_WINDOW_NS), params.NANOSECONDS, params.DIGITS
]


class FigureQuery(PictureParameters):
    """Parameters of ``/api/figure``; without a range the kind's default."""

    kind: Kind = Field(description="which figure")
    host: params.Host | None = Field(None, description=parameters.ONE_HOST)
    target: params.Target | None = Field(None, description=parameters.ONE_TARGET)
    op: tuple[Op, ...] = Field((), description="operations; repeatable (default: all)")
    since_ns: params.Since = None
    until_ns: params.Until = None
    window_ns: Window | None = Field(None, description=f"{parameters.FIGURE_WINDOW}, ns")
    stat: Statistic = Field("mean", description="statistic of a phase's latencies")
    phase: tuple[str, ...] = Field(
        (), max_length=200, description="NAME,START_NS,END_NS; repeatable"
    )
    expected: Literal["usual", "median"] = Field("usual", description=parameters.PHASE_EXPECTED)


class Figures:
    """Handler of ``/api/figure``.

    ``shared`` has a single thread of its own: pictures are drawn one at a time, and a long one does
    not keep the page from its numbers.
    """

    def __init__(self, root: Path, shared: Shared, clock: Callable[[], int]) -> None:
        self._root = root
        self._shared = shared
        self._clock = clock

    async def answer(self, query: Annotated[FigureQuery, Query()]) -> Response:
        """A figure of eight kinds: its numbers, or its picture."""
        asked, form = figure_asked(query, self._clock()), query.format
        # Without a range "now" is another instant each time, and the question the same.
        body = await self._shared.answer(("figure", query), lambda: self.made(asked, query))
        if form in ("csv", "svg", "pdf"):
            return attachment(body, form, (query.kind,))
        return Response(body, media_type=MEDIA_TYPES[form], headers={"cache-control": "no-store"})

    def made(self, asked: FigureRequest, query: FigureQuery) -> bytes:
        """Body of the answer. Raises RefusalError (nothing measured), StoreError."""
        sheet = figure(self._root, asked, self._clock(), query.zone)
        if sheet is None:
            raise RefusalError(
                "there are no samples for this figure",
                expected="a range in which something was measured",
                status=404,
            )
        if query.format == "json":
            from iosonde.drawing.sheet import plain

            return wire.dumps(plain(sheet))
        return sheet_file(sheet, query)


def figure_asked(query: FigureQuery, now_ns: int) -> FigureRequest:
    """Request with its range. Raises RefusalError."""
    asked = request(
        query.kind,
        now_ns,
        (query.since_ns, query.until_ns),
        host=query.host,
        target=query.target,
        ops=query.op,
        window_ns=query.window_ns,
        statistic=query.stat,
        phases=[_phase(text) for text in query.phase],
        expected=query.expected,
    )
    since, until = asked.span_ns
    params.refuse_backwards(since, until)
    params.refuse_many_windows(since, until, asked.query.window_ns)
    return asked


def _phase(text: str) -> Phase:
    parts = re.fullmatch(r"\s*(\S.*?)\s*,([0-9]{1,19}),([0-9]{1,19})", text, re.DOTALL)
    if parts is None or int(parts[3]) > params.LAST_NS:
        raise RefusalError(f"phase is {text[:80]!r}", expected="NAME,START_NS,END_NS")
    name, start, end = parts[1], int(parts[2]), int(parts[3])
    if start >= end:
        raise RefusalError(f"phase {name[:80]!r} ends before it begins", expected="start < end")
    return Phase("".join(c if c.isprintable() else "?" for c in name)[:200], start, end)
