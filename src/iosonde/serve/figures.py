"""``/api/figure``: a figure's numbers, or its picture.

::

    kind=points|hosts|phases|statistics|timeline|slowdown|bursts|density
    host= target= op=            which series (op may be repeated; default: all)
    since_ns= until_ns=          range (default: as far back as the kind usually looks)
    window_ns=                   interval of phases, statistics, timeline and bursts
    phase=NAME,START_NS,END_NS   may be repeated
    format=json|png|svg|pdf      theme=light|dark   width=INCHES   scale=1..3   zone=Europe/Berlin
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from iosonde.model.frames import SlowdownQuery
from iosonde.model.ops import OF_WINDOW, OPS, SECOND_NS
from iosonde.model.phases import Phase
from iosonde.serve import params, pictures, wire
from iosonde.serve.answers import TYPES, attachment
from iosonde.serve.params import RefusalError
from iosonde.serve.pictures import Wanted
from iosonde.serve.shared import Shared
from iosonde.weather.figures.request import KINDS, Asked, default_range
from iosonde.weather.store import Store

if TYPE_CHECKING:
    from starlette.datastructures import QueryParams

_NAMES = (
    *("kind", "host", "target", "op", "since_ns", "until_ns", "window_ns", "stat", "phase"),
    *("expected", *pictures.NAMES),
)
_MOST_PHASES = 200
_WINDOWS_NS = {"phases": 60 * SECOND_NS}


class FigureRequest(NamedTuple):
    """A checked question."""

    asked: Asked
    how: Wanted


class Figures:
    """Answers ``/api/figure``.

    ``shared`` has a single thread of its own: pictures are drawn one at a time, and a long one does
    not keep the page from its numbers.
    """

    def __init__(self, store: Store, shared: Shared, clock: Callable[[], int]) -> None:
        self._store = store
        self._shared = shared
        self._clock = clock

    async def answer(self, request: Request) -> Response:
        """The route's handler."""
        wanted = figure_request(request.query_params, self._clock())
        body = await self._shared.answer(("figure", wanted), lambda: self.made(wanted))
        form = wanted.how.form
        if form in ("svg", "pdf"):
            return attachment(body, form, (wanted.asked.kind,))
        return Response(body, media_type=TYPES[form], headers={"cache-control": "no-store"})

    def made(self, wanted: FigureRequest) -> bytes:
        """The answer's body. Raises RefusalError (nothing measured), StoreError."""
        from iosonde.weather.bursts.words import say_runs
        from iosonde.weather.figures.sheets import sheet_of

        now_ns, how = self._clock(), wanted.how
        sheet = sheet_of(self._store, wanted.asked, lambda runs: say_runs(runs, now_ns, how.zone))
        if sheet is None:
            raise RefusalError(
                "there are no samples for this figure",
                expected="a range in which something was measured",
                status=404,
            )
        if how.form == "json":
            from iosonde.drawing.sheet import plain

            return wire.dumps(plain(sheet))
        from iosonde.drawing.canvas import encoded
        from iosonde.drawing.render_sheet import draw_sheet

        canvas = draw_sheet(sheet, width_in=how.width_in, dark=how.dark, zone=how.zone)
        return encoded(canvas, how.form, how.scale)


def figure_request(query: QueryParams, now_ns: int) -> FigureRequest:
    """The checked parameters. Raises RefusalError."""
    params.known(query, _NAMES)
    kind = params.choice(query, "kind", KINDS, None)
    phases = tuple(_phase(text) for text in query.getlist("phase"))
    if len(phases) > _MOST_PHASES:
        raise RefusalError(f"{len(phases)} phases are too many", expected=f"{_MOST_PHASES}")
    since, until = (
        params.integer(name, query[name]) if name in query else None
        for name in ("since_ns", "until_ns")
    )
    since, until = default_range(kind, since, until, now_ns, phases)
    if since >= until:
        raise RefusalError(
            f"since_ns {since} is not before until_ns {until}", expected="an instant before the end"
        )
    window = _WINDOWS_NS.get(kind, 4 * 3600 * SECOND_NS)
    if "window_ns" in query:
        window = params.integer("window_ns", query["window_ns"], SECOND_NS, 31 * 86_400 * SECOND_NS)
    params.refuse_many_windows(since, until, window)
    ops = tuple(query.getlist("op")) or None
    for op in ops or ():
        if op not in OPS:
            raise RefusalError(f"op is {op[:80]!r}", expected="one of " + ", ".join(OPS))
    asked = Asked(
        kind,
        SlowdownQuery(
            host=params.name(query, "host") if "host" in query else None,
            target=params.name(query, "target") if "target" in query else None,
            ops=ops,
            since_ns=since,
            until_ns=until,
            window_ns=window,
            statistic=params.choice(query, "stat", OF_WINDOW, "mean")
            if kind == "phases"
            else "median",
        ),
        phases,
        params.choice(query, "expected", ("usual", "median"), "usual"),
        short_ns=window if "window_ns" in query else None,
    )
    return FigureRequest(asked, pictures.wanted(query, ("json", *pictures.DRAWN), 10.0))


def _phase(text: str) -> Phase:
    name, *times = text.rsplit(",", 2)
    if len(times) != 2 or not name.strip():
        raise RefusalError(f"phase is {text[:80]!r}", expected="NAME,START_NS,END_NS")
    start, end = (params.integer("phase", time) for time in times)
    if start >= end:
        raise RefusalError(f"phase {name[:80]!r} ends before it begins", expected="start < end")
    return Phase("".join(c if c.isprintable() else "?" for c in name.strip())[:200], start, end)
